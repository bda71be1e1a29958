"""What other choices of step and ceiling would tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atr.dossier import review
from atr.pipeline import Draft
from atr.programme import Programme, load, variants
from tests.helpers import series

pytestmark = pytest.mark.usefixtures("quick")

PEOPLE = {
    ("women", "low"): (60, 20), ("women", "middle"): (40, 20), ("women", "high"): (50, 30),
    ("men", "low"): (70, 20), ("men", "middle"): (40, 20), ("men", "high"): (60, 40),
    ("others", "low"): (62, 30), ("others", "high"): (38, 11),
}  # fmt: skip


def _series(folder: Path, years: int = 1, **policy: Any) -> Path:
    """A programme with a report a year."""
    path = series.write_series(folder, PEOPLE, **{"mechanism": "calibrated", "max_confidence": 0.8} | policy)
    head, *rows = (folder / "log.csv").read_text().splitlines()
    again = [f"{year}{row.replace('2024', str(2024 + year))}" for year in range(years) for row in rows]
    (folder / "log.csv").write_text("\n".join([head, *again]) + "\n")
    return path


def _choices(draft: Draft) -> dict[str, dict[str, Any]]:
    found = json.loads((draft.dossier / "dossier.json").read_text())["choices"]
    return {choice.pop("name"): choice for choice in found}


@pytest.mark.long
def test_choices_are_those_of_runs_that_made_them(tmp_path: Path) -> None:
    drafted = _choices(series.publish(_series(tmp_path / "drafted"), "2024"))
    assert [*drafted] == ["", "step 0.025", "step 0.1", "max_confidence 0.75", "max_confidence 0.85"]
    for policy in ({"step": 0.1}, {"max_confidence": 0.75}, {"max_confidence": 0.85}):
        ((key, value),) = policy.items()
        draft = series.publish(_series(tmp_path / f"{key}-{value}", **policy), "2024")
        assert _choices(draft)[""] == drafted[f"{key} {value:g}"]
    assert [drafted[f"max_confidence {c}"]["announced"] for c in (0.75, 0.85)] == ["76 %", "100 %"]


def test_the_draft_stands_beside_the_other_choices(tmp_path: Path) -> None:
    draft = series.publish(_series(tmp_path), "2024")
    mine, report = _choices(draft)[""], draft.report
    lines = [entry for entry in report.fairness if entry.verdict is not None and entry.pair is None]
    assert mine["lines"] == len(lines)
    assert mine["verdicts"] == sum(entry.verdict != "cannot_tell" for entry in lines)
    page = (draft.dossier / "dossier.html").read_text()
    assert "What other choices would tell" in page
    assert '<th scope="row">step 0.1</th>' in page


def test_earlier_reports_count_for_other_choices_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _series(tmp_path, years=2)
    series.publish(path, "2024")
    review.review(load(path), "2024", approve=True, name="R. Viewer", comment="read it")

    def as_it_is(programme: Programme) -> list[float]:
        return [programme.policy.max_confidence]

    monkeypatch.setattr(variants, "nearby_ceilings", as_it_is)
    choices = _choices(series.publish(path, "2025"))
    assert choices["max_confidence 0.8"] == choices[""]


def test_no_choices_without_a_step(tmp_path: Path) -> None:
    assert _choices(series.publish(_series(tmp_path, **series.OPTIMAL), "2024")) == {}
