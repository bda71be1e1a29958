"""Couplings of two discrete distributions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack

from atr.core.arrays import FloatArray
from atr.core.tolerances import SOLVER_TOLERANCE
from atr.sanitise.joints import numbers, probabilities


class Transport(NamedTuple):
    """A coupling of the least expected cost, with the dual solution that shows that it is."""

    plan: FloatArray
    """(x, y) probabilities P(x, y)."""
    cost: float
    """Expected cost."""
    u: FloatArray
    """(x,) with u(x) + v(y) at or below the cost of x and y, and equal to it where the plan is above 0."""
    v: FloatArray
    """(y,)."""


def transport(p: ArrayLike, q: ArrayLike, cost: ArrayLike) -> Transport:
    """Give a coupling of two discrete distributions that has the least expected cost, by HiGHS.

    Parameters
    ----------
    p
        (x,) probabilities of the source.
    q
        (y,) probabilities of the target.
    cost
        (x, y) cost of moving x to y, finite.

    Returns
    -------
    The plan, whose rows add up to p and columns to q, its cost, and the dual u, v. ``plan / p[:, None]`` is the
    channel.

    Raises
    ------
    ValueError
        If p or q are no probabilities that add up to 1, or the cost does not fit them.

    References
    ----------
    [DM], discrete to discrete.

    Examples
    --------
    >>> found = transport([0.5, 0.5], [0.25, 0.75], [[0, 1], [1, 0]])
    >>> found.plan.round(4), round(found.cost, 4)
    (array([[0.25, 0.25],
           [0.  , 0.5 ]]), 0.25)
    """
    source, target = probabilities(p, "p", 1), probabilities(q, "q", 1)
    shape = (len(source), len(target))
    c = numbers(cost, "cost", f"{shape} finite numbers")
    if c.shape != shape or not np.isfinite(c).all():
        raise ValueError(f"cost must be {shape} finite numbers")
    source, target = source / source.sum(), target / target.sum()
    unit = np.abs(c).max() or 1.0
    rows = kron(eye_array(shape[0]), np.ones((1, shape[1])))
    columns = kron(np.ones((1, shape[0])), eye_array(shape[1]))
    sums: Any = vstack([rows, columns]).tocsr()
    solved: Any = linprog(
        c.ravel() / unit,
        A_eq=sums,
        b_eq=np.concatenate([source, target]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": SOLVER_TOLERANCE, "dual_feasibility_tolerance": SOLVER_TOLERANCE},
    )
    plan = _fitted(solved.x.reshape(shape), source, target)
    v = solved.eqlin.marginals[shape[0] :] * unit
    return Transport(plan, float((plan * c).sum()), (c - v).min(axis=1), v)


def monotone(p: FloatArray, q: FloatArray) -> FloatArray:
    """Give the couplings that keep the order of values: (…, x, y) of (…, x) and (…, y) probabilities."""
    x, y = (_ends(each) for each in (p, q))
    below = np.minimum(x[..., 1:, None], y[..., None, 1:])
    return np.asarray(np.maximum(below - np.maximum(x[..., :-1, None], y[..., None, :-1]), 0))


def _ends(p: FloatArray) -> FloatArray:
    """Give where values end between 0 and 1, (…, x + 1): at 1 exactly, so that no value without mass gets any."""
    ends = np.insert(np.cumsum(p, axis=-1), 0, 0, axis=-1)
    return np.asarray(ends / np.where(ends[..., -1:] > 0, ends[..., -1:], 1))


def _fitted(plan: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """Make the sums of a plan exact where a solver kept them to its tolerance (Altschuler, Weed, Rigollet 2017)."""
    plan = np.maximum(plan, 0)
    for sums, axis in ((p[:, None], 1), (q[None], 0)):
        found = plan.sum(axis=axis, keepdims=True)
        plan = plan * np.minimum(np.divide(sums, found, out=np.ones_like(found), where=found > 0), 1)
    rows, columns = np.maximum(p - plan.sum(axis=1), 0), np.maximum(q - plan.sum(axis=0), 0)
    left = rows.sum()
    return plan + np.outer(rows, columns) / left if left > 0 else plan
