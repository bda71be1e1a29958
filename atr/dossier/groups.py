"""What the reviewer sees of every QID group: confidences, leakage, and its regions with their true chances. Private."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import AnnouncedMapping, FloatArray, TrueMapping
from atr.core.confidence import maximum_confidence, privacy_limit
from atr.core.display_text import named
from atr.core.groups import Groups
from atr.core.leakage import leakage_of_values
from atr.core.regions import DisclosureStatus, Regions
from atr.core.tolerances import SAME_CONFIDENCE
from atr.dossier.everybody import status_of

Yardsticks = dict[str, float | str]
"""What a mapping gives away in a group, in the units of other definitions, by the functions of :mod:`atr.core.leakage`.

JSON has no infinity: it is the text "inf".
"""

Ends = tuple[float, float]
"""Limits of a chance."""

_STATUS = {
    DisclosureStatus.ANNOUNCED: ("announced", ""),
    DisclosureStatus.TOO_SMALL: ("withheld", "fewer people than the minimum"),
    DisclosureStatus.PRIOR_TOO_SURE: ("withheld", "prior knowledge alone exceeds the ceiling"),
    DisclosureStatus.FLATTENED: ("flattened", "prior knowledge alone exceeds the ceiling"),
    DisclosureStatus.RATE_ONLY: ("rate only", "no limits could be told of it"),
}
"""What became of a group, and why."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A decision region: its exact counts, true and announced chance of the positive outcome, and its limits."""

    values: tuple[str, ...]
    population: int
    positives: int
    true: float
    announced: float | None
    change: float | None
    limits: Ends | None


@dataclass(frozen=True, slots=True)
class DossierGroup:
    """A QID group: what became of it and what it can give away.

    Parameters
    ----------
    values
        Its public attributes.
    status, reason
        ``announced``, ``rate only``, ``flattened`` or ``withheld``, and why.
    merged
        How many groups of the log are in it; 0 where it was not merged.
    population
        Exact people.
    prior, true_confidence
        How sure a reader can be without a report, and by the true rules.
    beta
        The smallest confidence the mechanism can reach under the policy.
    announced_confidence
        How sure a reader can be by the announced rules.
    true_leakage, announced_leakage
        What the true and the announced rules give away, with the exact populations; None where the group is withheld or
        nothing was announced.
    binds, stated
        Whether its ``beta`` is the largest, and whether the confidence that the report states is this group's.
    cells
        Its decision regions.
    """

    values: tuple[str, ...]
    status: str
    reason: str
    merged: int
    population: int
    prior: float
    true_confidence: float
    beta: float | None
    announced_confidence: float | None
    true_leakage: Yardsticks | None
    announced_leakage: Yardsticks | None
    binds: bool
    stated: bool
    cells: tuple[Cell, ...]

    @property
    def limited(self) -> bool:
        """Whether limits of its chances are told."""
        return any(cell.limits for cell in self.cells)


def groups(regions: Regions, beta: FloatArray, announcement: Announcement | None) -> Iterator[DossierGroup]:
    """Describe every group of a period for the reviewer.

    Parameters
    ----------
    regions
        All decision regions of the period.
    beta
        (k,) the smallest confidence of each group to announce.
    announcement
        What is announced; None where the run was refused.

    Returns
    -------
    The groups, in the order of the regions.
    """
    true, prior = maximum_confidence(regions.groups, regions.decision), privacy_limit(regions.groups)
    optimal = dict(zip(regions.announced.tolist(), beta.tolist(), strict=False))  # none where nothing was solved
    worst = max(optimal.values(), default=math.nan)
    to_announce = regions.take(regions.announced)
    true_leakage = dict(zip(regions.announced.tolist(), _yardsticks(to_announce, to_announce.decision), strict=True))
    chances, shown = _announced(regions, announcement)
    statuses = status_of(regions, announcement)
    for g, (start, end) in enumerate(zip(regions.offsets[:-1].tolist(), regions.offsets[1:].tolist(), strict=True)):
        status, reason = _STATUS[DisclosureStatus(statuses[g])]
        confidence, stated, leakage = shown.get(g, (None, False, None))
        values = regions.group_values[g]
        yield DossierGroup(
            values=named(values),
            status=status,
            reason=reason,
            merged=regions.merged.get(values, len(regions.joined.get(values, ()))),
            population=int(regions.group_population[g]),
            prior=float(prior[g]),
            true_confidence=float(true[g]),
            beta=optimal.get(g),
            announced_confidence=confidence,
            true_leakage=true_leakage.get(g),
            announced_leakage=leakage,
            binds=g in optimal and optimal[g] >= worst - SAME_CONFIDENCE,
            stated=stated,
            cells=tuple(_cell(regions, i, *chances.get(i, (None, None))) for i in range(start, end)),
        )


def _announced(
    regions: Regions, announcement: Announcement | None
) -> tuple[dict[int, tuple[float, Ends | None]], dict[int, tuple[float, bool, Yardsticks]]]:
    """Give chance and limits of each region as announced; confidence, whether that is stated, leakage of each group."""
    if announcement is None:
        return {}, {}
    ruled = announcement.groups[announcement.ruled]
    shown = announcement.mapping[~announcement.flat]
    ends = announcement.fidelity.limits
    limits = [(0.0, 1.0)] * len(shown) if ends is None else [(low, high) for low, high in ends[:, 0].tolist()]
    told = [pair if pair != (0, 1) else None for pair in limits]
    chances = dict(zip(regions.members(ruled).tolist(), zip(shown[:, 0].tolist(), told, strict=True), strict=True))
    held = np.maximum(np.array(announcement.confidences(held=True), float), announcement.held)[announcement.ruled]
    leakage = _yardsticks(regions.take(ruled), AnnouncedMapping(shown))
    stated = (held == held.max(initial=0)).tolist()
    return chances, dict(zip(ruled.tolist(), zip(held.tolist(), stated, leakage, strict=True), strict=True))


def _cell(regions: Regions, region: int, announced: float | None, limits: Ends | None) -> Cell:
    population, positives = int(regions.population[region]), int(regions.counts[region, 0])
    true = positives / population
    change = None if announced is None else announced - true
    return Cell(regions.region_values[region], population, positives, true, announced, change, limits)


def _yardsticks(regions: Regions, mapping: TrueMapping | AnnouncedMapping) -> list[Yardsticks]:
    """Give the yardsticks of a mapping of some regions, for each of their groups."""
    if not len(regions):
        return []
    sets = None if regions.sets is None else regions.sets.plain()
    found = leakage_of_values(Groups(regions.assumed, mapping, regions.offsets, sets), regions.region_values)
    columns = {name: [_finite(x) for x in values.tolist()] for name, values in found.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _finite(value: float) -> float | str:
    return round(value, 6) if math.isfinite(value) else "inf"
