"""Sums over all rules of a box by direct convolution, compiled by Numba: terms are positive, no digit is lost."""

from __future__ import annotations

import numpy as np

from atr.core.arrays import FloatArray, IntArray
from atr.core.compiled import compiled


@compiled
def sums_by_count(weights: FloatArray, offsets: IntArray, region: int, total: int) -> FloatArray:
    """Give, for each count j of one region, the summed weight of the rules with it, and of their other counts.

    Parameters
    ----------
    weights
        (z,) weights of the counts 0, 1, … of each region, laid out one region after the other.
    offsets
        (m + 1,) positions of the regions in ``weights``.
    region
        The region by whose count the sums are told apart.
    total
        What the counts of a rule add up to.

    Returns
    -------
    FloatArray
        (counts, m + 1): Σ weight · k_t for each other region t, 0 for the region itself, and last Σ weight.
    """
    m = len(offsets) - 1
    first, end = offsets[region], offsets[region + 1]
    sums = np.zeros((end - first, m + 1))
    before, after = [np.ones(1)], [np.ones(1)]
    for t in range(m):
        before.append(before[t] if t == region else _product(before[t], weights[offsets[t] : offsets[t + 1]]))
        u = m - 1 - t
        after.append(after[t] if u == region else _product(after[t], weights[offsets[u] : offsets[u + 1]]))
    _spread(before[m], np.ones(1), total, weights[first:end], sums[:, m])
    for t in range(m):
        if t != region:
            counted = weights[offsets[t] : offsets[t + 1]] * np.arange(offsets[t + 1] - offsets[t])
            others = _product(before[t], after[m - 1 - t])
            _spread(others, counted, total, weights[first:end], sums[:, t])
    return sums


@compiled
def weights_by_count(weights: FloatArray, offsets: IntArray, total: int) -> FloatArray:
    """Give the last column of :func:`sums_by_count` for every region, laid out as ``weights``."""
    m = len(offsets) - 1
    summed = np.zeros(len(weights))
    before, after = [np.ones(1)], [np.ones(1)]
    for t in range(m):
        u = m - 1 - t
        before.append(_product(before[t], weights[offsets[t] : offsets[t + 1]]))
        after.append(_product(after[t], weights[offsets[u] : offsets[u + 1]]))
    for t in range(m):
        first, end = offsets[t], offsets[t + 1]
        _spread(before[t], after[m - 1 - t], total, weights[first:end], summed[first:end])
    return summed


@compiled
def _product(p: FloatArray, q: FloatArray) -> FloatArray:
    """Convolve two rows."""
    if len(p) < len(q):
        p, q = q, p
    result = np.zeros(len(p) + len(q) - 1)
    for j in range(len(q)):
        for i in range(len(p)):
            result[i + j] += p[i] * q[j]
    return result


@compiled
def _spread(p: FloatArray, q: FloatArray, total: int, weights: FloatArray, column: FloatArray) -> None:
    """Fill in weight of j times the convolution of p and q at total - j, for every j."""
    for j in range(len(weights)):
        at = total - j
        value = 0.0
        for i in range(max(0, at - len(p) + 1), min(len(q), at + 1)):
            value += q[i] * p[at - i]
        column[j] = weights[j] * value
