"""Annex B, all comparisons: every figure of fairness with its range, interval, test and verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atr.documents.comparisons import other, same_people
from atr.documents.figures import Figures
from atr.documents.sections import notes_on_rows
from atr.documents.sections.since import since
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.measures import MEASURES
from atr.report.model import AlikeDifference, ComparedBy, Fairness, PublicReport
from atr.report.sampling import is_of_two_groups

TITLE = later("All comparisons")
MOST_ROWS = 200
"""Rows under one heading, of the groups with most people."""
MOST_PAIRS = 30
MOST_IN_CLASSES = 300
"""Comparisons within classes that are printed of one attribute or intersection."""

_CHOSEN = {
    "named": later("compared with"),
    "highest": later("compared with, as that of the highest rate"),
    "largest": later("compared with, as the largest"),
}

MOST_ALIKE = 120
"""Pairs, and classes of people alike, that are printed."""
_FINDINGS = {
    "higher": later("more often"),
    "lower": later("less often"),
    "none": later("no difference"),
    "could_be_chance": later("could be chance"),
    "cannot_be_told": later("cannot be told"),
    "different_times": later("numbers of different times"),
}

Place = Callable[[str], tuple[list[int], str]]
"""Where a group stands among the others: as the values of its attributes are ordered, then by name."""


@dataclass(frozen=True, slots=True)
class Row:
    """A comparison as printed; of the group that others are compared with, its people and rate alone."""

    label: str
    people: str = ""
    rate: str = ""
    value: str = ""
    range: str = ""
    interval: str = ""
    p: str = ""
    verdict: str = ""
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Rows under a heading, those with most people; ``in_all``: how many there are."""

    heading: str
    rows: Sequence[Row]
    in_all: int


def context(words: Words) -> Mapping[str, Any] | None:
    """The variables of the template."""
    report = words.report
    if not report.announced_groups:
        return None
    people, tables = same_people(report), []
    for by in report.compared:
        entries = [e for e in report.fairness if e.attribute == by.attribute]
        if entries:
            notes = notes_on_rows.of(words, by, people)
            tables.append((words.titles(by.attributes), entries[0].reference, list(_parts(words, by, entries)), notes))
    found = [e for e in report.fairness if e.pair is None]
    return {
        "tables": tables,
        "not_compared": [
            notes_on_rows.not_compared(words, by)
            for by in report.compared
            if not any(e.attribute == by.attribute for e in report.fairness)
        ],
        "sampled": bool(words.level) and any(map(is_of_two_groups, report.fairness)),
        "level": words.level,
        "whole": report.policy.sampling is not None and report.policy.sampling.coverage == "whole",
        "exact": any(e.range == (e.value, e.value) for e in found),
        "legitimate": words.titles(a.name for a in report.attributes if a.legitimate),
        "conditional": any(e.condition for e in found),
        "summed_up": any(e.summary for e in found),
        "too_few": any(e.reason == "too_few_people" for e in found),
        "alike": _alike(words),
        "alike_left": max(0, sum(1 + len(of.classes) for of in report.alike) - MOST_ALIKE),
        "since": since(words),
    }


def _parts(words: Words, by: ComparedBy, entries: Sequence[Fairness]) -> Iterator[Part]:
    report, figures, place = words.report, Figures(words), in_order(words, by)

    def part(heading: str, found: Sequence[Fairness], *, first: bool = False, limit: int = MOST_ROWS) -> Part:
        largest = sorted(found, key=lambda e: -_smaller(e))[:limit]
        rows = [(place(other(e)), _row(figures, e, other(e), counts=first or bool(e.condition))) for e in largest]
        base = largest[0]
        if first or base.condition:
            rows.append((place(base.reference), _base(words, figures, base, by.chosen if first else "named")))
        return Part(heading, [row for _, row in sorted(rows, key=lambda row: row[0])], len(found))

    of_all = [e for e in entries if not MEASURES[e.measure].conditional]
    named = [e for e in of_all if e.outcome in (None, report.positive)]
    against = [e for e in named if e.reference in e.groups]
    for i, (heading, found) in enumerate(_by(against, figures.heading).items()):
        yield part(heading, found, first=not i)
    if len(report.outcomes) > 2:
        others = [e for e in of_all if e not in named and e.reference in e.groups]
        for heading, found in _by(others, figures.heading_of_outcome).items():
            yield part(heading, found)
    pairs = [e for e in named if e.reference not in e.groups]
    for heading, found in _by(pairs, figures.heading_of_pairs).items():
        yield _pairs(words, figures, heading, found, place)
    inside = [e for e in entries if MEASURES[e.measure].conditional and e.summary is None and e.reference in e.groups]
    if len(inside) <= MOST_IN_CLASSES:
        for heading, found in sorted(_by(inside, figures.heading_of_class).items(), key=_class_place(report)):
            yield part(heading, found)
    else:
        yield Part(words.say("Within classes of people alike"), (), len(inside))
    over = [e for e in entries if e.summary is not None and e.reference in e.groups]
    if over:
        rows = sorted(over, key=lambda e: (place(other(e)), e.summary != "worst_class"))
        shown = [_row(figures, e, figures.over_classes(e, other(e)), counts=False) for e in rows[: 2 * MOST_ROWS]]
        yield Part(figures.heading_over_classes(over[0]), shown, len(over))


def _pairs(words: Words, figures: Figures, heading: str, found: Sequence[Fairness], place: Place) -> Part:
    """Every two groups of which neither is the one that others are compared with."""
    found = sorted(found, key=lambda e: (place(e.groups[1]), place(e.groups[0])))
    rows = [
        _row(figures, e, words.say("{group} against {other}", group=e.groups[0], other=e.groups[1]), counts=False)
        for e in found
    ]
    return Part(heading, rows if len(rows) <= MOST_PAIRS else (), len(rows))


# --- people alike


def _alike(words: Words) -> list[tuple[str, list[Row]]]:
    """A part for every pair: everybody, people alike in what is public, in what is sensitive too, and by class."""
    found, room = [], MOST_ALIKE
    for of in words.report.alike:
        heading = words.say(
            "{group} against {reference}, by {attributes}",
            group=of.groups[0],
            reference=of.groups[1],
            attributes=words.titles(of.attributes or (of.attribute,)),
        )
        rows = [_alike_row(words, words.say("everybody"), of.everybody)]
        for d in (of.public, of.situation):
            if d is not None:
                rows.append(
                    _alike_row(words, words.say("alike in {attributes}", attributes=words.titles(d.alike_in)), d)
                )
        for c in of.classes[: max(0, room - 1)]:
            values = ", ".join(c.condition.values())
            rows.append(_alike_row(words, values, c.public))
            if c.situation is not None:
                same = words.say("{values}; same {sensitive}", values=values, sensitive=words.sensitive)
                rows.append(_alike_row(words, same, c.situation))
        room -= 1 + len(of.classes)
        found.append((heading, rows))
        if room <= 0:
            break
    return found


def _alike_row(words: Words, label: str, of: AlikeDifference) -> Row:
    figures, language = Figures(words), words.language
    amount = figures.amount(of.difference, ratio=False)
    return Row(
        label,
        " · ".join(map(language.number, of.people)),
        value=f"+{amount}" if of.difference > 0 else amount,
        range=words.say("exact") if of.range[0] == of.range[1] else figures.between(of.range, ratio=False),
        interval="" if of.interval is None else figures.between(of.interval, ratio=False),
        verdict=words.say(_FINDINGS[of.finding]),
        bad=of.finding in ("higher", "lower"),
    )


def _by(entries: Iterable[Fairness], heading: Callable[[Fairness], str]) -> dict[str, list[Fairness]]:
    found: dict[str, list[Fairness]] = {}
    for e in entries:
        found.setdefault(heading(e), []).append(e)
    return found


def _class_place(report: PublicReport) -> Callable[[tuple[str, list[Fairness]]], list[tuple[float, str]]]:
    ranks = {(a.name, v): i for a in report.attributes for i, v in enumerate(a.values)}
    return lambda item: [(ranks.get(part, math.inf), part[1]) for part in item[1][0].condition.items()]


def _smaller(e: Fairness) -> int:
    return e.people[e.groups.index(other(e))]


def _row(figures: Figures, e: Fairness, label: str, *, counts: bool) -> Row:
    side = e.groups.index(other(e))
    people, rate = figures.counts(e, side) if counts else ("", "")
    return Row(
        label,
        people,
        rate,
        figures.value(e),
        figures.range(e),
        figures.interval(e),
        figures.p(e),
        figures.verdict(e),
        bad=e.verdict == "not_met",
    )


def _base(words: Words, figures: Figures, e: Fairness, chosen: str | None) -> Row:
    people, rate = figures.counts(e, e.groups.index(e.reference))
    return Row(e.reference, people, rate, verdict=words.say(_CHOSEN[chosen or "named"]))


def in_order(words: Words, by: ComparedBy) -> Place:
    """Give the place of each group of a grouping, by its label."""
    report, parts = words.report, words.parts[by.attribute]
    together = {row.label: row.values[0] for each in report.compared for row in each.rows}
    ranks = [
        {v: i for i, v in enumerate(a.values)} for name in by.attributes for a in report.attributes if a.name == name
    ]

    def place(label: str) -> tuple[list[int], str]:
        values = [together.get(v, v) for v in parts.get(label, ())]
        return [rank.get(v, len(rank)) for rank, v in zip(ranks, values, strict=False)], label

    return place
