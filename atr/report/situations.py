"""The rules of two groups beside each other, in situations where limits are told for both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atr.core.display_text import ANY, UNKNOWN
from atr.core.publication import CHANCE_DIGITS
from atr.report import reader_view
from atr.report.model import Alike, PublicReport, Region
from atr.report.rounding import down, up

_Limits = tuple[float, float]


@dataclass(frozen=True)
class RulePair:
    """The rules of a group and of its reference in one situation.

    Parameters
    ----------
    situation
        The values of all other attributes, by name.
    people
        Of the group and of the reference, as printed.
    limits
        The two limits of the chance of the positive outcome, of the group and of the reference.
    largest
        Whether one of the two is about more people than any other rule of the report.
    """

    situation: dict[str, str]
    people: tuple[int, int]
    limits: tuple[_Limits, _Limits]
    largest: bool


@dataclass(frozen=True)
class Situations:
    """In how many situations limits are told for both of two groups, and how they lie.

    Parameters
    ----------
    attribute
        The protected attribute.
    groups
        The group and its reference.
    below, above, overlap
        In how many the limits of the group lie below those of the reference, above them, or overlap with them.
    most_people
        The pair of rules about most people; None where limits are nowhere told for both.
    """

    attribute: str
    groups: tuple[str, str]
    below: int
    above: int
    overlap: int
    most_people: RulePair | None

    @property
    def told(self) -> int:
        """In how many situations limits are told for both."""
        return self.below + self.above + self.overlap


def situations(report: PublicReport) -> tuple[Situations, ...]:
    """Set the rules of each group beside those of its reference where all other attributes are equal.

    Left out are rules of rest and coarsened groups that do not tell every value, or have a value "unknown", those of
    groups whose numbers are of different versions, and rows of several values: no rule is of all their people.

    Returns
    -------
    One for each group by a single protected attribute.
    """
    rules = list(_rules(report))
    labels = reader_view.labels(report) if rules else {}
    everywhere = sorted(region.people for group in report.announced_groups for region in group.regions)
    most = everywhere[-1] if everywhere[-2:-1] != everywhere[-1:] else None
    several = {(by.attribute, row.label) for by in report.compared for row in by.rows if len(row.values) > 1}
    found = []
    for of in report.alike:
        if not of.attributes and not several & {(of.attribute, label) for label in of.groups}:
            sides: tuple[_Rules, _Rules] = ({}, {})
            for rule in rules:
                label = labels[of.attribute][rule.place]
                if label in of.groups:
                    key = rule.version, tuple(pair for pair in rule.values.items() if pair[0] != of.attribute)
                    sides[of.groups.index(label)].setdefault(key, []).append(rule)
            found.append(_beside(report, of, sides, most))
    return tuple(found)


@dataclass(frozen=True)
class _Rule:
    """A region for which limits are told or promised, and all values are known."""

    place: int
    region: Region
    limits: _Limits
    values: dict[str, str]
    version: int | None


_Rules = dict[tuple[int | None, tuple[tuple[str, str], ...]], list[_Rule]]
"""The regions of a group, by version and situation: one, but where values meet in a row."""


def _rules(report: PublicReport) -> Iterator[_Rule]:
    groups = [group for group in report.announced_groups for _ in group.told]
    for place, (group, (values, region, _)) in enumerate(zip(groups, report.announced_regions, strict=True)):
        limits = limits_of(region, report)
        if limits is not None and group.status != "coarsened" and not {ANY, UNKNOWN} & {*values.values()}:
            yield _Rule(place, region, limits, values, group.as_of)


def limits_of(region: Region, report: PublicReport) -> _Limits | None:
    """Between what the true chance of the positive outcome lies: as told of a region, or promised of all of them.

    Returns
    -------
    Two probabilities; None where nothing narrower than 0 to 1 is told.
    """
    change = report.fidelity.largest_change
    if region.limits is not None:
        return region.limits[report.positive]
    if region.announced is None or change is None:
        return None
    chance = region.announced[report.positive]
    return max(0.0, down(chance - change, CHANCE_DIGITS)), min(1.0, up(chance + change, CHANCE_DIGITS))


def _beside(report: PublicReport, of: Alike, sides: tuple[_Rules, _Rules], most: int | None) -> Situations:
    """Count how the limits of a group and its reference lie.

    Parameters
    ----------
    sides
        The rules of each.
    most
        People of the rule about most people in the report; None where several are about as many.
    """
    lie = dict.fromkeys(("below", "above", "overlap"), 0)
    pair = None
    for key in (key for key in sides[0] if key in sides[1]):
        both = sides[0][key], sides[1][key]
        one, other = map(_together, both)
        half_open = report.fidelity.kind == "limits"  # the upper limit is not included, unless it is 1
        lie["below" if _below(one, other, half_open) else "above" if _below(other, one, half_open) else "overlap"] += 1
        a, b = (sum(rule.region.people for rule in rules) for rules in both)
        if pair is None or a + b > sum(pair.people):
            largest = any(rule.region.people == most for rules in both for rule in rules)
            pair = RulePair(situation=dict(key[1]), people=(a, b), limits=(one, other), largest=largest)
    return Situations(attribute=of.attribute, groups=of.groups, **lie, most_people=pair)


def _below(one: _Limits, other: _Limits, half_open: bool) -> bool:
    return one[1] < other[0] or (half_open and one[1] == other[0] < 1)


def _together(rules: Sequence[_Rule]) -> _Limits:
    return min(rule.limits[0] for rule in rules), max(rule.limits[1] for rule in rules)
