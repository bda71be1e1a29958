"""Time of the optimal mechanism for 1,000 groups of 5 regions and 3 outcomes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

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
    several, fidelity = groups(), Delta(0.9)
    print(f"{GROUPS} groups of {REGIONS} regions, {OUTCOMES} outcomes, delta {fidelity.level}, seconds:")
    for rates in ("exact", "free"):
        best = optimal_privacy(several, fidelity=fidelity, group_rates=rates, digits=3)
        x = announce(several, beta=best.beta, fidelity=fidelity, group_rates=rates, digits=3)
        steps = {
            "optimal privacy": lambda: optimal_privacy(several, fidelity=fidelity, group_rates=rates, digits=3),
            "announcement, every group at its own": lambda: announce(
                several, beta=best.beta, fidelity=fidelity, group_rates=rates, digits=3
            ),
            "announcement, all at the largest": lambda: announce(
                several, beta=best.overall, fidelity=fidelity, group_rates=rates, digits=3
            ),
            "rounding": lambda: round_announcement(
                several,
                x,
                fidelity=fidelity,
                digits=3,
                beta=best.beta,
                ceiling=1.0,
                published_population=several.population,
                group_rates=rates,
            ),
        }
        for name, work in steps.items():
            print(f"  {rates:<6} {name:<38} {seconds(work):7.2f}")


if __name__ == "__main__":
    main()
