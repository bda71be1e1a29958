"""Cells of points: the example of the paper, corrected, and the optimum of small samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import norm, qmc

from atr.sanitise import assign, draw_from_cells, partition, transport

POINTS = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)], dtype=float)
SHARES = np.array([0.32, 0.25, 0.18, 0.10, 0.15])


def plane(power: int) -> np.ndarray:
    """A standard normal plane, evenly sampled."""
    return norm.ppf(qmc.Sobol(2, scramble=False).random_base2(power) + 0.5 ** (power + 1))


def test_the_normal_plane_and_five_points() -> None:
    found = partition(POINTS, SHARES, plane(16))
    assert found.v == pytest.approx([1.25, 1.27, 0.79, 0, 0.53], abs=0.005)
    assert found.dual == pytest.approx(0.7920, abs=5e-4)
    assert found.shares == pytest.approx(SHARES, abs=1e-4)
    others = assign(POINTS, found.v, plane(13))
    assert np.bincount(others) / len(others) == pytest.approx(SHARES, abs=2e-3)


def test_the_printed_v_has_other_cells() -> None:
    cells = assign(POINTS, [1.17, 1.16, 0.76, 0, 0.35], plane(16))
    assert np.bincount(cells) / len(cells) == pytest.approx([0.320, 0.246, 0.187, 0.108, 0.139], abs=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_the_dual_is_the_least_cost_of_the_sample(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, n, d = rng.integers(2, 8), rng.integers(5, 200), rng.integers(1, 4)
    points, sample, shares = rng.normal(size=(k, d)), rng.normal(size=(n, d)), rng.dirichlet(np.ones(k))
    cost = cdist(sample, points, "sqeuclidean")
    least = transport(np.full(n, 1 / n), shares, cost).cost
    found = partition(points, shares, sample)
    assert found.dual == pytest.approx(least, rel=1e-4)
    assert found.dual <= least + 1e-9
    assert np.abs(found.shares - shares).max() <= (k - 1) / n + 1e-9
    assert (found.cell == assign(points, found.v, sample)).all()


def test_points_on_a_line_may_be_one_row() -> None:
    sample = np.arange(100.0)
    assert partition([10, 90], [0.3, 0.7], sample).cell.tolist() == [0] * 30 + [1] * 70


def test_back_from_points_into_their_cells() -> None:
    sample = plane(10)
    cell = partition(POINTS, SHARES, sample).cell
    values = np.repeat(np.arange(5), 300)
    drawn = draw_from_cells(values, cell, sample, seed=3)
    of = {tuple(x): c for x, c in zip(sample.tolist(), cell.tolist(), strict=True)}
    assert [of[tuple(x)] for x in drawn.tolist()] == values.tolist()
    assert len(np.unique(drawn[values == 0], axis=0)) > 150
    with pytest.raises(ValueError, match=r"^values must be positions of points that have some of the sample"):
        draw_from_cells([5], cell, sample, seed=3)
    with pytest.raises(ValueError, match=r"^cell must be one position for each of the 1024 of the sample, not 1023$"):
        draw_from_cells([0], cell[1:], sample, seed=3)


@pytest.mark.parametrize(
    ("points", "weights", "sample", "message"),
    [
        ([0, 1], [1], [0.5], "weights must be one number for each of the 2 points, not 1"),
        ([0, 1], [0.5, 0.4], [0.5], "weights must add up to 1, not 0.9: divide counts by their sum"),
        ([0, 1], [0.5, 0.5], [[1, 2]], "sample must have 1 coordinates, as points, not 2"),
        ([0, 1], [[0.5, 0.5]], [0.5], "weights must be one number for each of the 2 points, not 1 × 2"),
        ([0, 1], [1, 1, 1], [0.5], "weights must be one number for each of the 2 points, not 3"),
        ([1, 1], [0.5, 0.5], [1, 2], "points must differ: give one of them the weights of those that are the same"),
        ([0, 1], [0.5, 0.5], [1], "sample must be at least 2 points, one for each with a weight, not 1"),
        ([0, np.nan], [0.5, 0.5], [1], "points must be finite coordinates, a row for each, and not empty"),
    ],
)
def test_a_bad_partition_gets_one_message(points: object, weights: object, sample: object, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        partition(points, weights, sample)
    assert str(raised.value) == message
