"""Comparisons of groups as several sections need them."""

from __future__ import annotations

from atr.core.comparison_rows import joined
from atr.core.display_text import ANY
from atr.report import reader_view
from atr.report.model import ComparedBy, Fairness, PublicReport

Who = tuple[str, str]
"""An attribute or intersection, and one of its groups."""


def other(entry: Fairness) -> str:
    """The group of a comparison that is not the reference."""
    return entry.groups[0] if entry.groups[1] == entry.reference else entry.groups[1]


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
