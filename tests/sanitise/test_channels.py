"""Channels: they give the linear reduction, at a loss that is the least there is, or Markov's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from atr.sanitise import best, linear_reduction, loss, markov
from tests.helpers.joints import EXAMPLE, conditional, drawn, released

DISTANCES = ("hamming", "ordinal", "squared")


def positions(values: int, seed: int) -> np.ndarray:
    """Distances of values that have no order: points of a plane."""
    points = np.random.default_rng(seed).random((values, 2))
    return np.linalg.norm(points[:, None] - points, axis=2)


def test_channels_give_the_linear_reduction() -> None:
    for i, joint in enumerate(drawn(500)):
        alpha = (i % 10 + 1) / 10
        target = linear_reduction(joint, alpha=alpha)
        distance = positions(joint.shape[1], i) if i % 20 == 0 else DISTANCES[i % 3]
        for channel in (markov(joint, alpha), best(joint, alpha, distance)):
            assert channel.min() >= 0
            assert channel.sum(axis=-1) == pytest.approx(np.ones(channel.shape[:-1]), abs=1e-12)
            assert released(joint, channel) == pytest.approx(target, abs=1e-12)


def test_losses_are_those_of_the_closed_forms() -> None:
    for i, joint in enumerate(drawn(500)):
        alpha, column = (i % 10 + 1) / 10, joint.sum(axis=0)
        of_markov = loss(joint, markov(joint, alpha))
        of_best = loss(joint, best(joint, alpha, DISTANCES[i % 3]))
        weights = joint.sum(axis=1)[joint.sum(axis=1) > 0]
        variation = np.abs(conditional(joint) - column).sum(axis=1) / 2
        assert of_markov == pytest.approx(alpha * (1 - (column**2).sum()), abs=1e-12)
        assert of_best == pytest.approx(alpha * weights @ variation, abs=1e-12)
        assert of_best <= of_markov + 1e-12


def test_the_papers_example() -> None:
    channel = best(EXAMPLE, 0.5)[0]
    assert np.diag(channel) == pytest.approx([1, 1, 0.72, 0.825])
    assert channel[2] == pytest.approx([0.21, 0.07, 0.72, 0])
    assert channel[3] == pytest.approx([0, 0.175, 0, 0.825])


@pytest.mark.parametrize("distance", [*DISTANCES, "plane"])
def test_what_is_changed_moves_over_the_least_distance(distance: str) -> None:
    for i, joint in enumerate(drawn(12, seed=3)):
        values = joint.shape[1]
        cost = positions(values, i)
        used = cost if distance == "plane" else distance
        steps = np.abs(np.subtract.outer(np.arange(values), np.arange(values)))
        cost = {"hamming": steps > 0, "ordinal": steps, "squared": steps**2, "plane": cost}[distance] * 1.0
        least = sum(
            weight * 0.7 * least_transport(given, joint.sum(axis=0), cost)
            for weight, given in zip(joint.sum(axis=1)[joint.sum(axis=1) > 0], conditional(joint), strict=True)
        )
        assert loss(joint, best(joint, 0.7, used), cost) == pytest.approx(least, abs=1e-9)


def least_transport(given: np.ndarray, column: np.ndarray, cost: np.ndarray) -> float:
    """The least cost of what is too much of some values to where it is short, as a dual linear programme."""
    over, short = np.maximum(given - column, 0), np.maximum(column - given, 0)
    pairs = [(i, j) for i in np.flatnonzero(over) for j in np.flatnonzero(short)]
    if not pairs:
        return 0.0
    A = np.zeros((len(pairs), 2 * len(cost)))
    for row, (i, j) in enumerate(pairs):
        A[row, i] = A[row, len(cost) + j] = 1
    limits = [cost[pair] for pair in pairs]
    bounds, exactly = (-cost.max(), cost.max()), {"dual_feasibility_tolerance": 1e-10}
    found = linprog(-np.concatenate([over, short]), A_ub=A, b_ub=limits, bounds=bounds, options=exactly)
    return -found.fun


def test_distances_with_an_order_give_what_names_give() -> None:
    """Squares of numbers are convex in their order; those of steps are one such case."""
    numbers = np.arange(4.0)
    squares = (numbers[:, None] - numbers) ** 2
    assert best(EXAMPLE, 0.5, squares) == pytest.approx(best(EXAMPLE, 0.5, "squared"))


def test_where_nobody_is_a_value_stays() -> None:
    joint = np.array([[0.5, 0.0], [0.25, 0.25], [0.0, 0.0]])
    channel = best(joint, 1.0)
    assert channel[0, 1].tolist() == [0, 1]
    assert channel[2].tolist() == np.eye(2).tolist()


def test_a_column_that_tells_nothing_stays() -> None:
    joint = np.outer([0.3, 0.7], [0.1, 0.2, 0.7])
    assert best(joint, 1.0) == pytest.approx(np.broadcast_to(np.eye(3), (2, 3, 3)))


def test_frames_have_rows_for_what_a_channel_looks_at() -> None:
    frame = pd.DataFrame(
        EXAMPLE, index=pd.Index(["few", "many"], name="offences"), columns=pd.Index(list("abcd"), name="score")
    )
    assert markov(frame, 0.5).loc["c", "a"] == pytest.approx(0.5 * 0.41)
    assert best(frame, 0.5).loc[("few", "c"), "a"] == pytest.approx(0.21)
    assert best(frame, 0.5).index.names == ["offences", "score"]


def test_a_bad_request_gets_one_message() -> None:
    with pytest.raises(ValueError, match=r"^alpha must be a number from 0 to 1, not 2$"):
        markov(EXAMPLE, 2)
    with pytest.raises(ValueError, match=r"^distance must be an array or one of hamming, ordinal, squared, not 'far'$"):
        best(EXAMPLE, 0.5, "far")
