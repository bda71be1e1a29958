"""Influence of inputs: against every pair of people, every order of inputs, and answers known by hand."""

from __future__ import annotations

from itertools import permutations, product
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.measures.influence import (
    SHAPLEY_UP_TO,
    Rules,
    against,
    influence,
    of_subsets,
    overall,
    partial_dependence,
    rates,
    shapley,
)
from tests.helpers.rules import table, tables


def by_hand(rules: Rules, inputs: tuple[int, ...], by: int) -> tuple[float, float, list[float], float]:
    """The same by every pair of regions: who a person is, and from whom the inputs are drawn."""
    rows = {
        tuple(v): (p, c)
        for v, p, c in zip(rules.values.tolist(), rules.people.tolist(), rules.chance.tolist(), strict=True)
    }
    everybody = sum(p for p, _ in rows.values())
    change = covered = 0.0
    apart = dict.fromkeys(range(int(rules.values[:, by].max()) + 1), 0.0)
    people = dict.fromkeys(apart, 0.0)
    for one, (p, c) in rows.items():
        drawn = []
        for other, (q, _) in rows.items():
            mixed = tuple(other[i] if i in inputs else one[i] for i in range(len(one)))
            if mixed in rows:
                drawn.append((q, rows[mixed][1]))
        exist = sum(q for q, _ in drawn)
        change += p * sum(q * abs(c - x) for q, x in drawn) / exist
        covered += p * exist / everybody**2
        people[one[by]] += p
        apart[one[by]] += p * (c - sum(q * x for q, x in drawn) / exist)
    rate = sum(apart.values()) / everybody
    return change / everybody, rate, [apart[v] / people[v] if people[v] else 0.0 for v in apart], covered


def subsets(rules: Rules) -> list[tuple[int, ...]]:
    return [tuple(i for i in range(rules.inputs) if s >> i & 1) for s in range(2**rules.inputs)]


@given(tables())
def test_as_by_every_pair_of_people(rules: Rules) -> None:
    worth = of_subsets(rules, by=[0])
    for s, inputs in enumerate(subsets(rules)):
        change, rate, group, covered = by_hand(rules, inputs, 0)
        found = influence(rules, inputs, by=[0])
        np.testing.assert_allclose(found.change, change, atol=1e-9)
        np.testing.assert_allclose(found.rate, rate, atol=1e-9)
        np.testing.assert_allclose(found.rates[0], group, atol=1e-9)
        np.testing.assert_allclose(found.covered, covered)
        np.testing.assert_allclose(worth[s], [change, rate, *group], atol=1e-9)


@given(tables())
def test_shapley_values_as_by_every_order(rules: Rules) -> None:
    k = rules.inputs
    worth = {frozenset(s): np.array([c, r, *g]) for s in subsets(rules) for c, r, g, _ in [by_hand(rules, s, k - 1)]}
    expected = np.zeros((k, len(worth[frozenset()])))
    for order in permutations(range(k)):
        for place, i in enumerate(order):
            before = frozenset(order[:place])
            expected[i] += (worth[before | {i}] - worth[before]) / factorial(k)
    found = shapley(of_subsets(rules, by=[k - 1]))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=0), worth[frozenset(range(k))], atol=1e-9, err_msg="efficiency")


@given(tables())
def test_what_all_inputs_together_do(rules: Rules) -> None:
    """The mean distance between two people; and how far the rate of a group lies from everybody's."""
    found = influence(rules, range(rules.inputs), by=[0])
    share = rules.people / rules.people.sum()
    np.testing.assert_allclose(found.change, share @ np.abs(rules.chance[:, None] - rules.chance) @ share, atol=1e-9)
    held = np.bincount(rules.values[:, 0], rules.people) > 0
    np.testing.assert_allclose(found.rates[0][held], (rates(rules, 0) - share @ rules.chance)[held], atol=1e-9)
    assert found.rate == pytest.approx(0, abs=1e-9), "nobody's rate is another than everybody's"
    assert found.covered == pytest.approx(1)
    np.testing.assert_allclose(overall(rules), share @ rules.chance)


@given(tables(whole=True), st.data())
def test_an_input_that_does_not_count_has_no_influence(rules: Rules, data: Any) -> None:
    i = data.draw(st.integers(0, rules.inputs - 1))
    others = rules.alike([j for j in range(rules.inputs) if j != i])
    blind = Rules(rules.values, rules.people, (others * 37 % 1001).astype(np.float64))
    assert influence(blind, [i], by=[0]).change == 0
    np.testing.assert_allclose(shapley(of_subsets(blind, by=[0]))[i], 0, atol=1e-9)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(others), max_size=len(others)).filter(any))
    some = np.array(chosen)
    gaps = Rules(blind.values[some], blind.people[some], blind.chance[some])
    assert influence(gaps, [i]).change == 0, "nor where combinations are missing"


@given(st.data())
def test_inputs_that_count_alike_have_the_same_value(data: Any) -> None:
    size = data.draw(st.integers(2, 3))
    figures = st.tuples(st.integers(1, 50), st.integers(0, 1000))
    rows: dict[tuple[int, ...], tuple[int, int]] = {}
    for a, b, c in product(range(size), range(size), range(2)):
        rows[a, b, c] = rows[b, a, c] if (b, a, c) in rows else data.draw(figures)
    found = shapley(of_subsets(table(rows)))[:, 0]
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_known_answers() -> None:
    """Two inputs, everybody's equally common: a rule on one of them, and one on whether they are alike."""
    first = table({(a, b): (10, 1000 * a) for a, b in product((0, 1), repeat=2)})
    assert [influence(first, [i]).change for i in (0, 1)] == [500, 0]
    np.testing.assert_allclose(influence(first, [0], by=[0]).rates[0], [-500, 500])
    np.testing.assert_allclose(shapley(of_subsets(first))[:, 0], [500, 0])
    alike = table({(a, b): (10, 1000 * (a == b)) for a, b in product((0, 1), repeat=2)})
    assert [influence(alike, s).change for s in ([0], [1], [0, 1])] == [500, 500, 500]
    np.testing.assert_allclose(shapley(of_subsets(alike))[:, 0], [250, 250])


def test_combinations_nobody_has_are_left_out() -> None:
    """People with (1, 0) alone can be drawn another second value; the others keep theirs."""
    rules = table({(0, 0): (50, 100), (1, 0): (30, 200), (1, 1): (20, 600)})
    found = influence(rules, [1], by=[0])
    # 30 people become (1, 1) with probability 20 / 100, and 20 people (1, 0) with 80 / 100; among them 50 of 100.
    assert found.change == pytest.approx((30 * 0.2 * 400 + 20 * 0.8 * 400) / 100)
    assert found.rates[0][0] == 0
    assert found.covered == pytest.approx((50 * 0.8 + 30 * 1 + 20 * 1) / 100)


@given(tables())
def test_partial_dependence(rules: Rules) -> None:
    rows = dict(zip(map(tuple, rules.values.tolist()), rules.chance.tolist(), strict=True))
    for i in range(rules.inputs):
        chance, covered = partial_dependence(rules, i)
        for value in range(rules.sizes[i]):
            moved = [tuple(value if j == i else v for j, v in enumerate(row)) for row in rows]
            inside = np.array([m in rows for m in moved])
            assert covered[value] == pytest.approx(rules.people[inside].sum() / rules.people.sum())
            given_it = [rows[m] for m in moved if m in rows]
            if given_it:
                assert chance[value] == pytest.approx(np.average(given_it, weights=rules.people[inside]))
            else:
                assert np.isnan(chance[value])


@given(tables())
def test_values_are_compared_of_the_same_people(rules: Rules) -> None:
    rows = dict(zip(map(tuple, rules.values.tolist()), rules.chance.tolist(), strict=True))
    for i in range(rules.inputs):
        for base in np.unique(rules.values[:, i]).tolist():
            difference, shared = against(rules, i, base)
            for value in range(rules.sizes[i]):
                both = [
                    (people, rows[moved[0]] - rows[moved[1]])
                    for row, people in zip(rows, rules.people, strict=True)
                    for moved in [[(*row[:i], v, *row[i + 1 :]) for v in (value, base)]]
                    if all(m in rows for m in moved)
                ]
                people = sum(n for n, _ in both)
                assert shared[value] == pytest.approx(people / rules.people.sum())
                if both:
                    assert difference[value] == pytest.approx(sum(n * x for n, x in both) / people, abs=1e-9)
                else:
                    assert np.isnan(difference[value])


def test_averages_of_different_people_are_not_compared() -> None:
    """In each place either sex has the same chance; one place, of high chances, has no women."""
    rules = table({(0, 0): (50, 100), (1, 0): (50, 100), (0, 1): (100, 900)})
    average, covered = partial_dependence(rules, 0)
    np.testing.assert_allclose(average, [500, 100])
    np.testing.assert_allclose(covered, [1, 0.5])
    difference, shared = against(rules, 0, 0)
    np.testing.assert_allclose(difference, [0, 0])
    np.testing.assert_allclose(shared, [1, 0.5])


def test_as_many_inputs_as_can_be_done() -> None:
    """Twelve coins, all combinations equally common, a chance that adds up: answers known by hand."""
    values = np.array(list(product((0, 1), repeat=SHAPLEY_UP_TO)), dtype=np.int64)
    rules = Rules(values, np.ones(len(values)), values.sum(axis=1).astype(np.float64))
    found = shapley(of_subsets(rules, by=[11]))
    tosses = np.array([comb(SHAPLEY_UP_TO, n) for n in range(SHAPLEY_UP_TO + 1)]) / 2**SHAPLEY_UP_TO
    heads = np.arange(SHAPLEY_UP_TO + 1)
    np.testing.assert_allclose(found[:, 0], tosses @ np.abs(heads[:, None] - heads) @ tosses / SHAPLEY_UP_TO)
    np.testing.assert_allclose(found[:, 1], 0, atol=1e-9)
    np.testing.assert_allclose(found[:, 2:], [[0, 0]] * 11 + [[-0.5, 0.5]], atol=1e-9)


def test_many_values_and_many_inputs() -> None:
    """Labels stay small where the combinations of values would be more than a number can count."""
    values = np.arange(200, dtype=np.int64)[:, None] * np.ones((1, 12), dtype=np.int64)
    rules = Rules(values, np.ones(200), np.arange(200, dtype=np.float64))
    found = influence(rules, range(11))
    assert (found.change, found.covered) == (0, pytest.approx(1 / 200))
    worth = of_subsets(Rules(values[:, :8], rules.people, rules.chance))
    assert worth.shape == (256, 2)
    np.testing.assert_allclose(shapley(worth)[:, 0], worth[-1, 0] / 8, atol=1e-9)
    with pytest.raises(ValueError, match="13 inputs"):
        of_subsets(Rules(np.zeros((1, 13), dtype=np.int64), np.ones(1), np.ones(1)))
