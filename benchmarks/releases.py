"""A rule that does not change, published again and again: what earlier reports cost, and whom they lose.

python -m benchmarks.releases     simulates, which takes a minute, and writes benchmarks/releases.json

Every group of the COMPAS log of 2013 is drawn anew for each release: as many people as before on average (Poisson),
each with the chance of the rule (binomial). docs/choosing-a-mechanism.md prints what comes of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from atr.core.arrays import FloatArray, IntArray
from atr.mechanisms.calibrated import Ceilings, Cell, announce
from atr.mechanisms.calibrated.partition import CellRules, Group
from benchmarks.mechanisms import example

RESULTS = Path(__file__).parent / "releases.json"
SEED, ROUNDS, RELEASES = 20130101, 4, 12
CEILING, STEPS = 0.75, 20
"""That of the bundled programme, and the grid of the mechanism's default step."""


@dataclass
class Told:
    """What one release of one group tells, and to how many readers of earlier ones.

    Attributes
    ----------
    people
        Of the group.
    error
        Σ people · |expected - true chance|.
    rate_only, stopped
        Whether it shows its rate only; and that because earlier reports and rates alone tell too much.
    readers, at_an_end
        How many readers of single earlier reports and of runs of the newest there are; for how many no rule is left.
    confidence
        The largest of any reader.
    """

    people: int
    error: float
    rate_only: bool
    stopped: bool
    readers: int
    at_an_end: int
    confidence: float


@dataclass
class Series:
    """The releases of one group so far: limits by release, oldest first, None where it told none."""

    chance: FloatArray
    mean: FloatArray
    cells: list[Cell] = field(default_factory=list)

    def release(self, rng: np.random.Generator) -> Told | None:
        """Draw people and outcomes, and announce; None where the group may not be announced."""
        people = np.maximum(rng.poisson(self.mean), 1)
        favourable = rng.binomial(people, self.chance)
        earlier = [_counts(cell, people) for cell in self.cells if cell.told]
        previous = (self.cells[-1].lower, self.cells[-1].upper) if self.cells else None
        cell = announce(people, favourable, max_confidence=CEILING, steps=STEPS, earlier=earlier, previous=previous)
        if cell is None:
            return None
        self.cells.append(cell)
        readers, at_an_end = _readers(cell, people, favourable, earlier)
        return Told(
            people=int(people.sum()),
            error=float(np.abs(cell.expected - favourable).sum()),
            rate_only=not cell.told,
            stopped=cell.stopped_by_earlier,
            readers=readers,
            at_an_end=at_an_end,
            confidence=cell.confidence,
        )


def _counts(cell: Cell, people: IntArray) -> tuple[IntArray, IntArray]:
    """Give the counts of today's people within the limits of a cell, both ends included."""
    return -(-cell.lower * people // STEPS), cell.upper * people // STEPS


def _readers(cell: Cell, people: IntArray, favourable: IntArray, earlier: list[Any]) -> tuple[int, int]:
    """Count readers of earlier reports, of one model, and those to whom the announced cell leaves no rule."""
    group = Group(favourable[:, None], Ceilings.of(people, CEILING), steps=STEPS, least=3, earlier=[earlier])
    rules = CellRules(group, cell.limits)
    found = [rules.belief("uniform", window) for window in range(1, len(group.windows))]
    return len(found), sum(belief is None for belief in found)


def _simulate(args: tuple[int, FloatArray, FloatArray]) -> list[Told | None]:
    seed, mean, chance = args
    rng, series = np.random.default_rng(seed), Series(chance, mean)
    return [series.release(rng) for _ in range(RELEASES)]


def _groups() -> Iterator[tuple[int, FloatArray, FloatArray]]:
    groups = example("compas", "2013").groups
    for turn in range(ROUNDS):
        for i, (first, end) in enumerate(zip(groups.offsets[:-1], groups.offsets[1:], strict=True)):
            yield SEED + 1000 * turn + i, groups.population[first:end], groups.decision[first:end, 0]


def simulate() -> list[dict[str, float]]:
    """Give figures of each release, over all groups that may be announced in it."""
    with ProcessPoolExecutor(2) as pool:
        series = list(pool.map(_simulate, _groups()))
    return [
        _figures(number + 1, [told for told in of if told is not None])
        for number, of in enumerate(zip(*series, strict=True))
    ]


def _figures(number: int, told: list[Told]) -> dict[str, float]:
    readers = sum(of.readers for of in told)
    return {
        "release": number,
        "groups": len(told),
        "rate_only": sum(of.rate_only for of in told) / len(told),
        "stopped": sum(of.stopped for of in told) / len(told),
        "at_an_end": sum(of.at_an_end for of in told) / readers if readers else 0.0,
        "error": sum(of.error for of in told) / sum(of.people for of in told),
        "confidence": max(of.confidence for of in told if not of.stopped),
    }


if __name__ == "__main__":
    RESULTS.write_text(json.dumps(simulate(), indent=1) + "\n", encoding="utf-8")
