"""Charts hold what they draw."""

from __future__ import annotations

import doctest
import xml.etree.ElementTree as ET
from importlib import import_module
from itertools import pairwise

import pytest

from atr.documents import templates
from atr.documents.charts import curves
from atr.documents.charts.rows import LEFT, RIGHT, Mark, row_chart
from atr.documents.charts.scale import axis


@pytest.mark.parametrize("module", ["charts.curves", "charts.scale", "csv", "html"])
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
    chart = row_chart(marks, title="t", description="d", base=1.0, lines=(0.8, 1.25))
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


@pytest.fixture
def chart() -> curves.CurveChart:
    return curves.curve_chart(
        [0.1 * i for i in range(11)],
        {"one": [0.6 + 0.04 * i for i in range(11)], "other": [0.6 + 0.004 * i * i for i in range(11)]},
        {"high": 1.0, "low": 0.6},
        mark=0.1 * 9,
        text=lambda share: f"{100 * share:g} %",
        title="Title & more",
    )


def test_curves_are_drawn_inside_with_a_dot_on_each(chart: curves.CurveChart) -> None:
    for line in (*chart.curves, *chart.limits):
        points = [tuple(map(float, p.split(","))) for p in line.points.split()]
        assert all(curves.LEFT <= x <= curves.RIGHT and curves.TOP <= y <= curves.FOOT for x, y in points)
        assert bool(points) == (line in chart.curves)
        assert not points or (chart.mark.x, line.y) in points
    assert [line.value for line in (*chart.limits, *chart.curves)] == ["100 %", "60 %", "96 %", "92.4 %"]


def test_curves_and_their_table_say_the_same(chart: curves.CurveChart) -> None:
    assert chart.rows[-1] == ("1", "100 %", "100 %")
    assert ("0.9", "96 %", "92.4 %") in chart.rows, "the marked place has a row"
    macros = templates.environment().get_template("dossier/curves.jinja").module
    root = ET.fromstring(macros.drawn(chart, "δ", "c"))  # type: ignore[attr-defined]
    names = {"{http://www.w3.org/2000/svg}" + tag for tag in ("title", "desc")}
    assert {e.tag for e in root} >= names
    assert "At δ 0.9: one: 96 %, other: 92.4 %. Before any report 60 %" in "".join(root[0].itertext())
    # Presentation attributes only: the dossier's policy allows no inline style.
    assert not any("style" in e.attrib for e in root.iter())
    caption = ET.fromstring(macros.tabled(chart, "δ")).find("caption")  # type: ignore[attr-defined]
    assert caption is not None
    assert caption.text == "Title & more"


def test_labels_keep_apart() -> None:
    ys = curves.apart([10.0, 10.0, 12.0, 100.0, 40.0])
    assert all(b - a >= 16 for a, b in pairwise(sorted(ys)))
    assert ys[0] < ys[1] < ys[2]
    assert ys[3] == 100
