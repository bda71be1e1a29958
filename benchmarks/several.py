"""Time of the optimal mechanism for 1,000 groups of 5 regions and 3 outcomes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from atr.core.fidelity import Delta
from atr.core.groups import Groups
from atr.mechanisms.optimal import least_distorted, optimal_privacy, round_announcement
from benchmarks.cases import Row

GROUPS, REGIONS, OUTCOMES, REPEATS = 1000, 5, 3, 3


def groups() -> Groups:
    """Draw counted decisions, the same on every run."""
    rng = np.random.default_rng(7)
    p = rng.integers(5, 400, GROUPS * REGIONS)
    D = np.array([rng.multinomial(people, rng.dirichlet([0.5] * OUTCOMES)) for people in p]) / p[:, None]
    return Groups(p, D, np.arange(GROUPS + 1) * REGIONS)


def seconds(work: Callable[[], object]) -> float:
    """Give the median time of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def several() -> Iterator[Row]:
    """Optimal privacy, announcement and rounding, every group at its own confidence, with exact and free rates."""
    drawn, options = groups(), {"fidelity": Delta(0.9), "digits": 3}
    for rates, limit in (("exact", 5), ("free", 20)):
        solving = partial(optimal_privacy, drawn, group_rates=rates, **options)
        best = solving()
        announcing = partial(least_distorted, drawn, beta=best.beta, group_rates=rates, **options)
        rounding = partial(
            round_announcement,
            drawn,
            announcing(),
            beta=best.beta,
            ceiling=1.0,
            published_population=drawn.population,
            group_rates=rates,
            **options,
        )
        steps: tuple[Callable[[], object], ...] = (solving, announcing, rounding)
        privacy, announcement, rounded = map(seconds, steps)
        whole = privacy + announcement + rounded
        yield Row(
            f"β*, announcements and rounding, {rates} rates, {GROUPS:,} groups, {REGIONS} regions, {OUTCOMES} outcomes",
            f"{privacy:.2f} + {announcement:.2f} + {rounded:.2f} s",
            f"β* alone, {privacy:.2f} s",
            whole / privacy,
            None,
            f"≤ {limit} s",
            whole <= limit,
        )
