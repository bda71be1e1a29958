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

    Every round is for the largest total that is left, of regions with no more than twice as many people: transforms
    become shorter from round to round.
    """
    most = int(number @ [len(r) for r in ratios]) // 2
    expected = np.zeros((most + 1, len(ratios)))
    todo = np.arange(1, most + 1)
    while len(todo):
        most = int(todo[-1])
        ratios = [r[: 2 * most] for r in ratios]
        length = fft.next_fast_len(int(number @ [len(r) for r in ratios]) + 1, real=True)
        tilt = tilt_to([log_weights(r) for r in ratios], most, number=number)
        rows = [weights_of(r + tilt)[0] for r in ratios]
        plain = np.array([fft.rfft(row, length) for row in rows])
        counted = np.array([fft.rfft(row * np.arange(len(row)), length) for row in rows])
        powers = plain ** number[:, None]
        whole = fft.irfft(powers.prod(axis=0), length)[: most + 1]
        others = plain ** (number[:, None] - 1) * products_of_others(powers)
        sums = fft.irfft(others * counted, length)[:, : most + 1].T
        missed = np.abs(sums @ number - np.arange(most + 1) * whole)
        exact = (whole >= SMALL * whole.max()) & (missed <= SAME_COUNTS * np.arange(most + 1) * whole)
        exact[most] = True
        done = todo[exact[todo]]
        expected[done] = sums[done] / whole[done, None]
        todo = todo[~exact[todo]]
    return expected
