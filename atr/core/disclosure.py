"""What becomes of each QID group, decided from numbers of people and the policy alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from atr.core.policy import Policy
from atr.core.publication import published_population
from atr.core.regions import Regions, members_of, protected_sets
from atr.errors import ProgrammeError

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class DisclosureStatus(IntEnum):
    """What becomes of a QID group; decided from populations and policy, never from decisions but for exact rates.

    A group that prior knowledge alone makes surer than the ceiling is withheld (``PRIOR_TOO_SURE``) or, where the
    policy says so, announces its rates for every region (``FLATTENED``). One below the minimum size is withheld under
    either policy: flattening hides how chances differ within a group, but its rates would still tell of the decisions
    of a few people, and that is what the minimum is there to prevent. Where the policy merges groups, that was done
    before (:mod:`atr.warehouse.coarsening`): merged groups stand as others do.
    """

    ANNOUNCED = 0
    TOO_SMALL = 1
    PRIOR_TOO_SURE = 2
    FLATTENED = 3


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
    """

    decisions: int
    announced: int
    too_small: int
    prior_too_sure: tuple[tuple[str, ...], ...]
    merged: int = 0

    @staticmethod
    def of(regions: Regions, statuses: npt.NDArray[np.int64]) -> Extent:
        """The extent of a period's announcement."""
        people = regions.group_population
        return Extent(
            decisions=int(people.sum()),
            announced=int(people[printed(statuses)].sum()),
            too_small=int((statuses == DisclosureStatus.TOO_SMALL).sum()),
            prior_too_sure=tuple(
                regions.group_values[i] for i in np.flatnonzero(statuses == DisclosureStatus.PRIOR_TOO_SURE)
            ),
            merged=sum(regions.merged.get(regions.group_values[i], 0) for i in printed(statuses)),
        )


def disclosure_status(regions: Regions, policy: Policy) -> npt.NDArray[np.int64]:
    """(g,) the :class:`DisclosureStatus` of each group: too small, known too well before any report, or announced.

    Raises
    ------
    ProgrammeError
        If the side information has nobody in some region of a group that is large enough; the first such region is
        named in the private part.
    """
    too_sure = DisclosureStatus.FLATTENED if policy.unattainable == "flatten" else DisclosureStatus.PRIOR_TOO_SURE
    people = regions.group_population
    result = np.full(len(people), DisclosureStatus.ANNOUNCED, dtype=np.int64)
    if not len(people):
        return result
    starts = regions.offsets[:-1]
    sets = protected_sets(regions, np.arange(len(people)))
    ceiling = Fraction(str(policy.ceiling))
    published = published_population(regions.population, rounding=policy.population_rounding)
    smallest = np.minimum(people, np.add.reduceat(published, starts))
    for region in (regions.population if regions.known is None else regions.known, published):
        total = np.add.reduceat(region, starts)
        largest, whole = (np.maximum.reduceat(region, starts), 1) if sets is None else sets.most(region)
        sure = largest.astype(object) * ceiling.denominator > total.astype(object) * ceiling.numerator * whole
        result[sure.astype(bool)] = too_sure
    result[smallest < policy.minimum_group_size] = DisclosureStatus.TOO_SMALL
    _require_known(regions, result, policy)
    return result


def _require_known(regions: Regions, statuses: npt.NDArray[np.int64], policy: Policy) -> None:
    """Check that the side information covers every region of the groups that are large enough."""
    source = policy.known_from
    if source is None or regions.known is None:
        return
    members, _ = members_of(regions, np.flatnonzero(statuses != DisclosureStatus.TOO_SMALL))
    missing = members[regions.known[members] == 0]
    if len(missing):
        group = int(np.searchsorted(regions.offsets, missing[0], side="right")) - 1
        values = (*regions.group_values[group], *regions.region_values[missing[0]])
        names = (*regions.public, *regions.sensitive)
        what = "a decision region" if len(missing) == 1 else f"{len(missing):,} decision regions"
        first = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
        raise ProgrammeError(
            f"the side information has nobody in {what} that somebody was decided in",
            where=source.file,
            hint="Every region of a group with enough people for the report needs people there.",
            private=f"The first of them: {first}",
        )


def flattened(statuses: npt.NDArray[np.int64]) -> Bools:
    """(g,) which groups announce their rates for every region."""
    flat: Bools = statuses == DisclosureStatus.FLATTENED
    return flat


def printed(statuses: npt.NDArray[np.int64]) -> Ints:
    """The positions of the groups whose numbers are printed: the announced ones and the flattened ones."""
    return np.flatnonzero((statuses == DisclosureStatus.ANNOUNCED) | flattened(statuses))
