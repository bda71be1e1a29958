"""Group fairness: known answers, edge cases of ratios, and ranges that hold for every allowed truth."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from atr.core.comparison_rows import joined
from atr.core.fidelity import Alpha, Delta
from atr.measures import MEASURES
from atr.measures.cells import Cells, possible_totals, rates_of
from atr.measures.group_fairness import (
    Comparison,
    GroupingSpec,
    counted,
    overall,
)
from atr.measures.rates import within_totals
from tests.helpers.announced_cells import announced, compared, implied_totals, of_two, two_sets, with_its_own

INCOME = ("below 100k", "100k to 200k", "above 200k")


def _true_cells(population: list[int], decision: list[float], offsets: list[int]) -> Cells:
    d = np.array([[x, 1 - x] for x in decision])
    people = np.array(population)
    return Cells(people, d, d, d, np.array(offsets), people)


def _verdict(found: Comparison) -> str | None:
    return MEASURES[found.measure].verdict(found.range, found.threshold)


def test_tables_1_and_2_of_the_paper() -> None:
    cells = _true_cells([139, 9, 2, 117, 18, 5], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    found = compared(cells, {"sex": ("women",) * 3 + ("men",) * 3, "income": INCOME * 2})
    by = {(c.measure, c.outcome, dict(c.condition).get("income")): c for c in found}
    assert all(c.by.name == "sex" for c in found)
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
    found = compared(cells, values, compared=[GroupingSpec(("race",))], legitimate=())
    pairs = [c.groups for c in found if c.measure == "statistical_parity"]
    assert {frozenset(p) for p in pairs} == {frozenset(p) for p in ("ab", "ac", "bc")} | {
        frozenset((x, "unknown")) for x in "abc"
    }
    assert {c.reference for c in found} == {"c"}, "the highest rate, but never the category unknown"
    assert [p[1] for p in pairs[:3]] == ["c"] * 3


@pytest.mark.parametrize(
    ("by", "minimum", "expected"),
    [
        (GroupingSpec(("race",)), 1, "d"),
        (GroupingSpec(("race",)), 20, "c"),
        (GroupingSpec(("race",), None, "largest"), 1, "b"),
        (GroupingSpec(("race",), "a"), 20, "a"),
        (GroupingSpec(("race",), "unknown"), 20, "c"),
        (GroupingSpec(("race",), "nobody", "largest"), 1, "b"),
        (GroupingSpec(("race",)), 1000, "d"),
    ],
)
def test_the_reference_is_named_or_chosen_and_no_tiny_group(by: GroupingSpec, minimum: int, expected: str) -> None:
    cells = _true_cells([30, 50, 40, 10, 90], [0.5, 0.2, 0.6, 0.9, 1.0], [0, 1, 2, 3, 4, 5])
    found = compared(cells, {"race": ("a", "b", "c", "d", "unknown")}, compared=[by], legitimate=(), minimum=minimum)
    assert {c.reference for c in found} == {expected}


def test_an_intersection_is_compared_as_its_pairs_would_be() -> None:
    rng = np.random.default_rng(3)
    n = 40
    offsets = np.array([0, 4, 9, 12, 20, 22, 30, 31, n])
    group = np.repeat(np.arange(8), np.diff(offsets))
    public, secret = np.array(list("aabbcaba"))[group], rng.choice(["x", "y, z", "unknown"], n)
    people, decision = rng.integers(1, 60, n), rng.random(n)
    d = np.column_stack([decision, 1 - decision])
    lower, upper = np.clip(d - 0.1, 0, 1), np.clip(d + 0.1, 0, 1)
    cells = Cells(
        people, np.round(d, 3), lower, upper, offsets, people, implied_totals(people, np.round(d, 3), offsets, 3)
    )
    income = rng.choice(INCOME, n)
    pairs = tuple(joined(pair) for pair in zip(public, secret, strict=True))
    values = {"race": tuple(public), "sex": tuple(secret), "income": tuple(income), "both": pairs}
    crossed = compared(cells, values, compared=[GroupingSpec(("race", "sex"))])
    single = compared(cells, values, compared=[GroupingSpec(("both",), crossed[0].reference)])
    assert "unknown" not in crossed[0].reference
    assert {c.by.name for c in crossed} == {"race and sex"}

    def told(found: list[Comparison]) -> dict[object, object]:
        return {
            (c.measure, frozenset(c.groups), c.condition, c.outcome): (c.people, c.value, c.range)
            for c in found
            if c.reference in c.groups
        }

    assert told(crossed).keys() == told(single).keys()
    for key, of_pair in told(single).items():
        for ours, theirs in zip(told(crossed)[key], of_pair, strict=True):
            assert ours == pytest.approx(theirs, nan_ok=True)
    assert {'a, "y, z"', "b, x"} <= {who for c in crossed for who in c.groups}


def test_parity_over_classes_is_the_worst_or_a_weighted_mean() -> None:
    cells = _true_cells([100, 300, 40, 200, 100, 10], [0.5, 0.2, 1, 0.5, 0.4, 0.5], [0, 3, 6])
    found = compared(cells, {"sex": ("women",) * 3 + ("men",) * 3, "income": INCOME * 2}, minimum=20)
    classes = [c for c in found if c.measure == "conditional_statistical_parity"]
    kept = counted(classes, minimum=20)
    assert [dict(c.condition)["income"] for c in kept] == list(INCOME[:2]), "the third has 10 men only"
    assert counted(classes, minimum=10_000) == classes
    values, ranges, people = [c.value for c in kept], [c.range for c in kept], [sum(c.people) for c in kept]
    assert overall("worst_class", values, ranges, people)[0] == pytest.approx(0.2)
    assert overall("mean_over_classes", values, ranges, people)[0] == pytest.approx((300 * 0 + 400 * 0.2) / 700)


def test_ratios_without_a_base() -> None:
    def of(one: float, other: float) -> Comparison:
        return of_two(_true_cells([10, 10], [one, other], [0, 1, 2]), ("a", "b"))[0][0]

    assert (of(0, 0).value, of(0, 0).range) == (1.0, (1.0, 1.0))
    assert math.isnan(of(0.5, 0).value)
    assert of(0.5, 0).range[1] == math.inf
    assert of(0, 0.5).value == 0.0


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
    assert MEASURES[measure].verdict(inside, line) == expected


@given(announced(), st.data())
def test_the_true_measure_lies_in_its_range(case: tuple[Cells, np.ndarray], data: st.DataObject) -> None:
    cells, truth = case
    n = len(truth)
    labels = two_sets(data, n)
    true = [np.average(truth[labels == v], axis=0, weights=cells.people[labels == v]) for v in "ab"]
    ratios, parity = of_two(cells, labels.tolist())
    for k, found in enumerate(ratios):
        if true[1][k] > 0:
            assert found.range[0] - 1e-9 <= true[0][k] / true[1][k] <= found.range[1] + 1e-9
    low, high = parity.range
    assert low - 1e-9 <= np.abs(true[0] - true[1]).sum() / 2 <= high + 1e-9
    assert low - 1e-9 <= parity.value <= high + 1e-9
    if cells.totals is None:
        means = [np.average(cells.chance[labels == v], axis=0, weights=cells.people[labels == v]) for v in "ab"]
        assert parity.value == pytest.approx(np.abs(means[0] - means[1]).sum() / 2)
        spread = 2 * (cells.outcomes // 2) * float((cells.upper - cells.lower).max())
        assert max(parity.value - low, high - parity.value) <= spread + 1e-9, "never wider than Lemma 2"


class _Mappings:
    """All allowed mappings, as a linear programme: (n, outcomes) people of each region with each outcome."""

    def __init__(self, cells: Cells) -> None:
        n, k = cells.chance.shape
        of_group = np.eye(len(cells.offsets) - 1)[np.repeat(range(len(cells.offsets) - 1), np.diff(cells.offsets))].T
        self.people, self.shape = cells.people, (n, k)
        rows, lower, upper = [np.eye(n * k)], [cells.lower * self.people[:, None]], [cells.upper * self.people[:, None]]
        if cells.totals is not None:
            rows.append(np.kron(of_group, np.eye(k)))
            low, high = np.moveaxis([cells.event(a).totals for a in range(k)], 2, 0)
            lower.append(low.T)
            upper.append(high.T)
        self.rows = np.vstack(rows)
        self.lower, self.upper = (np.concatenate([x.ravel() for x in ends]) for ends in (lower, upper))
        self.regions = np.kron(np.eye(n), np.ones(k))

    def least(self, objective: np.ndarray, *, base: np.ndarray | None = None) -> float:
        """The least value of an objective, (n, outcomes); of its quotient by a base, if there is one.

        A linear-fractional programme is linear in y = x t with base · y = 1 (Charnes and Cooper, 1962).
        """
        sums = np.vstack([np.column_stack([self.rows, -self.upper]), np.column_stack([-self.rows, self.lower])])
        t = np.append(np.zeros(objective.size), 1.0) if base is None else np.append(base, 0.0)
        equal = np.vstack([np.column_stack([self.regions, -self.people]), t])
        right = np.append(np.zeros(len(self.people)), 1.0)
        found = linprog(np.append(objective, 0.0), A_ub=sums, b_ub=np.zeros(len(sums)), A_eq=equal, b_eq=right)
        assert found.status == 0, "the true mapping is always allowed"
        return float(found.fun)

    def least_distance(self, apart: np.ndarray) -> float:
        """The least total variation distance of two sets, ½ Σ_a |Σ_x apart(x) n(x, a)|."""
        n, k = self.shape
        rates = np.kron(apart, np.eye(k))
        bounds = np.vstack([self.rows, -self.rows, rates, -rates])
        slack = np.vstack([np.zeros((2 * len(self.rows), k)), -np.eye(k), -np.eye(k)])
        found = linprog(
            np.append(np.zeros(n * k), np.full(k, 0.5)),
            A_ub=np.column_stack([bounds, slack]),
            b_ub=np.concatenate([self.upper, -self.lower, np.zeros(2 * k)]),
            A_eq=np.column_stack([self.regions, np.zeros((n, k))]),
            b_eq=self.people,
        )
        assert found.status == 0
        return float(found.fun)


@given(announced(most_outcomes=6), st.data())
def test_ranges_hold_for_all_allowed_mappings_and_no_wider(case: tuple[Cells, np.ndarray], data: st.DataObject) -> None:
    """Of two outcomes and more; also where two sets share a group, so that one has less if the other has more."""
    cells = with_its_own(case[0])
    n, k = cells.chance.shape
    labels = two_sets(data, n)
    ratios, parity = of_two(cells, labels.tolist())
    mappings = _Mappings(cells)
    one, other = (np.where(labels == v, 1 / cells.people[labels == v].sum(), 0.0) for v in "ab")
    least = mappings.least_distance(one - other)
    events = [np.isin(np.arange(k), e) for size in range(1, k) for e in combinations(range(k), size)]
    most = max(-mappings.least(np.outer(other - one, event)) for event in events)
    assert parity.range[0] <= least + 1e-7
    assert parity.range[1] >= most - 1e-7
    if k == 2 or cells.totals is None:
        assert parity.range[1] == pytest.approx(most, abs=1e-7)
    if k == 2:
        assert parity.range[0] == pytest.approx(least, abs=1e-7)
    for i, ratio in enumerate(ratios):
        of_one, of_other = (np.outer(x, np.arange(k) == i).ravel() for x in (one, other))
        if mappings.least(of_other) > 1e-3:
            ends = mappings.least(of_one, base=of_other), -mappings.least(-of_one, base=of_other)
            assert ratio.range == pytest.approx(ends, abs=1e-6, rel=1e-6)


@given(announced(), st.data())
def test_a_cell_lies_within_what_its_groups_total_leaves(case: tuple[Cells, np.ndarray], data: st.DataObject) -> None:
    cells, truth = with_its_own(case[0]), case[1]
    people = cells.people
    least, most = np.maximum(people - data.draw(st.integers(0, 4)), 1), people + data.draw(st.integers(0, 4))
    for found in (within_totals(case[0], people, people), within_totals(case[0], least, most)):
        assert ((found.lower <= truth + 1e-9) & (truth <= found.upper + 1e-9)).all()
    other = replace(case[0], people=data.draw(st.sampled_from([least, most, people[::-1].clip(least, most)])))
    assert (within_totals(other, least, most).lower == found.lower).all(), "the exact numbers of people decide nothing"
    within, mappings = within_totals(cells, people, people), _Mappings(cells)
    x = data.draw(st.integers(0, len(truth) - 1))
    for a in range(cells.outcomes):
        one = np.zeros(truth.shape)
        one[x, a] = 1 / cells.people[x]
        ends = mappings.least(one.ravel()), -mappings.least(-one.ravel())
        assert (within.lower[x, a], within.upper[x, a]) == pytest.approx(ends, abs=1e-7)


def test_relative_measures_have_no_cap_at_one() -> None:
    """[CGP] (15) caps |ε̃ − ε| at 1: with d = ½ everywhere and α = ½, (¾, ¼) is allowed, and ln 3 apart."""
    chance = np.array([[0.75, 0.25], [0.25, 0.75]])
    bounds = Alpha(0.5).believed(chance, digits=2)
    people = np.array([100, 100])
    cells = Cells(people, chance, *bounds, np.array([0, 1, 2]), people)
    (ratio, _), _ = of_two(cells, ("a", "b"))
    assert math.log(ratio.value) == pytest.approx(math.log(3))
    assert ratio.range[0] <= 1 <= ratio.range[1]


@given(st.lists(st.tuples(st.integers(1, 60), st.floats(0, 1)), min_size=2, max_size=6), st.sampled_from([0.5, 0.8]))
def test_ranges_are_never_wider_than_lemma_2(drawn: list[tuple[int, float]], level: float) -> None:
    people, true = np.array([n for n, _ in drawn]), np.array([(d, 1 - d) for _, d in drawn])
    offsets = np.array([0, 1, len(drawn)])
    digits = 4
    step = 10.0**-digits
    for kind in (Delta(level), Alpha(level)):
        _, high = kind.allowed_on_grid(np.column_stack([true, 1 - true]), digits=digits)
        chance = np.stack([high[:, 0], 10**digits - high[:, 0]], axis=1) * step
        bounds = kind.believed(chance, digits=digits)
        cells = Cells(people, chance, *bounds, offsets, people)
        (ratio, _), parity = of_two(cells, ["a", *"b" * (len(drawn) - 1)])
        value, (low, high) = parity.value, parity.range
        if isinstance(kind, Delta):
            assert max(value - low, high - value) <= min(2 * (1 - level), 1) + 4 * step
        elif min(ratio.rates) * level > 100 * step:
            value, (low, high) = ratio.value, ratio.range
            assert max(math.log(value / low), math.log(high / value)) <= -2 * math.log(level) + 0.05


@given(st.lists(st.tuples(st.integers(1, 300), st.floats(0, 1)), min_size=1, max_size=5))
def test_exact_rates_leave_one_total_below_a_thousand_people(cells: list[tuple[int, float]]) -> None:
    population = np.array([p for p, _ in cells])
    if population.sum() >= 1000:
        population = np.maximum(population // 2, 1)
    positives = np.array([round(p * d) for p, (_, d) in zip(population, cells, strict=True)])
    chance = np.rint(1000 * positives / population)[:, None] / 1000
    rates = rates_of(population, chance, np.array([0, len(population)]))
    low, high = possible_totals(population.sum(keepdims=True), rates, 0.0005)[0, 0]
    assert low <= positives.sum() <= high
    if population.sum() < 1000:
        assert low == high == positives.sum()
