"""Joints of what is hidden and a column: what they must be, and their parts."""

from __future__ import annotations

import math
from numbers import Real
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from atr.core.arrays import FloatArray, IntArray
from atr.core.tolerances import PROBABILITY_TOLERANCE

Table = TypeVar("Table", FloatArray, pd.DataFrame)
"""An array, or a frame that has the values as labels."""


def probabilities(values: ArrayLike, name: str, dimensions: int) -> FloatArray:
    """Give probabilities as an array of so many dimensions, in which all add up to 1.

    Raises
    ------
    ValueError
        If they are not that.
    """
    shape = {1: "one row of numbers", 2: "a table of numbers, a row for each hidden value"}[dimensions]
    P = numbers(values, name, shape)
    if P.ndim != dimensions or P.size == 0:
        raise ValueError(f"{name} must be {shape}, and not empty")
    if not (P.min() >= 0 and P.max() < np.inf):
        raise ValueError(f"{name} must hold probabilities, from 0 to 1")
    if abs(P.sum() - 1) > PROBABILITY_TOLERANCE:
        raise ValueError(f"{name} must add up to 1, not {P.sum():.12g}: divide counts by their sum")
    return P


def numbers(values: ArrayLike, name: str, shape: str) -> FloatArray:
    """Give an array of numbers.

    Raises
    ------
    ValueError
        If they are no numbers.
    """
    try:
        # One layout, so that a frame and its array have the same rounding errors.
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {shape}") from None


def positions(values: ArrayLike, name: str, limit: int | None = None) -> IntArray:
    """Give (n,) positions of values, from 0 to below a limit, if there is one.

    Raises
    ------
    ValueError
        If they are not that.
    """
    at = np.asarray(values)
    whole = at.ndim == 1 and (at.dtype.kind in "iu" or at.size == 0)
    if not whole or at.min(initial=0) < 0 or (limit is not None and at.max(initial=0) >= limit):
        raise ValueError(
            f"{name} must be whole numbers from 0 {'up' if limit is None else f'to {limit - 1}'}, in a row"
        )
    return np.asarray(at, dtype=np.int64)


def channel_rows(channel: ArrayLike, shapes: list[tuple[int, ...]] | None = None) -> FloatArray:
    """Give a channel, every row of which adds up to 1.

    Parameters
    ----------
    channel
        (…, y) chances.
    shapes
        Those it may have, or their rows side by side; None: (k, y).

    Raises
    ------
    ValueError
        If it is no channel, or has another shape.
    """
    named = "(k, y) chances" if shapes is None else ", or ".join(map(str, shapes))
    C = numbers(channel, "channel", named)
    fits = C.ndim == 2 if shapes is None else any(C.size == math.prod(s) and C.shape[-1:] == s[-1:] for s in shapes)
    if not fits or C.size == 0:
        raise ValueError(f"channel must be {named}")
    if not C.min() >= 0 or not np.abs(C.sum(axis=-1) - 1).max() <= PROBABILITY_TOLERANCE:
        raise ValueError("channel must hold probabilities that add up to 1 over the released values")
    return C


def checked_alpha(alpha: float) -> float:
    """Give α as a number.

    Raises
    ------
    ValueError
        If it does not lie between 0 and 1.
    """
    if not (is_number(alpha) and 0 <= alpha <= 1):
        raise ValueError(f"alpha must be a number from 0 to 1, not {alpha!r}")
    return float(alpha)


def is_number(value: object) -> bool:
    """Tell whether a value is one real number, of Python or NumPy."""
    return isinstance(value, Real) and not isinstance(value, bool)


def parts(joint: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give P(s), (s,), P(x), (x,), and P(x|s), (s, x), of a joint; P(x) stands for P(x|s) where nobody has s.

    Raises
    ------
    ValueError
        If the joint is no table of probabilities that add up to 1.
    """
    J = probabilities(joint, "joint", 2)
    J = J / J.sum()
    hidden, column = J.sum(axis=1), J.sum(axis=0)
    given = np.broadcast_to(column, J.shape).copy()
    np.divide(J, hidden[:, None], out=given, where=hidden[:, None] > 0)
    return hidden, column, given


def labelled(like: Table, values: FloatArray, index: pd.Index | None = None) -> Table:
    """Give values as a frame, with the columns of a frame ``like``, if that is one."""
    if isinstance(like, pd.DataFrame):
        flat = values.reshape(-1, values.shape[-1])
        return pd.DataFrame(flat, index=like.index if index is None else index, columns=like.columns)
    return values
