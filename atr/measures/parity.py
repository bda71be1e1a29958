"""Statistical parity: how far the outcomes of two groups are apart, among all people or among people who are alike.

References
----------
Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137), Def. 9 and 10; there
divided by the number of outcomes, here by 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from atr.measures.base import Figure, Measure, Rate, at_most


def total_variation(group: Sequence[Rate], base: Sequence[Rate]) -> Figure:
    """Give the total variation distance of two groups: the largest difference in the rate of any event.

    The ends of its range are those of the event that differs most.
    """
    low = high = 0.0
    for a, b in zip(group, base, strict=True):
        (a0, a1), (b0, b1) = a.range, b.range
        low, high = max(low, a0 - b1, b0 - a1), max(high, a1 - b0, b1 - a0)
    return max(abs(a.value - b.value) for a, b in zip(group, base, strict=True)), (low, high)


PARITY = Measure(
    name="statistical_parity",
    scale="difference",
    by_outcome=False,
    conditional=False,
    line=lambda policy: policy.parity_tolerance,
    figure=total_variation,
    verdict=at_most,
)
CONDITIONAL_PARITY = replace(PARITY, name="conditional_statistical_parity", conditional=True)
"""The same within each class of people who are alike in the legitimate attributes."""
