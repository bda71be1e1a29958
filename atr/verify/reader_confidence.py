"""What readers make of limits, computed a second way: by convolving windows of whole numbers.

One group, one outcome. What is printed leaves open, within rounding, the people of its regions and how many of the
group got the outcome. More people in a region make its window of whole numbers higher: of the models ``uniform`` and
``alike``, whose weights are log-concave, a reader then expects more of those with the outcome to be there, and fewer in
other regions (Efron, Ann. Math. Stat. 36, 1965). So the ends of what he expects are at the ends of the rounding. Of
``extreme`` they need not be: more corners are looked at, and what is found counts with a margin of :data:`MARGIN`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.compiled import compiled
from atr.core.tolerances import MISSED_STEPS

LOG_WEIGHTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "uniform": np.zeros_like,
    "extreme": lambda k: gammaln(2 * k + 1) - 2 * gammaln(k + 1),
    "alike": lambda k: -gammaln(k + 1),
}
"""For each model the logarithm of what k people with an outcome contribute; those of all outcomes add up."""
MODELS = tuple(LOG_WEIGHTS)
MARGIN = 0.02
"""Share of those with an outcome by which the model ``extreme`` may miss its ends, where numbers of people are open."""
_STEEPEST = 50.0
_NEAR = 1e-3
_PARTS = 8

Windows = Callable[[IntArray], tuple[IntArray, IntArray]]
"""The lowest and the highest numbers with an outcome, (m,) each, that are left of (m,) so many people."""


def windows_within(lower: FloatArray, upper: FloatArray) -> Windows:
    """Give what (m,) limits of a chance leave; it is below the upper one, but for one of 1."""

    def windows(people: IntArray) -> tuple[IntArray, IntArray]:
        lowest, end = (np.ceil(of * people - MISSED_STEPS).astype(np.int64) for of in (lower, upper))
        return lowest, np.where(upper >= 1, people, end - 1)

    return windows


def all_windows(people: IntArray) -> tuple[IntArray, IntArray]:
    """Give what is left where nothing is told."""
    return np.zeros_like(people), people


@dataclass(frozen=True, eq=False)
class OpenGroup:
    """What is printed of a group about those of its people with one outcome.

    Parameters
    ----------
    least, most
        (m,) people of its regions, at least and at most.
    totals
        (t,) what the number of people with the outcome can be, ascending or descending.
    windows
        What is left of the numbers with it in each region.
    """

    least: IntArray
    most: IntArray
    totals: IntArray
    windows: Windows

    @property
    def exact(self) -> bool:
        """Whether the people of every region are known."""
        return bool((self.least == self.most).all())

    def others(self, totals: IntArray) -> OpenGroup:
        """Give the same group about those without the outcome, whose number can be one of (t,) totals."""

        def windows(people: IntArray) -> tuple[IntArray, IntArray]:
            lowest, highest = self.windows(people)
            return people - highest, people - lowest

        return OpenGroup(self.least, self.most, totals, windows)

    def rules(self, *, most: bool) -> FloatArray:
        """Bound the number of rules by the widest or by the narrowest windows that are open, (t,) for each total."""
        (least_low, least_high), (most_low, most_high) = self.windows(self.least), self.windows(self.most)
        lowest, highest = (least_low, most_high) if most else (most_low, least_high)
        alike, nobody = np.zeros(int(self.most.max()) + 1), np.zeros((1, len(lowest)), dtype=np.bool_)
        return np.asarray(_sums(self.most[None], lowest[None], highest[None], nobody, alike, 0.0, self.totals)[0, 0])

    def expected(self, model: str, members: BoolArray, *, tilt: float) -> FloatArray:
        """Bound how many of those with the outcome a reader expects in sets of regions.

        Parameters
        ----------
        model
            Of the reader.
        members
            (sets, m) which regions each set has.
        tilt
            Of :meth:`tilt`.

        Returns
        -------
        (2, sets, t) people, at least and at most, for each of the totals.
        """
        ends = [(self.least, self.most), (self.most, self.least)]
        if self.exact:
            ends = ends[:1]
        elif model == "extreme":
            ends += [(of, of) for of in (self.least, (self.least + self.most) // 2, self.most)]
        inside, outside = np.array(ends).swapaxes(0, 1)[:, :, None]
        people, rows = np.where(members, inside, outside).reshape(-1, len(self.least)), np.tile(members, (len(ends), 1))
        least, most = self.at(model, rows, people, tilt=tilt).reshape(2, len(ends), len(members), -1)
        return np.stack([least.min(axis=0), most.max(axis=0)] if model == "extreme" else [least[0], most[-1]])

    def at(self, model: str, members: BoolArray, people: IntArray, *, tilt: float) -> FloatArray:
        """Give the same for (sets, m) people, one row for each set; bounds where they cannot have the total."""
        logs = LOG_WEIGHTS[model](np.arange(people.max() + 1.0))
        return np.asarray(_sums(people, *self.windows(people), members, logs, tilt, self.totals)[1:])

    def tilt(self, model: str) -> float:
        """Give the logarithm by which weights are to grow with every person for a middle total to be the likeliest.

        It changes nothing but the size of the numbers: a total far out would come out as 0.
        """
        people = (self.least + self.most) // 2
        lowest, highest = self.windows(people)
        if (lowest > highest).any() or not lowest.sum() < highest.sum():
            return 0.0
        middle = min(max(float(self.totals[len(self.totals) // 2]), lowest.sum() + 0.5), highest.sum() - 0.5)
        return _tilt(people, lowest, highest, LOG_WEIGHTS[model](np.arange(people.max() + 1.0)), middle)

    @property
    def possible(self) -> OpenGroup:
        """The same group with the totals that some numbers of people within the limits have."""
        lowest, highest = self.windows(self.least)[0].sum(), self.windows(self.most)[1].sum()
        return replace(self, totals=self.totals[(lowest <= self.totals) & (self.totals <= highest)])


def confidences(group: OpenGroup, model: str, sets: BoolArray) -> FloatArray:
    """Bound how sure a reader is that somebody with the outcome is in a protected set.

    Parameters
    ----------
    group
        With the outcome.
    model
        Of the reader.
    sets
        (sets, m) which regions each protected set has.

    Returns
    -------
    (sets, 2) smallest and largest probability; 0 where nobody can have got the outcome.
    """
    certain, group = bool((group.totals > 0).all()), replace(group, totals=group.totals[group.totals > 0])
    if not len(group.totals):
        return np.zeros((len(sets), 2))
    margin = MARGIN + 0.5 / int(group.totals.min()) if model == "extreme" and not group.exact else 0.0
    least, most = group.expected(model, sets, tilt=group.tilt(model)) / group.totals
    ends = [((most if group.exact else least).min(axis=1) - margin) * certain, most.max(axis=1) + margin]
    return np.asarray(np.clip(np.stack(ends, axis=1), 0.0, 1.0))


def shares(group: OpenGroup, sets: BoolArray, *, one_rule: bool) -> FloatArray:
    """Bound what share of those with the outcome is in each protected set, by the numbers that are left.

    Parameters
    ----------
    group
        With the outcome.
    sets
        (sets, m) which regions each protected set has.
    one_rule
        Whether by the rule that has most of them there, or else, with no total, by the middle of all.

    Returns
    -------
    (sets, 2) smallest and largest probability.
    """
    found, totals = np.zeros((len(sets), 2)), group.totals[group.totals > 0]
    for of, members in zip(found, sets, strict=True):
        for end, people in enumerate((group.least, group.most)):
            lowest, highest = group.windows(np.where(members, people, group.least + group.most - people))
            inside, outside = (highest, lowest) if one_rule else ((lowest + highest) / 2,) * 2
            part, rest = max(inside[members].sum(), 0), max(outside[~members].sum(), 0)
            share = np.array([part / (part + rest) if part else 0.0])
            if len(totals):
                share = np.minimum(part, totals - rest) / totals
            of[end] = share.max() if end else share.min() * (group.totals > 0).all()
    return np.clip(found, 0.0, 1.0)


def chances(group: OpenGroup) -> FloatArray:
    """Bound the chance of the outcome in every region that a reader of the model ``uniform`` expects, (m, 2)."""
    parts = [
        (region, fewest, end - 1)
        for region, of in enumerate(np.linspace(group.least, group.most + 1, _PARTS + 1, axis=1).astype(np.int64))
        for fewest, end in pairwise(np.unique(of).tolist())
    ]
    region, fewest, most = np.array(parts).T  # a quotient of two numbers that rise together
    members, tilt = region[:, None] == np.arange(len(group.least)), group.tilt("uniform")
    low, _ = group.at("uniform", members, np.where(members, fewest[:, None], group.most), tilt=tilt)
    _, high = group.at("uniform", members, np.where(members, most[:, None], group.least), tilt=tilt)
    starts = np.searchsorted(region, np.arange(len(group.least)))
    ends = np.minimum.reduceat(low.min(axis=1) / most, starts), np.maximum.reduceat(high.max(axis=1) / fewest, starts)
    return np.stack(ends, axis=1)


@compiled
def _sums(
    people: IntArray,
    lowest: IntArray,
    highest: IntArray,
    members: BoolArray,
    logs: FloatArray,
    tilt: float,
    totals: IntArray,
) -> FloatArray:
    """Sum over the rules with each total, once for each row of (sets, m) windows of (sets, m) people.

    Parameters
    ----------
    members
        (sets, m) which regions are inside.
    logs
        Logarithm of what 0, 1, … people contribute.

    Returns
    -------
    (3, sets, t) their weight, 0 where a window is empty, and the people inside: as expected, twice, or else bounds.
    """
    found = np.zeros((3, len(people), len(totals)))
    for row in range(len(people)):
        inside, outside, fewest, most = np.ones(1), np.ones(1), np.zeros(2, np.int64), np.zeros(2, np.int64)
        for s in range(people.shape[1]):
            window = _window(people[row, s], lowest[row, s], highest[row, s], logs, tilt)
            if members[row, s]:
                inside = _convolved(inside, window)
            else:
                outside = _convolved(outside, window)
            fewest[int(members[row, s])] += lowest[row, s]
            most[int(members[row, s])] += highest[row, s]
        for t in range(len(totals)):
            place, weight, sums = totals[t] - fewest[0] - fewest[1], 0.0, 0.0
            for i in range(max(0, place - len(outside) + 1), min(len(inside), place + 1)):
                both = inside[i] * outside[place - i]
                weight += both
                sums += both * i
            found[0, row, t] = weight
            for end, others in enumerate((most[0], fewest[0])):
                bound = min(max(totals[t] - others, fewest[1]), most[1])
                found[1 + end, row, t] = fewest[1] + sums / weight if weight > 0 else bound
    return found


@compiled
def _tilt(people: IntArray, lowest: IntArray, highest: IntArray, logs: FloatArray, middle: float) -> float:
    """Find by which tilt so many people are expected of all windows."""
    low, high = -_STEEPEST, _STEEPEST
    while high - low > _NEAR:
        tilt, expected = (low + high) / 2, 0.0
        for s in range(len(people)):
            whole, sums = 0.0, 0.0
            for i, weight in enumerate(_window(people[s], lowest[s], highest[s], logs, tilt)):
                whole += weight
                sums += weight * (lowest[s] + i)
            expected += sums / whole
        if expected < middle:
            low = tilt
        else:
            high = tilt
    return low


@compiled
def _window(people: int, lowest: int, highest: int, logs: FloatArray, tilt: float) -> FloatArray:
    """Give the weights of the numbers from ``lowest`` to ``highest`` of so many people, the largest being 1."""
    weights, largest = np.empty(max(highest - lowest + 1, 0)), -np.inf
    for i in range(len(weights)):
        k = lowest + i
        weights[i] = tilt * k + logs[k] + logs[people - k]
        largest = max(largest, weights[i])
    for i in range(len(weights)):
        weights[i] = math.exp(weights[i] - largest)
    return weights


@compiled
def _convolved(p: FloatArray, q: FloatArray) -> FloatArray:
    found = np.zeros(max(len(p) + len(q) - 1, 0))
    for j in range(len(q)):
        for i in range(len(p)):
            found[i + j] += p[i] * q[j]
    return found
