"""The flows with Prefect: what its database shows, a killed run, hostile surroundings, no outside contact."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path

import pytest

from atr.flows.environment import AUTH
from tests.conftest import Published
from tests.helpers import series
from tests.helpers.served import environment

pytestmark = pytest.mark.xdist_group("prefect")


NOBODY = """
import pwd

def _unknown(*_):
    raise KeyError("no such user")

pwd.getpwuid = _unknown
"""
"""Loaded into every Python process of a run: the user is none of the machine's, as in a container."""


def _publish(path: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """With stdin closed and no home, as some schedulers start a command."""
    command = ["sh", "-c", 'exec "$0" "$@" <&-', sys.executable, "-m", "atr.cli", "publish", str(path)]
    surroundings = environment(**more)
    surroundings.pop("HOME", None)
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=300, check=False)


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


def test_the_server_of_one_run_demands_credentials_too(published: Published) -> None:
    assert published.stranger == HTTPStatus.UNAUTHORIZED
    secret = (published.store / "prefect" / AUTH).read_text().strip()
    assert secret not in published.process.stderr + published.process.stdout
    assert not [content for content in published.drafted.values() if secret.encode() in content]


def test_more_groups_than_tasks_are_solved_in_batches_whatever_else_is_set_up(
    tmp_path: Path, prefect_home: Path
) -> None:
    counts = {(f"g{g}", f"s{s}"): (20 + s, 5 + 5 * s) for g in range(70) for s in range(2)}
    (tmp_path / "sitecustomize.py").write_text(NOBODY)
    done = _publish(
        series.write_series(tmp_path, counts),
        PYTHONPATH=str(tmp_path),
        HTTP_PROXY="http://127.0.0.1:9",
        ALL_PROXY="socks5://127.0.0.1:9",
        SSL_CERT_FILE=str(tmp_path / "none.pem"),
        PREFECT_API_AUTH_STRING="user:password",
        PREFECT_SERVER_API_AUTH_STRING="user:password",
        PREFECT_SERVER_DATABASE_CONNECTION_URL=f"sqlite+aiosqlite:///{tmp_path}/elsewhere.db",
    )
    assert done.returncode == 0, done.stderr
    assert len(_names(prefect_home, "select name from task_run where name like 'solve groups%'")) == 64


def test_a_server_that_does_not_start_says_where_it_tells_why(tmp_path: Path, prefect_home: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    for left in prefect_home.glob("prefect.db-*"):  # of a server that was given no time to put it into the file
        left.unlink()
    (prefect_home / "prefect.db").write_bytes(b"no database" * 100)
    done = _publish(path)
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    log = prefect_home / "server.log"
    assert f"What it said is in {log}." in done.stderr
    assert "file is not a database" in log.read_text()


def test_a_run_killed_while_it_rendered_ends_with_the_same_bytes(tmp_path: Path, published: Published) -> None:
    path = series.write_series(tmp_path, series.card(10), population_rounding=1)
    assert published.drafted == series.files(series.publish(path).documents)


def test_a_second_run_names_the_holder(tmp_path: Path) -> None:
    from atr.errors import EnvironmentFault
    from atr.warehouse.store import hold

    path = series.write_series(tmp_path, series.card(2))
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import time\nfrom atr.warehouse.store import hold\nfrom pathlib import Path\n"
         f"with hold(Path({str(tmp_path / 'var' / 'test-series')!r})):\n print('held', flush=True)\n time.sleep(60)"],
        env=environment(), stdout=subprocess.PIPE, text=True,
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
