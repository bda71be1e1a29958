"""Printed chances: at face value no reader is above a ceiling, and rates are those printed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from atr.core.confidence import exact_confidence
from atr.core.publication import published_population
from atr.mechanisms.calibrated import Ceilings, solve_group
from atr.mechanisms.calibrated.digits import printed_chances, rounded

CEILINGS = st.integers(55, 95).map(lambda percent: percent / 100)


@st.composite
def _found(draw):
    """A group, and what is announced of it."""
    m, outcomes = draw(st.integers(2, 4)), draw(st.sampled_from([2, 2, 4]))
    row = st.lists(st.integers(0, 40), min_size=outcomes, max_size=outcomes).filter(any)
    counts = np.array(draw(st.lists(row, min_size=m, max_size=m)))
    ceiling, steps = draw(CEILINGS), draw(st.sampled_from([7, 20]))
    found = solve_group(counts, Ceilings.of(counts.sum(axis=1), ceiling), steps=steps, least=1)
    assume(found is not None)
    return counts, ceiling, found


def _rounded(found, population, digits):
    return rounded(found.expected / population[:, None], found.limits, found.steps, digits)


def _printed(found, counts, published, ceiling):
    ceilings = Ceilings.of(counts.sum(axis=1), ceiling)
    told = found.expected, found.limits, found.steps
    return printed_chances(*told, totals=counts.sum(axis=0), published=published, ceilings=ceilings)


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
    printed = _printed(found, counts, published, ceiling)
    will_do = [d for d in range(2, 7) if _kept(_rounded(found, population, d), d, counts, published, ceiling)]
    assert (printed.digits if printed else None) == (will_do[0] if will_do else None)
    if printed:
        assert (printed.chance == _rounded(found, population, printed.digits) * 10 ** (6 - printed.digits)).all()


@given(_found(), st.integers(2, 6))
def test_rounded_chances_are_near_and_add_up(group, digits):
    counts, _, found = group
    population = counts.sum(axis=1)
    chance = _rounded(found, population, digits) / 10**digits
    assert chance.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.abs(chance - found.expected / population[:, None]).max() < 1.0001 / 10**digits
    slack = 1e-9 if found.steps == 20 else 1 / 10**digits  # a seventh has no decimals
    assert (chance >= found.limits[..., 0] / found.steps - slack).all()
    assert (chance <= found.limits[..., 1] / found.steps + slack).all()


def test_a_chance_is_rounded_into_its_limits():
    assert rounded(np.array([[0.3334, 0.6666]]), np.array([[[1, 2], [1, 2]]]), 3, 2).tolist() == [[34, 66]]


def test_outcomes_with_equal_rests_go_first_to_last():
    assert rounded(np.full((1, 3), 1 / 3), np.array([[[0, 20]] * 3]), 20, 2).tolist() == [[34, 33, 33]]


def test_more_digits_where_few_would_tell_too_much():
    people, limits = np.array([900, 100]), np.array([[[0, 20]] * 2] * 2)

    def printed(ceilings):
        expected, totals = np.array([[1.4, 898.6], [1.6, 98.4]]), np.array([3, 997])
        of = Ceilings.of(people, ceilings)
        return printed_chances(expected, limits, 20, totals=totals, published=people, ceilings=of)

    assert printed(0.95).digits == 3  # with two digits, nobody of the first
    assert printed([0.95, 0.3]) is None


def test_printed_people_that_change_the_rate_cost_no_chances():
    counts = np.array([[30, 2], [1, 6]])
    found = solve_group(counts, Ceilings.of(counts.sum(axis=1), 0.95))
    assert found is not None
    as_counted = _printed(found, counts, counts.sum(axis=1), 0.95)
    rounded_people = _printed(found, counts, np.array([30, 20]), 0.95)
    assert as_counted is not None
    assert rounded_people is not None
    assert rounded_people.digits == as_counted.digits
