"""The quantile map: the target's counts, in the order of the source, at the least cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from atr.sanitise import quantile_map, transport

SHORT = st.lists(st.integers(-5, 5), min_size=1, max_size=12)


@given(SHORT, st.data())
def test_as_many_numbers_get_the_targets_counts(source: list[int], data: st.DataObject) -> None:
    target = data.draw(st.lists(st.integers(-5, 5), min_size=len(source), max_size=len(source)))
    mapped = quantile_map(np.array(source, dtype=float), target)
    assert sorted(mapped) == sorted(target)
    squares = np.subtract.outer(source, target) ** 2.0
    even = np.full(len(source), 1 / len(source))
    assert np.mean((mapped - source) ** 2) == pytest.approx(transport(even, even, squares).cost, abs=1e-9)


@given(SHORT, SHORT)
def test_shares_are_the_targets_and_the_order_stays(source: list[int], target: list[int]) -> None:
    mapped = quantile_map(np.array(source, dtype=float), target)
    for value in set(target):
        share = len(source) * target.count(value) / len(target)
        assert abs((mapped == value).sum() - share) <= 1
    for a, b in zip(source, mapped, strict=True):
        assert all(b <= d for c, d in zip(source, mapped, strict=True) if a < c)


def test_two_normal_distributions_with_squares() -> None:
    at = (np.arange(50_000) + 0.5) / 50_000
    first, second = norm.ppf(at, 1, 2), norm.ppf(at, 4, 3)
    rng = np.random.default_rng(1)
    mapped = quantile_map(rng.permutation(first), rng.permutation(second))
    assert np.sort(mapped) == pytest.approx(np.sort(second))
    assert np.mean((quantile_map(first, second) - first) ** 2) == pytest.approx((4 - 1) ** 2 + (3 - 2) ** 2, abs=2e-3)
    apart = rng.permutation(second) - first
    assert np.mean(apart**2) == pytest.approx((4 - 1) ** 2 + 2**2 + 3**2, abs=0.2)


def test_the_target_of_all_makes_groups_alike() -> None:
    rng = np.random.default_rng(2)
    groups = [rng.normal(mean, 1, 500) for mean in (0, 3)]
    pooled = np.concatenate(groups)
    first, second = (np.sort(quantile_map(group, pooled)) for group in groups)
    assert first.tolist() == second.tolist()


def test_ties_are_broken_by_the_seed_and_an_index_stays() -> None:
    source = pd.Series(np.zeros(40), index=range(40, 80), name="score")
    first, same, other = (quantile_map(source, range(40), seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_series_equal(first, same)
    assert first.index.equals(source.index)
    assert not first.equals(other)
    assert sorted(first) == sorted(other) == list(range(40))


@pytest.mark.parametrize(("source", "target", "name"), [([], [1], "source"), ([1.0], [np.nan], "target")])
def test_bad_numbers_get_one_message(source: list[float], target: list[float], name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be one row of finite numbers, and not empty$"):
        quantile_map(np.array(source), target)
