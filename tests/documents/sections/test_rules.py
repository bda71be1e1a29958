"""The rules in panels: what is said of two groups side by side is true of every published rule."""

from __future__ import annotations

import re

import pytest

from atr.report.model import PublicReport, Region
from atr.report.situations import limits_of
from tests.helpers import drawn_reports, limits_sample, sample
from tests.helpers.pages import has, view
from tests.helpers.tables import text

SHAPES = {
    "limits": limits_sample.compas(),
    "compas": sample.compas(),
    **{kind: drawn_reports.drawn(kind, 2) for kind in drawn_reports.KINDS},
}
Rules = dict[tuple[str, ...], Region]


def rules(report: PublicReport, attribute: str, value: str) -> Rules:
    """The rules of a group by the values of all other attributes, of groups that show every value."""
    names = [a.name for a in report.attributes if a.name != attribute]
    return {
        tuple(values[name] for name in names): region
        for values, region, _ in report.announced_regions
        if values[attribute] == value and "" not in values.values() and limits_of(region, report) is not None
    }


def numbers(sentence: str, pattern: str) -> list[str]:
    found = re.search(pattern, sentence)
    return [] if found is None else list(found.groups())


@pytest.mark.parametrize("name", SHAPES)
def test_situations_are_counted_as_the_rules_lie(name: str) -> None:
    report = SHAPES[name]
    said = view(report, "rules")["beside"]
    if not said:
        assert "No two groups" in view(report, "rules")["finding"]
        return
    group, reference = re.findall("“([^”]*)”", said)[:2]
    attribute = next(of.attribute for of in report.alike if of.groups == (group, reference) and not of.attributes)
    one, other = (rules(report, attribute, value) for value in (group, reference))
    lie = {"below": 0, "above": 0, "overlap": 0}
    half_open = report.fidelity.kind == "limits"
    for key in one.keys() & other.keys():
        (a, b), (c, d) = (limits_of(of[key], report) or (0, 1) for of in (one, other))
        below = b < c or (half_open and b == c < 1)
        above = d < a or (half_open and d == a < 1)
        lie["below" if below else "above" if above else "overlap"] += 1
    told = numbers(said, r"told in (\d+) situations?: in (\d+) .* in (\d+) above, in (\d+) they overlap")
    assert list(map(int, told)) == [sum(lie.values()), *lie.values()]
    title = view(report, "rules")["title"]
    if title.startswith("In no situation"):
        assert ("above those" in title) <= (lie["above"] == 0)
        assert ("below those" in title) <= (lie["below"] == 0)
        assert ("lie apart" in title) == (lie["below"] == lie["above"] == 0)
    else:
        assert list(map(int, numbers(title, r"In (\d+) of (\d+) "))) == [lie["below"], sum(lie.values())]


@pytest.mark.parametrize("name", SHAPES)
def test_the_finding_is_a_published_pair_of_rules(name: str) -> None:
    report = SHAPES[name]
    said = view(report, "rules")["finding"]
    if "No two groups" in said:
        return
    values, group, reference = re.findall("(?<!outcome )“([^”]*)”", said)
    attribute = next(of.attribute for of in report.alike if of.groups == (group, reference) and not of.attributes)
    one, other = (rules(report, attribute, value) for value in (group, reference))
    ends = [float(n) for n in re.findall(r"(?:between |and |Among .*?, )?([\d.]+)(?= and [\d.]+ in 100| in 100)", said)]
    key = tuple(values.split(", "))
    both = [limits_of(of[key], report) or (0, 1) for of in (one, other)]
    expected = [round(100 * end, 6) for pair in both for end in (pair if "between" in said else pair[:1])]
    assert ends == expected
    pairs = {k: one[k].people + other[k].people for k in one.keys() & other.keys()}
    assert pairs[key] == max(pairs.values())


@pytest.mark.parametrize("name", SHAPES)
def test_panels_hold_the_groups_with_most_people(name: str) -> None:
    report = SHAPES[name]
    shown = view(report, "rules")["shown"]
    assert 1 <= len(shown["panels"]) <= 6
    public = [a.name for a in report.attributes if a.role == "public"]
    people = {group.id: sum(r.people for r in group.regions) for group in report.announced_groups
              if list(group.public) == public}  # fmt: skip
    largest = max(people, key=lambda id: people[id])
    drawn = " ".join(str(panel.wide) for panel in shown["panels"])
    region = max((r for g in report.announced_groups if g.id == largest for r in g.regions), key=lambda r: r.people)
    limits = limits_of(region, report)
    if limits is not None and limits[0] != limits[1]:
        low, high = (f"{round(100 * end, 4):g}" for end in limits)
        assert f"{low} to {high}" in drawn


def test_without_sensitive_limits_no_share_is_called_untold() -> None:
    assert view(SHAPES["compas"], "rules")["shown"]["told"] == ""
    told = view(SHAPES["limits"], "rules")["shown"]["told"]
    assert re.fullmatch(r"Rules are told for \d+ in 100 of the people in these panels\. Not told: .*", told)


def test_what_a_dot_is_depends_on_the_mechanism() -> None:
    assert "Dot: the number to expect" in view(SHAPES["limits"], "rules")["sub"]
    assert "Dot: the number as announced" in view(SHAPES["optimal"], "rules")["sub"]


def test_one_group_alone_is_drawn() -> None:
    report = sample.grid((1,), 3)
    found = view(report, "rules")
    assert found["finding"] == "No two groups have rules that are told in the same situation."
    assert len(found["shown"]["panels"]) == 1


def test_where_rates_alone_are_told_there_is_no_page() -> None:
    report = sample.compas()
    bare = tuple(g.model_copy(update={"status": "rate_only", "regions": ()}) for g in report.announced_groups)
    assert not has(report.model_copy(update={"groups": bare, "alike": ()}), "rules")
    assert not has(sample.none_announced(), "rules")


def test_names_of_rules_are_escaped() -> None:
    report = sample.hostile()
    assert "<script>" not in str(view(report, "rules")["shown"]["panels"][0].wide)
    assert "document.title" in text(report, "rules")
