"""The sets of regions of which a reader must not become too sure: values of sensitive attributes, named sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Nested = Sequence[Sequence[Sequence[int]]]


@dataclass(frozen=True, eq=False, slots=True)
class ProtectedSets:
    """Protected sets of all groups, flat: the sets of one group next to each other, the regions of one set too.

    Attributes
    ----------
    members
        (k,) positions of regions among all regions.
    offsets
        (v + 1,) positions: set ``j`` is ``members[offsets[j]:offsets[j + 1]]``.
    group_offsets
        (g + 1,) positions: group ``i`` has the sets ``group_offsets[i]`` to ``group_offsets[i + 1] - 1``.
    factors
        (v,) what the ceiling is multiplied by for each set.

    Examples
    --------
    >>> sets = ProtectedSets.of([[[0, 1], [2]], [[0], [1]]], [0, 3, 5])
    >>> sets.members, sets.group_of_set
    (array([0, 1, 2, 3, 4]), array([0, 0, 1, 1]))
    >>> sets.sums(np.array([1.0, 2, 3, 4, 5]))
    array([3., 3., 4., 5.])
    """

    members: IntArray
    offsets: IntArray
    group_offsets: IntArray
    factors: FloatArray

    @classmethod
    def of(
        cls, nested: Nested, region_offsets: Iterable[int], factors: Sequence[Sequence[float]] | None = None
    ) -> ProtectedSets:
        """Lay out the sets of every group.

        Parameters
        ----------
        nested
            For each group a list of sets, each a list of positions of regions within the group.
        region_offsets
            (g + 1,) positions of the groups among all regions.
        factors
            For each group one positive number for each set; None: 1 for all.

        Raises
        ------
        ValueError
            If groups, sets and regions do not fit each other.
        """
        starts = np.asarray(region_offsets, dtype=np.int64)
        if len(nested) != len(starts) - 1:
            raise ValueError(f"protected_sets needs one list for each of the {len(starts) - 1} groups")
        sets = list(chain.from_iterable(nested))
        in_group = np.array([len(group) for group in nested], dtype=np.int64)
        in_set = np.array([len(members) for members in sets], dtype=np.int64)
        if (in_group == 0).any():
            raise ValueError("every group needs at least one protected set")
        if (in_set == 0).any():
            raise ValueError("a protected set must hold at least one region")
        within = np.array(list(chain.from_iterable(sets)))
        if not np.issubdtype(within.dtype, np.integer):
            raise ValueError("protected sets must hold whole numbers, the positions of regions within the group")
        group = np.repeat(np.repeat(np.arange(len(nested)), in_group), in_set)
        if (within < 0).any() or (within >= np.diff(starts)[group]).any():
            raise ValueError("a protected set names a region its group does not have")
        members = within.astype(np.int64) + starts[group]
        of_set = np.repeat(np.arange(len(sets)), in_set)
        order = np.lexsort((members, of_set))
        twice = (np.diff(members[order]) == 0) & (np.diff(of_set[order]) == 0)
        if twice.any():
            raise ValueError("a protected set names a region twice")
        return cls(members[order], _offsets(in_set), _offsets(in_group), _factors(factors, nested))

    @classmethod
    def regions(cls, region_offsets: IntArray) -> ProtectedSets:
        """Every region of every group on its own."""
        n = int(region_offsets[-1])
        return cls(np.arange(n), np.arange(n + 1), np.asarray(region_offsets, dtype=np.int64), np.ones(n))

    def __len__(self) -> int:
        """Give the number of sets."""
        return len(self.offsets) - 1

    @property
    def set_of_member(self) -> IntArray:
        """(k,) the set each member belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def group_of_set(self) -> IntArray:
        """(v,) the group each set belongs to."""
        return np.repeat(np.arange(len(self.group_offsets) - 1), np.diff(self.group_offsets))

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up (n, …) values of regions within each set: (v, …)."""
        return np.add.reduceat(values[self.members], self.offsets[:-1], axis=0)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Take the largest of (v, …) values of sets within each group: (g, …)."""
        return np.maximum.reduceat(values, self.group_offsets[:-1], axis=0)

    def split_every_group(self, n: int) -> bool:
        """Tell whether each of n regions lies in exactly one set, all of them under the same ceiling."""
        once = len(self.members) == n and (np.bincount(self.members, minlength=n) == 1).all()
        return bool(once and (self.factors == 1).all())


Named = tuple[str, str, tuple[str, ...]]
"""A named protected set: the sensitive attribute, the name of the set, and the display values it holds."""
Label = tuple[str, str]
"""What a protected set is of: the attribute, and its value or the name of the set."""


def regions_alone(sensitive: Sequence[str], named: Sequence[Named]) -> bool:
    """Whether every region on its own is a protected set: of one sensitive attribute without named sets."""
    return len(sensitive) == 1 and not named


def sets_of(
    sensitive: Sequence[str], region_values: Sequence[tuple[str, ...]], offsets: Sequence[int], named: Sequence[Named]
) -> ProtectedSets | None:
    """The same as :func:`nested_sets`, laid out."""
    nested = nested_sets(sensitive, region_values, offsets, named)
    return None if nested is None else ProtectedSets.of(nested, offsets)


def nested_sets(
    sensitive: Sequence[str], region_values: Sequence[tuple[str, ...]], offsets: Sequence[int], named: Sequence[Named]
) -> list[list[list[int]]] | None:
    """The protected sets of QID groups: each value of each sensitive attribute on its own, and each named set.

    Parameters
    ----------
    sensitive
        Names of the sensitive attributes.
    region_values
        (n,) display values of the sensitive attributes of every region.
    offsets
        (g + 1,) where each group starts.
    named
        The named sets; a group nobody of which is in a set does not have it.

    Returns
    -------
    For each group its sets, each a list of positions of regions within the group; None where every region is one.
    """
    if regions_alone(sensitive, named):
        return None
    groups = (region_values[first:end] for first, end in pairwise(offsets))
    return [list(labelled_sets(sensitive, group, named).values()) for group in groups]


def labelled_sets(
    sensitive: Sequence[str], region_values: Sequence[tuple[str, ...]], named: Sequence[Named]
) -> dict[Label, list[int]]:
    """The protected sets of one QID group, by what they are of."""
    found: dict[Label, list[int]] = {}
    for place, name in enumerate(sensitive):
        for row, values in enumerate(region_values):
            found.setdefault((name, values[place]), []).append(row)
        for attribute, title, members in named:
            rows = [row for row, values in enumerate(region_values) if values[place] in members]
            if attribute == name and rows:
                found[name, title] = rows
    return found


def _offsets(counts: IntArray) -> IntArray:
    return np.append(0, np.cumsum(counts))


def _factors(factors: Sequence[Sequence[float]] | None, nested: Nested) -> FloatArray:
    number = sum(map(len, nested))
    if factors is None:
        return np.ones(number)
    if list(map(len, factors)) != list(map(len, nested)):
        raise ValueError("factors needs one number for each protected set of each group")
    values = np.array(list(chain.from_iterable(factors)), dtype=np.float64)
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError("factors must be positive and finite")
    return values
