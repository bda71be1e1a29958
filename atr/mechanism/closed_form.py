"""Optimal privacy of binary groups in closed form: the smallest confidence any allowed mapping can reach.

Arrays have one group per row: ``p`` population (its unit cancels), ``d`` true decision, ``lo`` and ``hi``
allowed range of the announced one. A region with ``p = 0`` fills up a row and changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from atr.groups import FloatArray

# 1 - cβ is 0 where β = 1/c, but for the last bits.
_TINY = 1e-12
# Relative error of a sum.
_NOISE = 1e-14


class FreeLimits(NamedTuple):
    """What keeps a reader's confidence up when group rates may move: (k,) each."""

    beta_0: FloatArray
    beta_1: FloatArray
    beta_p: FloatArray
    beta_min: FloatArray


def free_rates(p: FloatArray, lo: FloatArray, hi: FloatArray) -> FreeLimits:
    """Give the four lower bounds of the confidence, of which the largest is attained.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Theorem 1. ``beta_min`` is
    missing there: no announcement pushes a reader below what the populations alone tell.

    Examples
    --------
    >>> p, lo, hi = np.array([[12.0, 5, 3]]), np.array([[0, 0, 0.9]]), np.array([[0.1, 0.1, 1]])
    >>> [beta.round(4).item() for beta in free_rates(p, lo, hi)]
    [0.6708, 0.6136, 0.675, 0.6]
    """
    M1, M0 = (p * lo).max(axis=1), (p * (1 - hi)).max(axis=1)
    return FreeLimits(
        beta_0=_share(M0, np.minimum(p * (1 - lo), M0[:, None]).sum(axis=1)),
        beta_1=_share(M1, np.minimum(p * hi, M1[:, None]).sum(axis=1)),
        beta_p=_share(M1 + M0, p.sum(axis=1)),
        beta_min=_share(p.max(axis=1), p.sum(axis=1)),
    )


def exact_rates(p: FloatArray, d: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Give the optimal privacy (k,) when every group's rate stays Σpd / Σp.

    With totals s = Σpd and t = Σp(1-d) fixed, confidence β needs M1 ≤ βs and M0 ≤ βt, p ≤ βΣp, and room for
    the totals: s ≤ Σ min(p·hi, βs), t ≤ Σ min(p(1-lo), βt).

    Examples
    --------
    >>> p, d = np.array([[12.0, 5, 3]]), np.array([[0.0, 0, 1]])
    >>> exact_rates(p, d, np.array([[0, 0, 0.9]]), np.array([[0.1, 0.1, 1]])).round(4)
    array([0.9])
    """
    s, t = (p * d).sum(axis=1), (p * (1 - d)).sum(axis=1)
    limits = [
        _share(p.max(axis=1), p.sum(axis=1)),
        _share((p * lo).max(axis=1), s),
        _share((p * (1 - hi)).max(axis=1), t),
        _crowding(p * hi, s),
        _crowding(p * (1 - lo), t),
    ]
    highest: FloatArray = np.max(limits, axis=0)
    return highest


def feasible_totals(p: FloatArray, lo: FloatArray, hi: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the smallest and largest total Σp·x (k,) of the allowed mappings x of confidence at most β (k,).

    β must be attainable: at least the largest of :func:`free_rates`.

    Examples
    --------
    >>> p, lo, hi = np.array([[12.0, 5, 3]]), np.array([[0, 0, 0.9]]), np.array([[0.1, 0.1, 1]])
    >>> s_lo, s_hi = feasible_totals(p, lo, hi, np.array([0.675]))
    >>> s_lo.round(6).item(), s_hi.round(6).item()
    (4.0, 4.0)
    """
    S = p.sum(axis=1)
    need_1, need_0 = (p * lo).max(axis=1) / beta, (p * (1 - hi)).max(axis=1) / beta
    # Where β is just attainable, rounding errors must not leave room for less than what is needed.
    room_1 = np.maximum(_largest_total(p * hi, beta), need_1)
    room_0 = np.maximum(_largest_total(p * (1 - lo), beta), need_0)
    s_lo, s_hi = np.maximum(need_1, S - room_0), np.minimum(S - need_0, room_1)
    crossed = s_lo > s_hi
    middle = (s_lo + s_hi) / 2
    return np.where(crossed, middle, s_lo), np.where(crossed, middle, s_hi)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.minimum(np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0), 1)


def _tails(v: FloatArray) -> FloatArray:
    """Add up each row without its c largest values: (k, width + 1) for c from 0."""
    ascending = np.cumsum(np.sort(v, axis=1), axis=1)
    return np.column_stack([ascending[:, ::-1], np.zeros(len(v))])


def _crowding(v: FloatArray, s: FloatArray) -> FloatArray:
    """Give the smallest β with Σ min(v, βs) ≥ s, as the largest of (1 - tail_c/s)/c over c ≥ 1."""
    c = np.arange(1, v.shape[1] + 1)
    tails = _tails(v)[:, 1:]
    filled = np.divide(tails, s[:, None], out=np.ones_like(tails), where=s[:, None] > 0)
    smallest: FloatArray = ((1 - filled) / c).max(axis=1)
    return smallest


def _largest_total(v: FloatArray, beta: FloatArray) -> FloatArray:
    """Give the largest s with Σ min(v, βs) ≥ s, as the smallest of tail_c/(1 - cβ) over 0 ≤ c < 1/β."""
    tails = _tails(v)
    left = 1 - np.arange(tails.shape[1]) * beta[:, None]
    totals = np.divide(tails, left, out=np.full_like(tails, np.inf), where=left > _TINY).min(axis=1)
    # Near β = 1/c the quotient is all rounding error: ask directly whether there is room for everything.
    everything = tails[:, 0]
    reached = np.minimum(v, (beta * everything)[:, None]).sum(axis=1)
    return np.where(reached >= everything * (1 - _NOISE), everything, totals)
