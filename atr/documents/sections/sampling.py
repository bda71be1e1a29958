"""Sampling uncertainty: one table per protected attribute, of the comparisons that are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr.documents.comparisons import CONDITIONAL, PARITY, RATIO, Class, Compared, by_group
from atr.documents.text.phrases import titles
from atr.documents.text.sampling import level, p_words
from atr.documents.text.wording import between, percent_decimals, points
from atr.report.model import ComparedBy, Fairness, PublicReport


@dataclass(frozen=True, slots=True)
class Row:
    """One group: the interval of its rate and, but for a reference, of its ratio and difference, and p values."""

    group: Compared
    rate: str
    cells: tuple[str, ...] = ()
    beyond_sampling: bool = False


Table = tuple[str, list[tuple[str, list[Row]]]]
"""The title; then the rows of everybody (no heading), and those within each class under its heading."""


def table(report: PublicReport, by: ComparedBy, entries: Sequence[Fairness], shown: Sequence[Class]) -> Table | None:
    """The intervals and tests of the comparisons by one attribute or intersection.

    Parameters
    ----------
    report
        The report.
    by
        The attribute or intersection.
    entries
        All comparisons by it.
    shown
        The groups that are printed: of everybody, then of each class.

    Returns
    -------
    The title, and rows under headings; rates in percent. None where the decisions are not seen as a sample.
    """
    sampled = [e for e in entries if e.sampling]
    ratios = by_group(e for e in sampled if e.measure == RATIO and e.outcome == report.positive)
    parts = []
    for part in shown:
        ratio = {} if part.condition else ratios
        parity = by_group(e for e in sampled if e.measure in (PARITY, CONDITIONAL) and e.condition == part.condition)
        every = {**parity, **ratio}
        if every:
            base = next(iter((*ratio.values(), *parity.values())))
            rows = (_row(report, row, base, ratio, parity) for row in part.rows if row.reference or row.label in every)
            parts.append((part.heading, list(rows)))
    of = f" of “{report.positive}” alone" if len(report.outcomes) > 2 else ""
    about = f"Seen as a sample: {level(report)} intervals and tests{of} by {titles(report, by.attributes)}"
    return (f"{about}, against {entries[0].reference}", parts) if parts else None


def _row(
    report: PublicReport, row: Compared, base: Fairness, ratio: dict[str, Fairness], parity: dict[str, Fairness]
) -> Row:
    entry = base if row.reference else ratio.get(row.label) or parity[row.label]
    found = entry.sampling
    if found is None:
        return Row(row, "")
    low, high = (points(x, decimals=1) for x in found.rates[entry.groups.index(row.label)])
    if row.reference:
        return Row(row, f"{low} to {high}")
    digits = min(report.policy.digits, 3)
    ends = [e.sampling.interval if (e := of.get(row.label)) and e.sampling else None for of in (ratio, parity)]
    difference = (
        "" if ends[1] is None else " to ".join(points(x or 0.0, decimals=percent_decimals(digits)) for x in ends[1])
    )
    cells = (
        "" if ends[0] is None else between(ends[0], decimals=digits),
        difference,
        p_words(found.p_value, sign=""),
        p_words(found.adjusted_p_value, sign=""),
    )
    return Row(row, f"{low} to {high}", cells, found.significant)
