"""What is announced: the numbers that are printed, and the populations they were checked with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atr.core.announced import WHOLE_NUMBERS, Announced
from atr.core.arrays import (
    AnnouncedMapping,
    BestKnownPopulation,
    BoolArray,
    FloatArray,
    IntArray,
    PublishedPopulation,
    Values,
    offsets_of,
    positions_in,
)
from atr.core.confidence import exact_confidence, round_up
from atr.core.fidelity import Fidelity
from atr.core.policy import Policy
from atr.core.protected import OwnCeiling, ProtectedSets, Protection
from atr.core.publication import (
    CHANCE_DIGITS,
    RATE_DIGITS,
    group_rates,
    open_people,
    open_total,
    published_population,
    rounded_total,
)
from atr.core.regions import DisclosureStatus, Regions
from atr.core.tolerances import SAME_VALUE


@dataclass(frozen=True)
class Announcement:
    """The announced mapping: the numbers that are printed, and the populations they were checked with.

    A group that shows its rates only has one region, without a value of any sensitive attribute.

    Parameters
    ----------
    outcomes
        The positive outcome, then the others.
    groups
        (g,) positions of the announced groups among all groups of the period.
    group_values, region_values
        (g,) display values of the public, (n,) of the sensitive attributes.
    offsets
        (g + 1,) where each announced group starts.
    people, published
        (n,) people: as counted, or as printed where whoever looks has the report alone; and as printed.
    group_people
        (g,) people of each group as printed.
    rounding
        What numbers of people are rounded to.
    chance
        (n, outcomes) announced chances in units of 10^-6; where limits are told and no chances, :func:`stand_in`.
    digits
        Decimal digits of confidences and comparisons.
    group_digits
        (g,) decimal digits that the chances of each group are printed with.
    fidelity
        What is promised of every announced chance, outside groups that show their rates only.
    status
        (g,) what became of each group.
    limits_only
        (g,) which groups show limits and no chances.
    joined
        (g,) how many groups of the log are in each coarsened or rest group; 0 in others.
    rest
        (g,) which groups are rest groups.
    mixed
        (g,) the values that meet in each rest group, by the name of each public attribute that not all share.
    protection
        Which sets of people are protected.
    readers, held, prior, rules
        As of :class:`Announced`, (g,) each; 0 and NaN where nothing is told of regions.
    by_rates
        (g,) how sure a reader who remembers earlier reports is, who takes rules for unchanged, by numbers of people and
        rates alone, where that is above the ceiling and nothing more is told for that reason; else 0.
    totals
        (outcomes, g, 2) people of each group with each outcome, at least and at most; None where the rates of groups
        are not told.
    half
        (g,) how far the rate of an outcome that the chances of a group give may be from the true one, probability; None
        where people are known as counted.
    known
        (n,) people as the reader of the guarantee knows them from a file of side information; None: as printed.
    """

    outcomes: tuple[str, ...]
    groups: IntArray
    group_values: tuple[Values, ...]
    region_values: tuple[Values, ...]
    offsets: IntArray
    people: BestKnownPopulation
    published: PublishedPopulation
    group_people: IntArray
    rounding: int
    chance: IntArray
    digits: int
    group_digits: IntArray
    fidelity: Fidelity
    status: IntArray
    limits_only: BoolArray
    joined: IntArray
    rest: BoolArray
    mixed: tuple[Mapping[str, Values], ...]
    protection: Protection
    readers: Mapping[str, FloatArray]
    held: FloatArray
    by_rates: FloatArray
    prior: FloatArray
    rules: FloatArray
    totals: FloatArray | None = None
    half: FloatArray | None = None
    known: IntArray | None = None

    @classmethod
    def of(cls, regions: Regions, announced: Announced, policy: Policy) -> Announcement:
        """Put together what is announced of a period: the mechanism's choice, and the rates of all other groups.

        Parameters
        ----------
        regions
            All decision regions of the period, with the status of every group.
        announced
            What the mechanism chose for the groups that are to be announced.
        policy
            The programme's policy.

        Returns
        -------
        The announcement of all groups whose numbers are printed.
        """
        told = ~announced.rate_only
        regions_told = np.repeat(told, np.diff(regions.offsets)[regions.announced])
        status = regions.status.copy()
        status[regions.announced[announced.rate_only]] = DisclosureStatus.RATE_ONLY
        regions = replace(regions, status=status)
        printed = regions.take(regions.printed)
        ruled = printed.status == DisclosureStatus.ANNOUNCED
        shown = printed.collapsed(~ruled)
        in_rules = np.repeat(ruled, np.diff(shown.offsets))
        chance = group_rates(shown.counts, shown.offsets)[shown.group_of]
        chance[in_rules] = announced.chance[regions_told]
        totals = None
        if announced.rates_exact:
            counts = np.add.reduceat(shown.counts, shown.offsets[:-1]).T if len(shown) else shown.counts.T
            totals = np.stack([counts, counts], axis=2).astype(np.float64)
        chosen = ruled | (printed.status == DisclosureStatus.RATE_ONLY)

        def of_groups(values: NDArray[Any], otherwise: float) -> NDArray[Any]:
            """Give every printed group its value, or another where the mechanism had no say in it."""
            every = np.full(len(shown), otherwise, dtype=values.dtype)
            every[chosen] = values
            return every

        stopped = announced.rate_only & (announced.held > policy.ceiling + SAME_VALUE)
        return cls(
            outcomes=regions.outcomes,
            groups=regions.printed,
            group_values=shown.group_values,
            region_values=shown.region_values,
            offsets=shown.offsets,
            people=shown.population,
            published=_rounded(shown.population, shown.offsets, ~in_rules, rounding=policy.population_rounding),
            group_people=rounded_total(shown.group_population, rounding=policy.population_rounding),
            rounding=policy.population_rounding,
            chance=chance,
            digits=policy.digits,
            group_digits=np.where(ruled, of_groups(announced.group_digits, RATE_DIGITS), RATE_DIGITS),
            fidelity=announced.promise.of(regions_told),
            status=shown.status,
            limits_only=of_groups(announced.limits_only, False),
            joined=np.array(
                [regions.merged.get(v, len(regions.joined.get(v, ()))) for v in shown.group_values], dtype=np.int64
            ),
            rest=np.array([values in regions.joined for values in shown.group_values], dtype=bool),
            mixed=tuple(_meeting(regions.public, regions.joined.get(values, ())) for values in shown.group_values),
            protection=regions.protection,
            readers={name: of_groups(sure * told, 0.0) for name, sure in announced.readers.items()},
            held=of_groups(announced.held * told, 0.0),
            by_rates=of_groups(announced.readers.get("earlier", announced.prior) * stopped, 0.0),
            prior=of_groups(announced.prior * told, 0.0),
            rules=of_groups(announced.rules, np.nan),
            totals=totals,
            known=shown.known,
        )

    @cached_property
    def mapping(self) -> AnnouncedMapping:
        """(n, outcomes) the announced chances, probability."""
        return AnnouncedMapping(self.chance / 10**CHANCE_DIGITS)

    @cached_property
    def sets(self) -> ProtectedSets | None:
        """The protected sets of the groups at face value; None where every region on its own is one."""
        values, offsets = self.face_values
        return self.protection.sets(values, offsets) if values else None

    @property
    def covered(self) -> dict[str, FloatArray]:
        """The readers whom the guarantee covers, beside those at face value, as :attr:`readers`."""
        return {name: sure for name, sure in self.readers.items() if not name.startswith(WHOLE_NUMBERS)}

    @property
    def ruled(self) -> BoolArray:
        """(g,) which groups tell of their regions; the others show their rates only."""
        return np.asarray(self.status == DisclosureStatus.ANNOUNCED)

    @cached_property
    def open_people(self) -> tuple[IntArray, IntArray]:
        """(n,) the smallest and largest numbers of people that the printed ones leave open."""
        least, most = open_people(self.published, self.group_people, self.offsets, rounding=self.rounding)
        for region in np.flatnonzero(self.flat).tolist():
            least[region], most[region] = open_total(int(self.published[region]), self.rounding)
        return least, most

    def rounded(self, people: IntArray) -> PublishedPopulation:
        """(n,) what would be printed of (n,) so many people."""
        return _rounded(people, self.offsets, self.flat, rounding=self.rounding)

    @property
    def flat(self) -> BoolArray:
        """(n,) which regions stand for a group that shows its rates only."""
        return np.repeat(~self.ruled, np.diff(self.offsets))

    @property
    def flattened(self) -> BoolArray:
        """(g,) which groups show their rates only since prior knowledge alone makes a reader too sure."""
        return np.asarray(self.status == DisclosureStatus.FLATTENED)

    @property
    def coarsened(self) -> BoolArray:
        """(g,) which groups were merged under coarser values."""
        return (self.joined > 0) & ~self.rest

    @property
    def assumed(self) -> IntArray:
        """(n,) people as a reader is assumed to know them: from a file of side information, or as printed."""
        return self.published if self.known is None else self.known

    def confidences(
        self, own: OwnCeiling | None = None, *, held: bool = False, printed: bool = False
    ) -> list[Fraction]:
        """Give the exact maximum confidence of each group for a reader with the side information.

        Without declared side information: the larger of those by the best known and by published populations.

        Parameters
        ----------
        own
            Look only at the protected sets under this ceiling of their own; None: at all of them.
        held
            Whether each set's is divided by its factor: that is held to the policy's ceiling, and may be above 1.
        printed
            Whether the published populations alone are used.

        Returns
        -------
        (g,) probability; 0 in a group without such a set, and in one whose chances nobody can take at face value.

        References
        ----------
        Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 3 and 4.
        """
        result, members = [Fraction(0)] * len(self.groups), self.face_regions
        if not len(members):
            return result
        values, offsets = self.face_values
        sets = self.sets if held else self.sets and self.sets.plain()
        chosen = None if own is None else self.protection.under(own, values, offsets)
        assumed = (self.people, self.published) if self.known is None else (self.known,)
        for people in (self.published,) if printed else assumed:
            sure = exact_confidence(
                people[members], self.chance[members], digits=CHANCE_DIGITS, offsets=offsets, sets=sets, chosen=chosen
            )
            for group, confidence in zip(self.at_face_value.tolist(), sure, strict=True):
                result[group] = max(result[group], confidence)
        return result

    def uninformative(self) -> Announcement:
        """Give an announcement that tells nothing: the same groups, everybody getting the first outcome."""
        chance = np.zeros_like(self.chance)
        chance[:, 0] = 10**CHANCE_DIGITS
        return replace(self, chance=chance)

    @cached_property
    def at_face_value(self) -> IntArray:
        """(k,) positions of the groups whose chances are printed, for readers to take at face value."""
        return np.flatnonzero(self.ruled & ~self.limits_only)

    @cached_property
    def face_regions(self) -> IntArray:
        """Positions of the regions of these groups."""
        return positions_in(self.offsets, self.at_face_value)

    def stated(self, confidences: Sequence[Fraction]) -> float | None:
        """The largest of (g,) confidences of groups at face value, rounded up to the last digit; None without any."""
        of_groups = [confidences[group] for group in self.at_face_value.tolist()]
        return float(round_up(max(of_groups), digits=self.digits)) if of_groups else None

    @property
    def face_values(self) -> tuple[list[Values], list[int]]:
        """Sensitive values of the regions of the groups at face value, and where each of these groups starts."""
        sizes = np.diff(self.offsets)[self.at_face_value]
        return [self.region_values[i] for i in self.face_regions], offsets_of(sizes).tolist()


def _meeting(public: Values, groups: Sequence[Values]) -> dict[str, Values]:
    """Give the values of each attribute that some groups do not share."""
    columns = zip(public, zip(*groups, strict=True), strict=True) if groups else ()
    return {name: met for name, of in columns if len(met := tuple(dict.fromkeys(of))) > 1}


def _rounded(people: IntArray, offsets: IntArray, flat: BoolArray, *, rounding: int) -> PublishedPopulation:
    """Round people of regions, and of the (n,) regions that stand for a whole group as those of groups are."""
    published = published_population(people, offsets, rounding=rounding)
    published[flat] = rounded_total(people[flat], rounding=rounding)
    return published
