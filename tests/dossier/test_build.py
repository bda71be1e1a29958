"""The dossier shows what was announced beside what is true, and checks the report before anybody reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr.core.display_text import ANY, named
from atr.core.regions import Regions
from atr.dossier.build import Results, build, render
from atr.dossier.related import Related
from atr.errors import RefusedError
from atr.programme import Programme
from atr.report import model
from tests.helpers import series, whole

REMARKS = ["attributes.sex: 4 say 'f'", "the id?"]
LOG: dict[str, Any] = {"unknown": {"public": 4}, "remarks": REMARKS}
ROWS: dict[str, Any] = {
    "rows_read": 9, "decisions": 9, "duplicates": 0, "corrections": 0, "quarantined": 0, "reasons": {"no day": 2}
}  # fmt: skip


def _results(**policy: Any) -> Results:
    """Of a group to announce, one known too well before, and one with too few people."""
    programme = Programme.model_validate(series.programme(**{"max_confidence": 0.8, "digits": 3} | policy))
    regions = Regions(
        public=("public",),
        protection=programme.protection,
        outcomes=("approved", "refused"),
        group_values=(("open; withheld: no",), ("known",), ("few",)),
        region_values=(("low",), ("mid\nor so",), ("high",), ("low",), ("high",), ("low",)),
        counts=np.array([[20, 80], [40, 40], [60, 10], [90, 9], [0, 1], [2, 2]]),
        offsets=np.array([0, 3, 5, 6]),
    )
    solved = whole.solved(programme, regions)
    announced = whole.announced(programme, regions)
    report = whole.report(programme, regions, announced)
    regions = whole.reported(programme, regions)
    return Results(
        programme,
        "2024-Q1",
        3,
        regions,
        solved,
        announced,
        report,
        accounting=ROWS,
        unknown={"public": 4},
        remarks=REMARKS,
    )


@pytest.fixture(scope="module")
def results() -> Results:
    return _results()


def _failed(results: Results) -> list[str]:
    return [check.name for check in build(results).checks if not check.passed]


def test_every_group_is_shown_with_what_became_of_it(results: Results) -> None:
    announced, known, few = build(results).groups
    assert (announced.status, announced.reason) == ("announced", "")
    assert (known.status, known.reason) == ("withheld", "prior knowledge alone exceeds the ceiling")
    assert (few.status, few.reason) == ("withheld", "fewer people than the minimum")
    assert announced.binds
    assert announced.stated
    assert announced.beta is not None
    assert announced.prior <= announced.beta <= announced.true_confidence
    assert [cell.true for cell in announced.cells] == [0.2, 0.5, 60 / 70]
    assert all(cell.change == cell.announced - cell.true for cell in announced.cells if cell.announced is not None)
    assert [cell.announced for cell in (*known.cells, *few.cells)] == [None] * 3
    assert [group.announced_leakage is None for group in (announced, known, few)] == [False, True, True]


def test_what_a_mechanism_does_not_have_is_not_shown(results: Results, tmp_path: Path) -> None:
    assert "no reader of limits is above the ceiling" not in {check.name for check in build(results).checks}
    assert "side_information" in build(results).policy
    calibrated = _results(mechanism="calibrated")
    dossier = build(calibrated)
    assert "side_information" not in dossier.policy
    assert "no reader of limits is above the ceiling" in {check.name for check in dossier.checks}
    render(dossier, tmp_path)
    assert "side information" not in (tmp_path / "dossier.html").read_text()


def test_every_table_that_scrolls_has_a_name_of_its_own(results: Results, tmp_path: Path) -> None:
    dossier = build(results)
    left_out = tuple(replace(dossier.left_out[0], title=title) for title in ("sex", "age"))
    render(replace(dossier, left_out=left_out), tmp_path)
    regions = re.findall(r'role="region"[^>]* aria-label="([^"]*)"', (tmp_path / "dossier.html").read_text())
    assert {"Who is left out, by sex", "Who is left out, by age"} <= {*regions}
    assert len({*regions}) == len(regions)


def test_what_rates_alone_tell_is_to_be_looked_at(results: Results) -> None:
    assert results.report is not None
    of = model.ByRates(groups=3, max_confidence=0.851)
    privacy = results.report.privacy.model_copy(update={"by_rates": of})
    (warning,) = build(replace(results, report=results.report.model_copy(update={"privacy": privacy}))).warnings
    assert "In 3 groups" in warning
    assert "up to 85.1" in warning


def test_groups_are_named_by_what_is_shared() -> None:
    assert named(("a", "b")) == ("a", "b")
    assert named(("a", ANY)) == ("a", "not shown on their own")
    assert named((ANY, ANY)) == ("people not shown on their own",)


def test_a_flattened_group_is_shown_as_such() -> None:
    results = _results(unattainable="flatten")
    known = build(results).groups[1]
    assert (known.status, known.reason) == ("flattened", "prior knowledge alone exceeds the ceiling")
    assert [cell.announced for cell in known.cells] == [None, None]
    assert _failed(results) == []


FAULTS: dict[str, Callable[[Results], Results]] = {
    "every row read is accounted for": lambda r: replace(r, accounting=ROWS | {"rows_read": 10}),
    "every announced chance keeps the promise": lambda r: replace(
        r, announcement=replace(r.announcement, chance=r.announcement.chance[[2, 1, 0, 3]])
    ),
    "no group is above the ceiling, for exact and for published populations": lambda r: replace(
        r,
        programme=r.programme.model_copy(
            update={"policy": r.programme.policy.model_copy(update={"max_confidence": 0.4})}
        ),
    ),
    "every group keeps its number of people with each outcome, up to rounding": lambda r: replace(
        r, announcement=replace(r.announcement, chance=r.announcement.chance + np.array([9000, -9000]))
    ),
    "every true measure lies in its printed range": lambda r: replace(
        r, regions=replace(r.regions, counts=r.regions.counts[:, ::-1])
    ),
    "the report bears out its own statements": lambda r: replace(
        r, report=r.report.model_copy(update={"positive": "refused"})
    ),
}


@pytest.mark.parametrize("check", FAULTS)
def test_what_must_hold_before_a_review_is_checked(check: str) -> None:
    results = _results(unattainable="flatten")
    assert _failed(results) == []
    assert check in _failed(FAULTS[check](results))


def test_a_refused_run_is_shown_without_what_it_announced(results: Results, tmp_path: Path) -> None:
    refused = replace(results, announcement=None, report=None)
    dossier = build(refused, refusal=RefusedError("the ceiling cannot be met", private="Binding: open"))
    assert (dossier.refusal, dossier.refusal_detail) == ("the ceiling cannot be met", "Binding: open")
    assert (dossier.release, dossier.period, dossier.checks, dossier.measures) == ("2024-Q1-v3", "2024-Q1", (), ())
    assert [cell.announced for cell in dossier.groups[0].cells] == [None] * 3
    assert dossier.curves is not None
    render(dossier, tmp_path)
    assert "Nothing was drafted" in (tmp_path / "dossier.html").read_text()


def test_the_dossier_tells_what_changed_and_what_to_look_at(results: Results, tmp_path: Path) -> None:
    assert results.report is not None
    coverage = results.report.coverage.model_copy(update={"decisions": 1234})
    before = results.report.model_copy(update={"coverage": coverage})
    dossier = build(results, previous=before, related=Related(overlapping=("2024",), published=(1, 2)))
    decisions = next(of for of in dossier.differences if of.name.startswith("Decisions of the period"))
    now = f"{results.report.coverage.decisions:,}"
    assert (decisions.period_before, decisions.version_before, decisions.now) == ("1,234", "", now)
    assert [warning[:24] for warning in dossier.warnings] == ["There are reports of the", "Version 1 and 2 of this "]
    assert dossier.rows["decisions of the period without public"] == 4
    render(dossier, tmp_path)
    content = json.loads((tmp_path / "dossier.json").read_text())
    assert content["reasons"] == {"no day": 2}
    assert content["remarks"] == REMARKS
    page = (tmp_path / "dossier.html").read_text()
    assert "<li>attributes.sex: 4 say &#39;f&#39;.</li>\n<li>the id?</li>" in page
    assert "factors" not in content
    html = (tmp_path / "dossier.html").read_text()
    assert html.count("Look at this first") == 2
    render(dossier, tmp_path)
    assert (tmp_path / "dossier.html").read_text() == html
