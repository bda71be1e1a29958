"""What readers learn whose beliefs the promise does not cover, by people and rates alone and by the limits. Private.

The promise of limits is for readers of three models. Others bring beliefs of their own about how chances differ; what
they conclude follows mostly from the numbers of people and the rate of a group, which a report tells anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import comb, logit

from atr.core.announced import Announced
from atr.core.arrays import BoolArray, FloatArray, IntArray, offsets_of, segment_of
from atr.core.compiled import compiled
from atr.core.policy import Policy
from atr.core.regions import Regions
from atr.core.tolerances import MISSED_STEPS, SAME_CONFIDENCE
from atr.mechanisms.calibrated.kernels import sums_by_count, weights_by_count

MOST_PEOPLE = 1_000
"""Larger groups are left out: their rules are too many for a plain sum."""
_SURE = 0.02
"""Chances of the last report are taken for no less than this, and no more than 1 less it."""

Expectation = Callable[[IntArray, IntArray, IntArray, int], FloatArray | None]
"""Expected (m,) people with the positive outcome, by people, lowest and highest counts and the total."""


@dataclass(frozen=True, slots=True)
class OtherBelief:
    """What a reader with a belief of his own concludes in all groups.

    Parameters
    ----------
    name
        Of the belief.
    groups
        In how many groups it leaves a rule to believe in.
    above_before, above
        In how many he is above a ceiling by people and rates alone, and with the limits.
    largest_before, largest
        How sure he is at most, each set's confidence divided by the factor of its ceiling.
    """

    name: str
    groups: int
    above_before: int
    above: int
    largest_before: float
    largest: float


def other_beliefs(regions: Regions, announced: Announced, policy: Policy) -> tuple[OtherBelief, ...]:
    """Measure what readers outside the promise of limits conclude.

    Parameters
    ----------
    regions
        The groups that the mechanism announced.
    announced
        What it announced of them.
    policy
        The ceiling.

    Returns
    -------
    One entry for each belief; none where no limits are told.
    """
    limits = announced.promise.limits
    if announced.promise.kind != "limits" or limits is None:
        return ()
    found: dict[str, list[tuple[float, float]]] = {}
    for group in range(len(regions)):
        members = slice(int(regions.offsets[group]), int(regions.offsets[group + 1]))
        people, total = regions.population[members], int(regions.counts[members, 0].sum())
        if people.sum() > MOST_PEOPLE:
            continue
        last = None if regions.earlier is None else regions.earlier[-1, members, 0].mean(axis=1)
        lowest = np.ceil(limits[members, 0, 0] * people - MISSED_STEPS).astype(np.int64)
        highest = np.ceil(limits[members, 0, 1] * people - MISSED_STEPS).astype(np.int64) - 1
        highest = np.where(limits[members, 0, 1] == 1, people, highest)
        labelled = regions.protection.labelled(regions.region_values[members])
        sets = [(np.array(rows), regions.protection.factor(label)) for label, rows in labelled.items()]
        for name, expectation in _beliefs(len(regions.sensitive) == 1, last):
            both = (expectation(people, *ends, total) for ends in ((0 * people, people), (lowest, highest)))
            before, after = (None if k is None else _held(k, people, total, sets) for k in both)
            if before is not None and after is not None:
                found.setdefault(name, []).append((before, after))
    beliefs = []
    for name, sure in found.items():
        above = (np.array(sure) > policy.ceiling + SAME_CONFIDENCE).sum(axis=0).tolist()
        beliefs.append(OtherBelief(name, len(sure), *above, *np.max(sure, axis=0).tolist()))
    return tuple(beliefs)


def _beliefs(on_a_scale: bool, last: FloatArray | None) -> Iterator[tuple[str, Expectation]]:
    if on_a_scale:
        yield "chances rise along the values", _rising
        yield "chances fall along the values", _falling
    yield "all chances are alike but one", _one_differs
    if last is not None and not np.isnan(last).any():
        yield "chances are near those of the last report", partial(_near, np.clip(last, _SURE, 1 - _SURE))


def _held(expected: FloatArray, people: IntArray, total: int, sets: Sequence[tuple[IntArray, float]]) -> float:
    """The largest confidence of a set, divided by the factor of its ceiling."""
    with_each, totals = np.column_stack([expected, people - expected]), np.array([total, people.sum() - total])
    some = totals > 0
    return max(float((with_each[rows].sum(axis=0)[some] / totals[some]).max()) / factor for rows, factor in sets)


def _counts(people: IntArray, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """Lay out the counts 0, 1, … of each region, one region after the other.

    Returns
    -------
    (m + 1,) where each region starts; (z,) the region of each count, the count, and whether it lies between two.
    """
    offsets = offsets_of(people + 1)
    of = segment_of(offsets)
    counts = np.arange(offsets[-1]) - offsets[of]
    return offsets, of, counts, (low[of] <= counts) & (counts <= high[of])


def _near(chances: FloatArray, people: IntArray, low: IntArray, high: IntArray, total: int) -> FloatArray | None:
    """Every person gets the outcome with a chance of the last report, given their total."""
    offsets, of, counts, inside = _counts(people, low, high)
    logs = np.where(inside, np.log(comb(people[of], counts)) + counts * logit(chances)[of], -np.inf)
    weights = np.exp(logs - np.maximum.reduceat(logs, offsets[:-1])[of])
    found = weights_by_count(weights, offsets, total)
    whole = found[: offsets[1]].sum()
    return np.add.reduceat(found * counts, offsets[:-1]) / whole if whole > 0 else None


def _one_differs(people: IntArray, low: IntArray, high: IntArray, total: int) -> FloatArray | None:
    """Any chance of one region is as likely as another, whichever it is; the others have one chance among them."""
    offsets, of, counts, inside = _counts(people, low, high)
    alike = np.where(inside, comb(people[of], counts), 0.0)
    expected, whole = np.zeros(len(people)), 0.0
    for region, n in enumerate(people.tolist()):
        own, weights = slice(offsets[region], offsets[region + 1]), alike.copy()
        others = comb(
            people.sum() - n, total - counts[own]
        )  # rules of the others, 0 where they cannot make up the total
        weights[own] = np.divide(inside[own], (n + 1) * others, out=np.zeros(n + 1), where=others > 0)
        sums = sums_by_count(weights, offsets, region, total)
        expected += sums[:, :-1].sum(axis=0)
        expected[region] += counts[own] @ sums[:, -1]
        whole += sums[:, -1].sum()
    return expected / whole if whole > 0 else None


def _falling(people: IntArray, low: IntArray, high: IntArray, total: int) -> FloatArray | None:
    found = _rising(people[::-1], low[::-1], high[::-1], total)
    return None if found is None else found[::-1]


def _rising(people: IntArray, low: IntArray, high: IntArray, total: int) -> FloatArray | None:
    """All rules whose chances do not fall from region to region are equally likely."""
    regions = np.stack([people, low, high], axis=1)
    mirrored = np.stack([people, people - high, people - low], axis=1)[::-1].copy()
    rest = int(people.sum()) - total
    rules = _rules_by_count(regions, _rising_up_to(regions, total), _rising_up_to(mirrored, rest)[::-1].copy())
    _, of, counts, inside = _counts(people, low, high)
    whole = rules[: high[0] - low[0] + 1].sum()
    return np.bincount(of[inside], counts[inside] * rules) / whole if whole > 0 else None


@compiled
def _rules_by_count(regions: IntArray, forward: FloatArray, backward: FloatArray) -> FloatArray:
    """Count the rising rules with each count of a region: up to it by their sum, and from it on by the others' sum."""
    found, before, row = np.zeros(len(forward)), 0, 0
    total, rest = forward.shape[1] - 1, backward.shape[1] - 1
    for people, low, high in regions:
        for count in range(low, high + 1):
            # People without the outcome from a region on, less those with it up to the region.
            others, rules = rest - before - count, 0.0
            for t in range(max(0, -others), min(total, rest - others) + 1):
                rules += forward[row, t] * backward[row, others + t]
            found[row] = rules
            row += 1
        before += people
    return found


@compiled
def _rising_up_to(regions: IntArray, total: int) -> FloatArray:
    """Count (z, total + 1) the rising rules up to each count of each region, by their sum.

    Parameters
    ----------
    regions
        (m, 3) people, lowest and highest count of each.
    total
        The largest sum.
    """
    rows = 0
    for _, low, high in regions:
        rows += high - low + 1
    found, row = np.zeros((rows, total + 1)), 0
    smaller, before, least = 0, 1, 0  # row of the region before, its people, its count there
    for s, (people, low, high) in enumerate(regions):
        below, end = np.zeros(total + 1), row  # the rows of the region before that are no higher
        below[0] = s == 0
        for count in range(low, high + 1):
            while smaller < end and least * people <= count * before:
                for t in range(total + 1):
                    below[t] += found[smaller, t]
                smaller, least = smaller + 1, least + 1
            for t in range(count, total + 1):
                found[row, t] = below[t - count]
            row += 1
        smaller, before, least = end, people, low
    return found
