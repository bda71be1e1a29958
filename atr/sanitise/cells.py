"""Points of a space mapped to few of them, each with its share, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from atr.core.arrays import FloatArray, IntArray, offsets_of
from atr.sanitise.joints import numbers, positions, probabilities

SMOOTHING = 10.0 ** -np.arange(1, 6)
"""Of the mean cost: by how much the dual is smoothed, in turn. Of a sample it has corners, where an ascent stops."""
STEEPNESS = 1e-6
"""Of a share: what a smoothed cell may miss."""


class Partition(NamedTuple):
    """The cells of points."""

    v: FloatArray
    """(k,) by how much each point is favoured; the smallest is 0."""
    dual: float
    """v · weights + E min (|x - y_k|² - v_k) over the sample: the least mean square, from below."""
    cell: IntArray
    """(n,) the position of the point to which each of the sample is mapped."""
    shares: FloatArray
    """(k,) the shares of the sample in the cells."""


def partition(points: ArrayLike, weights: ArrayLike, sample: ArrayLike) -> Partition:
    """Map a sample to few points, each with a given share, at the least mean square of the distance.

    The dual is concave, and its supergradient are the weights less the shares of the cells. The paper's step
    v - step · w descends: it is to be added. Here the smoothed dual is maximised by Newton's method, ever less
    smoothed, and the v with the largest exact dual is taken.

    Parameters
    ----------
    points
        (k, d) where the target has its mass; (k,) on a line.
    weights
        (k,) probabilities of the target.
    sample
        (n, d) of the source; (n,) on a line.

    Returns
    -------
    v, by which x is mapped to the point of least |x - y_k|² - v_k, the dual, and the cells with their shares of the
    sample: compare them with the weights.

    Raises
    ------
    ValueError
        If the arrays do not fit each other, hold what is no finite number, points are the same, the sample is smaller
        than the points with a weight, or the weights do not add up to 1.

    References
    ----------
    [DM], continuous to discrete.

    Examples
    --------
    >>> partition([0.0, 1.0], [0.75, 0.25], np.arange(8) / 8).cell
    array([0, 0, 0, 0, 0, 0, 1, 1])
    """
    cost = _squares(points, sample)
    n, k = cost.shape
    given = np.shape(numbers(weights, "weights", f"one number for each of the {k} points"))
    if given != (k,):
        raise ValueError(f"weights must be one number for each of the {k} points, not {' × '.join(map(str, given))}")
    if len(np.unique(points, axis=0)) < k:
        raise ValueError("points must differ: give one of them the weights of those that are the same")
    p = probabilities(weights, "weights", 1)
    p = p / p.sum()
    if n < np.count_nonzero(p):
        raise ValueError(f"sample must be at least {np.count_nonzero(p)} points, one for each with a weight, not {n}")
    unit = float(cost.mean()) or 1.0

    def exact(v: FloatArray) -> float:
        return float(v @ p + (cost - v).min(axis=1).mean())

    found = [np.zeros(len(p))]
    for smoothing in unit * SMOOTHING:
        found.append(_ascended(found[-1], p, cost, smoothing))
    v = max(found, key=exact)
    cell = np.argmin(cost - v, axis=1)
    return Partition(v - v.min(), exact(v), cell, np.bincount(cell, minlength=len(p)) / len(cell))


def assign(points: ArrayLike, v: ArrayLike, sample: ArrayLike) -> IntArray:
    """Give the points that a sample is mapped to by the v of a partition, whatever sample that was made of.

    Parameters
    ----------
    points
        (k, d), or (k,) on a line.
    v
        (k,) by how much each point is favoured: :attr:`Partition.v`.
    sample
        (n, d), or (n,) on a line.

    Returns
    -------
    (n,) positions of points.

    Raises
    ------
    ValueError
        If the arrays do not fit each other or hold what is no finite number.

    References
    ----------
    [DM], continuous to discrete.
    """
    cost = _squares(points, sample)
    favoured = numbers(v, "v", "one number for each point")
    if favoured.shape != cost.shape[1:] or not np.isfinite(favoured).all():
        raise ValueError(f"v must be one finite number for each of the {cost.shape[1]} points")
    return np.asarray(np.argmin(cost - favoured, axis=1))


def draw_from_cells(values: ArrayLike, cell: ArrayLike, sample: FloatArray, *, seed: int) -> FloatArray:
    """Map points back: for each, draw one of a sample that is in its cell.

    Parameters
    ----------
    values
        (m,) positions of points.
    cell
        (n,) the cell of each of the sample, see :func:`partition`.
    sample
        (n, d) of the target, or (n,).
    seed
        Of the generator of random numbers.

    Returns
    -------
    (m, d) of the sample, or (m,).

    Raises
    ------
    ValueError
        If a value has nothing of the sample in its cell, or the arrays do not fit each other.

    References
    ----------
    [DM], discrete to continuous.

    Examples
    --------
    >>> draw_from_cells([1, 0], [0, 1], np.array([0.3, 0.9]), seed=1)
    array([0.9, 0.3])
    """
    of, cells = positions(values, "values"), positions(cell, "cell")
    if len(cells) != len(sample):
        raise ValueError(f"cell must be one position for each of the {len(sample)} of the sample, not {len(cells)}")
    sizes = np.bincount(cells, minlength=int(of.max(initial=-1)) + 1)
    if not sizes[of].all():
        raise ValueError("values must be positions of points that have some of the sample in their cells")
    within = np.random.default_rng(seed).integers(sizes[of])
    return np.asarray(sample[np.argsort(cells, kind="stable")[offsets_of(sizes)[of] + within]])


def _squares(points: ArrayLike, sample: ArrayLike) -> FloatArray:
    """Give the squared distances of a sample and points, (n, k)."""
    y, x = (_located(*of) for of in ((points, "points"), (sample, "sample")))
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"sample must have {y.shape[1]} coordinates, as points, not {x.shape[1]}")
    return np.asarray(cdist(x, y, "sqeuclidean"))


def _located(values: ArrayLike, name: str) -> FloatArray:
    """Give (n, d) coordinates."""
    shape = "finite coordinates, a row for each, and not empty"
    x = numbers(values, name, shape)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or x.size == 0 or not np.isfinite(x).all():
        raise ValueError(f"{name} must be {shape}")
    return x


def _ascended(v: FloatArray, p: FloatArray, cost: FloatArray, smoothing: float) -> FloatArray:
    """Maximise v · p - E smoothing · ln Σ exp((v_k - cost_k) / smoothing) from a start, by Newton's method."""

    def chosen(at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n, k) how much each point is chosen, and (n, 1) the logarithm of the sum."""
        soft = (at - cost) / smoothing
        most = soft.max(axis=1, keepdims=True)
        np.exp(soft - most, out=soft)
        total = soft.sum(axis=1, keepdims=True)
        return soft / total, most + np.log(total)

    def less(at: FloatArray) -> tuple[float, FloatArray]:
        soft, log_sum = chosen(at)
        return float(smoothing * log_sum.mean() - at @ p), soft.mean(axis=0) - p

    def curved(at: FloatArray) -> FloatArray:
        soft, _ = chosen(at)
        return np.asarray((np.diag(soft.mean(axis=0)) - soft.T @ soft / len(soft)) / smoothing)

    return np.asarray(minimize(less, v, jac=True, hess=curved, method="trust-exact", options={"gtol": STEEPNESS}).x)
