"""The least distorted announcement of a given confidence.

Distortion is Σp|x - d|, the expected number of people whose announced chance is moved. Arrays have one group
per row, as in :mod:`atr.mechanism.closed_form`.
"""

from __future__ import annotations

import numpy as np

from atr.groups import FloatArray

# Relative to the group's population.
_NOTHING = 1e-12


def least_distorted(
    p: FloatArray,
    d: FloatArray,
    lo: FloatArray,
    hi: FloatArray,
    *,
    s: FloatArray,
    t: FloatArray,
    beta: FloatArray,
) -> FloatArray:
    """Give the mapping (k, width) nearest to d with Σpx = s, Σp(1-x) = t and confidence at most β (k,).

    Regions beyond a limit go to it; what the total still needs is one equal shift of all regions with room
    (every unit of it costs the same, wherever it goes).

    Examples
    --------
    >>> p, d = np.array([[12.0, 5, 3]]), np.array([[0.0, 0, 1]])
    >>> lo, hi = np.array([[0, 0, 0.9]]), np.array([[0.1, 0.1, 1]])
    >>> s, t, beta = np.array([3.0]), np.array([17.0]), np.array([0.9])
    >>> least_distorted(p, d, lo, hi, s=s, t=t, beta=beta).round(4)
    array([[0.0176, 0.0176, 0.9   ]])
    """
    some = np.where(p > 0, p, 1)
    # An outcome nobody gets limits nothing; its total of zero must not, by its rounding error, become a share.
    lower = np.where(s[:, None] > 0, np.maximum(lo, 1 - beta[:, None] * t[:, None] / some), lo)
    upper = np.where(t[:, None] > 0, np.minimum(hi, beta[:, None] * s[:, None] / some), hi)
    x = np.clip(d, lower, upper)
    rest = s - (p * x).sum(axis=1)
    rising = (rest > 0)[:, None]
    room = np.where(p > 0, np.maximum(np.where(rising, upper - x, x - lower), 0), 0)
    shift = np.minimum(room, _level(p, room, np.abs(rest))[:, None])
    return np.where(rising, x + shift, x - shift)


def cheapest_total(p: FloatArray, d: FloatArray, *, s_lo: FloatArray, s_hi: FloatArray, beta: FloatArray) -> FloatArray:
    """Give the total s in [s_lo, s_hi] (k,) at which the least distorted mapping is cheapest.

    With down = Σ(pd - βs)⁺, up = Σ(p(1-d) - β(S-s))⁺ and Δ = s - Σpd, clipping to the limits costs down + up
    and the remaining shift |Δ + down - up|: together max(2·down + Δ, 2·up - Δ), which is convex and piecewise
    linear in s. Where several totals cost the same, the one nearest to Σpd is taken.

    Examples
    --------
    >>> p, d = np.array([[2., 2.]]), np.array([[0.5, 0.25]])
    >>> cheapest_total(p, d, s_lo=np.array([0.]), s_hi=np.array([4.]), beta=np.array([0.625]))
    array([1.6])
    """
    S, true_total = p.sum(axis=1), (p * d).sum(axis=1)
    beta_, first, last = beta[:, None], s_lo[:, None], s_hi[:, None]
    ends_down, ends_up = p * d / beta_, S[:, None] - p * (1 - d) / beta_
    knots = np.clip(np.hstack([ends_down, ends_up, true_total[:, None], first, last]), first, last)
    width = p.shape[1]
    order = np.argsort(knots, axis=1, kind="stable")
    s = np.take_along_axis(knots, order, axis=1)
    gap = np.diff(s, axis=1)
    passed_down = np.cumsum(order < width, axis=1)[:, :-1]
    passed_up = np.cumsum((order >= width) & (order < 2 * width), axis=1)[:, :-1]
    down = _running(np.maximum(p * d - beta_ * first, 0).sum(axis=1), -beta_ * (width - passed_down) * gap)
    up = _running(np.maximum(p * (1 - d) - beta_ * (S[:, None] - first), 0).sum(axis=1), beta_ * passed_up * gap)
    delta = s - true_total[:, None]
    falling, rising = 2 * down + delta, 2 * up - delta

    ahead = falling - rising
    crossing = np.signbit(ahead[:, :-1]) != np.signbit(ahead[:, 1:])
    part = np.divide(ahead[:, :-1], ahead[:, :-1] - ahead[:, 1:], out=np.zeros_like(gap), where=crossing)
    totals = np.hstack([s, s[:, :-1] + part * gap])
    costs = np.hstack(
        [
            np.maximum(falling, rising),
            np.where(crossing, falling[:, :-1] + part * np.diff(falling, axis=1), np.inf),
        ]
    )
    cheapest = costs <= costs.min(axis=1, keepdims=True) + 1e-12 * S[:, None]
    distance = np.where(cheapest, np.abs(totals - true_total[:, None]), np.inf)
    nearest = distance.argmin(axis=1)
    chosen: FloatArray = np.take_along_axis(totals, nearest[:, None], axis=1)[:, 0]
    return chosen


def emptied(s: FloatArray, lo: FloatArray, hi: FloatArray, S: FloatArray) -> FloatArray:
    """Make a total (k,) that is 0 or S but for rounding errors exactly that, where an outcome may be empty."""
    s = np.where((s <= _NOTHING * S) & (lo <= 0).all(axis=1), 0, s)
    return np.where((S - s <= _NOTHING * S) & (hi >= 1).all(axis=1), S, s)


def _running(start: FloatArray, steps: FloatArray) -> FloatArray:
    return np.cumsum(np.column_stack([start, steps]), axis=1)


def _level(p: FloatArray, room: FloatArray, amount: FloatArray) -> FloatArray:
    """Give the shift y (k,) with Σp·min(room, y) = amount, or the largest room where it is not enough."""
    order = np.argsort(room, axis=1, kind="stable")
    r, q = np.take_along_axis(room, order, axis=1), np.take_along_axis(p, order, axis=1)
    full_before = np.column_stack([np.zeros(len(p)), np.cumsum(q * r, axis=1)[:, :-1]])
    open_still = np.cumsum(q[:, ::-1], axis=1)[:, ::-1]
    enough = full_before + r * open_still >= amount[:, None]
    k = np.where(enough.any(axis=1), enough.argmax(axis=1), p.shape[1] - 1)[:, None]
    before, still, top = (np.take_along_axis(a, k, axis=1)[:, 0] for a in (full_before, open_still, r))
    shift: FloatArray = np.minimum(np.divide(amount - before, still, out=top.copy(), where=still > 0), top)
    return shift
