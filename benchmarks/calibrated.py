"""Time of calibrated announcements: many groups of a usual size, and one of very many people."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from atr.core.arrays import IntArray, usable_cores
from atr.mechanisms.calibrated import Ceilings, announce, announceable
from benchmarks.cases import Row

GROUPS, PEOPLE, REGIONS, CEILING = 1000, 186, 4, 0.75
"""Of the size of the bundled COMPAS report of 2013."""
LARGE = ((10_000, 5, 5), (100_000, 5, 90))
"""People, regions and seconds wanted of one group."""


def drawn(rng: np.random.Generator, people: int, regions: int) -> tuple[IntArray, IntArray]:
    """Draw people and those with the positive outcome."""
    population = rng.multinomial(people - regions, rng.dirichlet([3] * regions)) + 1
    return population, rng.binomial(population, rng.random(regions))


def seconds(groups: list[tuple[IntArray, IntArray]], ceiling: float) -> float:
    """Announce all groups on all cores."""
    start = time.perf_counter()
    with ThreadPoolExecutor(usable_cores()) as pool:
        list(pool.map(lambda group: announce(*group, max_confidence=ceiling), groups))
    return time.perf_counter() - start


def calibrated() -> Iterator[Row]:
    """Cells of groups, whether they are announceable at all included; no group occurs twice."""
    rng = np.random.default_rng(11)
    announce([60, 40, 50], [50, 10, 30], max_confidence=CEILING)  # the compiler is not measured
    many = [drawn(rng, PEOPLE, REGIONS) for _ in range(GROUPS)]
    start = time.perf_counter()
    shown = sum(announceable(Ceilings.of(people, CEILING + 0.01)) for people, _ in many)
    tested = time.perf_counter() - start
    taken = seconds(many, CEILING)
    what = f"cells of {GROUPS:,} groups, {PEOPLE} people in {REGIONS} regions, ceiling {CEILING}"
    baseline = f"whether {shown} may be announced, {tested:.2f} s"
    yield Row(what, f"{taken:.2f} s", baseline, taken / tested, None, "≤ 20 s", taken <= 20)
    for people, regions, limit in LARGE:
        for ceiling in (CEILING, 0.4):
            group = drawn(np.random.default_rng(1), people, regions)
            start = time.perf_counter()
            announceable(Ceilings.of(group[0], ceiling + 0.01))
            tested, taken = time.perf_counter() - start, seconds([group], ceiling)
            what = f"the cell of one group, {people:,} people in {regions} regions, ceiling {ceiling}"
            baseline = f"whether it may be announced, {tested:.2f} s"
            yield Row(what, f"{taken:.2f} s", baseline, taken / tested, None, f"≤ {limit} s", taken <= limit)
