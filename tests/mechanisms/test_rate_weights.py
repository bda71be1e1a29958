"""A reader who assumes other numbers of people than those whose group rates are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from atr.core.arrays import FloatArray
from atr.core.confidence import exact_confidence, maximum_confidence
from atr.core.fidelity import Delta
from atr.core.groups import Groups
from atr.mechanisms.optimal import least_distorted, optimal_privacy, round_announcement


@st.composite
def drawn(draw: st.DrawFn) -> Groups:
    """One to three groups of up to five regions, with two or three outcomes and numbers from two sources."""
    outcomes = draw(st.sampled_from((2, 3)))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    n = sum(sizes)
    people = st.lists(st.integers(1, 60), min_size=n, max_size=n)
    known, own = draw(people), np.array(draw(people))
    cuts = [sorted(draw(st.lists(st.integers(0, int(p)), min_size=outcomes - 1, max_size=outcomes - 1))) for p in own]
    counts = np.array([np.diff([0, *cut, p]) for cut, p in zip(cuts, own, strict=True)])
    return Groups(known, counts / own[:, None], np.cumsum([0, *sizes]), rate_weights=own)


def feasible(known: FloatArray, own: FloatArray, D: FloatArray, delta: float, beta: float) -> bool:
    """Whether one group can be announced within δ, its rates kept, at confidence β: a programme in plain terms."""
    n, A = D.shape
    ceilings, rates, rows = [], [], []
    for a in range(A):
        for x in range(n):
            row = np.zeros((n, A))
            row[:, a] = -beta * known
            row[x, a] += known[x]
            ceilings.append(row.ravel())
        row = np.zeros((n, A))
        row[:, a] = own
        rates.append(row.ravel())
    for x in range(n):
        row = np.zeros((n, A))
        row[x] = 1
        rows.append(row.ravel())
    bounds = np.column_stack([np.maximum(D - (1 - delta), 0).ravel(), np.minimum(D + (1 - delta), 1).ravel()])
    found = linprog(
        np.zeros(n * A),
        A_ub=ceilings,
        b_ub=np.full(len(ceilings), 1e-9 * known.max()),
        A_eq=np.vstack([rates, rows]),
        b_eq=np.concatenate([own @ D, np.ones(n)]),
        bounds=bounds,
    )
    return found.status == 0


@given(drawn(), st.sampled_from((0.0, 0.5, 0.8, 0.9)))
def test_no_announcement_with_these_rates_does_better(groups: Groups, delta: float) -> None:
    assert groups.rate_weights is not None
    found = optimal_privacy(groups, fidelity=Delta(delta))
    for g, beta in enumerate(found.beta):
        cells = slice(groups.offsets[g], groups.offsets[g + 1])
        one = groups.population[cells], groups.rate_weights[cells], groups.decision[cells], delta
        assert feasible(*one, min(1.0, beta + 1e-6))
        assert beta <= found.limits[g, 0] + 1e-6 or not feasible(*one, beta - 1e-4)


@given(drawn(), st.sampled_from((0.5, 0.8, 0.9)))
def test_announcements_keep_rates_and_confidence(groups: Groups, delta: float) -> None:
    assert groups.rate_weights is not None
    beta = float(optimal_privacy(groups, fidelity=Delta(delta)).beta.max())
    X = least_distorted(groups, beta=beta, fidelity=Delta(delta))
    assert maximum_confidence(groups, X).max() <= beta + 1e-6
    assert np.abs(X - groups.decision).max() <= 1 - delta + 1e-9
    kept = groups.sums(groups.rate_weights[:, None] * (X - groups.decision))
    assert np.abs(kept).max() <= 1e-6 * groups.rate_weights.sum()
    published = groups.rate_weights.astype(int)
    grid = round_announcement(
        groups, X, fidelity=Delta(delta), digits=3, beta=beta, ceiling=1.0, published_population=published
    )
    kept = groups.sums(published[:, None] * (grid - 1000 * groups.decision)) / groups.sums(groups.rate_weights)[:, None]
    assert np.abs(kept).max() <= (0.5 if groups.outcomes == 2 else 1) + 1e-9
    sure = exact_confidence(groups.population.astype(int), grid, digits=3, offsets=groups.offsets)
    if groups.outcomes == 2:  # no chance moves by more than a digit, nor does an outcome that few get become much rarer
        given, all_people = groups.sums(groups.population[:, None] * X), groups.sums(groups.population)
        largest = np.maximum.reduceat(groups.population, groups.offsets[:-1])
        least_given = np.maximum(given - 0.001 * all_people[:, None], 1e-9)
        assert (
            np.array(sure, dtype=float) <= ((beta * given + 0.001 * largest[:, None]) / least_given).max(axis=1)
        ).all()


def test_the_same_numbers_twice_give_the_closed_form() -> None:
    card = [12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6]
    both = Groups(*card, rate_weights=card[0])
    for rates in ("exact", "free"):
        expected = optimal_privacy(Groups(*card), fidelity=Delta(0.9), group_rates=rates)
        found = optimal_privacy(both, fidelity=Delta(0.9), group_rates=rates)
        assert found.beta == pytest.approx(expected.beta, abs=1e-9)


def test_free_rates_leave_nothing_to_keep() -> None:
    groups = Groups([931, 57, 12], [0, 0, 1], [0, 3], rate_weights=[12, 5, 3])
    alone = Groups([931, 57, 12], [0, 0, 1], [0, 3])
    free = {"fidelity": Delta(0.9), "group_rates": "free"}
    assert optimal_privacy(groups, **free).beta == optimal_privacy(alone, **free).beta
