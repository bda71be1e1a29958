"""Released records, as an outsider checks them: what is false in the file or in what is stated of it is found."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import atr
from atr.errors import VerifyError
from atr.programme import load
from atr.records.model import FILES
from tests.helpers import records as helper
from tests.helpers.command import atr as command


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of records of 2013."""
    return atr.release_records(helper.compas(tmp_path_factory.mktemp("records"), **helper.NO_RACE), "2013").documents


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _signed(folder: Path) -> Path:
    """Let the hashes of the channel, the note and the manifest agree with the files."""
    path = folder / "channel.json"
    before = _sha256(path)
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"sha256": {name: _sha256(folder / name) for name in FILES}})
    )
    note = folder / "note.html"
    note.write_text(note.read_text().replace(before, _sha256(path)))

    files = {p.name: {"sha256": _sha256(p)} for p in folder.iterdir() if p.name != "manifest.json"}
    (folder / "manifest.json").write_text(json.dumps({"files": files}))
    return folder


def _forged(released: Path, folder: Path, change: Callable[[dict[str, Any]], Any]) -> list[str]:
    """What is found where something else is stated."""
    shutil.copytree(released, folder / "forged")
    path = folder / "forged" / "channel.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return [finding.where for finding in atr.verify(_signed(folder / "forged"))]


def test_a_file_changed_after_its_manifest_is_found(released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "changed"))
    (folder / "records.csv").write_bytes((folder / "records.csv").read_bytes() + b"\n")
    assert [finding.where for finding in atr.verify(folder)] == ["records.csv"]


FORGED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "people": (lambda c: c.update(people=c["people"] + 1), "people"),
    "group": (lambda c: c["groups"][0].update(people=c["groups"][0]["people"] + 5), "groups[0].totals"),
    "alpha": (lambda c: c["groups"][0].update(alpha=0.2), "groups[0].transition"),
    "transition": (lambda c: c["groups"][0]["transition"][0].reverse(), "groups[0].transition"),
    "loss": (lambda c: c.update(loss=0.01), "loss"),
    "bound": (lambda c: c["bounds"].update(max_log_lift=0.1), "after"),
    "before": (lambda c: c["before"].update(mutual_information=0.0), "after.mutual_information"),
    "after": (lambda c: c["after"].update(log_lift=0.1), "after"),
    "channel": (lambda c: c.update(channel="best"), "channel"),
    "period": (lambda c: c["period"].update(label="2014"), "note.pdf"),
    "hidden": (lambda c: c.update(hidden=["sex"]), "hidden"),
    "values": (lambda c: c.update(values=["low", "low"]), "values"),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_false_statement_is_found(what: str, released: Path, tmp_path: Path) -> None:
    change, where = FORGED[what]
    assert where in _forged(released, tmp_path, change)


def test_totals_that_the_file_cannot_have_are_found(released: Path, tmp_path: Path) -> None:
    def turned(content: dict[str, Any]) -> None:
        for group in content["groups"]:
            group["totals"].reverse()
            group["transition"] = []

    found = _forged(released, tmp_path, turned)
    assert sum(where.endswith(".totals") for where in found) >= 6


def test_a_column_that_was_not_altered_is_found(tmp_path: Path) -> None:
    """Alpha is stated, but the file has the true values."""
    open_ = helper.compas(tmp_path / "open", column="score_text", hide=["race"], max_log_lift=9.0, max_ldp=99.0)
    closed = atr.release_records(helper.compas(tmp_path / "closed", **helper.NO_RACE), "2013").documents
    draft = atr.release_records(open_, "2013")
    for name in ("records.csv", "records.parquet"):
        shutil.copy(draft.documents / name, closed / name)
    assert draft.records.alpha < 0.001 or draft.records.loss < 0.01
    assert "records.csv" in [finding.where for finding in atr.verify(_signed(closed))]


def test_rows_that_are_not_of_the_channel_are_found(released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "other"))
    (folder / "manifest.json").unlink()
    assert atr.verify(folder) == []
    header, *rows = (folder / "records.csv").read_text().splitlines(keepends=True)
    (folder / "records.csv").write_text("".join([header, *reversed(rows)]))
    assert [finding.where for finding in atr.verify(folder)] == ["records.csv"]


def test_files_that_are_not_of_the_release_are_found(released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "more"))
    (folder / "secret.csv").write_text("race\n")
    assert [finding.where for finding in atr.verify(folder)] == ["secret.csv"]
    (folder / "secret.csv").unlink()
    for name in ("note.html", "note.pdf"):
        (folder / name).write_text("all is well")
    (folder / "manifest.json").unlink()
    assert [finding.where for finding in atr.verify(folder)] == ["note.html", "note.pdf"]


def _moved(released: Path, folder: Path, people: dict[str, str], rows: int) -> list[str]:
    """What is found where so many low rows of some people are raised, and all hashes are renewed."""
    shutil.copytree(released, folder)
    with duckdb.connect() as connection:
        frame = connection.execute("FROM read_parquet($1)", [str(folder / "records.parquet")]).df()
        inside = frame["score_text"] == "low"
        for name, value in people.items():
            inside &= frame[name] == value
        frame.loc[frame.index[inside][:rows], "score_text"] = "raised"
        connection.register("moved", frame)
        connection.execute(f"COPY moved TO '{folder / 'records.parquet'}' (FORMAT parquet)")
        connection.execute(f"COPY moved TO '{folder / 'records.csv'}' (FORMAT csv, HEADER)")
    return [finding.where for finding in atr.verify(_signed(folder)) if finding.where != "note.pdf"]


@pytest.mark.long
def test_rows_that_were_moved_are_found(tmp_path: Path) -> None:
    released = atr.release_records(helper.example(tmp_path / "made", "compas/programme.yaml"), "2013").documents
    low = helper.rows(released).query("race == 'African-American' and score_text == 'low'")
    assert _moved(released, tmp_path / "none", {}, 0) == []
    assert _moved(released, tmp_path / "many", {"race": "African-American"}, len(low) // 2)
    sizes = low.groupby(["age_cat", "sex", "c_charge_degree"]).size()
    largest = dict(zip(sizes.index.names, sizes.idxmax(), strict=True))
    assert len({*_moved(released, tmp_path / "one", {"race": "African-American", **largest}, 60)}) == 1


def test_files_with_other_columns_are_refused(released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "columns"))
    (folder / "records.csv").write_text("a,b\n1,2\n")
    with pytest.raises(VerifyError, match="other columns"):
        atr.verify(folder)
    (folder / "records.parquet").unlink()
    with pytest.raises(VerifyError, match="no such file"):
        atr.verify(folder)
    (folder / "channel.json").write_text("{}")
    with pytest.raises(VerifyError, match="this is no atr-records/1"):
        atr.verify(folder / "channel.json")


@pytest.mark.long
def test_the_command_line_drafts_reviews_and_verifies(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, **helper.NO_RACE)
    made = command("sanitise", str(path), "--period", "2013-Q1", "--json")
    assert made.returncode == 0, made.stderr
    draft = json.loads(made.stdout)
    assert (draft["period"], draft["state"], draft["rows"]) == ("2013-Q1", "draft", 1722)
    shown = command("review", str(path), "2013-Q1", "--records")
    assert "dossier.html" in shown.stdout
    assert "note.pdf" in shown.stdout
    assert shown.returncode == 0, shown.stderr
    decision = ("--approve", "--name", "A", "--comment", "read")
    assert command("review", str(path), "2013-Q1", "--records", *decision).returncode == 0
    folder = tmp_path / "site" / "compas" / "2013-Q1" / "records-v1"
    verified = command("verify", str(folder))
    assert (verified.returncode, "verified" in verified.stdout) == (0, True)
    assert "records" in command("history", str(path)).stdout
    content = json.loads((folder / "channel.json").read_text())
    (folder / "channel.json").write_text(json.dumps(content | {"loss": 0.0}))
    assert command("verify", str(folder)).returncode == 3


def test_exact_people_show_whether_the_bounds_are_kept(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, **helper.NO_RACE)
    folder = atr.release_records(path, "2013").documents
    log = pd.read_csv(tmp_path / "compas_decisions.csv", dtype=str, keep_default_na=False)
    log = log[log["compas_screening_date"].str.startswith("2013")]
    shown = {name: of.values or {} for name, of in load(path).attributes.items()}
    shown["score_text"] = {"Low": "low", "Medium": "raised", "High": "raised"}
    counted = log.assign(**{name: log[name].replace(of) for name, of in shown.items() if name in log})
    counted = counted.groupby(["age_cat", "sex", "c_charge_degree", "race", "score_text"]).size()
    counts = counted.rename("population").reset_index()
    counts.to_csv(tmp_path / "counts.csv", index=False)
    assert atr.verify(folder, population=tmp_path / "counts.csv") == []
    counts["race"] = counts["race"] + counts["score_text"].where(counts["race"] == "Caucasian", "")
    counts.to_csv(tmp_path / "counts.csv", index=False)
    found = atr.verify(folder, population=tmp_path / "counts.csv")
    assert any("above max_log_lift" in finding.problem for finding in found)
    counts["population"] += 1
    counts.to_csv(tmp_path / "counts.csv", index=False)
    with pytest.raises(VerifyError, match="other totals"):
        atr.verify(folder, population=tmp_path / "counts.csv")
