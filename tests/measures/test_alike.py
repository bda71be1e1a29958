"""Differences among people alike: against every whole count within limits, and a plain average over classes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from atr.measures.alike import Counts, standardised


@st.composite
def _drawn(draw: st.DrawFn) -> tuple[Counts, np.ndarray, np.ndarray]:
    """A few regions in groups, each of one side and a class, with limits in whole people; totals known or not."""
    size = draw(st.integers(2, 6))
    people = np.array(draw(st.lists(st.integers(1, 5), min_size=size, max_size=size)))
    lowest = np.array([draw(st.integers(0, n)) for n in people.tolist()])
    highest = np.array([draw(st.integers(a, n)) for a, n in zip(lowest.tolist(), people.tolist(), strict=True)])
    expected = np.array([draw(st.integers(a, b)) for a, b in zip(lowest.tolist(), highest.tolist(), strict=True)])
    group = np.sort(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    group = np.unique(group, return_inverse=True)[1]
    totals = []
    for g in range(group.max() + 1):
        now, slack = int(expected[group == g].sum()), draw(st.sampled_from([0, 0, 1, 99]))
        ends = max(now - slack, lowest[group == g].sum()), min(now + slack, highest[group == g].sum())
        totals.append(ends if slack < 99 else (-np.inf, np.inf))
    side = np.array(draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=size, max_size=size)))
    classes = np.array(draw(st.lists(st.integers(-1, 2), min_size=size, max_size=size)))
    numbers = (np.asarray(x, dtype=np.float64) for x in (people, people, expected, lowest, highest))
    return Counts(*numbers, group, np.array(totals, dtype=np.float64)), side, classes


def _averaged(people: np.ndarray, had: np.ndarray, side: np.ndarray, classes: np.ndarray) -> float | None:
    """The average over classes, each as often as it has people of the side with fewer."""
    found, weights = [], []
    for of in set(classes.tolist()) - {-1}:
        a, b = ((classes == of) & (side == s) for s in (1, -1))
        if a.any() and b.any():
            weights.append(min(people[a].sum(), people[b].sum()))
            found.append(had[a].sum() / people[a].sum() - had[b].sum() / people[b].sum())
    return float(np.average(found, weights=weights)) if found else None


def _possible(counts: Counts) -> list[np.ndarray]:
    """All whole counts within the limits and totals."""
    ends = zip(counts.lowest.astype(int).tolist(), counts.highest.astype(int).tolist(), strict=True)
    every = (np.array(k) for k in product(*(range(a, b + 1) for a, b in ends)))
    sums = ((k, np.bincount(counts.group, k)) for k in every)
    return [k for k, of in sums if ((counts.total[:, 0] <= of) & (of <= counts.total[:, 1])).all()]


@given(drawn=_drawn())
def test_ends_are_those_of_all_whole_counts(drawn: tuple[Counts, np.ndarray, np.ndarray]) -> None:
    counts, side, classes = drawn
    found = standardised(counts, side, classes)
    value = _averaged(counts.people, counts.expected, side, classes)
    assert (found is None) == (value is None)
    if found is not None:
        every = [_averaged(counts.people, k, side, classes) for k in _possible(counts)]
        assert (found.value, found.low, found.high) == pytest.approx((value, min(every), max(every)))
        assert found.standard_error > 0


@given(drawn=_drawn())
def test_the_mirror_has_the_other_sign(drawn: tuple[Counts, np.ndarray, np.ndarray]) -> None:
    counts, side, classes = drawn
    found, mirrored = standardised(counts, side, classes), standardised(counts, -side, classes)
    assume(found is not None and mirrored is not None)
    assert (mirrored.value, mirrored.low, mirrored.high) == pytest.approx((-found.value, -found.high, -found.low))
    assert mirrored.standard_error == pytest.approx(found.standard_error)
    assert mirrored.people == found.people[::-1]


def test_groups_may_be_part_of_a_comparison() -> None:
    """The counts of some groups are those of all of their regions."""
    people = np.array([4.0, 6.0, 10.0, 8.0])
    total = np.array([[5.0, 5.0], [9.0, 9.0]])
    counts = Counts(people, people, people / 2, 0 * people, people, np.array([0, 0, 1, 1]), total)
    of = counts.of(np.array([2, 3]))
    assert (of.people.tolist(), of.group.tolist(), of.total.tolist()) == ([10, 8], [0, 0], [[9, 9]])


def test_chance_is_that_of_a_difference_of_two_rates() -> None:
    """In one large class: the usual standard error."""
    people, had = np.array([4000.0, 2500.0]), np.array([1000.0, 1500.0])
    total = np.column_stack([had, had])
    found = standardised(
        Counts(people, people, had, had, had, np.array([0, 1]), total), np.array([1, -1]), np.array([0, 0])
    )
    assert found is not None
    assert found.value == pytest.approx(-0.35)
    assert found.standard_error == pytest.approx(np.sqrt(0.25 * 0.75 / 4000 + 0.6 * 0.4 / 2500), rel=1e-3)
