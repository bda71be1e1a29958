"""Annex A: every announced rule, as report.json has it."""

from __future__ import annotations

import pytest

from atr.documents.html import ReportPage
from atr.documents.text.words import Words
from atr.report.model import Group, PublicReport
from tests.helpers import limits_sample, sample
from tests.helpers.tables import tables, text


def rows(report: PublicReport, *, paper: bool = False) -> dict[str, list[str]]:
    """The cells of each row, by the name of its group, which may have a mark."""
    (table,) = tables(report, "all_rules", paper=paper).values()
    return {row[0]: row[1:] for row in table[2:]}


def cells(report: PublicReport, group: Group) -> list[str]:
    name = Words.of(report).group(group)
    (found,) = (of for label, of in rows(report).items() if label == name or label.startswith(f"{name} ("))
    return found


def test_chances_and_people_are_those_of_the_report(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    for group in report.announced_groups:
        people, rate, *rules = cells(report, group)
        assert (people, rate) == (f"{group.population:,}", f"{100 * group.rate['low']:.0f}")  # type: ignore[index]
        told = [f"{100 * r.announced['low']:.1f} · {r.population}" for r in group.regions]  # type: ignore[index]
        assert [rule for rule in rules if rule != "nobody"] == told


def test_limits_the_expected_number_and_people_are_told() -> None:
    report = limits_sample.compas()
    for group in (g for g in report.announced_groups if g.regions):
        rules = [rule for rule in cells(report, group)[2:] if rule != "nobody"]
        for rule, region in zip(rules, group.regions, strict=True):
            if region.limits is None:
                assert rule == f"not told\n{region.population}"
            else:
                low, high = (round(100 * end) for end in region.limits["low"])
                assert rule == f"{low}–{high}\n{100 * region.announced['low']:.1f} · {region.population}"  # type: ignore[index]


def test_limits_that_say_nothing_are_not_told() -> None:
    report = limits_sample.compas()
    group = next(g for g in report.announced_groups if g.regions)
    wide = dict.fromkeys(report.outcomes, (0.0, 1.0))
    regions = tuple(r.model_copy(update={"limits": wide}) for r in group.regions)
    groups = tuple(g.model_copy(update={"regions": regions}) if g is group else g for g in report.groups)
    told = cells(report.model_copy(update={"groups": groups}), group)[2:]
    assert all(cell == "nobody" or cell.startswith("not told") for cell in told)


def test_a_group_that_shows_its_rate_only_says_so() -> None:
    report = limits_sample.compas()
    (group,) = report.rate_only_groups
    assert cells(report, group)[2:] == ["only the rate is told"]
    assert "Rate only: no limit could be told there." in text(report, "all_rules")


def test_groups_of_people_shown_together_are_the_last() -> None:
    report = limits_sample.compas()
    (rest,) = report.rest_groups
    labels = list(rows(report))
    assert labels[-2:] == ["People of groups that are not shown on their own", Words.of(report).group(rest)]


def test_numbers_of_an_earlier_version_are_marked() -> None:
    report = sample.compas()
    first, *others = report.groups
    told = text(report.model_copy(update={"groups": (first.model_copy(update={"as_of": 2}), *others)}), "all_rules")
    assert "(as in version 2)" in told
    assert "corrections since then are too few to be told" in told


@pytest.mark.parametrize("status", ["flattened", "coarsened"])
def test_what_a_status_means_is_said(status: str) -> None:
    report = sample.compas()
    first, *others = report.groups
    changed = first.model_copy(update={"status": status} | ({"regions": ()} if status == "flattened" else {}))
    told = text(report.model_copy(update={"groups": (changed, *others)}), "all_rules")
    assert f"({status})" in told
    assert f"{status.capitalize()}: " in told
    assert f"{status.capitalize()}: " not in text(report, "all_rules")


def test_withheld_groups_are_named_without_numbers() -> None:
    report = sample.compas(ceiling=0.5)
    told = text(report, "all_rules")
    assert report.withheld_groups
    for group in report.withheld_groups:
        assert Words.of(report).group(group) in told
        assert Words.of(report).group(group) not in rows(report)
    assert f"{len(report.withheld_groups)} groups are withheld because the sensitive attributes" in told


def test_many_sensitive_values_have_a_row_each(reports: dict[str, PublicReport]) -> None:
    report = reports["tall"]
    (table,) = tables(report, "all_rules").values()
    regions = [region for group in report.announced_groups for region in group.regions]
    expected = [[r.sensitive["level"], str(r.population), f"{100 * r.announced['low']:.1f}"] for r in regions]  # type: ignore[index]
    assert [row for row in table if row[0].startswith("level")] == expected


def test_each_of_three_outcomes_has_a_table() -> None:
    report = sample.compas()
    thirds = {"low": 0.2, "medium": 0.3, "high": 0.5}
    groups = tuple(
        g.model_copy(
            update={"rate": thirds, "regions": tuple(r.model_copy(update={"announced": thirds}) for r in g.regions)}
        )
        for g in report.groups
    )
    three = report.model_copy(
        update={
            "outcomes": tuple(thirds),
            "groups": groups,
            "coverage": report.coverage.model_copy(update={"rate": thirds}),
            "alike": (),
            "influence": (),
            "surrogate": None,
            "fairness": (),
        }
    )
    found = tables(three, "all_rules")
    assert [label.split("“")[1] for label in found] == ["low”", "medium”", "high”"]
    for share, table in zip(thirds.values(), found.values(), strict=True):
        assert {row[2] for row in table[2:]} == {f"{100 * share:.0f}"}


def test_groups_of_one_name_but_other_values_stand_apart() -> None:
    """“x, y” with “z” and “x” with “y, z” are named alike, and are not the same people."""
    public = [sample.attribute("a", "first", ("x, y", "x")), sample.attribute("b", "second", ("z", "y, z"))]
    counts = {((a, b), level): (60, 0.5) for a, b in (("x, y", "z"), ("x", "y, z")) for level in ("low", "high")}
    report = sample.report((*public, sample.attribute("level", "level", ("low", "high"), role="sensitive")), counts)
    (table,) = tables(report, "all_rules").values()
    assert [row[0] for row in table[2:]] == ["x, y, z"] * 2


@pytest.mark.long
def test_a_thousand_groups_are_under_a_megabyte() -> None:
    report = sample.grid((10, 10, 10), 5)
    assert len(rows(report)) == len(report.announced_groups) == 1000
    assert len(ReportPage(report, "").screen.encode()) < 1_000_000


@pytest.mark.long
def test_more_rules_than_can_be_printed_are_in_the_file() -> None:
    report = sample.grid((12, 12, 10), 5)
    told = rows(report)
    assert len(told) < len(report.announced_groups)
    smallest = min(int(row[0].replace(",", "")) for row in told.values())
    left_out = [g.population or 0 for g in report.announced_groups if Words.of(report).group(g) not in told]
    assert max(left_out) <= smallest
    assert f"Shown are the {len(told):,} groups with most people" in text(report, "all_rules")


def test_paper_has_a_thousand_rules_of_the_largest_groups() -> None:
    report = sample.grid((10, 10, 3), 5)
    on_screen, on_paper = (rows(report, paper=paper) for paper in (False, True))
    assert len(on_paper) < len(on_screen) == 300
    assert 995 < sum(cell != "nobody" for cells in on_paper.values() for cell in cells[2:]) <= 1000
    assert on_paper == {name: cells for name, cells in on_screen.items() if name in on_paper}
    people = {name: int(cells[0].replace(",", "")) for name, cells in on_screen.items()}
    assert min(people[name] for name in on_paper) >= max(n for name, n in people.items() if name not in on_paper)
    assert f"Shown are the {len(on_paper)} groups with most people" in text(report, "all_rules", paper=True)
    assert "Shown are" not in text(report, "all_rules")


def test_paper_explains_the_marks_of_its_own_rows() -> None:
    report = sample.grid((10, 10, 3), 5)
    smallest = min(report.groups, key=lambda group: group.population or 0)
    flat = [g.model_copy(update={"status": "flattened"}) if g is smallest else g for g in report.groups]
    report = report.model_copy(update={"groups": tuple(flat)})
    assert "Flattened: only the rate" in text(report, "all_rules")
    assert "Flattened" not in text(report, "all_rules", paper=True)


def test_nothing_announced_has_no_rules(reports: dict[str, PublicReport]) -> None:
    assert 'aria-labelledby="all_rules"' not in ReportPage(reports["none"], "").screen
