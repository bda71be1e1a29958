"""Whoever has two versions of a period, exact people and rates of both, and knows who came or went in between."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from atr.core.regions import ToldBefore
from atr.mechanisms.calibrated import two_versions
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.group import Cell, may_be_told_anew, solve_group
from atr.mechanisms.calibrated.two_versions import EarlierVersion
from tests.helpers.calibrated_oracle import READERS
from tests.helpers.two_versions import EXACTLY, STEPS, Pair, Reader, told, within

ALL = np.tile([0.0, 1.0], (3, 2, 1))
"""Limits that tell nothing."""
COUNTS = np.array([[16, 4], [9, 11], [3, 17]])
"""Of which limits are told below a ceiling of 0.8."""


@st.composite
def changes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """(m, 2) people by outcome before and after."""
    people = np.array(draw(st.lists(st.integers(4, 8), min_size=3, max_size=3)))
    positive = np.array([draw(st.integers(0, n)) for n in people.tolist()])
    before = np.column_stack([positive, people - positive])
    kind = draw(st.sampled_from(["came", "went", "more", "fewer", "mixed", "came and more"]))
    change = np.array([[draw(st.integers(0, 3)) for _ in range(2)] for _ in people])
    if kind in ("more", "fewer"):
        flips = np.minimum(change[:, 0], before[:, 1 if kind == "more" else 0])
        return before, before + np.column_stack([flips, -flips]) * (1 if kind == "more" else -1)
    sign = {"went": [[-1], [-1], [-1]], "mixed": [[1], [-1], [1]]}.get(kind, [[1], [1], [1]])
    after = np.maximum(before + change * np.array(sign), 0)
    if kind == "came and more":
        flips = np.minimum(2, after[:, 1])
        after = after + np.column_stack([flips, -flips])
    assume((after.sum(axis=1) > 0).all() and (after != before).any())
    return before, after


@st.composite
def ceilings(draw: st.DrawFn) -> tuple[list[list[int]], list[float]]:
    """Protected sets, the regions among them, and a ceiling for each."""
    ceiling = draw(st.sampled_from([0.55, 0.6, 0.68, 0.75]))
    sets, each = [[0], [1], [2]], [ceiling, ceiling, round(ceiling * draw(st.sampled_from([1, 0.9])), 3)]
    if draw(st.booleans()):
        sets, each = [*sets, [0, 2]], [*each, min(1.0, ceiling * 1.2)]
    return sets, each


def cells(
    before: np.ndarray, after: np.ndarray, sets: list[list[int]], each: list[float]
) -> tuple[Cell, Cell, Ceilings] | None:
    """What is told of both versions."""
    of_both = [Ceilings.of(counts.sum(axis=1), each, sets) for counts in (before, after)]
    first = solve_group(before, of_both[0])
    if first is None:
        return None
    second = solve_group(after, of_both[1], versions=[told(first.limits / STEPS, before)])
    return None if second is None else (first, second, of_both[1])


@given(changed=changes(), protected=ceilings())
def test_who_has_both_versions_stays_below_the_ceiling(
    changed: tuple[np.ndarray, np.ndarray], protected: tuple[list[list[int]], list[float]]
) -> None:
    before, after = changed
    found = cells(before, after, *protected)
    assume(found is not None)
    first, second, of_now = found  # type: ignore[misc]
    if not may_be_told_anew(after, of_now, [told(first.limits / STEPS, before)]):
        assert not second.told
        return
    for name in READERS:
        totals = int(before[:, 0].sum()), int(after[:, 0].sum())
        reader = Reader(name, before.sum(axis=1), after.sum(axis=1), totals)
        for limits in (second.limits[:, 0], np.tile([0, STEPS], (3, 1))):
            expected = reader.expected((first.limits[:, 0], limits))
            if expected is not None:  # else outcomes were corrected beside, though totals do not show it
                assert (reader.surest(expected, protected[0]) <= np.array(protected[1]) + EXACTLY).all()
        assert expected is not None


@given(changed=changes(), protected=ceilings(), data=st.data())
def test_every_rule_of_the_cell_is_announced_alike(
    changed: tuple[np.ndarray, np.ndarray], protected: tuple[list[list[int]], list[float]], data: st.DataObject
) -> None:
    before, after = changed
    found = cells(before, after, *protected)
    assume(found is not None)
    first, cell, of_now = found  # type: ignore[misc]
    people, total = after.sum(axis=1), int(after[:, 0].sum())
    inside = [[k for k in range(n + 1) if within(k, n, cell.limits[s, 0])] for s, n in enumerate(people.tolist())]
    rules = [rule for rule in product(*inside) if sum(rule) == total]
    other = np.array(data.draw(st.sampled_from(rules)))
    version = told(first.limits / STEPS, before)
    twin = solve_group(np.column_stack([other, people - other]), of_now, versions=[version])
    assert twin is not None
    assert twin.limits.tolist() == cell.limits.tolist()
    assert twin.by_reader == cell.by_reader
    assert len(rules) == pytest.approx(cell.rules)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("now", "totals"),
    [
        ((12, 9, 12), (11, 18)),
        ((5, 4, 6), (11, 8)),
        ((8, 6, 7), (11, 14)),
        ((8, 6, 7), (11, 7)),
        ((10, 4, 7), (11, 12)),
    ],
    ids=["came", "went", "more", "fewer", "mixed"],
)
def test_both_versions_are_counted_together(name: str, now: tuple[int, ...], totals: Pair) -> None:
    before, after = np.array([8, 6, 7]), np.array(now)
    limits = np.array([[4, 20], [0, 15], [2, 20]]), np.array([[3, 18], [2, 20], [0, 20]])
    ends = limits[0] / STEPS - [[0, 1e-9]]
    of_both = np.stack([ends, 1 - ends[:, ::-1]], axis=1)
    counts = np.array([[totals[0], before.sum() - totals[0]], [0, 0], [0, 0]])
    version = told(of_both, counts)._replace(people=before)
    earlier = EarlierVersion(version, totals[1], Ceilings.of(after, 0.9))
    inside = [[k for k in range(n + 1) if within(k, n, limits[1][s])] for s, n in enumerate(now)]
    belief = earlier.belief(name, *(np.array([k[end] for k in inside]) for end in (0, -1)))  # type: ignore[arg-type]
    reader = Reader(name, before, after, totals)
    expected = reader.expected(limits)
    assert belief is not None
    assert expected is not None
    found = belief.expected.reshape(3, 3)
    np.testing.assert_allclose(np.column_stack([before - found[:, 0], found[:, 2]]), expected, atol=1e-9)
    np.testing.assert_allclose(earlier.confidences(belief.expected), reader.surest(expected), atol=1e-9)


@pytest.mark.parametrize(
    "version",
    [
        told(ALL, COUNTS // 2, lost=True),
        told(ALL, COUNTS // 2)._replace(people=np.array([30, 30, 30]), totals=np.tile([80, 10], (3, 1))),
    ],
    ids=["people who are elsewhere now", "numbers that no people have"],
)
def test_where_people_of_before_are_lost_nothing_is_told(version: ToldBefore) -> None:
    people = Ceilings.of(COUNTS.sum(axis=1), 0.8)
    assert solve_group(COUNTS, people).told  # type: ignore[union-attr]
    cell = solve_group(COUNTS, people, versions=[version])
    assert cell is not None
    assert cell.stopped_by_earlier
    assert not cell.told
    assert not may_be_told_anew(COUNTS, people, [version])


def test_what_is_too_much_to_count_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ceilings, version = Ceilings.of(COUNTS.sum(axis=1), 0.8), told(ALL, COUNTS - 1)
    fewer = (COUNTS - 2).sum(axis=1)
    for most, is_told in (two_versions.MOST_SUMS, True), (54 * 7 * 9, False):
        monkeypatch.setattr(two_versions, "MOST_SUMS", most)
        cell = solve_group(COUNTS, ceilings, versions=[version])
        assert cell is not None
        assert cell.told == is_told
        assert may_be_told_anew(COUNTS, ceilings, [version]), "people only joined"
        assert may_be_told_anew(COUNTS - 2, Ceilings.of(fewer, 0.8), [version]) == is_told


def test_changed_groups_of_three_outcomes_are_not_told() -> None:
    counts = np.array([[16, 2, 6], [9, 11, 6], [3, 17, 6]])
    ceilings = Ceilings.of(counts.sum(axis=1), 0.8)
    assert solve_group(counts, ceilings).told  # type: ignore[union-attr]
    cell = solve_group(counts, ceilings, versions=[told(np.tile([0.0, 1.0], (3, 3, 1)), counts - 1)])
    assert cell is not None
    assert cell.stopped_by_earlier
    assert not cell.told
    nothing = np.tile([0.0, 1.0], (3, 3, 1))
    assert may_be_told_anew(counts, ceilings, [told(nothing, counts - 1)]), "people only joined"
    assert not may_be_told_anew(counts, ceilings, [told(nothing, counts + 1)])
