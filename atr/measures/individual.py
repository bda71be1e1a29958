"""Individual fairness on the announced mapping ([CGP] Def. 8): are people who are alike treated alike?

𝔇(D(x₁), D(x₂)) ≤ d(x₁, x₂) + ε for every two decision regions, where 𝔇 is a distance of outcome distributions and d a
declared distance of records. Measured is the smallest such ε ≥ 0, the largest excess, over all pairs of announced
regions, with the range the true one must lie in. Everything is computed from announced chances, the promise and the
declared distance, never from the true decision mapping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import ModuleType
from typing import Literal

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.measures.cells import Cells, Chances, EventCells

OutcomeDistance = Literal["total_variation", "relative"]

_NOISE = 1e-9
"""Two excesses that differ by less are the same one, computed in two ways."""

_APART = 2.0
"""Between the places of values without order: more than the distance that counts, 1."""

_POSSIBLE = 1e-12
"""A chance that is no larger was meant to be 0."""

_Sides = list[tuple[FloatArray, FloatArray]]
_Sorted = list[tuple[FloatArray, FloatArray, IntArray, IntArray]]


@dataclass(frozen=True)
class Attribute:
    """How far values of one attribute are apart, and how much that counts.

    Parameters
    ----------
    weight
        At least 0.
    positions
        Places of its values on a scale, if it has one: two values are as far apart as their places are, in parts of the
        whole scale. A value without a place is at distance 1 from every other.
    """

    weight: float
    positions: Mapping[str, float]


@dataclass(frozen=True)
class Records:
    """The decision regions as points of the declared distance.

    Parameters
    ----------
    places
        (n, k) place of each region in each attribute that counts.
    weights
        (k,) of the attributes, 1 in sum; none where nothing counts, so that all people are alike.
    """

    places: FloatArray
    weights: FloatArray

    @staticmethod
    def of(columns: Mapping[str, Sequence[str]], attributes: Mapping[str, Attribute]) -> Records:
        """The regions with these values.

        Parameters
        ----------
        columns
            For each attribute, (n,) the value of each region; at least one attribute.
        attributes
            How values are apart. An attribute that is not named does not count.

        Examples
        --------
        >>> age = Attribute(3, {"young": 0, "middle": 1, "old": 2})
        >>> Records.of({"age": ["young", "old", "middle", "unknown"], "sex": ["f", "f", "m", "f"]},
        ...            {"age": age, "sex": Attribute(1, {})}).distances(0)
        array([0.   , 0.75 , 0.625, 0.75 ])
        """
        counted = {name: a for name, a in attributes.items() if a.weight > 0}
        weights = np.array([a.weight for a in counted.values()], dtype=np.float64)
        (n,) = {len(column) for column in columns.values()}
        places = np.zeros((n, len(counted)))
        for k, (name, attribute) in enumerate(counted.items()):
            scale = _scale(attribute.positions)
            for value in sorted(set(columns[name]) - set(scale)):
                scale[value] = _APART * (1 + len(scale))
            places[:, k] = [scale[value] for value in columns[name]]
        return Records(places, weights / weights.sum() if len(weights) else weights)

    def distances(self, region: int) -> FloatArray:
        """(n,) the declared distances of all regions from one, 0 to 1."""
        apart = np.minimum(1.0, np.abs(self.places - self.places[region]))
        return np.minimum(1.0, np.asarray(apart @ self.weights, dtype=np.float64))


@dataclass(frozen=True)
class Excess:
    """By how much outcomes lie further apart than the declared distance allows.

    Parameters
    ----------
    value
        The largest excess of any pair; 0 if there is none, inf where an outcome is possible for one and impossible for
        the other and the distance is relative.
    pair
        Positions of the two regions, the earlier first, whose outcomes are furthest apart beyond (or, if none are,
        least far within) their distance; of several those with most people in the smaller of the two, then the first.
    range
        Between what the true largest excess lies.
    involved
        (n,) which regions are in a pair whose excess is above the tolerance.
    """

    value: float
    pair: tuple[int, int]
    range: tuple[float, float]
    involved: BoolArray


def outcome_distance(cells: Cells[Chances], pair: tuple[int, int], distance: OutcomeDistance) -> float:
    """How far the announced outcomes of two regions are apart; inf if they are infinitely far.

    Examples
    --------
    >>> D = np.array([[0.5, 0.5], [0.25, 0.75], [0, 1]])
    >>> cells = Cells(np.ones(3), D, 3, D, D, np.array([0, 3]), False, np.ones(3))
    >>> outcome_distance(cells, (0, 1), "total_variation"), outcome_distance(cells, (0, 2), "relative")
    (0.25, inf)
    """
    i, j = pair
    with np.errstate(invalid="ignore"):
        return max(float(np.nanmax([a[i] - b[j], a[j] - b[i], 0.0])) for a, b in _announced(cells, distance))


def largest_excess(
    cells: Cells[Chances],
    records: Records,
    *,
    distance: OutcomeDistance,
    tolerance: float,
    among: BoolArray | None = None,
) -> Excess:
    """The largest excess of outcomes over the declared distance ([CGP] Def. 8), over all pairs of regions.

    The true one lies between the largest of the least possible and the largest of the largest possible excesses, where
    the true chances of each region are anywhere within its promise. No pair is left out; pairs are only ordered so that
    most need not be looked at.

    Parameters
    ----------
    cells
        The announced regions, two at least, within their bounds; totals of groups are not used beside these.
    records
        The same regions, as points of the declared distance.
    distance
        Of outcome distributions: total variation, ½Σ_a|Z₁(a) − Z₂(a)|; or relative,
        max_a ln max{Z₁(a)/Z₂(a), Z₂(a)/Z₁(a)}, with 0/0 = 1.
    tolerance
        At least 0.
    among
        (n,) which regions to compare, two at least; None: all.
    """
    if among is not None:
        return _among(cells, records, distance, tolerance, np.flatnonzero(among))
    if len(cells.chance) < 2:
        raise ValueError("one region makes no pair")
    kernels, points = _kernels(), (records.places, records.weights)
    announced = _sorted(_announced(cells, distance))
    best = _largest(kernels, announced, points)
    people = np.array(cells.published, dtype=np.int64)
    found = np.array([-1, len(people), len(people)], dtype=np.int64)
    involved = np.zeros(len(people), dtype=np.bool_)
    for top, bottom, down, up in announced:
        kernels.attaining(top, bottom, down, up, *points, best - _NOISE, people, found)
        if best > tolerance + _NOISE:
            kernels.mark(top, bottom, down, up, *points, tolerance + _NOISE, involved)
            kernels.mark(-bottom, -top, up, down, *points, tolerance + _NOISE, involved)
    low, high = (
        _largest(kernels, _sorted(sides), points) for sides in (_least(cells, distance), _most(cells, distance))
    )
    value = _positive(best)
    return Excess(
        value=value,
        pair=(int(found[1]), int(found[2])),
        range=(min(_positive(low), value), max(_positive(high), value)),
        involved=involved,
    )


def _among(
    cells: Cells[Chances], records: Records, distance: OutcomeDistance, tolerance: float, which: IntArray
) -> Excess:
    """The largest excess of some regions, its positions those among all of them."""
    arrays = {name: getattr(cells, name)[which] for name in ("people", "chance", "lower", "upper", "published")}
    some = replace(cells, **arrays, offsets=np.array([0, len(which)]), exact=False, flattened=None)
    found = largest_excess(some, replace(records, places=records.places[which]), distance=distance, tolerance=tolerance)
    involved = np.zeros(len(cells.chance), dtype=np.bool_)
    involved[which] = found.involved
    i, j = found.pair
    return replace(found, pair=(int(which[i]), int(which[j])), involved=involved)


def _kernels() -> ModuleType:
    """Load the compiled kernels; on first use only, for the compiler takes long to load."""
    from atr.measures import individual_kernels

    return individual_kernels


def _sorted(sides: _Sides) -> _Sorted:
    """Each with the regions by falling top and by rising bottom."""
    return [(a, b, np.argsort(-a, kind="stable"), np.argsort(b, kind="stable")) for a, b in sides]


def _largest(kernels: ModuleType, sides: _Sorted, points: tuple[FloatArray, FloatArray]) -> float:
    best = -np.inf
    for side in sides:
        best = kernels.largest(*side, *points, best)
    return float(best)


def _positive(excess: float) -> float:
    return excess if excess > _NOISE else 0.0


def _scale(positions: Mapping[str, float]) -> dict[str, float]:
    """The places of the values that have one, from 0 to 1."""
    if not positions:
        return {}
    least, most = min(positions.values()), max(positions.values())
    return {value: (x - least) / (most - least) if most > least else 0.0 for value, x in positions.items()}


# Each distance of outcomes is the largest difference top[i] − bottom[j], over the arrays of a list and both orders of a
# pair. A chance that must be 0 is -inf as a logarithm: as a top it bounds nothing, as a bottom it makes the distance
# infinite, and with one of its kind it is nan, which no comparison takes for larger.


def _announced(cells: Cells[Chances], distance: OutcomeDistance) -> _Sides:
    """The announced distances. Total variation is the largest difference in any event."""
    events = _events(cells) if distance == "total_variation" else _outcomes(cells)
    return [(x, x) for x in (_scaled(event.chance, distance) for event in events)]


def _least(cells: Cells[Chances], distance: OutcomeDistance) -> _Sides:
    """The least possible ones. No ratio of outcomes is smaller than the ratio of any event allows."""
    events = _events(cells) if distance == "total_variation" else _all_events(cells)
    return [(_scaled(event.lower, distance), _scaled(event.upper, distance)) for event in events]


def _most(cells: Cells[Chances], distance: OutcomeDistance) -> _Sides:
    """The largest possible ones. No event has a larger ratio than every outcome."""
    events = _events(cells) if distance == "total_variation" else _outcomes(cells)
    return [(_scaled(event.upper, distance), _scaled(event.lower, distance)) for event in events]


def _scaled(chance: FloatArray, distance: OutcomeDistance) -> FloatArray:
    kept = np.where(chance > _POSSIBLE, chance, 0.0)
    if distance == "total_variation":
        return np.ascontiguousarray(kept)
    with np.errstate(divide="ignore"):
        return np.log(kept)


def _events(cells: Cells[Chances]) -> tuple[EventCells, ...]:
    return _free(cells).events()


def _outcomes(cells: Cells[Chances]) -> tuple[EventCells, ...]:
    return tuple(_free(cells).event(a) for a in range(cells.outcomes))


def _all_events(cells: Cells[Chances]) -> tuple[EventCells, ...]:
    free, outcomes = _free(cells), range(cells.outcomes)
    return tuple(free.event(*e) for size in range(1, cells.outcomes) for e in combinations(outcomes, size))


def _free(cells: Cells[Chances]) -> Cells[Chances]:
    """The cells without the totals of their groups: what these leave to single regions, their bounds may include."""
    return replace(cells, exact=False)
