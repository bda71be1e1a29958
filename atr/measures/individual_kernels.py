"""The loops over pairs of decision regions, compiled by Numba.

Every kernel looks at ordered pairs (i, j) of regions: how far ``top[i] - bottom[j]`` exceeds the declared distance
between the two, Σ_k weights[k] · min(1, |places[i, k] − places[j, k]|). ``down`` lists the regions by falling ``top``,
``up`` by rising ``bottom``: as distances are never negative, the rest of a list can be left out as soon as the
difference alone does not reach what is looked for. Nothing else is left out, so the results are those of all pairs.
"""

from __future__ import annotations

from atr.core.arrays import BoolArray, IntArray
from atr.core.arrays import FloatArray as Row
from atr.core.compiled import compiled


@compiled
def largest(top: Row, bottom: Row, down: IntArray, up: IntArray, places: Row, weights: Row, best: float) -> float:
    """Give the largest excess of a pair of two regions, if it is above ``best``; else ``best``."""
    for i in down:
        if not top[i] - bottom[up[0]] > best:
            break
        for j in up:
            excess = top[i] - bottom[j]
            if not excess > best:
                break
            if i == j:
                continue
            for k in range(len(weights)):
                excess -= weights[k] * min(1.0, abs(places[i, k] - places[j, k]))
                if not excess > best:
                    break
            best = max(best, excess)
    return best


@compiled
def attaining(
    top: Row,
    bottom: Row,
    down: IntArray,
    up: IntArray,
    places: Row,
    weights: Row,
    least: float,
    people: IntArray,
    found: IntArray,
) -> None:
    """Put the pair whose excess is at least this into ``found`` (3,): its people in the smaller region, then the two.

    Of several that with most people in the smaller region, then the earliest; one that is there stays if it is better.
    """
    for i in down:
        if not top[i] - bottom[up[0]] >= least:
            break
        if people[i] < found[0]:
            continue
        for j in up:
            excess = top[i] - bottom[j]
            if not excess >= least:
                break
            fewer = min(people[i], people[j])
            first, second = min(i, j), max(i, j)
            later = first > found[1] or (first == found[1] and second >= found[2])
            if i == j or fewer < found[0] or (fewer == found[0] and later):
                continue
            for k in range(len(weights)):
                excess -= weights[k] * min(1.0, abs(places[i, k] - places[j, k]))
                if not excess >= least:
                    break
            if excess >= least:
                found[0], found[1], found[2] = fewer, first, second


@compiled
def mark(
    top: Row,
    bottom: Row,
    down: IntArray,
    up: IntArray,
    places: Row,
    weights: Row,
    limit: float,
    marked: BoolArray,
) -> None:
    """Mark the regions i that exceed the limit in a pair with any j, and the first j of each."""
    for i in down:
        if not top[i] - bottom[up[0]] > limit:
            break
        if marked[i]:
            continue
        for j in up:
            excess = top[i] - bottom[j]
            if not excess > limit:
                break
            for k in range(len(weights)):
                excess -= weights[k] * min(1.0, abs(places[i, k] - places[j, k]))
                if not excess > limit:
                    break
            if excess > limit:
                marked[i] = marked[j] = True
                break
