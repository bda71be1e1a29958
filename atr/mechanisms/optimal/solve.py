"""The optimal mechanism: how private a group can be, and the least distorted announcement that is so private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from atr.core.arrays import BoolArray, FloatArray
from atr.core.confidence import maximum_confidence, privacy_limit
from atr.core.fidelity import Fidelity, Objective, promises
from atr.core.groups import Groups
from atr.core.tolerances import SAME_CONFIDENCE
from atr.errors import RefusedError
from atr.mechanisms.optimal.closed_form import (
    allowed_ranges,
    by_regions,
    by_sets,
    nearest_by_regions,
    privacy_bounds,
    sets_as_regions,
)
from atr.mechanisms.optimal.several import nearest, optimal

GroupRates = Literal["exact", "free"]


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
        (g,) the other lower bounds of groups of two outcomes with free group rates; None otherwise.
    """

    beta: FloatArray
    limits: FloatArray
    beta_0: FloatArray | None = None
    beta_1: FloatArray | None = None
    beta_p: FloatArray | None = None

    @property
    def beta_min(self) -> FloatArray:
        """(g,) confidence before any report."""
        return self.limits[:, 0]

    @property
    def overall(self) -> float:
        """The largest β* of any group: what the whole report can promise."""
        return float(self.beta.max())


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
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
    >>> from atr.core.fidelity import Delta
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> optimal_privacy(card, fidelity=Delta(0.9), group_rates="free").beta.round(4)
    array([0.675 , 0.6378])
    >>> optimal_privacy(card, fidelity=Delta(0.9), group_rates="exact").beta.round(4)
    array([0.9  , 0.648])
    """
    groups, free = groups.with_rates(group_rates), group_rates == "free"
    if groups.sets is not None and by_sets(groups):
        groups, fidelity = sets_as_regions(groups, groups.sets, *allowed_ranges(groups.decision, fidelity, digits))
        digits = None
    if not by_regions(groups):
        lower, upper = allowed_ranges(groups.decision, fidelity, digits)
        limits = np.column_stack([privacy_limit(groups), maximum_confidence(groups, groups.decision)])
        return OptimalPrivacy(optimal(groups, lower, upper, exact=not free)[0], limits)
    bounds = privacy_bounds(groups, fidelity, digits, free=free)
    return OptimalPrivacy(bounds[:, -1], bounds[:, :2], *(bounds[:, 2:5].T if free else ()))


def least_distorted(
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
    (n, outcomes) announced chances, before rounding.

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
    >>> least_distorted(card, beta=0.675, fidelity=Delta(0.9), group_rates="free")[:, 0].round(4)
    array([0.1   , 0.02  , 0.9   , 0.    , 0.4242, 0.9242])
    """
    groups, free = groups.with_rates(group_rates), group_rates == "free"
    ceiling = np.array(np.broadcast_to(np.asarray(beta, dtype=np.float64), len(groups)))
    if by_regions(groups):
        announced, missed = nearest_by_regions(groups, fidelity, digits, ceiling, free=free)
    else:
        lower, upper = allowed_ranges(groups.decision, fidelity, digits)
        announced, missed = nearest(groups, lower, upper, ceiling, exact=not free)
    if missed.any():
        raise RefusedError(
            "The confidence asked for cannot be reached within the promised fidelity.",
            hint="Lower the fidelity or allow more confidence.",
            private=f"Groups that bind: {_list(missed)}.",
        )
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
    >>> from atr.core.fidelity import Delta
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> solution = solve(card, fidelity=Delta(0.9), group_rates="free")
    >>> round(solution.overall, 4), solution.announced[:3, 0].round(4)
    (0.675, array([0.1 , 0.02, 0.9 ]))
    """
    if objective == "fidelity" and max_confidence is None:
        raise ValueError("objective 'fidelity' needs max_confidence, the ceiling to keep to")
    groups = groups.with_rates(group_rates)
    ceiling = np.inf if max_confidence is None else max_confidence
    for promise in promises(fidelity, objective):
        privacy = optimal_privacy(groups, fidelity=promise, group_rates=group_rates, digits=digits)
        above = privacy.beta > ceiling * (1 + SAME_CONFIDENCE)
        if not above.any():
            break
    else:
        raise RefusedError(
            "No announcement keeps every group at or below max_confidence within the promised fidelity.",
            hint="Lower the fidelity or raise max_confidence, in coarse steps.",
            private=f"Groups that bind: {_list(above)}. Best they reach: {privacy.overall:.4f}.",
        )
    target = privacy.overall if objective == "privacy" else ceiling
    announced = least_distorted(groups, beta=target, fidelity=promise, group_rates=group_rates, digits=digits)
    return Solution(
        beta=privacy.beta,
        limits=privacy.limits,
        beta_0=privacy.beta_0,
        beta_1=privacy.beta_1,
        beta_p=privacy.beta_p,
        announced=announced,
        fidelity=promise,
        target=target,
    )


def _list(marked: BoolArray) -> str:
    return ", ".join(str(i) for i in np.flatnonzero(marked))
