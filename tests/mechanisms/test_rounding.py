"""The printed numbers keep what was promised, for the true populations and for the printed ones."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atr.core.confidence import exact_confidence, maximum_confidence, round_up
from atr.core.fidelity import Alpha, Delta
from atr.core.groups import Groups
from atr.errors import RefusedError
from atr.mechanisms.optimal import least_distorted, optimal_privacy, round_announcement, solve
from tests.helpers.drawn import to_fives
from tests.helpers.paths import TESTS

EQUAL = json.loads((TESTS / "vectors" / "equal_announcements.json").read_text())
RATES = ("exact", "free")

card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])


@st.composite
def counted(draw, most=5):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=most))
    largest = draw(st.sampled_from([12, 300, 40_000]))
    p = np.array(draw(st.lists(st.integers(1, largest), min_size=sum(sizes), max_size=sum(sizes))))
    share = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])
    d = np.array([round(draw(share) * int(people)) / int(people) for people in p])
    return Groups(p, d, np.append(0, np.cumsum(sizes)))


@given(
    counted(),
    st.sampled_from([Delta(0.9), Delta(0.8), Delta(0.99), Delta(1), Alpha(0.8)]),
    st.sampled_from(RATES),
    st.sampled_from([2, 3]),
    st.floats(0, 0.2),
)
@example(Groups([1, 18, 1, 120], [0, 0.5, 0, 0.575], [0, 4]), Delta(0.9), "exact", 2, 0.0)
def test_promises_survive_rounding(groups, fidelity, rates, digits, slack):
    best = optimal_privacy(groups, fidelity=fidelity, group_rates=rates, digits=digits)
    beta = best.overall
    ceiling = round(min(1.0, beta + slack), 4)
    if ceiling < beta:
        return
    x = least_distorted(groups, beta=beta, fidelity=fidelity, group_rates=rates, digits=digits)
    published = to_fives(groups.population)
    options = {"fidelity": fidelity, "digits": digits, "beta": beta, "group_rates": rates}
    try:
        grid = round_announcement(groups, x, ceiling=ceiling, published_population=published, **options)
    except RefusedError:
        return

    lo, hi = fidelity.allowed_on_grid(groups.decision, digits=digits)
    assert (lo <= grid).all()
    assert (grid <= hi).all()
    for population in (groups.population.astype(np.int64), published):
        assert max(exact_confidence(population, grid, digits=digits, offsets=groups.offsets)) <= Fraction(str(ceiling))
    if rates == "exact":
        error = groups.sums(groups.population * (grid[:, 0] / 10**digits - groups.decision[:, 0]))
        assert (np.abs(error) <= 0.5 * 10.0**-digits * groups.sums(groups.population) * (1 + 1e-6)).all()

    units = np.round(groups.decision[:, 0] * 10**digits, 9)  # 0.575 * 100 is half a unit above 57
    nearest = np.rint(units).astype(np.int64)
    nearest = np.column_stack([nearest, 10**digits - nearest])
    for i in np.flatnonzero(best.limits[:, 1] <= beta):
        cells = slice(groups.offsets[i], groups.offsets[i + 1])
        kept = [
            exact_confidence(population[cells], nearest[cells], digits=digits)[0] <= Fraction(str(ceiling))
            for population in (groups.population.astype(np.int64), published)
        ]
        if all(kept) and (lo[cells] <= nearest[cells]).all() and (nearest[cells] <= hi[cells]).all():
            assert grid[cells].tolist() == nearest[cells].tolist()


@given(counted(), st.sampled_from(RATES), st.randoms(use_true_random=False))
def test_neither_batch_nor_order_nor_run_changes_a_number(groups, rates, random):
    best = optimal_privacy(groups, fidelity=Delta(0.9), group_rates=rates, digits=3)
    options = {"fidelity": Delta(0.9), "digits": 3, "group_rates": rates}
    x = least_distorted(groups, beta=best.overall, **options)

    def rounded(part, cells):
        return round_announcement(
            part, x[cells], beta=best.overall, ceiling=1.0, published_population=to_fives(part.population), **options
        )

    everything = np.arange(len(x))
    together = rounded(groups, everything)
    assert rounded(groups, everything).tolist() == together.tolist()
    for i in range(len(groups)):
        cells = everything[groups.offsets[i] : groups.offsets[i + 1]].tolist()
        random.shuffle(cells)
        alone = Groups(groups.population[cells], groups.decision[cells], [0, len(cells)])

        def as_told(values, cells=cells):
            return sorted(
                zip(
                    groups.population[cells].tolist(),
                    groups.decision[cells, 0].tolist(),
                    values[:, 0].tolist(),
                    strict=True,
                )
            )

        assert as_told(rounded(alone, cells)) == as_told(together[cells])


def test_regions_alike_in_people_are_told_apart():
    p, d = np.array([4, 4, 4, 8, 1, 1]), np.array([0, 0, 0.5, 1, 0, 0])
    options = {"fidelity": Delta(0.9), "digits": 3}
    told = set()
    for order in ([0, 1, 2, 3, 4, 5], [2, 0, 1, 3, 4, 5], [5, 2, 3, 1, 4, 0]):
        group = Groups(p[order], d[order], [0, 6])
        best = optimal_privacy(group, **options)
        x = least_distorted(group, beta=best.overall, **options)
        grid = round_announcement(
            group, x, beta=best.overall, ceiling=1.0, published_population=to_fives(group.population), **options
        )
        told.add(tuple(sorted(zip(p[order].tolist(), d[order].tolist(), grid[:, 0].tolist(), strict=True))))
    assert len(told) == 1


def test_the_papers_women_are_guaranteed_no_more_than_needed():
    women = Groups([12, 5, 3], [0, 0, 1], [0, 3])
    for rates, stated in (("free", "0.675"), ("exact", "0.900")):
        solution = solve(women, fidelity=Delta(0.9), group_rates=rates, digits=3)
        grid = round_announcement(
            women, solution.announced, fidelity=Delta(0.9), digits=3, beta=solution.target,
            ceiling=0.95, published_population=[12, 5, 3], group_rates=rates,
        )  # fmt: skip
        assert str(round_up(exact_confidence([12, 5, 3], grid, digits=3)[0], digits=3)) == stated


def test_published_populations_count_too():
    p, published = np.array([17, 27, 48]), np.array([15, 25, 50])
    group = Groups(p, np.array([4, 24, 3]) / p, [0, 3])
    x = least_distorted(group, beta=0.7, fidelity=Delta(0.8), digits=3)
    nearest = np.rint(x * 1000).astype(np.int64)
    assert exact_confidence(published, nearest, digits=3)[0] > Fraction(73, 100)
    grid = round_announcement(
        group, x, fidelity=Delta(0.8), digits=3, beta=0.7, ceiling=0.7, published_population=published
    )
    assert exact_confidence(published, grid, digits=3)[0] <= Fraction(7, 10)
    assert exact_confidence(p, grid, digits=3)[0] <= Fraction(7, 10)
    assert round(p @ grid[:, 0] / 1000) == 31


def test_true_counts_can_be_recovered_from_exact_rates():
    rng = np.random.default_rng(5)
    sizes = rng.integers(3, 12, 60)
    p = rng.integers(5, 900, sizes.sum())
    groups = Groups(p, np.round(rng.random(len(p)) ** 3 * p) / p, np.append(0, np.cumsum(sizes)))
    best = optimal_privacy(groups, fidelity=Delta(0.9), digits=3)
    perturbed = best.limits[:, 1] > best.beta * (1 + 1e-9)
    assert perturbed.sum() > 20
    x = least_distorted(groups, beta=best.beta, fidelity=Delta(0.9), digits=3)
    grid = round_announcement(
        groups, x, fidelity=Delta(0.9), digits=3, beta=best.beta, ceiling=1.0, published_population=p
    )
    count = groups.sums(groups.population * groups.decision[:, 0])
    told = groups.sums(groups.population * grid[:, 0]) / 1000
    assert np.rint(told)[perturbed].tolist() == np.rint(count)[perturbed].tolist()
    stated = exact_confidence(p, grid, digits=3, offsets=groups.offsets)
    wanted = [Fraction(int(np.ceil(beta * 1000 - 1e-6)), 1000) for beta in best.beta]
    assert all(stated[i] <= wanted[i] for i in np.flatnonzero(perturbed))


def test_what_published_populations_make_impossible_is_refused():
    group = Groups([9, 12], [3 / 9, 0], [0, 2])
    solution = solve(group, fidelity=Delta(0.9), group_rates="free", digits=3)
    with pytest.raises(RefusedError) as refusal:
        round_announcement(
            group, solution.announced, fidelity=Delta(0.9), digits=3, beta=solution.target,
            ceiling=0.7, published_population=[10, 10], group_rates="free",
        )  # fmt: skip
    assert refusal.value.private == "Groups that bind: 0."
    assert not any(digit in str(refusal.value) for digit in "0123456789")


def test_shares_cannot_be_rounded():
    shares = Groups([0.5, 0.5], [0, 1], [0, 2])
    with pytest.raises(ValueError, match="whole numbers of people"):
        round_announcement(
            shares, shares.decision, fidelity=Delta(0.9), digits=3, beta=1.0, ceiling=1.0, published_population=[5, 5]
        )


@pytest.mark.parametrize("case", EQUAL, ids=lambda case: f"{case['objective']}-{case['group_rates']}")
def test_two_rules_behind_one_announcement(case):
    populations = case["population"]
    p = np.concatenate(populations)
    offsets = np.append(0, np.cumsum([len(group) for group in populations]))
    told = []
    for positives in case["positives"]:
        groups = Groups(p, np.concatenate(positives) / p, offsets)
        options = {"group_rates": case["group_rates"], "digits": 3}
        solution = solve(
            groups, fidelity=Delta(case["delta"]), objective=case["objective"],
            max_confidence=case["max_confidence"], **options,
        )  # fmt: skip
        assert maximum_confidence(groups, groups.decision).max() > solution.target
        grid = round_announcement(
            groups, solution.announced, fidelity=solution.fidelity, beta=solution.target,
            ceiling=case["max_confidence"], published_population=to_fives(p), **options,
        )  # fmt: skip
        told.append((solution.fidelity, grid.tolist()))
    assert case["positives"][0] != case["positives"][1]
    assert told[0] == told[1]
