"""Released values, drawn from a channel."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from atr.core.arrays import IntArray
from atr.sanitise.joints import channel_rows, positions


def draw(channel: ArrayLike | pd.DataFrame, values: ArrayLike, *, seed: int) -> IntArray:
    """Draw a released value for each record.

    Two draws for the same records average the alteration away: a release is drawn once.

    Parameters
    ----------
    channel
        (k, y) chances; every row adds up to 1. The array of :func:`best` is to be laid out by its rows, as its frame
        is: ``channel.reshape(-1, y)``; that of the positions s and x is s times the number of values + x.
    values
        (n,) for each record the row of the channel it is drawn from.
    seed
        Of the generator of random numbers. Whoever knows it and the column knows the draws.

    Returns
    -------
    (n,) positions of released values.

    Raises
    ------
    ValueError
        If the channel is none, or a value no row of it.

    Examples
    --------
    >>> draw(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1, 1], seed=1)
    array([1, 0, 0])
    """
    C = channel_rows(channel)
    row, released = positions(values, "values", len(C)), C.shape[1]
    ends = np.cumsum(C, axis=1)
    ends = ends / ends[:, -1:] + np.arange(len(C))[:, None]
    at = np.random.default_rng(seed).random(len(row))
    np.minimum(at, 1 - np.spacing(float(len(C))), out=at)  # no sum may round up to the next row
    at += row
    return np.asarray(np.searchsorted(ends.ravel(), at, side="right") - row * released)
