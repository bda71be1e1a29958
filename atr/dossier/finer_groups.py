"""Readers of a rest group who know which of its groups somebody is in: the promise does not cover them. Private."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import Values, offsets_of
from atr.core.confidence import maximum_confidence, privacy_limit
from atr.core.display_text import named
from atr.core.groups import Groups
from atr.core.policy import Policy
from atr.core.regions import Regions
from atr.core.tolerances import SAME_CONFIDENCE

Counted = Sequence[tuple[Values, tuple[int, ...]]]
"""Values of every attribute, public ones first, and people with each outcome of every region of the log."""


@dataclass(frozen=True, slots=True)
class FinerGroups:
    """What a reader concludes who knows in which group of a rest group somebody is, and the people of its regions.

    He takes the chances of the rest group to hold in each of its groups.

    Parameters
    ----------
    values
        The public values of the rest group.
    groups, people
        How many groups of the log are in it, and people; those that were coarsened before left out.
    largest_before, largest
        How sure he is at most, by the numbers of people alone and with the chances, each set's confidence divided by
        the factor of its ceiling.
    people_before, people_above
        How many people are in groups in which he is above a ceiling, by numbers of people alone and with the chances.
    """

    values: Values
    groups: int
    people: int
    largest_before: float
    largest: float
    people_before: int
    people_above: int


def finer_groups(
    regions: Regions, announcement: Announcement, counted: Counted, policy: Policy
) -> Iterator[FinerGroups]:
    """Measure what such readers conclude of each rest group, in the order of the announcement.

    Parameters
    ----------
    regions
        All decision regions of the period.
    announcement
        What is announced of them.
    counted
        The regions of the log, before groups joined.
    policy
        The ceiling.
    """
    k, rows = len(regions.public), dict[Values, dict[Values, int]]()
    for values, outcomes in counted:
        rows.setdefault(values[:k], {})[values[k:]] = sum(outcomes)
    above = policy.ceiling + SAME_CONFIDENCE
    for g in np.flatnonzero(announcement.rest):
        members = range(announcement.offsets[g], announcement.offsets[g + 1])
        chances = {announcement.region_values[i]: announcement.mapping[i] for i in members}
        rate = announcement.mapping[members[0]]  # of a group that shows its rates only
        finer = [rows[part] for part in regions.joined[announcement.group_values[g]] if part in rows]
        if not finer:  # all of them were coarsened before
            continue
        labels, people = zip(*(region for group in finer for region in group.items()), strict=True)
        told = np.array([chances.get(values, rate) for values in labels])
        offsets = offsets_of(np.array([len(group) for group in finer]))
        groups = Groups(people, told, offsets, regions.protection.sets(labels, offsets.tolist()))
        sizes, before, after = groups.sums(groups.population), privacy_limit(groups), maximum_confidence(groups, told)
        yield FinerGroups(
            values=named(announcement.group_values[g]),
            groups=len(finer),
            people=sum(people),
            largest_before=float(before.max()),
            largest=float(after.max()),
            people_before=int(sizes[before > above].sum()),
            people_above=int(sizes[after > above].sum()),
        )
