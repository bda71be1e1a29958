"""The printed numbers of several outcomes, or protected sets, keep what was promised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.confidence import exact_confidence
from atr.core.fidelity import Alpha, Delta
from atr.core.groups import Groups
from atr.core.protected import ProtectedSets
from atr.errors import RefusedError
from atr.mechanisms.optimal import least_distorted, optimal_privacy, round_announcement, solve
from atr.mechanisms.optimal.integer_programmes import Group, settled
from tests.helpers.drawn import RATES, several, to_fives


@given(
    several(most=3, outcomes=(2, 3, 4)),
    st.sampled_from([Delta(0.9), Delta(0.8), Delta(0.9996), Delta(1), Alpha(0.8)]),
    st.sampled_from(RATES),
    st.sampled_from([1, 2, 3]),
    st.floats(0, 0.2),
)
def test_promises_survive_rounding(groups, fidelity, rates, digits, slack):
    best = optimal_privacy(groups, fidelity=fidelity, group_rates=rates, digits=digits)
    beta = best.overall
    ceiling = round(beta + slack, 4)
    if ceiling < beta:
        return
    x = least_distorted(groups, beta=beta, fidelity=fidelity, group_rates=rates, digits=digits)
    published = to_fives(groups.population)
    options = {"fidelity": fidelity, "digits": digits, "beta": beta, "group_rates": rates}
    try:
        grid = round_announcement(groups, x, ceiling=ceiling, published_population=published, **options)
    except RefusedError:
        return
    assert grid.shape == x.shape
    X = grid
    assert (X.sum(axis=1) == 10**digits).all()
    lo, hi = fidelity.allowed_on_grid(groups.decision, digits=digits)
    assert (lo <= X).all()
    assert (hi >= X).all()
    for population in (groups.population.astype(np.int64), published):
        stated = exact_confidence(population, X, digits=digits, offsets=groups.offsets, sets=groups.sets)
        assert max(stated) <= Fraction(str(ceiling))
    if rates == "exact":
        error = groups.sums(groups.population[:, None] * (X / 10**digits - groups.decision))
        step = 10.0**-digits * groups.sums(groups.population)
        assert (np.abs(error) <= step[:, None] * (1 + 1e-6)).all()
    again = round_announcement(groups, x, ceiling=ceiling, published_population=published, **options)
    assert again.tolist() == grid.tolist()


@given(several(most=4, outcomes=(3,), sets=(False,)), st.sampled_from(RATES), st.randoms(use_true_random=False))
def test_neither_batch_nor_order_changes_a_number(groups, rates, random):
    options = {"fidelity": Delta(0.9), "digits": 3, "group_rates": rates}
    best = optimal_privacy(groups, **options)

    def rounded(part, beta):
        x = least_distorted(part, beta=beta, **options)
        return round_announcement(
            part, x, beta=beta, ceiling=1.0, published_population=to_fives(part.population), **options
        )

    together = rounded(groups, best.beta)
    for i in range(len(groups)):
        cells = list(range(groups.offsets[i], groups.offsets[i + 1]))
        random.shuffle(cells)
        alone = Groups(groups.population[cells], groups.decision[cells], [0, len(cells)])

        def as_told(values, cells=cells):
            rows = zip(groups.population[cells], groups.decision[cells].tolist(), values.tolist(), strict=True)
            return sorted(rows)

        assert as_told(rounded(alone, best.beta[i])) == as_told(together[cells])


def test_perturbed_groups_keep_the_optimum_rounded_up():
    rng = np.random.default_rng(5)
    p = rng.integers(40, 900, 200)
    D = np.array([rng.multinomial(people, rng.dirichlet([0.4] * 3)) for people in p]) / p[:, None]
    groups = Groups(p, D, np.arange(0, 201, 5))
    for rates in RATES:
        options = {"fidelity": Delta(0.9), "digits": 3, "group_rates": rates}
        best = optimal_privacy(groups, **options)
        x = least_distorted(groups, beta=best.beta, **options)
        grid = round_announcement(groups, x, beta=best.beta, ceiling=1.0, published_population=p, **options)
        stated = exact_confidence(p, grid, digits=3, offsets=groups.offsets)
        wanted = [Fraction(int(np.ceil(beta * 1000 - 1e-6)), 1000) for beta in best.beta]
        kept = [told <= level for told, level in zip(stated, wanted, strict=True)]
        assert np.mean(kept) > 0.95
        assert np.abs(grid / 1000 - x).max() < 0.01
        error = groups.sums(p[:, None] * (grid / 1000 - D)) / groups.sums(p)[:, None]
        assert rates == "free" or np.abs(error).max() <= 0.0005 * (1 + 1e-6)


def test_rates_are_kept_to_a_grid_step_at_least():
    D = [[1 / 26, 14 / 26, 11 / 26]]
    grid = round_announcement(
        Groups([26], D, [0, 1]), D, fidelity=Delta(0.9), digits=3, beta=1.0, ceiling=1.0, published_population=[25]
    )
    assert grid.tolist() in ([[39, 538, 423]], [[38, 539, 423]])


def test_groups_without_protection_are_rounded_to_nearest():
    groups = Groups([30, 30, 40], [[1 / 3, 1 / 3, 1 / 3], [0.1234, 0.4321, 0.4445], [0.5, 0.3, 0.2]], [0, 3])
    solution = solve(groups, fidelity=Delta(0.9), objective="fidelity", max_confidence=0.9, digits=3)
    grid = round_announcement(
        groups,
        solution.announced,
        fidelity=Delta(0.9),
        digits=3,
        beta=0.9,
        ceiling=0.9,
        published_population=[30, 30, 40],
    )
    assert grid.tolist() == [[334, 333, 333], [123, 432, 445], [500, 300, 200]]


def test_what_published_populations_make_impossible_is_refused():
    groups = Groups([9, 12], [[3 / 9, 6 / 9, 0], [0, 1, 0]], [0, 2])
    solution = solve(groups, fidelity=Delta(0.9), group_rates="free", digits=3)
    with pytest.raises(RefusedError) as refusal:
        round_announcement(
            groups, solution.announced, fidelity=Delta(0.9), digits=3, beta=solution.target,
            ceiling=round(solution.target, 4), published_population=[30, 5], group_rates="free",
        )  # fmt: skip
    assert refusal.value.private == "Groups that bind: 0."


def test_an_announcement_of_another_shape_is_refused():
    groups = Groups([9, 12], [[0.5, 0.5, 0], [0, 1, 0]], [0, 2])
    with pytest.raises(ValueError, match="shape"):
        round_announcement(
            groups, np.zeros((2, 2)), fidelity=Delta(0.9), digits=3, beta=1.0, ceiling=1.0, published_population=[9, 12]
        )


def test_a_group_far_from_its_target_is_settled_soon() -> None:
    """Where each number might lie anywhere between its limits, HiGHS would be at these 245 people for minutes."""
    target = [[72184.787102, 21393.939138, 6421.27376], [67439.02439, 23828.453776, 8732.521834],
              [37439.02439, 40919.362867, 21641.612743], [37627.220717, 51891.05814, 10481.721144],
              [82932.098765, 3842.277652, 13225.623583]]  # fmt: skip
    lo = [[8475, 848, 678], [8000, 1091, 910], [5000, 2800, 2200], [1220, 7805, 976], [5750, 3000, 1250]]
    hi = [[100000, 84745, 67796], [100000, 100000, 90909], [100000] * 3, [100000, 100000, 97560], [100000] * 3]
    sets = ProtectedSets.of([[[1, 3], [0, 4], [2], [0, 1, 2], [3, 4]]], [0, 5])
    group = Group(
        p=np.array([59, 55, 50, 41, 40]),
        q=np.array([60, 55, 50, 40, 40]),
        target=np.array(target),
        lo=np.array(lo),
        hi=np.array(hi),
        sets=sets,
        digits=5,
        weights=np.array([59, 55, 50, 41, 40]),
        people=np.array([147.0, 69.0, 29.0]),
    )
    limits = Fraction(66939, 100_000), Fraction(67347, 100_000)
    x = settled(group, *limits, closed=False)
    assert x is not None
    assert (x.sum(axis=1) == 100_000).all()
    for people in (group.p, group.q):
        assert exact_confidence(people, x, digits=5, sets=sets)[0] <= limits[1]
    assert (np.abs(group.weights @ x - group.people * 100_000) <= group.weights.sum()).all()
