"""What a joint tells, and what a channel costs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from atr.sanitise import best, information, leakage, linear_reduction, loss, markov
from tests.helpers.joints import EXAMPLE, conditional, drawn


@pytest.mark.parametrize(("alpha", "ldp", "lift"), [(0, 1.6094, 0.8755), (0.5, 0.8109, 0.4925), (1, 0, 0)])
def test_what_the_papers_example_tells(alpha: float, ldp: float, lift: float) -> None:
    told = leakage(linear_reduction(EXAMPLE, alpha=alpha))
    assert told[:2] == pytest.approx((ldp, lift), abs=5.1e-5)
    assert (told.mutual_information < 1e-12) == (alpha == 1)


def test_measures_are_what_their_definitions_say() -> None:
    for joint in drawn(60):
        told, given = leakage(joint), conditional(joint)[:, joint.sum(axis=0) > 0]
        column = joint.sum(axis=0)[joint.sum(axis=0) > 0]
        with np.errstate(divide="ignore"):
            assert told.ldp == pytest.approx((np.log(given.max(axis=0)) - np.log(given.min(axis=0))).max(), abs=1e-12)
            assert told.log_lift == pytest.approx(np.abs(np.log(given / column)).max(), abs=1e-12)
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        by_hand = sum(p * math.log(p / q) for p, q in zip(joint.flat, apart.flat, strict=True) if p > 0)
        assert told.mutual_information == pytest.approx(by_hand, abs=1e-12)


def test_values_that_nobody_has_tell_nothing() -> None:
    padded = np.zeros((3, 6))
    padded[:2, :4] = EXAMPLE
    assert leakage(padded) == pytest.approx(leakage(EXAMPLE), abs=1e-12)
    assert leakage([[1.0]]) == (0, 0, 0)
    assert leakage([[0.5], [0.5]]) == (0, 0, 0)


def test_what_the_papers_example_costs() -> None:
    assert loss(EXAMPLE, best(EXAMPLE, 0.5)) == pytest.approx(0.105)
    assert loss(EXAMPLE, markov(EXAMPLE, 0.5)) == pytest.approx(0.3545)
    assert information(EXAMPLE, markov(EXAMPLE, 0.5)) == pytest.approx(0.297, abs=5e-4)
    assert information(EXAMPLE, best(EXAMPLE, 0.5)) == pytest.approx(0.942, abs=5e-4)


def test_a_loss_is_in_the_unit_of_its_distance() -> None:
    swap = np.eye(4)[[2, 1, 0, 3]]
    share = EXAMPLE.sum(axis=0)[[0, 2]].sum()
    assert loss(EXAMPLE, swap, "hamming") == pytest.approx(share)
    assert loss(EXAMPLE, swap, "ordinal") == pytest.approx(2 * share)
    assert loss(EXAMPLE, swap, "squared") == pytest.approx(4 * share)
    assert loss(EXAMPLE, swap, 7 * (1 - np.eye(4))) == pytest.approx(7 * share)


def test_frames_are_read_as_arrays_are() -> None:
    frame = pd.DataFrame(EXAMPLE, index=["few", "many"], columns=list("abcd"))
    assert leakage(frame) == leakage(EXAMPLE)
    for channel in (markov, best):
        assert loss(frame, channel(frame, 0.5), "ordinal") == loss(EXAMPLE, channel(EXAMPLE, 0.5), "ordinal")


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ([0.5, 0.5], "joint must be a table of numbers, a row for each hidden value, and not empty"),
        ([[]], "joint must be a table of numbers, a row for each hidden value, and not empty"),
        ([["a", "b"]], "joint must be a table of numbers, a row for each hidden value"),
        ([[0.5, 0.5], [0.5]], "joint must be a table of numbers, a row for each hidden value"),
        ([[1.5, -0.5]], "joint must hold probabilities, from 0 to 1"),
        ([[math.nan, 0.5]], "joint must hold probabilities, from 0 to 1"),
        ([[3, 4], [5, 8]], "joint must add up to 1, not 20: divide counts by their sum"),
        ([[0.5, 0.50000001]], "joint must add up to 1, not 1.00000001: divide counts by their sum"),
    ],
)
def test_a_bad_joint_gets_one_message(joint: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        leakage(joint)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("channel", "distance", "message"),
    [
        (np.eye(3), "hamming", "channel must be (4, 4), or (2, 4, 4)"),
        (np.eye(4) * 0.5, "hamming", "channel must hold probabilities that add up to 1 over the released values"),
        (np.eye(4), "far", "distance must be an array or one of hamming, ordinal, squared, not 'far'"),
        (np.eye(4), np.eye(3), "distance must be distances from each of 4 values to each, (4, 4)"),
        (np.eye(4), np.eye(4), "distance must be finite, 0 from a value to itself, and nowhere below 0"),
    ],
)
def test_a_bad_channel_or_distance_gets_one_message(channel: np.ndarray, distance: object, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        loss(EXAMPLE, channel, distance)
    assert str(raised.value) == message
