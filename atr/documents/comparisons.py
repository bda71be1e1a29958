"""Comparisons of groups as several sections need them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from atr.core.comparison_rows import joined
from atr.core.display_text import ANY
from atr.documents.text.wording import VERDICTS, between, decimals_of, number
from atr.measures.parity import CONDITIONAL_PARITY
from atr.measures.parity import PARITY as STATISTICAL_PARITY
from atr.measures.ratio import P_PERCENT_RULE
from atr.report import reader_view
from atr.report.model import ComparedBy, Fairness, PublicReport

RATIO, PARITY, CONDITIONAL = P_PERCENT_RULE.name, STATISTICAL_PARITY.name, CONDITIONAL_PARITY.name
"""The measures that charts, sentences and lines are of; tables have the figures of all."""
Who = tuple[str, str]
"""An attribute or intersection, and one of its groups."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure as printed, with its range and verdict; empty where it was not measured."""

    value: str = ""
    range: str = ""
    symbol: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """A group, or a pair, with its figures by the name of the measure."""

    label: str
    people: int = 0
    rate: str = ""
    figures: Mapping[str, Measured] = field(default_factory=dict)
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Class:
    """The comparisons within one class of the legitimate attributes, or of one outcome."""

    heading: str
    rows: Sequence[Compared]
    condition: Mapping[str, str] = field(default_factory=dict)


def measured(entry: Fairness | None, decimals: int) -> Measured:
    """One measure as it is printed.

    Parameters
    ----------
    entry
        The comparison; None: not measured.
    decimals
        Decimals of its value and range.
    """
    if entry is None:
        return Measured()
    symbol, verdict = VERDICTS[entry.verdict] if entry.verdict else ("", "")
    if entry.reason == "too_few_people":
        verdict = "too few people"
    if entry.reason == "different_times":
        verdict = "different times"
    missing, unbounded = ("infinite", "exact") if entry.pair else ("no ratio", "")
    if entry.value is None:
        value, exact = missing, unbounded
    else:
        value, exact = number(entry.value, decimals=decimals), "exact"
    inside = exact if entry.range == (entry.value, entry.value) else between(entry.range, decimals=decimals)
    return Measured(value, "times differ" if entry.reason == "different_times" else inside, symbol, verdict)


def other(entry: Fairness) -> str:
    """The group of a comparison that is not the reference."""
    return entry.groups[0] if entry.groups[1] == entry.reference else entry.groups[1]


def by_group(entries: Iterable[Fairness]) -> dict[str, Fairness]:
    """The comparisons with a reference, by the group compared with it."""
    return {other(e): e for e in entries if e.reference in e.groups}


def ratios(report: PublicReport, attribute: str | None = None) -> list[Fairness]:
    """The ratios of the favourable outcome; of one attribute or intersection if it is given."""
    return [
        e
        for e in report.fairness
        if e.measure == RATIO and e.outcome == report.positive and attribute in (None, e.attribute)
    ]


def rule(report: PublicReport) -> Fairness | None:
    """The first ratio with a line, which gives the p%-rule its name; None where no line is drawn."""
    return next((e for e in ratios(report) if e.threshold is not None), None)


def values_of(report: PublicReport, by: ComparedBy) -> list[tuple[str, ...]]:
    """The values of each announced region in the attributes of a grouping, in the order of the report.

    Values whose people are compared as one are one; of people whose value is not told it is ``ANY``.
    """
    labels = reader_view.labels(report)
    return list(zip(*(labels[name] for name in by.attributes), strict=True))


def same_people(report: PublicReport) -> dict[Who, frozenset[int]]:
    """The announced regions of each group, to find groups of the same people.

    Returns
    -------
    By attribute or intersection and group, the positions of its regions among the announced ones.
    """
    found: dict[Who, set[int]] = {}
    for by in report.compared:
        for i, values in enumerate(values_of(report, by)):
            if ANY not in values:
                found.setdefault((by.attribute, joined(values)), set()).add(i)
    return {key: frozenset(members) for key, members in found.items()}


def common_decimals(values: Iterable[float | None], *, least: int = 2) -> int:
    """The fewest decimals, and at least ``least``, that print every value exactly."""
    return max([least, *(decimals_of(v) for v in values if v is not None)])
