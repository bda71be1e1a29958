"""Everybody of a period, announced or not, and how closely the report tells of them. Private."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import IntArray, Values
from atr.core.regions import DisclosureStatus, Regions
from atr.dossier.finer_groups import Counted

Told = Literal["own", "joined", "rate", "left out"]
"""With limits or chances of a group of the log, of one that was joined or made coarser, with the group's rate only, or
not at all."""


@dataclass(frozen=True)
class Everybody:
    """The people of a period by their attributes.

    Parameters
    ----------
    names
        Of the attributes, public ones first.
    values
        (n,) values of each attribute; those of the log also in groups that joined.
    counts
        (n, outcomes) people.
    told
        (n,) how the report tells of them.
    """

    names: tuple[str, ...]
    values: tuple[Values, ...]
    counts: IntArray
    told: tuple[Told, ...]

    @staticmethod
    def of(regions: Regions, counted: Counted, announcement: Announcement | None) -> Everybody:
        """Count everybody of a period.

        Parameters
        ----------
        regions
            All decision regions of the period, with the status of every group.
        counted
            The outcomes of every region of the log, before groups joined.
        announcement
            What is announced; None where the run was refused.
        """
        k, log = len(regions.public), defaultdict(list)
        for values, outcomes in counted:
            log[values[:k]].append((values, outcomes))
        found: list[tuple[Values, Sequence[int], Told]] = []
        statuses, every = status_of(regions, announcement), regions.values
        for g, public in enumerate(regions.group_values):
            members = range(regions.offsets[g], regions.offsets[g + 1])
            rows = [row for part in regions.joined.get(public, ()) for row in log[part]]
            if sum(sum(outcomes) for _, outcomes in rows) != regions.group_population[g]:  # made coarser before
                rows = [(every[i], regions.counts[i].tolist()) for i in members]
            told = _told(int(statuses[g]), joined=public in regions.joined or public in regions.merged)
            found += [(values, outcomes, told) for values, outcomes in rows]
        return Everybody(
            names=(*regions.public, *regions.sensitive),
            values=tuple(values for values, _, _ in found),
            counts=np.array([of for _, of, _ in found], dtype=np.int64).reshape(len(found), len(regions.outcomes)),
            told=tuple(told for _, _, told in found),
        )

    def by(self, labels: Sequence[str | None]) -> dict[str, IntArray]:
        """Add up (outcomes,) people of each of (n,) labels; those without one are left out."""
        found: dict[str, IntArray] = {}
        for label, counts in zip(labels, self.counts, strict=True):
            if label is not None:
                found[label] = found[label] + counts if label in found else counts
        return found

    def column(self, name: str) -> list[str]:
        """(n,) the values of an attribute."""
        place = self.names.index(name)
        return [values[place] for values in self.values]

    def left_out(self, name: str) -> dict[str, Mapping[Told, int]]:
        """How many people with each value of an attribute the report tells of in each way."""
        found: dict[str, dict[Told, int]] = {}
        for value, people, told in zip(self.column(name), self.counts.sum(axis=1).tolist(), self.told, strict=True):
            of = found.setdefault(value, {})
            of[told] = of.get(told, 0) + people
        return dict(found)


def status_of(regions: Regions, announcement: Announcement | None) -> IntArray:
    """(g,) what became of each group in the end, the mechanism's part included."""
    statuses = regions.status.copy()
    if announcement is not None:
        statuses[announcement.groups] = announcement.status
    return statuses


def _told(status: int, *, joined: bool) -> Told:
    if status in (DisclosureStatus.FLATTENED, DisclosureStatus.RATE_ONLY):
        return "rate"
    if status != DisclosureStatus.ANNOUNCED:
        return "left out"
    return "joined" if joined else "own"
