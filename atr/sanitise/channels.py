"""The channels from a column to what is released, that give its linear reduction."""

from __future__ import annotations

import numpy as np
import pandas as pd

from atr.core.arrays import FloatArray
from atr.sanitise.couplings import monotone, transport
from atr.sanitise.distances import Distance, costs, is_convex
from atr.sanitise.joints import Table, checked_alpha, labelled, parts


def markov(joint: Table, alpha: float) -> Table:
    """Give the channel that does not look at what is hidden: a value is drawn anew from the column with chance α.

    Who knows a person's own value learns nothing more from what is released. Its loss is α (1 - Σ P(x)²).

    Parameters
    ----------
    joint
        (s, x) probabilities of what is hidden and the column.
    alpha
        From 0 to 1; see :func:`choose_alpha`.

    Returns
    -------
    (x, y) probabilities P(y|x).

    Raises
    ------
    ValueError
        If the joint is no table of probabilities that add up to 1, or alpha not between 0 and 1.

    References
    ----------
    [DLF], Markov randomization.

    Examples
    --------
    >>> markov(np.array([[0.5, 0.0], [0.0, 0.5]]), 0.5)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    _, column, _ = parts(joint)
    alpha = checked_alpha(alpha)
    channel = (1 - alpha) * np.eye(len(column)) + alpha * column
    return labelled(joint, channel, joint.columns if isinstance(joint, pd.DataFrame) else None)


def best(joint: Table, alpha: float, distance: Distance = "hamming") -> Table:
    """Give the channel that looks at what is hidden and changes the fewest values, those over the least distance.

    **Only where no reader knows X**, or anything that determines it: x changes only for those s that have it more
    often than all people, so who knows a person's x and sees it changed learns of S. With two hidden values every
    change names S. The bounds of :func:`choose_alpha` do not cover such readers; :func:`markov` holds for them.

    The share changed is α Σ P(s) TV(P(X|s), P(X)), the least there is, for every distance: the values that are changed
    have the least expected distance among channels that change so few. Where the distance breaks the triangle
    inequality, as squares do, channels that change more can have less, sometimes Markov's too.

    Parameters
    ----------
    joint
        (s, x) probabilities of what is hidden and the column.
    alpha
        From 0 to 1; see :func:`choose_alpha`.
    distance
        ``hamming`` (any change is alike: moves keep the order), ``ordinal`` (steps), ``squared`` (steps), or (x, x)
        distances. Those that are convex in the order of the values take no linear programme.

    Returns
    -------
    (s, x, y) probabilities P(y|s, x), as a frame with a row for each s and x. Where nobody has x and s, x stays.

    Raises
    ------
    ValueError
        If the joint is no table of probabilities that add up to 1, alpha not between 0 and 1, or the distance unknown.

    References
    ----------
    [DLF], non-Markov sanitization.

    Examples
    --------
    >>> best(np.array([[0.06, 0.03, 0.15, 0.06], [0.35, 0.21, 0.07, 0.07]]), 0.5)[0].round(3)
    array([[1.   , 0.   , 0.   , 0.   ],
           [0.   , 1.   , 0.   , 0.   ],
           [0.21 , 0.07 , 0.72 , 0.   ],
           [0.   , 0.175, 0.   , 0.825]])
    """
    _, column, given = parts(joint)
    alpha, cost = checked_alpha(alpha), costs(distance, len(column))
    over, short = np.maximum(given - column, 0), np.maximum(column - given, 0)
    moves = np.minimum(over.sum(axis=1), short.sum(axis=1)) > 0  # by rounding errors, only one of them may be there
    changed = alpha * np.divide(over, given, out=np.zeros_like(given), where=moves[:, None] & (given > 0))
    over, short = (each / np.where(moves, each.sum(axis=1), 1)[:, None] for each in (over, short))
    moved = monotone(over, short)
    if not (isinstance(distance, str) or is_convex(cost)):
        for s in np.flatnonzero(moves):
            moved[s] = _cheapest(over[s], short[s], cost)
    mass = moved.sum(axis=2, keepdims=True)
    to = np.divide(moved, mass, out=np.broadcast_to(short[:, None, :], moved.shape).copy(), where=mass > 0)
    channel = changed[:, :, None] * to
    values = np.arange(len(column))
    channel[:, values, values] += 1 - changed
    rows = pd.MultiIndex.from_product([joint.index, joint.columns]) if isinstance(joint, pd.DataFrame) else None
    return labelled(joint, channel, rows)


def _cheapest(over: FloatArray, short: FloatArray, cost: FloatArray) -> FloatArray:
    """Give the cheapest coupling of what is over, (x,), with what is short, (x,)."""
    moved, at = np.zeros_like(cost), np.ix_(over > 0, short > 0)
    moved[at] = transport(over[over > 0], short[short > 0], cost[at]).plan
    return moved
