"""The groups that people are compared by, each with its rate, what bounds it, and its verdict in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from atr.documents.charts.svg import Kind
from atr.documents.text.words import Words
from atr.measures.ratio import P_PERCENT_RULE
from atr.report.model import ComparedBy, Fairness, PublicReport

FOUR_FIFTHS = 0.8


@dataclass(frozen=True, slots=True)
class Lines:
    """What rates are held against.

    Parameters
    ----------
    share
        Of the rate of the reference; the other line is one over it.
    at
        Where the two lie, the lower one first; the first alone where no rate can be above the other; from 0 to 1.
    """

    share: float
    at: tuple[float, ...]

    @property
    def four_fifths(self) -> bool:
        """Whether they are those of the four-fifths rule."""
        return self.share == FOUR_FIFTHS


@dataclass(frozen=True)
class GroupRow:
    """A group beside its reference, in the ratio of their rates of the positive outcome.

    Parameters
    ----------
    label
        Its name in tables.
    who
        Its people, within a sentence.
    people
        As printed.
    rate
        Of the positive outcome, as printed.
    entry
        The comparison with the reference; None of the reference itself, and where there is none.
    interval
        What chance could make of its rate; None where the log is no sample.
    range
        Between what its true rate lies; None where it is told.
    """

    label: str
    who: str
    people: int
    rate: float
    entry: Fairness | None
    interval: tuple[float, float] | None
    range: tuple[float, float] | None

    @property
    def kind(self) -> Kind:
        """How its marks are drawn."""
        return (self.entry and self.entry.verdict) or "none"


def rows(words: Words, by: ComparedBy) -> list[GroupRow]:
    """The groups of an attribute or intersection in the order of the report; empty where there are no two."""
    entries = [e for e in ratios(words.report) if e.attribute == by.attribute and by.reference in (None, *e.groups)]
    ranges = words.rate_ranges
    found: dict[str, GroupRow] = {}
    for e in entries:
        for i, label in enumerate(e.groups):
            against = e if by.reference is not None and label != by.reference else None
            if label in found and (against is None or found[label].entry):
                continue
            found[label] = GroupRow(
                label=label,
                who=words.compared(by.attribute, label),
                people=e.people[i],
                rate=e.rates[i],
                entry=against,
                interval=e.sampling.rates[i] if e.sampling else None,
                range=ranges.get((by.attribute, label)),
            )
    order = _order(words.report, by)
    return sorted(found.values(), key=lambda row: order.get(row.label, len(order)))


def ratios(report: PublicReport) -> list[Fairness]:
    """The ratios of the rates of the positive outcome, among everybody."""
    return [e for e in report.fairness if e.measure == P_PERCENT_RULE.name and e.outcome == report.positive]


def lines_of(by: ComparedBy, rows: Iterable[GroupRow]) -> Lines | None:
    """The lines that the rates of groups are held against; None where no lines are drawn."""
    for row in rows:
        if row.entry and row.entry.threshold and by.reference is not None:
            share, reference = row.entry.threshold, row.entry.rates[row.entry.groups.index(by.reference)]
            first, second = reference * share, reference / share
            return Lines(share, (first, second) if first < second < 1 else (first,))
    return None


def verdict(words: Words, row: GroupRow, by: ComparedBy) -> str:
    """The verdict of a group in words; of the reference, that others are compared with it."""
    e = row.entry
    if e is None:
        return words.say("compared with") if row.label == by.reference else ""
    if e.reason == "too_few_people":
        return words.say("too few people")
    if e.reason == "different_times":
        return words.say("other times")
    if e.verdict == "cannot_tell":
        return words.say("cannot be told")
    by_chance = chance_could_turn(e)
    if e.verdict == "met":
        return words.say("met; close") if by_chance else words.say("met")
    if e.verdict == "not_met":
        return words.say("not met; close") if by_chance else words.say("not met")
    return ""


def chance_could_turn(entry: Fairness) -> bool:
    """Whether the interval of a ratio reaches over a line that its verdict depends on."""
    if entry.sampling is None or entry.threshold is None:
        return False
    low, high = entry.sampling.interval
    inside = entry.threshold <= low and high is not None and high <= 1 / entry.threshold
    beyond = (high is not None and high < entry.threshold) or low > 1 / entry.threshold
    return not (inside if entry.verdict == "met" else beyond)


def _order(report: PublicReport, by: ComparedBy) -> dict[str, int]:
    labels = dict.fromkeys(label for e in ratios(report) if e.attribute == by.attribute for label in e.groups)
    if len(by.attributes) > 1:
        return {label: i for i, label in enumerate(sorted(labels))}
    values = next((a.values for a in report.attributes if a.name == by.attributes[0]), ())
    first = {row.label: min(map(values.index, row.values)) for row in by.rows if {*row.values} <= {*values}}
    return {label: first.get(label, values.index(label) if label in values else len(values)) for label in labels}
