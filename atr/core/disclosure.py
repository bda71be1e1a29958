"""What becomes of each QID group, decided from numbers of people and the policy alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from atr.core.arrays import IntArray, Values
from atr.core.confidence import exact_confidence
from atr.core.display_text import ANY
from atr.core.policy import Policy
from atr.core.publication import published_population, rounded_total
from atr.core.regions import DisclosureStatus, Regions


@dataclass(frozen=True)
class Extent:
    """How much of a period is announced; from populations and policy alone.

    Parameters
    ----------
    decisions, announced
        People in the period, and those in announced groups; exact.
    too_small
        How many groups are withheld for their size.
    prior_too_sure
        The display values of the groups that are withheld because prior knowledge alone exceeds the ceiling.
    merged
        How many groups of the log are in the announced groups that were merged.
    unseen
        For each attribute the values that nobody has whose group is announced; of a rest group all that meet in it are.
    """

    decisions: int
    announced: int
    too_small: int
    prior_too_sure: tuple[Values, ...]
    merged: int = 0
    unseen: Mapping[str, Values] = field(default_factory=dict)

    @staticmethod
    def of(regions: Regions) -> Extent:
        """Count how much of a period is announced, from its regions with the status of every group."""
        people = regions.group_population
        return Extent(
            decisions=int(people.sum()),
            announced=int(people[regions.printed].sum()),
            too_small=len(regions.with_status(DisclosureStatus.TOO_SMALL)),
            prior_too_sure=tuple(regions.group_values[i] for i in regions.with_status(DisclosureStatus.PRIOR_TOO_SURE)),
            unseen=_unseen(regions),
            merged=sum(regions.merged.get(regions.group_values[i], 0) for i in regions.printed),
        )


def _unseen(regions: Regions) -> dict[str, Values]:
    if not len(regions):
        return {}
    names = (*regions.public, *regions.sensitive)
    printed = regions.take(regions.printed)
    seen = {*printed.group_values, *(group for parts in printed.joined.values() for group in parts)}
    shown = [*printed.values, *(group + (ANY,) * len(regions.sensitive) for group in seen)]
    of_printed = [*zip(*shown, strict=True)] or [()] * len(names)
    return {
        name: found
        for name, every, known in zip(names, zip(*regions.values, strict=True), of_printed, strict=True)
        if (found := tuple(value for value in dict.fromkeys(every) if value not in {*known, ANY}))
    }


Announceable = Callable[[IntArray, Sequence[Values]], bool]
"""Whether a mechanism can announce a group, from (m,) people of its regions and their sensitive values."""


def decided(regions: Regions, policy: Policy, announceable: Announceable | None = None) -> Regions:
    """Give the same regions with the status of every group, as :func:`disclosure_status` decides it."""
    return replace(regions, status=disclosure_status(regions, policy, announceable))


def disclosure_status(regions: Regions, policy: Policy, announceable: Announceable | None = None) -> IntArray:
    """Decide what becomes of each group, from populations and policy alone.

    Parameters
    ----------
    regions
        The decision regions; what was decided in them is not looked at.
    policy
        The ceiling, the minimum group size, how populations are rounded, and what becomes of unattainable groups.
    announceable
        What the mechanism can announce; None: whatever prior knowledge leaves below the ceiling.

    Returns
    -------
    (g,) :class:`DisclosureStatus`. ``TOO_SMALL``: fewer people than the minimum, as counted or as published. Else
    ``PRIOR_TOO_SURE``, or ``FLATTENED`` where the policy says so: β_min is above the ceiling, by the populations a
    reader knows or by the published ones, or the mechanism cannot announce it. Else ``ANNOUNCED``.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Remark 2, on groups
    in which prior knowledge alone is above the ceiling.
    """
    too_sure = DisclosureStatus.FLATTENED if policy.unattainable == "flatten" else DisclosureStatus.PRIOR_TOO_SURE
    result = np.full(len(regions), DisclosureStatus.ANNOUNCED, dtype=np.int64)
    if not len(regions):
        return result
    rounding, untold = policy.population_rounding, np.tile([1, 0], (len(regions.counts), 1))
    published = published_population(regions.population, regions.offsets, rounding=rounding)
    smallest = np.minimum(regions.group_population, rounded_total(regions.group_population, rounding=rounding))
    for people in (regions.population if regions.known is None else regions.known, published):
        prior = exact_confidence(people, untold, digits=0, offsets=regions.offsets, sets=regions.sets)
        result[[sure > Fraction(str(policy.ceiling)) for sure in prior]] = too_sure
    result[smallest < policy.minimum_group_size] = DisclosureStatus.TOO_SMALL
    if announceable is not None:
        for g in np.flatnonzero(result == DisclosureStatus.ANNOUNCED):
            members = slice(regions.offsets[g], regions.offsets[g + 1])
            if not announceable(regions.assumed[members], regions.region_values[members]):
                result[g] = too_sure
    return result
