"""Between what the true rate of the positive outcome lies in each row of the comparisons, from printed numbers."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.display_text import ANY
from atr.core.tolerances import ROOT_TOLERANCE
from atr.report import reader_view
from atr.report.model import PublicReport

Range = tuple[float, float]


def rate_ranges(report: PublicReport) -> dict[tuple[str, str], Range | None]:
    """Give the range of the true rate of each row of the comparisons by single attributes.

    It holds for all numbers of people within the rounding: in each group a row has at least the people that its chances
    allow at least, and at least those that the group's rate leaves with the others at their most.

    Returns
    -------
    By attribute and row, not rounded; None where all its groups lie within it and show their rates exactly.
    """
    if not report.announced_groups:
        return {}
    shown, labels = reader_view.announcement(report), reader_view.labels(report)
    cells, starts, sizes = reader_view.cells(shown), shown.offsets[:-1], np.diff(shown.offsets)
    people, exact = shown.open_people, report.policy.group_rates == "exact"
    chance, lower, upper = (of[:, 0] for of in (shown.mapping, cells.lower, cells.upper))
    told, off = chance, np.zeros(len(chance)) if shown.half is None else np.repeat(shown.half, sizes)
    if report.fidelity.kind == "limits":
        told = np.repeat([(group.rate or {})[report.positive] for group in report.announced_groups], sizes)
        off = off * (1 if len(report.outcomes) == 2 else 2)  # of more, percents are raised so that they add up
    else:  # chances give whole people, or their rate within half a digit
        off = np.maximum(off, np.repeat(0.5 / np.add.reduceat(people[0], starts), sizes))
    found: dict[tuple[str, str], Range | None] = {}
    for name in (by.attribute for by in report.compared if len(by.attributes) == 1):
        column = np.array(labels[name], dtype=object)
        for who in dict.fromkeys(value for value in labels[name] if value != ANY):
            inside = column == who
            whole = np.logical_and.reduceat(inside, starts) == np.logical_or.reduceat(inside, starts)
            if exact and whole.all():
                found[name, who] = None
                continue
            low = _least(inside, lower, upper, told - off if exact else None, people, starts)
            against = _least(inside, 1 - upper, 1 - lower, 1 - told - off if exact else None, people, starts)
            found[name, who] = low, 1 - against
    return found


def _least(
    inside: BoolArray,
    lower: FloatArray,
    upper: FloatArray,
    told: FloatArray | None,
    people: tuple[IntArray, IntArray],
    starts: IntArray,
) -> float:
    """The smallest rate of an event in the regions ``inside``, by the bounds of chances and, if told, of groups' rates.

    Each bound of the people with the event, less the rate times all people, is a sum over people.
    """

    def left(rate: float) -> float:
        weights = [np.where(inside, lower - rate, 0.0)]
        weights += [] if told is None else [told - np.where(inside, rate, upper)]
        least, most = people
        sums = [np.add.reduceat(np.minimum(least * of, most * of), starts) for of in weights]
        return float(np.max(sums, axis=0).sum())

    if left(0.0) <= 0:
        return 0.0
    return 1.0 if left(1.0) >= 0 else float(brentq(left, 0.0, 1.0, xtol=ROOT_TOLERANCE))
