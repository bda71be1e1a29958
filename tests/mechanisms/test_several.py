"""Several outcomes and protected sets: reference values, programmes, and closed forms where there are some."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.confidence import maximum_confidence, privacy_limit
from atr.core.fidelity import Alpha, Delta, Ranges
from atr.core.groups import Groups
from atr.errors import RefusedError
from atr.mechanisms.optimal import least_distorted, optimal_privacy, solve
from atr.mechanisms.optimal.several import nearest, optimal
from tests.helpers.drawn import RATES, Oracle, fidelities, nested_sets, several
from tests.helpers.paths import TESTS

VECTORS = json.loads((TESTS / "vectors" / "optimal_privacy.json").read_text())
COLUMNS = {"free": "beta_star", "exact": "beta_star_exact_rates"}

card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])


def values_of(sensitive):
    """Every value of every sensitive attribute as a set of regions."""
    columns = np.array(sensitive).T
    return [np.flatnonzero(column == value).tolist() for column in columns for value in np.unique(column)]


def conditional(groups, mapping, i, named):
    """Confidence in a group's named set after the named outcome, or after any where nobody gets that one."""
    cells = np.arange(groups.offsets[i], groups.offsets[i + 1])
    people = groups.population[cells, None] * mapping[cells]
    members, factor = [named[0]], 1.0
    if groups.sets is not None:
        members = nested_sets(groups)[i][named[0]]
        factor = groups.sets.factors[groups.sets.group_offsets[i] + named[0]]
    total = people.sum(axis=0)
    outcomes = [named[1]] if total[named[1]] > 0 else np.flatnonzero(total)
    return max(people[members].sum(axis=0)[outcomes] / total[outcomes]) / factor


@pytest.mark.parametrize("kind", ["multi_outcome", "several_sensitive"])
@pytest.mark.parametrize("rates", RATES)
def test_reference_values(kind, rates):
    for vector in VECTORS[kind]:
        p = np.array(vector["population"])
        if kind == "multi_outcome":
            group = Groups(p, np.array(vector["outcome_counts"]) / p[:, None], [0, len(p)])
        else:
            group = Groups(p, np.array(vector["positives"]) / p, [0, len(p)], [values_of(vector["sensitive"])])
        fidelity = {"delta": Delta, "alpha": Alpha}[vector["fidelity"]](vector["level"])
        solution = solve(group, fidelity=fidelity, group_rates=rates)
        assert solution.beta.item() == pytest.approx(vector[COLUMNS[rates]], abs=1e-6)
        assert maximum_confidence(group, solution.announced).item() <= solution.beta.item() + 1e-9


@given(several(most=4, outcomes=(2,), sets=(False,)), fidelities(), st.sampled_from(RATES))
def test_binary_groups_have_the_closed_forms_optimum(groups, fidelity, rates):
    closed = optimal_privacy(groups, fidelity=fidelity, group_rates=rates)
    beta, _ = optimal(groups, *fidelity.allowed(groups.decision), exact=rates == "exact")
    assert beta == pytest.approx(closed.beta, abs=1e-6)
    target = closed.beta + 1e-9
    x = least_distorted(groups, beta=target, fidelity=fidelity, group_rates=rates)[:, 0]
    X, missed = nearest(groups, *fidelity.allowed(groups.decision), target, exact=rates == "exact")
    assert not missed.any()
    p, d = groups.population, groups.decision[:, 0]
    distortion = groups.sums(p * np.abs(X[:, 0] - d)) / groups.sums(p)
    # Where β is just attained, a rounding error of it may move a tight mapping by more than that.
    assert (distortion <= groups.sums(p * np.abs(x - d)) / groups.sums(p) + 1e-5).all()


@given(several(most=3, outcomes=(2,), sets=(False,)), fidelities(), st.sampled_from(RATES), st.data())
def test_sets_that_part_a_group_have_the_closed_forms_optimum(groups, fidelity, rates, data):
    nested = []
    for size in groups.sizes.tolist():
        label = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        nested.append([np.flatnonzero(np.array(label) == v).tolist() for v in sorted(set(label))])
    parted = Groups(groups.population, groups.decision, groups.offsets, nested)
    found = optimal_privacy(parted, fidelity=fidelity, group_rates=rates)
    beta, _ = optimal(parted, *fidelity.allowed(groups.decision), exact=rates == "exact")
    assert found.beta == pytest.approx(beta, abs=1e-6)
    assert found.limits[:, 0] == pytest.approx(privacy_limit(parted))
    assert found.limits[:, 1] == pytest.approx(maximum_confidence(parted, parted.decision))


@given(several(), fidelities(), st.sampled_from(RATES))
def test_programmes_have_solutions_from_the_optimum_on(groups, fidelity, rates):
    beta = optimal_privacy(groups, fidelity=fidelity, group_rates=rates).beta.item()
    oracle, exact = Oracle(groups, fidelity), rates == "exact"
    assert oracle.excess(beta + 1e-7, exact=exact) <= 1e-9
    low, high = 0.0, beta + 1e-7
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if oracle.excess(middle, exact=exact) <= 1e-11 else (middle, high)
    # An outcome that few get, e of all, tells of a wrong β by only e times the error.
    assert beta - high <= 1e-6 + 1e-8 / max(oracle.totals[oracle.totals > 0].min() * 0.05, 1e-6)


@given(several(), fidelities(), st.floats(0, 1), st.sampled_from(RATES))
def test_announcements_are_allowed_and_least_distorted(groups, fidelity, slack, rates):
    best = optimal_privacy(groups, fidelity=fidelity, group_rates=rates)
    beta = best.beta.item() + slack**3 * (best.limits[0, 1] - best.beta.item())
    X = least_distorted(groups, beta=beta, fidelity=fidelity, group_rates=rates)
    lower, upper = fidelity.allowed(groups.decision)
    assert np.clip(X, lower, upper) == pytest.approx(X, abs=1e-9)
    assert X.sum(axis=1) == pytest.approx(np.ones(len(X)), abs=1e-12)
    assert maximum_confidence(groups, X).item() <= beta + 1e-8
    oracle = Oracle(groups, fidelity)
    if rates == "exact":
        assert oracle.p @ X == pytest.approx(oracle.totals, abs=1e-9)
    if best.limits[0, 1] <= beta:
        assert groups.decision == pytest.approx(X, abs=1e-15)
    distortion = oracle.p @ np.abs(X - groups.decision).sum(axis=1) / 2
    least = oracle.distortion(beta - 1e-7, exact=rates == "exact")
    if least is not None:
        assert distortion <= least + 1e-6


@given(several(most=3), fidelities(), st.sampled_from(RATES))
def test_what_binds_has_confidence_beta(groups, fidelity, rates):
    beta, binding = optimal(groups, *fidelity.allowed(groups.decision), exact=rates == "exact")
    X = least_distorted(groups, beta=beta + 1e-9, fidelity=fidelity, group_rates=rates)
    assert binding.shape == (len(groups), 2)
    above = np.flatnonzero(beta > privacy_limit(groups) + 1e-9)
    for i, named in zip(above.tolist(), binding[above].tolist(), strict=True):
        assert conditional(groups, X, i, named) == pytest.approx(beta[i], abs=1e-6)


@given(several(most=5), fidelities(), st.sampled_from(RATES), st.randoms(use_true_random=False))
def test_neither_batch_nor_order_changes_a_result(groups, fidelity, rates, random):
    together = optimal_privacy(groups, fidelity=fidelity, group_rates=rates)
    target = together.beta + 0.1 * (together.limits[:, 1] - together.beta)
    x = least_distorted(groups, beta=target, fidelity=fidelity, group_rates=rates)
    for i in range(len(groups)):
        rows = list(range(int(groups.sizes[i])))
        random.shuffle(rows)
        cells = np.array(rows) + groups.offsets[i]
        nested = None if groups.sets is None else [[[rows.index(k) for k in one] for one in nested_sets(groups)[i]]]
        own = None
        if groups.sets is not None:
            own = [groups.sets.factors[groups.sets.group_offsets[i] : groups.sets.group_offsets[i + 1]].tolist()]
        alone = Groups(groups.population[cells], groups.decision[cells], [0, len(cells)], nested, own)
        single = optimal_privacy(alone, fidelity=fidelity, group_rates=rates)
        assert single.beta.item() == pytest.approx(together.beta[i], abs=1e-9)
        y = least_distorted(alone, beta=target[i], fidelity=fidelity, group_rates=rates)
        assert y == pytest.approx(x[cells], abs=1e-8)


def test_the_most_even_of_equally_near_announcements():
    D = [[0.9, 0.1, 0], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]]
    x = least_distorted(Groups([10, 10, 10], D, [0, 3]), beta=0.6, fidelity=Delta(0.5))
    assert x[0] == pytest.approx([0.78, 0.16, 0.06], abs=1e-9)
    assert x[1] == pytest.approx(x[2], abs=1e-9)


def test_an_outcome_may_be_emptied_where_less_does_not_help():
    D = np.array([[0.4, 0.6, 0], [0.6, 0.4, 0], [0.4, 0.5, 0.1]])
    upper = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0.1]])
    ranges = Ranges(np.zeros((3, 3)), upper)
    solution = solve(Groups([1, 1, 1], D, [0, 3]), fidelity=ranges, group_rates="free")
    assert solution.beta.item() == pytest.approx(1 / 3)
    assert solution.announced[:, 2].tolist() == [0, 0, 0]
    assert solve(Groups([1, 1, 1], D, [0, 3]), fidelity=ranges, group_rates="exact").beta.item() == 1


def test_one_set_of_almost_everybody_cannot_be_hidden():
    groups = Groups([12, 5, 3], [0, 0, 1], [0, 3], protected_sets=[[[0, 1]]])
    for rates in RATES:
        solution = solve(groups, fidelity=Delta(0.9), group_rates=rates)
        assert solution.beta.item() >= 17 / 20


def test_a_factor_moves_the_ceiling_of_its_set():
    for rates in RATES:
        plain = optimal_privacy(card, fidelity=Delta(0.9), group_rates=rates)
        halves = Groups(card.population, card.decision, card.offsets, [[[0], [1], [2]]] * 2, [[0.5] * 3, [1.0] * 3])
        found = optimal_privacy(halves, fidelity=Delta(0.9), group_rates=rates)
        assert found.beta == pytest.approx(plain.beta * [2, 1], abs=1e-9)
        assert found.limits == pytest.approx(plain.limits * [[2], [1]])


def test_a_confidence_nobody_can_keep_is_refused():
    groups = Groups([10, 10], [[1, 0, 0], [0, 0.5, 0.5]], [0, 2])
    with pytest.raises(RefusedError) as refusal:
        least_distorted(groups, beta=0.6, fidelity=Delta(0.9))
    assert refusal.value.private == "Groups that bind: 0."
    with pytest.raises(RefusedError):
        solve(groups, fidelity=Delta(0.9), objective="fidelity", max_confidence=0.6)


def test_the_fidelity_objective_works_with_several_outcomes():
    groups = Groups([10, 10], [[1, 0, 0], [0, 0.5, 0.5]], [0, 2])
    solution = solve(groups, fidelity=Delta(0), objective="fidelity", max_confidence=0.75, group_rates="free")
    assert maximum_confidence(groups, solution.announced).item() <= 0.75 + 1e-9
    stricter = Delta(solution.fidelity.level + 0.05)
    assert optimal_privacy(groups, fidelity=stricter, group_rates="free").overall > 0.75
