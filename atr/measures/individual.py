"""Individual fairness on the announced mapping: are people who are alike treated alike?

[CGP] Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137), Def. 8:

𝔇(D(x₁), D(x₂)) ≤ d(x₁, x₂) + ε for every two decision regions, where 𝔇 is a distance of outcome distributions and d a
declared distance of records. Measured is the smallest such ε ≥ 0, the largest excess, over all pairs of announced
regions, with the range the true one must lie in. Everything is computed from announced chances, the promise and the
declared distance, never from the true decision mapping.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from atr.core.arrays import BoolArray, FloatArray
from atr.core.tolerances import SAME_EXCESS, ZERO_CHANCE
from atr.measures.cells import Cells, Chances

OutcomeDistance = Literal["total_variation", "relative"]

_APART = 2.0
"""Between the places of values without order: more than the distance that counts, 1."""

_Sides = list[tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Attribute:
    """Distances between values of one attribute, and their weight.

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
        """Place regions by their attribute values.

        Parameters
        ----------
        columns
            For each attribute, (n,) the value of each region; at least one attribute.
        attributes
            Distances and weights. An attribute that is not named does not count.

        Returns
        -------
        The (n,) regions as points.

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
            on_scale = attribute.positions.values()
            least, most = min(on_scale, default=0.0), max(on_scale, default=0.0)
            scale = {value: (x - least) / ((most - least) or 1.0) for value, x in attribute.positions.items()}
            for value in sorted(set(columns[name]) - set(scale)):
                scale[value] = _APART * (1 + len(scale))
            places[:, k] = [scale[value] for value in columns[name]]
        return Records(places, weights / weights.sum() if len(weights) else weights)

    def distances(self, region: int) -> FloatArray:
        """(n,) the declared distances of all regions from one, 0 to 1."""
        apart: FloatArray = np.minimum(1.0, np.abs(self.places - self.places[region])) @ self.weights
        return np.minimum(1.0, apart)


@dataclass(frozen=True)
class Excess:
    """Largest amount by which two regions' outcomes are further apart than their declared distance allows.

    Parameters
    ----------
    value
        The largest excess of any pair; 0 if there is none, inf where an outcome is possible for one and impossible for
        the other and the distance is relative.
    pair
        Positions of the two regions, the earlier first, whose outcomes are furthest apart beyond (or, if none are,
        least far within) their distance; of several those with most people in the smaller of the two, then the first.
    range
        Smallest and largest possible value of the true largest excess.
    involved
        (n,) which regions are in a pair whose excess is above the tolerance.
    """

    value: float
    pair: tuple[int, int]
    range: tuple[float, float]
    involved: BoolArray


def outcome_distance(cells: Cells[Chances], pair: tuple[int, int], distance: OutcomeDistance) -> float:
    """Give the distance of the announced outcomes of two regions.

    Parameters
    ----------
    cells
        The announced regions.
    pair
        Positions of the two.
    distance
        As for :func:`largest_excess`.

    Returns
    -------
    A difference in probability, or nats if relative: inf where an outcome is possible in one region only.

    Examples
    --------
    >>> D = np.array([[0.5, 0.5], [0.25, 0.75], [0, 1]])
    >>> cells = Cells(np.ones(3), D, D, D, np.array([0, 3]), np.ones(3))
    >>> outcome_distance(cells, (0, 1), "total_variation"), outcome_distance(cells, (0, 2), "relative")
    (0.25, inf)
    """
    i, j = pair
    announced, _, _ = _sides(replace(cells, totals=None), distance)
    with np.errstate(invalid="ignore"):
        return max(float(np.nanmax([a[i] - b[j], a[j] - b[i], 0.0])) for a, b in announced)


def largest_excess(
    cells: Cells[Chances],
    records: Records,
    *,
    distance: OutcomeDistance,
    tolerance: float,
    among: BoolArray | None = None,
) -> Excess:
    """Give the largest excess of outcome distance over declared distance, over all pairs of regions.

    The range of the true one takes for every pair the smallest and the largest excess that chances within the promise
    can have, and then the largest of each over all pairs. No pair is left out; pairs are only ordered so that
    most need not be looked at.

    Parameters
    ----------
    cells
        The announced regions, within their bounds; totals of groups are not used beside these.
    records
        The same regions, as points of the declared distance.
    distance
        Of outcome distributions: total variation, ½Σ_a|Z₁(a) − Z₂(a)|; or relative,
        max_a ln max{Z₁(a)/Z₂(a), Z₂(a)/Z₁(a)}, with 0/0 = 1.
    tolerance
        At least 0: an excess up to it does not involve a region.
    among
        (n,) which regions to compare; None: all.

    Returns
    -------
    The excess in the unit of the distance, as announced, and the range of the true one.

    Raises
    ------
    ValueError
        If there are not two regions to compare.

    References
    ----------
    [CGP] Def. 8; Lemma 2 bounds the difference of announced and true excess, here the bounds of each region give the
    range. For the relative distance the difference can exceed 1, at which equation (15) caps it.
    """
    from atr.measures import individual_kernels as kernels  # on first use: the compiler takes long to load

    n = len(cells.chance)
    which = np.arange(n) if among is None else np.flatnonzero(among)
    if len(which) < 2:
        raise ValueError("one region makes no pair")
    arrays = {name: getattr(cells, name)[which] for name in ("people", "chance", "lower", "upper", "published")}
    some = replace(cells, **arrays, offsets=np.array([0, len(which)]), totals=None)
    points = records.places[which], records.weights
    announced, least, most = (
        [(top, bottom, np.argsort(-top, kind="stable"), np.argsort(bottom, kind="stable")) for top, bottom in sides]
        for sides in _sides(some, distance)
    )
    best, low, high = -np.inf, -np.inf, -np.inf
    for side in announced:
        best = kernels.largest(*side, *points, best)
    for side in least:
        low = kernels.largest(*side, *points, low)
    for side in most:
        high = kernels.largest(*side, *points, high)
    people = some.published.astype(np.int64)
    found = np.array([-1, n, n], dtype=np.int64)
    beyond = np.zeros(len(which), dtype=np.bool_)
    for top, bottom, down, up in announced:
        kernels.attaining(top, bottom, down, up, *points, best - SAME_EXCESS, people, found)
        if best > tolerance + SAME_EXCESS:
            kernels.mark(top, bottom, down, up, *points, tolerance + SAME_EXCESS, beyond)
            kernels.mark(-bottom, -top, up, down, *points, tolerance + SAME_EXCESS, beyond)
    value, low, high = (float(x) if x > SAME_EXCESS else 0.0 for x in (best, low, high))
    involved = np.zeros(n, dtype=np.bool_)
    involved[which[beyond]] = True
    return Excess(
        value=value,
        pair=(int(which[found[1]]), int(which[found[2]])),
        range=(min(low, value), max(high, value)),
        involved=involved,
    )


def _sides(cells: Cells[Chances], distance: OutcomeDistance) -> tuple[_Sides, _Sides, _Sides]:
    """The announced, the least possible and the largest possible distances.

    Each is the largest difference top[i] − bottom[j], over the arrays of a list and both orders of a pair. A chance
    that must be 0 is -inf as a logarithm: as a top it bounds nothing, as a bottom it makes the distance infinite, and
    with one of its kind it is nan, which no comparison takes for larger.
    """
    k = cells.outcomes
    events = [cells.event(*of) for size in range(1, k) for of in combinations(range(k), size)]
    if distance == "total_variation":  # the largest difference in any event, which is that in its opposite one
        events = widest = [event for event in events if 0 in event.outcomes]
    else:  # no event has a larger ratio than every outcome, but all bound how small those can be
        widest = [event for event in events if len(event.outcomes) == 1]

    def scaled(chance: FloatArray) -> FloatArray:
        kept = np.where(chance > ZERO_CHANCE, chance, 0.0)
        with np.errstate(divide="ignore"):
            return kept if distance == "total_variation" else np.log(kept)

    return (
        [(scaled(event.chance), scaled(event.chance)) for event in widest],
        [(scaled(event.lower), scaled(event.upper)) for event in events],
        [(scaled(event.upper), scaled(event.lower)) for event in widest],
    )
