"""What readers outside the promise expect, against all rules written down."""

from __future__ import annotations

from itertools import pairwise, product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.announced import Announced
from atr.core.fidelity import Limits
from atr.core.protected import Protection
from atr.core.regions import Regions
from atr.dossier.other_beliefs import other_beliefs
from atr.mechanisms.calibrated.policy import CalibratedPolicy

People, Rule, Chances = list[int], tuple[int, ...], list[float]


def _rising(n: People, r: Rule, _: Chances) -> float:
    return float(all(a * m <= b * k for (a, k), (b, m) in pairwise(zip(r, n, strict=True))))


def _falling(n: People, r: Rule, _: Chances) -> float:
    return _rising(n[::-1], r[::-1], _)


def _one_differs(n: People, r: Rule, _: Chances) -> float:
    def weight(d: int) -> float:
        others = prod(comb(n[i], k) for i, k in enumerate(r) if i != d)
        return others / comb(sum(n) - n[d], sum(r) - r[d]) / (n[d] + 1)

    return sum(map(weight, range(len(n))))


def _near(n: People, r: Rule, c: Chances) -> float:
    return prod(comb(x, k) * p**k * (1 - p) ** (x - k) for x, k, p in zip(n, r, c, strict=True))


WEIGHTS = {
    "chances rise along the values": _rising,
    "chances fall along the values": _falling,
    "all chances are alike but one": _one_differs,
    "chances are near those of the last report": _near,
}


@given(st.data())
def test_other_beliefs_are_those_of_all_rules_together(data: st.DataObject) -> None:
    people = data.draw(st.lists(st.integers(1, 6), min_size=2, max_size=4))
    positive = [data.draw(st.integers(0, n)) for n in people]
    limits = [data.draw(st.sampled_from([a for a in ((0, 20), (0, 10), (10, 20), (5, 15)) if _in(a, k, n)]))
              for k, n in zip(positive, people, strict=True)]  # fmt: skip
    last = [data.draw(st.sampled_from([0.1, 0.5, 0.8])) for _ in people]
    found = {of.name: of for of in other_beliefs(*_told(people, positive, limits, last), CalibratedPolicy())}
    for name, weight in WEIGHTS.items():
        rules = [r for r in product(*(range(n + 1) for n in people)) if sum(r) == sum(positive)]
        inside = [r for r in rules if all(_in(a, k, n) for a, k, n in zip(limits, r, people, strict=True))]
        if not any(weight(people, r, last) for r in inside):
            assert name not in found
            continue
        before, after = (_surest(people, of, [weight(people, r, last) for r in of]) for of in (rules, inside))
        assert (found[name].largest_before, found[name].largest) == pytest.approx((before, after)), name
        assert (found[name].above_before, found[name].above) == (before > 0.75 + 1e-12, after > 0.75 + 1e-12)


def _in(limits: tuple[int, int], k: int, n: int) -> bool:
    low, high = limits
    return low * n <= 20 * k and (20 * k < high * n or high == 20)


def _surest(people: list[int], rules: list[tuple[int, ...]], weights: list[float]) -> float:
    expected = np.average(np.array(rules, dtype=float), axis=0, weights=weights)
    n, total = np.array(people), sum(rules[0])
    sure = [expected / total] if total else []
    return float(np.max([*sure, *([(n - expected) / (n.sum() - total)] if total < n.sum() else [])]))


def _told(
    people: list[int], positive: list[int], limits: list[tuple[int, int]], last: list[float]
) -> tuple[Regions, Announced]:
    n, k, m = np.array(people), np.array(positive), len(people)
    ends = np.array([[(a / 20, b / 20), (1 - b / 20, 1 - a / 20)] for a, b in limits])
    chances = np.array([[(c, c), (1 - c, 1 - c)] for c in last])
    regions = Regions(
        public=("sex",), protection=Protection(("level",)), outcomes=("yes", "no"), group_values=(("all",),),
        region_values=tuple((str(i),) for i in range(m)), counts=np.column_stack([k, n - k]),
        offsets=np.array([0, m]), earlier=chances[None], status=np.array([0]),
    )  # fmt: skip
    return regions, Announced.plain(np.zeros((m, 2), dtype=np.int64), Limits.within(ends), digits=3, groups=1)
