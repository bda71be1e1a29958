"""What readers make of numbers of people alone, whatever the totals, in groups of three outcomes."""

from __future__ import annotations

import numpy as np
from scipy import fft

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.readers import Model, products_of_others
from atr.mechanisms.calibrated.tables import (
    NOISE,
    RELIABLE,
    log_rows,
    of_outcomes,
    some_coefficients,
    tilt_to,
    tilted,
    transformed,
)


def exceeded(ceilings: Ceilings, model: Model) -> bool:
    """Tell whether people and some totals, with somebody of each outcome, put a reader of a model above a ceiling.

    The weight of a table stays the same if outcomes change places, so totals in one order tell about all. Weights are
    tilted to one pair of totals after the other, until the means at every pair are reliable.
    """
    people = ceilings.population
    sizes, kind, number = np.unique(people, return_inverse=True, return_counts=True)
    everybody = int(people.sum())
    x, y = np.ix_(np.arange(everybody // 3 + 1), np.arange(everybody // 2 + 1))
    left = (x >= 1) & (y >= x) & (everybody - x - y >= y)
    weight, none = of_outcomes(model, int(people.max())), np.zeros(3, dtype=np.int64)
    rows = [log_rows(weight, i, n, none, np.full(3, n)) for i, n in enumerate(sizes.tolist())]
    while left.any():
        target = np.argwhere(left)[-1]
        means, reliable = _means(rows, number, target, left.shape)
        if not reliable[tuple(target)]:
            raise ArithmeticError("the weights of these tables could not be told from rounding errors")
        reached = left & reliable
        left &= ~reached
        first, second = (mean[reached][:, kind] for mean in means)
        totals = np.argwhere(reached)
        third = people - first - second, everybody - totals.sum(axis=1)
        if any(ceilings.exceeded(*of).any() for of in ((first, totals[:, 0]), (second, totals[:, 1]), third)):
            return True
    return False


def _means(
    rows: list[FloatArray], number: IntArray, target: IntArray, shape: tuple[int, ...]
) -> tuple[list[FloatArray], BoolArray]:
    """Mean counts of two outcomes in a region of each kind, by all pairs of totals of these outcomes near a target.

    Returns
    -------
    tuple[list[FloatArray], BoolArray]
        Of either outcome (…, kinds) for totals from 0 up to a shape; and where they are reliable.
    """
    length = fft.next_fast_len(int(number @ [len(row) - 1 for row in rows]) + 1, real=True)
    square, within = (length, length), (slice(shape[0]), slice(shape[1]))
    tilt = tilt_to(rows, target, number)
    weights = [tilted(row, tilt)[0] for row in rows]
    plain = [transformed(w, square) for w in weights]
    powers = [transform**times for transform, times in zip(plain, number.tolist(), strict=True)]
    whole = fft.irfft2(np.prod(powers, axis=0), s=square)
    reliable = NOISE * whole.max() <= RELIABLE * whole[within]
    divisor = np.where(reliable, whole[within], 1.0)
    means = [np.empty((*shape, len(rows))) for _ in range(2)]
    for i, (w, times, rest) in enumerate(zip(weights, number.tolist(), products_of_others(powers), strict=True)):
        others = plain[i] ** (times - 1) * rest
        for mean, count in zip(means, np.ix_(*map(np.arange, w.shape)), strict=True):
            mean[..., i] = some_coefficients(others * transformed(w * count, square), square, *within) / divisor
    return means, reliable
