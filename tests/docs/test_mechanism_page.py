"""The page on the mechanism: its code runs, and every number in its text is computed here."""

from __future__ import annotations

import doctest
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from atr.core.confidence import exact_confidence, maximum_confidence, privacy_limit, round_up
from atr.core.fidelity import Alpha, Delta
from atr.core.groups import Groups
from atr.mechanisms.calibrated.group import EXACT_PEOPLE
from atr.mechanisms.calibrated.partition import SMALLEST_HALF
from atr.mechanisms.optimal import least_distorted, optimal_privacy, round_announcement, solve
from atr.mechanisms.optimal.several import EVENED_CELLS
from benchmarks import mechanisms
from tests.helpers.paths import ROOT

PAGE = ROOT / "docs" / "mechanism.md"
# White space is as the lines happen to break; the code is checked by running it.
TEXT = " ".join(re.sub(r"^ {4}(>>>|\.\.\.|array|\(|\[).*\n", "", PAGE.read_text(encoding="utf-8"), flags=re.M).split())
DELTA = Delta(0.9)
WOMEN = Groups([12, 5, 3], [0, 0, 1], [0, 3])
CARD = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
# Numbers that nothing computes: names of papers.
NAMES = ("2104.00137v3",)


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def row(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], digits: int = 3) -> str:
    return "(" + ", ".join(f"{v:.{digits}g}" for v in values.tolist()) + ")"


def sure(chances: list[float]) -> float:
    return maximum_confidence(WOMEN, np.column_stack([chances, np.subtract(1, chances)])).item()


def of_women(rule: list[float], rates: str = "free") -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return solve(Groups([12, 5, 3], rule, [0, 3]), fidelity=DELTA, group_rates=rates).announced[:, 0]  # type: ignore[arg-type]


def guarantee() -> Iterator[str]:
    before, after = privacy_limit(WOMEN).item(), sure([0, 0, 1])
    assert after == 1
    yield f"12 of 20 women earn below 100k is {percent(before)} sure"
    beta = optimal_privacy(WOMEN, fidelity=DELTA, group_rates="free").beta.item()
    yield f"β = {beta:.3f} is γ = {math.floor(-1000 * math.log(beta)) / 1000}"


def fidelity() -> Iterator[str]:
    low, high = (ends[0, 0] for ends in Alpha(0.9).allowed([[0.9, 0.1]]))
    yield (
        f"α = 0.9 allows d = 0.9 the range {low:.3f} to {high:.3g}, not {0.9 * 0.9:.2f} to 1: the other "
        f"outcome's chance of {1 - 0.9:.1f} may"
    )
    for level in (0.01, 0.5, 0.9):
        assert optimal_privacy(WOMEN, fidelity=Alpha(level), group_rates="free").beta.item() == 1
    assert optimal_privacy(CARD, fidelity=Delta(0)).beta.tolist() == privacy_limit(CARD).tolist()


def calibrated() -> Iterator[str]:
    yield f"groups of up to {EXACT_PEOPLE:,} people"
    assert SMALLEST_HALF == 0.01


def correction() -> Iterator[str]:
    two = Groups([0.9, 0.1], [0.5, 0.5], [0, 2])
    best = optimal_privacy(two, fidelity=Delta(0.5), group_rates="free")
    assert [best.beta_0, best.beta_1, best.beta_p] == [0, 0, 0]
    yield f"P = {row(two.population)} with d = (½, ½), and δ = 0.5"
    yield "M1 = M0 = 0 and β0 = β1 = βp = 0"
    yield (
        "confidence below 0.9 after either outcome, then 0.9·x < 0.9·s and 0.9·(1−x) < 0.9·(1−s), "
        "with x its announced chance and s the group's rate; added up, 0.9 < 0.9"
    )
    yield rf"So β\* = {best.beta.item():.1f}."
    groups = mechanisms.example("compas", "2013").groups
    told = []
    for level in (0.9, 0.8):
        at = optimal_privacy(groups, fidelity=Delta(level), group_rates="free")
        printed = np.max([at.beta_0, at.beta_1, at.beta_p], axis=0)
        told.append((int((printed < at.beta - 1e-9).sum()), printed.max(), at.beta.max()))
    (few, _, _), (many, claimed, true) = told
    yield (
        f"too small for {few} of {len(groups)} groups at δ = 0.9 and for {many} of {len(groups)} at δ = 0.8, "
        f"where it would state {claimed:.3f} for the report in place of {true:.3f}"
    )


def table_of_both_rates() -> Iterator[str]:
    free = optimal_privacy(CARD, fidelity=DELTA, group_rates="free")
    exact = optimal_privacy(CARD, fidelity=DELTA, group_rates="exact")
    yield "costs privacy at the same δ. At δ = 0.9:"
    for i, name in enumerate(("women", "men")):
        figures = [free.limits[i, 0], free.beta_1[i], free.beta_0[i], free.beta_p[i]]
        figures += [free.beta[i], exact.beta[i], free.limits[i, 1]]
        yield f"| {name} | " + " | ".join(f"{v:.3f}" for v in figures) + " |"


def rounding() -> Iterator[str]:
    x = least_distorted(WOMEN, beta=0.9, fidelity=DELTA)
    published = [10, 5, 5]
    printed = round_announcement(
        WOMEN, x, fidelity=DELTA, digits=3, beta=0.9, ceiling=0.95, published_population=published
    )
    both = [exact_confidence(people, printed, digits=3)[0] for people in ([12, 5, 3], published)]
    yield f"The reader sees {printed[0, 0] / 1000}, not {x[0, 0]:.5f}"
    yield "On the women, with exact rates and a ceiling of 0.95"
    yield f"These numbers would be stated at {round_up(max(both), digits=3)}"
    yield f"in groups of up to {EVENED_CELLS:,} cells"


def readers() -> Iterator[str]:
    announced, stated = of_women([0, 0, 1]), optimal_privacy(WOMEN, fidelity=DELTA, group_rates="free").beta.item()
    yield f"On the women, δ = 0.9, rates free, the report announces {row(announced)} and states {percent(stated)}."

    def alike(rule: list[float], other: list[float], rates: str = "free") -> bool:
        return bool(np.abs(of_women(rule, rates) - of_women(other, rates)).max() < 1e-9)

    last = 0.12
    assert all(alike([0, t, 1], [0, 0, 1]) for t in np.linspace(0, last, 7))
    rng = np.random.default_rng(1)
    others = [[0, last + 0.01, 1], [0.01, 0.05, 1], [0, 0.05, 0.99], *rng.uniform([0, 0, 0.8], [0.2, last, 1], (50, 3))]
    assert not any(alike([*rule], [0, 0, 1]) for rule in others)
    expected = [0, last / 2, 1]
    (ten_in_eleven,) = exact_confidence([12, 5, 3], [[0, 1000], [60, 940], [1000, 0]], digits=3)
    assert ten_in_eleven == Fraction(10, 11)
    yield (
        f"all rules (0, t, 1) with t up to {last} are announced like this, and no others; if all t are equally likely, "
        f"he expects {row(np.array(expected))}. | {ten_in_eleven} = {percent(sure(expected))} |"
    )

    exact = optimal_privacy(WOMEN, fidelity=DELTA, group_rates="exact").beta.item()
    few = rng.uniform(0.001, 0.03, (50, 2))
    rules = [[a, b, 1 - (12 * a + 5 * b) / 3] for a, b in few]  # all with the same rate
    assert not any(alike(rule, [0, 0, 1], "exact") for rule in rules)
    yield (
        f"{row(of_women([0, 0, 1], 'exact'))}, stated at {percent(exact)}, comes from (0, 0, 1) only, before rounding. "
        f"| {percent(sure([0, 0, 1]))} |"
    )

    middle = np.mean(DELTA.believed(np.column_stack([announced, 1 - announced]), digits=3), axis=0)[:, 0]
    yield (
        f"The true chances lie within {1 - DELTA.level:.1f}; if they are equally likely to lie anywhere there, he "
        f"expects {row(middle)}. | {percent(sure(middle.tolist()))} |"
    )

    assert np.rint(announced).tolist() == [0, 0, 1]
    assert [c for k in (1, 2, 3) for c in combinations((12, 5, 3), k) if sum(c) == 3] == [(3,)]
    yield (
        "He rounds each chance. With exact rates the rate of 3 in 20 is enough: no regions but that of 3 women add up "
        f"to it. | {percent(sure([0, 0, 1]))} |"
    )

    people, rule = [45, 3, 3], [2 / 45, 0, 0]
    small = Groups(people, rule, [0, 3])
    beta = optimal_privacy(small, fidelity=DELTA).beta.item()
    _, highest = DELTA.believed(least_distorted(small, beta=beta, fidelity=DELTA), digits=3)
    assert np.floor(highest[:, 0] * people + 1e-9)[1:].tolist() == [0, 0]
    yield (
        f"Of {people[0]}, 3 and 3 people 2, 0 and 0 are approved; with exact rates this is stated at {percent(beta)}. "
        f"Within δ = {DELTA.level} what is announced leaves regions of 3 people no whole number but 0, so both are of "
        f"the 45. | {percent(1)} |"
    )

    people, rule = [25] * 4, [0, 1, 1, 0]  # income low or high, each well and ill
    both = solve(Groups(people, rule, [0, 4], protected_sets=[[[0, 1], [2, 3], [0, 2], [1, 3]]]), fidelity=DELTA)
    knowing = maximum_confidence(Groups(people, rule, [0, 2, 4]), both.announced).min()
    yield (
        f"{people[0]} people each way; who has a high income or is ill, but not both, is granted. Either attribute is "
        f"stated at {percent(both.beta.item())}; he knows the income. | {percent(knowing)} |"
    )

    ill, people = np.array([16, 4]), 20
    merged = Groups([ill.sum(), (people - ill).sum()], [1, 0], [0, 2])
    told = solve(merged, fidelity=DELTA)
    finer = maximum_confidence(Groups([ill[0], people - ill[0]], [1, 0], [0, 2]), told.announced).item()
    yield (
        f"Two groups of {people} people are merged; {ill[0]} are ill in the one and {ill[1]} in the other; the ill are "
        f"refused, nobody else. Merged, this is stated at {percent(told.beta.item())}; he knows that somebody is in "
        f"the first, how many are ill there, and the outcome. | {percent(finer)} |"
    )


def fairness() -> Iterator[str]:
    low, high = (ends[0, 0] for ends in Alpha(0.5).allowed([[0.5, 0.5]]))
    apart, bound = math.log(high / low), -2 * math.log(0.5)
    assert 1 < apart < bound
    yield (
        f"Announced chances of {high:g} and {low:g} are allowed. The true |ln ratio| is 0, the announced "
        f"one ln {high / low:g} = {apart:.3f}: more than 1, and within −2 ln ½ = {bound:.3f}."
    )


def own_ceilings() -> Iterator[str]:
    share = 0.8
    strict = Groups([12, 5, 3], [0, 0, 1], [0, 3], protected_sets=[[[0], [1], [2]]], factors=[[1, 1, share]])
    plain, made = (solve(groups, fidelity=DELTA, group_rates="free") for groups in (WOMEN, strict))
    people = WOMEN.population[:, None] * made.announced
    reached = (people / people.sum(axis=0)).max(axis=1)
    assert reached[2] == pytest.approx(share * made.overall)
    yield (
        f"Held to a share of {share}, nobody can be more than {reached[2]:.3f} sure that a woman earns above 200k "
        f"({plain.overall:.3f} before); in return one can be surer of the other incomes, up to {reached[:2].max():.3f}."
    )


PARTS = (
    calibrated,
    guarantee,
    fidelity,
    correction,
    table_of_both_rates,
    rounding,
    readers,
    own_ceilings,
    fairness,
)


@pytest.fixture(scope="module")
def said() -> list[str]:
    return [" ".join(sentence.split()) for part in PARTS for sentence in part()]


def test_the_code_runs_as_it_stands():
    assert doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8").failed == 0


def test_the_page_says_what_the_library_computes(said):
    assert [sentence for sentence in said if TEXT.count(sentence) != 1] == []


def test_no_other_number_is_on_the_page(said):
    rest = re.sub(r"Without that he would.*?squared regions\.", "", TEXT)  # tests/docs/test_corrections.py checks these
    for known in (*said, *NAMES):
        rest = rest.replace(known, "")
    assert re.findall(r".{0,40}(?:\d[.,]\d|\d ?%).{0,20}", rest) == []


def test_the_closed_forms_as_the_page_has_them():
    free = optimal_privacy(CARD, fidelity=DELTA, group_rates="free").beta
    exact = optimal_privacy(CARD, fidelity=DELTA, group_rates="exact").beta
    for i, cells in enumerate((slice(0, 3), slice(3, 6))):
        p, d = CARD.population[cells], CARD.decision[cells, 0]
        lo, hi = (ends[:, 0] for ends in DELTA.allowed(CARD.decision[cells]))
        S, s, M1, M0 = p.sum(), p @ d, (p * lo).max(), (p * (1 - hi)).max()
        least = p.max() / S
        one, zero = M1 / np.minimum(p * hi, M1).sum(), M0 / np.minimum(p * (1 - lo), M0).sum()
        assert max(least, one, zero, (M1 + M0) / S) == pytest.approx(free[i])
        v, w = np.sort(p * hi)[::-1], np.sort(p * (1 - lo))[::-1]
        crowded = [
            (1 - room[c:].sum() / total) / c for room, total in ((v, s), (w, S - s)) for c in range(1, len(p) + 1)
        ]
        assert max(least, M1 / s, M0 / (S - s), *crowded) == pytest.approx(exact[i])
