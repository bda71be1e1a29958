"""From the continuous announcement of several outcomes, or protected sets, to the printed numbers.

Each region's chances are rounded to numbers that sum to one, all regions at once; the groups that miss a promise
that way are each settled by a small integer programme.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, csr_array, eye_array, kron

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.confidence import exact_shares, maximum_confidence
from atr.core.fidelity import Fidelity
from atr.core.groups import Groups
from atr.core.protected import ProtectedSets
from atr.mechanisms.optimal.grid import NODES, refuse, whole_people, within
from atr.mechanisms.optimal.several import side_by_side

# Grid steps: two ways to compute the same announcement differ by less.
_NOISE_DIGITS = 6
_SAME = 1e-9

# Grid steps around the chances of the programme without whole numbers.
_FAR = 16


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """One group to be settled: its regions in an order of their own values, everything in grid steps."""

    p: IntArray
    q: IntArray
    target: FloatArray
    lo: IntArray
    hi: IntArray
    sets: ProtectedSets
    scale: int
    digits: int
    rate_weights: IntArray
    people: FloatArray | None


def round_outcomes(
    groups: Groups,
    continuous: FloatArray,
    *,
    fidelity: Fidelity,
    digits: int,
    beta: FloatArray,
    ceiling: Fraction,
    population: IntArray,
    published: IntArray,
    exact: bool,
) -> IntArray:
    """Round (n, outcomes) announced chances to whole units of 10^-digits, every region's sum 10^digits.

    What is kept is what :func:`atr.mechanisms.optimal.round_announcement` says. Where rates are exact, every outcome's
    is kept to half a grid step if that is possible, and always to one: a single region's chances of 1/3, 1/3 + 0.0004
    and 1/3 - 0.0004, say, have no nearest numbers of sum one that are all so near.

    Parameters
    ----------
    groups
        Populations, true decisions (n, outcomes) and protected sets.
    continuous
        (n, outcomes) announced mapping before rounding.
    beta
        (g,) confidence the announcement was held to.
    ceiling
        Confidence no group may exceed.
    population, published
        (n,) people, true and as printed.
    exact
        Whether every group's rates (of :attr:`Groups.rate_weights`) are announced as they are.

    Raises
    ------
    RefusedError
        If some group has no numbers that keep to the ceiling; ``private`` says which.
    """
    scale, offsets = 10**digits, groups.offsets
    sets = ProtectedSets.regions(offsets) if groups.sets is None else groups.sets
    ceiling = min(ceiling, 1 / min(Fraction(str(factor)) for factor in np.append(sets.factors, 1.0).tolist()))
    wanted = [min(Fraction(int(np.ceil(b * scale - 1e-6)), scale), ceiling) for b in beta.tolist()]
    perturbed = maximum_confidence(groups, groups.decision) > beta * (1 + _SAME)
    lo, hi = fidelity.allowed_on_grid(groups.decision, digits=digits)
    units = np.round(continuous * scale, _NOISE_DIGITS)
    rate_weights = population if groups.rate_weights is None else whole_people(groups.rate_weights, len(population))
    people = groups.sums(rate_weights[:, None] * groups.decision)
    size = groups.sums(rate_weights)

    def failures(grid: IntArray) -> BoolArray:
        kept = exact_shares(population, grid, digits=digits, offsets=offsets, sets=groups.sets)
        printed = exact_shares(published, grid, digits=digits, offsets=offsets, sets=groups.sets)
        limit = ceiling.as_integer_ratio()
        missed = ~(within(*kept, *limit) & within(*printed, *limit))
        over, under = np.array([share.as_integer_ratio() for share in wanted], dtype=np.int64).T
        missed |= perturbed & ~within(*kept, over, under)
        if exact:
            off = np.abs(groups.sums(rate_weights[:, None] * grid) - people * scale)
            missed |= (off > size[:, None] / 2 * (1 + _SAME)).any(axis=1)
        return missed

    region = groups.group_of_region
    order = np.lexsort((*continuous.T, *groups.decision.T, published, -population, -rate_weights, region))
    tight = _at_the_limit(groups, sets, continuous, beta) & perturbed[region, None]
    nearest = _rows_rounded(units, units, lo, hi, scale)
    balanced = _balanced(groups, rate_weights, order, units, tight, lo, hi, scale)
    grid = np.where((perturbed | failures(nearest))[region, None], balanced, nearest)

    failed = np.flatnonzero(failures(grid)).tolist()
    rank = np.argsort(order)

    def settled(i: int) -> IntArray | None:
        cells = order[offsets[i] : offsets[i + 1]]
        return _settle(
            Group(
                p=population[cells],
                q=published[cells],
                target=units[cells],
                lo=lo[cells],
                hi=hi[cells],
                sets=_sets_of(sets, i, rank - offsets[i]),
                scale=scale,
                digits=digits,
                rate_weights=rate_weights[cells],
                people=people[i] if exact else None,
            ),
            wanted[i],
            ceiling,
        )

    found = side_by_side(settled, failed)
    refuse([i for i, numbers in zip(failed, found, strict=True) if numbers is None])
    for i, numbers in zip(failed, found, strict=True):
        grid[order[offsets[i] : offsets[i + 1]]] = numbers
    return grid


def _at_the_limit(groups: Groups, sets: ProtectedSets, X: FloatArray, beta: FloatArray) -> BoolArray:
    """Tell which cells (n, outcomes) belong to a set that is at its ceiling for that outcome."""
    people = groups.population[:, None] * X
    limit = beta[sets.group_of_set, None] * sets.factors[:, None] * groups.sums(people)[sets.group_of_set]
    at_limit = sets.sums(people) >= limit * (1 - 1e-7)
    cells = np.zeros(X.shape, dtype=bool)
    np.logical_or.at(cells, sets.members, at_limit[sets.set_of_member])
    return cells


def _rows_rounded(units: FloatArray, wish: FloatArray, lo: IntArray, hi: IntArray, scale: int) -> IntArray:
    """Round rows down, then up where the wish lies furthest above, until each sums to the scale."""
    rounded = np.clip(np.floor(units).astype(np.int64), lo, hi)
    outcomes, rows = units.shape[1], np.arange(len(units))
    for _ in range(2 * outcomes + 1):
        short = scale - rounded.sum(axis=1)
        if not short.any():
            break
        # A second step up is for when there is no first one left.
        above = wish - rounded - 100.0 * (rounded >= units)
        up = np.where(rounded < hi, above, -np.inf).argmax(axis=1)
        down = np.where(rounded > lo, wish - rounded, np.inf).argmin(axis=1)
        rounded[rows, np.where(short > 0, up, down)] += np.sign(short)
    return rounded


def _balanced(
    groups: Groups,
    rate_weights: IntArray,
    order: IntArray,
    units: FloatArray,
    tight: BoolArray,
    lo: IntArray,
    hi: IntArray,
    scale: int,
) -> IntArray:
    """Round region by region, the largest first, making up for the people the earlier ones left over.

    Chances at the limit of confidence are rounded up last.
    """
    rounded = np.zeros(units.shape, dtype=np.int64)
    over = np.zeros((len(groups), units.shape[1]))
    for step in range(int(groups.sizes.max())):
        chosen = np.flatnonzero(groups.sizes > step)
        rows = order[groups.offsets[chosen] + step]
        p = rate_weights[rows, None]
        wish = units[rows] + over[chosen] / p - 1000.0 * tight[rows]
        rounded[rows] = _rows_rounded(units[rows], wish, lo[rows], hi[rows], scale)
        over[chosen] += p * (units[rows] - rounded[rows])
    return rounded


def _sets_of(sets: ProtectedSets, group: int, place: IntArray) -> ProtectedSets:
    """Give the sets of one group, its regions at (n,) places."""
    first, last = sets.group_offsets[group], sets.group_offsets[group + 1]
    offsets = sets.offsets[first : last + 1]
    return ProtectedSets(
        members=place[sets.members[offsets[0] : offsets[-1]]],
        offsets=offsets - offsets[0],
        group_offsets=np.array([0, last - first]),
        factors=sets.factors[first:last],
    )


def _settle(group: Group, wanted: Fraction, ceiling: Fraction) -> IntArray | None:
    """Find grid values near the target and at the wanted confidence, or else further off.

    Further off, too, whole numbers are looked for around the chances that the programme without them finds: where each
    may lie anywhere between its limits, HiGHS can search for minutes below a single node.
    """
    # A margin of a hundred-thousandth of a grid step outweighs the solver's own tolerance.
    for rate_error, level, near, margin in product(
        (0.5,) if group.people is None or group.lo.shape[1] == 2 else (0.5, 1.0),
        dict.fromkeys((wanted, ceiling)),
        (True, False),
        (0.0, 1e-5),
    ):
        limits = level, ceiling
        solve = partial(_programme, group, limits=limits, rate_error=rate_error, margin=margin)
        centre = group.target if near else solve(group.lo, group.hi, whole=False)
        if centre is None:
            continue
        found = solve(*_around(centre, group, steps=1 if near else _FAR))
        if found is None:
            continue
        x = np.rint(found).astype(np.int64)
        if _keeps(group, x, limits=limits, rate_error=rate_error):
            return x
    return None


def _around(centre: FloatArray, group: Group, *, steps: int) -> tuple[IntArray, IntArray]:
    """Give the least and the most whole numbers to be tried: so many steps beyond the next ones on either side."""
    below, above = np.floor(centre).astype(np.int64) - steps, np.ceil(centre).astype(np.int64) + steps
    return np.clip(below, group.lo, group.hi), np.clip(above, group.lo, group.hi)


def _keeps(group: Group, x: IntArray, *, limits: tuple[Fraction, Fraction], rate_error: float) -> bool:
    if (x.sum(axis=1) != group.scale).any():
        return False
    for people, limit in zip((group.p, group.q), limits, strict=True):
        if not within(*exact_shares(people, x, digits=group.digits, sets=group.sets), *limit.as_integer_ratio()).all():
            return False
    if group.people is None:
        return True
    off = np.abs(group.rate_weights @ x - group.people * group.scale)
    return bool((off <= group.rate_weights.sum() * rate_error * (1 + _SAME)).all())


def _programme(
    group: Group,
    lo: IntArray,
    hi: IntArray,
    *,
    limits: tuple[Fraction, Fraction],
    rate_error: float,
    margin: float,
    whole: bool = True,
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
        rate = group.people * group.scale / group.rate_weights.sum()
        if np.array_equal(group.rate_weights, group.p):
            means[0] = (rate - rate_error, rate + rate_error)
        else:
            rows.append([kron((group.rate_weights / group.rate_weights.sum())[None], each), None, None, None])
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
        options={"node_limit": NODES},
    )
    return None if result.x is None else np.clip(result.x[:cells].reshape(m, A), lo, hi)
