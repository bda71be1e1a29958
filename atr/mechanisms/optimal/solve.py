"""The optimal mechanism: how private a group can be, and what it announces."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.core.confidence import maximum_confidence, privacy_limit
from atr.core.fidelity import Delta, Fidelity, Ranges, ladder
from atr.core.groups import FloatArray, Groups, IntArray
from atr.errors import RefusedError
from atr.mechanisms.optimal.binding import binding
from atr.mechanisms.optimal.blocks import each_block, kernels, ranges
from atr.mechanisms.optimal.sets import allowed_outcomes, by_regions, parted, sets_as_regions
from atr.mechanisms.optimal.several import nearest, optimal
from atr.mechanisms.optimal.solution import CONFIDENCE_TOLERANCE, GroupRates, Objective, OptimalPrivacy, Solution

# A step of the ladder this close to the strictest possible promise is worth trying.
_SLACK = 1e-9


def optimal_privacy(
    groups: Groups, *, fidelity: Fidelity, group_rates: GroupRates = "exact", digits: int | None = None
) -> OptimalPrivacy:
    """Compute the optimal privacy of every group on its own.

    Parameters
    ----------
    groups
        Populations (n,), true decisions (n, outcomes) and protected sets.
    fidelity
        What the announcement promises about the truth.
    group_rates
        ``exact``: every group's rate is announced as it is; ``free``: it may move.
    digits
        Decimals announced: the allowed ranges shrink to that grid. None: no grid.

    Returns
    -------
    OptimalPrivacy, the same for a group whichever others are solved with it.

    Raises
    ------
    ValueError
        If the fidelity does not fit the regions.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Theorem 1, with the
    confidence before any report added; the closed form for exact rates is this library's.

    Examples
    --------
    >>> from atr.core.fidelity import Delta
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> optimal_privacy(card, fidelity=Delta(0.9), group_rates="free").beta.round(4)
    array([0.675 , 0.6378])
    >>> optimal_privacy(card, fidelity=Delta(0.9), group_rates="exact").beta.round(4)
    array([0.9  , 0.648])
    """
    groups = groups.with_rates(group_rates)
    if not by_regions(groups):
        return _several_privacy(groups, fidelity, group_rates, digits)
    free = group_rates == "free"
    bounds = np.empty((len(groups), 6 if free else 3))
    kernel = kernels().free_rates if free else kernels().exact_rates

    def work(which: slice, cells: slice, scratch: FloatArray) -> None:
        kernel(*_block(groups, fidelity, digits, which, cells, scratch), bounds[which])

    each_block(groups.offsets, work)
    return OptimalPrivacy(
        beta=bounds[:, -1],
        limits=bounds[:, :2],
        beta_0=bounds[:, 2] if free else None,
        beta_1=bounds[:, 3] if free else None,
        beta_p=bounds[:, 4] if free else None,
        binds=partial(_binding, groups, fidelity, digits, bounds[:, -1], exact=not free),
    )


def strictest_delta(groups: Groups, max_confidence: float) -> FloatArray:
    """Give the largest δ at which each group, its rate announced as it is, can keep to a confidence.

    Parameters
    ----------
    groups
        Populations (n,) and true decisions (n, 2).
    max_confidence
        Confidence to keep to, probability.

    Returns
    -------
    (g,) δ without a grid; -1 where no announcement keeps to that confidence. Private: it depends on the true decisions.

    References
    ----------
    This library's: the closed form for exact rates, solved for δ.

    Examples
    --------
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> strictest_delta(card, 0.9).round(4)
    array([0.9, 1. ])
    """
    delta = np.empty(len(groups))
    kernel = kernels().strictest_delta

    def work(which: slice, cells: slice, scratch: FloatArray) -> None:
        d, other, room = scratch[:3]
        d[:] = groups.rule[cells]
        np.subtract(1, d, out=other)
        kernel(groups.population[cells], d, other, _offsets(groups, which), room, float(max_confidence), delta[which])

    each_block(groups.offsets, work)
    return delta


def confidences(groups: Groups, x: FloatArray) -> FloatArray:
    """Give the maximum confidence (g,) of a binary mapping D_1 (n,): :func:`atr.core.confidence.maximum_confidence`."""
    highest = np.empty(len(groups))
    kernel = kernels().confidences

    def work(which: slice, cells: slice, scratch: FloatArray) -> None:
        scratch[0] = x[cells]
        kernel(groups.population[cells], scratch[0], _offsets(groups, which), highest[which])

    each_block(groups.offsets, work)
    return highest


def announce(
    groups: Groups,
    *,
    beta: ArrayLike,
    fidelity: Fidelity,
    group_rates: GroupRates = "exact",
    digits: int | None = None,
) -> FloatArray:
    """Choose, for every group, the least distorted announcement of confidence at most β.

    A group whose true decisions keep within β announces them.

    Parameters
    ----------
    groups
        Populations (n,), true decisions (n, outcomes) and protected sets.
    beta
        Confidence to keep to: one probability for all groups or (g,).
    fidelity
        What the announcement promises about the truth.
    group_rates
        ``exact``: every group's rate is announced as it is; ``free``: it may move.
    digits
        Decimals announced: the allowed ranges shrink to that grid. None: no grid.

    Returns
    -------
    (n,) announced D_1 of two outcomes, (n, outcomes) announced chances of more; before rounding.

    Raises
    ------
    RefusedError
        If a group cannot keep to β; ``private`` says which.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, (OPT) and Lemma 4, in place
    of Algorithm 1, which perturbs more than it need.

    Examples
    --------
    >>> from atr.core.fidelity import Delta
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> announce(card, beta=0.675, fidelity=Delta(0.9), group_rates="free").round(4)
    array([0.1   , 0.02  , 0.9   , 0.    , 0.4242, 0.9242])
    """
    groups = groups.with_rates(group_rates)
    if not by_regions(groups):
        return _several_announced(groups, beta, fidelity, group_rates, digits)
    x = np.empty(len(groups.population))
    _announce(groups, beta, fidelity, group_rates, digits, x)
    return x


def solve(
    groups: Groups,
    *,
    fidelity: Fidelity,
    objective: Objective = "privacy",
    max_confidence: float | None = None,
    group_rates: GroupRates = "exact",
    digits: int | None = None,
) -> Solution:
    """Solve all groups and choose their announcement.

    Parameters
    ----------
    groups
        Populations (n,), true decisions (n, outcomes) and protected sets.
    fidelity
        What the announcement promises about the truth; with objective ``fidelity`` the least it may promise.
    objective
        ``privacy``: the smallest confidence at this fidelity. ``fidelity``: the strictest promise of the
        ladder 0.99, 0.95, 0.9, 0.85, … at which every group keeps to ``max_confidence``.
    max_confidence
        Ceiling, probability. Needed for objective ``fidelity``.
    group_rates
        ``exact``: every group's rate is announced as it is; ``free``: it may move.
    digits
        Decimals announced: the allowed ranges shrink to that grid. None: no grid.

    Returns
    -------
    Solution

    Raises
    ------
    RefusedError
        If a group cannot keep to the ceiling; ``private`` says which.
    ValueError
        If the fidelity does not fit the regions, or the ceiling is missing.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, section 5.

    Examples
    --------
    >>> from atr.core.fidelity import Delta
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> solution = solve(card, fidelity=Delta(0.9), group_rates="free")
    >>> round(solution.overall, 4), solution.announced[:3, 1].round(4)
    (0.675, array([0.1 , 0.02, 0.9 ]))
    """
    if objective == "fidelity" and max_confidence is None:
        raise ValueError("objective 'fidelity' needs max_confidence, the ceiling to keep to")
    groups = groups.with_rates(group_rates)
    ceiling = np.inf if max_confidence is None else max_confidence
    for promise in _promises(groups, fidelity, objective, ceiling, group_rates, digits):
        privacy = optimal_privacy(groups, fidelity=promise, group_rates=group_rates, digits=digits)
        above = privacy.beta > ceiling * (1 + CONFIDENCE_TOLERANCE)
        if not above.any():
            break
    else:
        raise RefusedError(
            "No announcement keeps every group at or below max_confidence within the promised fidelity.",
            hint="Lower the fidelity or raise max_confidence, in coarse steps.",
            private=f"Groups that bind: {_list(above)}. Best they reach: {privacy.overall:.4f}.",
        )
    target = privacy.overall if objective == "privacy" else ceiling
    if by_regions(groups):
        announced = np.empty((len(groups.population), 2))
        _announce(groups, target, promise, group_rates, digits, announced[:, 1], announced[:, 0])
    else:
        x = _several_announced(groups, target, promise, group_rates, digits)
        announced = np.column_stack([1 - x, x]) if x.ndim == 1 else x
    return Solution(
        beta=privacy.beta,
        limits=privacy.limits,
        beta_0=privacy.beta_0,
        beta_1=privacy.beta_1,
        beta_p=privacy.beta_p,
        binds=privacy.binds,
        announced=announced,
        fidelity=promise,
        target=target,
    )


def _announce(
    groups: Groups,
    beta: ArrayLike,
    fidelity: Fidelity,
    group_rates: GroupRates,
    digits: int | None,
    chance: FloatArray,
    other: FloatArray | None = None,
) -> None:
    """Fill in the announced D_1 (n,), and D_0 where it is wanted."""
    ceiling = np.array(np.broadcast_to(np.asarray(beta, dtype=np.float64), len(groups)))
    missed = np.zeros(len(groups), dtype=np.bool_)
    kernel = kernels().announce

    def work(which: slice, cells: slice, scratch: FloatArray) -> None:
        x = scratch[3]
        block = _block(groups, fidelity, digits, which, cells, scratch)
        x[:] = block[1]
        kernel(*block, ceiling[which], group_rates == "free", x, missed[which])
        chance[cells] = x
        if other is not None:
            np.subtract(1, x, out=other[cells])

    each_block(groups.offsets, work)
    _refuse(missed)


def _several_privacy(groups: Groups, fidelity: Fidelity, group_rates: GroupRates, digits: int | None) -> OptimalPrivacy:
    lower, upper = allowed_outcomes(groups, fidelity, digits)
    if parted(groups):
        of_sets, ranges = sets_as_regions(groups, lower, upper)
        return optimal_privacy(of_sets, fidelity=ranges, group_rates=group_rates)
    beta, named = optimal(groups, lower, upper, exact=group_rates == "exact")
    limits = np.column_stack([privacy_limit(groups), maximum_confidence(groups, groups.decision)])
    return OptimalPrivacy(beta, limits, None, None, None, partial(np.copy, named))


def _several_announced(
    groups: Groups, beta: ArrayLike, fidelity: Fidelity, group_rates: GroupRates, digits: int | None
) -> FloatArray:
    allowed = allowed_outcomes(groups, fidelity, digits)
    announced, missed = nearest(groups, *allowed, np.asarray(beta, dtype=np.float64), exact=group_rates == "exact")
    _refuse(missed)
    return announced[:, 1] if announced.shape[1] == 2 else announced


def _binding(groups: Groups, fidelity: Fidelity, digits: int | None, beta: FloatArray, *, exact: bool) -> IntArray:
    lower, upper = allowed_outcomes(groups, fidelity, digits)
    return binding(groups, lower[:, 1], upper[:, 1], beta, exact=exact)


def _refuse(missed: NDArray[np.bool_]) -> None:
    if missed.any():
        message = "The confidence asked for cannot be reached within the promised fidelity."
        hint, private = "Lower the fidelity or allow more confidence.", f"Groups that bind: {_list(missed)}."
        raise RefusedError(message, hint=hint, private=private)


def _promises(
    groups: Groups,
    fidelity: Fidelity,
    objective: Objective,
    ceiling: float,
    group_rates: GroupRates,
    digits: int | None,
) -> tuple[Fidelity, ...]:
    """List the promises worth trying, strictest first: with exact rates, none beyond what every group allows."""
    if objective == "privacy":
        return (fidelity,)
    steps = ladder(fidelity)
    if not isinstance(fidelity, Delta) or group_rates == "free" or not by_regions(groups):
        return steps
    reached = float(strictest_delta(groups, ceiling).min())
    # A range narrower than a grid step may be widened to the grid: what is promised then is not δ.
    narrow = 0.0 if digits is None else 10.0**-digits
    return tuple(
        step
        for step in steps
        if step is fidelity
        or (
            isinstance(step, Delta) and (step.level <= reached + _SLACK or 2 * (1 - step.level) < narrow * (1 + _SLACK))
        )
    )


def _block(
    groups: Groups, fidelity: Fidelity, digits: int | None, which: slice, cells: slice, scratch: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray, FloatArray]:
    """Give the population, decision and allowed range of a block, where its groups start, and room to work in."""
    if isinstance(fidelity, Ranges) and len(fidelity.lower) != len(groups.population):
        raise ValueError(f"there are {len(fidelity.lower)} ranges for {len(groups.population)} regions")
    d = np.ascontiguousarray(groups.rule[cells])
    d.flags.writeable = False  # as it is where nothing was copied: kernels are compiled for one kind of array
    lower, upper = scratch[0], scratch[1]
    ranges().allowed(fidelity.of(cells), d, digits, lower, upper)
    return groups.population[cells], d, lower, upper, _offsets(groups, which), scratch[2]


def _offsets(groups: Groups, which: slice) -> IntArray:
    """Give the positions of a block's groups among all regions."""
    return groups.offsets[which.start : which.stop + 1]


def _list(marked: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    return ", ".join(str(i) for i in np.flatnonzero(marked))
