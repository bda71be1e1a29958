"""Linear programmes of several outcomes and protected sets, many groups in one programme.

The groups of a programme share no variable, so each has the optimum it has alone. Variables are joint, z = p·D̃, in
units in which every group has :data:`PEOPLE` people: all coefficients of a programme are then near 1, and the
solver's tolerance is small against the smallest region.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.tolerances import MULTIPLIER_TOLERANCE, SOLVER_TOLERANCE

PEOPLE = 1000.0


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Some groups side by side.

    Attributes
    ----------
    p
        (n,) population, in units in which each group has ``PEOPLE``.
    D, lower, upper
        (n, outcomes) true decision and allowed range of the announced one.
    group
        (n,) the group of each region.
    member, member_set
        (k,) the region and the set of each membership.
    set_group, factors
        (v,) the group of each protected set, and what its ceiling is multiplied by.
    rate_weights
        (n,) the people whose rates are kept, for each of ``p``; None where these are ``p`` or rates are free.
    """

    p: FloatArray
    D: FloatArray
    lower: FloatArray
    upper: FloatArray
    group: IntArray
    member: IntArray
    member_set: IntArray
    set_group: IntArray
    factors: FloatArray
    rate_weights: FloatArray | None = None

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.group[-1]) + 1

    @property
    def outcomes(self) -> int:
        """The number of outcomes."""
        return int(self.D.shape[1])

    def set_sums(self, values: FloatArray) -> FloatArray:
        """Add up (n, outcomes) values of regions within each set: (v, outcomes)."""
        sums = np.zeros((len(self.set_group), values.shape[1]))
        np.add.at(sums, self.member_set, values[self.member])
        return sums

    def group_sums(self, values: FloatArray) -> FloatArray:
        """Add up (n, outcomes) values of regions within each group: (g, outcomes)."""
        sums = np.zeros((self.count, values.shape[1]))
        np.add.at(sums, self.group, values)
        return sums

    def confidences(self, z: FloatArray) -> FloatArray:
        """Give (v, outcomes) how sure a reader is of each set, divided by its factor."""
        total = self.group_sums(z)[self.set_group]
        share = np.divide(self.set_sums(z), total, out=np.zeros_like(total), where=total > 0)
        return share / self.factors[:, None]

    def largest(self, of_sets: FloatArray) -> FloatArray:
        """Take the largest of (v, …) values of each group: (g,)."""
        highest = np.full(self.count, -np.inf)
        np.maximum.at(highest, self.set_group, of_sets.reshape(len(of_sets), -1).max(axis=1))
        return highest


@dataclass(frozen=True, eq=False, slots=True)
class Optimum:
    """A solution of a programme.

    Attributes
    ----------
    x
        The values of the variables.
    at_lower, at_upper
        Which variables every solution has at that end of their range.
    multipliers
        What one unit of each inequality's limit is worth, at least 0.
    """

    x: FloatArray
    at_lower: BoolArray
    at_upper: BoolArray
    multipliers: FloatArray


def exact_programme(block: Block) -> Optimum | None:
    """Minimise Σβ over the groups with every group's totals as they are.

    The variables are z (n · outcomes), then β (g).

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, (OPT), with given totals.
    """
    A, n, g = block.outcomes, len(block.p), block.count
    joint = block.p[:, None] * block.D
    totals = block.group_sums(joint)
    rows = len(block.set_group) * A
    limits = entries(
        np.arange(rows),
        np.repeat(block.set_group, A),
        (-block.factors[:, None] * totals[block.set_group]).ravel(),
    )
    sets, regions, groups = _sums(block)
    return solve_programme(
        np.append(np.zeros(joint.size), np.ones(g)),
        matrix(rows, n * A + g, sets, limits.at(column=n * A)),
        np.zeros(rows),
        matrix(n + g * A, n * A + g, regions, groups.at(row=n)),
        np.concatenate([block.p, totals.ravel()]),
        np.append((block.p[:, None] * block.lower).ravel(), np.zeros(g)),
        np.append((block.p[:, None] * block.upper).ravel(), np.full(g, np.inf)),
    )


def free_programme(block: Block, beta: FloatArray, weights: FloatArray) -> Optimum | None:
    """Minimise, for each group, the largest excess (Σ_V z - β c_V Σ_T z) / weight of any outcome and set.

    The variables are z (n · outcomes), the totals Σ_T z (g · outcomes), and the excess (g). Where rates of other people
    are kept, these are fixed.

    Parameters
    ----------
    beta
        (g,) confidence, feasible or not: the excess of a group is at most 0 where it is.
    weights
        (g, outcomes) positive.

    References
    ----------
    Crouzeix, Ferland, *Algorithms for generalized fractional programming* (1991): Dinkelbach's method for a
    largest ratio.
    """
    A, n, g = block.outcomes, len(block.p), block.count
    scale = 1 / weights[block.set_group]
    sets, regions, groups = _sums(block)
    rows, columns = len(block.set_group) * A, (n + g) * A + g
    ceilings = entries(
        np.arange(rows),
        (block.set_group[:, None] * A + np.arange(A)).ravel(),
        (-(beta[block.set_group] * block.factors)[:, None] * scale).ravel(),
    )
    # An outcome nobody can get limits nothing.
    possible = block.upper if block.rate_weights is None else block.D
    somebody = (block.group_sums(block.p[:, None] * possible) > 0)[block.set_group].ravel()
    excess = entries(np.arange(rows), np.repeat(block.set_group, A), -somebody.astype(np.float64))
    equalities = [regions, groups.at(row=n), diagonal(g * A, -1.0).at(row=n, column=n * A)]
    totals = [block.p, np.zeros(g * A)]
    if block.rate_weights is not None:
        equalities.append(_rated(groups, block.rate_weights, A).at(row=n + g * A))
        totals.append(block.group_sums(block.rate_weights[:, None] * block.p[:, None] * block.D).ravel())
    return solve_programme(
        np.append(np.zeros((n + g) * A), np.ones(g)),
        matrix(
            rows,
            columns,
            sets.times(scale.ravel()[sets.row]),
            ceilings.at(column=n * A),
            excess.at(column=(n + g) * A),
        ),
        np.zeros(rows),
        matrix(sum(map(len, totals)), columns, *equalities),
        np.concatenate(totals),
        np.concatenate([(block.p[:, None] * block.lower).ravel(), np.zeros(g * A), np.full(g, -np.inf)]),
        np.concatenate([(block.p[:, None] * block.upper).ravel(), np.full(g * A + g, np.inf)]),
    )


def nearest_programme(block: Block, beta: FloatArray, *, exact: bool) -> Optimum | None:
    """Minimise the distortion ½Σ|z - pD| subject to the confidence β (g,).

    The variables are what is added to z and what is taken from it (n · outcomes each) and, unless the rates of p are
    kept (``exact``), the changes of the totals (g · outcomes).

    Returns
    -------
    None where no announcement keeps to β.
    """
    A, n, g = block.outcomes, len(block.p), block.count
    sets, regions, groups = _sums(block)
    limits = confidence_limits(block, beta)
    cells, rows = n * A, len(limits)
    up, down = block.p[:, None] * (block.upper - block.D), block.p[:, None] * (block.D - block.lower)
    cost, lowest = np.full(2 * cells, 0.5), np.zeros(2 * cells)
    highest = np.concatenate([up.ravel(), down.ravel()])
    inequalities = [sets, sets.times(-1).at(column=cells)]
    equalities = [part for of in (regions, groups.at(row=n)) for part in (of, of.times(-1).at(column=cells))]
    kept = n + g * A
    if not exact:
        held = entries(
            np.arange(rows),
            (block.set_group[:, None] * A + np.arange(A)).ravel(),
            -np.repeat(beta[block.set_group] * block.factors, A),
        )
        inequalities.append(held.at(column=2 * cells))
        equalities.append(diagonal(g * A, -1.0).at(row=n, column=2 * cells))
        if block.rate_weights is not None:
            rate_weights = _rated(groups, block.rate_weights, A).at(row=kept)
            equalities += [rate_weights, rate_weights.times(-1).at(column=cells)]
            kept += g * A
        cost = np.append(cost, np.zeros(g * A))
        lowest, highest = np.append(lowest, np.full(g * A, -np.inf)), np.append(highest, np.full(g * A, np.inf))
    return solve_programme(
        cost,
        matrix(rows, len(cost), *inequalities),
        limits,
        matrix(kept, len(cost), *equalities),
        np.zeros(kept),
        lowest,
        highest,
    )


def confidence_limits(block: Block, beta: FloatArray) -> FloatArray:
    """Give the room of each set: how many people it may gain of each outcome while its group's totals stay.

    Returns
    -------
    (v · outcomes) people, in the block's unit; negative where the true decisions are above β.
    """
    joint = block.p[:, None] * block.D
    ceiling = beta[block.set_group] * block.factors
    limits = ceiling[:, None] * block.group_sums(joint)[block.set_group] - block.set_sums(joint)
    return limits.ravel()


def solve_programme(
    cost: FloatArray,
    inequalities: Any,
    limits: FloatArray,
    equalities: Any,
    totals: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> Optimum | None:
    """Minimise cost·x subject to inequalities·x ≤ limits, equalities·x = totals and a range for each variable.

    Parameters
    ----------
    cost, lower, upper
        (k,) for each variable.
    inequalities, equalities
        Sparse matrices with k columns, as from :func:`matrix`.
    limits, totals
        What their rows are compared with.

    Returns
    -------
    None where the solver finds no such x.
    """
    ranges: Any = np.column_stack([lower, upper])
    result = linprog(
        cost,
        A_ub=inequalities,
        b_ub=limits,
        A_eq=equalities,
        b_eq=totals,
        bounds=ranges,
        method="highs-ds",
        options={"primal_feasibility_tolerance": SOLVER_TOLERANCE, "dual_feasibility_tolerance": SOLVER_TOLERANCE},
    )
    if result.status != 0 or result.x is None:
        return None
    return Optimum(
        x=np.clip(result.x, lower, upper),
        at_lower=result.lower.marginals > MULTIPLIER_TOLERANCE,
        at_upper=result.upper.marginals < -MULTIPLIER_TOLERANCE,
        multipliers=-result.ineqlin.marginals,
    )


def _sums(block: Block) -> tuple[Entries, Entries, Entries]:
    """Give the matrices that add up cells by set and outcome, by region, and by group and outcome."""
    A, each = block.outcomes, np.arange(block.outcomes)
    cells = np.arange(len(block.p) * A)
    return (
        entries(block.member_set[:, None] * A + each, block.member[:, None] * A + each),
        entries(cells // A, cells),
        entries((block.group[:, None] * A + each).ravel(), cells),
    )


def _rated(groups: Entries, rate_weights: FloatArray, outcomes: int) -> Entries:
    """Give the matrix that adds up, by group and outcome, the people whose rates are kept, from that of all people."""
    return groups.times(np.repeat(rate_weights, outcomes))


class Entries(NamedTuple):
    """Part of a sparse matrix: putting one together from smaller matrices takes longer than a programme of one group.

    Attributes
    ----------
    row, column
        (k,) where each entry stands.
    value
        (k,) what it is.
    """

    row: IntArray
    column: IntArray
    value: FloatArray

    def at(self, row: int = 0, column: int = 0) -> Entries:
        """Move the part down and to the right."""
        return Entries(self.row + row, self.column + column, self.value)

    def times(self, factor: FloatArray | float) -> Entries:
        """Multiply every entry by a factor, one for all or (k,)."""
        return Entries(self.row, self.column, self.value * factor)


def entries(row: IntArray, column: IntArray, value: FloatArray | float = 1.0) -> Entries:
    """Give the entries at the places of arrays that are broadcast against each other."""
    row, column, value = np.broadcast_arrays(row, column, np.asarray(value, dtype=np.float64))
    return Entries(row.ravel(), column.ravel(), value.ravel())


def diagonal(size: int, value: float = 1.0) -> Entries:
    """Give the entries of a square matrix that has a value on its diagonal."""
    return entries(np.arange(size), np.arange(size), value)


def matrix(rows: int, columns: int, *parts: Entries) -> Any:
    """Put a matrix together; entries at the same place are added up."""
    row, column, value = (np.concatenate(of) for of in zip(*parts, strict=True))
    return coo_array((value, (row, column)), shape=(rows, columns))
