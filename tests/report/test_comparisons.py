"""Verdicts over classes, and how many more people would reach a line."""

from __future__ import annotations

import pytest

from atr.programme import Policy
from atr.report.comparisons import ComparisonFormatter
from tests.helpers.judged import judged, judged_class


def test_parity_over_classes_follows_from_their_figures() -> None:
    how = ComparisonFormatter(Policy())
    classes = [judged_class("a", 0.1, (100, 200), 0.02), judged_class("b", 0.02, (300, 300), 0.02),
               judged_class("c", 0.5, (45, 900))]  # fmt: skip
    worst, mean = how.overall("worst_class", classes), how.overall("mean_over_classes", classes)
    assert (worst.value, worst.range, worst.verdict, worst.condition) == (0.1, (0.08, 0.12), "not_met", {})
    assert (mean.value, mean.range, mean.verdict) == (0.047, (0.026, 0.067), "cannot_tell")
    assert mean.people == (400, 500)
    assert mean.classes == (2, 3)
    assert (worst.worst_condition, mean.worst_condition) == ({"charge": "a"}, {})
    small = how.overall("worst_class", classes[2:])
    assert (small.value, small.verdict, small.reason) == (0.5, "cannot_tell", "too_few_people")


@pytest.mark.parametrize("people", [(135, 1685), (1000, 40)])
@pytest.mark.parametrize("value", [0.0, 0.2, 0.5, 0.79, 1.3, 3.0, None])
def test_the_shortfall_takes_the_ratio_to_the_line(value: float | None, people: tuple[int, int]) -> None:
    """As many more favourable decisions as are named put the group below the line on it, but for rounding."""
    a = 0.6 if value is None or value > 1 else 0.6 * value
    b = 0.6 if value is not None and value < 1 else 0.0 if value is None else 0.6 / value
    found = judged(minimum=1, value=value, range=(value, value), rates=(a, b), people=people)
    assert found.verdict == "not_met"
    assert found.shortfall is not None
    n, m = people
    more = found.shortfall
    at_line = (a + more / n) / b if a < b else a / (b + more / m)
    assert at_line == pytest.approx(0.8 if a < b else 1.25, abs=5 / min(people) / 0.3)
