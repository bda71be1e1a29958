"""Annex A, all rules: a row per group where sensitive values are few, else a row per region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.model import AttributeInfo, Group, PublicReport, Region

TITLE = later("All rules")
MOST_RULES = 6000
"""Rules on a screen: more make a document that nobody can open; all are in announced_rules.csv."""
MOST_ON_PAPER = 1000
"""Rules on paper, some ten pages: a table to look something up in is read on a screen."""
MOST_COLUMNS = 6
MOST_LETTERS = 80
"""In the headings of all columns together."""
MOST_NAMED = 100
"""Groups withheld by name that are listed."""

_MARKS = {
    "rate_only": later("rate only"),
    "flattened": later("flattened"),
    "coarsened": later("coarsened"),
    "rest": "",
    "announced": "",
}

_Values = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is told of one region: the value of its column, then as printed its limits or chance, what a reader then
    expects where limits are told, and its people; ``told``: whether anything is."""

    column: str
    chance: str
    expected: str
    people: str
    told: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    """A group with a rule for each column, None where nobody is in it; no rules where its rate is all that is told."""

    label: str
    mark: str
    people: str
    rate: str
    rules: Sequence[Rule | None]
    rest: bool


def context(words: Words) -> Mapping[str, Any] | None:
    """The variables of the template; ``wide``: sensitive values are columns, else every region has a row."""
    report = words.report
    if not report.announced_groups:
        return None
    hidden = [a for a in report.attributes if a.role == "sensitive"]
    columns = _columns(report.announced_groups, hidden)
    labels = [" · ".join(values) for values in columns]
    outcomes = [report.positive, *(o for o in report.outcomes if o != report.positive and len(report.outcomes) > 2)]
    told, printed = (
        [*_most_people(report.announced_groups, most // len(outcomes))] for most in (MOST_RULES, MOST_ON_PAPER)
    )
    screen = _shown(words, told, outcomes, columns)
    return {
        "wide": len(labels) <= MOST_COLUMNS and sum(map(len, labels)) <= MOST_LETTERS,
        "limits": report.fidelity.kind in ("limits", "ranges"),
        "columns": labels,
        "by": words.titles(a.name for a in hidden),
        "screen": screen,
        "paper": screen if len(printed) == len(told) else _shown(words, printed, outcomes, columns),
        "announced": len(report.announced_groups),
        "withheld": [words.group(g) for g in report.withheld_groups[:MOST_NAMED]],
        "more_withheld": len(report.withheld_groups[MOST_NAMED:]),
    }


def _shown(
    words: Words, groups: Iterable[Group], outcomes: Iterable[str], columns: Sequence[_Values]
) -> Mapping[str, Any]:
    """The rows of some groups for each outcome, and what they need to be said of."""
    of = _in_order(words.report, groups)
    tables = [(outcome, [_row(words, group, outcome, columns) for group in of]) for outcome in outcomes]
    return {
        "tables": tables,
        "groups": len(of),
        "statuses": {group.status for group in of},
        "not_told": any(rule and not rule.told for row in tables[0][1] for rule in row.rules),
        "as_of": any(group.as_of for group in of),
    }


def _columns(groups: Iterable[Group], hidden: Sequence[AttributeInfo]) -> list[_Values]:
    occurring = {_values(r, hidden) for g in groups for r in g.regions}
    order = [{value: i for i, value in enumerate(a.values)} for a in hidden]
    return sorted(occurring, key=lambda c: [(o.get(v, len(o)), v) for o, v in zip(order, c, strict=True)])


def _values(region: Region, hidden: Sequence[AttributeInfo]) -> _Values:
    return tuple(region.sensitive[a.name] for a in hidden)


def _most_people(groups: Sequence[Group], rules: int) -> Iterator[Group]:
    """The groups with most people that have so many rules together."""
    for group in sorted(groups, key=lambda g: -(g.population or 0)):
        rules -= max(1, len(group.regions))
        if rules < 0:
            return
        yield group


def _in_order(report: PublicReport, groups: Iterable[Group]) -> list[Group]:
    """By their public values in the order of the report; groups of people shown together are the last."""
    ranks = {a.name: {v: i for i, v in enumerate(a.values)} for a in report.attributes if a.role == "public"}

    def place(group: Group) -> tuple[bool, list[int]]:
        return group.status == "rest", [rank.get(group.public.get(a, ""), len(rank)) for a, rank in ranks.items()]

    return sorted(groups, key=place)


def _row(words: Words, group: Group, outcome: str, columns: Iterable[_Values]) -> Row:
    hidden = [a for a in words.report.attributes if a.role == "sensitive"]
    found = {_values(region, hidden): _rule(words, group, region, outcome, hidden) for region in group.regions}
    marks = [words.say(_MARKS[group.status])] if _MARKS.get(group.status) else []
    marks += [words.say("as in version {n}", n=group.as_of)] if group.as_of else []
    return Row(
        words.group(group),
        ", ".join(marks),
        words.language.people(group.population or 0),
        "" if group.rate is None else words.language.points(group.rate[outcome]),
        [found.get(values) for values in columns] if found else (),
        rest=group.status == "rest",
    )


def _rule(words: Words, group: Group, region: Region, outcome: str, hidden: Sequence[AttributeInfo]) -> Rule:
    points, report = words.language.points, words.report
    people, column = words.language.people(region.population), " · ".join(_values(region, hidden))
    limits = None if region.limits is None or region.limits[outcome] == (0, 1) else region.limits[outcome]
    if report.fidelity.kind == "limits" and limits is None:
        return Rule(column, words.say("not told"), "", people, told=False)
    decimals = max(0, (group.digits or report.policy.digits) - 2)
    expected = "" if region.announced is None else points(region.announced[outcome], decimals=decimals)
    if limits is None:
        return Rule(column, expected, "", people)
    return Rule(column, "–".join(map(points, limits)), expected, people)
