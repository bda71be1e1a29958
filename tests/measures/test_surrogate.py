"""The surrogate tree: it finds what is there, and its agreement is what others compute."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, r2_score

from atr.measures.influence import Rules
from atr.measures.surrogate import Tree, agreement, fit, variance
from tests.helpers.rules import table, tables


def test_a_rule_of_two_questions_is_found() -> None:
    """Chances of 900 with value 2 of the first input, else 100 or 400 by the second."""
    rules = table(
        {(a, b, c): (10 + a, 900 if a == 2 else 400 if b else 100) for a, b, c in product(range(4), (0, 1), (0, 1))}
    )
    found = fit(rules)
    assert (found.of, found.values, found.yes) == (0, (2,), Tree())
    assert found.no is not None
    assert (found.no.of, found.no.yes, found.no.no) == (1, Tree(), Tree())
    assert fit(rules) == found


def test_where_nothing_differs_nothing_is_asked() -> None:
    same = table(dict.fromkeys(product(range(3), (0, 1)), (10, 333)))
    assert fit(same) == Tree()
    assert agreement(same, same.chance).explained is None
    assert fit(table({(0, 0): (5, 10)})) == Tree()


@given(tables(), st.integers(0, 1000))
def test_agreement_as_others_compute_it(rules: Rules, other: int) -> None:
    chance = (rules.chance + other) / 2
    found = agreement(rules, chance)
    np.testing.assert_allclose(found.mean, mean_absolute_error(rules.chance, chance, sample_weight=rules.people))
    assert found.largest == np.abs(rules.chance - chance).max()
    if found.explained is not None:
        expected = r2_score(rules.chance, chance, sample_weight=rules.people)
        np.testing.assert_allclose(found.explained, expected, rtol=1e-6, atol=1e-9)


@given(st.data())
def test_the_first_question_parts_people_best(data: st.DataObject) -> None:
    """Of all questions there are: every input, every set of its values."""
    sizes = data.draw(st.lists(st.integers(2, 5), min_size=1, max_size=2))
    chance = st.integers(0, 1000)
    rules = table({key: (data.draw(st.integers(20, 30)), data.draw(chance)) for key in product(*map(range, sizes))})
    found = fit(rules)

    def left(inside: np.ndarray) -> float:
        parts = [Rules(rules.values[i], rules.people[i], rules.chance[i]) for i in (inside, ~inside)]
        return sum(variance(part) * part.total for part in parts) / rules.total

    best = min(
        left(np.isin(rules.values[:, i], asked))
        for i, size in enumerate(sizes)
        for asked in chain.from_iterable(combinations(range(size), n) for n in range(1, size))
    )
    if found.of is None:
        assert variance(rules) - best <= 0.005 * variance(rules) + 1e-9
    else:
        np.testing.assert_allclose(left(np.isin(rules.values[:, found.of], found.values)), best, rtol=1e-6, atol=1e-6)
