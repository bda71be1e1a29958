"""From the continuous announcement to the printed numbers.

Rounding must not undo what was promised: the printed numbers keep the fidelity, and a reader's confidence
stays at or below the ceiling for the true populations and for the printed ones. Most groups are rounded region
by region, all at once; those that miss a promise that way are each settled by a small integer programme.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.confidence import exact_shares, maximum_confidence
from atr.core.fidelity import Fidelity
from atr.core.groups import Groups
from atr.core.tolerances import GRID_TOLERANCE, SAME_CONFIDENCE
from atr.mechanisms.optimal.closed_form import by_regions
from atr.mechanisms.optimal.grid import NODES, refuse, whole_people, within
from atr.mechanisms.optimal.outcome_rounding import round_outcomes
from atr.mechanisms.optimal.solve import GroupRates

# A grid step of rate that misses the true number of people weighs as much as this many of distortion.
_RATE_WEIGHT = 100.0


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
    more, to a grid step, and to half of one where possible). Kept where possible, in groups that are perturbed: a
    confidence of at most β rounded up to the grid, with exact rates of two outcomes the number of people of each (to
    less than half a person), and nearness to the continuous announcement. Groups whose true decisions keep within β
    are rounded to the nearest.

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
    scale = 10**digits
    groups = groups.with_rates(group_rates)
    p = whole_people(groups.population, len(groups.population))
    q = whole_people(published_population, len(groups.population))
    mapping = np.asarray(continuous, dtype=np.float64)
    if mapping.shape != groups.decision.shape:
        raise ValueError(f"the announcement must have the shape of the decision, {groups.decision.shape}")
    if not by_regions(groups):
        return round_outcomes(
            groups,
            mapping,
            fidelity=fidelity,
            digits=digits,
            beta=np.broadcast_to(np.asarray(beta, dtype=np.float64), len(groups)),
            ceiling=Fraction(str(ceiling)),
            population=p,
            published=q,
            exact=group_rates == "exact",
        )
    d, x = groups.decision[:, 0], mapping[:, 0]
    lo, hi = (ends[:, 0] for ends in fidelity.allowed_on_grid(groups.decision, digits=digits))
    held = np.broadcast_to(np.asarray(beta, dtype=np.float64), len(groups))
    highest = min(Fraction(str(ceiling)), Fraction(1))
    wanted = np.ceil(held * scale - 1e-6).astype(np.int64)
    perturbed = maximum_confidence(groups, groups.decision) > held * (1 + SAME_CONFIDENCE)

    exact = group_rates == "exact"
    people = groups.sums(groups.population * d)
    counted = np.rint(people)
    people = np.where(np.abs(people - counted) < 1e-6, counted, people)
    rounded = _nearest_within_limits(groups, x, held, perturbed, people if exact else None, scale)
    grid = np.clip(rounded, lo, hi)

    limit = highest.numerator, highest.denominator
    printed = np.column_stack([grid, scale - grid])
    kept_p = exact_shares(p, printed, digits=digits, offsets=groups.offsets)
    kept_q = exact_shares(q, printed, digits=digits, offsets=groups.offsets)
    failed = ~(within(*kept_p, *limit) & within(*kept_q, *limit))
    failed |= perturbed & ~within(*kept_p, wanted, scale)
    if exact:
        missing = np.abs(kept_p[1][:, 0].astype(np.float64) - people * scale)
        failed |= missing > groups.sums(groups.population) / 2 * (1 + 1e-9)
        failed |= perturbed & (missing >= scale / 2)

    refused = []
    for i in np.flatnonzero(failed).tolist():
        cells = np.arange(groups.offsets[i], groups.offsets[i + 1])
        cells = cells[np.lexsort((x[cells], d[cells], q[cells], p[cells]))]
        found = _settle(
            p[cells],
            q[cells],
            x[cells] * scale,
            lo[cells],
            hi[cells],
            scale=scale,
            wanted=min(Fraction(int(wanted[i]), scale), highest),
            ceiling=highest,
            people=float(people[i]) if exact else None,
        )
        if found is None:
            refused.append(i)
        else:
            grid[cells] = found
    refuse(refused)
    return np.column_stack([grid, scale - grid])


def _nearest_within_limits(
    groups: Groups, x: FloatArray, beta: FloatArray, perturbed: BoolArray, people: FloatArray | None, scale: int
) -> IntArray:
    """Round to the nearest, but down where confidence in outcome 1 is at its limit and up for outcome 0.

    Where (g,) people are given, a perturbed group's other regions are not rounded up from a half on, but from the
    fraction on at which the group's total comes nearest to that number.
    """
    p, region = groups.population, groups.group_of_region
    limit_1, limit_0 = beta * groups.sums(p * x), beta * groups.sums(p * (1 - x))
    tight = perturbed[region]
    at_1 = tight & (p * x >= limit_1[region] * (1 - 1e-9))
    at_0 = tight & (p * (1 - x) >= limit_0[region] * (1 - 1e-9))
    # Noise of 1e-12 must not decide which way a half goes.
    units = np.round(x * scale, 12 - len(str(scale)))
    down, up = np.floor(units + GRID_TOLERANCE), np.ceil(units - GRID_TOLERANCE)
    rounded = np.where(at_1, down, np.where(at_0, up, np.rint(units))).astype(np.int64)
    free = np.flatnonzero(tight & ~at_1 & ~at_0 & (up > down))
    if people is None or not len(free):
        return rounded
    rounded[free] = down[free]
    missing = np.rint(people * scale).astype(np.int64) - groups.sums(p.astype(np.int64) * rounded)
    fraction = np.round(units[free] - down[free], 9)
    free = free[np.lexsort((groups.decision[free, 0], -p[free], -fraction, region[free]))]
    gain = p[free].astype(np.int64)
    after = np.cumsum(gain)
    first = np.flatnonzero(np.diff(region[free], prepend=-1))
    earlier = np.repeat((after - gain)[first], np.diff(np.append(first, len(free))))
    # Rounded up while that brings the total nearer.
    rounded[free] += 2 * (after - earlier) - gain <= 2 * missing[region[free]]
    return rounded


def _settle(
    p: IntArray,
    q: IntArray,
    target: FloatArray,
    lo: IntArray,
    hi: IntArray,
    *,
    scale: int,
    wanted: Fraction,
    ceiling: Fraction,
    people: float | None,
) -> IntArray | None:
    """Find grid values for one group: near the target and at the wanted confidence, or else further off."""
    below = np.clip(np.floor(target + GRID_TOLERANCE).astype(np.int64) - 1, lo, hi)
    above = np.clip(np.ceil(target - GRID_TOLERANCE).astype(np.int64) + 1, lo, hi)
    # A margin of a hundred-thousandth of a grid step outweighs the solver's own tolerance.
    for level, (low, high), margin in product(
        dict.fromkeys((wanted, ceiling)), ((below, above), (lo, hi)), (0.0, 1e-5)
    ):
        x = _programme(p, q, target, low, high, scale=scale, limits=(level, ceiling), people=people, margin=margin)
        if x is not None and _keeps(p, q, x, scale=scale, limits=(level, ceiling), people=people):
            return x
    return None


def _keeps(
    p: IntArray,
    q: IntArray,
    x: IntArray,
    *,
    scale: int,
    limits: tuple[Fraction, Fraction],
    people: float | None,
) -> bool:
    values = [int(v) for v in x]
    for population, limit in zip((p.tolist(), q.tolist()), limits, strict=True):
        for outcome in (values, [scale - v for v in values]):
            mass = [a * b for a, b in zip(population, outcome, strict=True)]
            if max(mass) > limit * sum(mass):
                return False
    return people is None or abs(float(p @ x) - people * scale) <= float(p.sum()) / 2 * (1 + 1e-9)


def _programme(
    p: IntArray,
    q: IntArray,
    target: FloatArray,
    lo: IntArray,
    hi: IntArray,
    *,
    scale: int,
    limits: tuple[Fraction, Fraction],
    people: float | None,
    margin: float,
) -> IntArray | None:
    """Solve one group's integer programme; None where it has no solution.

    Variables: m announced values x in grid steps, m distances e ≥ |x - target|, the mean announced value of
    the true and of the published population, and the part of the rate's error beyond half a person.
    """
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
        options={"node_limit": NODES},
    )
    if result.x is None:
        return None
    return np.clip(np.rint(result.x[:m]).astype(np.int64), lo, hi)
