"""A log that changes under a series: every report counts what a fresh reading of the log as it is would count."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from atr import pipeline as steps
from atr.dossier import review
from atr.errors import RefusedError
from atr.programme import load
from atr.verify import verify
from tests.helpers import series

pytestmark = pytest.mark.usefixtures("quick")

HEADER = "id,updated,day,sex,income,result\n"
Files = dict[str, list[str] | None]


def changes(new: str, changed: str, gone: str) -> str:
    """How a dossier says that a log changed since the release of 2025."""
    counts = f"{new} are new, {changed} are changed and {gone} are gone"
    return f"Since version 1 of 2025 was drafted, {counts}, in the whole log."


def month(n: int, *, rows: int = 260) -> list[str]:
    """Decisions of a month, with ids of their own."""
    drawn = random.Random(n)
    return [
        f"{n}-{i},2025-{n:02}-20,2025-{n:02}-{1 + i % 28:02},{drawn.choice(['women', 'men'])},"
        f"{drawn.choice(['low', 'middle', 'high'])},{drawn.choice(['yes', 'yes', 'no'])}"
        for i in range(rows)
    ]


def corrected(row: str, day: str) -> str:
    """The same decision with the other outcome, as it was written on another day."""
    id, _, decided, sex, income, result = row.split(",")
    return ",".join([id, day, decided, sex, income, "no" if result == "yes" else "yes"])


ALL: Files = {f"2025-{n}.csv": month(n) for n in (1, 2, 3, 10)}
FIRST = month(1)
MISTAKEN = [corrected(row, "2025-01-20") for row in FIRST[:150]] + FIRST[150:]
CORRECTIONS = [corrected(row, "2025-04-01") for row in FIRST[:40]]

SCENES: dict[str, list[Files]] = {
    "an edit by mistake is undone": [ALL, {"2025-1.csv": MISTAKEN}, {"2025-1.csv": FIRST}],
    "200 rows are deleted": [ALL, {"2025-1.csv": FIRST[:60]}],
    "a month is deleted": [ALL, {"2025-2.csv": None}],
    "a month is deleted and comes back under another name": [ALL, {"2025-2.csv": None}, {"b.csv": ALL["2025-2.csv"]}],
    "a correction comes before its month": [{"0.csv": CORRECTIONS}, ALL],
    "a correction comes with its month": [ALL | {"2025-1.csv": FIRST + CORRECTIONS}],
    "a correction comes after its month": [ALL, {"z.csv": CORRECTIONS}],
    "a correction is withdrawn": [ALL, {"z.csv": CORRECTIONS}, {"z.csv": None}],
    "a file is read under two names": [ALL, {"copy.csv": FIRST}],
    "files are exchanged": [ALL, {"2025-1.csv": ALL["2025-2.csv"], "2025-2.csv": FIRST}],
}


def write_files(folder: Path, files: Mapping[str, list[str] | None]) -> None:
    for name, rows in files.items():
        if rows is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")


def write_programme(folder: Path, **log: Any) -> Path:
    content = series.programme(mechanism="calibrated", max_confidence=0.8)
    content["log"] |= {"source": "*.csv", "revision": "updated"} | log
    content["log"] = {key: value for key, value in content["log"].items() if value is not None}
    content["attributes"] = {
        "sex": {"role": "public", "protected": True},
        "income": {"role": "sensitive", "values": {"low": "low", "middle": "middle", "high": "high"}},
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def report(draft: steps.Draft) -> dict[str, Any]:
    """What a report says of its period, but for its version and date, and what follows from earlier releases."""
    content = json.loads((draft.documents / "report.json").read_text())
    content["data_quality"].pop("before", None)
    return {name: part for name, part in content.items() if name not in ("version", "date", "changes")}


def afresh(folder: Path, target: Path) -> dict[str, Any]:
    """The report that a store would make that reads the log for the first time."""
    target.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            shutil.copy(path, target)
    return report(series.publish(target / "programme.yaml", "2025"))


OFTEN = ("an edit by mistake is undone", "a correction comes after its month")


@pytest.mark.parametrize(
    "scene", [scene if scene in OFTEN else pytest.param(scene, marks=pytest.mark.long) for scene in SCENES]
)
def test_a_report_is_that_of_a_fresh_store(tmp_path: Path, scene: str) -> None:
    path = write_programme(tmp_path / "kept")
    for files in SCENES[scene]:
        write_files(path.parent, files)
        draft = series.publish(path, "2025")
    assert report(draft) == afresh(path.parent, tmp_path / "fresh")
    if scene.startswith("an edit") or "withdrawn" in scene or "comes back" in scene:
        first = write_programme(tmp_path / "never changed")
        write_files(first.parent, ALL)
        assert report(draft) == report(series.publish(first, "2025"))


def publish_and_approve(path: Path, period: str, *, replaces: bool = False) -> dict[str, Any]:
    draft = series.publish(path, period)
    _, folder = review.review(load(path), period, approve=True, name="R", comment="read", replaces=replaces)
    assert verify(folder / "report.json") == []
    content: dict[str, Any] = json.loads((draft.dossier / "dossier.json").read_text())
    return json.loads((folder / "report.json").read_text()) | {"dossier": content}


@pytest.mark.long
def test_published_numbers_change_with_the_log(tmp_path: Path) -> None:
    """Edit by mistake, publish, restore, publish: the second version tells of the log as it was meant."""
    path = write_programme(tmp_path / "kept")
    write_files(path.parent, ALL | {"2025-1.csv": MISTAKEN})
    wrong = publish_and_approve(path, "2025")
    assert "before" not in wrong["data_quality"]
    write_files(path.parent, {"2025-1.csv": FIRST})
    right = publish_and_approve(path, "2025", replaces=True)
    fresh = afresh(path.parent, tmp_path / "fresh")
    assert right["version"] == 2
    assert [g["population"] for g in right["groups"]] == [g["population"] for g in fresh["groups"]]
    assert (
        [g["rate"] for g in right["groups"]]
        == [g["rate"] for g in fresh["groups"]]
        != [g["rate"] for g in wrong["groups"]]
    )
    before = {name: wrong["data_quality"][name] for name in ("rows_read", "decisions", "duplicates", "corrections")}
    told = right["data_quality"]["before"]
    assert told == before | {"period": "2025", "version": 1, "quarantined": 0}
    assert right["dossier"]["log_changes"] == changes("0 decisions", "150 decisions", "0 decisions")
    write_files(path.parent, {"2025-11.csv": month(11)[:100], "2025-3.csv": None})
    assert report(series.publish(path, "2025"))["coverage"] != fresh["coverage"]


@pytest.mark.long
def test_changes_are_counted_from_the_draft_that_was_published(tmp_path: Path) -> None:
    path = write_programme(tmp_path / "kept")
    write_files(path.parent, ALL)
    series.publish(path, "2025")
    write_files(path.parent, {"later.csv": ["x" + row.replace("2025", "2026") for row in month(1)][:4]})
    assert not series.publish(path, "2025").new
    write_files(path.parent, {"later.csv": ["x" + row.replace("2025", "2026") for row in month(1)][:200]})
    review.review(load(path), "2025", approve=True, name="R", comment="read")
    draft = series.publish(path, "2026")
    told = json.loads((draft.dossier / "dossier.json").read_text())["log_changes"]
    assert told == changes("200 decisions", "0 decisions", "0 decisions")


@pytest.mark.long
def test_another_way_of_reading_is_told_as_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_programme(tmp_path)
    write_files(tmp_path, ALL)
    told: list[str] = []

    def step(function: Callable[..., Any], *arguments: Any) -> Any:
        done = function(*arguments)
        told.extend([done.told] if function is steps.load_log else [])
        return done

    for changed in ({}, {"missing": ["", "-"]}, {"missing": ["", "-"]}):
        write_programme(tmp_path, **changed)
        steps.publish(path, "2025", step=step)
    firsts = ["The log is read for the first time", "The whole log was read anew", "The log is as it was"]
    assert all(line.startswith(first) for line, first in zip(told, firsts, strict=True))


def test_the_report_of_counts_is_that_of_the_rows(tmp_path: Path) -> None:
    path, counted = write_programme(tmp_path / "rows"), tmp_path / "counted"
    write_files(path.parent, ALL)
    with duckdb.connect() as connection:
        counts = write_programme(counted, counts="people", id=None, revision=None)
        connection.execute(
            f"""
            COPY (SELECT day, sex, income, result, count(*) AS people
                  FROM read_csv('{path.parent}/*.csv', header = true, all_varchar = true) GROUP BY ALL)
            TO '{counted}/counts.csv' (HEADER)
            """
        )
    assert report(series.publish(path, "2025")) == report(series.publish(counts, "2025"))


@pytest.mark.parametrize("later", [{"2025-3.csv": month(3)[:200]}, {"2026.csv": [f"x{row}" for row in month(2)]}])
def test_a_draft_of_another_log_is_not_published(tmp_path: Path, later: Files) -> None:
    """Whether other rows are of its period or not: it is held against the log again, and is a new draft or stays."""
    path = write_programme(tmp_path)
    write_files(tmp_path, ALL)
    series.publish(path, "2025")
    assert not review.waiting(load(path), "2025").changed
    write_files(tmp_path, {name: [row.replace("2025", name[:4]) for row in rows or []] for name, rows in later.items()})
    steps.load_log(str(path))
    assert review.waiting(load(path), "2025").changed.startswith("the log has ")
    with pytest.raises(RefusedError, match="has other rows by now") as refused:
        review.review(load(path), "2025", approve=True, name="R", comment="read")
    assert "decisions" in (refused.value.private or "")
    assert "decisions" not in str(refused.value.message)
    series.publish(path, "2025")
    assert not review.waiting(load(path), "2025").changed
    release, _ = review.review(load(path), "2025", approve=True, name="R", comment="read")
    assert release.state == "published"


def test_a_draft_of_a_log_read_otherwise_is_not_published(tmp_path: Path) -> None:
    path = write_programme(tmp_path)
    write_files(tmp_path, ALL)
    series.publish(path, "2025")
    write_programme(tmp_path, missing=["", "-"])
    steps.load_log(str(path))
    assert review.waiting(load(path), "2025").changed == "the log was read anew"
    with pytest.raises(RefusedError):
        review.review(load(path), "2025", approve=True, name="R", comment="read")
    review.review(load(path), "2025", approve=False, name="R", comment="made of another log")
