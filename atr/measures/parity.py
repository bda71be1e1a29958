"""Statistical parity: how far the outcomes of two groups are apart, among all people or among people who are alike."""

from __future__ import annotations

from collections.abc import Sequence

from atr.measures.base import Figure, Lines, Measure, Range, Rate, Verdict, at_most


class StatisticalParity(Measure):
    """Total variation distance of the outcomes of two groups: the largest difference in the rate of any event.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137),
    Def. 9; there divided by the number of outcomes, here by 2.
    """

    name = "statistical_parity"
    scale = "difference"
    by_outcome = False
    conditional = False

    def line(self, policy: Lines) -> float:
        """Give the largest distance that is allowed."""
        return policy.parity_tolerance

    def figure(self, group: Sequence[Rate], base: Sequence[Rate]) -> Figure:
        """Give the largest difference in any event; the ends of its range are those of the event that differs most."""
        low = high = 0.0
        for a, b in zip(group, base, strict=True):
            (a0, a1), (b0, b1) = a.range, b.range
            low, high = max(low, a0 - b1, b0 - a1), max(high, a1 - b0, b1 - a0)
        return max(abs(a.value - b.value) for a, b in zip(group, base, strict=True)), (low, high)

    def verdict(self, inside: Range, line: float | None) -> Verdict | None:
        """Judge a distance by the largest one that is allowed."""
        return at_most(inside, line)


class ConditionalStatisticalParity(StatisticalParity):
    """Statistical parity within each class of people who are alike in the legitimate attributes.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137),
    Def. 10.
    """

    name = "conditional_statistical_parity"
    conditional = True
