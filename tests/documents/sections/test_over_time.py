"""Over time: rates are those of the releases, and changes are told only where report.json tells them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from atr.report import model
from tests.helpers.pages import has, in_hundred, view
from tests.helpers.releases import after, release


def table(report: model.PublicReport) -> dict[str, dict[str, str]]:
    return {row["label"]: row for row in view(report, "over_time")["changes"]}


def test_the_first_release_has_no_page() -> None:
    assert not has(release(2020, women=0.3, men=0.6), "over_time")


def test_a_change_that_can_be_told_is_the_finding() -> None:
    report = after(release(2020, women=0.3, men=0.6), release(2021, women=0.5, men=0.6))
    said = view(report, "over_time")["finding"]
    assert said == "People of the group “women”: 50 in 100 had the outcome “low”, against 30 in 100 in 2020."
    assert table(report)["women"] == {"label": "women", "then": "30", "now": "50", "told": "20 more"}
    assert table(report)["men"]["told"] == "cannot be told"


def test_others_that_can_be_told_are_counted() -> None:
    report = after(release(2020, women=0.3, men=0.6, others=0.2), release(2021, women=0.6, men=0.2, others=0.21))
    said = view(report, "over_time")["finding"]
    assert in_hundred(said) == [20, 60]
    told = [change for change in report.series[-1].changes if change.told]
    assert len(told) == 2
    assert said.endswith("1 other change can be told.")
    assert table(report)["men"]["told"] == "40 fewer"


def test_no_change_that_can_be_told_is_said() -> None:
    report = after(release(2020, women=0.3, men=0.6), release(2021, women=0.31, men=0.6))
    assert view(report, "over_time")["finding"] == "Since 2020, no change of a group can be told."
    assert {row["told"] for row in table(report).values()} == {"cannot be told"}


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("different_times", "numbers of different versions"),
        ("too_few_people", "too few people"),
        ("ranges_overlap", "cannot be told"),
        ("could_be_chance", "could be chance"),
    ],
)
def test_why_a_change_cannot_be_told_is_said(reason: Any, said: str) -> None:
    report = after(release(2020, women=0.3, men=0.6), release(2021, women=0.31, men=0.6))
    *before, last = report.series
    changes = tuple(change.model_copy(update={"reason": reason, "told": False}) for change in last.changes)
    changed = report.model_copy(update={"series": (*before, last.model_copy(update={"changes": changes}))})
    assert {row["told"] for row in table(changed).values()} == {said}


def test_the_chart_has_every_release_and_the_largest_groups() -> None:
    groups = {f"g{i}": 0.1 + i / 20 for i in range(8)} | {"men": 0.6}
    report = after(release(2019, **groups), release(2020, **groups), release(2021, **groups))
    alt = re.search('aria-label="([^"]*)"', str(view(report, "over_time")["figure"]["chart"].wide))
    assert alt is not None
    rows = alt[1].split("; ")
    assert len(rows) == 6
    for row in rows:
        name, rates = row.split(": ")
        shown = f"{round(100 * groups[name], 6):g}"
        rounded = next(g.rate for a in report.series[-1].attributes for g in a.groups if g.group == name)
        assert rates == ", ".join(f"{year} {round(100 * rounded, 6):g}" for year in (2019, 2020, 2021))
        assert abs(float(shown) - 100 * rounded) <= 0.5


def test_groups_that_come_and_go_are_drawn_where_they_are() -> None:
    report = after(release(2020, women=0.3, men=0.6), release(2021, men=0.6, others=0.2))
    alt = str(view(report, "over_time")["figure"]["chart"].wide)
    assert "women: 2020 30" in alt
    assert "others: 2021 20" in alt
    assert "men" in table(report)
    assert {"women", "others"}.isdisjoint(table(report))
    assert view(report, "over_time")["skipped"]
