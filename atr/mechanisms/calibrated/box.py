"""Sums over the rules of a box, all k with lowest ≤ k ≤ highest and Σk = K, weighted as a reader model has it.

Conditioning on a sum stays the same if every weight of k is multiplied by θ^k. Small boxes are summed directly: all
terms are positive, so nearly every digit is right. Large ones are summed by fast Fourier transforms, with a θ for which
the expected sum is K: sums are then right but for some 1e-14 of the largest, and what is much smaller is summed in a
box of its own.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from atr.core.arrays import BoolArray, FloatArray, IntArray, offsets_of, tightened
from atr.core.tolerances import SAME_COUNTS
from atr.mechanisms.calibrated.readers import (
    Belief,
    Model,
    below_and_above,
    log_ratios,
    number_by,
    products_of_others,
)

ComplexArray = NDArray[np.complex128]

DIRECT = 1_250_000
"""Largest product of regions and squared span of all counts that is summed directly."""
SPAN = 600.0
"""Logarithm of the largest ratio of weights that is summed directly: nothing falls out of the range of numbers."""
NEGLIGIBLE = 1e-26
"""Relative to the largest: a weight at the ends of a region that is smaller is left out of a transform."""
SMALL = 1e-4
"""Of a box: a part that weighs less is summed in a box of its own."""
_TILT_STEPS = 200


class Box(Belief):
    """Rules k, (m,) whole numbers, between ``lowest`` and ``highest`` with a given total, weighted by a model.

    Parameters
    ----------
    model
        Whose weights.
    population
        (m,) people.
    lowest, highest
        (m,) people; made as narrow as the total allows.
    total
        What the counts of a rule add up to.
    tilt
        Logarithm of θ to begin with.
    """

    def __init__(
        self, model: Model, population: IntArray, lowest: IntArray, highest: IntArray, total: int, tilt: float = 0.0
    ) -> None:
        self.model, self.population, self.total = model, population, total
        self.lowest, self.highest = tightened(lowest, highest, total)
        ratios = zip(population.tolist(), self.lowest.tolist(), self.highest.tolist(), strict=True)
        self._ratios = [log_ratios(model, *region) for region in ratios]
        logs = [log_weights(r) for r in self._ratios]
        span = int((self.highest - self.lowest).sum())
        spread = sum(float(np.ptp(row)) for row in logs)
        self.direct = len(logs) * span**2 <= DIRECT and spread <= SPAN
        self.tilt, self._first, self._log_scale = 0.0, self.lowest, 0.0
        if self.direct:
            self._weights = [np.exp(row - row.max()) for row in logs]
        else:
            self.tilt = tilt_to(logs, total - int(self.lowest.sum()), tilt)
            self._weigh()
        self._left = total - int(self._first.sum())

    def _weigh(self) -> None:
        """Give counts their tilted weights, the largest of a region being 1; without what a transform may leave out."""
        self._weights, self._first, peaks = [], self.lowest.copy(), self.lowest.copy()
        for t, ratios in enumerate(self._ratios):
            weights, peak = weights_of(ratios + self.tilt)
            kept = np.flatnonzero(weights >= NEGLIGIBLE)
            self._weights.append(weights[kept[0] : kept[-1] + 1])
            self._first[t] += kept[0]
            peaks[t] += peak
        self._log_scale = -self.tilt * float(self.total - peaks.sum())

    @cached_property
    def _transforms(self) -> tuple[int, ComplexArray, ComplexArray]:
        """Length of the transforms; the regions' weights, and weights times count, transformed: (m, length / 2 + 1)."""
        length = fft.next_fast_len(sum(len(w) - 1 for w in self._weights) + 1, real=True)
        rows = np.zeros((len(self._weights), length))
        for row, weights in zip(rows, self._weights, strict=True):
            row[: len(weights)] = weights
        counted = rows * np.arange(length)
        return length, fft.rfft(rows), fft.rfft(counted)

    @cached_property
    def _by_count(self) -> list[FloatArray]:
        """Of each region the weight of the rules with each count, from its first one on."""
        if not self.direct:
            others = products_of_others(self._transforms[1])
            return [self._read(*of) for of in zip(others, self._weights, strict=True)]
        from atr.mechanisms.calibrated.kernels import weights_by_count  # only now: the compiler takes long to load

        flat, offsets = self._laid_out
        return np.split(weights_by_count(flat, offsets, self._left), offsets[1:-1])

    @property
    def _laid_out(self) -> tuple[FloatArray, IntArray]:
        """Weights of the regions one after the other, and (m + 1,) where each starts."""
        return np.concatenate(self._weights), offsets_of(np.array([len(w) for w in self._weights]))

    def weights(self, chance: int) -> tuple[int, FloatArray]:
        """Give the first count of a region, and the weight of the rules with each count from there."""
        return int(self._first[chance]), self._by_count[chance]

    def _read(self, spectrum: ComplexArray, weights: FloatArray) -> FloatArray:
        """Give, for each count of a region, its weight times what its spectrum of the others has for the rest."""
        length = self._transforms[0]
        at = self._left - np.arange(len(weights))
        within = (at >= 0) & (at < length)
        read = np.zeros(len(weights))
        read[within] = np.maximum(fft.irfft(spectrum, length)[at[within]], 0.0) * weights[within]
        return read

    def sums(self, region: int, *, directly: bool = False) -> tuple[int, FloatArray]:
        """Give a region's first count and, by count, Σ weight · k_t for every t, and Σ weight: (counts, m + 1)."""
        if self.direct or directly:
            from atr.mechanisms.calibrated.kernels import sums_by_count  # only now: the compiler takes long to load

            sums = sums_by_count(*self._laid_out, region, self._left)
        else:
            sums = self._transformed_sums(region)
        whole, first = sums[:, -1:], int(self._first[region])
        sums[:, :-1] += whole * self._first
        sums[:, region] = whole[:, 0] * (first + np.arange(len(sums)))
        return first, sums

    def _transformed_sums(self, region: int) -> FloatArray:
        """Do as :func:`~atr.mechanisms.calibrated.kernels.sums_by_count` by transforms."""
        (_, plain, counted), weights = self._transforms, self._weights[region]
        sums = np.zeros((len(weights), len(plain) + 1))
        others = np.delete(np.arange(len(plain)), region)
        for t, rest in zip(others, products_of_others(plain[others]), strict=True):
            sums[:, t] = self._read(rest * counted[t], weights)
        sums[:, -1] = self._read(plain[others].prod(axis=0), weights)
        return sums

    def halves(self, chance: int, counts: IntArray) -> tuple[FloatArray, BoolArray]:
        """Give what the reader expects of the rules below, and at or above, (c,) counts of a region."""
        halves = below_and_above(*self.sums(chance), counts)
        weight = halves[:, :, -1]
        exact = _adds_up(halves, self.total) & (self.direct | (weight >= SMALL * weight.sum(axis=0)))
        return halves[:, :, :-1] / np.where(exact, weight, 1.0)[:, :, None], exact

    @classmethod
    def between(
        cls, model: Model, population: IntArray, lowest: IntArray, highest: IntArray, total: int, tilt: float = 0.0
    ) -> Self | None:
        """Give the rules between bounds; None where there is none."""
        if (lowest > highest).any() or not lowest.sum() <= total <= highest.sum():
            return None
        return cls(model, population, lowest, highest, total, tilt)

    def within(self, lowest: IntArray, highest: IntArray) -> Self | None:
        """Give the rules within other (m,) bounds; None where there is none."""
        return self.between(self.model, self.population, lowest, highest, self.total, self.tilt)

    @cached_property
    def _whole(self) -> FloatArray:
        """(m + 1,) Σ weight · k_t for every t, and Σ weight."""
        region = int(np.argmin(self.highest - self.lowest))
        for directly in (self.direct, True):  # with the weights of the transforms: slow, but right where these are not
            whole: FloatArray = self.sums(region, directly=directly)[1].sum(axis=0)
            if _adds_up(whole, self.total):
                return whole
        raise ArithmeticError("expected counts do not add up to their total")  # never taken for no rule left

    @cached_property
    def expected(self) -> FloatArray:
        """(m,) people that the reader expects."""
        return np.asarray(self._whole[:-1] / self._whole[-1])

    @cached_property
    def rules(self) -> float:
        """How many rules there are, if the model is uniform."""
        if self._log_scale == 0:
            return float(self._whole[-1])
        return number_by(math.log(self._whole[-1]) + self._log_scale)


def _adds_up(sums: FloatArray, total: int) -> BoolArray:
    """Tell whether expected counts, of (…, m + 1) sums, add up to their total."""
    missed = np.abs(sums[..., :-1].sum(axis=-1) - total * sums[..., -1])
    adds_up: BoolArray = (sums[..., -1] > 0) & (missed <= SAME_COUNTS * max(total, 1) * sums[..., -1])
    return adds_up


def log_weights(ratios: FloatArray) -> FloatArray:
    """Give logarithms of weights, the first being 0, by those of their ratios."""
    logs = np.zeros(len(ratios) + 1)
    np.cumsum(ratios, out=logs[1:])
    return logs


def weights_of(ratios: FloatArray) -> tuple[FloatArray, int]:
    """Give weights, the largest being 1, by the logarithms of their ratios, and where that is.

    Logarithms are summed outwards from there: errors stay small where weights are large.
    """
    peak = int(np.argmax(log_weights(ratios)))
    down, up = -np.cumsum(ratios[:peak][::-1])[::-1], np.cumsum(ratios[peak:])
    return np.exp(np.concatenate([down, [0.0], up])), peak


def tilt_to(logs: list[FloatArray], target: int, start: float = 0.0, *, number: IntArray | None = None) -> float:
    """Give log θ for which the expected sum of counts 0, 1, … is near a target, by Newton's steps within bounds.

    It need only be near: by less than a tenth of the standard deviation. The target is between the ends of the range.

    Parameters
    ----------
    logs
        Of each region, or each kind of them, the logarithms of the weights.
    target
        Sum of counts.
    start
        The first guess.
    number
        Regions of each kind; None: one.
    """
    flat, k = np.concatenate(logs), np.concatenate([np.arange(len(row)) for row in logs])
    sizes = np.array([len(row) for row in logs])
    starts, of = offsets_of(sizes)[:-1], np.repeat(np.arange(len(logs)), sizes)
    times = np.ones(len(logs)) if number is None else number
    steepest = max(float(np.abs(np.diff(row)).max(initial=0.0)) for row in logs) + 50.0
    low, high, tilt = -steepest, steepest, start
    for _ in range(_TILT_STEPS):
        if not low < tilt < high:
            tilt = (low + high) / 2
        tilted = flat + tilt * k
        weights = np.exp(tilted - np.maximum.reduceat(tilted, starts)[of])
        weights *= (times / np.add.reduceat(weights, starts))[of]
        means = np.add.reduceat(weights * k, starts) / times
        missing, variance = target - float(means @ times), float((weights * (k - means[of]) ** 2).sum())
        if missing**2 <= 0.01 * variance:
            break
        low, high = (tilt, high) if missing > 0 else (low, tilt)
        tilt = tilt + missing / variance if variance > 0 else math.inf
    return float(tilt)
