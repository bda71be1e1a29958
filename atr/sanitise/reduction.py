"""The linear reduction: P(y|s) = (1 - α) P(x|s) + α P(x), so that totals stay and every difference shrinks."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from atr.core.arrays import FloatArray
from atr.sanitise.joints import Table, checked_alpha, is_number, labelled, parts, probabilities
from atr.sanitise.measured import leakage

_FINEST = 2.0**-60
"""A smaller α changes no chance in its last digit, but one of 0, of which the closed form knows."""


def linear_reduction(joint: Table, *, alpha: float) -> Table:
    """Give the joint of what is hidden and what is released.

    P(Y) = P(X), and |P(Y|s) - P(Y)| is 1 - α times what it was.

    Parameters
    ----------
    joint
        (s, x) probabilities of what is hidden and the column.
    alpha
        From 0, nothing is altered, to 1, nothing is told.

    Returns
    -------
    (s, y) probabilities.

    Raises
    ------
    ValueError
        If the joint is no table of probabilities that add up to 1, or alpha not between 0 and 1.

    References
    ----------
    [DLF], the linear reduction.

    Examples
    --------
    >>> linear_reduction(np.array([[0.5, 0.0], [0.0, 0.5]]), alpha=0.5)
    array([[0.375, 0.125],
           [0.125, 0.375]])
    """
    J, alpha = probabilities(joint, "joint", 2), checked_alpha(alpha)
    apart = np.outer(J.sum(axis=1), J.sum(axis=0)) / J.sum()
    return labelled(joint, (1 - alpha) * J + alpha * apart)


def choose_alpha(
    joint: ArrayLike | pd.DataFrame, *, max_ldp: float | None = None, max_log_lift: float | None = None
) -> float:
    """Give the smallest α whose linear reduction keeps a bound, or both.

    Every bound is on a ratio of chances that are linear in α, so α has a closed form; the measure itself has the last
    word over rounding errors. The paper's (1 - α) LDP(X) is an approximation, and promises what is not kept.

    Parameters
    ----------
    joint
        (s, x) probabilities of what is hidden and the column.
    max_ldp
        The largest local differential privacy of what is released, in nats.
    max_log_lift
        The largest log-lift of what is released, in nats.

    Returns
    -------
    α from 0 (the column keeps the bounds as it is) to 1.

    Raises
    ------
    ValueError
        If the joint is no table of probabilities that add up to 1, no bound is given, or one is below 0.

    References
    ----------
    [DLF], the choice of α, with the exact measures.

    Examples
    --------
    >>> round(choose_alpha([[0.06, 0.03, 0.15, 0.06], [0.35, 0.21, 0.07, 0.07]], max_ldp=0.8109), 4)
    0.5
    """
    if max_ldp is None and max_log_lift is None:
        raise ValueError("max_ldp or max_log_lift must be given")
    ldp, lift = (_bound(*of) for of in (("max_ldp", max_ldp), ("max_log_lift", max_log_lift)))
    J = probabilities(joint, "joint", 2)

    def kept(alpha: float) -> bool:
        told = leakage(linear_reduction(J, alpha=alpha))
        return told.ldp <= ldp and told.log_lift <= lift

    if kept(0.0):
        return 0.0
    hidden, column, given = parts(joint)
    most, least = given[hidden > 0].max(axis=0), given[hidden > 0].min(axis=0)
    pairs = ((most, least, ldp), (most, column, lift), (column, least, lift))
    alpha = max(_needed(above, below, column, bound) for above, below, bound in pairs)
    step = np.spacing(alpha) if alpha > 0 else _FINEST
    while alpha < 1 and not kept(alpha):
        alpha, step = min(alpha + step, 1.0), 2 * step
    return float(alpha)


def _bound(name: str, bound: float | None) -> float:
    if bound is None:
        return math.inf
    if not (is_number(bound) and bound >= 0):
        raise ValueError(f"{name} must be a number of nats from 0 up, not {bound!r}")
    return float(bound)


def _needed(above: FloatArray, below: FloatArray, column: FloatArray, bound: float) -> float:
    """Give the least α with ln ((1 - α) above + α column) / ((1 - α) below + α column) within a bound for all x."""
    short = np.exp(-bound) * above - below
    gained = -np.expm1(-bound) * column
    over = short > 0
    return float((short[over] / (short + gained)[over]).max(initial=0))
