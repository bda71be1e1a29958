"""The flow on Prefect's own temporary server: the same bytes, tasks and artifacts, no outside contact."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from atr.dossier.review import review
from atr.flows.environment import AUTH, DATABASE
from atr.programme import load
from tests.helpers import series
from tests.helpers.paths import ROOT
from tests.helpers.served import environment, processes_at_home

pytestmark = pytest.mark.xdist_group("prefect")

WATCH = """
import os, sys

def _watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
        with open(os.environ["ATR_TEST_WATCH"], "a") as file:
            file.write(f"{event} {address!r}\\n")

sys.addaudithook(_watch)
"""
"""Loaded into every Python process of a run: what it connects to."""

NOBODY = """
import pwd

def _unknown(*_):
    raise KeyError("no such user")

pwd.getpwuid = _unknown
"""
"""Loaded into every Python process of a run: the user is none of the machine's, as in a container."""


@dataclass(frozen=True)
class Flow:
    """A run of the flow, as a command."""

    store: Path
    process: subprocess.CompletedProcess[str]
    drafted: dict[str, bytes]
    connections: list[str]
    stranger: int
    """What the temporary server answered to somebody without credentials."""
    servers: int
    """How many processes besides the command there were."""


def _command(path: Path, surroundings: dict[str, str], flow: str = "publish") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "atr.flows", flow, str(path), "--json"],
        env=surroundings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def _until(process: subprocess.Popen[str], text: str) -> str:
    """What a run says until this is in it."""
    said = ""
    assert process.stderr is not None
    for line in process.stderr:
        said += line
        if text in line:
            break
    return said


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flow]:
    """The one run of the flow that the tests here look at."""
    os.umask(0o077)
    folder = tmp_path_factory.mktemp("flow")
    path = series.write_series(folder, series.card(10), population_rounding=1)
    site, watched, store = folder / "watch", folder / "connections", folder / "var" / "test-series"
    site.mkdir()
    (site / "sitecustomize.py").write_text(WATCH)
    process = _command(path, environment(PYTHONPATH=f"{site}:{ROOT}", ATR_TEST_WATCH=str(watched)))
    said = _until(process, "Solving")
    port = re.findall(r"socket.connect \('127.0.0.1', (\d+)\)", watched.read_text())[-1]
    with pytest.raises(HTTPError) as refusal:
        urlopen(f"http://127.0.0.1:{port}/api/admin/version", timeout=30)
    servers = len(processes_at_home(store / "prefect"))
    out, rest = process.communicate(timeout=300)
    assert process.returncode == 0, said + rest
    done = subprocess.CompletedProcess(process.args, process.returncode, out, said + rest)
    drafted = series.files(store / "drafts" / "2024-v1")
    return Flow(store, done, drafted, watched.read_text().splitlines(), refusal.value.code, servers)


def _names(home: Path, query: str) -> list[str]:
    with sqlite3.connect(home / DATABASE) as database:
        return [row[0] for row in database.execute(query)]


def test_the_flow_makes_the_bytes_of_a_plain_run(tmp_path: Path, flow: Flow) -> None:
    path = series.write_series(tmp_path, series.card(10), population_rounding=1)
    assert flow.drafted == series.files(series.publish(path).documents)


def test_the_flow_has_a_task_per_group_and_artifacts(flow: Flow) -> None:
    home = flow.store / "prefect"
    tasks = _names(home, "select name from task_run")
    assert {"solve women", "solve men"} <= set(tasks)
    assert len([name for name in tasks if name.startswith("solve ")]) == 2
    assert set(_names(home, "select name from flow_run")) == {"test-series last period"}
    artifacts = set(_names(home, "select key from artifact"))
    assert {"run-summary", "privacy-statement", "report-html", "report-pdf"} <= artifacts
    (statement,) = _names(home, "select data from artifact where key = 'privacy-statement'")
    assert "90" in statement


def test_the_flow_connects_to_this_machine_only(flow: Flow) -> None:
    assert any("127.0.0.1" in line for line in flow.connections), "the watch works"
    local = ("'127.0.0.1'", "'localhost'", "'::1'", "'0.0.0.0'", "b'127.0.0.1'", "b'localhost'", "None", "'/")
    assert [line for line in flow.connections if not any(name in line for name in local)] == []


def test_the_temporary_server_demands_credentials(flow: Flow) -> None:
    assert flow.stranger == HTTPStatus.UNAUTHORIZED
    secret = (flow.store / "prefect" / AUTH).read_text().strip()
    assert secret not in flow.process.stderr + flow.process.stdout
    assert not [content for content in flow.drafted.values() if secret.encode() in content]


def test_the_temporary_server_ends_with_its_command(flow: Flow) -> None:
    assert flow.servers == 1
    assert processes_at_home(flow.store / "prefect") == []


@pytest.mark.long
def test_a_flow_is_not_led_astray_by_its_surroundings(tmp_path: Path) -> None:
    """Nor without a home and a user; 70 groups are solved in 64 tasks."""
    counts = {(f"g{g}", f"s{s}"): (20 + s, 5 + 5 * s) for g in range(70) for s in range(2)}
    (tmp_path / "sitecustomize.py").write_text(NOBODY)
    surroundings = environment(
        PYTHONPATH=f"{tmp_path}:{ROOT}",
        HTTP_PROXY="http://127.0.0.1:9",
        ALL_PROXY="socks5://127.0.0.1:9",
        SSL_CERT_FILE=str(tmp_path / "none.pem"),
        PREFECT_API_AUTH_STRING="user:password",
        PREFECT_SERVER_API_AUTH_STRING="user:password",
        PREFECT_SERVER_DATABASE_CONNECTION_URL=f"sqlite+aiosqlite:///{tmp_path}/elsewhere.db",
    )
    surroundings.pop("HOME", None)
    process = _command(series.write_series(tmp_path, counts), surroundings)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    home = tmp_path / "var" / "test-series" / "prefect"
    assert len(_names(home, "select name from task_run where name like 'solve groups%'")) == 64


@pytest.mark.long
def test_a_backfill_tells_which_periods_were_refused(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(10), max_confidence=0.65, fidelity={"delta": 0.95})
    process = _command(path, environment(PYTHONPATH=str(ROOT)), "backfill")
    out, said = process.communicate(timeout=300)
    assert (process.returncode, json.loads(out)) == (3, {"drafts": [], "unchanged": [], "refused": ["2024"]}), said


@pytest.mark.long
def test_a_backfill_of_what_is_published_leaves_no_draft(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(10))
    series.publish(path)
    review(load(path), "2024", approve=True, name="R. Viewer", comment="read it")
    out, said = _command(path, environment(PYTHONPATH=str(ROOT)), "backfill").communicate(timeout=300)
    assert json.loads(out) == {"drafts": [], "unchanged": ["2024"], "refused": []}, said


@pytest.mark.long
def test_a_flow_whose_server_is_gone_ends_at_once(tmp_path: Path) -> None:
    process = _command(series.write_series(tmp_path, series.card(2)), environment(PYTHONPATH=str(ROOT)))
    said = _until(process, "Reading")
    for server in processes_at_home(tmp_path / "var" / "test-series" / "prefect"):
        os.kill(server, signal.SIGKILL)
    out, rest = process.communicate(timeout=10)
    assert process.returncode == 4, said + rest
    assert "server ended during the run" in rest
    assert json.loads(out)["error"]["exit_code"] == 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("until", "sent", "code"),
    [("Reading", signal.SIGINT, 130), ("Solving", signal.SIGTERM, 130)],
)
def test_an_ended_flow_leaves_no_server_behind(tmp_path: Path, until: str, sent: signal.Signals, code: int) -> None:
    path = series.write_series(tmp_path, series.card(2))
    process = _command(path, environment(PYTHONPATH=str(ROOT)))
    said = _until(process, until)
    os.kill(process.pid, sent)
    rest = process.communicate(timeout=60)[1]
    assert process.returncode == code, said + rest
    assert "Traceback" not in said + rest
    end = time.monotonic() + 10
    while left := processes_at_home(tmp_path / "var" / "test-series" / "prefect"):
        assert time.monotonic() < end, left
        time.sleep(0.1)
