"""Printed chances: at face value no reader is above a ceiling, and rates are those printed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from atr.core.confidence import exact_confidence
from atr.core.publication import published_population
from atr.mechanisms.calibrated.digits import printed_chances, rounded
from atr.mechanisms.calibrated.group import Announced, solve_group

CEILINGS = st.integers(55, 95).map(lambda percent: percent / 100)


@st.composite
def _found(draw):
    """A group, and what is announced of it."""
    m, outcomes = draw(st.integers(2, 4)), draw(st.sampled_from([2, 2, 4]))
    row = st.lists(st.integers(0, 40), min_size=outcomes, max_size=outcomes).filter(any)
    counts = np.array(draw(st.lists(row, min_size=m, max_size=m)))
    ceiling, steps = draw(CEILINGS), draw(st.sampled_from([7, 20]))
    found = solve_group(counts, ceilings=ceiling, steps=steps, least=1)
    assume(found is not None)
    return counts, ceiling, found


def _kept(units, digits, counts, published, ceiling):
    """Whether the conditions hold, in fractions."""
    for people in (counts.sum(axis=1), published):
        if exact_confidence(people, units, digits=digits)[0] > Fraction(str(ceiling)):
            return False
    told, true = (of.tolist() for of in (counts.sum(axis=1) @ units, counts.sum(axis=0)))
    everybody = int(counts.sum())
    rates = ((Fraction(x, everybody * 10**digits), Fraction(y, everybody)) for x, y in zip(told, true, strict=True))
    return all(abs(printed - rate) <= Fraction(1, 200) for printed, rate in rates)


@given(_found(), st.sampled_from([1, 5, 10]))
def test_the_fewest_digits_that_will_do(group, rounding):
    counts, ceiling, found = group
    population = counts.sum(axis=1)
    published = published_population(population, np.array([0, len(population)]), rounding=rounding)
    printed = printed_chances(found, counts, published, ceilings=ceiling)
    will_do = [d for d in range(2, 7) if _kept(rounded(found, population, d), d, counts, published, ceiling)]
    assert (printed.digits if printed else None) == (will_do[0] if will_do else None)
    if printed:
        assert (printed.chance == rounded(found, population, printed.digits) * 10 ** (6 - printed.digits)).all()


@given(_found(), st.integers(2, 6))
def test_rounded_chances_are_near_and_add_up(group, digits):
    counts, _, found = group
    population = counts.sum(axis=1)
    chance = rounded(found, population, digits) / 10**digits
    assert chance.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.abs(chance - found.expected / population[:, None]).max() < 1.0001 / 10**digits
    slack = 1e-9 if found.steps == 20 else 1 / 10**digits  # a seventh has no decimals
    assert (chance >= found.limits[..., 0] / found.steps - slack).all()
    assert (chance <= found.limits[..., 1] / found.steps + slack).all()


def _announced(expected, limits, steps):
    return Announced(np.array(limits), np.array(expected, dtype=float), 0.5, {}, np.zeros(0), 9.0, steps, False, False)


def test_a_chance_is_rounded_into_its_limits():
    found = _announced([[0.3334, 0.6666]], [[[1, 2], [1, 2]]], 3)
    assert rounded(found, np.array([1]), 2).tolist() == [[34, 66]]


def test_outcomes_with_equal_rests_go_first_to_last():
    found = _announced([[1, 1, 1]], [[[0, 20]] * 3], 20)
    assert rounded(found, np.array([3]), 2).tolist() == [[34, 33, 33]]


def test_more_digits_where_few_would_tell_too_much():
    counts = np.array([[1, 899], [2, 98]])
    found = _announced([[1.4, 898.6], [1.6, 98.4]], [[[0, 20]] * 2] * 2, 20)
    printed = printed_chances(found, counts, counts.sum(axis=1), ceilings=0.95)  # with two digits, nobody of the first
    assert printed is not None
    assert printed.digits == 3
    assert printed_chances(found, counts, counts.sum(axis=1), ceilings=[0.95, 0.3]) is None


def test_printed_people_that_change_the_rate_cost_no_chances():
    counts = np.array([[30, 2], [1, 6]])
    found = solve_group(counts, ceilings=0.95)
    assert found is not None
    as_counted = printed_chances(found, counts, counts.sum(axis=1), ceilings=0.95)
    rounded_people = printed_chances(found, counts, np.array([30, 20]), ceilings=0.95)
    assert as_counted is not None
    assert rounded_people is not None
    assert rounded_people.digits == as_counted.digits
