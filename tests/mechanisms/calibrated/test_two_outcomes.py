"""Groups of two outcomes against the writing down of every rule, and what a cell promises."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.mechanisms.calibrated import Ceilings, announce, announceable
from tests.helpers import calibrated_oracle
from tests.helpers.calibrated_oracle import READERS, Oracle

LARGEST = {1: 30, 2: 25, 3: 13, 4: 8}


@st.composite
def groups(draw):
    """Draw people, counts and a promise: exact ceilings, sets, grid."""
    m = draw(st.integers(1, 4))
    people = draw(st.lists(st.integers(1, LARGEST[m]), min_size=m, max_size=m))
    counts = [draw(st.integers(0, n)) for n in people]
    above = draw(st.integers(0, 40))
    ceiling = min(Fraction(100 * max(people) // sum(people) + above, 100), Fraction(1))
    promise = {"steps": draw(st.sampled_from([4, 10, 20, 50])), "least": draw(st.integers(1, 4)), "sets": None}
    ceilings = [ceiling] * m
    if draw(st.booleans()):
        union = sorted(draw(st.sets(st.integers(0, m - 1), min_size=1)))
        promise["sets"] = [*([s] for s in range(m)), union]
        ceilings.append(min(ceiling + Fraction(1, 8), Fraction(1)))
    return people, counts, ceilings, promise


@st.composite
def with_earlier_reports(draw):
    """Draw what earlier reports told too: counts, mostly around the true ones, and the limits of the last one."""
    people, counts, ceilings, promise = draw(groups())
    near = st.integers(0, 5)
    earlier = [
        (
            [max(k - draw(near), 0) for k in counts],
            [min(k + draw(near), n) for k, n in zip(counts, people, strict=True)],
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    steps, previous = promise["steps"], None
    if draw(st.booleans()):
        lower = [draw(st.integers(0, steps - 1)) for _ in people]
        previous = (lower, [draw(st.sampled_from([steps, min(a + 1, steps), min(a + 3, steps)])) for a in lower])
    return people, counts, ceilings, promise, {"earlier": earlier, "previous": previous}


def agree(cell, oracle, counts):
    """Whether a cell is the one that enumeration finds."""
    known = oracle.announced(counts)
    if known is None or cell is None:
        assert cell is known is None
        return
    assert (cell.lower.tolist(), cell.upper.tolist()) == (known.lower, known.upper)
    assert (cell.rules, cell.stopped_by_earlier) == (len(known.rules), oracle.stopped_by_earlier)
    assert cell.expected == pytest.approx([float(row[0]) for row in known.expected], abs=1e-9)
    assert cell.confidence == pytest.approx(float(known.confidence), abs=1e-12)
    assert cell.confidence == max(cell.by_reader.values())


@given(groups())
def test_cell_is_that_of_enumeration(drawn):
    people, counts, ceilings, promise = drawn
    totals = (sum(counts), sum(people) - sum(counts))
    cell = announce(people, counts, max_confidence=_given(ceilings, promise), **promise)
    agree(cell, Oracle(people, totals, ceilings=ceilings, **promise), counts)


@given(with_earlier_reports())
def test_cell_after_earlier_reports(drawn):
    people, counts, ceilings, promise, told = drawn
    totals = (sum(counts), sum(people) - sum(counts))
    cell = announce(people, counts, max_confidence=_given(ceilings, promise), **promise, **told)
    previous = told["previous"] and tuple(zip(*told["previous"], strict=True))
    oracle = Oracle(people, totals, ceilings=ceilings, earlier=told["earlier"], previous=previous, **promise)
    agree(cell, oracle, counts)


def _given(ceilings, promise):
    """Give one ceiling, or one for each set."""
    return float(ceilings[0]) if promise["sets"] is None else list(map(float, ceilings))


@pytest.mark.parametrize(
    ("people", "total", "ceiling", "steps"),
    [((9, 8, 7), 12, 0.75, 20), ((20, 16), 15, 0.9, 10), ((6, 5, 6, 4), 9, 0.6, 5), ((12, 1, 10), 11, 0.95, 20)],
)
def test_cells_hold_just_what_announces_them(people, total, ceiling, steps):
    rules = [k for k in product(*(range(n + 1) for n in people)) if sum(k) == total]
    cells = {k: announce(people, k, max_confidence=ceiling, steps=steps, least=2) for k in rules}
    told = {k: (tuple(cell.lower), tuple(cell.upper)) for k, cell in cells.items()}
    assert len(set(told.values())) > 1
    oracle = Oracle(people, (total, sum(people) - total), ceilings=Fraction(str(ceiling)), steps=steps, least=2)
    for limits in set(told.values()):
        preimage = np.array([k for k in rules if told[k] == limits])
        within = oracle.inside(tuple(((a, b), (0, steps)) for a, b in zip(*limits, strict=True)))
        assert np.array_equal(np.unique(preimage, axis=0), np.unique(oracle.rules[within, :, 0], axis=0))
        cell = cells[tuple(preimage[0].tolist())]
        assert cell.expected == pytest.approx(preimage.mean(axis=0), abs=1e-9)
        assert cell.rules == len(preimage) > 2
        assert max(max(oracle.confidences(within, reader)) for reader in READERS) <= Fraction(str(ceiling))


def test_old_limits_come_first():
    people, counts = [40, 40, 40], [22, 10, 31]
    free = announce(people, counts, max_confidence=0.8)
    old = (np.array([9, 3, 14]), np.array([13, 7, 20]))
    cell = announce(people, counts, max_confidence=0.8, previous=old)
    assert (free.lower != cell.lower).any()
    within = (old[0] <= cell.lower) & (cell.upper <= old[1])
    assert within.all()
    moved = announce(people, [22, 20, 21], max_confidence=0.8, previous=old)
    assert moved.lower[1] == 7
    assert moved.upper[1] == 20


def test_earlier_reports_alone_may_tell_too_much():
    cell = announce([5, 7], [5, 1], max_confidence=94 / 125, earlier=[([4, 0], [5, 2])])
    assert cell.stopped_by_earlier
    assert not cell.told
    assert cell.confidence == cell.by_reader["earlier"] > 94 / 125
    assert max(cell.by_reader[reader] for reader in READERS) <= 94 / 125


def test_an_earlier_reader_without_rules_is_wrong():
    wrong = announce([20, 20, 20], [16, 9, 3], max_confidence=0.8, earlier=[([0, 0, 0], [3, 3, 3])])
    assert "earlier" not in wrong.by_reader
    assert np.array_equal(wrong.lower, announce([20, 20, 20], [16, 9, 3], max_confidence=0.8).lower)


@pytest.mark.parametrize("chance", [0, 1])
def test_all_treated_alike_are_told_by_their_rate(chance):
    people = np.array([30, 20, 25])
    cell = announce(people, people * chance, max_confidence=0.7)
    assert not cell.told
    assert cell.rules == 1
    assert cell.expected.tolist() == (people * chance).tolist()
    assert cell.confidence == pytest.approx(30 / 75)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(20, 100))
def test_announceable_whatever_the_total(people, percent):
    exact = [Fraction(percent, 100)] * len(people)
    known = calibrated_oracle.announceable(people, 2, exact, [[s] for s in range(len(people))])
    assert announceable(Ceilings.of(people, percent / 100)) == known


def test_ceilings_may_differ_between_sets():
    sets = [[0], [1], [2], [0, 1]]
    assert announceable(Ceilings.of([10, 10, 10], [0.8, 0.8, 0.8, 0.9], sets))
    assert not announceable(Ceilings.of([10, 10, 10], 0.6, sets))


@pytest.mark.parametrize(
    ("people", "counts", "options"),
    [
        ([5, 0], [1, 0], {}),
        ([5, 4], [1, 5], {}),
        ([5, 4], [1], {}),
        ([5.5, 4], [1, 1], {}),
        ([5, 4], [1, 1], {"sets": [[2]]}),
        ([5, 4], [1, 1], {"sets": [[]]}),
    ],
)
def test_numbers_that_do_not_fit(people, counts, options):
    with pytest.raises(ValueError, match="must"):
        announce(people, counts, max_confidence=0.9, **options)


def test_one_ceiling_for_each_set():
    with pytest.raises(ValueError, match="one for each of the 2"):
        announce([5, 4], [1, 1], max_confidence=[0.9, 0.8, 0.7])
