"""Decision regions, their populations, the true decision mapping, QID groups and what becomes of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from atr.core.arrays import (
    BoolArray,
    ExactPopulation,
    FloatArray,
    IntArray,
    TrueMapping,
    Values,
    offsets_of,
    positions_in,
    segment_of,
)
from atr.core.display_text import ANY
from atr.core.groups import Groups
from atr.core.protected import ProtectedSets, Protection


class DisclosureStatus(IntEnum):
    """What becomes of a QID group; decided from populations and policy, never from decisions.

    A group that prior knowledge alone makes surer than the ceiling is withheld (``PRIOR_TOO_SURE``) or, where the
    policy says so, announces its rates for every region (``FLATTENED``). One below the minimum size is withheld under
    either policy: flattening hides how chances differ within a group, but its rates would still tell of the decisions
    of a few people, and that is what the minimum is there to prevent. Where the policy merges groups, that was done
    before (:mod:`atr.warehouse.coarsening`): merged groups stand as others do. A group of which the mechanism can tell
    no more than its rates shows these (``RATE_ONLY``).
    """

    ANNOUNCED = 0
    TOO_SMALL = 1
    PRIOR_TOO_SURE = 2
    FLATTENED = 3
    RATE_ONLY = 4


class ToldBefore(NamedTuple):
    """What versions before of the same period told of decision regions, the newest first."""

    limits: FloatArray
    """(versions, n, outcomes, 2) closed limits of each chance; NaN for groups that are as they were then."""
    people: IntArray
    """(versions, n) people of the region then."""
    totals: IntArray
    """(versions, n, outcomes) people of its group then, by outcome."""
    lost: BoolArray
    """(versions, n) whether the people of then cannot be found again: they are in other groups, or regions, now."""

    def of_regions(self, members: IntArray) -> ToldBefore:
        """Keep some regions, given by their (k,) positions."""
        kept: list[Any] = [of[:, members] for of in self]
        return ToldBefore(*kept)

    def of_versions(self) -> list[ToldBefore]:
        """Give what each version told, without the first axis; none of those that told nothing of a region here."""
        each = [ToldBefore(*of) for of in zip(*self, strict=True)]
        return [told for told in each if not np.isnan(told.limits).any()]


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
    counts: IntArray
    """(n, outcomes) people."""
    offsets: IntArray
    """(g + 1,) where each group starts."""
    merged: Mapping[Values, int] = field(default_factory=dict)
    """How many groups of the log are in each coarsened group, by its public values."""
    joined: Mapping[Values, tuple[Values, ...]] = field(default_factory=dict)
    """The groups of the log that are in each rest group, by its public values."""
    earlier: FloatArray | None = None
    """(reports, n, outcomes, 2) limits that earlier reports told of these regions: closed, probability, oldest first.
    NaN where a report says nothing of a region; None without an earlier report."""
    versions: ToldBefore | None = None
    """What versions before of the same period told of groups that have changed; None without such a version."""
    known: IntArray | None = None
    """(n,) people as a reader knows them from a file of side information, 0 where it has none; None without a file."""
    status: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """(g,) the :class:`DisclosureStatus` of each group; empty until :func:`atr.core.disclosure.decided` sets it."""

    def __len__(self) -> int:
        """Give the number of groups."""
        return len(self.group_values)

    def take(self, which: IntArray) -> Regions:
        """Keep some of the groups, given by their (k,) positions, in that order."""
        members, groups = self.members(which), tuple(self.group_values[i] for i in which)
        return replace(
            self,
            group_values=groups,
            region_values=tuple(self.region_values[i] for i in members),
            counts=self.counts[members],
            offsets=offsets_of(np.diff(self.offsets)[which]),
            merged={values: self.merged[values] for values in groups if values in self.merged},
            joined={values: self.joined[values] for values in groups if values in self.joined},
            earlier=None if self.earlier is None else self.earlier[:, members],
            versions=None if self.versions is None else self.versions.of_regions(members),
            known=None if self.known is None else self.known[members],
            status=self.status[which] if len(self.status) else self.status,
        )

    def members(self, which: IntArray) -> IntArray:
        """Give the positions of all regions of (k,) groups, one group after the other."""
        return positions_in(self.offsets, which)

    def collapsed(self, which: BoolArray) -> Regions:
        """Make one region of every group that is marked in ``which`` (g,), with no value of a sensitive attribute."""
        if not which.any():
            return self
        kept = np.repeat(~which, np.diff(self.offsets))
        kept[self.offsets[:-1]] = True
        firsts, untold = np.flatnonzero(kept), (ANY,) * len(self.sensitive)
        told = zip(firsts.tolist(), which[self.group_of[firsts]].tolist(), strict=True)
        return replace(
            self,
            region_values=tuple(untold if at_once else self.region_values[i] for i, at_once in told),
            counts=np.add.reduceat(self.counts, firsts),
            offsets=offsets_of(np.where(which, 1, np.diff(self.offsets))),
            earlier=None,
            versions=None,
            known=None if self.known is None else np.add.reduceat(self.known, firsts),
        )

    def with_status(self, *statuses: DisclosureStatus) -> IntArray:
        """Give the positions of the groups that have one of some statuses."""
        return np.flatnonzero(np.isin(self.status, statuses))

    @property
    def announced(self) -> IntArray:
        """The positions of the groups whose announced chances the mechanism chooses."""
        return self.with_status(DisclosureStatus.ANNOUNCED)

    @property
    def printed(self) -> IntArray:
        """The positions of the groups whose numbers are printed, be it their rates only."""
        return self.with_status(DisclosureStatus.ANNOUNCED, DisclosureStatus.FLATTENED, DisclosureStatus.RATE_ONLY)

    @property
    def group_of(self) -> IntArray:
        """(n,) the group of each region."""
        return segment_of(self.offsets)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive attributes, in the programme's order."""
        return self.protection.sensitive

    @property
    def values(self) -> list[Values]:
        """(n,) display values of all attributes, public ones first."""
        return [
            self.group_values[group] + own
            for group, own in zip(self.group_of.tolist(), self.region_values, strict=True)
        ]

    @cached_property
    def population(self) -> ExactPopulation:
        """(n,) people."""
        return ExactPopulation(self.counts.sum(axis=1))

    @property
    def decision(self) -> TrueMapping:
        """(n, outcomes) true probability of each outcome."""
        return TrueMapping(self.counts / self.population[:, None])

    @cached_property
    def assumed(self) -> IntArray:
        """(n,) people as a reader is assumed to know them: of the side information, or of the log.

        In groups that the side information does not cover, which are never announced, those of the log.
        """
        if self.known is None or not len(self.known):
            return self.population
        covered = np.minimum.reduceat(self.known, self.offsets[:-1]) > 0
        return np.where(np.repeat(covered, np.diff(self.offsets)), self.known, self.population)

    @cached_property
    def group_population(self) -> IntArray:
        """(g,) people."""
        return np.add.reduceat(self.population, self.offsets[:-1]) if len(self) else self.population[:0]

    @cached_property
    def sets(self) -> ProtectedSets | None:
        """The protected sets; None where every region on its own is one, or there is no group."""
        return self.protection.sets(self.region_values, self.offsets.tolist()) if len(self) else None

    @cached_property
    def groups(self) -> Groups:
        """The groups with their true decision mapping, as a mechanism takes them.

        Their population is what a reader knows; where that is from a file, rates are kept of the people of the log.
        """
        weights = None if self.known is None else self.population
        return Groups(self.assumed, self.decision, self.offsets, self.sets, rate_weights=weights)
