"""What keeps a binary group from being more private: the region and outcome that have confidence β* in any optimum."""

from __future__ import annotations

import numpy as np

from atr.core.groups import FloatArray, Groups, IntArray

# Relative: two ways to compute the same confidence differ by less.
_SAME = 1e-9


def binding(groups: Groups, lower: FloatArray, upper: FloatArray, beta: FloatArray, *, exact: bool) -> IntArray:
    """Name, for each group, the region and the outcome that bind.

    Parameters
    ----------
    groups
        Populations and true decisions (n, 2).
    lower, upper
        (n,) allowed range of the announced D_1.
    beta
        (g,) optimal privacy.
    exact
        Whether group rates are announced as they are.

    Returns
    -------
    (g, 2) position of the region in its group, and the outcome.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Theorem 1: the largest of its
    terms and the confidence before any report.

    Examples
    --------
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> lower, upper = np.array([0, 0, 0.9, 0, 0.4, 0.9]), np.array([0.1, 0.1, 1, 0.1, 0.6, 1])
    >>> binding(card, lower, upper, np.array([0.9, 0.648]), exact=True)
    array([[2, 1],
           [0, 0]])
    """
    p = groups.population
    S = groups.sums(p)
    rooms = (p * (1 - lower), p * upper)
    needs = (p * (1 - upper), p * lower)
    named = np.full((len(groups), 2), -1, dtype=np.int64)

    def name(where: FloatArray, outcome: int, region: FloatArray) -> None:
        chosen = (named[:, 0] < 0) & where.astype(bool)
        named[chosen] = np.column_stack([_first_largest(groups, region), np.full(len(groups), outcome)])[chosen]

    people = groups.sums(p[:, None] * groups.decision)
    for outcome in (1, 0):
        name((groups.maxima(p) >= beta * S * (1 - _SAME)) & (people[:, outcome] > 0), outcome, p)
    short = []
    for outcome in (1, 0):
        need, room = groups.maxima(needs[outcome]), rooms[outcome]
        total = people[:, outcome] if exact else groups.sums(np.minimum(room, need[groups.group_of_region]))
        name((need > 0) & (need >= beta * total * (1 - _SAME)), outcome, needs[outcome])
        filled = groups.sums(np.minimum(room, (beta * people[:, outcome])[groups.group_of_region]))
        short.append(
            np.divide(filled, people[:, outcome], out=np.full(len(groups), np.inf), where=people[:, outcome] > 0)
        )
    if exact:
        name(short[0] <= short[1], 1, rooms[1])
        name(short[1] < short[0], 0, rooms[0])
    else:
        name(np.ones(len(groups)), 1, needs[1])
    return named


def _first_largest(groups: Groups, values: FloatArray) -> IntArray:
    largest = groups.maxima(values)[groups.group_of_region]
    where = np.flatnonzero(values >= largest * (1 - _SAME))
    _, first = np.unique(groups.group_of_region[where], return_index=True)
    return where[first] - groups.offsets[:-1]
