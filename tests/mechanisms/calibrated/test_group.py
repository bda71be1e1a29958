"""Announcements of groups with two outcomes, and with more than are counted: for the named reader."""

from __future__ import annotations

import numpy as np
import pytest

from atr.mechanisms.calibrated import Ceilings, announce, announceable
from atr.mechanisms.calibrated.group import EXACT_PEOPLE
from atr.mechanisms.calibrated.group import solve_group as solve


def solve_group(counts, *, ceilings, **options):
    """What is announced of a group where every region on its own is protected."""
    return solve(counts, Ceilings.of(counts.sum(axis=1), ceilings), **options)


FOUR = np.array([[30, 5, 10, 5], [8, 12, 12, 8], [20, 5, 0, 5]])


def test_two_outcomes_mirror_each_other():
    counts = np.array([[50, 10], [10, 30], [20, 25]])
    cell, found = announce([60, 40, 45], [50, 10, 20], max_confidence=0.8), solve_group(counts, ceilings=0.8)
    assert cell is not None
    assert found is not None
    assert found.told
    assert not found.named_reader
    assert found.limits[:, 0].tolist() == np.column_stack([cell.lower, cell.upper]).tolist()
    assert (found.limits[:, 1] == 20 - found.limits[:, 0, ::-1]).all()
    assert found.expected.sum(axis=1) == pytest.approx([60, 40, 45])
    assert (found.confidence, found.rules) == (cell.confidence, cell.rules)


def test_more_outcomes_are_for_a_named_reader():
    population, totals = FOUR.sum(axis=1), FOUR.sum(axis=0)
    cell, found = announce(population, FOUR[:, 0], max_confidence=0.8), solve_group(FOUR, ceilings=0.8)
    assert cell is not None
    assert found is not None
    assert found.named_reader
    assert found.told
    rest = population - cell.expected
    for o in (1, 2, 3):
        assert found.expected[:, o] == pytest.approx(rest * totals[o] / totals[1:].sum())
        assert found.limits[:, o, 0].tolist() == [0, 0, 0]
        assert found.limits[:, o, 1].tolist() == (20 - cell.lower).tolist()
        confidence = (found.expected[:, o] / totals[o]).max()
        assert confidence == pytest.approx((rest / rest.sum()).max())
        assert confidence <= found.confidence <= 0.8 + 1e-9
    assert found.expected.sum(axis=0) == pytest.approx(totals)
    chances = FOUR / population[:, None] * 20
    assert ((found.limits[..., 0] <= chances) & (chances <= found.limits[..., 1])).all()


def test_large_groups_of_three_outcomes_are_for_a_named_reader():
    large = np.array([[300, 100, 100], [100, 200, 150], [40, 10, 50]])
    assert large.sum() > EXACT_PEOPLE
    found, exact = solve_group(large, ceilings=0.8), solve_group(large // 5, ceilings=0.8)
    assert found is not None
    assert exact is not None
    assert (found.named_reader, exact.named_reader) == (True, False)


def test_nobody_without_the_positive_outcome():
    found = solve_group(np.array([[9, 0, 0, 0], [8, 0, 0, 0]]), ceilings=0.9)
    assert found is not None
    assert found.expected.tolist() == [[9, 0, 0, 0], [8, 0, 0, 0]]


def test_who_may_be_announced_depends_on_outcomes():
    assert not any(announceable(Ceilings.of([1, 1, 1], 0.3), outcomes) for outcomes in (2, 3, 4))
    assert all(announceable(Ceilings.of([30, 30, 30], 0.6), outcomes) for outcomes in (2, 3, 4))
    assert solve_group(np.ones((3, 3), dtype=np.int64), ceilings=0.3) is None


def test_an_earlier_report_in_chances_is_one_in_counts():
    counts = np.array([[50, 10], [10, 30]])
    told = np.array([[[0.8, 0.89], [0.11, 0.2]], [[0.2, 0.29], [0.71, 0.8]]])
    cell = announce([60, 40], [50, 10], max_confidence=0.9, earlier=[([48, 8], [53, 11])])
    found = solve_group(counts, ceilings=0.9, earlier=[told])
    assert cell is not None
    assert found is not None
    assert found.by_reader == cell.by_reader
    assert "earlier" in found.by_reader


def test_who_counts_on_open_upper_limits_is_a_reader():
    counts = np.array([[50, 10], [10, 30]])
    told = np.array([[[0.8, 0.9], [0.1, 0.2]], [[0.2, 0.3], [0.7, 0.8]]])
    found = solve_group(counts, ceilings=0.9, earlier=[told])
    assert found is not None
    for highest in ([54, 12], [53, 11]):
        alone = announce([60, 40], [50, 10], max_confidence=0.9, earlier=[([48, 8], highest)])
        assert alone is not None
        assert (
            found.by_reader["earlier"] >= alone.by_reader["earlier"] - 1e-12
            or found.limits.tolist() != alone.limits.tolist()
        )
