"""Time of individual fairness: every pair of up to a hundred thousand decision regions."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from atr.measures.cells import Cells
from atr.measures.individual import Attribute, OutcomeDistance, Records, largest_excess
from benchmarks.cases import Row

ATTRIBUTES, VALUES = 6, 6


def regions(count: int, outcomes: int, *, fair: bool) -> tuple[Cells, Records]:
    """Draw regions at random, half of the attributes ordinal; or, at worst, so that no pair exceeds its distance."""
    rng = np.random.default_rng(11)
    columns = {f"a{k}": rng.integers(0, VALUES, count).astype(str).tolist() for k in range(ATTRIBUTES)}
    scale = {str(v): float(v) for v in range(VALUES)}
    records = Records.of(columns, {name: Attribute(1, scale if k % 2 else {}) for k, name in enumerate(columns)})
    D = rng.dirichlet(np.ones(outcomes), count).round(3)
    if fair:
        D[:, 0] = (0.9 * np.minimum(1, records.places) @ records.weights).round(3)
    D[:, -1] = 1 - D[:, :-1].sum(axis=1)
    D = np.clip(D, 0, 1)
    people = rng.integers(5, 400, count)
    lower, upper = np.maximum(D - 0.1, 0), np.minimum(D + 0.1, 1)
    return Cells(people, D, lower, upper, np.array([0, count]), people), records


def individual() -> Iterator[Row]:
    """Value, range, pair and people involved; against the same of a tenth of the regions."""
    cases = [(10_000, 2, False), (10_000, 2, True), (10_000, 3, False), (10_000, 8, False), (100_000, 2, False)]
    for count, outcomes, fair in cases:
        distances: tuple[OutcomeDistance, ...] = ("total_variation", "relative")
        for distance in distances:
            small, large = (_seconds(n, outcomes, fair, distance) for n in (count // 10, count))
            label = "no pair beyond its distance" if fair else "drawn at random"
            target, met = ("≤ 30 s", large <= 30) if count == 10_000 else ("", None)
            yield Row(
                f"Individual fairness, {distance.replace('_', ' ')}, {count:,} regions, {outcomes} outcomes, {label}",
                f"{large:.2f} s",
                f"a tenth of the regions, {small:.3f} s",
                large / small,
                None,
                target,
                met,
            )


def _seconds(count: int, outcomes: int, fair: bool, distance: OutcomeDistance) -> float:
    cells, records = regions(count, outcomes, fair=fair)
    largest_excess(*regions(10, outcomes, fair=fair), distance=distance, tolerance=0.0)
    start = time.perf_counter()
    largest_excess(cells, records, distance=distance, tolerance=0.0)
    return time.perf_counter() - start
