"""How sure a reader may be that somebody is in a protected set of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.tolerances import AT_THE_CEILING

Total = int | IntArray | FloatArray
"""People of a group with an outcome, one number or an array; as many as are expected where nobody knows."""


@dataclass(frozen=True)
class Ceilings:
    """Protected sets of one group, and the ceiling of each.

    Attributes
    ----------
    people
        (m,) of each region.
    sets
        (v,) protected sets, each of positions of regions.
    each
        (v,) what a reader's confidence may be.
    """

    people: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    each: tuple[float, ...]

    @classmethod
    def of(
        cls, people: ArrayLike, ceilings: float | Sequence[float], sets: Sequence[Sequence[int]] | None = None
    ) -> Ceilings:
        """Lay out sets, or without any every region on its own, and one ceiling for all, or one for each.

        Raises
        ------
        ValueError
            If sets, ceilings and regions do not fit each other.
        """
        whole = tuple(np.asarray(people, dtype=np.int64).tolist())
        protected = tuple((s,) for s in range(len(whole))) if sets is None else tuple(map(tuple, sets))
        if not all(v and min(v) >= 0 and max(v) < len(whole) for v in protected):
            raise ValueError("a protected set must hold positions of regions of its group, at least one")
        given = np.asarray(ceilings, dtype=np.float64)
        if given.ndim and given.shape != (len(protected),):
            raise ValueError(f"there must be one ceiling, or one for each of the {len(protected)} protected sets")
        return cls(whole, protected, tuple(np.broadcast_to(given, len(protected)).tolist()))

    @cached_property
    def population(self) -> IntArray:
        """(m,) people."""
        return np.array(self.people, dtype=np.int64)

    @cached_property
    def members(self) -> FloatArray:
        """(m, v) 1 where a region is in a set, else 0."""
        members = np.zeros((len(self.people), len(self.sets)))
        for column, v in enumerate(self.sets):
            members[list(v), column] = 1.0
        return members

    def confidences(self, expected: FloatArray, total: Total) -> FloatArray:
        """Give how sure a reader is of each set, (…, v), who expects (…, m) people to have an outcome.

        He knows how many of the group have it, ``total``, one or (…,); the larger of those who have it and of others.
        """
        having = np.asarray(total)
        lacking = self.population.sum() - having
        of_having, of_lacking = (
            np.tensordot(self.members, of, (0, -1)) for of in (expected, self.population - expected)
        )
        of_having /= np.where(having > 0, having, np.inf)
        of_lacking /= np.where(lacking > 0, lacking, np.inf)
        np.maximum(of_having, of_lacking, out=of_having)
        return np.moveaxis(np.minimum(of_having, 1.0, out=of_having), 0, -1)

    def exceeded(self, expected: FloatArray, total: Total) -> BoolArray:
        """Tell whether such a reader is above the ceiling of any set, (…,); what could not be computed is above."""
        below = self.confidences(expected, total) <= np.array(self.each) + AT_THE_CEILING
        return ~np.asarray(below.all(axis=-1))
