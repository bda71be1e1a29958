"""What is announced: the numbers that are printed, and the populations they were checked with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from atr.core.arrays import AnnouncedMapping, BestKnownPopulation, BoolArray, IntArray, PublishedPopulation, Values
from atr.core.confidence import exact_confidence, round_up
from atr.core.fidelity import Fidelity
from atr.core.policy import Policy
from atr.core.protected import OwnCeiling, ProtectedSets, Protection
from atr.core.publication import flat_digits, group_rates, published_population
from atr.core.regions import DisclosureStatus, Regions


@dataclass(frozen=True)
class Announcement:
    """The announced mapping: the numbers that are printed, and the populations they were checked with.

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
    chance
        (n, outcomes) announced chances, in units of the last digit.
    digits
        Decimal digits of the announced chances.
    fidelity
        What is promised of every announced chance outside flattened groups.
    flattened
        (g,) which groups announce their rates for every region.
    coarsened
        (g,) which groups were merged from several of the log.
    protection
        Which sets of people are protected.
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
    chance: IntArray
    digits: int
    fidelity: Fidelity
    flattened: BoolArray
    coarsened: BoolArray
    protection: Protection
    known: IntArray | None = None

    @classmethod
    def of(cls, regions: Regions, chance: IntArray, promise: Fidelity, policy: Policy) -> Announcement:
        """Put together what is announced of a period: the mechanism's chances, and the rates of flattened groups.

        Parameters
        ----------
        regions
            All decision regions of the period, with the status of every group.
        chance
            (n, outcomes) announced chances of the regions of the announced groups, in units of the last digit.
        promise
            What is promised of these.
        policy
            The programme's policy.

        Returns
        -------
        The announcement of all groups whose numbers are printed.
        """
        shown = regions.take(regions.printed)
        sizes, flattened = np.diff(shown.offsets), shown.status == DisclosureStatus.FLATTENED
        every = np.repeat(group_rates(shown.counts, shown.offsets, digits=policy.digits), sizes, axis=0)
        every[~np.repeat(flattened, sizes)] = chance
        return cls(
            outcomes=regions.outcomes,
            groups=regions.printed,
            group_values=shown.group_values,
            region_values=shown.region_values,
            offsets=shown.offsets,
            people=shown.population,
            published=published_population(shown.population, rounding=policy.population_rounding),
            chance=every,
            digits=policy.digits,
            fidelity=promise,
            flattened=flattened,
            coarsened=np.array([values in regions.merged for values in shown.group_values], dtype=bool),
            protection=regions.protection,
            known=shown.known,
        )

    @cached_property
    def mapping(self) -> AnnouncedMapping:
        """(n, outcomes) the announced chances, probability."""
        return AnnouncedMapping(self.chance / 10**self.digits)

    @cached_property
    def sets(self) -> ProtectedSets | None:
        """The protected sets of the announced groups; None where every region on its own is one."""
        return self.protection.sets(self.region_values, self.offsets.tolist()) if len(self.groups) else None

    def under(self, own: OwnCeiling) -> BoolArray:
        """Tell which protected sets are under this ceiling of their own: (v,) booleans."""
        return self.protection.under(own, self.region_values, self.offsets.tolist())

    @property
    def flat(self) -> BoolArray:
        """(n,) which regions lie in flattened groups."""
        return np.repeat(self.flattened, np.diff(self.offsets))

    @property
    def group_digits(self) -> IntArray:
        """(g,) decimal digits of the chances of each group: fewer where they are its rates."""
        return np.where(self.flattened, flat_digits(self.digits), self.digits)

    @property
    def assumed(self) -> IntArray:
        """(n,) people as a reader is assumed to know them: from a file of side information, or as printed."""
        return self.published if self.known is None else self.known

    def confidences(self) -> list[Fraction]:
        """Give the exact maximum confidence of each group for a reader with the side information.

        Without declared side information: the larger of those by the best known and by published populations.

        Returns
        -------
        (g,) probability.

        References
        ----------
        Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 3 and 4.
        """
        return self._largest(self._assumed, self.sets and self.sets.plain())

    def held_confidences(self) -> list[Fraction]:
        """Give what is held to the policy's ceiling: as :meth:`confidences`, each set's divided by its factor.

        Returns
        -------
        (g,) exact; above 1 where a confidence is larger than its factor.
        """
        return self._largest(self._assumed, self.sets)

    def confidences_under(self, own: OwnCeiling) -> list[Fraction]:
        """Give the exact maximum confidence of the sets under one ceiling of their own alone.

        Returns
        -------
        (g,) probability; 0 in a group without such a set.
        """
        return self._largest(self._assumed, self.sets and self.sets.plain(), self.under(own))

    def printed_confidences(self, *, held: bool = False) -> list[Fraction]:
        """Give the exact maximum confidence of each group by the published populations alone.

        Parameters
        ----------
        held
            Whether each set's is divided by its factor, as in :meth:`held_confidences`.

        Returns
        -------
        (g,) probability.
        """
        return self._largest((self.published,), self.sets if held else self.sets and self.sets.plain())

    def uninformative(self) -> Announcement:
        """Give an announcement that tells nothing: the same groups, everybody getting the first outcome."""
        chance = np.zeros_like(self.chance)
        chance[:, 0] = 10**self.digits
        return replace(self, chance=chance)

    def prior_confidences(self) -> list[Fraction]:
        """Give the confidence of each group without the report (β_min), (g,) probability, as :meth:`confidences`."""
        return self.uninformative().confidences()

    def stated(self, confidences: Sequence[Fraction]) -> Decimal:
        """The largest confidence, rounded up to the last digit."""
        return round_up(max(confidences), digits=self.digits)

    @property
    def _assumed(self) -> tuple[IntArray, ...]:
        return (self.people, self.published) if self.known is None else (self.known,)

    def _largest(
        self, populations: Sequence[IntArray], sets: ProtectedSets | None, chosen: BoolArray | None = None
    ) -> list[Fraction]:
        if not len(self.groups):
            return []
        each = (
            exact_confidence(people, self.chance, digits=self.digits, offsets=self.offsets, sets=sets, chosen=chosen)
            for people in populations
        )
        return [max(confidences) for confidences in zip(*each, strict=True)]
