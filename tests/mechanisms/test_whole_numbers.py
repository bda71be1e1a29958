"""The reader who remembers that people are whole numbers, beside the founding paper's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.announced import Announced
from atr.core.fidelity import Alpha, Delta, Fidelity, Ranges
from atr.core.regions import Regions
from atr.errors import RefusedError
from atr.mechanisms.optimal.mechanism import OptimalMechanism
from atr.mechanisms.optimal.policy import OptimalPolicy
from atr.mechanisms.optimal.whole_numbers import WholeNumberConfidence, whole_number_confidence
from atr.programme import Programme
from atr.verify import verify
from atr.warehouse.counting import regions_of_rows
from tests.helpers import series

DIGITS = 3


def regions(people: list[int], favourable: list[int], **content: Any) -> Regions:
    """One group with the sensitive values r0, r1, …"""
    rows = [("all", f"r{i}") for i in range(len(people))]
    counts = np.column_stack([favourable, np.subtract(people, favourable)])
    programme = Programme.model_validate(series.programme() | content)
    return regions_of_rows(rows, counts, programme=programme, outcomes=("approved", "refused"))


def announced(of: Regions, promise: Fidelity, shifts: list[float]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Chances within a promise, so far from its lower end to its upper one."""
    lowest, highest = promise.allowed_on_grid(of.decision, digits=DIGITS)
    first = lowest[:, 0] + np.floor(np.array(shifts) * (highest - lowest)[:, 0]).astype(np.int64)
    return np.column_stack([first, 10**DIGITS - first])


def confidence(of: Regions, chance: Any, promise: Fidelity, *, exact: bool = True) -> WholeNumberConfidence:
    totals = np.add.reduceat(of.counts, of.offsets[:-1]) if exact else None
    return whole_number_confidence(
        of.population, chance / 10**DIGITS, promise, totals=totals, offsets=of.offsets, sets=of.sets, digits=DIGITS
    )


def enumerated(
    of: Regions, chance: np.ndarray[Any, np.dtype[np.int64]], promise: Fidelity, *, exact: bool
) -> tuple[float, float]:
    """Average and largest confidence over all rules within the promise, one by one."""
    lower, upper = promise.believed(chance / 10**DIGITS, digits=DIGITS)
    people, total = of.population, int(of.counts[:, 0].sum())
    rules = np.array(list(_rules(people.tolist(), lower[:, 0], upper[:, 0])))
    rules = rules[rules.sum(axis=1) == total] if exact else rules
    average = largest = 0.0
    for counts in (rules, people - rules):
        if counts.sum():
            average = max(average, *(counts.sum(axis=0) / counts.sum()))
            somebody = counts[counts.sum(axis=1) > 0]
            largest = max(largest, (somebody / somebody.sum(axis=1, keepdims=True)).max())
    return average, largest


def _rules(people: list[int], lower: Any, upper: Any) -> Iterator[tuple[int, ...]]:
    ends = zip(people, lower, upper, strict=True)
    yield from product(*([k for k in range(n + 1) if lo - 1e-9 <= k / n <= hi + 1e-9] for n, lo, hi in ends))


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[int], list[int], list[float]]:
    people = draw(st.lists(st.integers(1, 14), min_size=1, max_size=4))
    return (
        people,
        [draw(st.integers(0, n)) for n in people],
        [draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])) for _ in people],
    )


@pytest.mark.parametrize("exact", [True, False])
@given(groups(), st.sampled_from([Delta(0.9), Delta(0.5), Delta(1.0), Alpha(0.7), "ranges"]))
def test_all_rules_within_the_promise_are_counted(exact: bool, of: Any, promise: Fidelity | str) -> None:
    people, favourable, shifts = of
    if isinstance(promise, str):
        share = np.divide(favourable, people)
        promise = Ranges(np.maximum(share - 0.15, 0), np.minimum(share + 0.1, 1))
    group = regions(people, favourable)
    chance = announced(group, promise, shifts)
    found = confidence(group, chance, promise, exact=exact)
    average, largest = enumerated(group, chance, promise, exact=exact)
    assert found.average.item() == pytest.approx(average, abs=1e-9)
    assert found.largest.item() == pytest.approx(largest, abs=1e-9)


def _solved(group: Regions, **policy: Any) -> Announced:
    mechanism = OptimalMechanism()
    of = OptimalPolicy(**{"minimum_group_size": 10, "max_confidence": 0.95, "population_rounding": 1} | policy)
    return mechanism.announce(group, mechanism.solve(group, of), of)


def test_two_of_three_small_numbers_can_only_be_one_rule() -> None:
    group = regions([45, 3, 3], [2, 0, 0])
    readers = _solved(group, whole_numbers="state").readers
    assert {name: sure.tolist() for name, sure in readers.items()} == {
        "whole_numbers": [1.0],
        "whole_numbers_at_most": [1.0],
    }
    with pytest.raises(RefusedError, match=r"whole numbers would be surer than 0\.95") as caught:
        _solved(group)
    assert "  all: 1.00" in caught.value.private


def test_an_own_ceiling_is_held_by_this_reader_too() -> None:
    people, favourable = [60, 60, 30], [30, 30, 20]
    content = series.programme()
    content["attributes"]["secret"]["sets"] = {"last": {"values": ["r2"], "max_confidence": 0.3}}
    group = regions(people, favourable, attributes=content["attributes"])
    found = confidence(group, np.array([[500] * 2] * 3), Delta(0.8))
    assert found.held.item() > found.average.item()


def test_a_refused_run_names_its_groups_to_the_reviewer_only(tmp_path: Path) -> None:
    counts = series.one_group([45, 3, 3], [2, 0, 0])
    path = series.write_series(tmp_path, counts, whole_numbers="refuse", population_rounding=1)
    with series.quick(), pytest.raises(RefusedError, match="mechanism: calibrated") as caught:
        series.publish(path)
    assert caught.value.exit_code == 3
    assert "1.00" not in caught.value.message


def test_each_of_three_outcomes_is_looked_at_alone() -> None:
    rows, counts = [("all", "r0"), ("all", "r1")], np.array([[6, 2, 2], [1, 5, 4]])
    programme = Programme.model_validate(series.programme())
    group = regions_of_rows(rows, counts, programme=programme, outcomes=("approved", "refused", "open"))
    found = confidence(group, counts * 100, Delta(0.9))
    # Of the positive outcome 5 to 7 of the first ten and 0 to 2 of the others, 7 together: 5 and 2, 6 and 1, or 7.
    assert found.average.item() == pytest.approx(6 / 7)
    assert found.largest.item() == 1.0


@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_an_outsider_finds_a_false_statement_of_this_reader(tmp_path: Path, rates: str) -> None:
    path = series.write_series(tmp_path, series.card(10), population_rounding=1, group_rates=rates)
    with series.quick():
        stated = series.publish(path).documents / "report.json"
    assert verify(stated) == []
    for changed in (
        {"whole_numbers": 0.5},
        {"whole_numbers_at_most": 0.95},
        {"whole_numbers": None},
        {"whole_numbers": None, "whole_numbers_at_most": None},
    ):
        report = json.loads(stated.read_text(encoding="utf-8"))
        readers = report["privacy"]["readers"] | changed
        report["privacy"]["readers"] = {name: sure for name, sure in readers.items() if sure is not None}
        (tmp_path / "report.json").write_text(json.dumps(report), encoding="utf-8")
        assert any("whole" in str(finding) or "readers" in str(finding) for finding in verify(tmp_path / "report.json"))
