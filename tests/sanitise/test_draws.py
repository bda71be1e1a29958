"""Draws from a channel."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from atr.sanitise import best, draw, markov
from tests.helpers.joints import EXAMPLE


def test_draws_are_as_frequent_as_the_channel_says() -> None:
    for channel in (markov(EXAMPLE, 0.5), best(EXAMPLE, 0.5).reshape(-1, 4)):
        rows = np.repeat(np.arange(len(channel)), 40_000)
        drawn = draw(channel, rows, seed=5).reshape(len(channel), -1)
        shares = np.stack([(drawn == y).mean(axis=1) for y in range(4)], axis=1)
        assert np.abs(shares - channel).max() < 5 * 0.5 / 200
        assert (shares[channel == 0] == 0).all()


def test_a_seed_gives_the_same_draws_and_another_others() -> None:
    rows = np.arange(4).repeat(50)
    first, same, other = (draw(markov(EXAMPLE, 0.5), rows, seed=seed) for seed in (1, 1, 2))
    assert (first == same).all()
    assert (first != other).any()


def test_what_has_no_chance_is_never_drawn() -> None:
    channel = np.zeros((3, 12))
    channel[:, 1:11] = 0.1
    assert 1 - channel[0].cumsum()[-1] > 0, "the sum is a little short"
    assert np.isin(draw(channel, np.zeros(100_000, dtype=int), seed=1), range(1, 11)).all()


def test_a_frame_is_drawn_from_as_its_array_is() -> None:
    frame = pd.DataFrame(EXAMPLE, index=["few", "many"], columns=list("abcd"))
    rows = np.arange(8).repeat(20)
    drawn = draw(best(frame, 0.5), rows, seed=1)
    assert (drawn == draw(best(EXAMPLE, 0.5).reshape(-1, 4), rows, seed=1)).all()


@pytest.mark.parametrize(
    ("channel", "values", "message"),
    [
        (np.eye(2), [0, 2], "values must be whole numbers from 0 to 1, in a row"),
        (np.eye(2), [-1], "values must be whole numbers from 0 to 1, in a row"),
        (np.eye(2), [0.5], "values must be whole numbers from 0 to 1, in a row"),
        (best(EXAMPLE, 0.5), [0], "channel must be (k, y) chances"),
        ([[0.5, 0.4]], [0], "channel must hold probabilities that add up to 1 over the released values"),
    ],
)
def test_a_bad_draw_gets_one_message(channel: object, values: list[float], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        draw(channel, values, seed=1)
    assert str(raised.value) == message
