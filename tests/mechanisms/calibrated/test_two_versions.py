"""Whoever has two versions of a period, exact people and rates of both, and knows who came or went in between."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.group import Cell, solve_group
from atr.mechanisms.calibrated.two_versions import EarlierVersion
from tests.helpers.calibrated_oracle import READERS
from tests.helpers.two_versions import EXACTLY, STEPS, Pair, Reader, within


def limits_of(counts: np.ndarray) -> np.ndarray:
    """(m, 2, 2) chances, by (m,) lowest and highest counts of the positive outcome in two columns."""
    return np.stack([counts, 1 - counts[:, ::-1]], axis=1)


def told(limits: np.ndarray, people: np.ndarray, positive: int) -> np.ndarray:
    """(m, 2, 4) what a version tells."""
    totals = np.array([positive, people.sum() - positive])
    shape = (len(people), 2, 1)
    rest = np.broadcast_to(people[:, None, None], shape), np.broadcast_to(totals[None, :, None], shape)
    return np.concatenate([limits, *rest], axis=2)


@st.composite
def changes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """(m, 2) people by outcome before and after."""
    people = np.array(draw(st.lists(st.integers(5, 9), min_size=3, max_size=3)))
    positive = np.array([draw(st.integers(0, n)) for n in people.tolist()])
    before = np.column_stack([positive, people - positive])
    kind = draw(st.sampled_from(["came", "went", "more", "fewer", "mixed"]))
    change = np.array([[draw(st.integers(0, 4)) for _ in range(2)] for _ in people])
    if kind in ("more", "fewer"):
        flips = np.minimum(change[:, 0], before[:, 1 if kind == "more" else 0])
        return before, before + np.column_stack([flips, -flips]) * (1 if kind == "more" else -1)
    sign = {"came": [[1], [1], [1]], "went": [[-1], [-1], [-1]], "mixed": [[1], [-1], [1]]}[kind]
    after = np.maximum(before + change * np.array(sign), 0)
    assume((after.sum(axis=1) > 0).all() and (after != before).any())
    return before, after


def second(first: Cell, before: np.ndarray, after: np.ndarray, ceiling: float) -> Cell | None:
    people = before.sum(axis=1)
    version = told(first.limits / STEPS, people, int(before[:, 0].sum()))
    return solve_group(after, Ceilings.of(after.sum(axis=1), ceiling), versions=[version])


@given(changed=changes(), ceiling=st.sampled_from([0.55, 0.6, 0.68, 0.75]))
def test_who_has_both_versions_stays_below_the_ceiling(changed: tuple[np.ndarray, np.ndarray], ceiling: float) -> None:
    before, after = changed
    first = solve_group(before, Ceilings.of(before.sum(axis=1), ceiling))
    assume(first is not None)
    assert first is not None
    cell = second(first, before, after, ceiling)
    assume(cell is not None)
    assert cell is not None
    totals = int(before[:, 0].sum()), int(after[:, 0].sum())
    of_both = first.limits[:, 0], cell.limits[:, 0]
    for name in READERS:
        reader = Reader(name, before.sum(axis=1), after.sum(axis=1), totals)
        expected = reader.expected(of_both)
        if expected is None:
            continue  # outcomes were corrected, too, which is not what he takes for granted
        sure = reader.surest(expected)
        assert sure <= cell.by_reader["earlier"] + EXACTLY
        assert sure <= ceiling + EXACTLY or (cell.stopped_by_earlier and not cell.told)


@given(changed=changes(), ceiling=st.sampled_from([0.6, 0.75]), data=st.data())
def test_every_rule_of_the_cell_is_announced_alike(
    changed: tuple[np.ndarray, np.ndarray], ceiling: float, data: st.DataObject
) -> None:
    before, after = changed
    first = solve_group(before, Ceilings.of(before.sum(axis=1), ceiling))
    cell = None if first is None else second(first, before, after, ceiling)
    assume(cell is not None)
    assert first is not None
    assert cell is not None
    people, total = after.sum(axis=1), int(after[:, 0].sum())
    inside = [[k for k in range(n + 1) if within(k, n, cell.limits[s, 0])] for s, n in enumerate(people.tolist())]
    rules = [rule for rule in product(*inside) if sum(rule) == total]
    other = np.array(data.draw(st.sampled_from(rules)))
    twin = second(first, before, np.column_stack([other, people - other]), ceiling)
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
    version = told(limits_of(limits[0] / STEPS - [[0, 1e-9]]), before, totals[0])
    earlier = EarlierVersion(version, totals[1], Ceilings.of(after, 0.9))
    counts = [[k for k in range(n + 1) if within(k, n, limits[1][s])] for s, n in enumerate(now)]
    belief = earlier.belief(name, np.array([k[0] for k in counts]), np.array([k[-1] for k in counts]))  # type: ignore[arg-type]
    expected = Reader(name, before, after, totals).expected(limits)
    assert belief is not None
    assert expected is not None
    found = belief.expected.reshape(3, 3)
    np.testing.assert_allclose(np.column_stack([before - found[:, 0], found[:, 2]]), expected, atol=1e-9)


def test_where_people_of_before_are_lost_nothing_is_told() -> None:
    people, positive = np.array([20, 20, 20]), np.array([16, 9, 3])
    counts = np.column_stack([positive, people - positive])
    assert solve_group(counts, Ceilings.of(people, 0.8)).told  # type: ignore[union-attr]
    version = told(limits_of(np.tile([0.0, 1.0], (3, 1))), np.array([10, 10, 0]), 20)
    version[..., 3] += 5  # ten were in a region that is no more
    cell = solve_group(counts, Ceilings.of(people, 0.8), versions=[version])
    assert cell is not None
    assert cell.stopped_by_earlier
    assert not cell.told
