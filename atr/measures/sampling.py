"""Sampling uncertainty: what sampling alone could make of two groups, where the decisions are seen as a sample.

It has nothing to do with how far announced chances were altered. Every interval and every test here is that of a
library, or the inversion of one of its tests; counts are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import fisher_exact, norm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    proportion_confint,
    score_test_proportions_2indep,
)

from atr.core.tolerances import INTERVAL_TOLERANCE

Share = tuple[int, int]
"""How many people had an outcome, and how many people there are."""
Interval = tuple[float, float]

EXPECTED = 5
"""A table of which some cell is expected to hold fewer people gets the exact test (Cochran, Biometrics 10, 1954)."""
FEW = 10**6
"""Above so many people the exact test would take too long."""

_KEPT = 4096
"""Results kept: building a report and verifying it asks the same again, and statsmodels collects garbage each time."""

METHODS = {
    "rates": "wilson",
    "differences": "newcombe",
    "ratios": "koopman",
    "test": "fisher_or_two_proportion_score",
    "adjustment": "holm",
}
"""What is used for what, as a report names it."""


@lru_cache(maxsize=_KEPT)
def rate_interval(share: Share, *, alpha: float) -> Interval:
    """Give the confidence interval of a rate.

    Parameters
    ----------
    share
        People with the outcome, and all people.
    alpha
        1 less the level of confidence.

    References
    ----------
    Wilson, J. Am. Stat. Assoc. 22 (1927).

    Examples
    --------
    >>> tuple(round(x, 3) for x in rate_interval((2, 2), alpha=0.05))
    (0.342, 1.0)
    """
    low, high = proportion_confint(*share, alpha=alpha, method="wilson")
    return max(0.0, float(low)), min(1.0, float(high))


@lru_cache(maxsize=_KEPT)
def difference_interval(a: Share, b: Share, *, alpha: float) -> Interval:
    """Give the confidence interval of the rate of ``a`` less that of ``b``.

    Parameters
    ----------
    a, b
        People with the outcome, and all people, of each group.
    alpha
        1 less the level of confidence.

    References
    ----------
    Newcombe, Statistics in Medicine 17 (1998), method 10.

    Examples
    --------
    >>> tuple(round(x, 4) for x in difference_interval((56, 70), (48, 80), alpha=0.05))
    (0.0524, 0.3339)
    """
    low, high = confint_proportions_2indep(*a, *b, compare="diff", method="newcomb", alpha=alpha)
    return max(-1.0, float(low)), min(1.0, float(high))


@lru_cache(maxsize=_KEPT)
def ratio_interval(a: Share, b: Share, *, alpha: float) -> Interval:
    """Give the confidence interval of the rate of ``a`` divided by that of ``b``.

    All ratios that the score test of statsmodels does not reject. Its own inversion of that test
    (``confint_proportions_2indep``) starts from an interval that does not exist where a count is 0 or both rates are 1,
    and then returns none or a wrong one.

    Parameters
    ----------
    a, b
        People with the outcome, and all people, of each group.
    alpha
        1 less the level of confidence.

    Returns
    -------
    Its ends; the lower is 0 where nobody in ``a`` had the outcome, the upper infinite where nobody in ``b`` had.

    References
    ----------
    Koopman, Biometrics 40 (1984).

    Examples
    --------
    >>> tuple(round(x, 2) for x in ratio_interval((36, 40), (16, 80), alpha=0.05))
    (2.94, 7.15)
    """
    z = float(norm.isf(alpha / 2))
    near = math.log((a[0] + 0.5) / (a[1] + 0.5)) - math.log((b[0] + 0.5) / (b[1] + 0.5))

    def statistic(log_ratio: float) -> float:
        found, _ = score_test_proportions_2indep(
            *a, *b, value=math.exp(log_ratio), compare="ratio", correction=False, return_results=False
        )
        return 0.0 if math.isnan(found) else float(found)  # 0/0, at the ratio itself where both rates are 1

    with np.errstate(all="ignore"):
        low = 0.0 if a[0] == 0 else math.exp(_crossing(lambda x: statistic(x) - z, near))
        high = math.inf if b[0] == 0 else math.exp(_crossing(lambda x: statistic(x) + z, near))
    return low, high


def _crossing(falling: Callable[[float], float], near: float) -> float:
    """Where a falling function is 0, by steps away from a place nearby that get longer."""
    sign = 1 if falling(near) > 0 else -1
    inside, step = near, 0.125
    while falling(outside := inside + sign * step) * sign > 0:
        inside, step = outside, 2 * step
    return float(brentq(falling, min(inside, outside), max(inside, outside), xtol=INTERVAL_TOLERANCE))


@lru_cache(maxsize=_KEPT)
def p_value(a: Share, b: Share) -> float:
    """Give the two-sided p value of the hypothesis that two rates are equal, by the test of :data:`METHODS`.

    Parameters
    ----------
    a, b
        People with the outcome, and all people, of each group.

    Returns
    -------
    Probability; 1 where both rates are 0 or both are 1.
    """
    (x, n), (y, m) = a, b
    events, people = x + y, n + m
    if events in (0, people):
        return 1.0
    least = min(n, m) * min(events, people - events) / people
    if least < EXPECTED and people <= FEW:
        return float(fisher_exact(np.array([[x, n - x], [y, m - y]]))[1])
    _, found = score_test_proportions_2indep(x, n, y, m, compare="diff", correction=False, return_results=False)
    return float(found)


@lru_cache(maxsize=_KEPT)
def adjusted(p_values: tuple[float, ...]) -> tuple[float, ...]:
    """Adjust the p values of all tests of a report for their number, in their order.

    References
    ----------
    Holm, Scand. J. Stat. 6 (1979).

    Examples
    --------
    >>> [round(p, 3) for p in adjusted((0.01, 0.04, 0.03))]
    [0.03, 0.06, 0.06]
    """
    if not p_values:
        return ()
    _, corrected, *_ = multipletests(np.asarray(p_values, dtype=np.float64), method="holm")
    return tuple(float(p) for p in corrected)
