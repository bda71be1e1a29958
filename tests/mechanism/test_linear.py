"""Linear reduction: known answers, what readers can know after it, and the numbers it prints."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import random_table

from atr.fidelity import Delta
from atr.groups import Groups
from atr.mechanism import announce, optimal_privacy
from atr.mechanism.linear import believed_range, linear_reduction, smallest_safe_limit
from atr.mechanism.linear_rounding import round_linear

READERS = ("face_value", "informed")

card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
women = Groups([12, 5, 3], [0, 0, 1], [0, 3])


def with_factors(groups, sets, factors):
    """The same groups, with what the ceiling of each set is multiplied by."""
    return Groups(groups.population, groups.decision, groups.offsets, sets, factors)


def cells_of(groups, i):
    return slice(groups.offsets[i], groups.offsets[i + 1])


def sets_in(groups, i):
    size = groups.offsets[i + 1] - groups.offsets[i]
    return [[k] for k in range(size)] if groups.protected_sets is None else groups.protected_sets[i]


def confidence(groups, D, i):
    """Largest confidence in any protected set of group i."""
    p, D = groups.population[cells_of(groups, i)], D[cells_of(groups, i)]
    got = p @ D
    return max((p[V] @ D[V])[a] / got[a] for V in sets_in(groups, i) for a in range(len(got)) if got[a] > 0)


def prior(groups, i):
    p = groups.population[cells_of(groups, i)]
    return max(p[V].sum() for V in sets_in(groups, i)) / p.sum()


@st.composite
def drawn(draw, most=4, counted=False):
    """Groups of two to four outcomes, by region or by the values of two sensitive attributes."""
    outcomes = draw(st.integers(2, 4))
    shapes = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=most))
    sizes = [a * b for a, b in shapes]
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))
    p = seed.integers(1, 400, sum(sizes))
    D = seed.dirichlet(np.full(outcomes, draw(st.sampled_from([0.1, 1, 20]))), size=len(p))
    if draw(st.booleans()):
        D[:, 0] = 0
        D = np.where(D.sum(axis=1, keepdims=True) > 0, D, 1 / (outcomes - 1))
        D[:, 0] = 0
        D /= D.sum(axis=1, keepdims=True)
    if counted:
        counts = np.floor(D * p[:, None]).astype(int)
        counts[:, -1] += p - counts.sum(axis=1)
        D = counts / p[:, None]
    offsets = np.append(0, np.cumsum(sizes))
    sets = None
    if draw(st.booleans()):
        sets = []
        for a, b in shapes:
            rows = np.arange(a * b).reshape(a, b)
            sets.append([*rows.tolist(), *rows.T.tolist()])
    return Groups(p, D, offsets, sets)


def ceilings():
    return st.sampled_from([0.4, 0.5, 0.6, 0.675, 0.75, 0.8, 0.9, 0.95, 1.0])


def test_the_papers_example_at_face_value():
    solution = linear_reduction(card, max_confidence=0.675)
    assert solution.safe_limit == pytest.approx([0.15 * (0.675 - 0.15) / (0.15 * 0.85), 0.8333], abs=5e-5)
    assert solution.announced[:, 1] == pytest.approx([0.0574, 0.0574, 0.675, 0.0625, 0.4792, 0.8958], abs=5e-5)
    assert solution.r == pytest.approx([1, 1])
    assert solution.beta == pytest.approx([0.675, 0.675])
    assert solution.limits == pytest.approx(np.array([[0.6, 1], [0.45, 0.72]]))
    assert solution.pooled.all()
    assert not solution.flattened.any()


def test_the_papers_women_before_an_informed_reader():
    solution = linear_reduction(women, max_confidence=0.8, reader="informed")
    assert solution.announced[:, 1] == pytest.approx([0.0353, 0.0353, 0.8], abs=5e-5)
    assert solution.pooled.all()
    flat = linear_reduction(women, max_confidence=0.75, reader="informed")
    assert flat.flattened.all()
    assert flat.announced[:, 1].tolist() == [0.15] * 3


def test_a_bad_direction_is_not_told_from_a_good_one():
    for d in ([0, 0.5], [1 / 3, 0], [0.2, 0.2], [0.25, 0.125]):
        group = Groups([0.6, 0.4], d, [0, 2])
        solution = linear_reduction(group, max_confidence=0.75, reader="informed")
        assert solution.flattened.all()
        assert solution.announced[:, 1] == pytest.approx([0.2, 0.2], abs=1e-12)


def test_what_populations_alone_give_away_is_not_added_to():
    for reader in READERS:
        solution = linear_reduction(card, max_confidence=0.5, reader=reader)
        assert solution.flattened[0]
        assert solution.beta[0] == pytest.approx(0.6)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("d", [[0, 0, 0], [1, 1, 1], [0.1, 0.1, 0.1]])
def test_a_constant_rule_is_announced(reader, d):
    solution = linear_reduction(Groups([7, 11, 3], d, [0, 3]), max_confidence=0.9, reader=reader)
    assert solution.announced[:, 1] == pytest.approx(d, abs=1e-12)
    assert solution.r.tolist() == [0]


def test_a_ceiling_is_a_probability():
    for ceiling in (0.0, 1.1, float("nan")):
        with pytest.raises(ValueError, match="max_confidence"):
            linear_reduction(women, max_confidence=ceiling)


@settings(deadline=None, max_examples=60)
@given(drawn(most=2, counted=True), st.sampled_from(READERS), st.sampled_from([0.8, 1.2]))
def test_a_set_may_have_a_ceiling_of_its_own(groups, reader, factor):
    """All factors alike are the ceiling times the factor; one set's own binds it alone."""
    sets = [sets_in(groups, i) for i in range(len(groups.offsets) - 1)]
    groups = Groups(groups.population, groups.decision, groups.offsets, sets)
    p, published = groups.population, np.maximum(np.rint(groups.population / 5) * 5, 5)
    alike = [[factor] * len(of_group) for of_group in sets]
    same = linear_reduction(groups, max_confidence=0.75 * factor, reader=reader)
    told = linear_reduction(with_factors(groups, sets, alike), max_confidence=0.75, reader=reader)
    assert told.announced == pytest.approx(same.announced, abs=1e-12)
    assert told.flattened.tolist() == same.flattened.tolist()
    assert told.beta * factor == pytest.approx(same.beta)

    own = [[factor, *[1.0] * (len(of_group) - 1)] for of_group in sets]
    factored = with_factors(groups, sets, own)
    told = linear_reduction(factored, max_confidence=0.75, reader=reader)
    grid, _ = round_linear(
        p, told.announced, groups.offsets, digits=3, ceiling=0.75,
        published_population=published, sets=factored.sets,
    )  # fmt: skip
    for i in range(len(sets)):
        cells = cells_of(groups, i)
        q = p[cells]
        for V, c in zip(sets[i], own[i], strict=True):
            if not told.flattened[i]:
                got = q @ told.announced[cells]
                assert (q[V] @ told.announced[cells][V] <= 0.75 * c * got + 1e-9 * q.sum()).all()
            if (grid[cells] != grid[cells][0]).any():
                got = q @ grid[cells]
                assert (q[V] @ grid[cells][V] <= 0.75 * c * got * (1 + 1e-12)).all()


@settings(deadline=None, max_examples=200)
@given(drawn(), ceilings(), st.sampled_from(READERS))
def test_rates_stay_and_confidence_keeps_to_the_ceiling(groups, ceiling, reader):
    solution = linear_reduction(groups, max_confidence=ceiling, reader=reader)
    x, D = solution.announced, groups.decision
    assert (x >= 0).all()
    assert x.sum(axis=1) == pytest.approx(np.ones(len(x)))
    for i in range(len(groups.offsets) - 1):
        cells = cells_of(groups, i)
        p = groups.population[cells]
        assert p @ x[cells] / p.sum() == pytest.approx(p @ D[cells] / p.sum(), abs=1e-12)
        assert solution.limits[i] == pytest.approx([prior(groups, i), confidence(groups, D, i)])
        assert solution.beta[i] == pytest.approx(confidence(groups, x, i), abs=1e-9)
        assert solution.beta[i] <= max(ceiling, prior(groups, i)) + 1e-9
        if reader == "face_value" and prior(groups, i) <= ceiling:
            if solution.limits[i, 1] <= ceiling:
                assert x[cells] == pytest.approx(D[cells], abs=1e-9)
            else:
                assert solution.beta[i] == pytest.approx(ceiling)
        if not (solution.pooled[i] or solution.flattened[i] or solution.r[i] == 0):
            assert x[cells].tolist() == D[cells].tolist()


@settings(deadline=None, max_examples=60)
@given(drawn(most=1), ceilings())
def test_the_smallest_safe_limit_is_the_worst_direction(groups, ceiling):
    """Each outcome and set is made as surprising as the group's rates allow, by a linear programme."""
    p, D = groups.population / groups.population.sum(), groups.decision
    m, k = D.shape
    rate = p @ D
    # A rarer outcome is lost in the programme's tolerance.
    assume(((rate == 0) | (rate > 1e-3)).all())
    bound = smallest_safe_limit(groups, rate[None], max_confidence=ceiling).item()
    margins = np.vstack([np.kron(np.eye(m), np.ones(k)), np.kron(p, np.eye(k))])
    worst = [1.0]
    for V in sets_in(groups, 0):
        for a in range(k):
            gain = np.zeros((m, k))
            gain[V, a] = p[V]
            result = linprog(-gain.ravel(), A_eq=margins, b_eq=np.append(np.ones(m), rate), bounds=(0, 1))
            assert result.status == 0
            found = np.clip(result.x.reshape(m, k), 0, 1)
            found /= found.sum(axis=1, keepdims=True)
            lift = p[V] @ found[V, a] - p[V].sum() * rate[a]
            if lift > 1e-9:
                worst.append(rate[a] * (ceiling - p[V].sum()) / lift)
                extreme = linear_reduction(Groups(p, found, [0, m], groups.protected_sets), max_confidence=ceiling)
                if prior(groups, 0) < ceiling:
                    assert extreme.safe_limit.item() >= bound - 1e-6
                    assert extreme.r.item() == pytest.approx(1, abs=1e-6)
    assert bound == pytest.approx(min(worst), abs=1e-6)
    if prior(groups, 0) < ceiling:
        assert linear_reduction(groups, max_confidence=ceiling).safe_limit.item() >= bound - 1e-9


@settings(deadline=None, max_examples=60)
@given(drawn(most=1, counted=True), ceilings(), st.integers(0, 2**32 - 1))
def test_whether_a_group_is_flattened_does_not_depend_on_its_rules(groups, ceiling, seed):
    assume(len(groups.population) > 1)
    p = groups.population.astype(int)
    counts = np.rint(groups.decision.T @ groups.population).astype(int)
    tables = random_table(p, counts, seed=seed).rvs(size=8)
    for reader in READERS:
        told = {
            linear_reduction(
                Groups(p, table / p[:, None], groups.offsets, groups.protected_sets),
                max_confidence=ceiling,
                reader=reader,
            ).flattened.item()
            for table in tables
        }
        assert len(told) == 1


@settings(deadline=None, max_examples=100)
@given(drawn(counted=True), ceilings(), st.sampled_from(READERS), st.sampled_from([2, 3]))
def test_rules_that_are_pooled_print_the_same_numbers(groups, ceiling, reader, digits):
    solution = linear_reduction(groups, max_confidence=ceiling, reader=reader)
    p, starts, region = (
        groups.population,
        groups.offsets[:-1],
        np.repeat(np.arange(len(groups.offsets) - 1), np.diff(groups.offsets)),
    )
    rate = (np.add.reduceat(p[:, None] * groups.decision, starts) / np.add.reduceat(p, starts)[:, None])[region]
    least = solution.safe_limit if reader == "face_value" else np.maximum(0, 2 * solution.safe_limit - 1)
    published = np.maximum(np.rint(p / 5) * 5, 5)
    told = []
    for part in (0.01, 0.37, 0.5, 0.99, 1.0):
        r = least + part * (1 - least)
        factor = np.where(solution.pooled, r / np.where(solution.r > 0, solution.r, 1), 1)[region, None]
        D = np.clip(rate + factor * (groups.decision - rate), 0, 1)
        other = Groups(p, D / D.sum(axis=1, keepdims=True), groups.offsets, groups.protected_sets)
        again = linear_reduction(other, max_confidence=ceiling, reader=reader)
        assert again.flattened.tolist() == solution.flattened.tolist()
        assert again.pooled.tolist() == solution.pooled.tolist()
        grid, moved = round_linear(
            p, again.announced, groups.offsets, digits=digits, ceiling=ceiling,
            published_population=published, sets=groups.sets,
        )  # fmt: skip
        told.append(grid.tobytes() + moved.tobytes())
    assert len(set(told)) == 1


@settings(deadline=None, max_examples=150)
@given(drawn(counted=True), ceilings(), st.sampled_from(READERS), st.sampled_from([2, 3]))
def test_promises_survive_rounding(groups, ceiling, reader, digits):
    p, D, offsets = groups.population, groups.decision, groups.offsets
    solution = linear_reduction(groups, max_confidence=ceiling, reader=reader)
    published = np.maximum(np.rint(p / 5) * 5, 5)
    grid, moved = round_linear(
        p, solution.announced, offsets, digits=digits, ceiling=ceiling,
        published_population=published, sets=groups.sets,
    )  # fmt: skip
    scale = 10**digits
    assert (grid >= 0).all()
    assert (grid.sum(axis=1) == scale).all()
    off = np.abs(grid / scale - solution.announced).max(axis=1)
    region = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    assert (off[~moved[region]] < 1 / scale * (1 if D.shape[1] > 2 else 0.5 + 1e-5)).all()
    for i in range(len(offsets) - 1):
        cells = cells_of(groups, i)
        uneven = (grid[cells] != grid[cells][0]).any()
        for people in (p[cells].astype(int), published[cells].astype(int)):
            for a in range(D.shape[1]):
                total = int(people @ grid[cells, a])
                for V in sets_in(groups, i):
                    if total and uneven:
                        assert Fraction(int(people[V] @ grid[cells][V, a]), total) <= Fraction(str(ceiling))
        error = np.abs(p[cells] @ (grid[cells] / scale - D[cells])) / p[cells].sum()
        assert (error < 1 / scale).all()

    for x, slack, wide in (
        (solution.announced, 0.0, solution.pooled),
        (grid / scale, 1 / scale, solution.pooled | moved),
    ):
        options = {"pooled": wide, "flattened": solution.flattened, "reader": reader, "slack": slack}
        lower, upper = believed_range(p, x, offsets, **options)
        assert (lower - 1e-9 <= D).all()
        assert (upper + 1e-9 >= D).all()
        known = np.add.reduceat(p[:, None] * D, offsets[:-1]) / np.add.reduceat(p, offsets[:-1])[:, None]
        tighter = believed_range(p, x, offsets, rate=known, **options)
        assert (tighter[0] - 1e-9 <= D).all()
        assert (tighter[1] + 1e-9 >= D).all()


def test_printed_numbers_of_many_groups_are_those_of_each():
    rng = np.random.default_rng(11)
    sizes = rng.integers(1, 12, 200)
    offsets = np.append(0, np.cumsum(sizes))
    p = rng.integers(1, 500, offsets[-1])
    d = np.round(rng.random(len(p)) ** 3 * p) / p
    groups = Groups(p, d, offsets)
    for reader in READERS:
        together = linear_reduction(groups, max_confidence=0.75, reader=reader)
        options = {"digits": 3, "ceiling": 0.75}
        grid, moved = round_linear(p, together.announced, offsets, published_population=p, **options)
        for i in range(len(groups)):
            cells = cells_of(groups, i)
            alone = linear_reduction(Groups(p[cells], d[cells], [0, sizes[i]]), max_confidence=0.75, reader=reader)
            assert alone.announced.tolist() == together.announced[cells].tolist()
            assert alone.flattened.item() == together.flattened[i]
            single, shrunk = round_linear(
                p[cells], alone.announced, [0, sizes[i]], published_population=p[cells], **options
            )
            assert single.tolist() == grid[cells].tolist()
            assert shrunk.item() == moved[i]


def _extreme(p, d):
    """The most extreme rule in the direction of d."""
    rate = p @ d / p.sum()
    return rate + (d - rate) / max((1 - d / rate).max(), (1 - (1 - d) / (1 - rate)).max())


@pytest.mark.parametrize(
    ("p", "d", "ceiling"),
    [
        ([12, 5, 3], [0, 0, 1], 0.8),
        ([9, 7, 4], [0.7, 0.05, 0.2125], 0.75),
        ([9, 7, 4], [7.5 / 9, 0, 0], 0.75),
        ([30, 25, 20, 25], [0.9, 0.2, 0.1, 0.05], 0.7),
    ],
)
def test_an_informed_reader_gets_as_sure_as_promised_and_no_surer(p, d, ceiling):
    """Many rules along one direction, equally likely; one person and decision of each; seen are the printed numbers."""
    rng = np.random.default_rng(2021)
    p, m = np.array(p), len(p)
    rate, extreme = p @ d / p.sum(), _extreme(p, np.array(d))
    r = rng.random(200_000)
    rules = rate + r[:, None] * (extreme - rate)
    groups = Groups(np.tile(p, len(r)), np.clip(rules, 0, 1).ravel(), np.arange(len(r) + 1) * m)
    solution = linear_reduction(groups, max_confidence=ceiling, reader="informed")
    assert not solution.flattened.any()
    grid, _ = round_linear(
        groups.population, solution.announced, groups.offsets, digits=3, ceiling=ceiling,
        published_population=groups.population,
    )  # fmt: skip
    pooled = solution.pooled
    assert pooled.mean() == pytest.approx(2 - 2 * solution.safe_limit[0], abs=0.005)
    assert len(np.unique(grid[:, 1].reshape(-1, m)[pooled], axis=0)) == 1

    people = rng.choice(m, p=p / p.sum(), size=len(r))
    outcome = rng.random(len(r)) < rules[np.arange(len(r)), people]
    sure, noise = 0.0, 0.0
    for got in (outcome, ~outcome):
        seen = np.bincount(people[pooled & got], minlength=m)
        if seen.max() / seen.sum() > sure:
            sure, noise = seen.max() / seen.sum(), 4 * np.sqrt(ceiling * (1 - ceiling) / seen.sum())
    assert sure == pytest.approx(ceiling, abs=noise)
    assert noise < 0.02
    # Whoever sees a rule announced as it is knows it, and is no surer either.
    assert solution.beta[~pooled].max() <= ceiling + 1e-9


def test_an_informed_reader_undoes_the_optimal_mechanism():
    """The same reader before the paper's women: rules (0, t, 1), every t equally likely, rates free, δ = 0.9.

    The report says 0.675; whoever knows the mechanism is 10/11 sure.
    """
    rng = np.random.default_rng(2021)
    t = rng.random(60_000)
    rules = np.column_stack([np.zeros(len(t)), t, np.ones(len(t))])
    groups = Groups(np.tile(women.population, len(t)), rules.ravel(), np.arange(len(t) + 1) * 3)
    privacy = optimal_privacy(groups, fidelity=Delta(0.9), group_rates="free")
    # Each rule is held to its own optimum: a report on this group alone.
    x = announce(groups, beta=privacy.beta, fidelity=Delta(0.9), group_rates="free").reshape(-1, 3)
    alike = (np.abs(x - [0.1, 0.02, 0.9]) < 1e-9).all(axis=1)
    assert privacy.beta[alike] == pytest.approx(0.675)
    assert alike.mean() == pytest.approx(0.12, abs=0.01)
    people = rng.choice(3, p=women.population / 20, size=len(t))
    approved = alike & (rng.random(len(t)) < rules[np.arange(len(t)), people])
    noise = np.sqrt(10 / 11 * 1 / 11 / approved.sum())
    assert (people[approved] == 2).mean() == pytest.approx(10 / 11, abs=4 * noise)
    assert noise < 0.01
