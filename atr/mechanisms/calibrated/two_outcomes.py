"""Calibrated announcements of groups with two outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.tolerances import SAME_VALUE
from atr.mechanisms.calibrated.box import Box
from atr.mechanisms.calibrated.cell import Cell
from atr.mechanisms.calibrated.every_total import announceable
from atr.mechanisms.calibrated.partition import Cuts, Limits, split
from atr.mechanisms.calibrated.promise import Promise, Sets
from atr.mechanisms.calibrated.readers import MODELS, Model

SMALLEST_HALF = 0.01
"""Share of a cell's rules that each half of a cut must hold."""

Counts = tuple[IntArray, IntArray]
"""(m,) lowest and (m,) highest numbers of people."""
Verdicts = tuple[BoolArray, list[list[tuple[Box, bool]]]]
"""Of the cuts of a region: whether they are safe as far as is known; halves, lower or upper, to be judged alone."""


@dataclass(frozen=True, eq=False, slots=True)
class Reader:
    """A model, and within which counts an earlier report leaves the rules; None: without one."""

    model: Model
    window: Counts | None = None


class TwoOutcomes:
    """One group of two outcomes, as the partition sees it.

    Parameters
    ----------
    population, favourable
        (m,) people, and those of them with the positive outcome.
    promise
        The ceilings.
    steps, least
        Of the grid from chance 0 to 1; whole counts and rules of which each half of a cut holds more.
    earlier
        Lowest and highest counts by earlier reports, oldest first.
    """

    def __init__(
        self,
        population: IntArray,
        favourable: IntArray,
        promise: Promise,
        *,
        steps: int,
        least: int,
        earlier: list[Counts],
    ) -> None:
        self.population, self.favourable, self.promise = population, favourable, promise
        self.total = int(favourable.sum())
        self.steps, self.least = steps, least
        self.first_counts = -(-np.outer(population, np.arange(steps + 1)) // steps)
        self.readers = [Reader(model, window) for window in [None, *windows(earlier)] for model in MODELS]

    @property
    def start(self) -> Limits:
        """The cell in which nothing is told."""
        m = len(self.population)
        return Limits(np.zeros(m, dtype=np.int64), np.full(m, self.steps, dtype=np.int64))

    def reaches(self, chance: int, limit: int) -> bool:
        """Whether the true chance of a region is at a limit or above it."""
        return bool(self.favourable[chance] >= self.first_counts[chance, limit])

    def cuts(self, cell: Limits) -> Cuts:
        """Give the cuts of a cell."""
        return CellRules(self, cell).cuts()

    def describe(self, cell: Limits, *, stopped: bool = False) -> Cell:
        """Say what readers make of a cell."""
        rules = CellRules(self, cell)
        by_reader: dict[str, float] = {}
        of_sets = np.zeros(self.promise.members.shape[1])
        for reader in self.readers:
            box = rules.box(reader)
            if box is not None:
                name = reader.model if reader.window is None else "earlier"
                confidences = self.promise.confidences(box.expected(), self.total)
                of_sets = np.maximum(of_sets, confidences)
                by_reader[name] = max(float(confidences.max()), by_reader.get(name, 0.0))
        uniform = rules.uniform
        return Cell(
            lower=cell.lower,
            upper=cell.upper,
            expected=uniform.expected(),
            confidence=max(by_reader.values()),
            by_reader=by_reader,
            of_sets=of_sets,
            rules=uniform.rules(),
            steps=self.steps,
            stopped_by_earlier=stopped,
        )

    def safe(self, cell: Limits) -> bool:
        """Whether no reader exceeds a ceiling."""
        return not any(self.promise.exceeded(box.expected(), self.total) for box in CellRules(self, cell).boxes)


class CellRules:
    """The rules of a cell as each reader weights them."""

    def __init__(self, group: TwoOutcomes, cell: Limits) -> None:
        self.group, self.cell = group, cell
        rows = np.arange(len(group.population))
        self.lowest = group.first_counts[rows, cell.lower]
        below = group.first_counts[rows, cell.upper] - 1
        self.highest = np.where(cell.upper == group.steps, group.population, below)
        self._boxes: dict[tuple[Model, bytes, bytes], Box] = {}
        self._verdicts: dict[int, Verdicts] = {}

    def box(self, reader: Reader) -> Box | None:
        """Give the rules that a reader thinks possible, if there are any."""
        lowest, highest, total = self.lowest, self.highest, self.group.total
        if reader.window is not None:
            lowest, highest = np.maximum(lowest, reader.window[0]), np.minimum(highest, reader.window[1])
        if (lowest > highest).any() or not lowest.sum() <= total <= highest.sum():
            return None
        same = reader.model, lowest.tobytes(), highest.tobytes()
        if same not in self._boxes:
            self._boxes[same] = Box(reader.model, self.group.population, lowest, highest, total)
        return self._boxes[same]

    @cached_property
    def boxes(self) -> list[Box]:
        """What the readers think possible; of those who agree one."""
        return list(dict.fromkeys(filter(None, map(self.box, self.group.readers))))

    @cached_property
    def uniform(self) -> Box:
        """All rules, equally likely."""
        box = self.box(self.group.readers[0])
        assert box is not None
        return box

    def cuts(self) -> Cuts:
        """Give the cuts that keep all conditions but safety."""
        found = [self._cuts_of(region) for region in range(len(self.lowest))]
        self._limits = [limits for limits, _ in found]
        chance = np.repeat(np.arange(len(found)), [len(limits) for limits in self._limits])
        limit, gain = np.concatenate(self._limits), np.concatenate([gains for _, gains in found])
        starts = np.append(0, np.cumsum([len(limits) for limits in self._limits]))

        def safe(i: int) -> bool:
            region = int(chance[i])
            return self._safe(region, i - int(starts[region]))

        return Cuts(chance, limit, gain, safe)

    def _cuts_of(self, region: int) -> tuple[IntArray, FloatArray]:
        """Give limits and gains of the cuts of a region whose halves hold enough counts, rules and weight."""
        group = self.group
        limits = np.arange(self.cell.lower[region] + 1, self.cell.upper[region])
        counts = group.first_counts[region, limits]
        in_half = np.minimum(counts - self.lowest[region], self.highest[region] - counts + 1)
        limits = limits[in_half > group.least]
        if not len(limits):
            return limits, np.zeros(0)
        halves = self.uniform.marginal_halves(region, group.first_counts[region, limits])
        weight = halves[:, :, -1]
        share = weight / weight.sum(axis=0)
        enough = (share >= SMALLEST_HALF * (1 - SAME_VALUE)) & (share * self.uniform.rules() >= group.least + 0.5)
        kept = enough.all(axis=0)
        share, mean = share[:, kept], halves[:, kept, 0] / weight[:, kept]
        gain = share[0] * share[1] * ((mean[0] - mean[1]) / group.population[region]) ** 2
        return limits[kept], gain

    def _safe(self, region: int, position: int) -> bool:
        """Whether both halves of a cut of a region are safe."""
        if region not in self._verdicts:
            self._verdicts[region] = self._verdicts_of(region)
        safe, doubtful = self._verdicts[region]
        if not safe[position]:
            return False
        count = int(self.group.first_counts[region, self._limits[region][position]])
        alone = (box.half(region, count, upper=upper) for box, upper in doubtful[position])
        return not any(self.group.promise.exceeded(box.expected(), self.group.total) for box in alone)

    def _verdicts_of(self, region: int) -> Verdicts:
        """Judge all cuts of a region at once."""
        counts = self.group.first_counts[region, self._limits[region]]
        safe = np.ones(len(counts), dtype=np.bool_)
        doubtful: list[list[tuple[Box, bool]]] = [[] for _ in counts]
        for box in self.boxes:
            halves, exact = box.halves(region, counts)
            held = box.holds(region, counts)
            judged = held & exact
            expected = halves[:, :, :-1] / np.where(judged, halves[:, :, -1], 1.0)[:, :, None]
            safe &= ~(judged & self.group.promise.exceeded(expected, self.group.total)).any(axis=0)
            for upper, position in np.argwhere(held & ~exact & safe).tolist():
                doubtful[position].append((box, bool(upper)))
            if not safe.any():
                break
        return safe, doubtful


def windows(earlier: Sequence[Counts]) -> list[Counts]:
    """Give what each earlier report allows, and what every run of the newest ones allows together."""
    runs = [earlier[-length:] for length in range(2, len(earlier) + 1)]
    together = [(np.maximum.reduce([w[0] for w in run]), np.minimum.reduce([w[1] for w in run])) for run in runs]
    return [*earlier, *together]


def announce(
    population: ArrayLike,
    favourable: ArrayLike,
    *,
    max_confidence: float | Sequence[float],
    steps: int = 20,
    least: int = 3,
    sets: Sets | None = None,
    earlier: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
    previous: tuple[ArrayLike, ArrayLike] | None = None,
) -> Cell | None:
    """Find the cell to announce of one group with two outcomes.

    Parameters
    ----------
    population, favourable
        (m,) people of each region, and those of them with the positive outcome.
    max_confidence
        Ceiling of every protected set, or one for each.
    steps
        Of the grid of limits, from chance 0 to 1.
    least
        Each half of a cut has more whole counts of its region, and more rules.
    sets
        Protected sets, each a list of positions of regions; None: every region on its own.
    earlier
        What earlier reports tell, oldest first: (m,) lowest and (m,) highest counts.
    previous
        (m,) lower and (m,) upper limits announced last time, on the same grid.

    Returns
    -------
    Cell | None
        None where numbers of people alone tell too much: the group may not be announced.

    Raises
    ------
    ValueError
        If numbers do not fit each other.

    Examples
    --------
    >>> cell = announce([20, 20, 20], [16, 9, 3], max_confidence=0.8)
    >>> cell.lower, cell.upper, cell.expected
    (array([14,  8,  0]), array([20, 12,  4]), array([17. ,  9.5,  1.5]))
    """
    people, positive = _whole_numbers(population), _whole_numbers(favourable)
    if people.shape != positive.shape or (people < 1).any() or (positive < 0).any() or (positive > people).any():
        raise ValueError("favourable must be whole numbers between 0 and those of population, which are positive")
    promise = Promise.of(people, max_confidence, sets)
    if not announceable(people, ceilings=max_confidence, sets=sets):
        return None
    told = [(_whole_numbers(low), _whole_numbers(high)) for low, high in earlier or []]
    group = TwoOutcomes(people, positive, promise, steps=steps, least=least, earlier=told)
    if told and not group.safe(group.start):
        return group.describe(group.start, stopped=True)
    last = None if previous is None else Limits(*map(_whole_numbers, previous))
    return group.describe(split(group, group.start, last))


def announce_many(
    populations: Sequence[ArrayLike],
    favourable: Sequence[ArrayLike],
    *,
    max_confidence: float,
    steps: int = 20,
    least: int = 3,
) -> list[Cell | None]:
    """Find the cells of many groups, one after the other; options as of :func:`announce`."""
    groups = zip(populations, favourable, strict=True)
    return [announce(*group, max_confidence=max_confidence, steps=steps, least=least) for group in groups]


def safe_start(
    population: ArrayLike, total: int, *, ceilings: float | Sequence[float], sets: Sets | None = None
) -> bool:
    """Tell whether people and a total alone leave every model at or below every ceiling, with nothing else told."""
    people = _whole_numbers(population)
    promise = Promise.of(people, ceilings, sets)
    return not any(promise.exceeded(expected, total) for expected in expected_at_start(people, total))


def expected_at_start(population: IntArray, total: int) -> list[FloatArray]:
    """Give the (m,) people of whom each model expects the positive outcome by people and a total alone."""
    nobody = np.zeros_like(population)
    return [Box(model, population, nobody, population, total).expected() for model in MODELS]


def _whole_numbers(values: ArrayLike) -> IntArray:
    """Give a row of whole numbers."""
    numbers = np.asarray(values)
    whole = numbers.astype(np.int64)
    if numbers.ndim != 1 or not len(numbers) or not np.array_equal(whole, numbers):
        raise ValueError("numbers of people, counts and limits must be rows of whole numbers")
    return whole
