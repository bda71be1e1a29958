"""From the continuous announcement to the printed numbers.

Rounding must not undo what was promised: the printed numbers keep the fidelity, and a reader's confidence
stays at or below the ceiling for the true populations and for the printed ones. Most groups are rounded region
by region, all at once; those that miss a promise that way are each settled by a small integer programme.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.confidence import exact_shares, maximum_confidence
from atr.core.fidelity import Fidelity
from atr.core.groups import Groups
from atr.core.protected import ProtectedSets
from atr.core.tolerances import (
    AT_THE_LIMIT,
    CLOSED_FORM_DIGITS,
    FRACTION_DIGITS,
    GRID_TOLERANCE,
    MISSED_STEPS,
    NOISE_DIGITS,
    SAME_VALUE,
)
from atr.errors import RefusedError
from atr.mechanisms.optimal.closed_form import by_regions
from atr.mechanisms.optimal.integer_programmes import Group, settled, within
from atr.mechanisms.optimal.several import side_by_side
from atr.mechanisms.optimal.solve import GroupRates


def round_announcement(
    groups: Groups,
    continuous: ArrayLike,
    *,
    fidelity: Fidelity,
    digits: int,
    beta: ArrayLike,
    ceiling: float,
    published_population: ArrayLike,
    group_rates: GroupRates = "exact",
) -> IntArray:
    """Round an announcement to the numbers that are printed.

    Always kept: the allowed range of every region, a confidence of at most the ceiling with the true and with
    the published populations, and with exact rates every group's rate to half a grid step (of three outcomes and
    more, to a grid step, and to half of one where possible: a single region's chances of 1/3, 1/3 + 0.0004 and
    1/3 - 0.0004, say, have no nearest numbers of sum one that are all so near). Kept where possible, in groups that
    are perturbed: a confidence of at most β rounded up to the grid, with exact rates of two outcomes the number of
    people of each (to less than half a person), and nearness to the continuous announcement. Groups whose true
    decisions keep within β are rounded to the nearest.

    Parameters
    ----------
    groups
        Populations (n,) in people, whole numbers, true decisions (n, outcomes) and protected sets.
    continuous
        (n, outcomes) announced chances before rounding, as from :func:`atr.mechanisms.optimal.least_distorted`.
    fidelity
        What the announcement promises about the truth.
    digits
        Decimals printed.
    beta
        Confidence the announcement was held to: one probability for all groups or (g,).
    ceiling
        Confidence no group may exceed, taken as the decimal number it prints as.
    published_population
        (n,) people, as printed in the report.
    group_rates
        ``exact`` or ``free``, as for :func:`atr.mechanisms.optimal.least_distorted`.

    Returns
    -------
    (n, outcomes) announced chances in whole units of 10^-digits; a region's sum to 10^digits, and a group's do not
    depend on the others rounded with it.

    Raises
    ------
    RefusedError
        If some group has no numbers that keep to the ceiling; ``private`` says which.
    ValueError
        If populations are not whole numbers of people or arrays do not fit each other.

    Examples
    --------
    >>> from atr.core.fidelity import Delta
    >>> from atr.mechanisms.optimal import least_distorted
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> x = least_distorted(card, beta=0.9, fidelity=Delta(0.9))
    >>> round_announcement(card, x, fidelity=Delta(0.9), digits=3, beta=0.9, ceiling=0.95,
    ...                    published_population=[10, 5, 5, 10, 5, 5])[:, 0]
    array([  18,   17,  900,    0,  500, 1000])
    """
    groups, scale, n = groups.with_rates(group_rates), 10**digits, len(groups.population)
    population, published = _whole_people(groups.population, n), _whole_people(published_population, n)
    weights = population if groups.rate_weights is None else _whole_people(groups.rate_weights, n)
    mapping = np.asarray(continuous, dtype=np.float64)
    if mapping.shape != groups.decision.shape:
        raise ValueError(f"the announcement must have the shape of the decision, {groups.decision.shape}")
    sets, closed = groups.sets or ProtectedSets.regions(groups.offsets), by_regions(groups)
    held = np.broadcast_to(np.asarray(beta, dtype=np.float64), len(groups))
    highest = min(Fraction(str(ceiling)), *(1 / Fraction(str(factor)) for factor in {1.0, *sets.factors.tolist()}))
    wanted = [min(Fraction(int(np.ceil(b * scale - MISSED_STEPS)), scale), highest) for b in held.tolist()]
    perturbed = maximum_confidence(groups, groups.decision) > held * (1 + SAME_VALUE)
    lo, hi = fidelity.allowed_on_grid(groups.decision, digits=digits)
    people = groups.sums(weights[:, None] * groups.decision)
    counted = np.rint(people)
    people = np.where(np.abs(people - counted) < MISSED_STEPS, counted, people)
    exact = group_rates == "exact"

    def failures(grid: IntArray) -> BoolArray:
        kept, printed = (
            exact_shares(known, grid, digits=digits, offsets=groups.offsets, sets=groups.sets)
            for known in (population, published)
        )
        limit = highest.as_integer_ratio()
        over, under = np.array([share.as_integer_ratio() for share in wanted], dtype=np.int64).T
        missed = ~(within(*kept, *limit) & within(*printed, *limit)) | (perturbed & ~within(*kept, over, under))
        if exact:
            off = np.abs(groups.sums(weights[:, None] * grid) - people * scale)
            missed |= (off > groups.sums(weights)[:, None] / 2 * (1 + SAME_VALUE)).any(axis=1)
            if closed:
                missed |= perturbed & (off[:, 0] >= scale / 2)
        return missed

    if closed:
        first = _nearest_of_two(groups, mapping[:, 0], held, perturbed, people[:, 0] if exact else None, scale)
        first = np.clip(first, lo[:, 0], hi[:, 0])
        grid, order = np.column_stack([first, scale - first]), (mapping[:, 0], groups.decision[:, 0], published)
        places = np.lexsort((*order, population, groups.group_of_region))
    else:
        units = np.round(mapping * scale, NOISE_DIGITS)
        keys = (*mapping.T, *groups.decision.T, published, -population, -weights)
        places = np.lexsort((*keys, groups.group_of_region))
        tight = _at_the_limit(groups, sets, mapping, held) & perturbed[groups.group_of_region, None]
        nearest = _rows_rounded(units, units, lo, hi, scale)
        balanced = _balanced(groups, weights, places, units, tight, lo, hi, scale)
        grid = np.where((perturbed | failures(nearest))[groups.group_of_region, None], balanced, nearest)

    failed, rank = np.flatnonzero(failures(grid)).tolist(), np.argsort(places)

    def found(i: int) -> IntArray | None:
        cells = places[groups.offsets[i] : groups.offsets[i + 1]]
        target = mapping[cells] * scale if closed else np.round(mapping[cells] * scale, NOISE_DIGITS)
        group = Group(
            p=population[cells],
            q=published[cells],
            target=target,
            lo=lo[cells],
            hi=hi[cells],
            sets=sets.of_group(i, rank - groups.offsets[i]),
            digits=digits,
            weights=weights[cells],
            people=people[i] if exact else None,
        )
        return settled(group, wanted[i], highest, closed=closed)

    numbers = side_by_side(found, failed)
    refused = [str(i) for i, own in zip(failed, numbers, strict=True) if own is None]
    if refused:
        raise RefusedError(
            "Rounded, some group cannot be kept at or below the ceiling with the published populations.",
            hint="Lower the fidelity, raise max_confidence, or publish populations or chances less rounded.",
            private=f"Groups that bind: {', '.join(refused)}.",
        )
    for i, own in zip(failed, numbers, strict=True):
        grid[places[groups.offsets[i] : groups.offsets[i + 1]]] = own
    return grid


def _whole_people(population: ArrayLike, n: int) -> IntArray:
    """Give (n,) populations as integers, or refuse those that are not whole."""
    values = np.asarray(population, dtype=np.float64)
    if values.shape != (n,) or (values != np.rint(values)).any() or (values < 1).any():
        raise ValueError(f"populations must be whole numbers of people, at least 1, one for each of {n} regions")
    return values.astype(np.int64)


def _nearest_of_two(
    groups: Groups, x: FloatArray, beta: FloatArray, perturbed: BoolArray, people: FloatArray | None, scale: int
) -> IntArray:
    """Round to the nearest, but down where confidence in outcome 1 is at its limit and up for outcome 0.

    Where (g,) people are given, a perturbed group's other regions are not rounded up from a half on, but from the
    fraction on at which the group's total comes nearest to that number.
    """
    p, region = groups.population, groups.group_of_region
    limit_1, limit_0 = beta * groups.sums(p * x), beta * groups.sums(p * (1 - x))
    tight = perturbed[region]
    at_1 = tight & (p * x >= limit_1[region] * (1 - SAME_VALUE))
    at_0 = tight & (p * (1 - x) >= limit_0[region] * (1 - SAME_VALUE))
    units = np.round(x * scale, CLOSED_FORM_DIGITS - len(str(scale)))
    down, up = np.floor(units + GRID_TOLERANCE), np.ceil(units - GRID_TOLERANCE)
    rounded = np.where(at_1, down, np.where(at_0, up, np.rint(units))).astype(np.int64)
    free = np.flatnonzero(tight & ~at_1 & ~at_0 & (up > down))
    if people is None or not len(free):
        return rounded
    rounded[free] = down[free]
    missing = np.rint(people * scale).astype(np.int64) - groups.sums(p.astype(np.int64) * rounded)
    fraction = np.round(units[free] - down[free], FRACTION_DIGITS)
    free = free[np.lexsort((groups.decision[free, 0], -p[free], -fraction, region[free]))]
    gain = p[free].astype(np.int64)
    after = np.cumsum(gain)
    first = np.flatnonzero(np.diff(region[free], prepend=-1))
    earlier = np.repeat((after - gain)[first], np.diff(np.append(first, len(free))))
    # Rounded up while that brings the total nearer.
    rounded[free] += 2 * (after - earlier) - gain <= 2 * missing[region[free]]
    return rounded


def _at_the_limit(groups: Groups, sets: ProtectedSets, X: FloatArray, beta: FloatArray) -> BoolArray:
    """Tell which cells (n, outcomes) belong to a set that is at its ceiling for that outcome."""
    people = groups.population[:, None] * X
    limit = beta[sets.group_of_set, None] * sets.factors[:, None] * groups.sums(people)[sets.group_of_set]
    at_limit = sets.sums(people) >= limit * (1 - AT_THE_LIMIT)
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
    weights: IntArray,
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
        p = weights[rows, None]
        wish = units[rows] + over[chosen] / p - 1000.0 * tight[rows]
        rounded[rows] = _rows_rounded(units[rows], wish, lo[rows], hi[rows], scale)
        over[chosen] += p * (units[rows] - rounded[rows])
    return rounded
