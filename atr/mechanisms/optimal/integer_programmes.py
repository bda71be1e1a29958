"""One group's printed numbers by a small integer programme, where rounding region by region misses a promise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, csr_array, eye_array, kron

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.confidence import exact_shares
from atr.core.protected import ProtectedSets
from atr.core.tolerances import GRID_TOLERANCE, SAME_VALUE, SOLVER_MARGIN

_NODES = 500
"""Branch and bound stops after this many nodes, not after some time: the same input gives the same numbers."""
_FAR = 16
"""Grid steps around the chances of the programme without whole numbers."""
_RATE_WEIGHT = 100.0
"""A grid step of rate that misses the true number of people weighs as much as this many of distortion."""
_Limits = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """One group to be settled: its regions in an order of their own values, everything in grid steps.

    Attributes
    ----------
    p, q, weights
        (m,) people, as printed, and those whose rates are kept.
    target, lo, hi
        (m, outcomes) announced chances before rounding, and the least and the most that may be announced.
    sets
        The protected sets.
    digits
        Decimals printed.
    people
        (outcomes,) people whose number is kept; None where rates are free.
    """

    p: IntArray
    q: IntArray
    target: FloatArray
    lo: IntArray
    hi: IntArray
    sets: ProtectedSets
    digits: int
    weights: IntArray
    people: FloatArray | None

    @property
    def scale(self) -> int:
        """Grid steps in 1."""
        return int(10**self.digits)


def settled(group: Group, wanted: Fraction, ceiling: Fraction, *, closed: bool) -> IntArray | None:
    """Find grid values near the target at the wanted confidence; else further off, or at the ceiling.

    Parameters
    ----------
    group
        The group.
    wanted, ceiling
        The confidence it should have, and the one it must not exceed, also for published populations.
    closed
        Whether it has two outcomes and every region is a protected set on its own.

    Returns
    -------
    (m, outcomes) whole numbers; None where none are found.
    """
    half_only = group.people is None or group.lo.shape[1] == 2
    # A margin outweighs the solver's own tolerance.
    for rate_error, level, near, margin in product(
        (0.5,) if half_only else (0.5, 1.0), dict.fromkeys((wanted, ceiling)), (True, False), (0.0, SOLVER_MARGIN)
    ):
        limits = level, ceiling
        if closed:
            x = _of_two(group, limits=limits, near=near, margin=margin)
        else:
            x = _of_several(group, limits=limits, near=near, margin=margin, rate_error=rate_error)
        if x is not None and _keeps(group, x, limits=limits, rate_error=rate_error):
            return x
    return None


def within(largest: NDArray[Any], total: NDArray[Any], over: int | IntArray, under: int | IntArray) -> BoolArray:
    """Tell which groups keep to a ceiling: largest / total ≤ over / under for every outcome, in integers.

    Parameters
    ----------
    largest, total
        (g, outcomes) whole numbers, as from :func:`atr.core.confidence.exact_shares`.
    over, under
        Numerator and denominator of the ceiling, one for all groups or (g,).

    Returns
    -------
    (g,) booleans.

    Examples
    --------
    >>> within(np.array([[2, 1], [3, 1]]), np.array([[3, 3], [4, 3]]), 2, 3)
    array([ True, False])
    """
    if float(total.max()) * max(float(np.max(under)), float(np.max(over))) >= 2.0**62:
        largest, total = largest.astype(object), total.astype(object)
    room: NDArray[Any] = total * np.reshape(over, (-1, 1)) - largest * np.reshape(under, (-1, 1))
    kept: BoolArray = np.logical_and.reduce(room >= 0, axis=1).astype(np.bool_)
    return kept


def _keeps(group: Group, x: IntArray, *, limits: _Limits, rate_error: float) -> bool:
    if (x.sum(axis=1) != group.scale).any():
        return False
    for people, limit in zip((group.p, group.q), limits, strict=True):
        if not within(*exact_shares(people, x, digits=group.digits, sets=group.sets), *limit.as_integer_ratio()).all():
            return False
    if group.people is None:
        return True
    off = np.abs(group.weights @ x - group.people * group.scale)
    return bool((off <= group.weights.sum() * rate_error * (1 + SAME_VALUE)).all())


def _around(centre: FloatArray, group: Group, *, steps: int) -> tuple[IntArray, IntArray]:
    """Give the least and the most whole numbers to be tried: so many steps beyond the next ones on either side."""
    below = np.floor(centre + GRID_TOLERANCE).astype(np.int64) - steps
    above = np.ceil(centre - GRID_TOLERANCE).astype(np.int64) + steps
    return np.clip(below, group.lo, group.hi), np.clip(above, group.lo, group.hi)


def _of_several(group: Group, *, limits: _Limits, near: bool, margin: float, rate_error: float) -> IntArray | None:
    """Solve the programme of any outcomes and sets.

    Further off, too, whole numbers are looked for around the chances that the programme without them finds: where each
    may lie anywhere between its limits, HiGHS can search for minutes below a single node.
    """
    options: dict[str, Any] = {"limits": limits, "rate_error": rate_error, "margin": margin}
    centre = group.target if near else _programme(group, group.lo, group.hi, whole=False, **options)
    if centre is None:
        return None
    found = _programme(group, *_around(centre, group, steps=1 if near else _FAR), whole=True, **options)
    return None if found is None else np.rint(found).astype(np.int64)


def _programme(
    group: Group,
    lo: IntArray,
    hi: IntArray,
    *,
    limits: _Limits,
    rate_error: float,
    margin: float,
    whole: bool,
) -> FloatArray | None:
    """Solve one group's programme, in whole numbers or in any; None where it has no solution.

    Variables: announced values x in grid steps, distances e ≥ |x - target| of the same number, and the mean
    announced values of each outcome for the true and for the published population.
    """
    m, A = lo.shape
    cells, sets = m * A, group.sets
    each = eye_array(A)
    holds = csr_array((np.ones(len(sets.members)), (sets.set_of_member, sets.members)), shape=(len(sets), m))
    target = group.target.ravel()
    rows: list[list[Any]] = [
        [eye_array(cells), -eye_array(cells), None, None],
        [-eye_array(cells), -eye_array(cells), None, None],
        [kron(eye_array(m), np.ones((1, A))), csr_array((m, cells)), None, None],
    ]
    least = [np.full(2 * cells, -np.inf), np.full(m, float(group.scale))]
    most = [target, -target, np.full(m, float(group.scale))]
    means = []
    for k, (people, limit) in enumerate(zip((group.p, group.q), limits, strict=True)):
        share = people / people.sum()
        mean: list[Any] = [None, None]
        mean[k] = -each
        rows.append([kron(share[None], each), None, *mean])
        ceilings: list[Any] = [None, None]
        ceilings[k] = -float(limit) * kron(sets.factors[:, None], each)
        rows.append([kron(holds.multiply(share[None]), each), None, *ceilings])
        number = len(sets) * A
        least += [np.zeros(A), np.full(number, -np.inf)]
        most += [np.zeros(A), np.full(number, -margin)]
        means.append((share @ lo, share @ hi))
    if group.people is not None:
        rate = group.people * group.scale / group.weights.sum()
        if np.array_equal(group.weights, group.p):
            means[0] = (rate - rate_error, rate + rate_error)
        else:
            rows.append([kron((group.weights / group.weights.sum())[None], each), None, None, None])
            least.append(rate - rate_error)
            most.append(rate + rate_error)
    weight = np.repeat(group.p / group.p.sum(), A)
    result = milp(
        np.concatenate([np.zeros(cells), weight, np.zeros(2 * A)]),
        integrality=np.concatenate([np.full(cells, float(whole)), np.zeros(cells + 2 * A)]),
        bounds=Bounds(
            np.concatenate([lo.ravel(), np.zeros(cells), means[0][0], means[1][0]]),
            np.concatenate([hi.ravel(), np.full(cells, np.inf), means[0][1], means[1][1]]),
        ),
        constraints=LinearConstraint(block_array(rows, format="csr"), np.concatenate(least), np.concatenate(most)),
        options={"node_limit": _NODES},
    )
    return None if result.x is None else np.clip(result.x[:cells].reshape(m, A), lo, hi)


def _of_two(group: Group, *, limits: _Limits, near: bool, margin: float) -> IntArray | None:
    """Solve the programme of two outcomes where every region is a protected set on its own.

    Variables: m announced values x in grid steps, m distances e ≥ |x - target|, the mean announced value of
    the true and of the published population, and the part of the rate's error beyond half a person.
    """
    p, q, scale, target = group.p, group.q, group.scale, group.target[:, 0]
    lo, hi = (ends[:, 0] for ends in (_around(group.target, group, steps=1) if near else (group.lo, group.hi)))
    people = None if group.people is None else group.people[0]
    m = len(p)
    entries: list[tuple[int, int, float]] = []
    lower: list[float] = []
    upper: list[float] = []

    def constrain(terms: dict[int, float], least: float, most: float) -> None:
        entries.extend((len(lower), variable, factor) for variable, factor in terms.items())
        lower.append(least)
        upper.append(most)

    for k in range(m):
        constrain({k: 1, m + k: -1}, -np.inf, target[k])
        constrain({k: 1, m + k: 1}, target[k], np.inf)
    for mean, population, limit in ((2 * m, p, limits[0]), (2 * m + 1, q, limits[1])):
        share = population / population.sum()
        constrain({**dict(enumerate(share.tolist())), mean: -1}, 0, 0)
        least, most = float(share @ lo), float(share @ hi)
        for k in range(m):
            b = float(limit) / float(share[k])
            if hi[k] > b * least - 1:
                constrain({k: 1, mean: -b}, -np.inf, -margin)
            if scale - lo[k] > b * (scale - most) - 1:
                constrain({k: -1, mean: b}, -np.inf, (b - 1) * scale - margin)
    if people is not None:
        size = float(p.sum())
        rate, half = people * scale / size, min(max(scale / 2 - 1, 0) / size, 0.5)
        constrain({2 * m: 1, 2 * m + 2: -1}, -np.inf, rate + half)
        constrain({2 * m: 1, 2 * m + 2: 1}, rate - half, np.inf)
        beyond = 0.5 - half
    else:
        beyond = 0.0

    row, column, factor = zip(*entries, strict=True)
    matrix = csr_array((factor, (row, column)), shape=(len(lower), 2 * m + 3))
    result = milp(
        np.concatenate([np.zeros(m), p / p.sum(), [0, 0, _RATE_WEIGHT]]),
        integrality=np.concatenate([np.ones(m), np.zeros(m + 3)]),
        bounds=Bounds(
            np.concatenate([lo, np.zeros(m + 3)]),
            np.concatenate([hi, np.full(m, np.inf), [scale, scale, beyond]]),
        ),
        constraints=LinearConstraint(matrix, lower, upper),
        options={"node_limit": _NODES},
    )
    if result.x is None:
        return None
    x = np.clip(np.rint(result.x[:m]).astype(np.int64), lo, hi)
    return np.column_stack([x, scale - x])
