"""What readers make of numbers of people alone, whatever the total of the decisions, in groups of two outcomes."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from scipy import fft

from atr.core.arrays import FloatArray, IntArray
from atr.core.tolerances import SAME_COUNTS
from atr.mechanisms.calibrated.box import SMALL, log_weights, tilt_to, weights_of
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.readers import Model, log_ratios, products_of_others

DIRECT = 2000
"""Most people of a group whose sums are convolved directly."""


def exceeded(ceilings: Ceilings, model: Model) -> bool:
    """Tell whether people and some total put a reader of a model above a ceiling.

    What k is to one outcome, n - k is to the other: totals up to the half tell about all.
    """
    expected = expected_by_total(model, ceilings.population)
    return bool(ceilings.exceeded(expected, np.arange(len(expected))).any())


def expected_by_total(model: Model, population: IntArray) -> FloatArray:
    """Give E[k_t] of (m,) people for every total from 0 to half of all: (totals, m)."""
    sizes, kind, number = np.unique(population, return_inverse=True, return_counts=True)
    ratios = [log_ratios(model, n, 0, n) for n in sizes.tolist()]
    by_size = _convolved(ratios, number) if population.sum() <= DIRECT else _transformed(ratios, number)
    return by_size[:, kind]


def _convolved(ratios: list[FloatArray], number: IntArray) -> FloatArray:
    """Do as :func:`expected_by_total`, for regions of each size, by direct convolutions of positive numbers."""
    sizes = [weights_of(r)[0] for r in ratios]
    kinds = np.repeat(np.arange(len(sizes)), number).tolist()
    most = int(number @ [len(r) for r in ratios]) // 2 + 1

    def convolved(p: FloatArray, kind: int) -> FloatArray:
        return np.convolve(p, sizes[kind])[:most]

    one: FloatArray = np.ones(1)
    before = [*accumulate(kinds, convolved, initial=one)]
    after = [*accumulate(kinds[::-1], convolved, initial=one)][::-1]
    expected = np.zeros((most, len(sizes)))
    for kind, first in enumerate(np.searchsorted(kinds, range(len(sizes)))):
        others = np.convolve(before[first], after[first + 1])[:most]
        expected[:, kind] = np.convolve(others, sizes[kind] * np.arange(len(sizes[kind])))[:most] / before[-1]
    return expected


def _transformed(ratios: list[FloatArray], number: IntArray) -> FloatArray:
    """Do as :func:`_convolved` by transforms, tilted to one total after the other until all are exact.

    Weights of a region are the same from either end: the half is expected of all without a tilt. Every other round is
    for the largest total that is left, of regions with no more than twice as many people: transforms become shorter.
    """
    most = int(number @ [len(r) for r in ratios]) // 2
    expected, tilt = np.zeros((len(ratios), most + 1)), 0.0
    todo = np.arange(1, most + 1)
    while len(todo):
        if todo[-1] < most:
            most = int(todo[-1])
            ratios = [r[: 2 * most] for r in ratios]
            tilt = tilt_to([log_weights(r) for r in ratios], most, number=number)
        length = fft.next_fast_len(int(number @ [len(r) for r in ratios]) + 1, real=True)
        rows = [weights_of(r + tilt)[0] for r in ratios]
        plain = [fft.rfft(row, length) for row in rows]
        powers = [transform**times for transform, times in zip(plain, number.tolist(), strict=True)]
        others = products_of_others(powers)
        whole = fft.irfft(others[0] * powers[0], length)[: most + 1]
        sums = np.empty((len(rows), most + 1))
        for kind, (row, rest, times) in enumerate(zip(rows, others, number.tolist(), strict=True)):
            counted = fft.rfft(row * np.arange(len(row)), length)
            counted *= rest
            if times > 1:
                counted *= plain[kind] ** (times - 1)
            sums[kind] = fft.irfft(counted, length)[: most + 1]
        missed = np.abs(number @ sums - np.arange(most + 1) * whole)
        exact = (whole >= SMALL * whole.max()) & (missed <= SAME_COUNTS * np.arange(most + 1) * whole)
        exact[most] = True
        done = todo[exact[todo]]
        expected[:, done] = sums[:, done] / whole[done]
        todo = todo[~exact[todo]]
    return expected.T
