"""Groups hold regions that fit each other, or say what does not."""

from __future__ import annotations

import numpy as np
import pytest

from atr.core.groups import Groups


def test_one_column_is_the_chance_of_the_positive_outcome():
    groups = Groups([1, 2], [0.25, 1], [0, 2])
    assert groups.decision.tolist() == [[0.25, 0.75], [1, 0]]
    assert groups.outcomes == 2


def test_reductions_by_group():
    groups = Groups([1, 2, 3], [0, 1, 0.5], [0, 1, 3])
    assert len(groups) == 2
    assert groups.sums(groups.population).tolist() == [1, 5]
    assert groups.maxima(groups.decision).tolist() == [[0, 1], [1, 0.5]]
    assert groups.group_of_region.tolist() == [0, 1, 1]


def test_arrays_are_copies_that_cannot_be_written():
    population = np.array([1.0, 2.0])
    groups = Groups(population, [0, 1], [0, 2])
    population[0] = 9
    assert groups.population[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        groups.population[0] = 9


@pytest.mark.parametrize(
    ("population", "decision", "offsets", "message"),
    [
        ([0, 1], [0, 1], [0, 2], "positive"),
        ([np.inf, 1], [0, 1], [0, 2], "positive"),
        ([np.nan, 1], [0, 1], [0, 2], "positive"),
        ([], [], [0], "not empty"),
        ([1, 1], [0, 1, 0], [0, 2], "one row for each"),
        ([1, 1], [0, 1.1], [0, 2], "between 0 and 1"),
        ([1, 1], [0, np.nan], [0, 2], "between 0 and 1"),
        ([1, 1], [[0.5, 0.5], [0.5, 0.4]], [0, 2], "sum to 1"),
        ([1, 1], [[1.0]] * 2, [0, 2], "at least two outcomes"),
        ([1, 1], [0, 1], [0, 1], "offsets"),
        ([1, 1], [0, 1], [1, 2], "offsets"),
        ([1, 1], [0, 1], [0, 1, 1, 2], "empty"),
        ([1, 1], [0, 1], [0.0, 2.0], "whole numbers"),
    ],
)
def test_what_does_not_fit_is_refused(population, decision, offsets, message):
    with pytest.raises(ValueError, match=message):
        Groups(population, decision, offsets)


def test_protected_sets_are_laid_out():
    nested = [[[1, 0], [2]], [[0, 1]]]
    groups = Groups([1, 2, 3, 4, 5], [[0.5, 0.3, 0.2]] * 5, [0, 3, 5], nested, [[1, 0.5], [2]])
    assert groups.sets.members.tolist() == [0, 1, 2, 3, 4]
    assert groups.sets.offsets.tolist() == [0, 2, 3, 5]
    assert groups.sets.group_of_set.tolist() == [0, 0, 1]
    assert groups.sets.factors.tolist() == [1, 0.5, 2]
    assert groups.sets.sums(groups.population).tolist() == [3, 3, 9]
    assert groups.sets.largest(np.array([3.0, 4, 9])).tolist() == [4, 9]
    assert not groups.sets.split_every_group(5)
    assert Groups([1, 2], [0, 1], [0, 2], [[[1], [0]]]).sets.split_every_group(2)
    assert not Groups([1, 2], [0, 1], [0, 2], [[[1], [1]]]).sets.split_every_group(2)


@pytest.mark.parametrize(
    ("nested", "factors", "message"),
    [
        ([], None, "one list for each"),
        ([[]], None, "at least one protected set"),
        ([[[0], []]], None, "at least one region"),
        ([[[2]]], None, "does not have"),
        ([[[-1]]], None, "does not have"),
        ([[[0, 0]]], None, "twice"),
        ([[[0.5]]], None, "whole numbers"),
        ([[[0]]], [[1, 1]], "one number for each"),
        ([[[0]]], [[0.0]], "positive"),
        (None, [[1.0]], "need protected_sets"),
    ],
)
def test_protected_sets_that_do_not_fit_are_refused(nested, factors, message):
    with pytest.raises(ValueError, match=message):
        Groups([1, 1], [0, 1], [0, 2], nested, factors)
