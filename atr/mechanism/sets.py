"""Protected sets of regions, laid out for many groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.groups import FloatArray, IntArray

Nested = Sequence[Sequence[Sequence[int]]]
Factors = Sequence[Sequence[float]]


class Sets(NamedTuple):
    """Protected sets of all groups, one after the other.

    ``members`` (k,) regions of all sets; ``starts`` (s,) where each set starts; ``group`` (s,) its group; ``factor``
    (s,) what the ceiling is multiplied by for it.
    """

    members: IntArray
    starts: IntArray
    group: IntArray
    factor: FloatArray

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up (n, …) values of regions within each set: (s, …)."""
        return np.add.reduceat(values[self.members], self.starts, axis=0)


def sets_of(offsets: ArrayLike, protected_sets: Nested | None, factors: Factors | None = None) -> Sets:
    """Lay out protected sets; None: every region on its own.

    Raises
    ------
    ValueError
        If there are not as many lists as groups, a set is empty or leaves its group, or factors do not fit the sets.
    """
    o = np.asarray(offsets, dtype=np.int64)
    sizes = np.diff(o)
    groups = np.arange(len(sizes))
    if protected_sets is None:
        if factors is not None:
            raise ValueError("factors need protected sets, the sets they are for")
        regions = np.arange(o[-1])
        return Sets(regions, regions, np.repeat(groups, sizes), np.ones(len(regions)))
    if len(protected_sets) != len(sizes):
        raise ValueError(f"there are protected sets of {len(protected_sets)} groups for {len(sizes)} groups")
    lengths = np.array([len(rows) for sets in protected_sets for rows in sets], dtype=np.int64)
    if not len(lengths) or (lengths == 0).any():
        raise ValueError("a protected set needs at least one region")
    group = np.repeat(groups, [len(sets) for sets in protected_sets])
    rows = np.array([row for sets in protected_sets for rows in sets for row in rows], dtype=np.int64)
    within = np.repeat(group, lengths)
    if (rows < 0).any() or (rows >= sizes[within]).any():
        raise ValueError("a protected set names a region its group does not have")
    factor = np.ones(len(group)) if factors is None else np.array([c for of_group in factors for c in of_group])
    if (factors is not None and list(map(len, factors)) != list(map(len, protected_sets))) or not (factor > 0).all():
        raise ValueError("every protected set needs one positive factor")
    return Sets(rows + o[within], np.cumsum(lengths) - lengths, group, factor)
