"""Yardsticks of leakage: known answers, and what must hold between them."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.confidence import maximum_confidence
from atr.core.groups import Groups
from atr.core.leakage import (
    leakage_of_values,
    likeness_gain,
    local_differential_privacy,
    log_lift,
    min_entropy_leakage,
    minimum_uncertainty,
)
from atr.core.protected import Protection

ALL = (minimum_uncertainty, local_differential_privacy, log_lift, likeness_gain, min_entropy_leakage)

CARD = ([12, 5, 3, 9, 7, 4], [[1, 0], [1, 0], [0, 1], [1, 0], [0.5, 0.5], [0, 1]], [0, 3, 6])


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def leakage(groups):
    """What is told of the region a person is in: of the one attribute that no two regions share a value of."""
    return leakage_of_values(groups, [(str(i),) for i in range(len(groups.population))])


@st.composite
def mappings(draw, most=4):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    outcomes = draw(st.integers(2, 4))
    n = sum(sizes)
    D = rng.dirichlet(np.full(outcomes, draw(st.sampled_from([0.05, 1, 50]))), size=n)
    if draw(st.booleans()):
        D = np.eye(outcomes)[D.argmax(axis=1)]
    p = 10.0 ** rng.uniform(0, draw(st.sampled_from([0.1, 6])), n)
    return p, D, np.append(0, np.cumsum(sizes))


def by_hand(p, D):
    """Every definition of one group, word by word."""
    share = np.array(p) / np.sum(p)
    rate = share @ D
    pairs = [(s, a) for s in range(len(D)) for a in range(D.shape[1]) if rate[a] > 0]
    posterior = {(s, a): share[s] * D[s, a] / rate[a] for s, a in pairs}

    def ln(x, y):
        return -math.inf if x == 0 else math.inf if y == 0 else math.log(x) - math.log(y)

    return [
        -math.log(max(posterior.values())),
        max(ln(D[s, a], D[t, a]) for s, a in pairs for t in range(len(D)) if D[s, a] or D[t, a]),
        max(abs(ln(posterior[s, a], share[s])) for s, a in pairs),
        max(posterior[s, a] / share[s] - 1 for s, a in pairs),
        math.log2((share[:, None] * D).max(axis=0).sum() / share.max()),
    ]


def test_the_card_example():
    told = leakage(Groups(*CARD))
    assert told["minimum_uncertainty"] == pytest.approx([0, -math.log(0.72)])
    assert told["local_differential_privacy"].tolist() == [math.inf, math.inf]
    assert told["log_lift"].tolist() == [math.inf, math.inf]
    # A woman with the card: 3/20 becomes 1. A man with it: 4/20 becomes 4/7.5.
    assert told["likeness_gain"] == pytest.approx([1 / 0.15 - 1, (4 / 7.5) / 0.2 - 1])
    # One guess: 12/20 becomes (12 + 3)/20; 9/20 becomes (9 + 4)/20.
    assert told["min_entropy_leakage"] == pytest.approx([math.log2(15 / 12), math.log2(13 / 9)])


def test_by_hand():
    groups = Groups([1, 3], [[0.5, 0.5], [0.9, 0.1]], [0, 2])
    assert minimum_uncertainty(groups).item() == pytest.approx(-math.log(2.7 / 3.2))
    assert local_differential_privacy(groups).item() == pytest.approx(math.log(5))
    assert log_lift(groups).item() == pytest.approx(math.log(2.5))
    assert likeness_gain(groups).item() == pytest.approx(1.5)
    assert min_entropy_leakage(groups).item() == pytest.approx(math.log2(3.2 / 3))


def test_an_outcome_nobody_gets_counts_nowhere():
    three, two = (Groups([1, 3], D, [0, 2]) for D in ([[0.5, 0.5, 0], [0.9, 0.1, 0]], [[0.5, 0.5], [0.9, 0.1]]))
    for measure in ALL:
        assert measure(three).item() == measure(two).item()


@given(mappings())
def test_every_group_is_what_the_definitions_say(drawn):
    p, D, offsets = drawn
    found = [measure(Groups(p, D, offsets)) for measure in ALL]
    for i in range(len(offsets) - 1):
        cells = slice(offsets[i], offsets[i + 1])
        assert [values[i] for values in found] == pytest.approx(by_hand(p[cells], D[cells]), abs=1e-9)


@given(mappings())
def test_a_constant_mapping_gives_nothing_away(drawn):
    p, D, offsets = drawn
    flat = np.repeat(D[offsets[:-1]], np.diff(offsets), axis=0)
    told = leakage(Groups(p, flat, offsets))
    for name in ("local_differential_privacy", "log_lift", "likeness_gain", "min_entropy_leakage"):
        assert told[name] == pytest.approx(np.zeros(len(offsets) - 1), abs=1e-12)
    prior = np.maximum.reduceat(p, offsets[:-1]) / np.add.reduceat(p, offsets[:-1])
    assert told["minimum_uncertainty"] == pytest.approx(-np.log(prior))


@given(mappings())
def test_what_holds_between_them(drawn):
    p, D, offsets = drawn
    told = leakage(Groups(p, D, offsets))
    assert (told["log_lift"] <= told["local_differential_privacy"] + 1e-12).all()
    assert (np.log1p(told["likeness_gain"]) <= told["log_lift"] + 1e-12).all()
    assert (2 ** told["min_entropy_leakage"] <= 1 + told["likeness_gain"] + 1e-12).all()
    assert (told["min_entropy_leakage"] <= math.log2(D.shape[1]) + 1e-12).all()
    assert (told["minimum_uncertainty"] >= 0).all()


@given(mappings(), st.floats(0, 1))
def test_less_is_given_away_by_what_is_shrunk_or_garbled(drawn, shrink):
    """Towards the group's rate, and through a channel that sees the outcome only."""
    p, D, offsets = drawn
    starts, sizes = offsets[:-1], np.diff(offsets)
    rate = np.add.reduceat(p[:, None] * D, starts) / np.add.reduceat(p, starts)[:, None]
    before = leakage(Groups(p, D, offsets))
    garbling = np.random.default_rng(3).dirichlet(np.ones(3), size=D.shape[1])
    for less in (shrink * np.repeat(rate, sizes, axis=0) + (1 - shrink) * D, D @ garbling):
        after = leakage(Groups(p, less, offsets))
        assert (after["minimum_uncertainty"] >= before["minimum_uncertainty"] - 1e-9).all()
        for name in ("local_differential_privacy", "log_lift", "likeness_gain", "min_entropy_leakage"):
            assert (after[name] <= before[name] + 1e-9).all()


@given(mappings())
def test_one_sensitive_attribute_is_its_regions(mapping):
    groups = Groups(*mapping)
    told = leakage(groups)
    for measure in ALL:
        assert (told[measure.__name__] == measure(groups)).all()


@given(mappings())
def test_values_of_attributes_tell_no_more_than_regions(mapping):
    p, D, offsets = mapping
    sensitive, starts = ("one", "other"), offsets
    values = [(str(i % 2), str(i)) for i in range(len(p))]
    groups = Groups(p, D, offsets, Protection(sensitive).sets(values, list(starts)))
    of_values, regions = leakage_of_values(groups, values), leakage(Groups(p, D, offsets))
    assert of_values["minimum_uncertainty"] == pytest.approx(-np.log(maximum_confidence(groups, D)), abs=1e-12)
    for name in ("local_differential_privacy", "log_lift", "likeness_gain"):
        assert of_values[name] == pytest.approx(regions[name], abs=1e-9), "one attribute tells all"


def test_of_two_attributes_the_worse_counts():
    p, D = [4, 2, 3, 1], [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.0, 1.0]]
    values = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    named = (("second", "all", ("x", "y")),)
    for sets, sure in ((Protection(("first", "second")).sets(values, [0, 4]), 6 * 0.9 / 6), (None, None)):
        told = leakage_of_values(Groups(p, D, [0, 4], sets), values)
        assert told["local_differential_privacy"] == pytest.approx([math.log(0.85 / 0.1)])
        assert sure is None or told["minimum_uncertainty"] == pytest.approx([-math.log(sure)])
    every = Protection(("first", "second"), named).sets(values, [0, 4])
    told = leakage_of_values(Groups(p, D, [0, 4], every), values)
    assert told["minimum_uncertainty"] == pytest.approx([0])
    assert told["local_differential_privacy"] == pytest.approx([math.log(0.85 / 0.1)])


def test_an_outcome_no_region_of_a_value_has_is_infinite():
    p, values = [1, 1, 1, 1], [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    some = leakage_of_values(Groups(p, [1, 0.5, 0.5, 1], [0, 4]), values)
    assert np.isfinite(some["local_differential_privacy"]).all()
    every = leakage_of_values(Groups(p, [1, 1, 0.5, 0.5], [0, 4]), values)
    assert np.isinf(every["local_differential_privacy"]).all()
    assert np.isinf(every["log_lift"]).all()
