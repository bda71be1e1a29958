"""The command line as a tired analyst uses it: exit codes, one clear message, no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from atr import cli
from atr.flows.server import GRACE
from atr.report.model import PublicReport
from atr.warehouse.store import hold
from tests.conftest import Published
from tests.helpers import series
from tests.helpers.command import atr
from tests.helpers.paths import ROOT
from tests.helpers.served import processes

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command in this process: for what does not depend on how a process starts or ends."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["atr", *map(str, arguments)])
        capfd.readouterr()
        code = cli._run()
        return subprocess.CompletedProcess(sys.argv, code, *capfd.readouterr())

    return run


def _fails(result: subprocess.CompletedProcess[str], code: int, *named: str) -> None:
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    for part in named:
        assert part in result.stderr


def test_usage() -> None:
    help_text = atr("--help")
    assert help_text.returncode == 0
    assert atr().stdout == help_text.stdout
    for command in ("init", "check", "publish", "review", "verify", "history", "serve"):
        assert command in help_text.stdout
    assert atr("nonsense").returncode == 2
    assert atr("publish").returncode == 2
    assert atr("--version").stdout.startswith("atr ")


def test_init_writes_an_example_that_works_and_overwrites_nothing(tmp_path: Path, here: Command) -> None:
    assert atr("init", tmp_path).returncode == 0
    before = series.files(tmp_path)
    checked = here("check", tmp_path / "programme.yaml")
    assert checked.returncode == 0, checked.stderr
    assert "2025" in checked.stdout
    assert series.files(tmp_path) == before, "check writes nothing"
    _fails(here("init", tmp_path), 1, "already there")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "programme.yaml").symlink_to(tmp_path / "nowhere")
    _fails(here("init", tmp_path / "new"), 1, "already there")
    assert not (tmp_path / "nowhere").exists()


def test_check_counts_one_as_one(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, {("all", "a"): (3, 2)})
    first, second, _ = (tmp_path / "log.csv").read_text().splitlines()[1:]
    with (tmp_path / "log.csv").open("a") as file:
        file.writelines([f"{first}\n", second.replace("yes", "no") + "\n"])
    assert "5 rows read: 3 decisions, 1 duplicate, 1 correction, 0 quarantined." in here("check", path).stderr


def test_check_names_the_fault(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, series.card(2))
    path.write_text(path.read_text().replace("day\n", "days\n"))
    _fails(atr("check", path), 1, "log.csv", "days", "day")
    path.write_text(path.read_text().replace("title:", "titel:", 1))
    _fails(here("check", path), 1, "titel", "line 2")
    _fails(here("check", tmp_path / "none.yaml"), 1, "no such file", "atr init")


@pytest.mark.xdist_group("prefect")
def test_publish_review_verify_history(tmp_path: Path, published: Published, here: Command) -> None:
    path, done = published.programme, published.process
    result = json.loads(done.stdout)
    documents = Path(result["documents"])
    assert Path(result["dossier"]).is_file()
    assert done.stderr.count("Rendering") == 1, "progress is told once"
    assert PublicReport.model_validate_json((documents / "report.json").read_text()).privacy.max_confidence == 0.9

    where = here("review", path, "2024")
    assert where.returncode == 0
    assert str(documents / "report.html") in where.stdout
    assert here("review", path, "2024", "--approve").returncode == 2
    assert here("review", path, "2024", "--approve", "--reject", "--name", "x", "--comment", "y").returncode == 2
    _fails(here("review", path, "2023", "--approve", "--name", "x", "--comment", "y"), 1, "no release of 2023")
    approved = atr("review", path, "2024", "--approve", "--name", "Ann", "--comment", "fine")
    assert approved.returncode == 0, approved.stderr
    site = Path(approved.stdout.strip())

    verified = here("verify", site / "report.json")
    assert (verified.returncode, "verified" in verified.stdout) == (0, True)
    changed = tmp_path / "changed.json"
    changed.write_text((site / "report.json").read_text().replace('"max_confidence": 0.9,', '"max_confidence": 0.901,'))
    false = atr("verify", changed)
    assert false.returncode == 3
    assert "privacy.max_confidence" in false.stderr
    _fails(here("verify", tmp_path / "none.json"), 1, "no such file")

    listed = here("history", path)
    assert "published" in listed.stdout
    assert "Ann: fine" in listed.stdout


@pytest.mark.xdist_group("prefect")
def test_publish_is_refused_where_the_ceiling_cannot_be_met(tmp_path: Path, prefect_home: Path) -> None:
    path = series.write_series(tmp_path, series.card(10), max_confidence=0.65, fidelity={"delta": 0.95})
    _fails(atr("publish", path), 3, "cannot be reached", "women", "dossier")
    assert not (tmp_path / "site").exists()
    for file in (tmp_path / "var" / "test-series" / "prefect").rglob("*"):
        assert file.is_dir() or b"Groups that bind" not in file.read_bytes(), file


def test_what_would_end_a_run_is_found_before_prefect_starts(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, series.card(2))
    _fails(here("publish", path, "--period", "2013"), 1, "2024-05-06")
    _fails(here("publish", path, "--period", "13"), 1, "no period")
    with hold(path.parent / "var" / "test-series"):
        held = atr("publish", path)
        _fails(held, 4, str(os.getpid()))
    (tmp_path / "log.csv").unlink()
    gone = here("publish", path)
    _fails(gone, 1, "log.csv")
    assert "Prefect" not in held.stderr + gone.stderr


def test_an_error_as_json(tmp_path: Path, here: Command) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(series.write_series(tmp_path, series.card(2)).read_text().replace("title:", "titel:", 1))
    for arguments, code, kind, where, message in [
        (("check", tmp_path / "none.yaml"), 1, "ProgrammeError", "none.yaml", "no such file"),
        (("check", wrong), 1, "ProgrammeError", "wrong.yaml, line 2, titel", "unknown key; did you mean 'title'?"),
        (("check",), 2, "UsageError", "", "PROGRAMME"),
        (("review", tmp_path / "programme.yaml", "2024", "--approve"), 2, "UsageError", "", "--name"),
        (("init", tmp_path / "programme.yaml" / "x"), 4, "EnvironmentFault", "programme.yaml", "ot a directory"),
    ]:
        done = here(*arguments, "--json")
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["exit_code"], error["kind"]) == (code, code, kind)
        assert where in error["where"]
        assert message in error["message"]
        assert message in done.stderr
    process = atr("check", "--json")
    assert (process.returncode, json.loads(process.stdout)["error"]["exit_code"]) == (2, 2)


@pytest.mark.xdist_group("prefect")
@pytest.mark.parametrize(
    ("until", "whom", "sent", "code", "says"),
    [
        ("Starting Prefect", "group", signal.SIGINT, 130, "interrupted"),
        ("Starting Prefect", "command", signal.SIGKILL, -signal.SIGKILL, ""),
        ("Reading", "server", signal.SIGKILL, 4, "server ended during the run"),
        ("Solving", "all", signal.SIGTERM, -signal.SIGTERM, ""),
        ("Rendering", "command", signal.SIGINT, 130, "interrupted"),
    ],
)
def test_a_run_that_is_ended_ends_at_once_and_leaves_no_process(
    tmp_path: Path, prefect_home: Path, until: str, whom: str, sent: signal.Signals, code: int, says: str
) -> None:
    path = series.write_series(tmp_path, series.card(2))
    process = subprocess.Popen(
        [sys.executable, "-m", "atr.cli", "publish", str(path), "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if until in line:
            break
    time.sleep(3 if until == "Starting Prefect" else 0)
    servers = processes(str(prefect_home))
    assert len(servers) == 1
    if whom == "group":
        os.killpg(process.pid, sent)
    for each in [process.pid] * (whom in ("command", "all")) + servers * (whom in ("server", "all")):
        os.kill(each, sent)
    out, said = process.communicate(timeout=10)
    assert process.returncode == code
    assert says in said
    assert "Traceback" not in said
    assert not says or json.loads(out)["error"]["exit_code"] == code
    end = time.monotonic() + 2 * GRACE
    while processes(str(prefect_home)):
        assert time.monotonic() < end, "the server is left"
        time.sleep(0.1)


def test_an_interrupted_query_ends_at_once(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    header, *rows = (tmp_path / "log.csv").read_text().splitlines()
    with (tmp_path / "log.csv").open("w") as log:
        log.write(header + "\n")
        for n in range(1_500_000):
            log.write(f"{n}{rows[n % len(rows)][6:]}\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "atr.cli", "check", str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert "Reading" in process.stderr.readline()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, "internal error" in said) == (130, False), said


def test_a_draft_says_what_the_reviewer_should_know_first(
    tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("atr.cli._flow", lambda programme, period: series.publish(programme.path, period))
    path = series.write_series(tmp_path, series.card(2), minimum_group_size=1000)
    cli.publish(path, "2024")
    assert "announces no group" in capsys.readouterr().err
    cli.publish(path, "2024-Q2", as_json=True)
    out, said = capsys.readouterr()
    assert "share days with 2024-Q2: 2024." in said
    assert json.loads(out)["overlapping"] == ["2024"]
