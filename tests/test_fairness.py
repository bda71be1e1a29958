"""Group fairness: known answers, edge cases of ratios, and ranges that hold for every allowed truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atr.fairness import AnnouncedCells, Comparison, compare, difference, exact_totals, rate, ratio, verdict
from atr.fidelity import Delta

INCOME = ("below 100k", "100k to 200k", "above 200k")


def _true_cells(population: list[int], decision: list[float], offsets: list[int]) -> AnnouncedCells:
    d = np.array([[x, 1 - x] for x in decision])
    people = np.array(population)
    return AnnouncedCells(people, d, 3, d, d, np.array(offsets), False, people)


def _verdict(found: Comparison) -> str | None:
    return verdict(found.measure, found.range, found.threshold)


def _compare(cells: AnnouncedCells, values: dict[str, tuple[str, ...]], **changes: object) -> list[Comparison]:
    options = {
        "protected": {"sex": "men"},
        "legitimate": ("income",),
        "outcomes": ("approved", "refused"),
        "four_fifths": 0.8,
        "parity_tolerance": 0.05,
    }
    return compare(cells, values, **(options | changes))  # type: ignore[arg-type]


def test_tables_1_and_2_of_the_paper() -> None:
    cells = _true_cells([139, 9, 2, 117, 18, 5], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    found = _compare(cells, {"sex": ("women",) * 3 + ("men",) * 3, "income": INCOME * 2})
    by = {(c.measure, c.outcome, dict(c.condition).get("income")): c for c in found}
    parity = by["statistical_parity", None, None]
    assert parity.rates == pytest.approx((2 / 150, 0.1))
    assert parity.value == pytest.approx(0.0867, abs=5e-5)
    assert _verdict(parity) == "not_met"
    conditional = [by["conditional_statistical_parity", None, income].value for income in INCOME]
    assert conditional == pytest.approx([0, 0.5, 0])
    assert by["p_percent_rule", "approved", None].value == pytest.approx((2 / 150) / 0.1)
    assert by["p_percent_rule", "refused", None].value == pytest.approx((148 / 150) / 0.9)
    assert _verdict(by["p_percent_rule", "refused", None]) is None


def test_every_pair_is_compared_and_the_reference_comes_first() -> None:
    cells = _true_cells([10, 10, 10, 10], [0.1, 0.4, 0.9, 0.9], [0, 1, 2, 3, 4])
    values = {"race": ("a", "b", "c", "unknown")}
    found = _compare(cells, values, protected={"race": None}, legitimate=())
    pairs = [c.groups for c in found if c.measure == "statistical_parity"]
    assert {frozenset(p) for p in pairs} == {frozenset(p) for p in ("ab", "ac", "bc")} | {
        frozenset((x, "unknown")) for x in "abc"
    }
    assert {c.reference for c in found} == {"c"}, "the highest rate, but never the category unknown"
    assert [p[1] for p in pairs[:3]] == ["c"] * 3


def test_ratios_without_a_base() -> None:
    cells = _true_cells([10, 10, 10], [0, 0, 0.5], [0, 1, 2, 3])
    zero, also_zero, half = (rate(cells.event(0), np.arange(3) == i) for i in range(3))
    assert ratio(zero, also_zero) == (1.0, (1.0, 1.0))
    value, inside = ratio(half, zero)
    assert math.isnan(value)
    assert inside[1] == math.inf
    assert ratio(zero, half)[0] == 0.0


@pytest.mark.parametrize(
    ("measure", "inside", "line", "expected"),
    [
        ("p_percent_rule", (0.8, 1.25), 0.8, "met"),
        ("p_percent_rule", (0.79, 0.81), 0.8, "cannot_tell"),
        ("p_percent_rule", (0.7, 0.79), 0.8, "not_met"),
        ("p_percent_rule", (1.26, 1.3), 0.8, "not_met"),
        ("p_percent_rule", (1.2, 1.3), 0.8, "cannot_tell"),
        ("p_percent_rule", (0.9, math.inf), 0.8, "cannot_tell"),
        ("statistical_parity", (0.0, 0.05), 0.05, "met"),
        ("statistical_parity", (0.04, 0.06), 0.05, "cannot_tell"),
        ("statistical_parity", (0.051, 0.06), 0.05, "not_met"),
        ("statistical_parity", (0.0, 0.05), None, None),
    ],
)
def test_verdicts(measure: str, inside: tuple[float, float], line: float | None, expected: str | None) -> None:
    assert verdict(measure, inside, line) == expected  # type: ignore[arg-type]


@st.composite
def announced(draw: st.DrawFn) -> tuple[AnnouncedCells, np.ndarray]:
    """Announced cells on a grid of 0.01 and a truth they may have come from, of two to four outcomes."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    n, outcomes = sum(sizes), draw(st.integers(2, 4))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    population = np.array(draw(st.lists(st.integers(1, 40), min_size=n, max_size=n)))
    cuts = [sorted(draw(st.integers(0, int(p))) for _ in range(outcomes - 1)) for p in population]
    counts = np.array([np.diff([0, *cut, p]) for cut, p in zip(cuts, population, strict=True)])
    truth = counts / population[:, None]
    level = draw(st.sampled_from([0.8, 0.9, 1.0]))
    exact = draw(st.booleans())
    units = np.floor(truth * 100 + 1e-9).astype(np.int64)
    for row, part in zip(units, truth * 100 - units, strict=True):
        row[np.argsort(-part, kind="stable")[: 100 - row.sum()]] += 1
    low, high = Delta(level).allowed_outcomes_on_grid(truth, digits=2)
    if not exact and outcomes == 2:
        first = [draw(st.integers(int(a), int(b))) for a, b in zip(low[:, 0], high[:, 0], strict=True)]
        units = np.array([[x, 100 - x] for x in first])
    assert ((low <= units) & (units <= high)).all()
    lower, upper = Delta(level).believed_outcomes(units / 100, digits=2)
    return AnnouncedCells(population, units / 100, 2, lower, upper, offsets, exact, population), truth


@settings(max_examples=200, deadline=None)
@given(announced(), st.data())
def test_the_true_measure_lies_in_its_range(case: tuple[AnnouncedCells, np.ndarray], data: st.DataObject) -> None:
    cells, truth = case
    n = len(truth)
    labels = np.array(data.draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n)))
    if len(set(labels)) < 2:
        labels[0] = "b" if labels[0] == "a" else "a"
    true = [np.average(truth[labels == v], axis=0, weights=cells.population[labels == v]) for v in "ab"]
    for k in range(cells.outcomes):
        a, b = (rate(cells.event(k), labels == value) for value in "ab")
        for found, value in ((a, true[0][k]), (b, true[1][k])):
            assert found.range[0] - 1e-9 <= value <= found.range[1] + 1e-9
            assert found.range[0] <= found.value <= found.range[1]
        if true[1][k] > 0:
            low, high = ratio(a, b)[1]
            assert low - 1e-9 <= true[0][k] / true[1][k] <= high + 1e-9
    a, b = ([rate(event, labels == value) for event in cells.events()] for value in "ab")
    value, (low, high) = difference(a, b)
    assert low - 1e-9 <= np.abs(true[0] - true[1]).sum() / 2 <= high + 1e-9
    if not cells.exact:
        means = [np.average(cells.chance[labels == v], axis=0, weights=cells.population[labels == v]) for v in "ab"]
        assert value == pytest.approx(np.abs(means[0] - means[1]).sum() / 2)
        spread = 2 * (cells.outcomes // 2) * float((cells.upper - cells.lower).max())
        assert max(value - low, high - value) <= spread + 1e-9, "never wider than Lemma 2"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 300), st.floats(0, 1)), min_size=1, max_size=5))
def test_exact_group_rates_leave_no_width_below_a_thousand_people(cells: list[tuple[int, float]]) -> None:
    population = np.array([p for p, _ in cells])
    if population.sum() >= 1000:
        population = np.maximum(population // 2, 1)
    positives = np.array([round(p * d) for p, (_, d) in zip(population, cells, strict=True)])
    chance = np.rint(1000 * positives / population).astype(np.int64)
    low, high = exact_totals(population, chance, np.array([0, len(population)]), digits=3)[0]
    assert low <= positives.sum() <= high
    if population.sum() < 1000:
        assert low == high == positives.sum()
