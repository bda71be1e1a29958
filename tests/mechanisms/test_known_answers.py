"""The paper's own numbers, exact reference values, and the examples the formulas were corrected by."""

from __future__ import annotations

import json

import numpy as np
import pytest

from atr.core.fidelity import Alpha, Delta, Ranges
from atr.core.groups import Groups
from atr.errors import RefusedError
from atr.mechanisms.optimal import least_distorted, optimal_privacy, solve
from tests.helpers.paths import TESTS

VECTORS = json.loads((TESTS / "vectors" / "optimal_privacy.json").read_text())["binary"]

card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])


@pytest.mark.parametrize("kind", ["delta", "alpha"])
def test_reference_values(kind):
    chosen = [v for v in VECTORS if v["fidelity"] == kind]
    assert len(chosen) > 100
    for vector in chosen:
        p = np.array(vector["population"])
        group = Groups(p, np.array(vector["positives"]) / p, [0, len(p)])
        fidelity = {"delta": Delta, "alpha": Alpha}[kind](vector["level"])
        free = solve(group, fidelity=fidelity, group_rates="free")
        exact = solve(group, fidelity=fidelity, group_rates="exact")
        for name in ("beta_0", "beta_1", "beta_p", "beta_min"):
            assert getattr(free, name).item() == pytest.approx(vector[name], abs=1e-9)
        assert free.beta.item() == pytest.approx(vector["beta_star"], abs=1e-9)
        assert exact.beta.item() == pytest.approx(vector["beta_star_exact_rates"], abs=1e-9)
        assert exact.beta_1 is None
        for solution in (free, exact):
            assert solution.limits[0] == pytest.approx([vector["beta_min"], vector["max_confidence"]], abs=1e-9)


def test_the_papers_example_with_free_rates():
    solution = solve(card, fidelity=Delta(0.9), group_rates="free")
    assert solution.overall == pytest.approx(0.675, abs=1e-12)
    assert solution.beta_1 == pytest.approx([0.0675 / 0.11, 4 / 9])
    assert solution.beta_0 == pytest.approx([0.27 / 0.4025, 0.2025 / 0.3175])
    assert solution.beta_p == pytest.approx([0.675, 0.585])
    assert solution.beta == pytest.approx([0.675, 0.2025 / 0.3175])
    assert solution.limits == pytest.approx(np.array([[0.6, 1], [0.45, 0.72]]))
    each = least_distorted(card, beta=solution.beta, fidelity=Delta(0.9), group_rates="free")[:, 0]
    assert each == pytest.approx([0.1, 0.02, 0.9, 0.1, 0.4, 0.9], abs=1e-9)


def test_the_papers_example_with_exact_rates():
    solution = solve(card, fidelity=Delta(0.9))
    assert solution.beta == pytest.approx([0.9, 0.648])
    assert solution.announced[:, 0] == pytest.approx([0.3 / 17, 0.3 / 17, 0.9, 0, 0.5, 1])


def test_shares_do_as_well_as_people():
    shares = Groups(card.population / 40, card.decision, card.offsets)
    solution = solve(shares, fidelity=Delta(0.9), group_rates="free")
    assert solution.beta == pytest.approx([0.675, 0.2025 / 0.3175])


def test_no_announcement_beats_what_was_known_before():
    lopsided = Groups([0.9, 0.1], [0.5, 0.5], [0, 2])
    for rates in ("free", "exact"):
        solution = solve(lopsided, fidelity=Delta(0.5), group_rates=rates)
        assert solution.beta.item() == pytest.approx(0.9)
        assert solution.announced[:, 0].tolist() == [0.5, 0.5]
    free = optimal_privacy(lopsided, fidelity=Delta(0.5), group_rates="free")
    assert [free.beta_0.item(), free.beta_1.item(), free.beta_p.item()] == [0, 0, 0]


def test_alpha_never_moves_a_zero():
    group = Groups([5, 4, 3], [0, 0, 1], [0, 3])
    for rates in ("free", "exact"):
        assert solve(group, fidelity=Alpha(0.01), group_rates=rates).overall == 1


def test_delta_zero_always_reaches_the_limit():
    solution = solve(card, fidelity=Delta(0), group_rates="free")
    assert solution.beta == pytest.approx(solution.beta_min)


def test_a_group_within_the_target_announces_the_truth():
    solution = solve(card, fidelity=Delta(0.9), group_rates="exact")
    assert solution.announced[3:, 0].tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(("decision", "told"), [([0, 1], [1, 1]), ([1, 0], [0, 0])])
def test_an_outcome_may_be_emptied_but_for_no_rounding_error(decision, told):
    group = Groups([1, 10], decision, [0, 2])
    solution = solve(group, fidelity=Delta(0), group_rates="free")
    assert solution.beta.item() == pytest.approx(10 / 11)
    assert solution.announced[:, 0].tolist() == told


def test_equal_shift_of_what_the_total_still_needs():
    group = Groups([10, 10, 10], [0.9, 0.2, 0.1], [0, 3])
    x = least_distorted(group, beta=0.6, fidelity=Delta(0.5))[:, 0]
    assert x == pytest.approx([0.72, 0.29, 0.19])


@pytest.mark.parametrize("fidelity", [Delta(0.9), Alpha(0.8), Ranges(np.zeros(6), np.ones(6))])
def test_a_grid_can_only_cost_privacy(fidelity):
    for rates in ("free", "exact"):
        fine = optimal_privacy(card, fidelity=fidelity, group_rates=rates)
        coarse = optimal_privacy(card, fidelity=fidelity, group_rates=rates, digits=1)
        assert (coarse.beta >= fine.beta - 1e-12).all()


def test_the_ladder():
    solution = solve(card, fidelity=Delta(0.5), objective="fidelity", max_confidence=0.8, group_rates="free")
    assert solution.fidelity == Delta(0.95)
    assert solution.target == 0.8
    assert solution.beta.max() <= 0.8


@pytest.mark.parametrize("objective", ["privacy", "fidelity"])
def test_a_ceiling_out_of_reach_is_refused(objective):
    with pytest.raises(RefusedError) as refusal:
        solve(card, fidelity=Delta(0.9), objective=objective, max_confidence=0.7)
    assert "bind: 0." in refusal.value.private
    assert not any(digit in str(refusal.value) for digit in "0123456789")


def test_announcing_below_what_can_be_reached_is_refused():
    for rates in ("free", "exact"):
        with pytest.raises(RefusedError):
            least_distorted(card, beta=0.62, fidelity=Delta(0.9), group_rates=rates)


def test_objective_fidelity_needs_a_ceiling():
    with pytest.raises(ValueError, match="max_confidence"):
        solve(card, fidelity=Delta(0.9), objective="fidelity")
