"""Counting tables of people with given row sums and column sums, for three outcomes.

A table gives the people of each region with each outcome: row sums are the people of the regions, column sums the
people with each outcome, and every count lies between bounds. Tables are weighted by a reader model; their number and
mean are coefficients of a product of polynomials in two variables, one a region, found by fast Fourier transforms.
Transforms lose what is small beside the largest coefficient: so weights are tilted first, by factors that every table
shares, until tables with the given sums are the most likely ones; and nothing is used that rounding errors may have
changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from atr.core.arrays import FloatArray, IntArray
from atr.mechanisms.calibrated.readers import Model, log_growth

OUTCOMES = 3

NOISE = 1e-15
"""Relative to the largest coefficient of a product of transforms: its rounding errors are ten times smaller."""

RELIABLE = 1e-10
"""Relative: a sum of weights is used if rounding errors cannot have changed it by more."""

CENTRED = 0.5
"""Standard deviations that the tilted mean of the column sums may be away from the given ones."""

ALL = slice(None)

Transform = NDArray[np.complex128]

LONGEST_STEP = 3.0
"""Most by which one of Newton's steps changes a tilt: where weights are far from even, longer ones go astray."""

TILT_STEPS = 100
"""Newton steps after which a tilt is taken as it is."""


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """All tables with these sums and bounds; there is at least one.

    Attributes
    ----------
    people, totals
        (m,) row sums and (3,) column sums.
    lowest, highest
        (m, 3) bounds of the counts, each as tight as the sums and the other bounds make it one after the other.
    """

    people: IntArray
    totals: IntArray
    lowest: IntArray
    highest: IntArray

    @classmethod
    def between(cls, people: IntArray, totals: IntArray, lowest: IntArray, highest: IntArray) -> Tables | None:
        """Give the tables between bounds; None where there is none, decided by whole numbers.

        The rows possible in a region are the bases of an integral polymatroid, and so are sums of rows: there is a
        table exactly if every row is possible and for every set of outcomes the columns need no more people than the
        regions can have with these outcomes.
        """
        low, high = np.maximum(lowest, 0), np.minimum(highest, people[:, None])
        if (low > high).any() or (low.sum(axis=1) > people).any() or (high.sum(axis=1) < people).any():
            return None
        for size in range(1, OUTCOMES + 1):
            for chosen in combinations(range(OUTCOMES), size):
                inside = np.isin(np.arange(OUTCOMES), chosen)
                most = np.minimum(high[:, inside].sum(axis=1), people - low[:, ~inside].sum(axis=1)).sum()
                if totals[inside].sum() > most:
                    return None
        while True:
            tight_low, tight_high = _tightened(people, totals, low, high)
            if np.array_equal(tight_low, low) and np.array_equal(tight_high, high):
                return cls(people, totals, low, high)
            low, high = tight_low, tight_high


def _tightened(people: IntArray, totals: IntArray, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """Tighten each bound by its row and its column once."""
    for sums, axis in ((people[:, None], 1), (totals[None, :], 0)):
        least, most = low.sum(axis=axis, keepdims=True), high.sum(axis=axis, keepdims=True)
        low, high = np.maximum(low, sums - (most - high)), np.minimum(high, sums - (least - low))
    return low, high


def log_rows(model: Model, people: int, lowest: IntArray, highest: IntArray) -> FloatArray:
    """Logarithms of the weights of a region's rows, by the counts of two outcomes above their (3,) bounds."""
    weights = np.append(0.0, np.cumsum(log_growth(model, 0, people)))
    x, y = np.ix_(*(np.arange(lowest[i], highest[i] + 1) for i in (0, 1)))
    z = people - x - y
    possible = (z >= lowest[2]) & (z <= highest[2])
    return np.where(possible, weights[x] + weights[y] + weights[np.clip(z, 0, people)], -np.inf)


class Counted:
    """Tables as a reader model weights them.

    Parameters
    ----------
    tables
        The tables.
    model
        Weights of each row; the weight of a table is their product.

    Attributes
    ----------
    log_weight
        Logarithm of the sum of all weights; with the uniform model of the number of tables.
    expected
        (m, 3) mean counts.
    """

    def __init__(self, tables: Tables, model: Model) -> None:
        self.tables = tables
        spread = (tables.highest - tables.lowest).sum(axis=0)
        left = tables.totals - tables.lowest.sum(axis=0)
        length = np.maximum(left, spread - left) + 1
        third = int(np.argmax(length))
        self._order = [*(o for o in range(OUTCOMES) if o != third), third]
        self._left = left[self._order[:2]]
        self._shape = [int(fft.next_fast_len(int(size), real=True)) for size in length[self._order[:2]]]
        bounds = zip(tables.people.tolist(), tables.lowest[:, self._order], tables.highest[:, self._order], strict=True)
        log = [log_rows(model, *region) for region in bounds]
        tilt = tilt_to(log, self._left)
        self._rows, scale = zip(*(tilted(rows, tilt) for rows in log), strict=True)
        self._transforms = [transformed(rows, self._shape) for rows in self._rows]
        self._moments: dict[int, list[Transform]] = {}
        self._joint: dict[int, list[FloatArray]] = {}
        self._beside = [self._beside_others(s) for s in range(len(log))]
        self._by_count = [
            self._along(s, rows * rest)
            for s, (rows, (rest, _)) in enumerate(zip(self._rows, self._beside, strict=True))
        ]
        weight = self._by_count[0][0].sum()
        self.log_weight = float(np.log(weight) + np.sum(scale) - tilt @ self._left)
        if NOISE * max(largest for _, largest in self._beside) > RELIABLE * weight:
            raise ArithmeticError("the weights of these tables could not be told from rounding errors")
        self.expected = np.array([[self.share_and_mean(s, o)[1] for o in range(OUTCOMES)] for s in range(len(log))])

    def share_and_mean(self, s: int, o: int, counts: slice = ALL) -> tuple[float, float]:
        """Give the share of all weight that tables with some counts of (s, o) have, and their mean count there.

        ``counts`` are positions above the lowest one.
        """
        weights = self._by_count[s][o]
        chosen = weights[counts].sum()
        if chosen == 0:
            return 0.0, np.nan
        k = np.arange(len(weights)) + self.tables.lowest[s, o]
        return float(chosen / weights.sum()), float(weights[counts] @ k[counts] / chosen)

    def expected_where(self, s: int, o: int, counts: slice) -> FloatArray | None:
        """Give the (m, 3) mean counts of tables with some counts of (s, o); None where rounding errors forbid it."""
        weight = self._by_count[s][o][counts].sum()
        mass = self._along(s, self._rows[s])[o][counts].sum()
        if NOISE * self._beside[s][1] * mass >= RELIABLE * weight:
            return None
        if s not in self._joint:
            self._joint[s] = self._sums(s)
        first, second, third = self._order
        expected = np.empty((len(self._rows), OUTCOMES))
        expected[:, [first, second]] = self._joint[s][o][:, :, counts].sum(axis=2) / weight
        expected[:, [first, second]] += self.tables.lowest[:, [first, second]]
        expected[:, third] = self.tables.people - expected[:, first] - expected[:, second]
        return expected

    def _along(self, s: int, rows: FloatArray) -> list[FloatArray]:
        """Add up numbers of the rows of region s by the count of each outcome above its lowest one."""
        first, second, third = self._order
        low, high = self.tables.lowest[s], self.tables.highest[s]
        z = self.tables.people[s] - low.sum() - np.add.outer(np.arange(rows.shape[0]), np.arange(rows.shape[1]))
        inside = (z >= 0) & (z <= high[third] - low[third])
        sums = {first: rows.sum(axis=1), second: rows.sum(axis=0)}
        sums[third] = np.bincount(z[inside], weights=rows[inside], minlength=int(high[third] - low[third]) + 1)
        return [sums[o] for o in range(OUTCOMES)]

    def _at(self, s: int) -> tuple[IntArray, IntArray]:
        """Sums of the two outcomes that the other regions have beside each row of region s."""
        sizes = zip(self._left, self._rows[s].shape, self._shape, strict=True)
        first, second = ((left - np.arange(size)) % length for left, size, length in sizes)
        return first, second

    def _others(self, s: int) -> list[int]:
        return [t for t in range(len(self._rows)) if t != s]

    def _beside_others(self, s: int) -> tuple[FloatArray, float]:
        """Weights of the other regions beside each row of region s, and the largest beside any."""
        product = np.ones_like(self._transforms[s])
        for t in self._others(s):
            product *= self._transforms[t]
        found = fft.irfft2(product, s=self._shape)
        return np.maximum(found[np.ix_(*self._at(s))], 0.0), float(found.max())

    def _sums(self, s: int) -> list[FloatArray]:
        """Sums of the counts of two outcomes above their bounds, (m, 2, counts) by the count of each outcome of s."""
        rows = self._rows[s] * self._beside[s][0]
        x, y = np.ix_(*(np.arange(size) for size in rows.shape))
        others = self._others(s)
        sums = {s: [self._along(s, rows * x), self._along(s, rows * y)]}
        before, after = [np.ones_like(self._transforms[s])], [np.ones_like(self._transforms[s])]
        for t, u in zip(others[:-1], others[:0:-1], strict=True):
            before.append(before[-1] * self._transforms[t])
            after.append(after[-1] * self._transforms[u])
        for t, left, right in zip(others, before, after[::-1], strict=True):
            products = (left * right * moment for moment in self._moments_of(t))
            beside = (some_coefficients(product, self._shape, *self._at(s)) for product in products)
            sums[t] = [self._along(s, self._rows[s] * coefficients) for coefficients in beside]
        return [np.array([[along[o] for along in sums[t]] for t in range(len(self._rows))]) for o in range(OUTCOMES)]

    def _moments_of(self, t: int) -> list[Transform]:
        """Transforms of the polynomial of a region with its counts of either outcome above their bounds as factors."""
        if t not in self._moments:
            rows = self._rows[t]
            x, y = np.ix_(*(np.arange(size) for size in rows.shape))
            self._moments[t] = [transformed(rows * count, self._shape) for count in (x, y)]
        return self._moments[t]


def transformed(rows: FloatArray, shape: Sequence[int]) -> Transform:
    """Give the Fourier transform of a polynomial with few rows of coefficients."""
    transform: Transform = fft.fft(fft.rfft(rows, shape[1], axis=1), shape[0], axis=0)
    return transform


def some_coefficients(
    product: Transform, shape: Sequence[int], first: IntArray | slice, second: IntArray | slice
) -> FloatArray:
    """Give the coefficients of a transformed product of positive polynomials in some rows and columns."""
    found: FloatArray = fft.irfft(fft.ifft(product, axis=0)[first], shape[1], axis=1)[:, second]
    return np.maximum(found, 0.0)


def tilted(log: FloatArray, tilt: FloatArray) -> tuple[FloatArray, float]:
    """Weights of the rows of a region under a tilt, adding up to 1, and the logarithm of their sum before."""
    x, y = np.ix_(*(np.arange(size) for size in log.shape))
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
