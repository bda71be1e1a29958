"""Groups that have changed and count as the version before did: who is told of them, and what a report says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atr import cli
from atr.dossier import review
from atr.pipeline import Draft
from atr.programme import load
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


def published(folder: Path, counts: Counts = BEFORE) -> Path:
    content = series.programme(mechanism="calibrated", max_confidence=0.75)
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
