"""What readers make of each group of a report: of limits, or of chances that a range is promised of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray, PublishedPopulation, counts_within
from atr.core.protected import floored
from atr.core.publication import CHANCE_DIGITS, RATE_DIGITS
from atr.core.tolerances import MISSED_STEPS, SAME_VALUE
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.digits import printed_chances
from atr.mechanisms.calibrated.group import announce
from atr.verify.population_bounds import PopulationBounds
from atr.verify.reader_confidence import (
    MARGIN,
    MODELS,
    OpenGroup,
    all_windows,
    chances,
    confidences,
    shares,
    windows_within,
)


@dataclass(frozen=True, eq=False)
class PrintedGroup:
    """One group of a report whose regions are told.

    Parameters
    ----------
    least, most, published
        (m,) people of its regions, at least, at most and as printed.
    people
        Of the group, at least and at most.
    limits
        (m, outcomes, 2) what is told of the chances, probability.
    chance
        (m, outcomes) in units of 10^-6; None where no chances are printed.
    rate
        (outcomes,) as printed.
    digits
        Of the chances.
    sets
        (sets, m) which regions each protected set has.
    ceilings
        (sets,) how sure of it a reader may be.
    """

    least: IntArray
    most: IntArray
    published: PublishedPopulation
    people: tuple[int, int]
    limits: FloatArray
    chance: IntArray | None
    rate: FloatArray
    digits: int
    sets: BoolArray
    ceilings: FloatArray

    @property
    def exact(self) -> bool:
        """Whether the people of every region are known."""
        return bool((self.least == self.most).all())

    def totals(self, outcome: int) -> IntArray:
        """Give the numbers of people with an outcome that the printed rate leaves open, (t,)."""
        reach = 0.5 * 10.0**-RATE_DIGITS
        lowest = np.ceil(self.people[0] * (self.rate[outcome] - reach) - MISSED_STEPS)
        highest = np.floor(self.people[1] * (self.rate[outcome] + reach) + MISSED_STEPS)
        return np.arange(max(int(lowest), 0), min(int(highest), self.people[1]) + 1)


@dataclass(frozen=True, eq=False)
class Reading:
    """What follows from a group for its readers, each number as the smallest and the largest it can be.

    Parameters
    ----------
    sure
        For each reader (sets, 2) how sure of each protected set, the largest over outcomes.
    prior
        (sets, 2) the same of the surest of them, by numbers of people and rates alone.
    rules
        How many are left: of exact people (t,) for each number of people with the outcome that fits, or else (2,).
    """

    sure: dict[str, FloatArray]
    prior: FloatArray
    rules: FloatArray


def printed_group(printed: PopulationBounds, group: int, limits: FloatArray) -> PrintedGroup:
    """Gather what is printed of one group.

    Parameters
    ----------
    printed
        The report.
    group
        Its position among the announced groups.
    limits
        (m, outcomes, 2) what is told of its chances.
    """
    shown = printed.announcement
    cells = slice(int(shown.offsets[group]), int(shown.offsets[group + 1]))
    members = np.zeros(len(shown.people), dtype=np.bool_)
    members[cells] = True
    labelled = shown.protection.labelled(shown.region_values[cells])
    sets = np.zeros((len(labelled), len(limits)), dtype=np.bool_)
    for of, rows in zip(sets, labelled.values(), strict=True):
        of[rows] = True
    policy = printed.report.policy
    ceiling = float(floored(policy.max_confidence, digits=policy.digits))
    rate = printed.report.announced_groups[group].rate or {}
    return PrintedGroup(
        least=printed.least[cells],
        most=printed.most[cells],
        published=PublishedPopulation(shown.published[cells]),
        people=printed.people(members),
        limits=limits,
        chance=None if shown.limits_only[group] else shown.chance[cells],
        rate=np.array([rate[outcome] for outcome in shown.outcomes]),
        digits=int(shown.group_digits[group]),
        sets=sets,
        ceilings=ceiling * np.array([shown.protection.factor(label) for label in labelled]),
    )


def of_limits(group: PrintedGroup, steps: int, least: int | None) -> tuple[Reading | None, list[str]]:
    """Follow what readers of limits make of a group with two outcomes, or of one outcome against the rest.

    Parameters
    ----------
    group
        The group.
    steps
        Of the grid of limits, from chance 0 to 1.
    least
        Whole counts and rules that are left, as the policy says; None where limits were told before, which these may
        depend on.

    Returns
    -------
    None where no numbers of people fit what is printed, and what does not fit.
    """
    windows = windows_within(*np.rint(group.limits[:, 0].T * steps) / steps)
    whole = OpenGroup(group.least, group.most, _by_chances(group, group.totals(0)), windows).possible
    if group.exact:
        fits = [k for k in whole.totals.tolist() if _is_printed(group, whole, steps, k)]
        whole = replace(whole, totals=np.array(fits, dtype=np.int64))
    if not len(whole.totals):
        return None, ["no numbers of people within its limits give the printed rate, chances and digits"]
    if group.exact and least is not None:
        told = [k for k in whole.totals.tolist() if _is_told(group, whole, steps, least, k)]
        whole = replace(whole, totals=np.array(told, dtype=np.int64))
        if not len(whole.totals):
            return None, ["its limits are not those that the mechanism tells of any rule within them"]
    problems = [] if group.exact or group.chance is None else list(_outside(group, chances(whole)))
    others = int(group.least.sum()) - whole.totals
    if not group.exact:
        positive = group.totals(0)
        others = np.arange(max(group.people[0] - int(positive[-1]), 0), group.people[1] - int(positive[0]) + 1)
    sides = whole, whole.others(others).possible
    sure = {
        model: np.asarray(np.max([confidences(side, model, group.sets) for side in sides], axis=0)) for model in MODELS
    }
    untold = [replace(side, windows=all_windows) for side in sides]
    prior = np.max([confidences(side, model, group.sets) for side in untold for model in MODELS], axis=0)
    rules = whole.rules(most=True)
    if not group.exact:
        rules = np.array([whole.rules(most=False).min(), rules.max()])
    return Reading(sure, prior, rules), problems


def _by_chances(group: PrintedGroup, totals: IntArray) -> IntArray:
    """Keep the numbers of people with the first outcome to which its printed chances can add up, (t,)."""
    if group.chance is None:
        return totals
    told, reach = group.chance[:, 0] / 10**CHANCE_DIGITS, _reach(group)
    lowest, highest = group.least @ np.maximum(told - reach, 0), group.most @ (told + reach)
    return np.asarray(totals[(totals >= lowest - MISSED_STEPS) & (totals <= highest + MISSED_STEPS)])


def _reach(group: PrintedGroup) -> float:
    """How far a printed chance may be from what readers expect: of three outcomes the others may have to make room."""
    return (0.5 if len(group.rate) == 2 else 1.0) * 10.0**-group.digits + SAME_VALUE


def _outside(group: PrintedGroup, open_chances: FloatArray) -> Iterator[str]:
    """Name the regions whose printed chance no numbers of people within the rounding give."""
    assert group.chance is not None
    off = _reach(group)
    told = group.chance[:, 0] / 10**CHANCE_DIGITS
    for region in np.flatnonzero((told < open_chances[:, 0] - off) | (told > open_chances[:, 1] + off)).tolist():
        low, high = open_chances[region]
        yield f"row {region + 1}: its chance is stated as {told[region]:g}, {low:.4f} to {high:.4f} follows"


def _is_printed(group: PrintedGroup, whole: OpenGroup, steps: int, total: int) -> bool:
    """Tell whether a group of exact people, so many of them with the first outcome, is printed as it is."""
    one, people, alone = replace(whole, totals=np.array([total])), group.least, np.eye(len(group.least), dtype=np.bool_)
    positive = one.expected("uniform", alone, tilt=one.tilt("uniform"))[1, :, 0]
    if len(group.rate) > 2:
        off = 0.0 if group.chance is None else np.abs(group.chance[:, 0] / 10**CHANCE_DIGITS - positive / people).max()
        return bool(off < 10.0**-group.digits)
    found = printed_chances(
        np.column_stack([positive, people - positive]),
        np.rint(group.limits * steps).astype(np.int64),
        steps,
        totals=np.array([total, int(people.sum()) - total]),
        published=group.published,
        ceilings=Ceilings.of(people, group.ceilings.tolist(), [np.flatnonzero(of).tolist() for of in group.sets]),
    )
    if found is None or group.chance is None:
        return found is None and group.chance is None
    return found.digits == group.digits and bool((found.chance == group.chance).all())


def _is_told(group: PrintedGroup, whole: OpenGroup, steps: int, least: int, total: int) -> bool:
    """Tell whether the mechanism tells these limits of a rule within them, as it then does of each of them."""
    cell = announce(
        group.least,
        _any_rule(whole, total),
        max_confidence=group.ceilings.tolist(),
        steps=steps,
        least=least,
        sets=[np.flatnonzero(of).tolist() for of in group.sets],
    )
    return cell is not None and np.array_equal([cell.lower, cell.upper], np.rint(group.limits[:, 0].T * steps))


def _any_rule(whole: OpenGroup, total: int) -> IntArray:
    """Give (m,) people with the first outcome within the limits, so many in all."""
    lowest, highest = whole.windows(whole.least)
    return np.asarray(lowest + np.diff(np.minimum(np.append(0, (highest - lowest).cumsum()), total - lowest.sum())))


def of_promise(printed: PopulationBounds, group: PrintedGroup, place: int) -> tuple[FloatArray, FloatArray]:
    """Follow what a reader who counts in whole numbers makes of chances that a range is promised of.

    Parameters
    ----------
    printed
        The report.
    group
        The group; its limits are what the promise leaves possible.
    place
        Its position among the announced groups.

    Returns
    -------
    (2,) his confidence on average over the rules that are left, and (2,) that of the rule which makes him surest;
    smallest and largest.
    """
    free, found = printed.announcement.totals is None, []
    for outcome in range(len(group.rate)):
        totals = np.zeros(0, dtype=np.int64) if free else _implied(printed, group, outcome, place)
        side = OpenGroup(group.least, group.most, totals, partial(_promised, group.limits, outcome)).possible
        average = shares(side, group.sets, one_rule=False) if free else confidences(side, "uniform", group.sets)
        ends = np.array([average.max(axis=0), shares(side, group.sets, one_rule=True).max(axis=0)])
        # With other people than the true ones a range may hold no whole number: a person a region, either way.
        off = 0.0 if group.exact else MARGIN + len(group.least) / max(int(side.totals.min(initial=1)), 1)
        found.append(np.clip(ends + np.array([-off, off]), 0.0, 1.0))
    average, largest = np.max(found, axis=0)
    return average, largest


def _promised(ranges: FloatArray, outcome: int, people: IntArray) -> tuple[IntArray, IntArray]:
    """Give what (m, outcomes, 2) ranges of the chances, both ends included, leave the numbers with an outcome."""
    lowest, highest = counts_within(ranges[:, :, 0], ranges[:, :, 1], people)
    return lowest[..., outcome].copy(), highest[..., outcome].copy()


def _implied(printed: PopulationBounds, group: PrintedGroup, outcome: int, place: int) -> IntArray:
    """(t,) how many people can have an outcome by the chances of a group, which tell its rate, and by its rate."""
    assert group.chance is not None
    assert printed.announcement.half is not None
    chance, reach = group.chance[:, outcome] / 10**CHANCE_DIGITS, group.people[1] * printed.announcement.half[place]
    lowest, highest = np.ceil(group.least @ chance - reach), np.floor(group.most @ chance + reach)
    totals = group.totals(outcome)
    return np.asarray(totals[(lowest <= totals) & (totals <= highest)])
