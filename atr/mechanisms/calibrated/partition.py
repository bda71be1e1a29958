"""The public partition: cells of rules are cut in two until no cut is left that is safe on both sides.

A cell has limits of every *chance*: of the positive outcome in each region, or of every outcome in each region, region
by region. It holds the rules whose chances lie at or above the lower and below the upper limits, in steps of the grid;
an upper limit at the end of the grid includes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.tolerances import SAME_VALUE
from atr.mechanisms.calibrated.box import Box
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.readers import MODELS, Belief, Model
from atr.mechanisms.calibrated.tables import Tables
from atr.mechanisms.calibrated.two_versions import EarlierVersion

GAIN_DIGITS = 9
"""Significant digits of a gain: what differs in later ones is equal, so that every machine finds the same cell."""
SMALLEST_HALF = 0.01
"""Share of a cell's rules that each half of a cut must hold."""

Counts = tuple[IntArray, IntArray]
"""(q,) lowest and (q,) highest numbers of people."""


class Judge(Protocol):
    """Who knows what a reader's expectations mean."""

    def exceeded(self, expected: FloatArray) -> BoolArray:
        """Tell whether (…, q) expected people put a reader above the ceiling of any set."""

    def confidences(self, expected: FloatArray) -> FloatArray:
        """Give how sure a reader is of each protected set, (sets,), who expects (q,) people."""


class Group:
    """One group, as the partition sees it.

    Parameters
    ----------
    counts
        (m, 1) people with the positive outcome, or (m, 3) with each outcome.
    ceilings
        How sure of its protected sets a reader may be.
    steps, least
        Of the grid from chance 0 to 1; whole counts and rules of which each half of a cut holds more.
    earlier
        For every way to read earlier reports the lowest and highest counts by each of them, oldest first.
    versions
        Versions before of the same period, in which the group had other people.
    """

    def __init__(
        self,
        counts: IntArray,
        ceilings: Ceilings,
        *,
        steps: int = 1,
        least: int = 0,
        earlier: Sequence[Sequence[Counts]] = (),
        versions: Sequence[EarlierVersion] = (),
    ) -> None:
        self.counts, self.totals, self.ceilings = counts, counts.sum(axis=0), ceilings
        self.steps, self.least = steps, least
        self.people = np.repeat(ceilings.population, len(self.totals))
        self.first_counts = -(-np.outer(self.people, np.arange(steps + 1)) // steps)
        self.first_counts[:, steps] += 1
        self.windows = [(np.zeros_like(self.people), self.people), *(w for of in earlier for w in _windows(of))]
        self.versions = versions

    @property
    def start(self) -> CellRules:
        """The cell in which nothing is told."""
        return CellRules(self, np.tile([0, self.steps], (len(self.people), 1)))

    def belief(self, model: Model, lowest: IntArray, highest: IntArray) -> Belief | None:
        """Give the rules between (q,) counts as a model weights them; None where there is none."""
        if len(self.totals) == 1:
            return Box.between(model, self.people, lowest, highest, int(self.totals[0]))
        bounds = lowest.reshape(self.counts.shape), highest.reshape(self.counts.shape)
        return Tables.between(model, self.ceilings.population, self.totals, *bounds)

    def exceeded(self, expected: FloatArray) -> BoolArray:
        """As of :class:`Judge`."""
        by_outcome = (self.ceilings.exceeded(*of) for of in self._by_outcome(expected))
        return np.asarray(np.logical_or.reduce([*by_outcome]))

    def confidences(self, expected: FloatArray) -> FloatArray:
        """As of :class:`Judge`."""
        by_outcome = (self.ceilings.confidences(*of) for of in self._by_outcome(expected))
        return np.asarray(np.max([*by_outcome], axis=0))

    def _by_outcome(self, expected: FloatArray) -> list[tuple[FloatArray, int]]:
        """Give (…, m) expected people with each outcome, and how many there are."""
        outcomes = len(self.totals)
        return [(expected[..., o::outcomes], total) for o, total in enumerate(self.totals.tolist())]


def _windows(reports: Sequence[Counts]) -> Iterator[Counts]:
    """Give the counts that every single report leaves, and that every run of the newest ones leaves."""
    yield from reports
    for length in range(2, len(reports) + 1):
        lowest, highest = zip(*reports[-length:], strict=True)
        yield np.max(lowest, axis=0), np.min(highest, axis=0)


class CellRules:
    """The rules of a cell as each reader weights them; ``limits`` are (q, 2), in steps of the grid."""

    def __init__(self, group: Group, limits: IntArray) -> None:
        self.group, self.limits = group, limits
        every = np.arange(len(limits))
        self.lowest = group.first_counts[every, limits[:, 0]]
        self.highest = group.first_counts[every, limits[:, 1]] - 1
        self._beliefs: dict[tuple[Model, bytes, bytes], Belief | None] = {}
        self._safe_halves: dict[int, dict[int, list[tuple[Judge, Belief, bool]]]] = {}

    def belief(self, model: Model, window: int) -> Belief | None:
        """Give what a reader believes by one of the group's windows; None where it leaves him no rule."""
        low, high = self.group.windows[window]
        lowest, highest = np.maximum(self.lowest, low), np.minimum(self.highest, high)
        same = model, lowest.tobytes(), highest.tobytes()
        if same not in self._beliefs:
            self._beliefs[same] = self.group.belief(model, lowest, highest)
        return self._beliefs[same]

    @cached_property
    def beliefs(self) -> list[tuple[str, Judge, Belief]]:
        """What each reader who has a rule left believes, with the reader's name, and who judges it."""
        named: list[tuple[str, Judge, Belief | None]] = [
            ("earlier" if window else model, self.group, self.belief(model, window))
            for window in range(len(self.group.windows))
            for model in MODELS
        ]
        for version in self.group.versions:
            named += [("earlier", version, version.belief(model, self.lowest, self.highest)) for model in MODELS]
        return [(name, judge, belief) for name, judge, belief in named if belief is not None]

    @cached_property
    def uniform(self) -> Belief:
        """All rules, equally likely."""
        belief = self.belief("uniform", 0)
        assert belief is not None
        return belief

    @property
    def safe(self) -> bool:
        """Whether no reader exceeds a ceiling."""
        return not any(judge.exceeded(belief.expected) for _, judge, belief in self.beliefs)

    def confidences(self) -> dict[str, FloatArray]:
        """Give for each reader how sure of each protected set, (sets,); for that of earlier reports the surest."""
        found: dict[str, FloatArray] = {}
        for name, judge, belief in self.beliefs:
            confidences = judge.confidences(belief.expected)
            found[name] = np.maximum(found.get(name, 0.0), confidences)
        return found

    def split(self, previous: IntArray | None = None) -> CellRules:
        """Cut the cell as far as it is safe, going on in the half that holds the truth.

        ``previous`` are (q, 2) limits announced last time: cuts at these come first, and others only once that cell is
        reached.
        """
        cell = self
        if previous is not None:
            cell = cell._cut_while_safe(previous)
            if not np.array_equal(cell.limits, previous):
                return cell
        return cell._cut_while_safe()

    def _cut_while_safe(self, at: IntArray | None = None) -> CellRules:
        """Take the safe cut of largest gain, again and again; only at some (q, 2) limits, where these are given."""
        cell, truth = self, self.group.counts.ravel()
        while True:
            cuts = (cut for cut in cell._cuts() if at is None or cut[1] in at[cut[0]])
            best = next((cut for cut in cuts if cell._is_safe(*cut)), None)
            if best is None:
                return cell
            chance, limit = best
            limits = cell.limits.copy()
            limits[chance, 0 if truth[chance] >= self.group.first_counts[chance, limit] else 1] = limit
            cell = CellRules(self.group, limits)

    def _cuts(self) -> list[tuple[int, int]]:
        """Give the cuts that keep all conditions but safety, (chance, limit): from numbers of people and totals alone.

        That of the largest gain first; of equal ones that of the first chance, then of the lowest limit. The gain is
        by how much the squared error of the chance falls, as a reader of the uniform model expects it.
        """
        gains = [
            (-float(f"{gain:.{GAIN_DIGITS - 1}e}"), chance, limit)
            for chance, of in enumerate(self._gains)
            for limit, gain in of.items()
        ]
        return [(chance, limit) for _, chance, limit in sorted(gains)]

    @cached_property
    def _gains(self) -> list[dict[int, float]]:
        """For each chance the gains of the limits whose halves hold enough counts, rules and weight."""
        return [self._gains_of(chance) for chance in range(len(self.limits))]

    def _gains_of(self, chance: int) -> dict[int, float]:
        group, uniform = self.group, self.uniform
        limits = np.arange(self.limits[chance, 0] + 1, self.limits[chance, 1])
        counts = group.first_counts[chance, limits]
        in_half = np.minimum(counts - self.lowest[chance], self.highest[chance] - counts + 1)
        limits, counts = limits[in_half > group.least], counts[in_half > group.least]
        if not len(limits):
            return {}
        weight, mean = uniform.weight_and_mean(chance, counts)
        share = weight / weight.sum(axis=0)
        enough = (share >= SMALLEST_HALF * (1 - SAME_VALUE)) & (share * uniform.rules >= group.least + 0.5)
        gain = share[0] * share[1] * ((mean[0] - mean[1]) / group.people[chance]) ** 2
        kept = enough.all(axis=0)
        return dict(zip(limits[kept].tolist(), gain[kept].tolist(), strict=True))

    def _is_safe(self, chance: int, limit: int) -> bool:
        """Whether both halves of a cut are safe."""
        if chance not in self._safe_halves:
            self._safe_halves[chance] = self._halves_of(chance)
        if limit not in self._safe_halves[chance]:
            return False
        count = int(self.group.first_counts[chance, limit])
        doubtful = self._safe_halves[chance][limit]
        alone = ((judge, belief.half(chance, count, upper=upper)) for judge, belief, upper in doubtful)
        return not any(half is not None and judge.exceeded(half.expected) for judge, half in alone)

    def _halves_of(self, chance: int) -> dict[int, list[tuple[Judge, Belief, bool]]]:
        """Judge all cuts of a chance at once.

        Returns
        -------
        For each limit that is safe as far as is known who judges which beliefs' halves, lower or upper, alone.
        """
        limits = np.array([*self._gains[chance]])
        counts = self.group.first_counts[chance, limits]
        safe = np.ones(len(counts), dtype=np.bool_)
        doubtful: list[list[tuple[Judge, Belief, bool]]] = [[] for _ in counts]
        for judge, belief in dict.fromkeys((judge, belief) for _, judge, belief in self.beliefs):
            expected, exact = belief.halves(chance, counts)
            safe &= ~(exact & judge.exceeded(expected)).any(axis=0)
            for upper, position in np.argwhere(~exact & safe).tolist():
                doubtful[position].append((judge, belief, bool(upper)))
            if not safe.any():
                break
        return {limit: doubtful[i] for i, limit in enumerate(limits.tolist()) if safe[i]}
