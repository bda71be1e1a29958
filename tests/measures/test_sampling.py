"""Sampling uncertainty: published examples, properties, and what a report says of it and verify finds."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, norm
from statsmodels.stats.proportion import score_test_proportions_2indep

from atr.core.publication import open_total, rounded_total
from atr.documents import csv as annex
from atr.measures import sampling
from atr.programme import load
from atr.report import model
from atr.report import sampling as printed
from atr.report.rounding import nearest
from atr.verify import verify
from tests.helpers import sample, series
from tests.helpers.tables import tables, text

NOISE = 1e-8

NEWCOMBE = [
    # Newcombe, Statistics in Medicine 17 (1998), Table II, method 10
    ((56, 70), (48, 80), (0.0524, 0.3339)),
    ((9, 10), (3, 10), (0.1705, 0.8090)),
    ((6, 7), (2, 7), (0.0582, 0.8062)),
    ((5, 56), (0, 29), (-0.0381, 0.1926)),
    ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ((0, 10), (0, 10), (-0.2775, 0.2775)),
    ((10, 10), (0, 20), (0.6791, 1.0)),
    ((10, 10), (0, 10), (0.6075, 1.0)),
]


@pytest.mark.parametrize(("a", "b", "expected"), NEWCOMBE)
def test_differences_are_those_that_newcombe_published(
    a: sampling.Share, b: sampling.Share, expected: sampling.Interval
) -> None:
    assert sampling.difference_interval(a, b, alpha=0.05) == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((36, 40), (16, 80), (2.94, 7.15)),  # Koopman, Biometrics 40 (1984)
        ((8, 15), (4, 15), (0.815, 5.336)),  # Gart and Nam, Biometrics 44 (1988)
    ],
)
def test_ratios_are_those_that_were_published(
    a: sampling.Share, b: sampling.Share, expected: sampling.Interval
) -> None:
    assert sampling.ratio_interval(a, b, alpha=0.05) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("people", [2, 10, 40])
def test_a_ratio_of_two_full_groups_has_the_closed_form(people: int) -> None:
    """With both rates 1 the score statistic of a ratio r below 1 is sqrt(n (1 - r) / r)."""
    z2 = norm.isf(0.025) ** 2
    low, high = sampling.ratio_interval((people, people), (2 * people, 2 * people), alpha=0.05)
    assert low == pytest.approx(people / (people + z2), abs=1e-6)
    assert high == pytest.approx((2 * people + z2) / (2 * people), abs=1e-6)


def test_holm_by_hand() -> None:
    """Sorted: 4 · 0.005, 3 · 0.01, 2 · 0.03, 1 · 0.04, which may not fall."""
    assert sampling.adjusted((0.01, 0.04, 0.03, 0.005)) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert sampling.adjusted(()) == ()


def test_small_tables_get_fishers_test_and_large_ones_pearsons() -> None:
    # Fisher's tea-tasting lady: 3 of 4 against 1 of 4
    assert sampling.p_value((3, 4), (1, 4)) == pytest.approx(34 / 70)
    table = [[60, 40], [45, 55]]
    assert sampling.p_value((60, 100), (45, 100)) == pytest.approx(chi2_contingency(table, correction=False).pvalue)
    assert sampling.p_value((0, 5), (0, 9)) == sampling.p_value((5, 5), (9, 9)) == 1.0


SIZES = st.integers(1, 40) | st.sampled_from([100, 1000, 10**6, 10**9])


@st.composite
def _shares(draw: st.DrawFn) -> tuple[sampling.Share, sampling.Share]:
    n, m = draw(SIZES), draw(SIZES)
    return (draw(st.integers(0, n)), n), (draw(st.integers(0, m)), m)


@given(_shares(), st.sampled_from([0.001, 0.05, 0.3]))
def test_intervals_hold_the_figure_and_lie_where_it_can(
    shares: tuple[sampling.Share, sampling.Share], alpha: float
) -> None:
    (x, n), (y, m) = a, b = shares
    low, high = sampling.rate_interval(a, alpha=alpha)
    assert 0 <= low <= x / n + 1e-12
    assert x / n - 1e-12 <= high <= 1
    low, high = sampling.difference_interval(a, b, alpha=alpha)
    assert -1 <= low <= x / n - y / m + 1e-12
    assert x / n - y / m - 1e-12 <= high <= 1
    low, high = sampling.ratio_interval(a, b, alpha=alpha)
    assert low >= 0
    assert (low == 0) == (x == 0)
    assert math.isinf(high) == (y == 0)
    if y:
        assert low <= x / n / (y / m) * (1 + 1e-6)
        assert high >= x / n / (y / m) * (1 - 1e-6)
    assert 0 <= sampling.p_value(a, b) <= 1 + 1e-9
    swapped = sampling.ratio_interval(b, a, alpha=alpha)
    assert low == pytest.approx(1 / swapped[1] if x else 0, rel=1e-4)


@given(st.integers(2, 60), st.integers(2, 60), st.data())
def test_the_interval_of_a_ratio_inverts_its_test(n: int, m: int, data: st.DataObject) -> None:
    a, b = (data.draw(st.integers(1, n - 1)), n), (data.draw(st.integers(1, m - 1)), m)
    low, high = sampling.ratio_interval(a, b, alpha=0.05)
    for ratio, rejected in ((low * 0.99, True), (low * 1.01, False), (high * 0.99, False), (high * 1.01, True)):
        _, p = score_test_proportions_2indep(*a, *b, ratio, compare="ratio", correction=False, return_results=False)
        assert (p < 0.05) == rejected


@given(st.integers(1, 30), st.integers(1, 30), st.integers(2, 20), st.data())
def test_more_people_narrow_every_interval(n: int, m: int, times: int, data: st.DataObject) -> None:
    x, y = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    few, many = ((x, n), (y, m)), ((x * times, n * times), (y * times, m * times))

    def width(interval: sampling.Interval) -> float:
        return interval[1] - interval[0]

    assert width(sampling.rate_interval(many[0], alpha=0.05)) < width(sampling.rate_interval(few[0], alpha=0.05))
    assert width(sampling.difference_interval(*many, alpha=0.05)) <= width(
        sampling.difference_interval(*few, alpha=0.05)
    )
    wide, narrow = (sampling.ratio_interval(*shares, alpha=0.05) for shares in (few, many))
    if x and y:
        assert width(narrow) <= width(wide) * (1 + 1e-9)
    else:
        assert wide[0] <= narrow[0]
        assert narrow[1] <= wide[1]


def test_intervals_cover_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(7)
    p, q, n, m, draws = 0.3, 0.5, 40, 30, 400
    pairs = [
        ((int(x), n), (int(y), m))
        for x, y in zip(random.binomial(n, p, draws), random.binomial(m, q, draws), strict=True)
    ]
    covered = [
        (low_d <= p - q <= high_d, low_r <= p / q <= high_r)
        for (low_d, high_d), (low_r, high_r) in (
            (sampling.difference_interval(a, b, alpha=0.05), sampling.ratio_interval(a, b, alpha=0.05))
            for a, b in pairs
        )
    ]
    for share in np.mean(covered, axis=0):
        assert 0.91 <= share <= 0.985


# --- the report


PUBLIC = sample.attribute("sex", "Sex", ("women", "men"), protected=True)
SECRET = sample.attribute("income", "Income", ("low", "high"), role="sensitive")


def _report(counts: dict[tuple[str, str], tuple[int, float]], **changes: Any) -> model.PublicReport:
    made = sample.report(
        (PUBLIC, SECRET),
        {((sex,), income): n for (sex, income), n in counts.items()},
        minimum=1,
        ceiling=1.0,
        **changes,
    )
    policy = made.policy.model_copy(update={"sampling": printed.sampling_info("sample", 0.05)})
    made = made.model_copy(update={"policy": policy})
    return made.model_copy(update={"fairness": printed.with_sampling(made)})


def _of(report: model.PublicReport, measure: str, outcome: str | None) -> model.Sampling:
    found = next(e.sampling for e in report.fairness if e.measure == measure and e.outcome == outcome)
    assert found is not None
    return found


def test_two_people_with_one_outcome_do_not_make_a_sure_rate() -> None:
    """Resampling two people with one outcome gives a rate of 1.00 every time; an interval must not say so."""
    assert sampling.rate_interval((2, 2), alpha=0.05)[0] < 0.35
    assert sampling.ratio_interval((2, 2), (20, 40), alpha=0.05)[0] < 0.7
    assert sampling.difference_interval((2, 2), (20, 40), alpha=0.05)[0] < 0
    report = _report({("women", "low"): (5, 1.0), ("men", "low"): (1000, 0.7)}, references={"sex": "men"})
    of_women = _of(report, "p_percent_rule", report.positive).rates[0]
    assert of_women[0] < 0.6
    assert of_women[1] == 1.0


def test_measures_of_a_pair_share_a_test_adjusted_once() -> None:
    report = _report({("women", "low"): (200, 0.5), ("men", "low"): (400, 0.6)})
    assert printed.tests(report) == 1
    for entry in report.fairness:
        assert entry.sampling is not None
        assert entry.sampling.p_value == entry.sampling.adjusted_p_value
        assert sampling.p_value((100, 200), (240, 400)) <= entry.sampling.p_value <= 0.05, "of 198 and 398 people"
        assert entry.sampling.significant == (entry.sampling.adjusted_p_value <= 0.05)
    difference = _of(report, "statistical_parity", None).interval
    expected = sampling.difference_interval((240, 400), (100, 200), alpha=0.05)
    assert difference == pytest.approx(expected, abs=0.015)
    assert difference[0] <= expected[0]
    assert difference[1] is not None
    assert difference[1] >= expected[1]


def test_attaching_again_changes_nothing_nor_other_measures() -> None:
    report = _report({("women", "low"): (200, 0.5), ("men", "low"): (400, 0.6)})
    assert printed.with_sampling(report) == report.fairness
    other = report.fairness[0].model_copy(update={"measure": "individual_fairness"})
    mixed = report.model_copy(update={"fairness": (other, *report.fairness)})
    assert printed.with_sampling(mixed)[0].sampling is None
    assert printed.with_sampling(mixed)[1:] == report.fairness


def test_of_the_whole_population_nothing_is_said_of_chance(tmp_path: Path) -> None:
    content = series.programme()
    content["log"]["coverage"] = "whole"
    path = series.write_series(tmp_path, series.card(10), content=content)
    assert load(path).log.coverage == "whole"
    info = printed.sampling_info("whole", 0.05)
    report = sample.report(
        (PUBLIC, SECRET), {(("women",), "low"): (50, 0.5), (("men",), "low"): (60, 0.4)}, minimum=1, ceiling=1.0
    )
    report = report.model_copy(update={"policy": report.policy.model_copy(update={"sampling": info})})
    assert all(entry.sampling is None for entry in printed.with_sampling(report))
    assert json.loads(report.to_json())["policy"]["sampling"] == {"coverage": "whole"}
    told = text(report, "comparisons")
    assert "holds all decisions" in told
    assert "seen as a sample" not in told


def test_verdicts_are_not_touched_by_chance() -> None:
    """A ratio on the wrong side of the line stays so, however few people there are."""
    counts = {("women", "low"): (10, 0.3), ("men", "low"): (10, 0.6)}
    plain = sample.report((PUBLIC, SECRET), {((s,), i): n for (s, i), n in counts.items()}, minimum=1, ceiling=1.0)
    report = _report(counts)
    assert [e.verdict for e in report.fairness] == [e.verdict for e in plain.fairness]
    assert report.fairness[0].verdict == "not_met"
    assert not _of(report, "p_percent_rule", report.positive).significant


def test_the_table_shows_the_adjusted_p_value() -> None:
    """Three groups: three questions, of which Holm makes the smallest p three times as large."""
    kinds = sample.attribute("kind", "Kind", ("a", "b", "c"), protected=True)
    counts = {(("a",), "low"): (200, 0.5), (("b",), "low"): (200, 0.38), (("c",), "low"): (200, 0.6)}
    plain = sample.report((kinds, SECRET), counts, minimum=1, ceiling=1.0, references={"kind": "a"})
    policy = plain.policy.model_copy(update={"sampling": printed.sampling_info("sample", 0.05)})
    report = plain.model_copy(update={"policy": policy})
    report = report.model_copy(update={"fairness": printed.with_sampling(report)})
    of_b = next(e.sampling for e in report.fairness if e.groups == ("b", "a"))
    assert of_b is not None
    assert of_b.p_value < of_b.adjusted_p_value
    row = next(row for row in tables(report, "comparisons")["By Kind, compared with a"] if row[0] == "b")
    assert row[-2] == f"{of_b.adjusted_p_value:g}"


def test_an_interval_that_nothing_bounds_is_said() -> None:
    report = _report({("women", "low"): (50, 0.4), ("men", "low"): (20, 0.0)}, references={"sex": "men"})
    interval = _of(report, "p_percent_rule", report.positive).interval
    assert interval[0] > 0
    assert interval[1] is None
    assert f"{interval[0]:.3f} or more" in text(report, "comparisons")


def test_documents_tell_interval_and_range_apart() -> None:
    report = _report({("women", "low"): (200, 0.5), ("men", "low"): (400, 0.6)}, spread=0.02)
    found = _of(report, "p_percent_rule", report.positive)
    low, high = (f"{x:.3f}" for x in found.interval if x is not None)
    row = next(row for row in tables(report, "comparisons")["By Sex, compared with men"] if row[0] == "women")
    assert row[4:6] == [" to ".join(f"{x:.3f}" for x in report.fairness[0].range), f"{low} to {high}"]
    rows = annex.fairness(report).decode().splitlines()
    assert "sample_low,sample_high" in rows[0]
    assert f"{low},{high}" in rows[1]
    assert "sample" not in annex.fairness(report.model_copy(update={"fairness": ()})).decode()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with series.quick():
        path = series.write_series(tmp_path_factory.mktemp("series"), series.card(10), population_rounding=1)
        content = yaml.safe_load(path.read_text())
        content["fairness"] = {"alpha": 0.1}
        path.write_text(yaml.safe_dump(content))
        yield json.loads((series.publish(path).documents / "report.json").read_text())


def _write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_verify_finds_every_changed_figure(published: dict[str, Any], tmp_path: Path) -> None:
    assert published["policy"]["sampling"]["alpha"] == 0.1
    assert verify(_write(tmp_path / "r.json", published)) == []
    changes: list[tuple[str, Any]] = [
        ("interval", [0.1, 0.2]), ("rates", [[0.1, 0.2], [0.1, 0.2]]), ("p_value", 0.5), ("adjusted_p_value", 0.5),
        ("significant", None),
    ]  # fmt: skip
    for name, value in changes:
        forged = copy.deepcopy(published)
        own = forged["fairness"][0]["sampling"]
        own[name] = not own[name] if value is None else value
        assert verify(_write(tmp_path / "r.json", forged)), name
    for policy in ({"coverage": "whole"}, {"coverage": "sample", "alpha": 0.05}, None):
        forged = copy.deepcopy(published)
        forged["policy"]["sampling"] = policy
        assert verify(_write(tmp_path / "r.json", forged)), policy
    forged = copy.deepcopy(published)
    del forged["fairness"][0]["sampling"]
    assert verify(_write(tmp_path / "r.json", forged))


@st.composite
def _two_groups(draw: st.DrawFn) -> tuple[list[int], list[int], int]:
    rounding = draw(st.sampled_from([2, 5, 10]))
    people = [draw(st.integers(rounding, 400)) for _ in range(2)]
    return people, [draw(st.integers(0, n)) for n in people], rounding


@given(drawn=_two_groups())
def test_no_interval_is_narrower_than_that_of_exact_people(drawn: tuple[list[int], list[int], int]) -> None:
    """From printed people and rates: each interval holds that of the true counts, and no test finds more."""
    people, favourable, rounding = drawn
    rates = [k / n for k, n in zip(favourable, people, strict=True)]
    found = []
    for rate, n in zip(rates, people, strict=True):
        fewest, _ = open_total(int(rounded_total(np.array(n), rounding=rounding)), rounding)
        allowed = max(nearest(rate, 2) - 0.005, 0.0), min(nearest(rate, 2) + 0.005, 1.0)
        found.append(printed.counted(allowed, fewest, rounding))
    (one, other), (a, b) = found, [*zip(favourable, people, strict=True)]
    low, high = sampling.rate_interval(a, alpha=0.05)
    assert sampling.rate_interval(one.share(0), alpha=0.05)[0] <= low + NOISE
    assert sampling.rate_interval(one.share(1), alpha=0.05)[1] >= high - NOISE
    for interval in (sampling.difference_interval, sampling.ratio_interval):
        low, high = interval(a, b, alpha=0.05)
        assert interval(one.share(0), other.share(1), alpha=0.05)[0] <= low + NOISE
        assert interval(one.share(1), other.share(0), alpha=0.05)[1] >= high - NOISE
