"""Readers of a rest group who know which of its groups somebody is in: the promise does not cover them. Private."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import FloatArray, IntArray, Values
from atr.core.display_text import named
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
        How many groups of the log are in it, and people.
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
    rows: dict[Values, dict[Values, int]] = {}
    for values, outcomes in counted:
        rows.setdefault(values[: len(regions.public)], {})[values[len(regions.public) :]] = sum(outcomes)
    above = policy.ceiling + SAME_CONFIDENCE
    for g in np.flatnonzero(announcement.rest):
        members = range(announcement.offsets[g], announcement.offsets[g + 1])
        chances = {announcement.region_values[i]: announcement.mapping[i] for i in members}
        rate = announcement.mapping[members[0]]  # of a group that shows its rates only
        finer = [rows[part] for part in regions.joined[announcement.group_values[g]] if part in rows]
        sure = []
        for group in finer:
            people = np.array([*group.values()], dtype=np.int64)
            told = np.array([chances.get(values, rate) for values in group])
            sure.append([_held(regions, [*group], people, of) for of in (np.ones_like(told), told)])
        sizes = [sum(group.values()) for group in finer]
        yield FinerGroups(
            values=named(announcement.group_values[g]),
            groups=len(finer),
            people=sum(sizes),
            largest_before=max((before for before, _ in sure), default=0.0),
            largest=max((after for _, after in sure), default=0.0),
            people_before=sum(n for n, (before, _) in zip(sizes, sure, strict=True) if before > above),
            people_above=sum(n for n, (_, after) in zip(sizes, sure, strict=True) if after > above),
        )


def _held(regions: Regions, labels: Sequence[Values], people: IntArray, chances: FloatArray) -> float:
    """The largest confidence of a set, by people and (m, outcomes) chances, divided by the factor of its ceiling."""
    joint = people[:, None] * chances
    totals = joint.sum(axis=0)
    return max(
        float((joint[rows].sum(axis=0)[totals > 0] / totals[totals > 0]).max()) / regions.protection.factor(label)
        for label, rows in regions.protection.labelled(labels).items()
    )
