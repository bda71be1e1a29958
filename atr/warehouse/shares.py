"""How many people a report tells of, and which values are so common that it can tell of few; from numbers of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from atr.core.protected import Label, floored
from atr.core.regions import DisclosureStatus, Regions
from atr.programme import Programme

_OWN = (DisclosureStatus.ANNOUNCED, DisclosureStatus.RATE_ONLY)


class Shares(NamedTuple):
    """People, by how a report tells of them.

    Decided from numbers of people and the policy. Of which groups only the rate is told in the end depends on decisions
    too, so these count as announced here.

    Attributes
    ----------
    announced
        In groups of the log that are announced as they are.
    told_roughly
        In groups that joined, were coarsened, or are flattened.
    left_out
        In groups of which nothing is told.
    regions
        How many decision regions the announced groups have.
    """

    announced: int
    told_roughly: int
    left_out: int
    regions: int

    @classmethod
    def of(cls, regions: Regions) -> Shares:
        """Count the people of regions with the status of every group."""
        people = Counter[str]()
        own = 0
        sizes = (regions.offsets[1:] - regions.offsets[:-1]).tolist()
        groups = zip(regions.group_values, regions.status, regions.group_population.tolist(), sizes, strict=True)
        for values, status, population, size in groups:
            rough = values in regions.joined or values in regions.merged or status == DisclosureStatus.FLATTENED
            printed = status in _OWN or status == DisclosureStatus.FLATTENED
            people["left out" if not printed else "roughly" if rough else "announced"] += population
            own += size if printed and not rough else 0
        return cls(people["announced"], people["roughly"], people["left out"], own)

    @classmethod
    def total(cls, shares: Iterable[Shares]) -> Shares:
        """Add up those of several periods."""
        return cls(*map(sum, zip(cls(0, 0, 0, 0), *shares, strict=True)))

    @property
    def people(self) -> int:
        """All people."""
        return self.announced + self.told_roughly + self.left_out

    @property
    def announced_share(self) -> float:
        """Of the people, who is announced."""
        return self.announced / max(self.people, 1)

    def counts(self) -> dict[str, int]:
        """Give the numbers of people, by names for machines."""
        return {f"people_{name}": getattr(self, name) for name in ("announced", "told_roughly", "left_out")}

    def percent(self) -> str:
        """Write the share of people who are announced."""
        return percent(self.announced, self.people)

    def __str__(self) -> str:
        """Say it in words."""
        announced, roughly, out = (percent(n, self.people) for n in self[:3])
        return f"{announced} announced, {roughly} told roughly, {out} left out"


def percent(part: int, whole: int) -> str:
    """Write a part in whole percent: somebody is never 0 %, and without somebody it is never 100 %.

    >>> percent(1, 200), percent(4999, 5000), percent(1, 5000)
    ('under 1 %', 'over 99 %', 'under 1 %')
    """
    rounded = round(100 * part / max(whole, 1))
    if part and not rounded:
        return "under 1 %"
    return "over 99 %" if rounded == 100 and part < whole else f"{rounded} %"


class Excess(NamedTuple):
    """A protected set that more people have than its ceiling allows anybody to be sure of: few groups can be announced.

    Attributes
    ----------
    label
        What the set is of.
    people, whole
        With it, and all.
    ceiling
        Of confidence in it, probability.
    """

    label: Label
    people: int
    whole: int
    ceiling: float

    @property
    def share(self) -> float:
        """Of all people, who is in it."""
        return self.people / self.whole

    def told(self, programme: Programme, of: str) -> str:
        """Say of what log or period it is how large a part, and above what."""
        title, share = programme.title_of(self.label.attribute), percent(self.people, self.whole)
        name = f"{'the set ' if self.label.is_named else ''}'{self.label.name}'"
        if round(self.share, 2) <= self.ceiling:
            share = f"more than {share}"
        return f"{title}: {name} is {share} of {of}, above the ceiling {self.ceiling:g}"


def labelled(regions: Regions) -> Counter[Label]:
    """Count the people of each protected set, in all groups together."""
    sets, population = regions.protection.labelled(regions.region_values), regions.population
    return Counter({label: int(population[members].sum()) for label, members in sets.items()})


def excesses(people: Mapping[Label, int], programme: Programme) -> list[Excess]:
    """Find the protected sets of a larger share than their ceiling, the commonest first.

    Parameters
    ----------
    people
        With each protected set, as :func:`labelled` counts them: everybody has one value of each attribute.
    programme
        Its ceilings.
    """
    policy, own_ceilings = programme.policy, programme.protection.own_ceilings
    whole, found = Counter[str](), []
    for label, n in people.items():
        whole[label.attribute] += 0 if label.is_named else n
    for label, n in people.items():
        ceiling = next((own.max_confidence for own in own_ceilings if own.holds(label)), policy.max_confidence)
        if n > whole[label.attribute] * Fraction(floored(ceiling, digits=policy.digits)):
            found.append(Excess(label, n, whole[label.attribute], ceiling))
    return sorted(found, key=lambda of: -of.people)
