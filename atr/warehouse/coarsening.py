"""Which groups of the log are merged, as they cannot be announced on their own: along hierarchies, then in rest groups.

Decided from populations and policy alone. A group that can be announced is not touched by coarsening, so a coarsened
group has nobody in it who is in another one, and no number of it is a sum that others could be subtracted from.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from atr.core.arrays import IntArray, Values
from atr.core.disclosure import disclosure_status
from atr.core.regions import DisclosureStatus, Regions
from atr.core.rest_groups import rest_groups
from atr.errors import ProgrammeError
from atr.mechanisms import mechanism_of
from atr.programme import Programme
from atr.programme.periods import Period
from atr.warehouse import counting
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import regions_of_rows


def aggregate(warehouse: Warehouse, programme: Programme, period: Period) -> Regions:
    """Count the decision regions of a period as they are to be reported.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme
        Its policy and hierarchies decide what is merged.
    period
        Half-open range of days.

    Raises
    ------
    PeriodError, ProgrammeError
        As :func:`atr.warehouse.counting.aggregate` and :func:`reported` do.
    """
    return reported(counting.aggregate(warehouse, programme, period), programme)


def reported(regions: Regions, programme: Programme, fixed: Mapping[Values, Values] | None = None) -> Regions:
    """Merge decision regions, and decide which groups are reported.

    Parameters
    ----------
    regions
        As counted.
    programme
        Its policy and hierarchies.
    fixed
        The rest groups that groups were in in an earlier version of the period, as for :func:`rest_groups`.

    Returns
    -------
    The regions with the status of every group.

    Raises
    ------
    ProgrammeError
        As :func:`coarsen` does; and if the side information has nobody in some region of a group that is large enough:
        the first such region is named in the private part.
    """
    regions = joined(coarsen(regions, programme), programme, fixed)
    regions = replace(regions, status=_status(regions, programme))
    if regions.known is not None and programme.policy.census is not None:
        _require_known(regions, regions.known, where=str(programme.path.parent / programme.policy.census.path))
    return regions


def _require_known(regions: Regions, known: IntArray, *, where: str) -> None:
    members = regions.members(np.flatnonzero(regions.status != DisclosureStatus.TOO_SMALL))
    missing = members[known[members] == 0]
    if len(missing):
        what = "a decision region" if len(missing) == 1 else f"{len(missing):,} decision regions"
        named = zip((*regions.public, *regions.sensitive), regions.values[missing[0]], strict=True)
        raise ProgrammeError(
            f"the side information has nobody in {what} that somebody was decided in",
            where=where,
            hint="Every region of a group with enough people for the report needs people there.",
            private=f"The first of them: {', '.join(f'{name} {value}' for name, value in named)}",
        )


def coarsen(regions: Regions, programme: Programme) -> Regions:
    """Merge the groups that cannot be announced, if that is the policy.

    One step makes the values of one attribute one level coarser: those of the first hierarchy up to its top, then those
    of the next. After every step the groups that have become alike are merged, and those that can be announced now
    stay as they are. What cannot be announced after the last step is left for the policy to withhold.

    Parameters
    ----------
    regions
        As counted.
    programme
        Its policy, and the hierarchies of its public attributes.

    Returns
    -------
    The regions, with how many groups each merged group is made of; the same ones if nothing is to be merged.

    Raises
    ------
    ProgrammeError
        If a value is in no row of the hierarchy of its attribute.
    """
    if programme.policy.unattainable != "coarsen":
        return regions
    for name, hierarchy in programme.hierarchies.items():
        place = regions.public.index(name)
        hierarchy.require(values[place] for values in regions.group_values)
    settled, pool = _parted(regions, programme)
    if not len(pool):
        return regions
    parts = [settled]
    for name, hierarchy in programme.hierarchies.items():
        for level in range(1, hierarchy.levels + 1):
            coarser = _raised(pool, regions.public.index(name), hierarchy.parents(level), programme)
            settled, pool = _parted(coarser, programme)
            parts.append(settled)
    parts.append(pool)
    return regions_of_rows(
        [values for part in parts for values in part.values],
        np.concatenate([part.counts for part in parts]),
        programme=programme,
        outcomes=regions.outcomes,
        merged={group: groups for part in parts for group, groups in part.merged.items()},
    )


def joined(regions: Regions, programme: Programme, fixed: Mapping[Values, Values] | None = None) -> Regions:
    """Make rest groups of groups that cannot be announced on their own, as :func:`rest_groups` decides.

    Where the policy names files of decision regions, these say of which regions the report is, and nothing is joined.

    Parameters
    ----------
    regions
        As counted, or merged by :func:`coarsen`.
    programme
        Its policy and protected attributes.
    fixed
        As for :func:`rest_groups`.

    Returns
    -------
    The regions, with the groups that are in each rest group; the same ones if nothing is to be joined.
    """
    if programme.policy.files or regions.known is not None:
        return regions
    protected = [name for name in programme.names(protected=True) if name in regions.public]
    whole = rest_groups(regions, protected, lambda groups: _status(groups, programme), fixed=fixed)
    if not whole:
        return regions
    k, parts = len(regions.public), defaultdict[Values, tuple[Values, ...]](tuple)
    for values in regions.group_values:
        if values in whole:
            parts[whole[values]] += (values,)
    return replace(
        regions_of_rows(
            [whole.get(values[:k], values[:k]) + values[k:] for values in regions.values],
            regions.counts,
            programme=programme,
            outcomes=regions.outcomes,
            merged={values: groups for values, groups in regions.merged.items() if values not in whole},
        ),
        joined=dict(parts),
    )


def _status(regions: Regions, programme: Programme) -> IntArray:
    """(g,) what becomes of each group, by populations, the policy and what its mechanism can announce."""
    policy, protection = programme.policy, programme.protection
    mechanism = mechanism_of(policy)

    def announceable(people: IntArray, labels: Sequence[Values]) -> bool:
        return mechanism.announceable(people, labels, protection, len(regions.outcomes), policy)

    return disclosure_status(regions, policy, None if mechanism.prior_suffices else announceable)


def _parted(regions: Regions, programme: Programme) -> tuple[Regions, Regions]:
    """The groups that can be announced, by populations and policy alone, and the others."""
    announced = _status(regions, programme) == DisclosureStatus.ANNOUNCED
    return regions.take(np.flatnonzero(announced)), regions.take(np.flatnonzero(~announced))


def _raised(pool: Regions, place: int, parents: Mapping[str, str], programme: Programme) -> Regions:
    """The groups with one public value made coarser; those that are alike then are one, their people added up."""

    def coarser(values: Values) -> Values:
        return (*values[:place], parents[values[place]], *values[place + 1 :])

    merged: Counter[Values] = Counter()
    for values in pool.group_values:
        merged[coarser(values)] += pool.merged.get(values, 1)
    rows = [coarser(values) for values in pool.values]
    return regions_of_rows(rows, pool.counts, programme=programme, outcomes=pool.outcomes, merged=merged)
