"""Drawn groups, and their optimum by linear programmes and in exact arithmetic, region by region."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from atr.core.fidelity import Alpha, Delta
from atr.core.groups import Groups

_LEVELS = st.sampled_from([1.0, 0.99, 0.95, 0.9, 0.8, 0.5, 0.05])


@st.composite
def groups(draw, largest=400, regions=7, most=1):
    """Draw groups of counted decisions, degenerate ones included."""
    sizes = draw(st.lists(st.integers(1, regions), min_size=1, max_size=most))
    population, positives = [], []
    for size in sizes:
        p = draw(st.lists(st.integers(1, largest), min_size=size, max_size=size))
        kind = draw(st.sampled_from(["any", "any", "extreme", "none", "all"]))
        share = {"any": st.floats(0, 1), "extreme": st.sampled_from([0, 1, 0.5]), "none": st.just(0), "all": st.just(1)}
        population += p
        positives += [round(draw(share[kind]) * people) for people in p]
    p = np.array(population)
    return Groups(p, np.array(positives) / p, np.append(0, np.cumsum(sizes)))


@st.composite
def fidelities(draw):
    if draw(st.booleans()):
        return Delta(draw(_LEVELS | st.integers(0, 1000).map(lambda level: level / 1000)))
    return Alpha(draw(_LEVELS | st.integers(50, 1000).map(lambda level: level / 1000)))


def confidence_limits(share, beta, s):
    """Rows of p·x ≤ βΣpx and p(1-x) ≤ βΣp(1-x) in x, with the total given or free."""
    m = len(share)
    eye = np.diag(share)
    if s is None:
        total = np.tile(share, (m, 1))
        return np.vstack([eye - beta * total, -eye + beta * total]), np.concatenate([np.zeros(m), beta - share])
    return np.vstack([eye, -eye]), np.concatenate([np.full(m, beta * s), beta * (1 - s) - share])


def lp_distortion(p, d, lo, hi, beta, *, exact):
    """Smallest Σ(p/S)|x - d| subject to the confidence β; None where there is no such x."""
    share, m = p / p.sum(), len(p)
    A, b = confidence_limits(share, beta, share @ d if exact else None)
    A = np.hstack([A, np.zeros_like(A)])
    apart = np.block([[np.eye(m), -np.eye(m)], [-np.eye(m), -np.eye(m)]])
    result = linprog(
        np.concatenate([np.zeros(m), share]),
        A_ub=np.vstack([A, apart]),
        b_ub=np.concatenate([b, d, -d]),
        A_eq=np.append(share, np.zeros(m))[None] if exact else None,
        b_eq=[share @ d] if exact else None,
        bounds=[*zip(lo, hi, strict=True), *[(0, None)] * m],
        method="highs",
    )
    return result.fun if result.status == 0 else None


def confidence(p, x):
    shares = [(w.max() / w.sum()) if w.sum() > 0 else 0 for w in (p * x, p * (1 - x))]
    return max(shares)


def exact_closed_form(p, lo, hi, d):
    """The formulas in exact arithmetic, one region at a time: β* with free rates and with exact ones."""
    p, lo, hi, d = ([Fraction(float(value)) for value in column] for column in (p, lo, hi, d))
    S = sum(p)
    v = [a * b for a, b in zip(p, hi, strict=True)]
    w = [a * (1 - b) for a, b in zip(p, lo, strict=True)]
    M1 = max(a * b for a, b in zip(p, lo, strict=True))
    M0 = max(a * (1 - b) for a, b in zip(p, hi, strict=True))
    s = sum(a * b for a, b in zip(p, d, strict=True))
    free, exact = [max(p) / S, (M1 + M0) / S], [max(p) / S]
    for M, room, total in ((M1, v, s), (M0, w, S - s)):
        if M:
            free.append(M / sum(min(part, M) for part in room))
        if total:
            exact.append(M / total)
            room = sorted(room, reverse=True)
            exact += [(1 - sum(room[c:]) / total) / c for c in range(1, len(room) + 1)]
    return float(max(free)), float(max(exact))


def one(groups, i=0):
    cells = slice(groups.offsets[i], groups.offsets[i + 1])
    return groups.population[cells], groups.decision[cells, 0]
