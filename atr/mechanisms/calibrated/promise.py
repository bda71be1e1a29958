"""The ceilings of a group: how sure a reader may be that somebody is in a protected set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.tolerances import AT_THE_CEILING

Sets = Sequence[Sequence[int]]
"""Protected sets, each a list of positions of regions."""


@dataclass(frozen=True, eq=False, slots=True)
class Promise:
    """Protected sets and ceilings of one group.

    Attributes
    ----------
    population
        (m,) people.
    members
        (m, sets) 1 where a region is in a set, else 0.
    ceilings
        (sets,) what a reader's confidence may be.
    """

    population: IntArray
    members: FloatArray
    ceilings: FloatArray

    @classmethod
    def of(cls, population: IntArray, ceilings: float | Sequence[float], sets: Sets | None) -> Promise:
        """Lay out sets, or without any every region on its own, and one ceiling for all, or one for each.

        Raises
        ------
        ValueError
            If sets, ceilings and regions do not fit each other.
        """
        m = len(population)
        members = np.eye(m)
        if sets is not None:
            if not all(v and min(v) >= 0 and max(v) < m for v in sets):
                raise ValueError("a protected set must hold positions of regions of its group, at least one")
            members = np.zeros((m, len(sets)))
            for column, v in enumerate(sets):
                members[list(v), column] = 1.0
        given = np.asarray(ceilings, dtype=np.float64)
        if given.ndim and given.shape != members.shape[1:]:
            raise ValueError(f"there must be one ceiling, or one for each of the {members.shape[1]} protected sets")
        return cls(population, members, np.broadcast_to(given, members.shape[1:]))

    def exceeded(self, expected: FloatArray, total: int | IntArray) -> BoolArray:
        """Tell whether (…, m) expected people with the positive outcome put a reader above the ceiling of any set.

        ``total`` is how many people have that outcome, one or (…,).
        """
        people = np.asarray(total)[..., None]
        allowed = self.ceilings + AT_THE_CEILING
        favourable = expected @ self.members > allowed * people
        unfavourable = (self.population - expected) @ self.members > allowed * (self.population.sum() - people)
        exceeded: BoolArray = ((favourable & (people > 0)) | (unfavourable & (people < self.population.sum()))).any(
            axis=-1
        )
        return exceeded

    def confidences(self, expected: FloatArray, total: int) -> FloatArray:
        """Give how sure a reader is of each set, (sets,), who expects (m,) people to have the positive outcome."""
        others = int(self.population.sum()) - total
        favourable = (expected @ self.members) / max(total, 1)
        unfavourable = ((self.population - expected) @ self.members) / max(others, 1)
        return np.asarray(np.minimum(np.maximum(favourable * (total > 0), unfavourable * (others > 0)), 1.0))
