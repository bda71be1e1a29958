"""What readers make of limits, computed a second way: by convolving windows of whole numbers.

One group, one outcome. What is printed leaves open, within rounding, the people of its regions and how many of the
group got the outcome. More people in a region make its window of whole numbers higher: of the models ``uniform`` and
``alike``, whose weights are log-concave, a reader then expects more of those with the outcome to be there, and fewer in
other regions (Efron, Ann. Math. Stat. 36, 1965). So the ends of what he expects are at the ends of the rounding. Of
``extreme`` they need not be: more corners are looked at, and what is found counts with a margin of :data:`MARGIN`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from atr.core.arrays import BoolArray, FloatArray, IntArray
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
        (t,) what the number of people with the outcome can be.
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
        if (lowest > highest).any():
            return np.zeros(len(self.totals))
        return _at(_product(np.ones(size) for size in highest - lowest + 1), self.totals - int(lowest.sum()))

    def expected(self, model: str, members: BoolArray, *, most: bool, tilt: float) -> FloatArray:
        """Bound how many of those with the outcome a reader expects in some regions.

        Parameters
        ----------
        model
            Of the reader.
        members
            (m,) which regions.
        most
            Whether the largest number is meant, or the smallest.
        tilt
            Of :meth:`tilt`.

        Returns
        -------
        (t,) people, for each of the totals.
        """
        corners = [np.where(members == most, self.most, self.least)]
        if model == "extreme" and not self.exact:
            middle = (self.least + self.most) // 2
            corners += [np.where(members == most, self.least, self.most), self.least, middle, self.most]
        found = np.array([self._expected(model, members, people, most=most, tilt=tilt) for people in corners])
        return np.asarray(found.max(axis=0) if most else found.min(axis=0))

    def _expected(self, model: str, members: BoolArray, people: IntArray, *, most: bool, tilt: float) -> FloatArray:
        """(t,) the same for some numbers of people, or a bound of it where they cannot have the total."""
        lowest, highest = self.windows(people)
        bound = np.clip(
            self.totals - int((lowest if most else highest)[~members].sum()),
            int(lowest[members].sum()),
            int(highest[members].sum()),
        ).astype(np.float64)
        if (lowest > highest).any():
            return bound
        windows = [
            _weights(model, *of, tilt) for of in zip(people.tolist(), lowest.tolist(), highest.tolist(), strict=True)
        ]
        inside, outside = (_product(windows[i] for i in np.flatnonzero(of)) for of in (members, ~members))
        places = self.totals - int(lowest.sum())
        weight = _at(np.convolve(inside, outside), places)
        sums = _at(np.convolve(inside * np.arange(len(inside)), outside), places)
        return np.where(weight > 0, int(lowest[members].sum()) + sums / np.where(weight > 0, weight, 1.0), bound)

    def tilt(self, model: str) -> float:
        """Give the logarithm by which weights are to grow with every person for a middle total to be the likeliest.

        It changes nothing but the size of the numbers: a total far out would come out as 0.
        """
        people = (self.least + self.most) // 2
        lowest, highest = self.windows(people)
        if (lowest > highest).any() or not lowest.sum() < highest.sum():
            return 0.0
        middle = float(np.clip(np.median(self.totals), lowest.sum() + 0.5, highest.sum() - 0.5))

        def above(tilt: float) -> float:
            found = float(lowest.sum()) - middle
            for window in zip(people.tolist(), lowest.tolist(), highest.tolist(), strict=True):
                weights = _weights(model, *window, tilt)
                found += float(weights @ np.arange(len(weights)) / weights.sum())
            return found

        if above(-_STEEPEST) >= 0 or above(_STEEPEST) <= 0:
            return 0.0
        return float(brentq(above, -_STEEPEST, _STEEPEST, xtol=1e-3))

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
    certain, group = (group.totals > 0).all(), replace(group, totals=group.totals[group.totals > 0])
    found, tilt = np.zeros((len(sets), 2)), group.tilt(model) if len(group.totals) else 0.0
    fewest = int(group.totals.min(initial=10**9))
    margin = MARGIN + 0.5 / fewest if model == "extreme" and not group.exact else 0.0
    for of, members in zip(found, sets, strict=True) if len(group.totals) else ():
        most = group.expected(model, members, most=True, tilt=tilt) / group.totals
        least = most if group.exact else group.expected(model, members, most=False, tilt=tilt) / group.totals
        of[:] = np.clip([(least.min() - margin) * certain, most.max() + margin], 0.0, 1.0)
    return found


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
    found, tilt, alone = (
        np.empty((len(group.least), 2)),
        group.tilt("uniform"),
        np.eye(len(group.least), dtype=np.bool_),
    )
    for region, (least, most) in enumerate(zip(group.least.tolist(), group.most.tolist(), strict=True)):
        ends = np.unique(np.linspace(least, most + 1, _PARTS + 1).astype(np.int64))
        found[region] = np.inf, -np.inf
        for fewest, end in pairwise(ends.tolist()):  # a quotient of two numbers that rise together
            part = replace(
                group,
                least=np.where(alone[region], fewest, group.least),
                most=np.where(alone[region], end - 1, group.most),
            )
            low = part.expected("uniform", alone[region], most=False, tilt=tilt).min() / (end - 1)
            high = part.expected("uniform", alone[region], most=True, tilt=tilt).max() / fewest
            found[region] = min(found[region, 0], low), max(found[region, 1], high)
    return found


@lru_cache(maxsize=256)
def _weights(model: str, people: int, lowest: int, highest: int, tilt: float) -> FloatArray:
    """Give the weights of the numbers from ``lowest`` to ``highest`` of so many people, the largest being 1.

    A group asks for the same ones of every protected set.
    """
    k = np.arange(lowest, highest + 1, dtype=np.float64)
    logs = tilt * k + LOG_WEIGHTS[model](k) + LOG_WEIGHTS[model](people - k)
    return np.asarray(np.exp(logs - logs.max()))


def _product(windows: Iterable[FloatArray]) -> FloatArray:
    return reduce(np.convolve, windows, np.ones(1))


def _at(values: FloatArray, places: IntArray) -> FloatArray:
    inside = (places >= 0) & (places < len(values))
    return np.where(inside, values[np.where(inside, places, 0)], 0.0)
