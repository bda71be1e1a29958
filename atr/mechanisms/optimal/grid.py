"""What rounding an announcement has in common for two outcomes and for more."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.core.arrays import BoolArray, IntArray
from atr.errors import RefusedError

# Branch and bound stops after this many nodes, not after some time: the same input gives the same numbers.
NODES = 500


def whole_people(population: ArrayLike, n: int) -> IntArray:
    """Give (n,) populations as integers, or refuse those that are not whole.

    Examples
    --------
    >>> whole_people([3.0, 5.0], 2)
    array([3, 5])
    """
    values = np.asarray(population, dtype=np.float64)
    if values.shape != (n,) or (values != np.rint(values)).any() or (values < 1).any():
        raise ValueError(f"populations must be whole numbers of people, at least 1, one for each of {n} regions")
    return values.astype(np.int64)


def within(largest: NDArray[Any], total: NDArray[Any], over: int | IntArray, under: int | IntArray) -> BoolArray:
    """Tell which groups (g,) keep to a ceiling: largest / total ≤ over / under for every outcome, in integers.

    Examples
    --------
    >>> within(np.array([[2, 1], [3, 1]]), np.array([[3, 3], [4, 3]]), 2, 3)
    array([ True, False])
    """
    if float(total.max()) * max(float(np.max(under)), float(np.max(over))) >= 2.0**62:
        largest, total = largest.astype(object), total.astype(object)
    room: NDArray[Any] = total * np.reshape(over, (-1, 1)) - largest * np.reshape(under, (-1, 1))
    kept: BoolArray = np.logical_and.reduce(room >= 0, axis=1).astype(np.bool_)
    return kept


def refuse(groups: list[int]) -> None:
    """Refuse to go on where groups have no numbers that keep to the ceiling."""
    if groups:
        raise RefusedError(
            "Rounded, some group cannot be kept at or below the ceiling with the published populations.",
            hint="Lower the fidelity, raise max_confidence, or publish populations or chances less rounded.",
            private=f"Groups that bind: {', '.join(map(str, groups))}.",
        )
