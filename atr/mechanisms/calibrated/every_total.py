"""What readers make of numbers of people alone, whatever the total of the decisions, in groups of two outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from atr.core.arrays import FloatArray, IntArray
from atr.core.tolerances import SAME_COUNTS
from atr.mechanisms.calibrated.box import SMALL, log_weights, tilt_to, weights_of
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.readers import Model, log_growth, log_ratios, products_of_others

DIRECT = 2000
"""Most people of a group whose sums are convolved directly."""
NO_OVERFLOW = 600.0
"""The largest logarithm of a product of all weights of a group whose sums are convolved directly."""
BLOCK = 4096
"""Numbers of a row that are worked on at a time."""
_TYPES: tuple[Literal[3], Literal[4]] = (3, 4)
"""Of transforms by cosines and sines: of what is even or odd about a whole number, or about a half."""

Expected = tuple[IntArray, FloatArray]
"""Some totals, and (…, totals) people expected for these."""
Transforms = NDArray[Any]
"""(sizes, length) or (length,) real or complex numbers."""


def exceeded(ceilings: Ceilings, model: Model) -> bool:
    """Tell whether people and some total put a reader of a model above a ceiling.

    What k is to one outcome, n - k is to the other: totals up to the half tell about all.
    """
    by_total = expected_by_total(model, ceilings.population)
    return any(ceilings.exceeded(expected.T, totals).any() for totals, expected in by_total)


def expected_by_total(model: Model, population: IntArray) -> Iterator[Expected]:
    """Give E[k_t] of (m,) people for every total from 0 to half of all, some totals at a time: (m, totals)."""
    sizes, kind, number = np.unique(population, return_inverse=True, return_counts=True)
    direct = population.sum() <= DIRECT and number @ np.log(sizes + 1) <= NO_OVERFLOW
    by_size = (_convolved if direct else _transformed)(model, sizes, number)
    return ((totals, expected[kind]) for totals, expected in by_size)


def _convolved(model: Model, people: IntArray, number: IntArray) -> Iterator[Expected]:
    """Do as :func:`expected_by_total`, for regions of each size, by direct convolutions of positive numbers."""
    sizes = [weights_of(log_ratios(model, n, 0, n))[0] for n in people.tolist()]
    kinds = np.repeat(np.arange(len(sizes)), number).tolist()
    most = int(number @ people) // 2 + 1

    def convolved(p: FloatArray, kind: int) -> FloatArray:
        return np.convolve(p, sizes[kind])[:most]

    one: FloatArray = np.ones(1)
    before = [*accumulate(kinds, convolved, initial=one)]
    after = [*accumulate(kinds[::-1], convolved, initial=one)][::-1]
    expected = np.zeros((len(sizes), most))
    for kind, first in enumerate(np.searchsorted(kinds, range(len(sizes)))):
        others = np.convolve(before[first], after[first + 1])[:most]
        expected[kind] = np.convolve(others, sizes[kind] * np.arange(len(sizes[kind])))[:most] / before[-1]
    yield np.arange(most), expected


def _transformed(model: Model, sizes: IntArray, number: IntArray) -> Iterator[Expected]:
    """Do as :func:`_convolved` by transforms, tilted to one total after the other until all are exact.

    Without a tilt the half of all is expected. Every other round is for the largest total that is left, of regions
    with no more than twice as many people: transforms become shorter.
    """
    half = int(number @ sizes) // 2
    left = np.arange(half + 1) > 0
    while left.any():
        most = int(np.flatnonzero(left)[-1])
        whole, sums = _untilted(model, sizes, number) if most == half else _tilted(model, sizes, number, most)
        enough = SMALL * whole.max()
        for block in _blocks(most + 1):
            total, weight, counted = np.arange(block.start, block.stop), whole[block], sums[:, block]
            missed = np.abs(number @ counted - total * weight)
            exact = (weight >= enough) & (missed <= SAME_COUNTS * total * weight) | (total == most)
            exact &= left[block]
            left[block] ^= exact
            yield total[exact], counted[:, exact] / weight[exact]


def _untilted(model: Model, sizes: IntArray, number: IntArray) -> tuple[FloatArray, FloatArray]:
    """Give, by total up to the half of all, Σ weight, and Σ weight · k_t for a region of each size.

    Weights are the same from either end: counted from the middle they are even, and weights times count odd, so that
    cosines and sines of half the length do.
    """
    half, odd = divmod(int(number @ sizes), 2)
    length = fft.next_fast_len(half + 1, real=True)
    plain, counted = np.zeros((2, len(sizes), length))
    logs = log_weights(log_growth(model, 0, int(sizes[-1])))
    for t, n in enumerate(sizes.tolist()):
        upper = logs[(n + 1) // 2 : n + 1] + logs[n // 2 :: -1]
        np.exp(upper - upper.max(), out=upper)
        upper /= 2 * upper.sum() - (1 - n % 2) * upper[0]
        plain[t, : len(upper)] = upper
        upper *= np.arange(len(upper)) + n % 2 / 2
        counted[t, : n - n // 2] = upper[1 - n % 2 :]
        plain[t] = fft.dct(plain[t], _TYPES[n % 2], overwrite_x=True)
        counted[t] = fft.dst(counted[t], _TYPES[n % 2], overwrite_x=True)
    whole = fft.idct(_multiplied(plain, counted, number), _TYPES[odd], overwrite_x=True)[half::-1]
    sums = sizes[:, None] / 2 * whole
    for t, row in enumerate(counted):
        sums[t, : half + odd] -= fft.idst(row, _TYPES[odd], overwrite_x=True)[: half + odd][::-1]
    return whole, sums


def _tilted(model: Model, sizes: IntArray, number: IntArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Do as :func:`_untilted`, by total up to a smaller one, with weights tilted to it."""
    ratios = [log_ratios(model, n, 0, min(n, 2 * most)) for n in sizes.tolist()]
    tilt = tilt_to([log_weights(r) for r in ratios], most, number=number)
    length = fft.next_fast_len(int(number @ [len(r) for r in ratios]) + 1, real=True)
    rows = [weights / weights.sum() for weights, _ in (weights_of(r + tilt) for r in ratios)]
    plain = np.array([fft.rfft(row, length) for row in rows])
    counted = np.array([fft.rfft(row * np.arange(len(row)), length) for row in rows])
    whole = fft.irfft(_multiplied(plain, counted, number), length)
    return whole[: most + 1], fft.irfft(counted, length)[:, : most + 1]


def _multiplied(plain: Transforms, counted: Transforms, number: IntArray) -> Transforms:
    """Give the transform for all regions by those for one of each size; put in place what counts one of them.

    A block is done after the other: large arrays are slow to get and to go through.
    """
    whole: Transforms = np.empty_like(plain[0])
    for block in _blocks(len(whole)):
        fewer = [row[block] ** (times - 1) for row, times in zip(plain, number.tolist(), strict=True)]
        others = products_of_others([row[block] * rest for row, rest in zip(plain, fewer, strict=True)])
        whole[block] = plain[0, block] * fewer[0] * others[0]
        for row, alike, rest in zip(counted, fewer, others, strict=True):
            row[block] *= alike * rest
    return whole


def _blocks(length: int) -> Iterator[slice]:
    """Cut a range into parts whose numbers stay in a cache."""
    return (slice(start, min(start + BLOCK, length)) for start in range(0, length, BLOCK))
