"""Couplings of the least cost: optimal by duality, with the sums that were asked for."""

from __future__ import annotations

import numpy as np
import pytest

from atr.sanitise import transport


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_is_optimal_by_duality(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(1, 15, size=2)
    p, q = rng.dirichlet(np.full(x, 0.3)), rng.dirichlet(np.full(y, 0.3))
    cost = rng.normal(size=(x, y)) * 10.0 ** rng.integers(-3, 4)
    plan, total, u, v = transport(p, q, cost)
    unit = np.abs(cost).max()
    assert plan.min() >= 0
    assert plan.sum(axis=1) == pytest.approx(p, abs=1e-12)
    assert plan.sum(axis=0) == pytest.approx(q, abs=1e-12)
    slack = cost - u[:, None] - v
    assert slack.min() >= -1e-12 * unit
    assert (plan * slack).max() <= 1e-8 * unit
    assert total == pytest.approx(u @ p + v @ q, abs=1e-8 * unit)


def test_values_without_mass_get_none() -> None:
    found = transport([0, 1, 0], [0.5, 0.5, 0], np.abs(np.subtract.outer(np.arange(3), np.arange(3))))
    assert found.plan.tolist() == [[0, 0, 0], [0.5, 0.5, 0], [0, 0, 0]]
    assert found.cost == pytest.approx(0.5)


def test_small_masses_are_moved_too() -> None:
    p, q = np.array([1 - 1e-11, 1e-11]), np.array([1 - 3e-11, 3e-11])
    assert transport(p, q, [[0, 1], [1, 0]]).plan.sum(axis=0) == pytest.approx(q, rel=1e-3, abs=0)


@pytest.mark.parametrize(
    ("p", "q", "cost", "message"),
    [
        ([0.5, 0.6], [1], [[1], [1]], "p must add up to 1, not 1.1: divide counts by their sum"),
        ([1], [[1]], [[1]], "q must be one row of numbers, and not empty"),
        ([1], [1], [[1, 2]], "cost must be (1, 1) finite numbers"),
        ([1], [1], [[np.inf]], "cost must be (1, 1) finite numbers"),
        ([1], [1], [["far"]], "cost must be (1, 1) finite numbers"),
    ],
)
def test_a_bad_problem_gets_one_message(p: object, q: object, cost: object, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        transport(p, q, cost)
    assert str(raised.value) == message
