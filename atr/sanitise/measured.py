"""What a joint tells of what is hidden, and what a channel costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from atr.core.arrays import FloatArray
from atr.core.groups import Groups
from atr.core.leakage import local_differential_privacy, log_lift
from atr.sanitise.distances import Distance, costs
from atr.sanitise.joints import channel_rows, parts


class Leakage(NamedTuple):
    """What a column tells of what is hidden, in nats."""

    ldp: float
    """max ln P(x|s) / P(x|s') over x, s and s'; infinite where some s cannot have an x that others have."""
    log_lift: float
    """max |ln P(x|s) / P(x)| over x and s."""
    mutual_information: float
    """I(S; X)."""


def leakage(joint: ArrayLike | pd.DataFrame) -> Leakage:
    """Measure what a column tells of what is hidden, with the yardsticks of :mod:`atr.core.leakage`.

    Values that nobody has, of either, count nowhere.

    Parameters
    ----------
    joint
        (s, x) probabilities of what is hidden and the column, before it is released or after.

    Returns
    -------
    Local differential privacy, log-lift and mutual information, in nats.

    Raises
    ------
    ValueError
        If the joint is no table of probabilities that add up to 1.

    References
    ----------
    [DLF], the measures of privacy.

    Examples
    --------
    >>> [round(told, 4) for told in leakage([[0.06, 0.03, 0.15, 0.06], [0.35, 0.21, 0.07, 0.07]])]
    [1.6094, 0.8755, 0.1224]
    """
    hidden, column, given = parts(joint)
    some = hidden > 0
    # One more outcome, that nobody gets: a column of one value is a mapping too.
    groups = Groups(hidden[some], np.pad(given[some], ((0, 0), (0, 1))), [0, some.sum()])
    told = rel_entr(hidden[:, None] * given, hidden[:, None] * column).sum()
    return Leakage(local_differential_privacy(groups).item(), log_lift(groups).item(), max(float(told), 0.0))


def loss(joint: ArrayLike | pd.DataFrame, channel: ArrayLike | pd.DataFrame, distance: Distance = "hamming") -> float:
    """Give the expected distance E d(X, Y) of what is released from the column; by default the share that is changed.

    The latter, D_TV = 1 - Σ P(X = x, Y = x), is the paper's formula; its definition by sums lacks a factor ½.

    Parameters
    ----------
    joint
        (s, x) probabilities of what is hidden and the column.
    channel
        P(y|x), (x, y), or P(y|s, x), (s, x, y): a result of :func:`markov` or :func:`best`.
    distance
        ``hamming``, ``ordinal`` (steps), ``squared`` (steps), or (x, x) distances.

    Returns
    -------
    The expectation, in the unit of the distance.

    Raises
    ------
    ValueError
        If an argument is none of those.

    References
    ----------
    [DLF], the measures of utility.

    Examples
    --------
    >>> round(loss([[0.5, 0.0], [0.0, 0.5]], [[0.75, 0.25], [0.25, 0.75]]), 4)
    0.25
    """
    together = _column_and_released(joint, channel)
    return float((together * costs(distance, len(together))).sum())


def information(joint: ArrayLike | pd.DataFrame, channel: ArrayLike | pd.DataFrame) -> float:
    """Give I(X; Y), what a released value tells of the one it stands for.

    Parameters
    ----------
    joint
        (s, x) probabilities of what is hidden and the column.
    channel
        P(y|x), (x, y), or P(y|s, x), (s, x, y).

    Returns
    -------
    Nats, of all people together. Best channels of equal loss differ in it.

    Raises
    ------
    ValueError
        If an argument is none of those.

    References
    ----------
    [DLF], the measures of utility.

    Examples
    --------
    >>> round(information([[0.5, 0.0], [0.0, 0.5]], [[1, 0], [0, 1]]), 4)
    0.6931
    """
    together = _column_and_released(joint, channel)
    apart = np.outer(together.sum(axis=1), together.sum(axis=0))
    return max(float(rel_entr(together, apart).sum()), 0.0)


def _column_and_released(joint: ArrayLike, channel: ArrayLike) -> FloatArray:
    """Give P(x, y), (x, y), of all people together."""
    hidden, column, given = parts(joint)
    s, x = given.shape
    C = channel_rows(channel, [(x, x), (s, x, x)]).reshape(-1, x, x)
    weights = hidden[:, None] * given if len(C) == s else column[None]
    return np.asarray(np.einsum("sx,sxy->xy", weights, C))
