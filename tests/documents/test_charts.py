"""Charts hold what they draw."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from atr.documents.charts.rows import LEFT, RIGHT, Mark, row_chart
from atr.documents.charts.scale import axis


@pytest.mark.parametrize("module", ["charts.scale", "charts.tree", "csv", "html"])
def test_examples_in_docstrings(module: str) -> None:
    found = doctest.testmod(import_module(f"atr.documents.{module}"))
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("values", [[0.52, 1, 1.35], [0, 12], [1, 1], [0.999, 1.001], [0, 1e-6], [3, 41.7]])
def test_axis_holds_all_values(values: list[float]) -> None:
    ticks = axis(values)
    assert ticks[0] <= min(values) + 1e-9
    assert ticks[-1] >= max(values) - 1e-9
    assert 2 <= len(ticks) <= 8
    assert list(ticks) == sorted(set(ticks))


def test_chart_keeps_everything_in_its_frame() -> None:
    marks = [
        Mark("a", "0.1", "0.1", bar=(0.0, 7.5), dot=0.1),
        Mark("b", "no ratio", "no ratio"),
        Mark("c", "2.0", "2.0", bar=(0.5, None), dot=2.0, interval=(-1000.0, 3.0)),
        Mark("ref", "reference", "reference", ring=1.0),
    ]
    chart = row_chart(marks, id="c", title="t", description="d", base=1.0, lines=(0.8, 1.25))
    for row in chart.rows:
        for span in (row.bar, row.whisker):
            assert span is None or LEFT <= span.start <= span.end <= RIGHT
        if row.bar and row.dot is not None:
            assert row.bar.start <= row.dot <= row.bar.end
    assert [row.bar and (row.bar.open_left, row.bar.open_right) for row in chart.rows] == [
        (False, False), None, (False, True), None,
    ]  # fmt: skip
    whisker = chart.rows[2].whisker
    assert whisker is not None
    assert (whisker.open_left, whisker.open_right) == (True, False), "an interval stretches the axis only so far"
    assert chart.lines[0] < chart.base < chart.lines[1]
    assert chart.values == "a: 0.1; b: no ratio; c: 2.0; ref: reference."
