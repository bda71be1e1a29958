"""Numbers of people as printed: they add up, and leave open what they are said to."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from atr.core.arrays import offsets_of
from atr.core.publication import open_people, open_total, published_population, rounded_total

GROUPS = st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=6), min_size=1, max_size=4)
ROUNDING = st.sampled_from([1, 2, 3, 5, 10])


@given(groups=GROUPS, rounding=ROUNDING)
def test_regions_add_up_to_their_group(groups: list[list[int]], rounding: int) -> None:
    people, offsets = np.concatenate(groups), offsets_of(np.array([len(group) for group in groups]))
    printed = published_population(people, offsets, rounding=rounding)
    totals = rounded_total(np.add.reduceat(people, offsets[:-1]), rounding=rounding)
    under = people < rounding
    assert ((printed < rounding) == under).all()
    assert (printed[under] == rounding // 2).all()
    assert (np.abs(printed - people)[~under] < rounding).all()
    for start, end, total in zip(offsets, offsets[1:], totals, strict=False):
        told, few = printed[start:end][~under[start:end]].sum(), under[start:end].sum()
        assert told <= total <= max(told + few * rounding, rounding)
        if rounding == 1:
            assert total == told


@given(groups=GROUPS, rounding=ROUNDING)
def test_true_numbers_are_among_those_left_open(groups: list[list[int]], rounding: int) -> None:
    people, offsets = np.concatenate(groups), offsets_of(np.array([len(group) for group in groups]))
    printed = published_population(people, offsets, rounding=rounding)
    totals = rounded_total(np.add.reduceat(people, offsets[:-1]), rounding=rounding)
    least, most = open_people(printed, totals, offsets, rounding=rounding)
    assert ((least <= people) & (people <= most)).all()


@given(people=st.integers(0, 10**6), rounding=ROUNDING)
def test_a_total_is_among_those_its_print_stands_for(people: int, rounding: int) -> None:
    printed = int(rounded_total(np.array(people), rounding=rounding))
    low, high = open_total(printed, rounding)
    assert low <= people <= high
    assert all(int(rounded_total(np.array(n), rounding=rounding)) == printed for n in {low, high})
