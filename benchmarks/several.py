"""Time of the optimal mechanism for 1,000 groups of 5 regions and 3 outcomes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from atr.fidelity import Delta
from atr.groups import Groups
from atr.mechanism import announce, optimal_privacy, round_announcement

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


def main() -> None:
    """Print seconds for exact and free group rates."""
    several, options = groups(), {"fidelity": Delta(0.9), "digits": 3}
    print(f"{GROUPS} groups of {REGIONS} regions, {OUTCOMES} outcomes, delta 0.9, seconds:")
    for rates in ("exact", "free"):
        solving = partial(optimal_privacy, several, group_rates=rates, **options)
        best = solving()
        announcing = partial(announce, several, group_rates=rates, **options)
        x = announcing(beta=best.beta)
        rounding = partial(
            round_announcement,
            several,
            x,
            beta=best.beta,
            ceiling=1.0,
            published_population=several.population,
            group_rates=rates,
            **options,
        )
        steps: dict[str, Callable[[], object]] = {
            "optimal privacy": solving,
            "announcement, every group at its own": partial(announcing, beta=best.beta),
            "announcement, all at the largest": partial(announcing, beta=best.overall),
            "rounding, every group at its own": rounding,
        }
        for name, work in steps.items():
            print(f"  {rates:<6} {name:<38} {seconds(work):7.2f}")


if __name__ == "__main__":
    main()
