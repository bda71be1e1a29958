"""Optimal privacy and the announcement with several outcomes or protected sets, by linear programmes.

Programmes of some fifty groups each are solved side by side. Neither how groups are put together nor the order of
their regions changes a result by more than 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray, offsets_of, positions_in, usable_cores
from atr.core.confidence import maximum_confidence, privacy_limit
from atr.core.groups import Groups
from atr.core.protected import ProtectedSets
from atr.core.tolerances import (
    JUST_ATTAINABLE,
    MULTIPLIER_TOLERANCE,
    NOBODY,
    SAME_CONFIDENCE,
    SAME_OPTIMUM,
    SAME_VALUE,
)
from atr.mechanisms.optimal.programmes import (
    PEOPLE,
    Block,
    Optimum,
    confidence_limits,
    exact_programme,
    free_programme,
    nearest_programme,
)
from atr.mechanisms.optimal.tie_break import least_squares

_Result = TypeVar("_Result")
_Part = TypeVar("_Part")

# Groups with more cells keep the solver's announcement, one of several that are equally near.
EVENED_CELLS = 1200
_STEPS = 100
_CELLS = 750
"""Cells of one programme: larger ones are slower per group, smaller ones spend their time on being set up."""


class LPBatches:
    """Groups to be cut into blocks, with their regions in an order that depends on their values alone."""

    def __init__(self, groups: Groups, lower: FloatArray, upper: FloatArray) -> None:
        self.groups, self.lower, self.upper = groups, lower, upper.copy()
        self.sets = ProtectedSets.regions(groups.offsets) if groups.sets is None else groups.sets
        rate_weights = () if groups.rate_weights is None else (groups.rate_weights,)
        keys = (*rate_weights, *upper.T, *lower.T, *groups.decision.T, groups.population, groups.group_of_region)
        self.order = np.lexsort(keys)
        self.rank = np.argsort(self.order)
        self.units = PEOPLE / groups.sums(groups.population)
        self.rate_weights = None if groups.rate_weights is None else self._rated(groups.rate_weights)

    def _rated(self, people: FloatArray) -> FloatArray:
        """Give how many people whose rates are kept stand behind each of the population, their groups equally large."""
        units = PEOPLE / self.groups.sums(people)
        rate_weights: FloatArray = people * (units / self.units)[self.groups.group_of_region] / self.groups.population
        return rate_weights

    def regions(self, which: IntArray) -> IntArray:
        """Give the positions of the regions of some groups, as a block has them."""
        return self.order[positions_in(self.groups.offsets, which)]

    def sets_of(self, which: IntArray) -> IntArray:
        """Give the positions of the protected sets of some groups, as a block has them."""
        return positions_in(self.sets.group_offsets, which)

    def block(self, which: IntArray) -> Block:
        """Put some groups, given by their (k,) positions, side by side."""
        groups, sets = self.groups, self.sets
        regions, chosen = self.regions(which), self.sets_of(which)
        sizes, numbers = groups.sizes[which], np.diff(sets.group_offsets)[which]
        group, set_group = np.repeat(np.arange(len(which)), sizes), np.repeat(np.arange(len(which)), numbers)
        in_set = np.diff(sets.offsets)[chosen]
        member_set = np.repeat(np.arange(len(chosen)), in_set)
        moved = offsets_of(sizes)[:-1] - groups.offsets[which]
        member = self.rank[sets.members[positions_in(sets.offsets, chosen)]] + moved[set_group[member_set]]
        return Block(
            p=groups.population[regions] * self.units[which][group],
            D=groups.decision[regions],
            lower=self.lower[regions],
            upper=self.upper[regions],
            group=group,
            member=member,
            member_set=member_set,
            set_group=set_group,
            factors=sets.factors[chosen],
            rate_weights=None if self.rate_weights is None else self.rate_weights[regions],
        )

    def parts(self, which: IntArray) -> list[IntArray]:
        """Cut groups, given by their (k,) positions, into parts that each make a programme of a good size."""
        if not len(which):
            return []
        cells = np.cumsum(self.groups.sizes[which] * self.groups.outcomes)
        return np.split(which, np.flatnonzero(np.diff((cells - 1) // _CELLS)) + 1)


def optimal(groups: Groups, lower: FloatArray, upper: FloatArray, *, exact: bool) -> tuple[FloatArray, IntArray]:
    """Give the optimal privacy of every group and what binds it.

    Parameters
    ----------
    groups
        Populations, true decisions (n, outcomes) and protected sets.
    lower, upper
        (n, outcomes) allowed range of the announced mapping, the truth inside.
    exact
        Whether every group's rates (of :attr:`Groups.rate_weights`) are announced as they are, or may move.

    Returns
    -------
    beta
        (g,) the smallest confidence, each set's divided by its factor, that any allowed mapping reaches.
    binding
        (g, 2) a protected set, by its position in the group's list, and an outcome: in every mapping that reaches
        ``beta`` and gives the outcome to anybody, the set has this confidence. Where several bind, the one with
        most people that the solver names. Says nothing of groups whose ``beta`` is that before any report.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, (OPT), for any number of outcomes
    and any sets. With free rates the largest ratio is minimised by Dinkelbach's method (Crouzeix, Ferland 1991).
    """
    exact = exact and groups.rate_weights is None
    arranged = LPBatches(groups, lower, upper)
    limit, posterior = privacy_limit(groups), maximum_confidence(groups, groups.decision)
    beta, binding = posterior.copy(), np.zeros((len(groups), 2), dtype=np.int64)
    open_still = np.flatnonzero(posterior > limit + SAME_OPTIMUM)
    totals = groups.sums(groups.population[:, None] * groups.decision) * arranged.units[:, None]
    weights = np.maximum(totals, PEOPLE / 1000)
    without = np.zeros(len(groups), dtype=bool)
    for _ in range(_STEPS):

        def step(part: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
            return _improved(arranged, part, beta[part], weights[part], exact=exact)

        parts = arranged.parts(open_still)
        unfinished = []
        for part, (reached, sums, named) in zip(parts, side_by_side(step, parts), strict=True):
            better = reached < beta[part] - SAME_OPTIMUM
            beta[part] = np.maximum(np.minimum(beta[part], reached), limit[part])
            weights[part] = np.maximum(sums, PEOPLE / 1000)
            told = better | ~without[part]
            binding[part[told]] = named[told]
            if exact:
                continue
            last = ~better | (beta[part] <= limit[part] + SAME_OPTIMUM)
            without[part] = False
            if groups.rate_weights is None:  # where rates are kept, an outcome of somebody's cannot be taken from all
                without[part[last]] = _emptied(arranged, part[last], named[last])
            unfinished.append(part[~last | without[part]])
        open_still = np.concatenate(unfinished) if unfinished else np.zeros(0, dtype=np.int64)
        if not len(open_still):
            break
    return beta, binding


def nearest(
    groups: Groups, lower: FloatArray, upper: FloatArray, beta: FloatArray, *, exact: bool
) -> tuple[FloatArray, BoolArray]:
    """Give the least distorted announcement of confidence at most β: the smallest Σ p·½Σ_a|D̃_a - D_a|.

    Of those that are equally near, the one with the smallest Σ p·Σ_a(D̃_a - D_a)²; there is one only. Groups whose
    true decisions keep within β announce them.

    Parameters
    ----------
    groups
        Populations, true decisions (n, outcomes) and protected sets.
    lower, upper
        (n, outcomes) allowed range of the announced mapping, the truth inside.
    beta
        Confidence to keep to, one for all groups or (g,); each set's is multiplied by its factor.
    exact
        Whether every group's rates (of :attr:`Groups.rate_weights`) are announced as they are, or may move.

    Returns
    -------
    (n, outcomes) announced mapping, and which groups (g,) cannot keep to β.
    """
    exact = exact and groups.rate_weights is None
    beta = np.broadcast_to(beta, len(groups))
    arranged = LPBatches(groups, lower, upper)
    announced, missed = groups.decision.copy(), np.zeros(len(groups), dtype=bool)
    above = np.flatnonzero(maximum_confidence(groups, groups.decision) > beta * (1 + SAME_CONFIDENCE))

    def solved(part: IntArray) -> list[tuple[IntArray, FloatArray | None]]:
        return list(_announced(arranged, part, beta[part], exact=exact))

    for part in side_by_side(solved, arranged.parts(above)):
        for which, mapping in part:
            if mapping is None:
                missed[which] = True
            else:
                announced[arranged.regions(which)] = mapping
    return announced, missed


def _improved(
    arranged: LPBatches, part: IntArray, beta: FloatArray, weights: FloatArray, *, exact: bool
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Give the confidence (k,) some groups come to next, the totals (k, outcomes) there, and what binds (k, 2)."""
    block = arranged.block(part)
    found = exact_programme(block) if exact else free_programme(block, beta, weights)
    if found is None:
        if len(part) == 1:
            raise ArithmeticError("the solver finds no solution of a programme that has one")
        alone = [
            _improved(arranged, part[i : i + 1], beta[i : i + 1], weights[i : i + 1], exact=exact)
            for i in range(len(part))
        ]
        reached, sums, named = (np.concatenate(values) for values in zip(*alone, strict=True))
        return reached, sums, named
    z = _without_noise(block, found.x[: block.D.size].reshape(block.D.shape))
    worth = found.multipliers.reshape(-1, block.outcomes)
    if exact:
        worth = worth * block.factors[:, None] * block.group_sums(block.p[:, None] * block.D)[block.set_group]
    people = block.set_sums(block.p[:, None])[:, 0] / block.factors
    counts = np.where(worth > MULTIPLIER_TOLERANCE, people[:, None], -1.0)
    named = np.zeros((len(part), 2), dtype=np.int64)
    starts = np.searchsorted(block.set_group, np.arange(len(part) + 1))
    for i in range(len(part)):
        own = counts[starts[i] : starts[i + 1]]
        named[i] = np.unravel_index(np.argmax(own >= own.max() * (1 - SAME_VALUE)), own.shape)
    return block.largest(block.confidences(z)), block.group_sums(z), named


def _emptied(arranged: LPBatches, part: IntArray, named: IntArray) -> BoolArray:
    """Tell of which groups (k,) the outcome that binds could be announced to nobody, and was not so far.

    An outcome's confidence is defined only where somebody gets it. Falling chances approach no smaller confidence
    than β unless some region's range holds zero only; then nobody at all getting the outcome may be better.
    """
    groups, found = arranged.groups, np.zeros(len(part), dtype=bool)
    for i, (group, outcome) in enumerate(zip(part.tolist(), named[:, 1].tolist(), strict=True)):
        cells = slice(groups.offsets[group], groups.offsets[group + 1])
        upper = arranged.upper[cells]
        others = upper.sum(axis=1) - upper[:, outcome]
        possible = (arranged.lower[cells, outcome] <= 0).all() and (others >= 1).all()
        if possible and (upper[:, outcome] <= 0).any() and (upper[:, outcome] > 0).any():
            arranged.upper[cells, outcome] = 0
            found[i] = True
    return found


def _announced(
    arranged: LPBatches, part: IntArray, beta: FloatArray, *, exact: bool
) -> Iterator[tuple[IntArray, FloatArray | None]]:
    """Yield groups, all of a part or one of it, with their announcement in the order of their block."""
    block = arranged.block(part)
    found = nearest_programme(block, beta, exact=exact)
    if found is None and len(part) > 1:
        for i in range(len(part)):
            yield from _announced(arranged, part[i : i + 1], beta[i : i + 1], exact=exact)
        return
    if found is None:  # where β is just attainable, a rounding error of it must not make the difference
        beta = beta + JUST_ATTAINABLE
        found = nearest_programme(block, beta, exact=exact)
    yield part, None if found is None else _mapping(block, _evened(block, found, beta, exact=exact))


def _evened(block: Block, found: Optimum, beta: FloatArray, *, exact: bool) -> FloatArray:
    """Give the moves (n, outcomes) of people, of all that are as small the most even ones."""
    A, cells = block.outcomes, block.D.size
    plus, minus = found.x[:cells], found.x[cells : 2 * cells]
    moves = (plus - minus).reshape(block.D.shape)
    up = (block.p[:, None] * (block.upper - block.D)).ravel()
    down = (block.p[:, None] * (block.D - block.lower)).ravel()
    least_up, most_up = _range(up, found.at_lower[:cells], found.at_upper[:cells])
    least_down, most_down = _range(down, found.at_lower[cells : 2 * cells], found.at_upper[cells : 2 * cells])
    low, high = (least_up - most_down) / PEOPLE, (most_up - least_down) / PEOPLE
    limits = confidence_limits(block, beta)
    binds = (found.multipliers > MULTIPLIER_TOLERANCE).reshape(-1, A)
    limits = limits.reshape(-1, A) / PEOPLE
    region_starts = np.searchsorted(block.group, np.arange(block.count + 1))
    set_starts = np.searchsorted(block.set_group, np.arange(block.count + 1))
    member_starts = np.searchsorted(block.set_group[block.member_set], np.arange(block.count + 1))
    for i in range(block.count):
        regions = slice(region_starts[i], region_starts[i + 1])
        sets = slice(set_starts[i], set_starts[i + 1])
        members = slice(member_starts[i], member_starts[i + 1])
        m = region_starts[i + 1] - region_starts[i]
        if m * A > EVENED_CELLS:
            continue
        own = slice(region_starts[i] * A, region_starts[i + 1] * A)
        holds = np.zeros((set_starts[i + 1] - set_starts[i], m))
        holds[block.member_set[members] - set_starts[i], block.member[members] - region_starts[i]] = 1
        if not exact:
            holds = holds - (beta[i] * block.factors[sets])[:, None]
        most, each = np.kron(holds, np.eye(A)), np.kron(np.eye(m), np.ones(A))
        tight, ends = binds[sets].ravel(), limits[sets].ravel()
        equal, totals = [each, most[tight]], [np.zeros(m), ends[tight]]
        if exact or block.rate_weights is not None:
            equal.append(np.kron(np.ones(m) if block.rate_weights is None else block.rate_weights[regions], np.eye(A)))
            totals.append(np.zeros(A))
        loose = ~tight & (np.maximum(most * low[own], most * high[own]).sum(axis=1) > ends)
        even = least_squares(
            np.repeat(block.p[regions], A) / PEOPLE,
            low[own],
            high[own],
            equal=np.vstack(equal),
            totals=np.concatenate(totals),
            most=most[loose],
            limits=ends[loose],
        )
        if even is not None:
            moves[regions] = even.reshape(m, A) * PEOPLE
    return moves


def _range(reach: FloatArray, at_lower: BoolArray, at_upper: BoolArray) -> tuple[FloatArray, FloatArray]:
    return np.where(at_upper & ~at_lower, reach, 0), np.where(at_lower, 0, reach)


def _mapping(block: Block, moves: FloatArray) -> FloatArray:
    """Give the announced mapping, every row in its range and of sum one but for the last bits."""
    z = _without_noise(block, block.p[:, None] * block.D + moves)
    X = np.clip(z / block.p[:, None], block.lower, block.upper)
    rows = np.arange(len(X))
    room = np.minimum(X - block.lower, block.upper - X).argmax(axis=1)
    X[rows, room] += 1 - X.sum(axis=1)
    return np.clip(X, 0, 1)


def _without_noise(block: Block, z: FloatArray) -> FloatArray:
    """Empty an outcome whose total is nothing but rounding errors, where it may be empty."""
    few = block.group_sums(z) <= NOBODY * PEOPLE
    return np.where(few[block.group] & (block.lower <= 0), 0, z)


def side_by_side(solve: Callable[[_Part], _Result], parts: list[_Part]) -> list[_Result]:
    """Solve all parts, as many at once as there are usable cores; results are in the order of the parts."""
    if len(parts) < 2:
        return [solve(part) for part in parts]
    with ThreadPoolExecutor(min(len(parts), usable_cores())) as pool:
        return list(pool.map(solve, parts))
