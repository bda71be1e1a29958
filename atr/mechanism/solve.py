"""The optimal mechanism: how private a group can be, and what it announces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.confidence import maximum_confidence, privacy_limit
from atr.errors import RefusedError
from atr.fidelity import Fidelity, ladder
from atr.groups import FloatArray, Groups, IntArray
from atr.mechanism.announcement import cheapest_total, emptied, least_distorted
from atr.mechanism.binding import binding
from atr.mechanism.closed_form import exact_rates, feasible_totals, free_rates
from atr.mechanism.rows import put, rows, take
from atr.mechanism.sets import allowed_outcomes, by_regions, parted, sets_as_regions
from atr.mechanism.several import nearest, optimal

GroupRates = Literal["exact", "free"]
Objective = Literal["privacy", "fidelity"]

# Relative: two ways to compute the same confidence differ by less.
CONFIDENCE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False, slots=True)
class OptimalPrivacy:
    """How private each group can be at a given fidelity. Private: it depends on the true decisions.

    Attributes
    ----------
    beta
        (g,) optimal privacy β*: the smallest maximum confidence of any allowed announcement.
    limits
        (g, 2) [β_min, C*]: confidence before any report, and after announcing the true decisions.
    beta_0, beta_1, beta_p
        (g,) the other lower bounds of binary groups with free group rates; None otherwise.
    binds
        Computes :attr:`binding`.
    """

    beta: FloatArray
    limits: FloatArray
    beta_0: FloatArray | None
    beta_1: FloatArray | None
    beta_p: FloatArray | None
    binds: Callable[[], IntArray]

    @property
    def binding(self) -> IntArray:
        """(g, 2) a protected set, by its position in its group, and an outcome with confidence β*."""
        return self.binds()

    @property
    def beta_min(self) -> FloatArray:
        """(g,) confidence before any report."""
        return self.limits[:, 0]

    @property
    def overall(self) -> float:
        """The largest β* of any group: what the whole report can promise."""
        return float(self.beta.max())


@dataclass(frozen=True, eq=False, slots=True)
class Solution(OptimalPrivacy):
    """Optimal privacy and the announcement. Private, but for what is announced.

    Attributes
    ----------
    announced
        (n, outcomes) probability: the announced mapping, before rounding.
    fidelity
        The promise the announcement keeps.
    target
        The confidence it was held to.
    """

    announced: FloatArray
    fidelity: Fidelity
    target: float


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
    >>> from atr.fidelity import Delta
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> optimal_privacy(card, fidelity=Delta(0.9), group_rates="free").beta.round(4)
    array([0.675 , 0.6378])
    >>> optimal_privacy(card, fidelity=Delta(0.9), group_rates="exact").beta.round(4)
    array([0.9  , 0.648])
    """
    if not by_regions(groups):
        return _several_privacy(groups, fidelity, group_rates, digits)
    lower, upper = _allowed(groups, fidelity, digits)
    free = group_rates == "free"
    beta_0, beta_1, beta_p, beta_min, beta, posterior = (np.zeros(len(groups)) for _ in range(6))
    for chosen, cells in rows(groups, lower, upper):
        p, d = take(cells, groups.population), take(cells, groups.decision[:, 1])
        lo, hi = take(cells, lower), take(cells, upper)
        bounds = free_rates(p, lo, hi)
        posterior[chosen] = _confidence(p, d)
        beta_0[chosen], beta_1[chosen], beta_p[chosen], beta_min[chosen] = bounds
        beta[chosen] = np.max(bounds, axis=0) if free else exact_rates(p, d, lo, hi)
    # The true decisions are always allowed: rounding errors aside, β* is at most C*.
    beta = np.minimum(beta, posterior)
    return OptimalPrivacy(
        beta=beta,
        limits=np.column_stack([beta_min, posterior]),
        beta_0=beta_0 if free else None,
        beta_1=beta_1 if free else None,
        beta_p=beta_p if free else None,
        binds=partial(binding, groups, lower, upper, beta, exact=not free),
    )


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
    >>> from atr.fidelity import Delta
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> announce(card, beta=0.675, fidelity=Delta(0.9), group_rates="free").round(4)
    array([0.1   , 0.02  , 0.9   , 0.    , 0.4242, 0.9242])
    """
    if not by_regions(groups):
        return _several_announced(groups, beta, fidelity, group_rates, digits)
    lower, upper = _allowed(groups, fidelity, digits)
    ceiling = np.broadcast_to(np.asarray(beta, dtype=np.float64), len(groups))
    announced = groups.decision[:, 1].copy()
    missed = np.zeros(len(groups), dtype=bool)
    for chosen, cells in rows(groups, lower, upper):
        p, d = take(cells, groups.population), take(cells, groups.decision[:, 1])
        perturbed = _confidence(p, d) > ceiling[chosen] * (1 + CONFIDENCE_TOLERANCE)
        chosen, cells, p, d = chosen[perturbed], cells[perturbed], p[perturbed], d[perturbed]
        if not len(chosen):
            continue
        lo, hi, b = take(cells, lower), take(cells, upper), ceiling[chosen]
        s, t = (p * d).sum(axis=1), (p * (1 - d)).sum(axis=1)
        if group_rates == "free":
            s_lo, s_hi = feasible_totals(p, lo, hi, b)
            S = p.sum(axis=1)
            s = emptied(cheapest_total(p, d, s_lo=s_lo, s_hi=s_hi, beta=b), lo, np.where(p > 0, hi, 1), S)
            t = S - s
        x = least_distorted(p, d, lo, hi, s=s, t=t, beta=b)
        off = np.abs((p * x).sum(axis=1) - s) > 1e-6 * (s + t)
        missed[chosen] = off | (_confidence(p, x) > b + 1e-6)
        put(cells, x, announced)
    _refuse(missed)
    return announced


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
    >>> from atr.fidelity import Delta
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> solution = solve(card, fidelity=Delta(0.9), group_rates="free")
    >>> round(solution.overall, 4), solution.announced[:3, 1].round(4)
    (0.675, array([0.1 , 0.02, 0.9 ]))
    """
    if objective == "fidelity" and max_confidence is None:
        raise ValueError("objective 'fidelity' needs max_confidence, the ceiling to keep to")
    ceiling = np.inf if max_confidence is None else max_confidence
    for promise in ladder(fidelity) if objective == "fidelity" else (fidelity,):
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
    x = announce(groups, beta=target, fidelity=promise, group_rates=group_rates, digits=digits)
    return Solution(
        beta=privacy.beta,
        limits=privacy.limits,
        beta_0=privacy.beta_0,
        beta_1=privacy.beta_1,
        beta_p=privacy.beta_p,
        binds=privacy.binds,
        announced=np.column_stack([1 - x, x]) if x.ndim == 1 else x,
        fidelity=promise,
        target=target,
    )


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


def _refuse(missed: NDArray[np.bool_]) -> None:
    if missed.any():
        message = "The confidence asked for cannot be reached within the promised fidelity."
        hint, private = "Lower the fidelity or allow more confidence.", f"Groups that bind: {_list(missed)}."
        raise RefusedError(message, hint=hint, private=private)


def _allowed(groups: Groups, fidelity: Fidelity, digits: int | None) -> tuple[FloatArray, FloatArray]:
    d = groups.decision[:, 1]
    if digits is None:
        return fidelity.allowed(d)
    lo, hi = fidelity.allowed_on_grid(d, digits=digits)
    # Before rounding, announcing the truth is always allowed.
    return np.minimum(lo / 10**digits, d), np.maximum(hi / 10**digits, d)


def _confidence(p: FloatArray, x: FloatArray) -> FloatArray:
    """Give the maximum confidence (k,) of mappings laid out in rows."""
    highest = np.zeros(len(p))
    for people in (p * x, p * (1 - x)):
        total = people.sum(axis=1)
        share = np.divide(people.max(axis=1), total, out=np.zeros_like(total), where=total > 0)
        highest = np.maximum(highest, share)
    return highest


def _list(marked: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    return ", ".join(str(i) for i in np.flatnonzero(marked))
