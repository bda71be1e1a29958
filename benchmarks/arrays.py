"""Made-up groups to measure on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atr.core.arrays import FloatArray, IntArray


class Arrays(NamedTuple):
    """What a user hands to Groups: population (n,), chance of outcome 1 (n,), offsets (g + 1,)."""

    population: FloatArray
    decision: FloatArray
    offsets: IntArray

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in self)


def many_groups(regions: int) -> Arrays:
    """Make about that many regions in groups of 2 to 18, half of which any δ = 0.9 report must perturb.

    Every second group has one region whose people all get outcome 1 while hardly anyone else does: the true
    decisions would make a reader about 96 % sure. In the others the confidence stays low.
    """
    rng = np.random.default_rng(1)
    sizes = rng.integers(2, 19, regions // 10)
    offsets = np.append(0, np.cumsum(sizes))
    n = int(offsets[-1])
    population = rng.integers(50, 100, n).astype(np.float64)
    decision = rng.uniform(0.3, 0.7, n)
    telling = np.arange(len(sizes)) % 2 == 0
    inside = np.repeat(telling, sizes)
    others = np.repeat(np.maximum(sizes - 1, 1), sizes)[inside]
    decision[inside] = rng.uniform(0, 0.04, int(inside.sum())) / others
    decision[offsets[:-1][telling]] = 1
    return Arrays(population, decision, offsets)


def one_group(regions: int, spread: str) -> Arrays:
    """Make one group of that many sensitive values, their populations uniform, log-normal or equal."""
    rng = np.random.default_rng(regions)
    population = {
        "uniform": rng.integers(1, 1000, regions).astype(np.float64),
        "log-normal": np.ceil(rng.lognormal(4, 1.5, regions)),
        "equal": np.full(regions, 50.0),
    }[spread]
    return Arrays(population, rng.random(regions) ** 4, np.array([0, regions]))
