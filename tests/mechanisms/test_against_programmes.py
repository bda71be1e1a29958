"""Closed forms and announcements on random groups, held against linear programmes and exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from atr.core.confidence import maximum_confidence
from atr.core.fidelity import Delta
from atr.core.groups import Groups
from atr.errors import RefusedError
from atr.mechanisms.optimal import least_distorted, optimal_privacy, solve
from tests.helpers.single_groups import (
    confidence,
    confidence_limits,
    exact_closed_form,
    fidelities,
    groups,
    lp_distortion,
    one,
)

RATES = ("exact", "free")


def lp_exact_rates(p, d, lo, hi):
    """Smallest β with every total fixed: one linear programme in (x, β)."""
    share, m = p / p.sum(), len(p)
    s = share @ d
    eye = np.diag(share)
    A = np.vstack([np.column_stack([eye, np.full(m, -s)]), np.column_stack([-eye, np.full(m, s - 1)])])
    result = linprog(
        np.append(np.zeros(m), 1),
        A_ub=A,
        b_ub=np.concatenate([np.zeros(m), -share]),
        A_eq=np.append(share, 0)[None],
        b_eq=[s],
        bounds=[*zip(lo, hi, strict=True), (0, 1)],
        method="highs",
    )
    return result.fun


def lp_free_rates(p, d, lo, hi):
    """Smallest β with totals free: Dinkelbach's iteration, β falling to the confidence of ever better x."""
    share, m = p / p.sum(), len(p)
    beta = confidence(share, d)
    for _ in range(50):
        A, b = confidence_limits(share, beta, None)
        result = linprog(
            np.append(np.zeros(m), 1),
            A_ub=np.column_stack([A, -np.ones(2 * m)]),
            b_ub=b,
            bounds=[*zip(lo, hi, strict=True), (None, None)],
            method="highs",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        better = confidence(share, np.clip(result.x[:m], lo, hi))
        if better > beta - 1e-10:
            break
        beta = better
    return beta


@given(groups(), fidelities())
def test_optimal_privacy_is_the_programmes(drawn, fidelity):
    p, d = one(drawn)
    lo, hi = (ends[:, 0] for ends in fidelity.allowed(drawn.decision))
    free = optimal_privacy(drawn, fidelity=fidelity, group_rates="free").beta.item()
    exact = optimal_privacy(drawn, fidelity=fidelity, group_rates="exact").beta.item()
    # The iteration ends at the confidence of some mapping: never better than the optimum, and near it.
    found = lp_free_rates(p, d, lo, hi)
    assert found - 5e-6 <= free <= found + 1e-9
    assert exact == pytest.approx(lp_exact_rates(p, d, lo, hi), abs=1e-6)
    assert free <= exact + 1e-12


@given(groups(), fidelities())
def test_optimal_privacy_is_the_exact_formula(drawn, fidelity):
    p, d = one(drawn)
    free, exact = exact_closed_form(p, *(ends[:, 0] for ends in fidelity.allowed(drawn.decision)), d)
    assert optimal_privacy(drawn, fidelity=fidelity, group_rates="free").beta.item() == pytest.approx(free, abs=1e-9)
    assert optimal_privacy(drawn, fidelity=fidelity, group_rates="exact").beta.item() == pytest.approx(exact, abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(0, 9), st.integers(0, 20).map(lambda d: d / 20)), min_size=1, max_size=8),
    fidelities(),
)
def test_populations_over_nine_orders_of_magnitude(cells, fidelity):
    p, d = 10.0 ** np.array([c[0] for c in cells]), np.array([c[1] for c in cells])
    drawn = Groups(p, d, [0, len(p)])
    expected = dict(
        zip(
            ("free", "exact"),
            exact_closed_form(p, *(ends[:, 0] for ends in fidelity.allowed(drawn.decision)), d),
            strict=True,
        )
    )
    for rates in RATES:
        beta = optimal_privacy(drawn, fidelity=fidelity, group_rates=rates).beta
        assert beta.item() == pytest.approx(expected[rates], abs=1e-9)
        x = least_distorted(drawn, beta=beta, fidelity=fidelity, group_rates=rates)[:, 0]
        lo, hi = (ends[:, 0] for ends in fidelity.allowed(drawn.decision))
        assert x == pytest.approx(np.clip(x, lo, hi), abs=1e-12)
        # Near 1 a chance has fewer digits for what remains.
        remainder = min(p @ x, p @ (1 - x)) / p.sum()
        assert confidence(p, x) <= beta.item() + 1e-9 + (1e-14 / remainder if remainder else 0)


@given(groups(), fidelities(), st.floats(0, 1), st.sampled_from(RATES))
def test_announcements_are_feasible_and_the_least_distorted(drawn, fidelity, slack, rates):
    p, d = one(drawn)
    lo, hi = (ends[:, 0] for ends in fidelity.allowed(drawn.decision))
    best = optimal_privacy(drawn, fidelity=fidelity, group_rates=rates)
    beta = best.beta.item() + slack**3 * (1 - best.beta.item())
    x = least_distorted(drawn, beta=beta, fidelity=fidelity, group_rates=rates)[:, 0]
    assert (x >= lo - 1e-9).all()
    assert (x <= hi + 1e-9).all()
    assert confidence(p, x) <= beta + 1e-9
    if rates == "exact":
        assert p @ x == pytest.approx(p @ d, abs=1e-9 * p.sum())
    if best.limits[0, 1] <= beta:
        assert x.tolist() == d.tolist()
    distortion = p @ np.abs(x - d) / p.sum()
    least = lp_distortion(p, d, lo, hi, beta + 1e-6, exact=rates == "exact")
    assert least is not None
    # A little more and a little less than β, for the tolerance of the programme.
    assert distortion >= least - 1e-6
    reference = lp_distortion(p, d, lo, hi, max(beta - 1e-6, 0), exact=rates == "exact")
    if reference is not None:
        assert distortion <= reference + 1e-6


@given(groups(most=6), fidelities(), st.sampled_from(RATES), st.randoms(use_true_random=False))
def test_neither_batch_nor_order_changes_a_bit(drawn, fidelity, rates, random):
    together = optimal_privacy(drawn, fidelity=fidelity, group_rates=rates)
    x = least_distorted(drawn, beta=together.overall, fidelity=fidelity, group_rates=rates)
    for i in range(len(drawn)):
        cells = list(range(drawn.offsets[i], drawn.offsets[i + 1]))
        random.shuffle(cells)
        alone = Groups(drawn.population[cells], drawn.decision[cells], [0, len(cells)])
        single = optimal_privacy(alone, fidelity=fidelity, group_rates=rates)
        assert single.beta.item() == together.beta[i]
        assert single.limits[0].tolist() == together.limits[i].tolist()
        y = least_distorted(alone, beta=together.overall, fidelity=fidelity, group_rates=rates)
        assert y.tolist() == x[cells].tolist()


@given(groups(most=4), st.sampled_from(RATES), st.floats(0.5, 1), st.sampled_from([0.0, 0.7, 0.9]))
def test_the_fidelity_objective_takes_the_first_step_that_does(drawn, rates, ceiling, floor):
    try:
        solution = solve(drawn, fidelity=Delta(floor), objective="fidelity", max_confidence=ceiling, group_rates=rates)
    except RefusedError:
        best = optimal_privacy(drawn, fidelity=Delta(floor), group_rates=rates)
        assert best.overall > ceiling
        return
    assert solution.target == ceiling
    assert maximum_confidence(drawn, solution.announced).max() <= ceiling + 1e-9
    stricter = [level for level in (0.99, 0.95, 0.9, 0.85, 0.8, 0.75) if level > solution.fidelity.level]
    for level in stricter:
        assert optimal_privacy(drawn, fidelity=Delta(level), group_rates=rates).overall > ceiling
