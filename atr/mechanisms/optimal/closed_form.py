"""Groups of two outcomes in closed form: every region is a protected set, or lies in exactly one.

Blocks of groups that fit a processor's cache are shared out among threads. A group is always computed as a whole, by
one thread and by the same loop: neither blocks nor threads can change a result.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, usable_cores
from atr.core.fidelity import Delta, Fidelity, Ranges
from atr.core.groups import Groups
from atr.core.protected import ProtectedSets

BLOCK = 1 << 15
"""Regions in a block: a few arrays of this size stay in the cache, and the interpreter's share of the time is small."""
_FEW = 4
"""Below this many blocks, starting threads costs more than they save."""


@cache
def _kernels() -> ModuleType:
    """Load the compiled kernels; on first use only, for the compiler takes long to load."""
    from atr.mechanisms.optimal import kernels

    return kernels


def by_regions(groups: Groups) -> bool:
    """Tell whether groups have two outcomes, protect every region on its own and keep the rates of their population."""
    return groups.outcomes == 2 and groups.sets is None and groups.rate_weights is None


def by_sets(groups: Groups) -> bool:
    """Tell whether groups have two outcomes and every region lies in exactly one protected set.

    Not where the rates kept are those of other people than the population (:attr:`Groups.rate_weights`): the number
    of people of a set with an outcome is then not all that counts.
    """
    sets = groups.sets
    if groups.outcomes != 2 or sets is None or groups.rate_weights is not None:
        return False
    return sets.split_every_group(len(groups.population))


def sets_as_regions(groups: Groups, sets: ProtectedSets, lower: FloatArray, upper: FloatArray) -> tuple[Groups, Ranges]:
    """Make one region of every protected set: how many of its people get an outcome is all that counts.

    Parameters
    ----------
    groups
        Groups that are :func:`by_sets`.
    sets
        Their protected sets.
    lower, upper
        (n, 2) allowed range of the announced mapping.

    Returns
    -------
    Groups of (v,) regions, one for each set, and the (v, 2) range of their announced mapping.

    Examples
    --------
    >>> card = Groups([12, 5, 3], [0, 0.2, 1], [0, 3], protected_sets=[[[0, 1], [2]]])
    >>> of_sets, ranges = sets_as_regions(card, card.sets, card.decision, card.decision)
    >>> of_sets.population, ranges.lower[:, 0].round(4)
    (array([17.,  3.]), array([0.0588, 1.    ]))
    """
    p = groups.population
    people = sets.sums(p)
    d, lo, hi = (np.clip(sets.sums(p * x[:, 0]) / people, 0, 1) for x in (groups.decision, lower, upper))
    return Groups(people, d, sets.group_offsets), Ranges(np.minimum(lo, d), np.maximum(hi, d))


def privacy_bounds(groups: Groups, fidelity: Fidelity, digits: int | None, *, free: bool) -> FloatArray:
    """Give the terms of every group's optimal privacy.

    Parameters
    ----------
    groups
        Groups that are :func:`by_regions`.
    fidelity, digits
        As for :func:`allowed_ranges`.
    free
        Whether group rates may move.

    Returns
    -------
    (g, 6) [β_min, C*, β_0, β_1, β_p, β*] where rates are free, (g, 3) [β_min, C*, β*] where they are kept.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Theorem 1, with the
    confidence before any report added; the closed form for exact rates is this library's.
    """
    bounds = np.empty((len(groups), 6 if free else 3))
    kernel = _kernels().free_rates if free else _kernels().exact_rates
    _run(kernel, groups, fidelity, digits, lambda which, _: (bounds[which],))
    return bounds


def nearest_by_regions(
    groups: Groups, fidelity: Fidelity, digits: int | None, beta: FloatArray, *, free: bool
) -> tuple[FloatArray, BoolArray]:
    """Give the least distorted announcement of confidence at most β: the smallest Σ p·|D̃ - D|.

    Parameters
    ----------
    groups
        Groups that are :func:`by_regions`.
    fidelity, digits
        As for :func:`allowed_ranges`.
    beta
        (g,) confidence to keep to.
    free
        Whether group rates may move.

    Returns
    -------
    (n, 2) announced mapping, and which groups (g,) cannot keep to β.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, (OPT) and Lemma 4.
    """
    x, missed = groups.decision[:, 0].copy(), np.zeros(len(groups), dtype=np.bool_)
    _run(
        _kernels().nearest, groups, fidelity, digits, lambda which, cells: (x[cells], beta[which], missed[which], free)
    )
    return np.column_stack([x, 1 - x]), missed


def allowed_ranges(decision: FloatArray, fidelity: Fidelity, digits: int | None) -> tuple[FloatArray, FloatArray]:
    """Give the allowed range of the announced mapping, widened to hold the truth where that is off the grid.

    Parameters
    ----------
    decision
        (n, outcomes) true probability.
    fidelity
        What is promised of the regions.
    digits
        Decimals announced: the ranges shrink to that grid. None: no grid.

    Returns
    -------
    Lower and upper ends, (n, outcomes) probability each.

    Raises
    ------
    ValueError
        If the fidelity does not fit the decision.
    """
    if digits is None:
        return fidelity.allowed(decision)
    lower, upper = fidelity.allowed_on_grid(decision, digits=digits)
    return np.minimum(lower / 10**digits, decision), np.maximum(upper / 10**digits, decision)


def _fill_ranges(
    fidelity: Fidelity, decision: FloatArray, digits: int | None, d: FloatArray, lower: FloatArray, upper: FloatArray
) -> None:
    """Fill in D_1 (m,) of a block of regions and its range, as :func:`allowed_ranges` gives them, in few passes."""
    d[:] = decision[:, 0]
    if isinstance(fidelity, Delta):
        _kernels().within_reach(d, 1.0 - fidelity.level, lower, upper)
    else:
        lower[:], upper[:] = (ends[:, 0] for ends in fidelity.allowed(decision))
    if digits is not None:
        _kernels().shrink_to_grid(d, 10.0**digits, lower, upper)


def _run(
    kernel: Callable[..., None],
    groups: Groups,
    fidelity: Fidelity,
    digits: int | None,
    further: Callable[[slice, slice], tuple[Any, ...]],
) -> None:
    """Call a kernel for consecutive blocks of whole groups that cover them all, from several threads at once.

    ``further`` gives its last arguments, for the positions of a block's groups and of their regions.
    """
    offsets, n = groups.offsets, len(groups.population)
    if isinstance(fidelity, Ranges) and fidelity.lower.shape != groups.decision.shape:
        raise ValueError(f"there are ranges {fidelity.lower.shape} for chances {groups.decision.shape}")
    ends = np.unique(np.searchsorted(offsets, [*range(BLOCK, n, BLOCK), n])).tolist()
    waiting, widest = iter(pairwise([0, *ends])), int(np.diff(offsets[[0, *ends]]).max())

    def share() -> None:
        scratch = np.empty((4, widest))
        for first, last in waiting:
            cells = slice(int(offsets[first]), int(offsets[last]))
            d, lower, upper, room = scratch[:, : cells.stop - cells.start]
            _fill_ranges(fidelity.of(cells), groups.decision[cells], digits, d, lower, upper)
            starts = offsets[first : last + 1]
            kernel(groups.population[cells], d, lower, upper, starts, room, *further(slice(first, last), cells))

    if len(ends) < _FEW:
        share()
        return
    threads = min(usable_cores(), len(ends))
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(share) for _ in range(threads)]:
            done.result()
