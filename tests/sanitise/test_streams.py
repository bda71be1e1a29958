"""Streams of unknown class: what is released, and how often the test is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atr.sanitise import chernoff_information, map_stream

CLASSES = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
TARGET = CLASSES.mean(axis=0)
COST = 1 - np.eye(3)


def mapped(of: int, length: int, seed: int):
    stream = np.random.default_rng(seed).choice(3, size=length, p=CLASSES[of])
    return map_stream(stream, CLASSES, TARGET, COST, seed=seed + 1)


@pytest.mark.parametrize("of", [0, 1])
def test_a_long_stream_has_the_target(of: int) -> None:
    found = mapped(of, 200_000, seed=4)
    assert found.decided == of
    assert found.tested == math.ceil(math.log(200_000))
    assert np.bincount(found.released) / 200_000 == pytest.approx(TARGET, abs=0.006)


@pytest.mark.parametrize("of", [0, 1])
def test_the_test_is_wrong_no_more_often_than_stated(of: int) -> None:
    found = [mapped(of, 20, seed) for seed in range(100)]
    wrong = np.mean([stream.decided != of for stream in found])
    assert wrong <= found[0].wrong_at_most + 3 * math.sqrt(0.25 / 100)
    assert found[0].wrong_at_most == pytest.approx(math.exp(-3 * chernoff_information(*CLASSES)))


def test_chernoff_information_by_hand() -> None:
    # By symmetry t = 1/2: -ln 2 sqrt(.9 .1)
    assert chernoff_information([0.9, 0.1], [0.1, 0.9]) == pytest.approx(-math.log(0.6))
    assert chernoff_information([0.3, 0.7], [0.3, 0.7]) == pytest.approx(0, abs=1e-12)
    assert chernoff_information([1, 0], [0, 1]) == math.inf
    # A value that one class alone has ends the test: t = 1 leaves what the other has of the rest.
    assert chernoff_information([1, 0], [0.25, 0.75]) == pytest.approx(-math.log(0.25), abs=1e-6)
    t = np.linspace(0, 1, 100_001)[:, None]
    on_a_grid = -np.log((CLASSES[0] ** (1 - t) * CLASSES[1] ** t).sum(axis=1).min())
    assert chernoff_information(*CLASSES) == pytest.approx(on_a_grid, abs=1e-8)


def test_one_value_is_drawn_from_the_target_and_proves_nothing() -> None:
    found = map_stream([0], CLASSES, TARGET, COST, seed=1)
    assert (found.tested, found.wrong_at_most) == (0, 1)


@pytest.mark.parametrize(
    ("stream", "classes", "message"),
    [
        ([3], CLASSES, "stream must be whole numbers from 0 to 2, in a row"),
        ([0.5], CLASSES, "stream must be whole numbers from 0 to 2, in a row"),
        ([], CLASSES, "stream must not be empty"),
        ([2], [[0.5, 0.5, 0], [0.5, 0.5, 0]], "stream must hold values that one of the classes has"),
        ([0], [[0.5, 0.5]], "classes must be (2, x) probabilities, a row for each class"),
        ([0], [[0.5, 0.5], [1]], "classes must be (2, x) probabilities, a row for each class"),
    ],
)
def test_a_bad_stream_gets_one_message(stream: object, classes: object, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        map_stream(stream, classes, TARGET, COST, seed=1)
    assert str(raised.value) == message
