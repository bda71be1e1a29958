"""A served series under attack: from a web page, from another user's process, by a forged or a changed run."""

from __future__ import annotations

import hashlib
import json
import os
import signal
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
from prefect.results import ResultRecord, ResultRecordMetadata
from prefect.serializers import PickleSerializer
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from atr.dossier import review
from atr.flows.environment import AUTH, authentication
from atr.flows.programmes import SERVED
from atr.programme import load
from tests.helpers import series
from tests.helpers.paths import ROOT
from tests.helpers.served import Served, environment, processes

pytestmark = pytest.mark.xdist_group("prefect")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    os.umask(0o077)
    folder = tmp_path_factory.mktemp("served")
    path = series.write_series(folder / "mine", series.card(10))
    found = Served(folder / "home", ROOT, path)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A programme that nobody told the server of."""
    return series.write_series(tmp_path / "foreign", series.card(2), max_confidence=1.0)


def _refused(served: Served, path: str, content: Any = None, **how: Any) -> HTTPStatus:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        served.ask(path, content, **how)
    return HTTPStatus(refusal.value.code)


@pytest.mark.parametrize("path", ["/admin/version", "/admin/settings", "/deployments/name/publish/manual", "/docs"])
def test_nothing_is_told_without_credentials(served: Served, path: str) -> None:
    assert _refused(served, path, known=False) == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize("path", ["/flow_runs/filter", "/flows/", "/deployments/", "/automations/", "/block_types/"])
def test_nothing_is_done_without_credentials(served: Served, path: str) -> None:
    assert _refused(served, path, {}, known=False) == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize("credentials", ["", "Basic", "Basic !", "Basic w6k=", "Basic YTpi", "Bearer x", "Basic \xe9"])
def test_no_other_credentials_will_do(served: Served, credentials: str) -> None:
    request = urllib.request.Request(f"{served.address}/api/admin/version", headers={"Authorization": credentials})
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request, timeout=30)
    assert refusal.value.code == HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize("path", ["/events/in", "/events/out", "/logs/out", "/task_runs/subscriptions/scheduled"])
def test_no_stream_opens_without_credentials(served: Served, path: str) -> None:
    def opened(*, token: str | None) -> bool:
        address = served.address.replace("http", "ws") + "/api" + path
        try:
            with connect(address, subprotocols=["prefect"]) as stream:  # type: ignore[list-item]
                stream.send(json.dumps({"type": "auth", "token": token}))
                return "auth_success" in str(stream.recv(timeout=30))
        except WebSocketException:
            return False

    assert [opened(token=token) for token in (None, "atr:guessed", authentication(served.home))] == [False, False, True]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_only_its_own_pages_may_ask(served: Served, host: str) -> None:
    port = served.address.rsplit(":", 1)[1]
    for origin in ("https://evil.example", "null", f"http://{host}", f"https://{host}:{port}", f"http://{host}:{port}"):
        request = urllib.request.Request(
            f"{served.address}/api/flow_runs/filter", method="OPTIONS",
            headers={"Origin": origin, "Access-Control-Request-Method": "POST",
                     "Access-Control-Request-Headers": "authorization,content-type"},
        )  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                found = answer.headers
        except urllib.error.HTTPError as error:
            found = error.headers
        own = origin == f"http://{host}:{port}"
        assert found["Access-Control-Allow-Origin"] == (origin if own else None)


def test_its_pages_ask_no_other_and_stand_in_no_other(served: Served) -> None:
    with urllib.request.urlopen(served.address, timeout=30) as answer:
        policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "https:" not in policy


@pytest.mark.parametrize(
    ("flow", "period", "way"),
    [
        ("publish/manual", None, "link.yaml"),
        *(
            pytest.param(flow, period, way, marks=pytest.mark.long)
            for flow, period, way in (
                ("publish/manual", None, ""),
                ("publish/manual", None, "link"),
                ("review/review", "2024", ""),
                ("backfill/backfill", None, ""),
            )
        ),
    ],
)
def test_a_foreign_programme_is_refused(
    served: Served, foreign: Path, tmp_path: Path, flow: str, period: str | None, way: str
) -> None:
    (tmp_path / "link.yaml").symlink_to(foreign)
    (tmp_path / "link").symlink_to(foreign.parent)
    before = (served.home / SERVED).read_bytes()
    asked = {"programme": str(tmp_path / way if way else foreign)} | ({"period": period} if period else {})
    message = served.until(served.run(flow, **asked), "Failed")["state"]["message"]
    assert f"{foreign}: is none of the programmes that are served here" in message
    assert sorted(path.name for path in foreign.parent.iterdir()) == ["log.csv", "programme.yaml"]
    assert (served.home / SERVED).read_bytes() == before


@pytest.mark.long
def test_a_programme_that_is_not_there_is_named(served: Served, tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none.yaml", "there is no such file"), ("x" * 5000, "cannot be read")):
        found = served.until(served.run("publish/manual", programme=str(path), period="2024"), "Failed")
        assert found["name"].startswith(str(path)[:100])
        assert why in found["state"]["message"]
    found = served.until(served.run("backfill/backfill", programme="none.yaml"), "Failed")
    assert found["name"] == "backfill none.yaml"


@pytest.mark.long
def test_job_variables_change_nothing(served: Served, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    variables = {"command": f"touch {marker}", "env": {"PATH": str(tmp_path)}, "working_dir": str(tmp_path)}
    manual = served.ask("/deployments/name/publish/manual")["id"]
    asked = {"parameters": {"programme": str(served.programme)}, "job_variables": variables}
    assert _refused(served, f"/deployments/{manual}/create_flow_run", asked) == HTTPStatus.UNPROCESSABLE_ENTITY

    pool = served.ask("/work_pools/atr")["base_job_template"]
    taken = {name: "{{ " + name + " }}" for name in variables}
    properties: dict[str, Any] = {name: {} for name in variables}
    taking = {"job_configuration": taken, "variables": {"type": "object", "properties": properties}}
    served.ask("/work_pools/atr", {"base_job_template": taking}, method="PATCH")
    try:
        run = served.ask(f"/deployments/{manual}/create_flow_run", asked)["id"]
        assert "job variables, which are not obeyed" in served.until(run, "Crashed")["state"]["message"]
        assert served.ask(f"/flow_runs/{run}")["infrastructure_pid"] is None
    finally:
        served.ask("/work_pools/atr", {"base_job_template": pool}, method="PATCH")
    assert not marker.exists()


@pytest.mark.long
def test_a_changed_deployment_runs_nothing_else(served: Served, tmp_path: Path) -> None:
    marker, script = tmp_path / "marker", tmp_path / "script.py"
    script.write_text(f"open({str(marker)!r}, 'w')\nfrom prefect import flow\n@flow\ndef publish(programme): pass\n")
    found = served.ask("/deployments/name/publish/manual")
    shell = {"prefect.deployments.steps.run_shell_script": {"script": f"touch {marker}"}}
    ours = {"name": "mine", "flow_id": found["flow_id"], "work_pool_name": "atr", "path": str(tmp_path)}
    made = served.ask("/deployments/", ours | {"entrypoint": f"{script}:publish", "pull_steps": [shell]})["id"]
    asked = {"parameters": {"programme": str(served.programme), "period": "1999"}}
    run = served.ask(f"/deployments/{made}/create_flow_run", asked)["id"]
    assert "no decisions in 1999" in served.until(run, "Failed")["state"]["message"]
    run = served.ask(f"/deployments/{made}/create_flow_run", asked)["id"]
    served.until(run, "Running")
    for each in processes("atr.flows.engine", str(served.home)):
        os.kill(each, signal.SIGKILL)
    served.until(run, "Crashed")  # where Prefect's worker would look into the deployment's file for what to do then

    other = served.ask("/flows/", {"name": "other"})["id"]
    made = served.ask("/deployments/", ours | {"flow_id": other, "entrypoint": f"{script}:publish"})["id"]
    run = served.ask(f"/deployments/{made}/create_flow_run", {})["id"]
    assert "no flow that is served here" in served.until(run, "Crashed")["state"]["message"]
    assert not marker.exists()


class Attack:
    """Runs a command where it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> Any:
        return os.system, (self.command,)


@pytest.mark.long
def test_no_result_is_read_that_the_database_names(served: Served, tmp_path: Path) -> None:
    marker, stored = tmp_path / "marker", tmp_path / "stored"
    metadata = ResultRecordMetadata(storage_key=str(stored), serializer=PickleSerializer())
    stored.write_bytes(ResultRecord(metadata=metadata, result=Attack(f"touch {marker}")).serialize())
    run = served.run("publish/manual", programme=str(tmp_path / "none.yaml"))
    served.until(run, "Pending", "Submitting")
    forged = {"type": "COMPLETED", "data": metadata.model_dump(mode="json")}
    served.ask(f"/flow_runs/{run}/set_state", {"state": forged, "force": True})
    end = time.monotonic() + 30
    while not processes("atr.flows.engine", str(served.home)):
        assert time.monotonic() < end
        time.sleep(0.1)
    while processes("atr.flows.engine", str(served.home)):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert not marker.exists()


def test_a_person_reviews_and_nobody_else(served: Served) -> None:
    mine = {"programme": str(served.programme), "period": "2024"}
    served.until(served.run("publish/manual", **mine), "Completed")
    store = served.programme.parent / "var" / "test-series"
    drafted = series.files(store / "drafts" / "2024-v1")
    assert "report.pdf" in drafted
    answer = {
        "decision": "publish", "reviewer": "R. Viewer", "comment": "read it",
        "report_sha256": hashlib.sha256(drafted["report.json"]).hexdigest(),
    }  # fmt: skip

    def decided() -> list[tuple[str, str | None]]:
        found = review.releases(load(served.programme))
        return [(release.state, release.reviewer) for release in found if release.period == "2024"]

    run = served.run("review/review", **mine)
    served.until(run, "Suspended")
    for forged in ({"run_input": answer | {"reviewer": "Somebody Else"}}, {}):
        refused = _refused(served, f"/flow_runs/{run}/resume", forged, known=False)
        assert refused == HTTPStatus.UNAUTHORIZED
    assert decided() == [("draft", None)]

    blank = served.ask(f"/flow_runs/{run}/resume", {"run_input": answer | {"reviewer": "  "}})
    assert (blank["status"], "does not match" in blank["details"]["reason"]) == ("REJECT", True)
    served.ask(f"/flow_runs/{run}/resume", {"run_input": answer})
    served.until(run, "Completed")
    assert series.files(served.programme.parent / "site" / "test-series" / "2024" / "v1") == drafted
    assert decided() == [("published", "R. Viewer")]


@pytest.mark.long
@pytest.mark.parametrize("when", ["Submitting", "Running"])
def test_a_cancelled_run_keeps_no_slot(served: Served, when: str) -> None:
    run = served.run("publish/manual", programme="examples/compas/programme.yaml", period="2013")
    served.until(run, when)
    served.ask(f"/flow_runs/{run}/set_state", {"state": {"type": "CANCELLING"}})
    assert served.until(run, "Cancelled")["state"]["type"] == "CANCELLED"
    served.until(served.run("publish/manual", programme="none.yaml"), "Failed", seconds=60)


@pytest.mark.long
def test_a_run_that_was_cancelled_before_it_began_is_cancelled(served: Served) -> None:
    manual = served.ask("/deployments/name/publish/manual")["id"]
    asked = {"parameters": {"programme": str(served.programme)}, "state": {"type": "PENDING"}}  # as a worker took it
    run = served.ask(f"/deployments/{manual}/create_flow_run", asked)["id"]
    served.ask(f"/flow_runs/{run}/set_state", {"state": {"type": "CANCELLING"}})
    assert served.ask(f"/flow_runs/{run}")["state"]["type"] == "CANCELLING"
    engine = subprocess.Popen(
        [sys.executable, "-P", "-m", "atr.flows.engine", str(served.home / SERVED), "publish"],
        env=environment(PREFECT_API_URL=f"{served.address}/api", PREFECT_API_AUTH_STRING=authentication(served.home),
                        PREFECT_HOME=str(served.home), PREFECT__FLOW_RUN_ID=run),
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    engine.wait(timeout=60)
    assert served.ask(f"/flow_runs/{run}")["state"]["type"] == "CANCELLED"


def test_the_secret_is_in_its_file_only(served: Served) -> None:
    secret = (served.home / AUTH).read_bytes().strip()
    assert len(secret) > 40
    for path in (AUTH, SERVED, "prefect.db", "server.log"):
        assert (served.home / path).stat().st_mode & 0o077 == 0
    assert secret not in served.home.with_suffix(".log").read_bytes()
    holding = [path for path in served.home.rglob("*") if path.is_file() and secret in path.read_bytes()]
    assert holding == [served.home / AUTH]
    with sqlite3.connect(served.home / "prefect.db") as database:
        assert not [row for row in database.iterdump() if secret.decode() in row]
    running = processes(str(served.home))
    assert len(running) >= 2
    for each in running:
        assert secret not in Path(f"/proc/{each}/cmdline").read_bytes()


@pytest.mark.long
def test_after_a_power_cut_the_next_run_starts(served: Served) -> None:
    flow = served.ask("/flows/", {"name": "somebody-elses"})["id"]
    theirs = served.ask("/flow_runs/", {"flow_id": flow, "state": {"type": "RUNNING"}})["id"]
    lost = served.run("publish/manual", programme="examples/compas/programme.yaml", period="2013")
    served.until(lost, "Running")
    waiting = served.run("publish/manual", programme=str(served.programme), period="2024")
    served.until(waiting, "AwaitingConcurrencySlot")
    served.stop(sent=signal.SIGKILL, to=processes(str(served.home)))

    served.start()
    assert served.until(lost, "Crashed")["state"]["message"].startswith("The server ended")
    assert served.ask(f"/flow_runs/{theirs}")["state"]["name"] == "Running"
    served.until(waiting, "Running", "Completed", seconds=60)
    served.until(waiting, "Completed")
    served.until(served.run("publish/manual", programme=str(served.programme), period="2024"), "Completed", seconds=60)
    query = {"task_runs": {"state": {"type": {"any_": ["RUNNING", "PENDING"]}}}}
    assert served.ask("/task_runs/filter", query) == []


@pytest.mark.long
def test_what_an_open_server_knew_is_put_aside(served: Served) -> None:
    manual = served.ask("/deployments/name/publish/manual")["id"]
    later = {"parameters": {"programme": str(served.programme)}, "state": {"type": "SCHEDULED"}}
    run = served.ask(f"/deployments/{manual}/create_flow_run", later)["id"]
    served.stop()
    (served.home / AUTH).unlink()  # as in a folder of before there was one
    served.start()
    assert _refused(served, f"/flow_runs/{run}") == HTTPStatus.NOT_FOUND
    assert (served.home / "before-prefect.db").is_file()


@pytest.mark.long
def test_a_second_server_names_the_folder(served: Served) -> None:
    second = Served(served.home, ROOT, served.programme)
    log = served.home.with_suffix(".log").read_bytes()
    with pytest.raises(AssertionError, match="used by another server"):
        second.start()
    served.home.with_suffix(".log").write_bytes(log)
