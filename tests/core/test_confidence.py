"""Confidence in floating point and exact; stated numbers are rounded up, never because of noise."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.confidence import exact_confidence, exact_shares, maximum_confidence, privacy_limit, round_up
from atr.core.groups import Groups

card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])


def test_the_paper_announced_without_protection():
    assert maximum_confidence(card, card.decision) == pytest.approx([1, 0.72])
    assert privacy_limit(card) == pytest.approx([0.6, 0.45])


def test_the_paper_announced_with_protection():
    told = np.array([0.1, 0.02, 0.9, 0.1, 0.4, 0.9])
    assert maximum_confidence(card, np.column_stack([told, 1 - told])) == pytest.approx([0.675, 8.1 / 12.7])


def test_an_outcome_nobody_gets_tells_nothing():
    groups = Groups([3, 1], [0, 0], [0, 2])
    assert maximum_confidence(groups, groups.decision).item() == 0.75
    assert exact_confidence([3, 1], [[0, 1000]] * 2, digits=3) == [Fraction(3, 4)]


def test_a_stated_confidence_is_free_of_noise():
    [women] = exact_confidence([12, 5, 3], [[100, 900], [20, 980], [900, 100]], digits=3)
    assert women == Fraction(27, 40)
    assert round_up(women, digits=3) == Decimal("0.675")
    assert round_up(women + Fraction(1, 10**30), digits=3) == Decimal("0.676")
    assert str(round_up(Fraction(1), digits=3)) == "1.000"


def test_large_populations_stay_exact():
    huge = [10**15 + 1, 10**15]
    assert exact_confidence(huge, [[10**6, 0]] * 2, digits=6) == [Fraction(huge[0], sum(huge))]


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 1000)), min_size=1, max_size=8), st.integers(1, 8))
def test_exact_and_float_agree(cells, cut):
    population, announced = (np.array(column) for column in zip(*cells, strict=True))
    offsets = [0, len(cells)] if cut >= len(cells) else [0, cut, len(cells)]
    groups = Groups(population, announced / 1000, offsets)
    grid = np.column_stack([announced, 1000 - announced])
    exact = exact_confidence(population, grid, digits=3, offsets=offsets)
    assert maximum_confidence(groups, groups.decision) == pytest.approx([float(c) for c in exact], abs=1e-12)
    assert all(limit <= c + 1e-12 for limit, c in zip(privacy_limit(groups), exact, strict=True))


@given(st.fractions(0, 1), st.integers(0, 6))
def test_rounding_up_is_tight(fraction, digits):
    stated = Fraction(round_up(fraction, digits=digits))
    assert fraction <= stated < fraction + Fraction(1, 10**digits)


def test_protected_sets_and_several_outcomes():
    D = np.array([[0.5, 0.25, 0.25], [0, 0.5, 0.5], [1, 0, 0], [0, 0, 1]])
    groups = Groups([4, 4, 4, 8], D, [0, 3, 4], [[[0, 1], [2]], [[0]]], [[1, 0.5], [2]])
    assert privacy_limit(groups) == pytest.approx([2 / 3, 0.5])
    assert maximum_confidence(groups, D) == pytest.approx([4 / 3, 0.5])
    announced = np.rint(D * 1000).astype(np.int64)
    told = exact_confidence([4, 4, 4, 8], announced, digits=3, offsets=groups.offsets, sets=groups.sets)
    assert told == [Fraction(4, 3), Fraction(1, 2)]
    plain = Groups([4, 4, 4, 8], D, [0, 3, 4], [[[0, 1], [2]], [[0]]])
    told = exact_confidence([4, 4, 4, 8], announced, digits=3, offsets=groups.offsets, sets=plain.sets)
    assert told == [Fraction(1), Fraction(1)]
    assert exact_confidence([4, 4], [[500, 300, 200], [0, 300, 700]], digits=3) == [Fraction(1)]


def test_what_is_not_whole_is_refused():
    with pytest.raises(ValueError, match="whole numbers"):
        exact_shares([1.5, 2], [[1, 999]] * 2, digits=3)
    with pytest.raises(ValueError, match="whole numbers"):
        exact_shares([1, 2], [[1, 999]], digits=3)
    with pytest.raises(ValueError, match="between 0 and 1000"):
        exact_shares([1, 2], [[1, 999], [1001, -1]], digits=3)
    with pytest.raises(ValueError, match="sum to 1000"):
        exact_shares([1, 2], [[500, 500, 0], [500, 400, 0]], digits=3)
    with pytest.raises(ValueError, match="one row for each"):
        maximum_confidence(card, [[0.5, 0.5]])
