"""Counting tables of people with given row sums and column sums, for three outcomes.

A table gives the people of each region with each outcome: row sums are the people of the regions, column sums the
people with each outcome, and every count lies between bounds. Tables are weighted by a reader model; their number and
mean are coefficients of a product of polynomials in two variables, one a region, found by fast Fourier transforms.
Transforms lose what is small beside the largest coefficient: so weights are tilted first, by factors that every table
shares, until tables with the given sums are the most likely ones; and nothing is used that rounding errors may have
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from atr.core.arrays import BoolArray, FloatArray, IntArray, tightened
from atr.mechanisms.calibrated.readers import (
    Belief,
    Model,
    below_and_above,
    log_growth,
    number_by,
    products_of_others,
)

OUTCOMES = 3

NOISE = 1e-15
"""Relative to the largest coefficient of a product of transforms: its rounding errors are ten times smaller."""

RELIABLE = 1e-10
"""Relative: a sum of weights is used if rounding errors cannot have changed it by more."""

CENTRED = 0.5
"""Standard deviations that the tilted mean of the column sums may be away from the given ones."""

Transform = NDArray[np.complex128]

LogWeight = Callable[[int, tuple[IntArray, ...]], FloatArray]
"""Gives the logarithm of the weight of a row by the region's position and its (3,) counts, each an array."""

LONGEST_STEP = 3.0
"""Most by which one of Newton's steps changes a tilt: where weights are far from even, longer ones go astray."""

TILT_STEPS = 100
"""Newton steps after which a tilt is taken as it is."""


class Tables(Belief):
    """Tables with given sums and bounds, weighted by a model; there is at least one. Chance 3s + o is (s, o).

    Parameters
    ----------
    model
        Weights of each row; the weight of a table is their product.
    people, totals
        (m,) row sums and (3,) column sums.
    low, high
        (m, 3) bounds of the counts, each as tight as the sums and the other bounds make it one after the other.
    log_weight
        Of a row, where that is not the model's of three outcomes.
    """

    def __init__(
        self,
        model: Model,
        people: IntArray,
        totals: IntArray,
        low: IntArray,
        high: IntArray,
        log_weight: LogWeight | None = None,
    ) -> None:
        self.model, self.people, self.totals, self.low = model, people, totals, low
        self._log_weight = log_weight or of_outcomes(model, int(people.max()))
        self.lowest, self.highest = low.ravel(), high.ravel()
        spread = (high - low).sum(axis=0)
        left = totals - low.sum(axis=0)
        length = np.maximum(left, spread - left) + 1
        third = int(np.argmax(length))
        self._order = [*(o for o in range(OUTCOMES) if o != third), third]
        self._left = left[self._order[:2]]
        self._shape = [int(fft.next_fast_len(int(size), real=True)) for size in length[self._order[:2]]]
        bounds = zip(people.tolist(), low[:, self._order], high[:, self._order], strict=True)
        log = [log_rows(self._log_weight, s, *of, self._order) for s, of in enumerate(bounds)]
        tilt = tilt_to(log, self._left)
        self._rows, scale = zip(*(tilted(rows, tilt) for rows in log), strict=True)
        self._transforms = [transformed(rows, self._shape) for rows in self._rows]
        self._joint: dict[int, list[FloatArray]] = {}
        self._beside = [self._beside_others(s, rest) for s, rest in enumerate(products_of_others(self._transforms))]
        self._by_count = [
            weights
            for s, (rows, (rest, _)) in enumerate(zip(self._rows, self._beside, strict=True))
            for weights in self._along(s, rows * rest)
        ]
        weight = self._by_count[0].sum()
        if NOISE * max(largest for _, largest in self._beside) > RELIABLE * weight:
            raise ArithmeticError("the weights of these tables could not be told from rounding errors")
        self._log_whole = float(np.log(weight) + np.sum(scale) - tilt @ self._left)

    @classmethod
    def between(
        cls, model: Model, people: IntArray, totals: IntArray, lowest: IntArray, highest: IntArray
    ) -> Self | None:
        """Give the tables between (m, 3) bounds; None where there is none."""
        found = bounds(people, totals, lowest, highest)
        return None if found is None else cls(model, people, totals, *found)

    @property
    def rules(self) -> float:
        """How many tables there are, if the model is uniform."""
        return number_by(self._log_whole)

    @cached_property
    def expected(self) -> FloatArray:
        """(3m,) people that the reader expects."""
        counted = zip(self._by_count, self.lowest.tolist(), strict=True)
        return np.array([w @ (np.arange(len(w)) + lowest) / w.sum() for w, lowest in counted])

    def within(self, lowest: IntArray, highest: IntArray) -> Self | None:
        """Give the tables within other (3m,) bounds; None where there is none."""
        found = bounds(self.people, self.totals, *(of.reshape(self.low.shape) for of in (lowest, highest)))
        return None if found is None else type(self)(self.model, self.people, self.totals, *found, self._log_weight)

    def weights(self, chance: int) -> tuple[int, FloatArray]:
        """Give the first count of a chance, and the weight of the tables with each count from there."""
        return int(self.lowest[chance]), self._by_count[chance]

    def halves(self, chance: int, counts: IntArray) -> tuple[FloatArray, BoolArray]:
        """Give what the reader expects of the tables below, and at or above, (c,) counts of a chance.

        Not exact is what rounding errors may have changed.
        """
        s, o = divmod(chance, OUTCOMES)
        if s not in self._joint:
            self._joint[s] = self._sums(s)
        sums = np.column_stack([self._by_count[chance], self._along(s, self._rows[s])[o], self._joint[s][o]])
        halves = below_and_above(int(self.lowest[chance]), sums, counts)
        weight, mass = halves[..., 0], halves[..., 1]
        exact = NOISE * self._beside[s][1] * mass < RELIABLE * weight
        first, second, third = self._order
        expected = np.empty((*exact.shape, *self.low.shape))
        pairs = (halves[..., 2:] / np.where(exact, weight, 1.0)[..., None]).reshape(*exact.shape, -1, 2)
        expected[..., [first, second]] = pairs + self.low[:, [first, second]]
        expected[..., third] = self.people - expected[..., first] - expected[..., second]
        return expected.reshape(*exact.shape, -1), exact

    def _along(self, s: int, rows: FloatArray) -> list[FloatArray]:
        """Add up numbers of the rows of region s by the count of each outcome above its lowest one."""
        first, second, third = self._order
        widest = int(self.highest[OUTCOMES * s + third] - self.low[s, third])
        z = self.people[s] - self.low[s].sum() - np.add.outer(*map(np.arange, rows.shape))
        inside = (z >= 0) & (z <= widest)
        of_third = np.bincount(z[inside], weights=rows[inside], minlength=widest + 1)
        sums = {first: rows.sum(axis=1), second: rows.sum(axis=0), third: of_third}
        return [sums[o] for o in range(OUTCOMES)]

    def _at(self, s: int) -> tuple[IntArray, IntArray]:
        """Sums of the two outcomes that the other regions have beside each row of region s."""
        sizes = zip(self._left, self._rows[s].shape, self._shape, strict=True)
        first, second = ((left - np.arange(size)) % length for left, size, length in sizes)
        return first, second

    def _beside_others(self, s: int, others: Transform) -> tuple[FloatArray, float]:
        """Weights of the other regions, transformed, beside each row of region s, and the largest beside any."""
        found = fft.irfft2(others, s=self._shape)
        return np.maximum(found[np.ix_(*self._at(s))], 0.0), float(found.max())

    def _sums(self, s: int) -> list[FloatArray]:
        """Sums of the counts of two outcomes above their bounds, (counts, 2m) by the count of each outcome of s."""
        rows = self._rows[s] * self._beside[s][0]
        others = [t for t in range(len(self._rows)) if t != s]
        sums = {s: [self._along(s, rows * count) for count in np.ix_(*map(np.arange, rows.shape))]}
        for t, rest in zip(others, products_of_others([self._transforms[t] for t in others]), strict=True):
            beside = (some_coefficients(rest * moment, self._shape, *self._at(s)) for moment in self._moments[t])
            sums[t] = [self._along(s, self._rows[s] * coefficients) for coefficients in beside]
        regions = range(len(self._rows))
        return [np.column_stack([along[o] for t in regions for along in sums[t]]) for o in range(OUTCOMES)]

    @cached_property
    def _moments(self) -> list[list[Transform]]:
        """Of each region the transforms of its polynomial with its counts of either outcome above their bounds."""
        return [
            [transformed(rows * count, self._shape) for count in np.ix_(*map(np.arange, rows.shape))]
            for rows in self._rows
        ]


def bounds(people: IntArray, totals: IntArray, lowest: IntArray, highest: IntArray) -> tuple[IntArray, IntArray] | None:
    """Give the tightest (m, 3) bounds of the tables between bounds; None where there is none, by whole numbers.

    The rows possible in a region are the bases of an integral polymatroid, and so are sums of rows: there is a table
    exactly if every row is possible and for every set of outcomes the columns need no more people than the regions can
    have with these outcomes.
    """
    low, high = np.maximum(lowest, 0), np.minimum(highest, people[:, None])
    if (low > high).any() or (low.sum(axis=1) > people).any() or (high.sum(axis=1) < people).any():
        return None
    for chosen in product((False, True), repeat=OUTCOMES):
        inside = np.array(chosen)
        most = np.minimum(high[:, inside].sum(axis=1), people - low[:, ~inside].sum(axis=1)).sum()
        if totals[inside].sum() > most:
            return None
    while True:
        before = low, high
        low, high = tightened(*tightened(low, high, people[:, None]), totals, axis=0)
        if np.array_equal(before, (low, high)):
            return low, high


def of_outcomes(model: Model, people: int) -> LogWeight:
    """Give a model's weights of rows of up to some people with each of three outcomes."""
    factors = np.append(0.0, np.cumsum(log_growth(model, 0, people)))
    return lambda region, counts: np.asarray(sum(factors[of] for of in counts))


def log_rows(
    log_weight: LogWeight,
    region: int,
    people: int,
    lowest: IntArray,
    highest: IntArray,
    order: Sequence[int] = range(OUTCOMES),
) -> FloatArray:
    """Logarithms of the weights of a region's rows, by the first two counts above their bounds; (3,) in an order."""
    x, y = np.ix_(*(np.arange(lowest[i], highest[i] + 1) for i in (0, 1)))
    z = people - x - y
    counts = dict(zip(order, (x, y, np.clip(z, lowest[2], highest[2])), strict=True))
    weights = log_weight(region, tuple(counts[o] for o in range(OUTCOMES)))
    return np.where((z >= lowest[2]) & (z <= highest[2]), weights, -np.inf)


def transformed(rows: FloatArray, shape: Sequence[int]) -> Transform:
    """Give the Fourier transform of a polynomial with few rows of coefficients."""
    transform: Transform = fft.fft(fft.rfft(rows, shape[1], axis=1), shape[0], axis=0)
    return transform


def some_coefficients(
    transform: Transform, shape: Sequence[int], first: IntArray | slice, second: IntArray | slice
) -> FloatArray:
    """Give the coefficients of a transformed product of positive polynomials in some rows and columns."""
    found: FloatArray = fft.irfft(fft.ifft(transform, axis=0)[first], shape[1], axis=1)[:, second]
    return np.maximum(found, 0.0)


def tilted(log: FloatArray, tilt: FloatArray) -> tuple[FloatArray, float]:
    """Weights of the rows of a region under a tilt, adding up to 1, and the logarithm of their sum before."""
    x, y = np.ix_(*map(np.arange, log.shape))
    raised = log + tilt[0] * x + tilt[1] * y
    largest = raised.max()
    weights = np.exp(raised - largest)
    total = weights.sum()
    return weights / total, float(largest + np.log(total))


def tilt_to(log: list[FloatArray], sums: IntArray, number: IntArray | None = None) -> FloatArray:
    """Find the factors (in logarithms) by which the mean sums of the rows' counts become (2,) given ones.

    Newton's method on a convex function, the logarithm of all weights less tilt times sums; near is enough.
    ``number`` says how many regions there are of each kind in ``log``; None: one.
    """
    times = np.ones(len(log)) if number is None else number
    tilt, step, value = np.zeros(2), np.zeros(2), np.inf
    for _ in range(TILT_STEPS):
        at = tilt + step
        scales, means, squares = zip(*(_moments_under(rows, at) for rows in log), strict=True)
        found = float(times @ np.array(scales) - at @ sums)
        if found > value:
            step = step / 2
            continue
        tilt, value = at, found
        away = sums - np.tensordot(times, means, 1)
        spread = np.tensordot(times, squares, 1)
        deviation = np.sqrt(np.diag(spread))
        unit = np.where(deviation > 0, deviation, 1.0)
        step = np.linalg.lstsq(spread / np.outer(unit, unit), np.where(deviation > 0, away, 0.0) / unit)[0] / unit
        if away @ step < CENTRED**2:
            break
        step *= min(1.0, LONGEST_STEP / np.abs(step).max())
    return tilt


def _moments_under(log: FloatArray, tilt: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Logarithm of the weight of a region's rows under a tilt, and the mean and covariance of their counts."""
    weights, scale = tilted(log, tilt)
    x, y = (np.arange(size) for size in log.shape)
    rows, columns = weights.sum(axis=1), weights.sum(axis=0)
    mean = np.array([rows @ x, columns @ y])
    mixed = (x - mean[0]) @ weights @ (y - mean[1])
    return scale, mean, np.array([[rows @ (x - mean[0]) ** 2, mixed], [mixed, columns @ (y - mean[1]) ** 2]])
