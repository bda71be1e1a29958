"""Groups that have changed and count as the version before did: who is told of them, and what a report says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atr import cli
from atr.dossier import review
from atr.pipeline import Draft
from atr.programme import load
from atr.report.times import at_one_time
from atr.verify import verify
from atr.verify.statements import findings
from tests.helpers import series

pytestmark = pytest.mark.usefixtures("quick")

Counts = dict[tuple[str, str], tuple[int, int]]
BEFORE: Counts = {
    ("f", "low"): (40, 16),
    ("f", "mid"): (40, 20),
    ("f", "high"): (35, 15),
    ("m", "low"): (30, 12),
    ("m", "mid"): (30, 15),
    ("m", "high"): (25, 15),
}


def published(folder: Path, counts: Counts = BEFORE, **policy: Any) -> Path:
    content = series.programme(**{"mechanism": "calibrated", "max_confidence": 0.75, **policy})
    path = series.write_series(folder, counts, content=content)
    series.publish(path)
    approve(path)
    return path


def approve(path: Path, **how: bool) -> None:
    review.review(load(path), "2024", approve=True, name="R. Viewer", comment="read it", **how)


def again(path: Path, changed: Counts) -> Draft:
    series.write_log(path.parent / "log.csv", BEFORE | changed)
    return series.publish(path)


FEW: Counts = {("f", "low"): (42, 17)}
ALIKE: Counts = {("f", "low"): (80, 30)}
M_ANEW: Counts = {("m", "low"): (40, 16), ("m", "mid"): (41, 20), ("m", "high"): (30, 18)}
REASONS = {
    "few": (FEW, "f (115 people in the version before, 117 now): too few people came, went or were corrected"),
    "telling": (ALIKE, "f (115 people in the version before, 155 now): who came, went or was corrected could be told"),
}


@pytest.mark.parametrize("why", REASONS)
def test_who_waits_and_why_is_told_in_private(tmp_path: Path, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    changed, said = REASONS[why]
    path = published(tmp_path)
    draft = again(path, M_ANEW | changed)
    (group,) = draft.waits
    assert (group.values, group.why) == (("f",), why)
    assert group.said().startswith(said)
    cli.show_draft(draft, path, as_json=False)
    assert f"  {group.said()}.\n" in capsys.readouterr().err
    assert review.waiting(load(path), "2024").waits == draft.waits
    cli.review(path, "2024")
    assert f"  {group.said()}.\n" in capsys.readouterr().err
    assert json.loads((draft.dossier / "dossier.json").read_text())["waits"] == [group.said()]
    assert group.said() in (draft.dossier / "dossier.html").read_text()
    public = b"".join(series.files(draft.documents).values())
    assert group.said().encode() not in public


def test_nobody_waits_who_is_told_anew(tmp_path: Path) -> None:
    """Three quarters of the log are gone: all of it is told, for those who went could be a group of their own."""
    draft = again(published(tmp_path), {of: (n // 4, k // 4) for of, (n, k) in BEFORE.items()})
    assert draft.new
    assert (draft.waits, draft.report.data_quality.corrections_wait) == ((), False)
    assert "waits" not in (draft.dossier / "dossier.html").read_text()


OTHERS: Counts = {("x", "low"): (40, 20), ("x", "mid"): (40, 20), ("x", "high"): (40, 20)}


def of_groups(draft: Draft) -> dict[str, int | None]:
    return {group.public["public"]: group.as_of for group in draft.report.groups}


@pytest.mark.long
def test_no_verdict_rests_on_numbers_of_different_times(tmp_path: Path) -> None:
    path = published(tmp_path, BEFORE | OTHERS)
    first = json.loads((load(path).site_path / "2024" / "v1" / "report.json").read_text())
    assert "as_of" not in first["groups"][0]
    draft = again(path, OTHERS | M_ANEW | FEW)
    report = draft.report
    assert of_groups(draft) == {"f": 1, "m": 2, "x": 1}
    across = [e for e in report.fairness if "m" in e.groups]
    assert {(e.reason, e.shortfall) for e in across} == {("different_times", None)}
    assert {e.verdict for e in across} == {"cannot_tell", None}
    assert all(e.reason != "different_times" for e in report.fairness if set(e.groups) == {"f", "x"})
    assert verify(draft.documents / "report.json") == []
    html = (draft.documents / "report.html").read_text()
    assert "(as in version 1)" in html
    assert "numbers of different times" in html
    assert "The rate of a group is the true one of the version that is named beside it" in html
    measures = json.loads((draft.dossier / "dossier.json").read_text())["measures"]
    assert [m["different_times"] for m in measures] == [e.reason == "different_times" for e in report.fairness]
    approve(path, replaces=True)
    assert of_groups(again(path, OTHERS | M_ANEW | FEW | {("x", "low"): (60, 30), ("x", "mid"): (60, 30)})) == {
        "f": 1,
        "m": 2,
        "x": 3,
    }


@pytest.mark.long
def test_groups_that_wait_look_like_those_that_did_not_change(tmp_path: Path) -> None:
    reports = []
    for name in ("f", "x"):
        path = published(tmp_path / name, BEFORE | OTHERS)
        people, positive = (BEFORE | OTHERS)[name, "low"]
        draft = again(path, OTHERS | M_ANEW | {(name, "low"): (people + 1, positive)})
        assert [group.values for group in draft.waits] == [(name,)]
        reports.append((draft.documents / "report.json").read_bytes())
    assert reports[0] == reports[1]


@pytest.mark.long
def test_what_waits_alone_is_nothing_new(tmp_path: Path) -> None:
    path = published(tmp_path)
    again(path, M_ANEW)
    approve(path, replaces=True)
    draft = again(path, M_ANEW | FEW)
    assert (draft.new, draft.release.version, len(draft.waits)) == (False, 2, 1)


@pytest.mark.long
@pytest.mark.parametrize("mechanism", ["calibrated", "optimal"])
def test_verify_finds_verdicts_across_versions(tmp_path: Path, mechanism: str) -> None:
    policy = {"mechanism": mechanism, "max_confidence": 0.75 if mechanism == "calibrated" else 0.95}
    path = published(tmp_path, BEFORE | OTHERS, **policy)
    draft = again(path, OTHERS | M_ANEW | FEW)
    report = draft.report
    assert list(findings(report)) == []
    once = at_one_time(report)
    forged = {
        "verdicts are given": report.model_copy(update={"fairness": once.fairness}),
        "groups are of one time": report.model_copy(update={"groups": once.groups}),
        "a version is to come": report.model_copy(
            update={"groups": tuple(group.model_copy(update={"as_of": 3}) for group in report.groups)}
        ),
        "all groups are as they were": report.model_copy(
            update={"groups": tuple(group.model_copy(update={"as_of": 1}) for group in report.groups)}
        ),
    }
    assert [name for name, false in forged.items() if not list(findings(false))] == []
