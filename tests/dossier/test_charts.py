"""The dossier's trade-off charts say in words and numbers what they draw."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from atr.core.groups import Groups
from atr.dossier.charts import FOOT, LEFT, RIGHT, TOP, apart, curve_chart, svg, table
from atr.dossier.tradeoff import trade_off

card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])


def test_the_papers_women():
    curves = trade_off(card)
    chart = curve_chart(curves, group=0, id="women", title="Women", level=0.9)
    assert "At δ 0.9: exact rates: 90\xa0%, free rates: 67.5\xa0%" in chart.values
    assert "Before any report 60\xa0%, with the true rules 100\xa0%" in chart.values
    assert ("0.9", "90\xa0%", "67.5\xa0%") in chart.rows
    assert chart.rows[0] == ("0", "60\xa0%", "60\xa0%")
    assert chart.rows[-1] == ("1", "100\xa0%", "100\xa0%")


@pytest.mark.parametrize("kind", ["delta", "alpha"])
@pytest.mark.parametrize("group", [None, 0, 1])
def test_everything_is_drawn_inside_and_said(kind, group):
    chart = curve_chart(trade_off(card, kind=kind), group=group, id="c", title="Title & more", level=0.9)
    for curve in chart.curves:
        points = [tuple(map(float, p.split(","))) for p in curve.points.split()]
        assert all(LEFT <= x <= RIGHT and TOP <= y <= FOOT for x, y in points)
        assert curve.dot in points
    root = ET.fromstring(svg(chart))
    names = {"{http://www.w3.org/2000/svg}" + tag for tag in ("title", "desc")}
    assert {e.tag for e in root} >= names
    assert root.attrib["aria-labelledby"] == "c-title c-desc"
    # Presentation attributes only: the dossier's policy allows no inline style.
    assert not any("style" in e.attrib for e in root.iter())
    assert ET.fromstring(table(chart)).find("caption").text == "Title & more"


def test_a_level_off_the_curve_is_not_marked():
    chart = curve_chart(trade_off(card, levels=[0, 0.5, 1]), group=None, id="c", title="t", level=0.9)
    assert chart.level is None
    assert all(curve.dot is None for curve in chart.curves)
    assert chart.values.startswith("At δ 1:")


def test_labels_keep_apart():
    ys = apart([10.0, 10.0, 12.0, 100.0, 40.0])
    ordered = sorted(ys)
    assert all(b - a >= 16 for a, b in pairwise(ordered))
    assert ys[3] == 100


def test_one_level_is_no_curve():
    with pytest.raises(ValueError, match="two levels"):
        curve_chart(trade_off(card, levels=[0.9]), group=None, id="c", title="t")
