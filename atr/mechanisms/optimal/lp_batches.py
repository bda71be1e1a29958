"""Groups cut into blocks, each of which is solved by one programme."""

from __future__ import annotations

import numpy as np

from atr.core.arrays import FloatArray, IntArray
from atr.core.groups import Groups
from atr.core.protected import ProtectedSets
from atr.mechanisms.optimal.programmes import PEOPLE, Block

# Cells of one programme: larger ones are slower per group, smaller ones spend their time on being set up.
_CELLS = 750


class LPBatches:
    """Groups with their regions in an order of their own values, to be cut into blocks."""

    def __init__(self, groups: Groups, lower: FloatArray, upper: FloatArray) -> None:
        self.groups, self.lower, self.upper = groups, lower, upper.copy()
        self.sets = ProtectedSets.regions(groups.offsets) if groups.sets is None else groups.sets
        rate_weights = () if groups.rate_weights is None else (groups.rate_weights,)
        keys = (*rate_weights, *upper.T, *lower.T, *groups.decision.T, groups.population, groups.group_of_region)
        self.order = np.lexsort(keys)
        self.rank = np.argsort(self.order)
        self.units = PEOPLE / groups.sums(groups.population)
        self.rate_weights = None if groups.rate_weights is None else self._rated(groups.rate_weights)

    def _rated(self, people: FloatArray) -> FloatArray:
        """Give how many people whose rates are kept stand behind each of the population, their groups equally large."""
        units = PEOPLE / self.groups.sums(people)
        rate_weights: FloatArray = people * (units / self.units)[self.groups.group_of_region] / self.groups.population
        return rate_weights

    def regions(self, which: IntArray) -> IntArray:
        """Give the positions of the regions of some groups, as a block has them."""
        return self.order[_stretches(self.groups.offsets, which)]

    def sets_of(self, which: IntArray) -> IntArray:
        """Give the positions of the protected sets of some groups, as a block has them."""
        return _stretches(self.sets.group_offsets, which)

    def block(self, which: IntArray) -> Block:
        """Put some groups side by side."""
        groups, sets = self.groups, self.sets
        regions, chosen = self.regions(which), self.sets_of(which)
        sizes, numbers = groups.sizes[which], np.diff(sets.group_offsets)[which]
        group, set_group = np.repeat(np.arange(len(which)), sizes), np.repeat(np.arange(len(which)), numbers)
        in_set = np.diff(sets.offsets)[chosen]
        member_set = np.repeat(np.arange(len(chosen)), in_set)
        moved = np.append(0, np.cumsum(sizes))[:-1] - groups.offsets[which]
        member = self.rank[sets.members[_stretches(sets.offsets, chosen)]] + moved[set_group[member_set]]
        return Block(
            p=groups.population[regions] * self.units[which][group],
            D=groups.decision[regions],
            lower=self.lower[regions],
            upper=self.upper[regions],
            group=group,
            member=member,
            member_set=member_set,
            set_group=set_group,
            factors=sets.factors[chosen],
            rate_weights=None if self.rate_weights is None else self.rate_weights[regions],
        )

    def parts(self, which: IntArray) -> list[IntArray]:
        """Cut groups into parts that make programmes of a good size."""
        if not len(which):
            return []
        cells = np.cumsum(self.groups.sizes[which] * self.groups.outcomes)
        return np.split(which, np.flatnonzero(np.diff((cells - 1) // _CELLS)) + 1)


def _stretches(offsets: IntArray, which: IntArray) -> IntArray:
    """Give the positions from ``offsets[i]`` to ``offsets[i + 1] - 1`` for each i, one after the other."""
    sizes = np.diff(offsets)[which]
    starts = np.append(0, np.cumsum(sizes))
    stretches: IntArray = np.arange(starts[-1]) + np.repeat(offsets[:-1][which] - starts[:-1], sizes)
    return stretches
