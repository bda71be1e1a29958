"""Whether a group may be announced at all: from numbers of people alone, whatever the total of its decisions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft

from atr.core.arrays import FloatArray, IntArray
from atr.core.tolerances import SAME_COUNTS
from atr.mechanisms.calibrated.box import SMALL, log_weights, tilt_to, weights_of
from atr.mechanisms.calibrated.promise import Promise, Sets
from atr.mechanisms.calibrated.readers import Model, log_ratios

DIRECT = 2000
"""Most people of a group whose sums are convolved directly."""


def announceable(population: ArrayLike, *, ceilings: float | Sequence[float], sets: Sets | None = None) -> bool:
    """Tell whether people and total alone leave every model at or below every ceiling, whatever the total.

    Parameters
    ----------
    population
        (m,) people.
    ceilings
        Of every protected set, or one for each.
    sets
        Protected sets, each a list of positions of regions; None: every region on its own.
    """
    people = tuple(np.asarray(population, dtype=np.int64).tolist())
    each = np.asarray(ceilings, dtype=np.float64).tolist()
    return _announceable(
        people, tuple(each) if isinstance(each, list) else each, None if sets is None else tuple(map(tuple, sets))
    )


@lru_cache(maxsize=4096)
def _announceable(
    people: tuple[int, ...], ceilings: float | tuple[float, ...], sets: tuple[tuple[int, ...], ...] | None
) -> bool:
    population = np.array(people)
    promise = Promise.of(population, ceilings, sets)
    if promise.exceeded(
        population.astype(np.float64), int(population.sum())
    ):  # whoever thinks the secret plays no part
        return False
    totals = np.arange(population.sum() // 2 + 1)
    for model in ("uniform", "extreme"):
        # What k is to one outcome, n - k is to the other: totals up to the half tell about all.
        if promise.exceeded(expected_by_total(model, population), totals).any():
            return False
    return True


def expected_by_total(model: Model, population: IntArray) -> FloatArray:
    """Give E[k_t] of (m,) people for every total from 0 to half of all: (totals, m)."""
    sizes, kind, number = np.unique(population, return_inverse=True, return_counts=True)
    ratios = [log_ratios(model, n, 0, n) for n in sizes.tolist()]
    by_size = _convolved(ratios, number) if population.sum() <= DIRECT else _transformed(ratios, number)
    return by_size[:, kind]


def _convolved(ratios: list[FloatArray], number: IntArray) -> FloatArray:
    """Do as :func:`expected_by_total`, for regions of each size, by direct convolutions of positive numbers."""
    rows = [weights_of(r)[0] for r, times in zip(ratios, number, strict=True) for _ in range(times)]
    starts, most = np.append(0, np.cumsum(number))[:-1], sum(len(row) - 1 for row in rows) // 2 + 1
    before, after = [np.ones(1)], [np.ones(1)]
    for row, last in zip(rows, reversed(rows), strict=True):
        before.append(np.convolve(before[-1], row)[:most])
        after.append(np.convolve(after[-1], last)[:most])
    after.reverse()
    expected = np.zeros((most, len(ratios)))
    for i, t in enumerate(starts.tolist()):
        others = np.convolve(before[t], after[t + 1])[:most]
        counted = np.convolve(others, rows[t] * np.arange(len(rows[t])))[:most]
        expected[:, i] = counted / before[-1]
    return expected


def _transformed(ratios: list[FloatArray], number: IntArray) -> FloatArray:
    """Do as :func:`_convolved` by transforms, tilted to one total after the other until all are exact."""
    people = int(number @ [len(r) for r in ratios])
    length = fft.next_fast_len(people + 1, real=True)
    logs = [log_weights(r) for r in ratios]
    expected = np.zeros((people // 2 + 1, len(ratios)))
    todo = np.ones(len(expected), dtype=np.bool_)
    todo[0] = False
    while todo.any():
        target = int(np.flatnonzero(todo)[-1])
        tilt = tilt_to(logs, target, number=number)
        rows = [weights_of(r + tilt)[0] for r in ratios]
        plain = np.array([fft.rfft(row, length) for row in rows])
        counted = np.array([fft.rfft(row * np.arange(len(row)), length) for row in rows])
        powers = plain ** number[:, None]
        whole = fft.irfft(powers.prod(axis=0), length)[: len(todo)]
        sums = np.empty((len(todo), len(ratios)))
        for i in range(len(ratios)):
            others = plain[i] ** (number[i] - 1) * np.delete(powers, i, axis=0).prod(axis=0)
            sums[:, i] = fft.irfft(others * counted[i], length)[: len(todo)]
        missed = np.abs(sums @ number - np.arange(len(todo)) * whole)
        exact = todo & (whole >= SMALL * whole.max()) & (missed <= SAME_COUNTS * np.arange(len(todo)) * whole)
        exact[target] = True
        expected[exact] = sums[exact] / whole[exact, None]
        todo &= ~exact
    return expected
