"""The kinds of arrays that everything works on, their segments, and the processor cores there are for them."""

from __future__ import annotations

import os
import re
from typing import NewType

import numpy as np
from numpy.typing import NDArray

from atr.core.tolerances import MISSED_STEPS
from atr.errors import EnvironmentFault

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Values = tuple[str, ...]
"""Display values of several attributes, in their order."""

TrueMapping = NewType("TrueMapping", FloatArray)
"""(n, outcomes) probability, the positive outcome first: the true decision mapping D. Private."""
AnnouncedMapping = NewType("AnnouncedMapping", FloatArray)
"""(n, outcomes) probability, the positive outcome first: the announced mapping D̃. Public."""
ExactPopulation = NewType("ExactPopulation", IntArray)
"""(n,) people as counted. Private."""
PublishedPopulation = NewType("PublishedPopulation", IntArray)
"""(n,) people as printed. Public."""
BestKnownPopulation = ExactPopulation | PublishedPopulation
"""(n,) people as exactly as whoever computes knows them: as counted where the log is at hand, else as printed."""


def offsets_of(sizes: IntArray) -> IntArray:
    """Give the (k + 1,) offsets of consecutive segments of (k,) sizes.

    >>> offsets_of(np.array([2, 3]))
    array([0, 2, 5])
    """
    return np.append(0, np.cumsum(sizes)).astype(np.int64)


def segment_of(offsets: IntArray) -> IntArray:
    """Give the segment that each element belongs to, of segments at (k + 1,) offsets.

    >>> segment_of(np.array([0, 2, 5]))
    array([0, 0, 1, 1, 1])
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def positions_in(offsets: IntArray, which: IntArray) -> IntArray:
    """Give the positions of all elements of some segments, one segment after the other.

    >>> positions_in(np.array([0, 2, 5]), np.array([1, 0]))
    array([2, 3, 4, 0, 1])
    """
    sizes = np.diff(offsets)[which]
    within: IntArray = np.arange(sizes.sum()) - np.repeat(offsets_of(sizes)[:-1], sizes)
    return within + np.repeat(offsets[:-1][which], sizes)


def usable_cores() -> int:
    """Give how many processor cores this process may use: ``ATR_THREADS`` of the environment, or what it is bound to.

    Raises
    ------
    EnvironmentFault
        If ``ATR_THREADS`` is no whole number above 0.
    """
    asked = os.environ.get("ATR_THREADS")
    if asked is not None:
        if re.fullmatch(r"[1-9]\d{0,3}", asked) is None:
            raise EnvironmentFault("is not a number of threads", where="ATR_THREADS", hint="Write it as in 2.")
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def tightened(lowest: IntArray, highest: IntArray, total: int | IntArray, axis: int = -1) -> tuple[IntArray, IntArray]:
    """Give bounds of numbers that add up to a total along an axis, as tight as those of the others make them.

    >>> tightened(np.array([0, 2]), np.array([9, 4]), 5)
    (array([1, 2]), array([3, 4]))
    """
    least, most = (of.sum(axis=axis, keepdims=True) for of in (lowest, highest))
    return np.maximum(lowest, total - (most - highest)), np.minimum(highest, total - (least - lowest))


def counts_within(lower: FloatArray, upper: FloatArray, people: IntArray) -> tuple[IntArray, IntArray]:
    """Give the fewest and the most of (n,) people that chances from ``lower`` to ``upper``, (n, outcomes), leave.

    >>> counts_within(np.array([[0.2, 0.0]]), np.array([[0.7, 0.5]]), np.array([10]))
    (array([[5, 3]]), array([[7, 5]]))
    """
    least, most = np.clip(lower, 0, 1) * people[..., None], np.clip(upper, 0, 1) * people[..., None]
    missed = MISSED_STEPS * np.maximum(people, 1)[..., None]  # limits are printed with six digits
    whole = np.ceil(least - missed).astype(np.int64), np.floor(most + missed).astype(np.int64)
    return tightened(*whole, people[..., None])
