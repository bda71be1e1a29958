"""Decision regions, their populations, the true decision mapping and QID groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from atr.core.groups import Groups
from atr.core.protected import ProtectedSets, Protection

Ints = npt.NDArray[np.int64]
Values = tuple[str, ...]


@dataclass(frozen=True)
class Regions:
    """The decision regions of one period, group by group. Private: it holds the true decision mapping.

    Groups are in the order of the programme's declared values (undeclared ones after them by code point, then coarser
    ones, the category "unknown" last), regions within a group likewise: the order depends on nothing that is counted.
    """

    public: tuple[str, ...]
    """Names of the public attributes, in the programme's order."""
    protection: Protection
    """Which sets of people are protected; it names the sensitive attributes."""
    outcomes: tuple[str, ...]
    """The positive outcome first."""
    group_values: tuple[Values, ...]
    """(g,) display values of the public attributes."""
    region_values: tuple[Values, ...]
    """(n,) display values of the sensitive attributes."""
    counts: npt.NDArray[np.int64]
    """(n, outcomes) people."""
    offsets: npt.NDArray[np.int64]
    """(g + 1,) where each group starts."""
    merged: Mapping[Values, int] = field(default_factory=dict)
    """How many groups of the log are in each coarsened group, by its public values."""
    known: npt.NDArray[np.int64] | None = None
    """(n,) people as a reader knows them from a file of side information, 0 where it has none; None without a file."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive attributes, in the programme's order."""
        return self.protection.sensitive

    @cached_property
    def population(self) -> npt.NDArray[np.int64]:
        """(n,) people."""
        people: npt.NDArray[np.int64] = self.counts.sum(axis=1)
        return people

    @cached_property
    def assumed(self) -> npt.NDArray[np.int64]:
        """(n,) people as a reader is assumed to know them: of the side information, or of the log.

        In groups that the side information does not cover, which are never announced, those of the log.
        """
        if self.known is None or not len(self.known):
            return self.population
        covered = np.minimum.reduceat(self.known, self.offsets[:-1]) > 0
        return np.where(np.repeat(covered, np.diff(self.offsets)), self.known, self.population)

    @cached_property
    def group_population(self) -> npt.NDArray[np.int64]:
        """(g,) people."""
        return np.add.reduceat(self.population, self.offsets[:-1]) if len(self.offsets) > 1 else self.population[:0]


def protected_sets(regions: Regions, which: Ints) -> ProtectedSets | None:
    """The protected sets of some groups; None where every region on its own is one."""
    return regions.protection.sets(*_sensitive_of(regions, which)) if len(which) else None


def _sensitive_of(regions: Regions, which: Ints) -> tuple[list[tuple[str, ...]], list[int]]:
    """The sensitive values in every region of some groups, and where each group starts."""
    members, offsets = members_of(regions, which)
    return [regions.region_values[i] for i in members], offsets.tolist()


def members_of(regions: Regions, which: Ints) -> tuple[Ints, Ints]:
    """The positions of all regions of some groups, and where each group starts among them."""
    sizes = np.diff(regions.offsets)[which]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.arange(offsets[-1]) + np.repeat(regions.offsets[:-1][which] - offsets[:-1], sizes), offsets


def values_of(regions: Regions, which: Ints) -> Iterator[tuple[str, ...]]:
    """For every region of some groups, its display values: public ones, then sensitive ones."""
    for group in which:
        for region in range(regions.offsets[group], regions.offsets[group + 1]):
            yield (*regions.group_values[group], *regions.region_values[region])


def groups_of(regions: Regions, which: Ints) -> Groups:
    """Some groups with their true decision mapping, as the mechanism takes them. Private.

    Their population is what a reader knows; where that is from a file, rates are kept of the people of the log.
    """
    members, offsets = members_of(regions, which)
    population = regions.population[members]
    decision = regions.counts[members] / population[:, None]
    protection, values = regions.protection, _sensitive_of(regions, which)
    return Groups(
        regions.assumed[members],
        decision[:, 0] if decision.shape[1] == 2 else decision,
        offsets,
        protection.nested(*values),
        protection.factors(*values),
        rate_weights=None if regions.known is None else population,
    )
