"""Groups of three outcomes against every table written down, and large ones against a slower way."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.mechanisms.calibrated import Ceilings, solve_group
from atr.mechanisms.calibrated import announceable as may_be_announced
from atr.mechanisms.calibrated.readers import MODELS
from atr.mechanisms.calibrated.tables import Tables
from tests.helpers.calibrated_oracle import Oracle, all_rules, announceable, weights


def _counts(draw, largest, regions):
    """(m, 3) people, somebody in every region."""
    m = draw(st.integers(2, regions))
    row = st.lists(st.integers(0, largest[m]), min_size=3, max_size=3).filter(any)
    return np.array(draw(st.lists(row, min_size=m, max_size=m)))


@st.composite
def _groups(draw):
    """A small group, its options, and what earlier reports told of it."""
    counts = _counts(draw, {2: 5, 3: 3}, 3)
    people = counts.sum(axis=1)
    steps = draw(st.sampled_from([5, 10, 20]))
    shares = counts / people[:, None]

    def limits(far):
        below, above = (draw(st.lists(st.integers(0, far), min_size=counts.size, max_size=counts.size)) for _ in "ab")
        low = np.floor(shares * steps).astype(int) - np.reshape(below, counts.shape)
        high = np.ceil(shares * steps).astype(int) + np.reshape(above, counts.shape)
        low, high = np.maximum(low, 0), np.minimum(high, steps)
        return np.stack([low, np.where(high == low, high + 1, high)], axis=2).clip(0, steps)

    earlier = [limits(steps // 2) for _ in range(draw(st.integers(0, 3)))]
    options = {
        "ceilings": draw(st.integers(70, 98)),
        "sets": draw(st.sampled_from([None, [[0], [1], [0, 1]][: len(people)]])),
        "steps": steps,
        "least": draw(st.integers(1, 2)),
        "previous": draw(st.sampled_from([None, limits(steps)])),
    }
    return counts, options, earlier


def _oracle(counts, options, earlier):
    people = counts.sum(axis=1)[:, None]
    windows = [(-(-e[..., 0] * people // options["steps"]), e[..., 1] * people // options["steps"]) for e in earlier]
    previous = options["previous"]
    last = None if previous is None else tuple(tuple(tuple(pair) for pair in row) for row in previous.tolist())
    exact = options | {"ceilings": Fraction(options["ceilings"], 100), "previous": last}
    return Oracle(people[:, 0].tolist(), counts.sum(axis=0).tolist(), earlier=windows, **exact)


def _solved(counts, options, earlier):
    people = counts.sum(axis=1, keepdims=True)
    chances = []
    for e in earlier:  # limits between whole numbers of people, so that it does not matter whether they are reached
        highest = np.minimum((e[..., 1] * people // options["steps"] + 0.5) / people, 1.0)
        chances.append(np.stack([e[..., 0] / options["steps"], highest], axis=-1))
    ceilings = Ceilings.of(counts.sum(axis=1), options["ceilings"] / 100, options["sets"])
    cut = {name: options[name] for name in ("steps", "least", "previous")}
    return solve_group(counts, ceilings, earlier=chances, **cut)


@given(_groups())
def test_cells_are_those_of_plain_enumeration(group):
    counts = group[0]
    oracle, found = _oracle(*group), _solved(*group)
    known = oracle.announced(counts)
    if known is None:
        assert found is None
        return
    assert found is not None
    assert found.limits.tolist() == [[list(pair) for pair in row] for row in known.limits]
    assert found.expected == pytest.approx(np.array(known.expected, dtype=float), abs=1e-9)
    assert found.confidence == pytest.approx(float(known.confidence), abs=1e-9)
    assert found.rules == pytest.approx(len(known.rules), rel=1e-9)
    assert found.stopped_by_earlier == oracle.stopped_by_earlier


@pytest.mark.parametrize(
    ("people", "totals"), [pytest.param((5, 4, 4), (5, 5, 3), marks=pytest.mark.long), ((6, 4, 2), (3, 2, 7))]
)
def test_a_cell_is_the_preimage_of_its_announcement(people, totals):
    ceiling = 0.85
    rules = all_rules(people, totals)
    told = [solve_group(rule, Ceilings.of(people, ceiling), steps=10, least=1) for rule in rules]
    groups = {}
    for i, announced in enumerate(told):
        groups.setdefault(announced.limits.tobytes(), []).append(i)
    assert len(groups) > 1
    for members in groups.values():
        announced = told[members[0]]
        people_in = rules[members]
        low, high = -(-announced.limits * np.array(people)[:, None, None] // 10).transpose(2, 0, 1)
        everybody = announced.limits[..., 1] == 10
        inside = ((rules >= low) & ((rules < high) | everybody)).all(axis=(1, 2))
        assert np.flatnonzero(inside).tolist() == members
        assert len(members) > 1
        assert announced.expected == pytest.approx(people_in.mean(axis=0), abs=1e-9)
        for model in MODELS:
            w = weights(model, people_in).astype(float)
            confidence = (np.tensordot(w / w.sum(), people_in, 1) / totals).max()
            assert confidence <= ceiling + 1e-9
            assert confidence <= announced.confidence + 1e-9


@pytest.mark.parametrize("people", [(3, 3), (2, 6), (5, 4, 2), (6, 6, 1)])
def test_groups_that_may_be_announced(people):
    sets = [[s] for s in range(len(people))]
    found = [may_be_announced(Ceilings.of(people, b / 100), 3) for b in range(40, 100, 5)]
    known = [announceable(people, 3, [Fraction(b, 100)] * len(people), sets) for b in range(40, 100, 5)]
    assert found == known
    assert len(set(found)) == 2
    assert all(later or not earlier for earlier, later in pairwise(found))


@given(st.integers(0, 2**32 - 1), st.sampled_from(MODELS))
def test_halves_of_large_groups_are_those_counted_alone(seed, model):
    drawn = np.random.default_rng(seed)
    m, width = int(drawn.integers(2, 5)), int(drawn.choice([5, 40, 400]))
    people = drawn.multinomial(drawn.integers(20, 400), drawn.dirichlet(np.ones(m))) + 1
    truth = np.array([drawn.multinomial(n, drawn.dirichlet(np.full(3, drawn.choice([0.1, 1, 10])))) for n in people])
    bounds = truth - drawn.integers(0, width, truth.shape), truth + drawn.integers(0, width, truth.shape)
    tables = Tables.between(model, people, truth.sum(axis=0), *bounds)
    assert tables is not None
    expected = tables.expected.reshape(truth.shape)
    assert expected.sum(axis=0) == pytest.approx(truth.sum(axis=0), abs=1e-9)
    assert expected.sum(axis=1) == pytest.approx(people, abs=1e-9)
    chance = int(drawn.integers(3 * m))
    first, last = int(tables.lowest[chance]), int(tables.highest[chance])
    if first == last:
        return
    count = int(drawn.integers(first + 1, last + 1))
    halves, exact = tables.halves(chance, np.array([count]))
    for upper in (False, True):
        half = tables.half(chance, count, upper=upper)
        assert half is not None
        if exact[int(upper), 0]:
            assert halves[int(upper), 0] == pytest.approx(half.expected, abs=1e-8)


def test_an_outcome_that_one_person_gets():
    counts = np.array([[0, 100, 303], [1, 3, 94], [0, 104, 141]])
    found = solve_group(counts, Ceilings.of(counts.sum(axis=1), 0.8))
    assert found is not None
    assert found.expected.sum(axis=0) == pytest.approx([1, 207, 538])
    assert found.confidence <= 0.8 + 1e-9
