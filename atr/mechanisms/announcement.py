"""From decision regions to the announced mapping: who is announced at all, at what confidence, with which numbers.

Three steps, so that the middle one can run for each QID group on its own: :func:`standing` (from populations and
policy alone), :func:`solve` (group by group) and :func:`announce` (all announced groups at one confidence).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from functools import cache, cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from atr.core.confidence import exact_confidence, round_up
from atr.core.fidelity import Fidelity, Ranges, ladder
from atr.core.groups import Groups
from atr.core.protected import OwnCeiling, ProtectedSets, Protection
from atr.errors import ProgrammeError, RefusedError
from atr.mechanisms.optimal import announce as least_distorted
from atr.mechanisms.optimal import optimal_privacy, round_announcement
from atr.mechanisms.optimal.grid import filled_up
from atr.programme import Policy
from atr.warehouse.counting import Regions

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

RATE_DIGITS = 2
"""Rates are printed to the nearest percent: to more digits, that of a small group would give its exact size away."""

_NAMED = 10
"""Groups or regions named in the private part of a refusal."""


class Standing(IntEnum):
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
class Solved:
    """The optimal privacy of some groups at each fidelity that may be promised. Private: it depends on the true rules.

    Parameters
    ----------
    group
        (k,) positions of the groups in the regions.
    beta
        (k, rungs) smallest maximum confidence at each rung of :func:`rungs`, under the policy's group rates.
    beta_other
        (k,) the same at the policy's own fidelity, had group rates been the other way (free for exact, exact for free).
    limits
        (k, 2) what is known before any report, and what the true rules would give away.
    """

    group: Ints
    beta: Floats
    beta_other: Floats
    limits: Floats

    @staticmethod
    def join(parts: Sequence[Solved]) -> Solved:
        """All parts as one, in the order of the groups."""
        order = np.argsort(np.concatenate([part.group for part in parts]), kind="stable")
        return Solved(*(np.concatenate([getattr(p, name) for p in parts])[order] for name in _SOLVED))


_SOLVED = ("group", "beta", "beta_other", "limits")


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
    population, published
        (n,) people, exact and as printed.
    chance
        (n, outcomes) announced chances, in units of the last digit.
    digits
        Decimal digits of the announced chances.
    fidelity
        What is promised of every announced chance outside flattened groups.
    rung
        Its place among the :func:`rungs`.
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
    groups: Ints
    group_values: tuple[tuple[str, ...], ...]
    region_values: tuple[tuple[str, ...], ...]
    offsets: Ints
    population: Ints
    published: Ints
    chance: Ints
    digits: int
    fidelity: Fidelity
    rung: int
    flattened: Bools
    coarsened: Bools
    protection: Protection
    known: Ints | None = None

    @cached_property
    def sets(self) -> ProtectedSets | None:
        """The protected sets of the announced groups; None where every region on its own is one."""
        return self.protection.sets(self.region_values, self.offsets.tolist()) if len(self.groups) else None

    def under(self, own: OwnCeiling) -> Bools:
        """(v,) which protected sets are under a ceiling of their own."""
        return self.protection.under(own, self.region_values, self.offsets.tolist())

    @property
    def flat(self) -> Bools:
        """(n,) which regions lie in flattened groups."""
        return np.repeat(self.flattened, np.diff(self.offsets))

    @property
    def group_digits(self) -> Ints:
        """(g,) decimal digits of the chances of each group: fewer where they are its rates."""
        return np.where(self.flattened, flat_digits(self.digits), self.digits)

    @property
    def assumed(self) -> Ints:
        """(n,) people as a reader is assumed to know them: from a file of side information, or as printed."""
        return self.published if self.known is None else self.known

    def confidences(self) -> list[Fraction]:
        """(g,) the exact maximum confidence of each group by the side information.

        Where none is declared, the larger of those by exact and by published populations.
        """
        return self._largest(self._assumed, self.sets and self.sets.plain())

    def held_confidences(self) -> list[Fraction]:
        """(g,) the same with each set's divided by its factor: what is held to the policy's ceiling."""
        return self._largest(self._assumed, self.sets)

    def confidences_under(self, own: OwnCeiling) -> list[Fraction]:
        """(g,) the same of the sets under a ceiling of their own alone; 0 where there is none."""
        return self._largest(self._assumed, self.sets and self.sets.plain(), self.under(own))

    def printed_confidences(self, *, held: bool = False) -> list[Fraction]:
        """(g,) the exact maximum confidence of each group by the published populations alone."""
        return self._largest((self.published,), self.sets if held else self.sets and self.sets.plain())

    def telling_nothing(self) -> Announcement:
        """The same groups with everybody getting the first outcome, so that what is known without the report is all."""
        chance = np.zeros_like(self.chance)
        chance[:, 0] = 10**self.digits
        return replace(self, chance=chance)

    def prior_confidences(self) -> list[Fraction]:
        """(g,) what a reader can be sure of without the report, as :meth:`confidences`."""
        return self.telling_nothing().confidences()

    def stated(self, confidences: Sequence[Fraction]) -> Decimal:
        """The largest confidence, rounded up to the last digit."""
        return round_up(max(confidences), digits=self.digits)

    @property
    def _assumed(self) -> tuple[Ints, ...]:
        return (self.population, self.published) if self.known is None else (self.known,)

    def _largest(
        self, populations: Sequence[Ints], sets: ProtectedSets | None, chosen: Bools | None = None
    ) -> list[Fraction]:
        if not len(self.groups):
            return []
        each = (
            exact_confidence(people, self.chance, digits=self.digits, offsets=self.offsets, sets=sets, chosen=chosen)
            for people in populations
        )
        return [max(confidences) for confidences in zip(*each, strict=True)]


def published_population(people: Ints, *, rounding: int) -> Ints:
    """People to the nearest multiple of ``rounding``, halves up, and never 0 where there is somebody.

    >>> published_population(np.array([0, 1, 7, 8, 12]), rounding=5)
    array([ 0,  5,  5, 10, 10])
    """
    nearest = (2 * people + rounding) // (2 * rounding) * rounding
    return np.where(people > 0, np.maximum(nearest, rounding), 0)


def open_people(published: int, rounding: int) -> tuple[int, int]:
    """Between what the whole numbers of people lie that are printed as this one.

    >>> open_people(10, 5), open_people(5, 5), open_people(20, 10), open_people(7, 1)
    ((8, 12), (1, 7), (15, 24), (7, 7))
    """
    return 1 if published == rounding else published - rounding // 2, published + (rounding - 1) // 2


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
    def of(regions: Regions, standings: npt.NDArray[np.int64]) -> Extent:
        """The extent of a period's announcement."""
        people = regions.group_population
        return Extent(
            decisions=int(people.sum()),
            announced=int(people[printed(standings)].sum()),
            too_small=int((standings == Standing.TOO_SMALL).sum()),
            prior_too_sure=tuple(regions.group_values[i] for i in np.flatnonzero(standings == Standing.PRIOR_TOO_SURE)),
            merged=sum(regions.merged.get(regions.group_values[i], 0) for i in printed(standings)),
        )


def standing(regions: Regions, policy: Policy) -> npt.NDArray[np.int64]:
    """(g,) the :class:`Standing` of each group: too small, known too well before any report, or announced.

    Raises
    ------
    ProgrammeError
        If the side information has nobody in some region of a group that is large enough; the first such region is
        named in the private part.
    """
    too_sure = Standing.FLATTENED if policy.unattainable == "flatten" else Standing.PRIOR_TOO_SURE
    people = regions.group_population
    result = np.full(len(people), Standing.ANNOUNCED, dtype=np.int64)
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
    result[smallest < policy.minimum_group_size] = Standing.TOO_SMALL
    _require_known(regions, result, policy)
    return result


def _require_known(regions: Regions, standings: npt.NDArray[np.int64], policy: Policy) -> None:
    """Check that the side information covers every region of the groups that are large enough."""
    source = policy.known_from
    if source is None or regions.known is None:
        return
    members, _ = members_of(regions, np.flatnonzero(standings != Standing.TOO_SMALL))
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


def flattened(standings: npt.NDArray[np.int64]) -> Bools:
    """(g,) which groups announce their rates for every region."""
    flat: Bools = standings == Standing.FLATTENED
    return flat


def printed(standings: npt.NDArray[np.int64]) -> Ints:
    """The positions of the groups whose numbers are printed: the announced ones and the flattened ones."""
    return np.flatnonzero((standings == Standing.ANNOUNCED) | flattened(standings))


def flat_digits(digits: int) -> int:
    """Decimals of the chances of a flattened group: those of a printed rate, so that nothing more is told."""
    return min(digits, RATE_DIGITS)


def rungs(regions: Regions, which: Ints, policy: Policy) -> tuple[Fidelity, ...]:
    """The fidelities that may be promised, most faithful first: one, or a ladder under the objective ``fidelity``.

    Parameters
    ----------
    regions
        The decision regions of the period.
    which
        (k,) positions of the groups that the promise is about.
    policy
        The programme's policy.

    Raises
    ------
    ProgrammeError
        If ranges are declared, but not for all regions of these groups.
    RefusedError
        If a true chance lies outside its declared range; which ones is in its private part.
    """
    fidelity = policy.fidelity.model(values_of(regions, which))
    if isinstance(fidelity, Ranges):
        _check_truth(regions, which, fidelity)
    return ladder(fidelity) if policy.objective == "fidelity" else (fidelity,)


def _check_truth(regions: Regions, which: Ints, declared: Ranges) -> None:
    members, _ = members_of(regions, which)
    true = regions.counts[members, 0] / regions.population[members]
    outside = np.flatnonzero((true < declared.lower) | (true > declared.upper))
    if not len(outside):
        return
    values = list(values_of(regions, which))
    named = [f"  {', '.join(values[i])}" for i in outside[:_NAMED]]
    more = [f"  and {len(outside) - _NAMED} more"] if len(outside) > _NAMED else []
    raise RefusedError(
        "a true chance lies outside the range that the programme declares for it",
        hint="Widen the ranges; the dossier shows which. Move in coarse steps: how far depends on the true decisions.",
        private="\n".join(["Regions whose true chance lies outside its range:", *named, *more]),
    )


def solve(regions: Regions, which: Ints, policy: Policy) -> Solved:
    """The optimal privacy of some groups.

    Parameters
    ----------
    regions
        The decision regions of the period.
    which
        (k,) positions of the groups to solve.
    policy
        The programme's policy.
    """
    if not len(which):
        steps = len(rungs(regions, which, policy))
        return Solved(np.zeros(0, dtype=np.int64), np.zeros((0, steps)), np.zeros(0), np.zeros((0, 2)))
    groups = groups_of(regions, which)
    promises = rungs(regions, which, policy)
    other: Literal["exact", "free"] = "free" if policy.group_rates == "exact" else "exact"
    solved = [
        optimal_privacy(groups, fidelity=f, group_rates=policy.group_rates, digits=policy.digits) for f in promises
    ]
    return Solved(
        group=np.asarray(which, dtype=np.int64),
        beta=np.stack([s.beta for s in solved], axis=1),
        beta_other=optimal_privacy(groups, fidelity=promises[-1], group_rates=other, digits=policy.digits).beta,
        limits=solved[-1].limits,
    )


def announce(regions: Regions, solved: Solved, policy: Policy) -> Announcement:
    """The announced mapping: that of the solved groups, and the rates of each group that the policy flattens.

    Raises
    ------
    RefusedError
        If some group cannot be brought below the ceiling at the demanded fidelity. Which groups bind is in its
        private part.
    """
    return _with_flattened(_least_distorted(regions, solved, policy), regions, policy)


def _with_flattened(made: Announcement, regions: Regions, policy: Policy) -> Announcement:
    standings = standing(regions, policy)
    added = np.flatnonzero(flattened(standings))
    if not len(added):
        return made
    which = np.union1d(made.groups, added)
    flat = flattened(standings[which])
    members, offsets = members_of(regions, which)
    inside = np.repeat(flat, np.diff(offsets))
    chance = np.repeat(_rates(regions, policy.digits)[which], np.diff(offsets), axis=0)
    chance[~inside] = made.chance
    published = published_population(regions.population[members], rounding=policy.population_rounding)
    return announced_of(
        regions,
        which,
        published=published,
        chance=chance,
        rung=made.rung,
        policy=policy,
        standings=standings[which],
    )


def _rates(regions: Regions, digits: int) -> Ints:
    """(g, outcomes) the rates of each group, in units of the last digit, but to the digits of a flattened chance.

    The rates of a group add up to 1; of two, the first is rounded halves up.
    """
    unit = 10 ** flat_digits(digits)
    with_outcome = np.add.reduceat(regions.counts, regions.offsets[:-1])
    whole, rest = np.divmod(with_outcome * unit, regions.group_population[:, None])
    rates: Ints = filled_up(whole, rest, unit) * (10**digits // unit)
    return rates


def _nobody(regions: Regions, which: Ints, *, rung: int, policy: Policy) -> Announcement:
    none = np.zeros((0, len(regions.outcomes)), dtype=np.int64)
    return announced_of(regions, which, published=none[:, 0], chance=none, rung=rung, policy=policy)


def _least_distorted(regions: Regions, solved: Solved, policy: Policy) -> Announcement:
    """The solved groups, least distorted at one confidence, rounded, below the ceiling."""
    which = solved.group
    promises = rungs(regions, which, policy)
    if not len(which):
        return _nobody(regions, which, rung=len(promises) - 1, policy=policy)
    groups = groups_of(regions, which)
    refusal: RefusedError | None = None
    for rung, fidelity in enumerate(promises):
        binding = solved.beta[:, rung] > policy.ceiling + 1e-12
        if binding.any():
            refusal = _refused(regions, which[binding], solved.beta[binding, rung], rung, policy)
            continue
        beta = policy.ceiling if policy.objective == "fidelity" else float(solved.beta[:, rung].max())
        continuous = least_distorted(
            groups, beta=beta, fidelity=fidelity, group_rates=policy.group_rates, digits=policy.digits
        )
        try:
            made = _rounded(regions, which, continuous, rung, beta=beta, ceiling=policy.ceiling, policy=policy)
        except RefusedError as error:
            refusal = _refused(regions, which, solved.beta[:, rung], rung, policy, after_rounding=error)
            continue
        return _as_private_as_printed(made, regions, continuous, beta=beta, policy=policy)
    raise refusal or AssertionError("a ladder has at least one rung")


def _rounded(
    regions: Regions,
    which: Ints,
    continuous: Floats,
    rung: int,
    *,
    beta: float,
    ceiling: float,
    policy: Policy,
) -> Announcement:
    """The printed numbers of some groups, at most at the ceiling by the side information and by published numbers."""
    groups = groups_of(regions, which)
    members, _ = members_of(regions, which)
    published = published_population(regions.population[members], rounding=policy.population_rounding)
    rounded = round_announcement(
        groups,
        continuous,
        fidelity=rungs(regions, which, policy)[rung],
        digits=policy.digits,
        beta=beta,
        ceiling=ceiling,
        published_population=published,
        group_rates=policy.group_rates,
    )
    # The mechanism gives one number for two outcomes.
    chance = rounded if rounded.ndim == 2 else np.column_stack([rounded, 10**policy.digits - rounded])
    return announced_of(regions, which, published=published, chance=chance, rung=rung, policy=policy)


def _as_private_as_printed(
    made: Announcement, regions: Regions, continuous: Floats, *, beta: float, policy: Policy
) -> Announcement:
    """Hold published populations, too, to the smallest confidence that all groups can reach.

    The optimum is reached with exact populations. Rounding small regions up to a printable number of people can make
    the printed rules give away more; where other numbers within the promise do not, those are announced.
    """
    unit = 10**policy.digits
    level = math.ceil(beta * unit - 1e-6)
    surest = [math.ceil(confidence * unit) for confidence in made.held_confidences()]
    above = sorted((i for i, steps in enumerate(surest) if steps > level), key=lambda i: -surest[i])

    @cache
    def held(group: int, steps: int) -> Ints | None:
        cells = slice(int(made.offsets[group]), int(made.offsets[group + 1]))
        try:
            which, ceiling = made.groups[group : group + 1], steps / unit
            alone = _rounded(
                regions,
                which,
                continuous[cells],
                made.rung,
                beta=min(beta, ceiling),
                ceiling=ceiling,
                policy=policy,
            )
        except RefusedError:
            return None
        return alone.chance

    for group in above:
        if surest[group] <= level:
            break
        if held(group, level) is None:
            impossible, possible = level, surest[group]
            while possible - impossible > 1:
                middle = (impossible + possible) // 2
                impossible, possible = (middle, possible) if held(group, middle) is None else (impossible, middle)
            level = possible
    chance = made.chance.copy()
    for group in above:
        found = held(group, level) if surest[group] > level else None
        if found is not None:
            chance[made.offsets[group] : made.offsets[group + 1]] = found
    return replace(made, chance=chance)


def announced_of(
    regions: Regions,
    which: Ints,
    *,
    published: Ints,
    chance: Ints,
    rung: int,
    policy: Policy,
    standings: npt.NDArray[np.int64] | None = None,
) -> Announcement:
    """The announcement of some groups, from the numbers chosen for their regions.

    None is flattened unless their standings say so.
    """
    members, offsets = members_of(regions, which)
    nobody = np.zeros(len(which), dtype=bool)
    flat = nobody if standings is None else flattened(standings)
    promise = rungs(regions, which[~flat], policy)[rung]
    return Announcement(
        outcomes=regions.outcomes,
        groups=which,
        group_values=tuple(regions.group_values[i] for i in which),
        region_values=tuple(regions.region_values[i] for i in members),
        offsets=offsets,
        population=regions.population[members],
        published=published,
        chance=chance,
        digits=policy.digits,
        fidelity=promise,
        rung=rung,
        flattened=flat,
        coarsened=np.array([regions.group_values[i] in regions.merged for i in which], dtype=bool),
        protection=regions.protection,
        known=None if regions.known is None else regions.known[members],
    )


def protected_sets(regions: Regions, which: Ints) -> ProtectedSets | None:
    """The protected sets of some groups; None where every region on its own is one."""
    return regions.protection.sets(*_sensitive_of(regions, which)) if len(which) else None


def _sensitive_of(regions: Regions, which: Ints) -> tuple[list[tuple[str, ...]], list[int]]:
    """The sensitive values in every region of some groups, and where each group starts."""
    members, offsets = members_of(regions, which)
    return [regions.region_values[i] for i in members], offsets.tolist()


def members_of(regions: Regions, which: Ints) -> tuple[Ints, Ints]:
    """The positions of all regions of some groups, and where each group starts among them."""
    sizes = np.diff(regions.offsets)[which]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.arange(offsets[-1]) + np.repeat(regions.offsets[:-1][which] - offsets[:-1], sizes), offsets


def values_of(regions: Regions, which: Ints) -> Iterator[tuple[str, ...]]:
    """For every region of some groups, its display values: public ones, then sensitive ones."""
    for group in which:
        for region in range(regions.offsets[group], regions.offsets[group + 1]):
            yield (*regions.group_values[group], *regions.region_values[region])


def groups_of(regions: Regions, which: Ints) -> Groups:
    """Some groups with their true decision mapping, as the mechanism takes them. Private.

    Their population is what a reader knows; where that is from a file, rates are kept of the people of the log.
    """
    members, offsets = members_of(regions, which)
    population = regions.population[members]
    decision = regions.counts[members] / population[:, None]
    protection, values = regions.protection, _sensitive_of(regions, which)
    return Groups(
        regions.assumed[members],
        decision[:, 0] if decision.shape[1] == 2 else decision,
        offsets,
        protection.nested(*values),
        protection.factors(*values),
        rated=None if regions.known is None else population,
    )


def _refused(
    regions: Regions,
    which: Ints,
    beta: Floats,
    rung: int,
    policy: Policy,
    *,
    after_rounding: RefusedError | None = None,
) -> RefusedError:
    kind, level = policy.fidelity.kind, policy.fidelity.level
    promised, widen = (
        ("within the declared ranges", "Widen the ranges")
        if level is None
        else (f"at {kind} {level:g}", "Lower the fidelity")
    )
    if after_rounding is not None:
        private = f"Within the printed digits some groups cannot be held below the ceiling. {after_rounding.private}"
    else:
        worst = np.argsort(-beta, kind="stable")[:_NAMED]
        needs = _needs(regions, which[worst], beta[worst], rung, policy)
        named = [f"  {', '.join(regions.group_values[which[i]])}: {of}" for i, of in zip(worst, needs, strict=True)]
        more = [f"  and {len(which) - len(worst)} more"] if len(which) > len(worst) else []
        private = "\n".join(["Groups that bind, with the ceiling each would need:", *named, *more])
    own = " or a ceiling of its own" if regions.protection.own_ceilings else ""
    return RefusedError(
        f"a maximum confidence of {policy.max_confidence:g}{own} cannot be reached {promised} "
        f"with {policy.group_rates} group rates",
        hint=f"{widen}, raise max_confidence{own}, or choose the other group_rates; the dossier shows which "
        "groups bind and how far. Move in coarse steps: how far depends on the true decisions.",
        private=private,
    )


def _needs(regions: Regions, which: Ints, beta: Floats, rung: int, policy: Policy) -> Iterator[str]:
    """The ceiling that each group would need; where ceilings differ, that of the protected set that binds."""
    if not regions.protection.own_ceilings:
        yield from (f"needs {_coarse(least)}" for least in beta)
        return
    fidelity = rungs(regions, which, policy)[rung]
    solved = optimal_privacy(
        groups_of(regions, which), fidelity=fidelity, group_rates=policy.group_rates, digits=policy.digits
    )
    for group, least, position in zip(which, beta, solved.binding[:, 0], strict=True):
        members = slice(int(regions.offsets[group]), int(regions.offsets[group + 1]))
        label = list(regions.protection.labelled(regions.region_values[members]))[position]
        factor = regions.protection.factor(label)
        yield f"needs {_coarse(least * factor)} for {label.attribute}: {label.name}"


def _coarse(beta: float) -> str:
    return f"{min(1.0, np.ceil(beta * 20 - 1e-9) / 20):.2f}"
