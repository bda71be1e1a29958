"""Protected sets of regions, laid out for many groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.groups import IntArray


class Sets(NamedTuple):
    """Protected sets of all groups, one after the other.

    ``members`` (k,) regions of all sets; ``starts`` (s,) where each set starts; ``group`` (s,) its group.
    """

    members: IntArray
    starts: IntArray
    group: IntArray

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up (n, …) values of regions within each set: (s, …)."""
        return np.add.reduceat(values[self.members], self.starts, axis=0)


def sets_of(offsets: ArrayLike, protected_sets: Sequence[Sequence[Sequence[int]]] | None) -> Sets:
    """Lay out protected sets; None: every region on its own.

    Raises
    ------
    ValueError
        If there are not as many lists as groups, or a set is empty or leaves its group.
    """
    o = np.asarray(offsets, dtype=np.int64)
    sizes = np.diff(o)
    groups = np.arange(len(sizes))
    if protected_sets is None:
        regions = np.arange(o[-1])
        return Sets(regions, regions, np.repeat(groups, sizes))
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
    return Sets(rows + o[within], np.cumsum(lengths) - lengths, group)
