"""The sets of regions of which a reader must not become too sure: values of sensitive attributes, named sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atr.core.arrays import BoolArray, FloatArray, IntArray, offsets_of, segment_of

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
        if factors is not None and list(map(len, factors)) != in_group.tolist():
            raise ValueError("factors needs one number for each protected set of each group")
        times = np.array([1.0] * len(sets) if factors is None else [*chain(*factors)], dtype=np.float64)
        if not (np.isfinite(times) & (times > 0)).all():
            raise ValueError("factors must be positive and finite")
        return cls(members[order], offsets_of(in_set), offsets_of(in_group), times)

    @classmethod
    def regions(cls, region_offsets: IntArray) -> ProtectedSets:
        """Make every region a protected set on its own, of groups at (g + 1,) offsets."""
        n = int(region_offsets[-1])
        return cls(np.arange(n), np.arange(n + 1), np.asarray(region_offsets, dtype=np.int64), np.ones(n))

    def of_group(self, group: int, place: IntArray) -> ProtectedSets:
        """Give the sets of one group, each region renumbered to its (n,) place."""
        first, last = self.group_offsets[group], self.group_offsets[group + 1]
        offsets = self.offsets[first : last + 1]
        return ProtectedSets(
            members=place[self.members[offsets[0] : offsets[-1]]],
            offsets=offsets - offsets[0],
            group_offsets=np.array([0, last - first]),
            factors=self.factors[first:last],
        )

    def __len__(self) -> int:
        """Give the number of sets."""
        return len(self.offsets) - 1

    @property
    def set_of_member(self) -> IntArray:
        """(k,) the set each member belongs to."""
        return segment_of(self.offsets)

    @property
    def group_of_set(self) -> IntArray:
        """(v,) the group each set belongs to."""
        return segment_of(self.group_offsets)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up (n, …) values of regions within each set: (v, …)."""
        return np.add.reduceat(values[self.members], self.offsets[:-1], axis=0)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Take the largest of (v, …) values of sets within each group: (g, …)."""
        return np.maximum.reduceat(values, self.group_offsets[:-1], axis=0)

    def most(self, people: NDArray[Any], chosen: BoolArray | None = None) -> tuple[NDArray[Any], int]:
        """Give the most people of any set of each group, divided by the set's factor, exactly.

        Parameters
        ----------
        people
            (n, …) people of each region, whole numbers.
        chosen
            (v,) look at these sets only, a group without any having 0; None: at all of them.

        Returns
        -------
        Numerators (g, …), and the one denominator of them all.
        """
        of_sets = self.sums(people)
        if chosen is not None:
            of_sets = np.where(chosen.reshape(-1, *[1] * (of_sets.ndim - 1)), of_sets, 0)
        if (self.factors == 1).all():
            return self.largest(of_sets), 1
        factors = [Fraction(str(factor)) for factor in self.factors.tolist()]
        whole = math.lcm(*{f.numerator for f in factors})
        times = np.array([whole // f.numerator * f.denominator for f in factors], dtype=object)
        return self.largest(of_sets.astype(object) * times.reshape(-1, *[1] * (of_sets.ndim - 1))), whole

    def plain(self) -> ProtectedSets:
        """Give the same sets, all under one ceiling."""
        return replace(self, factors=np.ones(len(self)))

    def split_every_group(self, n: int) -> bool:
        """Tell whether each of n regions lies in exactly one set, all of them under the same ceiling."""
        once = len(self.members) == n and (np.bincount(self.members, minlength=n) == 1).all()
        return bool(once and (self.factors == 1).all())


Named = tuple[str, str, tuple[str, ...]]
"""A named protected set: the sensitive attribute, the name of the set, and the display values it holds."""


class Label(NamedTuple):
    """What a protected set is of: an attribute, and its value or the name of the set."""

    attribute: str
    name: str
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class OwnCeiling:
    """A ceiling stricter than the policy's, of each value of a sensitive attribute or of one of its named sets.

    Parameters
    ----------
    attribute
        The sensitive attribute.
    set
        The name of the set; None: each value of the attribute.
    max_confidence
        The ceiling, as the programme states it.
    factor
        Number that the policy's ceiling is multiplied by, below 1: six decimals, rounded down.
    """

    attribute: str
    set: str | None
    max_confidence: float
    factor: float

    def holds(self, label: Label) -> bool:
        """Tell whether a protected set is under this ceiling."""
        return label.attribute == self.attribute and (label.name if label.is_named else None) == self.set


@dataclass(frozen=True)
class Protection:
    """What is protected, wherever people are: the rule that makes protected sets of QID groups.

    Each value of each sensitive attribute is a protected set on its own, and so is each named set.

    Parameters
    ----------
    sensitive
        Names of the sensitive attributes.
    named
        The named sets; a group nobody of which is in a set does not have it.
    own_ceilings
        Ceilings that are stricter than the policy's; all other sets are under that one.

    Examples
    --------
    >>> both = Protection(("income",), (("income", "not low", ("middle", "high")),))
    >>> sets = both.sets([("low",), ("high",), ("low",)], [0, 2, 3])
    >>> sets.members, sets.group_of_set
    (array([0, 1, 1, 2]), array([0, 0, 0, 1]))
    >>> Protection(("income",)).sets([("low",), ("high",)], [0, 2]) is None
    True
    """

    sensitive: tuple[str, ...]
    named: tuple[Named, ...] = ()
    own_ceilings: tuple[OwnCeiling, ...] = ()

    @classmethod
    def of(
        cls,
        sensitive: Sequence[str],
        named: Iterable[Named],
        ceilings: Iterable[tuple[str, str | None, float]],
        *,
        max_confidence: float,
        digits: int,
    ) -> Protection:
        """Make the rule from what a policy declares.

        Parameters
        ----------
        sensitive, named
            As above.
        ceilings
            Sets with a ceiling of their own: the attribute, the set (None: each value), and the ceiling. One that
            equals the policy's in the printed digits is left out.
        max_confidence, digits
            The policy's ceiling, probability, and the printed digits.
        """
        own = (
            OwnCeiling(attribute, of_set, ceiling, _factor(ceiling, max_confidence, digits=digits))
            for attribute, of_set, ceiling in ceilings
        )
        return cls(tuple(sensitive), tuple(named), tuple(ceiling for ceiling in own if ceiling.factor != 1))

    def sets(self, region_values: Sequence[tuple[str, ...]], offsets: Sequence[int]) -> ProtectedSets | None:
        """Give the protected sets of QID groups.

        Parameters
        ----------
        region_values
            (n,) display values of the sensitive attributes of every region.
        offsets
            (g + 1,) where each group starts.

        Returns
        -------
        The sets, by the positions of their regions; None where every region on its own is one.
        """
        if len(self.sensitive) == 1 and not self.named and not self.own_ceilings:
            return None
        labelled = [self.labelled(group) for group in _groups(region_values, offsets)]
        factors = [[self.factor(label) for label in group] for group in labelled]
        return ProtectedSets.of([list(group.values()) for group in labelled], offsets, factors)

    def factor(self, label: Label) -> float:
        """Give the number that the policy's ceiling is multiplied by for a protected set: 1 without an own ceiling."""
        return next((own.factor for own in self.own_ceilings if own.holds(label)), 1.0)

    def under(self, own: OwnCeiling, region_values: Sequence[tuple[str, ...]], offsets: Sequence[int]) -> BoolArray:
        """Tell which protected sets are under a ceiling of their own: (v,) booleans, in the order of :meth:`sets`."""
        groups = _groups(region_values, offsets)
        return np.array([own.holds(label) for group in groups for label in self.labelled(group)], dtype=bool)

    def labelled(self, region_values: Sequence[tuple[str, ...]]) -> dict[Label, list[int]]:
        """Give the protected sets of one QID group by their labels.

        Parameters
        ----------
        region_values
            (m,) display values of the sensitive attributes of the group's regions.

        Returns
        -------
        For each set the positions of its regions within the group.
        """
        found: dict[Label, list[int]] = {}
        for place, name in enumerate(self.sensitive):
            for row, values in enumerate(region_values):
                found.setdefault(Label(name, values[place]), []).append(row)
            for attribute, title, members in self.named:
                rows = [row for row, values in enumerate(region_values) if values[place] in members]
                if attribute == name and rows:
                    found[Label(name, title, is_named=True)] = rows
        return found


def floored(confidence: float, *, digits: int) -> Decimal:
    """Round a ceiling down to the printed digits: stated confidences are rounded up and must not exceed it.

    >>> floored(0.7557, digits=3)
    Decimal('0.755')
    """
    return Decimal(int(Decimal(str(confidence)).scaleb(digits))).scaleb(-digits)


def _factor(ceiling: float, max_confidence: float, *, digits: int) -> float:
    """Give the number that makes a stricter ceiling of the policy's; rounded down, so that it is never laxer."""
    own, policy = (Fraction(floored(confidence, digits=digits)) for confidence in (ceiling, max_confidence))
    return int(own / policy * 10**6) / 10**6


def _groups(region_values: Sequence[tuple[str, ...]], offsets: Sequence[int]) -> Iterable[Sequence[tuple[str, ...]]]:
    return (region_values[first:end] for first, end in pairwise(offsets))
