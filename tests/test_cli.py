"""The command line as a tired analyst uses it: exit codes, one clear message, no traceback, no Prefect."""

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

from atr import cli, terminal
from atr.dossier import review as reviewing
from atr.dossier.sign_off import POINTS
from atr.programme import load
from atr.report.model import PublicReport
from atr.warehouse.store import hold
from tests.helpers import series
from tests.helpers.command import atr
from tests.helpers.paths import ROOT

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command in this process: for what does not depend on how a process starts or ends."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["atr", *map(str, arguments)])
        capfd.readouterr()
        code = terminal.run(cli.app)
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


def test_init_writes_an_example_and_overwrites_nothing(tmp_path: Path, here: Command) -> None:
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


def test_forget_leaves_no_decision_of_an_id(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, series.card(10), population_rounding=1)
    path.write_text(path.read_text().replace("source: log.csv", "source: log.csv\n  keep: true"))
    assert here("publish", path).returncode == 0
    assert here("forget", path, "--ids", tmp_path / "nowhere.txt").returncode == 2
    ids = tmp_path / "ids.txt"
    ids.write_text("000001\n000002\nno such id\n")
    (tmp_path / "log.csv").unlink()
    done = here("forget", path, "--ids", ids)
    assert done.returncode == 0, done.stderr
    assert "2 rows of 2 ids" in done.stderr
    assert "Not in the store: 1 of the 3 ids." in done.stderr
    assert "and texts that dossiers quote: 2024-v1 (draft)" in done.stderr
    _fails(here("forget", path, "--ids", ids), 1, "none of these ids is in the store", "right series")
    other = series.write_series(tmp_path / "new", series.card(2))
    _fails(here("forget", other, "--ids", ids), 1, "no log was read yet")
    assert not (tmp_path / "new" / "var").exists()
    assert "398 decisions" in here("check", path).stderr
    ids.write_bytes("7".encode("utf-16"))
    _fails(here("forget", path, "--ids", ids), 1, "not in UTF-8")


def test_publish_review_verify_history(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, series.card(10), population_rounding=1)
    done = here("publish", path, "--json")
    assert done.returncode == 0, done.stderr
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
    assert "By approving, Ann confirms" in approved.stderr
    assert all(point in said.stderr for point in POINTS["report"].values() for said in (where, approved))
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


@pytest.mark.long
@pytest.mark.usefixtures("quick")
def test_who_sits_at_a_terminal_is_asked_to_confirm(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    series.publish(path)
    decide = [
        sys.executable,
        "-m",
        "atr.cli",
        "review",
        str(path),
        "2024",
        "--approve",
        "--name",
        "A",
        "--comment",
        "b",
    ]
    states = []
    for answer in (b"n\n", b"y\n"):
        ours, theirs = os.openpty()
        os.write(ours, answer)
        done = subprocess.run(decide, stdin=theirs, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
        assert "Do you confirm all of it?" in done.stderr
        states.append((done.returncode, [release.state for release in reviewing.releases(load(path))]))
        os.close(ours)
        os.close(theirs)
    assert states == [(1, ["draft"]), (0, ["published"])]


@pytest.mark.usefixtures("quick")
def test_a_ceiling_that_cannot_be_met_is_refused(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, series.card(10), max_confidence=0.65, fidelity={"delta": 0.95})
    _fails(here("publish", path), 3, "cannot be reached", "women", "dossier")
    assert not (tmp_path / "site").exists()


@pytest.mark.long
def test_what_keeps_a_run_from_starting_is_told(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, series.card(2))
    _fails(here("publish", path, "--period", "2013"), 1, "2024-12-06")
    _fails(here("publish", path, "--period", "13"), 1, "no period")
    with hold(path.parent / "var" / "test-series"):
        _fails(atr("publish", path), 4, str(os.getpid()))
    (tmp_path / "log.csv").unlink()
    _fails(here("publish", path), 1, "log.csv")


ALONE = """
import sys

def _watch(event, arguments):
    if event == "import" and arguments[0].split(".")[0] == "prefect" or event.startswith("socket.connect"):
        sys.stderr.write(f"{event} {arguments!r}\\n")
        sys.exit("neither Prefect nor the network is needed")

sys.addaudithook(_watch)
"""
"""Loaded into the Python process of a run: what it must do without."""


@pytest.mark.parametrize(
    "command", ["publish", *(pytest.param(of, marks=pytest.mark.long) for of in ("check", "history"))]
)
def test_a_command_needs_neither_prefect_nor_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    path = series.write_series(tmp_path, series.card(2), minimum_group_size=1000)
    (tmp_path / "sitecustomize.py").write_text(ALONE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    if command == "history":
        series.publish(path)
    done = atr(command, path)
    assert done.returncode == 0, done.stderr


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


@pytest.mark.parametrize(
    ("until", "sent", "code"),
    [
        pytest.param("Reading", signal.SIGINT, 130, marks=pytest.mark.long),
        ("Rendering", signal.SIGKILL, -signal.SIGKILL),
        pytest.param("Measuring", signal.SIGINT, 130, marks=pytest.mark.long),
        pytest.param("Rendering", signal.SIGTERM, 130, marks=pytest.mark.long),
    ],
)
def test_a_run_that_is_ended_can_be_started_anew(tmp_path: Path, until: str, sent: signal.Signals, code: int) -> None:
    path = series.write_series(tmp_path / "ended", series.card(2))
    process = subprocess.Popen(
        [sys.executable, "-m", "atr.cli", "publish", str(path), "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if until in line:
            break
    process.send_signal(sent)
    out, said = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in said
    if code == terminal.INTERRUPTED:
        assert "interrupted" in said
        assert json.loads(out)["error"]["exit_code"] == code
    assert not (path.parent / "var" / "test-series" / "drafts").exists()
    with series.quick():
        expected = series.publish(series.write_series(tmp_path / "whole", series.card(2)))
        assert series.files(series.publish(path).documents) == series.files(expected.documents)


@pytest.mark.long
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


@pytest.mark.usefixtures("quick")
def test_a_draft_says_what_the_reviewer_should_know_first(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, series.card(2), minimum_group_size=1000)
    assert "announces no group" in here("publish", path, "--period", "2024").stderr
    done = here("publish", path, "--period", "2024-Q4", "--json")
    assert "share days with 2024-Q4: 2024." in done.stderr
    assert json.loads(done.stdout)["overlapping"] == ["2024"]


@pytest.mark.usefixtures("quick")
def test_check_and_publish_say_how_many_are_announced(tmp_path: Path, here: Command) -> None:
    people = {("few", "a"): (40, 20), ("few", "b"): (40, 20), ("most", "a"): (300, 150)}
    path = series.write_series(tmp_path, people, max_confidence=0.75)
    told, checked = "secret: 'a' is 89 % of", here("check", path)
    assert f"{told} the log, above the ceiling 0.75." in checked.stderr
    assert " ".join(checked.stdout.splitlines()[1].split()) == "2024 380 1 0 1 21 % 0 % 79 %"
    done = here("publish", path, "--json")
    assert "People: 21 % announced, 0 % told roughly, 79 % left out." in done.stderr
    assert f"{told} 2024, above the ceiling 0.75." in done.stderr
    content, (period,) = json.loads(done.stdout), json.loads(here("check", path, "--json").stdout)["periods"]
    counts = {"people_announced": 80, "people_told_roughly": 0, "people_left_out": 300}
    assert all(content[name] == period[name] == n for name, n in counts.items())
    assert content["advice"].startswith(told)


@pytest.mark.usefixtures("quick")
def test_where_nothing_is_known_check_is_advised(tmp_path: Path, here: Command) -> None:
    path = series.write_series(tmp_path, series.card(2), minimum_group_size=1000)
    said = here("publish", path).stderr
    assert f"What would announce more: atr check {path}" in said
    assert "0 % of the people are announced" in here("check", path).stderr
