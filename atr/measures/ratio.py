"""The p%-rule: how many times as often a group has an outcome as another one, which must lie between p and 1/p.

With p = 0.8 it is the four-fifths rule.

References
----------
Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137), Def. 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from atr.core.tolerances import SAME_FIGURE, ZERO_CHANCE
from atr.measures.base import Figure, Measure, Range, Rate, Verdict


def ratio(group: Sequence[Rate], base: Sequence[Rate]) -> Figure:
    """Give the ratio of two rates: 0/0 is 1, and r/0 is none (nan).

    Both ends of its range are infinite where the base is certain to be 0 and the other rate is not.
    """
    (a,), (b,) = group, base
    (a0, a1), (b0, b1) = a.range, b.range
    value = a.value / b.value if b.value else math.nan if a.value else 1.0
    if a.range == b.range == (0.0, 0.0):
        return value, (1.0, 1.0)
    low = a0 / b1 if b1 else math.inf if a0 else 0.0
    return value, (low, a1 / b0 if b0 > ZERO_CHANCE else math.inf)


def near_one(inside: Range, line: float | None) -> Verdict | None:
    """Judge a ratio by p and its inverse."""
    if line is None:
        return None
    low, high = inside
    if low >= line - SAME_FIGURE and high * line <= 1 + SAME_FIGURE:
        return "met"
    return "not_met" if high < line - SAME_FIGURE or low * line > 1 + SAME_FIGURE else "cannot_tell"


P_PERCENT_RULE = Measure(
    name="p_percent_rule",
    scale="ratio",
    by_outcome=True,
    conditional=False,
    line=lambda policy: policy.four_fifths,
    figure=ratio,
    verdict=near_one,
)
