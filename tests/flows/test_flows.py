"""The flows with Prefect: what its database shows, a killed run, a local server and worker, no outside contact."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from atr.flows.environment import SETTINGS
from tests import series
from tests.conftest import Published

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("prefect")]


def _environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    return kept | {"PYTHONPATH": str(ROOT)} | more


def _publish(path: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """With stdin closed, as some schedulers start a command."""
    command = ["sh", "-c", 'exec "$0" "$@" <&-', sys.executable, "-m", "atr.cli", "publish", str(path)]
    return subprocess.run(command, env=_environment(**more), capture_output=True, text=True, timeout=300, check=False)


def _names(home: Path, query: str) -> list[str]:
    with sqlite3.connect(home / "prefect.db") as database:
        return [row[0] for row in database.execute(query)]


def test_a_task_per_group_artifacts_and_no_connection_to_the_outside(published: Published) -> None:
    connections = published.watched.read_text().splitlines()
    assert any("127.0.0.1" in line for line in connections), "the watch works"
    local = ("'127.0.0.1'", "'localhost'", "'::1'", "'0.0.0.0'", "b'127.0.0.1'", "b'localhost'", "None", "'/")
    assert [line for line in connections if not any(name in line for name in local)] == []

    home = published.store / "prefect"
    last = "(select id from flow_run order by start_time desc limit 1)"
    tasks = _names(home, f"select name from task_run where flow_run_id = {last}")
    assert {"solve women", "solve men"} <= set(tasks)
    assert len([name for name in tasks if name.startswith("solve ")]) == 2
    assert set(_names(home, "select name from flow_run")) == {"test-series 2024"}
    artifacts = set(_names(home, "select key from artifact"))
    assert {"run-summary", "privacy-statement", "report-html", "report-pdf"} <= artifacts
    (statement,) = _names(home, "select data from artifact where key = 'privacy-statement'")
    assert "90" in statement


def test_more_groups_than_tasks_are_solved_in_batches_whatever_else_is_set_up(
    tmp_path: Path, prefect_home: Path
) -> None:
    counts = {(f"g{g}", f"s{s}"): (20 + s, 5 + 5 * s) for g in range(70) for s in range(2)}
    done = _publish(
        series.write_series(tmp_path, counts),
        HTTP_PROXY="http://127.0.0.1:9",
        ALL_PROXY="socks5://127.0.0.1:9",
        PREFECT_SERVER_API_AUTH_STRING="user:password",
        PREFECT_SERVER_DATABASE_CONNECTION_URL=f"sqlite+aiosqlite:///{tmp_path}/elsewhere.db",
    )
    assert done.returncode == 0, done.stderr
    assert len(_names(prefect_home, "select name from task_run where name like 'solve groups%'")) == 64


def test_a_server_that_does_not_start_says_where_it_tells_why(tmp_path: Path, prefect_home: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    (prefect_home / "prefect.db").write_bytes(b"no database" * 100)
    done = _publish(path)
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    log = prefect_home / "server.log"
    assert f"What it said is in {log}." in done.stderr
    assert "file is not a database" in log.read_text()


def test_a_port_in_use_is_named_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "atr.cli", "serve", "--port", str(port), "--home", str(tmp_path / "home")],
            cwd=ROOT, env=_environment(), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, f"port {port} cannot be used" in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "home").exists()


def test_a_run_killed_while_it_rendered_ends_with_the_same_bytes(tmp_path: Path, published: Published) -> None:
    path = series.write_series(tmp_path, series.card(10), population_rounding=1)
    assert published.drafted == series.files(series.publish(path).documents)


def test_a_second_run_names_the_holder(tmp_path: Path) -> None:
    from atr.errors import EnvironmentFault
    from atr.store import hold

    path = series.write_series(tmp_path, series.card(2))
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import time\nfrom atr.store import hold\nfrom pathlib import Path\n"
         f"with hold(Path({str(tmp_path / 'var' / 'test-series')!r})):\n print('held', flush=True)\n time.sleep(60)"],
        env=_environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(EnvironmentFault, match=str(holder.pid)),
            hold(path.parent / "var" / "test-series", wait=0.2),
        ):
            pass
    finally:
        holder.kill()
        holder.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A local server, deployed, with a worker, as `make serve` starts them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "atr.cli", "serve", "--port", str(port), "--home", str(tmp_path / "home")],
        cwd=ROOT, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "started!" in line:
                break
        yield f"http://127.0.0.1:{port}/api"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def _ask(url: str, content: dict[str, Any] | None = None) -> Any:
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    for _ in range(10):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE:  # which the server says while its database is busy
                raise
            time.sleep(1)
    raise AssertionError(f"{url}: the server is busy")


def _until(api: str, run: str, state: str) -> None:
    for _ in range(240):
        found = _ask(f"{api}/flow_runs/{run}")["state"]
        if found["name"] == state:
            return
        assert found["type"] not in ("FAILED", "CRASHED", "CANCELLED"), found
        time.sleep(0.5)
    raise AssertionError(f"the run never was {state}")


def test_deployments_run_on_a_local_server_and_a_person_reviews(tmp_path: Path, server: str) -> None:
    path = series.write_series(tmp_path / "s", series.card(10))

    def run(deployment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "deployment", "run", deployment,
             "-p", f"programme={path}", "-p", "period=2024"],
            env=_environment(**SETTINGS, PREFECT_API_URL=server, PREFECT_HOME=str(tmp_path / "home")),
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        (identity,) = [line.split()[-1] for line in done.stdout.splitlines() if "UUID" in line]
        return identity

    _until(server, run("publish/manual"), "Completed")
    store = tmp_path / "s" / "var" / "test-series"
    drafted = series.files(store / "drafts" / "2024-v1")
    assert "report.pdf" in drafted

    review = run("review/review")
    _until(server, review, "Suspended")
    import hashlib

    answer = {
        "decision": "publish", "reviewer": "R. Viewer", "comment": "read it",
        "report_sha256": hashlib.sha256(drafted["report.json"]).hexdigest(),
    }  # fmt: skip
    _ask(f"{server}/flow_runs/{review}/resume", {"run_input": answer})
    _until(server, review, "Completed")
    assert series.files(tmp_path / "s" / "site" / "test-series" / "2024" / "v1") == drafted
