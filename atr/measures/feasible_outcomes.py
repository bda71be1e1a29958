"""Which rules an announcement whose group rates are exact leaves possible.

Three outcomes and more bound each other beyond the bounds of each event. A set of people is cut up into *parts*, its
people in one QID group each. Rules within the bounds of cells and the totals of groups are flows of people to outcomes,
so (Hoffman's circulation theorem) the fewest people of a part with an event are the largest of a few sums, all linear
in the numbers of people of regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

from atr.measures.cells import Outcomes

SEVERAL_UP_TO = 5
"""With more outcomes, there are too many levels for an event of several."""

Sums = dict[Outcomes, int]
"""A sum of the people with one of some outcomes, at least: which outcomes, and how often they count."""


@cache
def least_people(event: Outcomes, outcomes: int) -> tuple[tuple[Sums, Sums], ...]:
    """Give lower bounds of the number of a part's people with an event; the largest of them is attained.

    Its people keep to the bounds of its cells and to what the total of its group leaves to it. Each bound counts people
    of an outcome so often by the total as the outcome's level says, a dual variable of the flow, and the rest by the
    cells. A way from outcome to outcome leaves or enters the event at most once for each outcome of it, and of its
    opposite: no more levels are needed, and none against an outcome that is alone on its side. The least sum of people
    counted so often is that of those counted once and more, twice and more, and so on (Lovász's extension).

    Where there would be too many levels, an event of several outcomes is bound by itself alone, and what is attained
    may be more.

    Parameters
    ----------
    event
        Positions of the event's outcomes.
    outcomes
        How many outcomes there are.

    Returns
    -------
    For each bound the sums by the cells and by the total; all outcomes together stand for all people.

    References
    ----------
    Hoffman, *Some Recent Applications of the Theory of Linear Inequalities to Extremal Combinatorial Analysis* (1960);
    Lovász, *Submodular Functions and Convexity* (1983).
    """
    opposite = frozenset(range(outcomes)) - event
    most = min(len(event), len(opposite))
    if most > 1 and outcomes > SEVERAL_UP_TO:
        return ({event: 1}, {}), ({}, {event: 1})
    return tuple(
        (_least_sum([int(a in event) - level for a, level in enumerate(levels)]), _least_sum(levels))
        for levels in product(range(most + 1), repeat=outcomes)
        if min(levels) == 0
        and not (len(event) == 1 and any(levels[a] < max(levels) for a in event))
        and not (len(opposite) == 1 and any(levels[a] > 0 for a in opposite))
    )


def _least_sum(times: Sequence[int]) -> Sums:
    sums = {frozenset(range(len(times))): min(times)}
    for least in range(min(times) + 1, max(times) + 1):
        counted = frozenset(a for a, often in enumerate(times) if often >= least)
        sums[counted] = sums.get(counted, 0) + 1
    return {of: often for of, often in sums.items() if often}
