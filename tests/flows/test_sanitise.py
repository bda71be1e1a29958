"""The flow that releases records: the bytes of a plain run, its tasks and artifacts; served ones wait for a person."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import atr
from atr.flows.environment import DATABASE
from tests.helpers import records as helper
from tests.helpers import series
from tests.helpers.paths import ROOT
from tests.helpers.served import Served, environment

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("prefect")]

COUNTS = {("men", "s"): (100, 60), ("men", "t"): (100, 40), ("women", "s"): (50, 45), ("women", "t"): (50, 5)}


def _programme(folder: Path, **sanitise: object) -> Path:
    content = series.programme(minimum_group_size=10)
    content["sanitise"] = {"column": "result", "hide": ["secret"], "seed": "seed", "max_log_lift": 0.3} | sanitise
    path = series.write_series(folder, COUNTS, content=content)
    (folder / "seed").write_text(helper.SEED)
    return path


def _flow(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "atr.flows", "sanitise", str(path), "--json"], check=False,
        env=environment(PYTHONPATH=str(ROOT)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_the_flow_makes_the_bytes_of_a_plain_run(tmp_path: Path) -> None:
    os.umask(0o077)
    path = _programme(tmp_path / "flow")
    done = _flow(path)
    assert done.returncode == 0, done.stderr
    draft = json.loads(done.stdout)
    assert (draft["state"], draft["rows"], draft["new"]) == ("draft", 300, True)
    plain = atr.release_records(_programme(tmp_path / "plain"))
    assert series.files(Path(draft["documents"])) == series.files(plain.documents)
    assert not atr.release_records(path).new
    with sqlite3.connect(tmp_path / "flow" / "var" / "test-series" / "prefect" / DATABASE) as database:
        tasks, artifacts, runs = (
            [row[0] for row in database.execute(f"select {what}")]
            for what in ("name from task_run", "key from artifact", "name from flow_run")
        )
    assert sorted(name.rsplit("-", 1)[0] for name in tasks) == ["draft-records", "load-log"]
    assert {"records-summary", "records-csv", "records-parquet", "channel-json"} <= {*artifacts}
    assert runs == ["test-series last period"]


def test_a_flow_of_a_faulty_programme_ends_as_the_command(tmp_path: Path) -> None:
    done = _flow(_programme(tmp_path, max_log_lift=1e-6))
    assert done.returncode == 1
    assert "no alpha below 1 keeps max_log_lift" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["error"]["exit_code"] == 1


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    os.umask(0o077)
    found = Served(tmp_path / "home", ROOT, _programme(tmp_path / "mine"))
    found.start()
    yield found
    found.stop()


def test_a_person_reviews_served_records(served: Served) -> None:
    mine = {"programme": str(served.programme), "period": "2024"}
    served.until(served.run("sanitise/sanitise", **mine), "Completed")
    folder = served.programme.parent
    drafted = series.files(folder / "var" / "test-series" / "drafts" / "2024-records-v1")
    run = served.run("review/review", **mine, records=True)
    served.until(run, "Suspended")
    answer = {"decision": "publish", "reviewer": "R. Viewer", "comment": "read it"}
    answer["report_sha256"] = hashlib.sha256(drafted["channel.json"]).hexdigest()
    served.ask(f"/flow_runs/{run}/resume", {"run_input": answer})
    served.until(run, "Completed")
    site = folder / "site" / "test-series" / "2024" / "records-v1"
    assert series.files(site) == drafted
    assert atr.verify(site) == []
