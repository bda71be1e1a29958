"""Groups whose rules no machine writes down, against plain convolution in extended precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft

from atr.mechanisms.calibrated import Ceilings, announce, announceable, box, every_total, kernels
from atr.mechanisms.calibrated.box import Box
from atr.mechanisms.calibrated.readers import MODELS
from tests.helpers.calibrated_slowly import WIDE_ENOUGH, SlowBox, slowly

pytestmark = pytest.mark.skipif(not WIDE_ENOUGH, reason="this machine has no wider numbers")


def drawn(seed: int, people: int):
    """Draw people and counts of two to five regions, and a ceiling not far above what people alone tell."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    population = rng.multinomial(people - m, rng.dirichlet([rng.choice([0.5, 3, 20])] * m)) + 1
    chances = rng.beta(0.7, 0.7, m) if rng.random() < 0.6 else rng.beta(3, 30, m)
    ceiling = population.max() / people + rng.choice([0.005, 0.03, 0.1, 0.3])
    return population, rng.binomial(population, chances), min(ceiling, 1.0)


def compare(seed: int, people: int) -> bool:
    """Compare with the slow way; False where there is nothing to announce."""
    population, favourable, ceiling = drawn(seed, people)
    cell = announce(population, favourable, max_confidence=ceiling)
    if cell is None:
        return False
    with slowly():
        slow = announce(population, favourable, max_confidence=ceiling)
    assert slow is not None
    assert np.array_equal(cell.lower, slow.lower)
    assert np.array_equal(cell.upper, slow.upper)
    assert cell.expected == pytest.approx(slow.expected.astype(float), abs=1e-9)
    assert cell.by_reader == pytest.approx({name: float(value) for name, value in slow.by_reader.items()}, abs=1e-12)
    assert cell.rules == pytest.approx(float(slow.rules), rel=1e-9)
    return cell.told


@pytest.mark.parametrize("people", [700, 2000])
def test_cells_of_hundreds(people):
    assert sum(compare(seed, people) for seed in range(12)) > 3


@pytest.mark.long
def test_cells_of_ten_thousand():
    assert sum(compare(seed, 10_000) for seed in range(12)) > 3


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("total", [160, 2200, 4800])
def test_halves_that_weigh_nearly_nothing(model, total):
    population = np.array([1000, 1500, 800, 1700])
    whole = Box(model, population, np.zeros(4, dtype=np.int64), population, total)
    assert not whole.direct
    for region, limit in ((0, 20), (1, 900), (2, 790), (3, 1690)):
        for upper in (False, True):
            half = whole.half(region, limit, upper=upper)
            if half is not None:
                slow = SlowBox(model, population, half.lowest, half.highest, total)
                assert half.expected == pytest.approx(slow.expected.astype(float), rel=1e-9)


def test_transforms_that_fail_are_replaced(monkeypatch):
    population, total = np.array([900, 700, 800]), 1100
    back, rng = fft.irfft, np.random.default_rng(1)
    monkeypatch.setattr(fft, "irfft", lambda *given: back(*given) * rng.uniform(0.9, 1.1, given[1]))
    expected = Box("alike", population, np.zeros(3, dtype=np.int64), population, total).expected
    assert expected == pytest.approx(population * total / population.sum(), rel=1e-9)


def test_sums_that_underflow_are_no_empty_box(monkeypatch):
    whole = Box("alike", np.array([30, 20]), np.zeros(2, dtype=np.int64), np.array([30, 20]), 25)
    monkeypatch.setattr(kernels, "sums_by_count", lambda weights, *_: np.zeros((21, 3)))
    with pytest.raises(ArithmeticError, match="do not add up"):
        whole.expected  # noqa: B018


def expected_by_total(model, people):
    """Put together what is expected for every total from 1 on: (totals, m)."""
    totals, expected = zip(*every_total.expected_by_total(model, people), strict=True)
    known = dict(zip(np.concatenate(totals).tolist(), np.hstack(expected).T, strict=True))
    return np.array([known[total] for total in range(1, people.sum() // 2 + 1)])


@pytest.mark.parametrize("model", ["uniform", "extreme"])
@pytest.mark.parametrize(
    "population",
    [[600, 600, 600, 50], [1, 3000], [40] * 60, [1500], [701, 600, 50, 7], [701, 701, 33, 2], [5001, 4000, 702]],
)
def test_every_total_by_transforms(model, population, monkeypatch):
    people = np.array(population)
    monkeypatch.setattr(every_total, "DIRECT", 10_000)
    direct = expected_by_total(model, people)
    monkeypatch.setattr(every_total, "DIRECT", 0)
    assert expected_by_total(model, people) == pytest.approx(direct, rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("model", ["uniform", "extreme"])
@pytest.mark.parametrize(("regions", "size"), [(200, 45), (990, 2)])
def test_many_regions_of_a_size_share_every_total(model, regions, size):
    people = np.full(regions, size)
    shares = expected_by_total(model, people) / np.arange(1, people.sum() // 2 + 1)[:, None]
    assert shares == pytest.approx(np.full(shares.shape, 1 / regions), rel=1e-9)


def test_what_cannot_be_computed_is_above_a_ceiling():
    ceilings = Ceilings.of([5, 5, 5], 0.9)
    assert ceilings.exceeded(np.array([np.nan, 1.0, 1.0]), 3)


def test_ways_to_sum_agree(monkeypatch):
    for seed in range(8):
        population, favourable, ceiling = drawn(seed, 300)
        cell = announce(population, favourable, max_confidence=ceiling)
        with monkeypatch.context() as changed:
            changed.setattr(box, "DIRECT", 0)
            other = announce(population, favourable, max_confidence=ceiling)
        if cell is None:
            continue
        assert np.array_equal(cell.lower, other.lower)
        assert np.array_equal(cell.upper, other.upper)
        assert cell.rules == pytest.approx(other.rules, rel=1e-9)


def test_a_large_group_is_announceable_in_time():
    assert announceable(Ceilings.of([20_000] * 5, 0.5))
    assert not announceable(Ceilings.of([90_000, 10_000], 0.85))
