"""What each kind of drawing shows."""

from __future__ import annotations

import doctest
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from atr.documents.charts import series as series_module
from atr.documents.charts.bars import BarRow, BarWords, bars
from atr.documents.charts.curves import Curve, CurveWords, curves
from atr.documents.charts.gaps import GapRow, GapWords, gaps
from atr.documents.charts.metrics import text_width, wrap
from atr.documents.charts.over_time import Moment, TimeRow, TimeWords, over_time
from atr.documents.charts.palette import ACCENT, GREY, LIMITS, PAPER
from atr.documents.charts.panels import Panel, PanelWords, Rule, panels
from atr.documents.charts.rates import RateRow, RateWords, rates, strip
from tests.helpers.drawings import LONG, SVG, boxes, number

WORDS = RateWords("alt", "Race", "People", "Against the line", "four-fifths line: 54")
PANEL_WORDS = PanelWords(("A", "B"), ("none", "1 to 3"), "not told", ((100, "100 people"),), "legend")


def marks(drawing: str, tag: str, **attributes: str) -> list[dict[str, str]]:
    """The attributes of the elements with a tag that have some attributes."""
    found = (node.attrib for node in ET.fromstring(drawing).iter(SVG + tag))
    return [each for each in found if attributes.items() <= each.items()]


def texts(drawing: str) -> list[str]:
    return [box.text for box in boxes(ET.fromstring(drawing))]


def middle(drawing: str, tick: str) -> float:
    """Where the number of an axis stands."""
    return next((box.left + box.right) / 2 for box in reversed([*boxes(ET.fromstring(drawing))]) if box.text == tick)


def test_rate_is_where_the_axis_says() -> None:
    drawn = rates([RateRow("Men", "50", 0.4, "forty", "met", "met"), RateRow("Women", "50", 1.0, "all", "")], WORDS)
    for size in (drawn.wide, drawn.narrow):
        dots = marks(size, "circle")
        assert float(dots[0]["cx"]) == pytest.approx(middle(size, "40"), abs=0.1)
        assert {"Men", "forty", "met"} <= set(texts(size))


def test_verdicts_are_told_apart_by_marks() -> None:
    rows = [RateRow(kind, "", 0.5, "50", kind, kind) for kind in ("not_met", "met", "cannot_tell", "none")]
    pens = [(dot["fill"], dot["stroke"]) for dot in marks(rates(rows, WORDS).wide, "circle")]
    assert pens == [(ACCENT, "none"), (GREY, "none"), (PAPER, GREY), (GREY, "none")]


def test_lines_are_drawn_only_where_there_are_some() -> None:
    row = RateRow("Men", "50", 0.4, "40", "met")
    assert not marks(rates([row], WORDS).wide, "line", **{"stroke-dasharray": "4 3"})
    assert WORDS.lines not in texts(rates([row], WORDS).wide)
    held = rates([row], WORDS, lines=(0.6, 0.8)).wide
    for dashed, at in zip(marks(held, "line", **{"stroke-dasharray": "4 3"}), ("60", "80"), strict=True):
        assert float(dashed["x1"]) == pytest.approx(middle(held, at), abs=0.6)
    assert WORDS.lines in texts(held)


def test_open_interval_ends_in_an_arrow() -> None:
    def arrows(row: RateRow) -> int:
        return len(marks(rates([row], WORDS).wide, "polygon"))

    assert arrows(RateRow("a", "1", 0.5, "50", "", interval=(0.4, 0.6))) == 0
    assert arrows(RateRow("a", "1", 0.5, "50", "", interval=(None, 0.6))) == 1
    assert arrows(RateRow("a", "1", 0.5, "50", "", interval=(None, None))) == 2


def test_strip_holds_the_marks_of_its_row() -> None:
    row = RateRow("a", "1", 0.5, "50", "", "not_met", interval=(0.4, 0.6), range=(0.3, 0.7))
    drawn = strip(row, "50 in 100", lines=(0.54,))
    assert marks(drawn, "circle", fill=ACCENT)[0]["cx"] == "77"
    assert marks(drawn, "rect", fill=LIMITS)
    assert not texts(drawn)


def test_gaps_write_both_sides_without_a_sign() -> None:
    words = GapWords("alt", "Who", "Same", "fewer", "more", ring="everybody", dot="alike")
    drawn = gaps([GapRow("A and B", "12 fewer", "", told=True, ring=-26.0, dot=-12.0)], words, number=number)
    assert "fewer" in texts(drawn.wide)
    assert "more" not in texts(drawn.wide), "nothing is on that side"
    assert not [text for text in texts(drawn.wide) if text.startswith(("-", "−"))]
    both = gaps([GapRow("A and B", "", "", told=True, ring=-26.0, dot=12.0)], words, number=number)
    assert {"fewer", "more", "everybody", "alike"} <= set(texts(both.narrow))


def test_ring_shows_around_a_dot_at_the_same_place() -> None:
    words = GapWords("alt", "Who", "Same", "fewer", "more")
    drawn = gaps([GapRow("A and B", "", "", told=True, ring=5.0, dot=5.0)], words, number=number)
    ring, dot = marks(drawn.wide, "circle")
    assert ring["cx"] == dot["cx"]
    assert float(ring["r"]) > float(dot["r"])


def test_bars_are_sorted_by_size_whatever_their_sign() -> None:
    rows = [BarRow("small", 1, "1 more"), BarRow("large", -30, "30 fewer"), BarRow("middle", 20, "20 more")]
    drawn = bars(rows, BarWords("alt", "Who"), number=number)
    for size in (drawn.wide, drawn.narrow):
        labels = [text for text in texts(size) if text in {row.label for row in rows}]
        assert labels == ["large", "middle", "small"]


def test_the_widest_note_has_one_line() -> None:
    notes = ["limits: 11.9 to 16.8 fewer", "limits: 9.5 to 13.3 more", ""]
    rows = [GapRow(f"{i}", "12 fewer", note, told=True, dot=-12.0) for i, note in enumerate(notes)]
    assert {*notes} - {""} < {*texts(gaps(rows, GapWords("alt", "Who", "", "fewer", "more"), number=number).wide)}


def test_panel_tells_limits_or_an_outlined_mark_below() -> None:
    rules = ((Rule(100, (20, 40), 30), Rule(100, None)), (None, Rule(9, (0, 60), 20, few=True)))
    drawn = panels([Panel("Men", "alt", rules)], PANEL_WORDS)
    panel = drawn.panels[0].wide
    told, outlined = marks(panel, "circle", fill=ACCENT), marks(panel, "circle", fill=PAPER)
    assert len(told) == len(outlined) == 1
    assert float(outlined[0]["cy"]) > middle_height(panel, "0")
    (band,) = marks(panel, "rect", fill=LIMITS)
    top, foot = middle_height(panel, "100"), middle_height(panel, "0")
    assert float(band["height"]) == pytest.approx(0.2 * (foot - top), abs=0.1)
    assert marks(panel, "rect", fill=PAPER), "few people are hollow"


def middle_height(drawing: str, tick: str) -> float:
    return next(box.bottom for box in boxes(ET.fromstring(drawing)) if box.text == tick)


def test_area_of_a_mark_is_people() -> None:
    rules = ((Rule(100, (20, 40), 30), Rule(300, (20, 40), 30)),)
    small, large = marks(panels([Panel("Men", "alt", rules)], PANEL_WORDS).panels[0].wide, "circle")
    assert (float(large["r"]) / float(small["r"])) ** 2 == pytest.approx(3, rel=0.02)


def test_too_many_series_are_refused() -> None:
    words = PanelWords(tuple("ABCDEFG"), ("none",), "not told", (), "legend")
    with pytest.raises(ValueError, match="7 series in a panel; at most 6"):
        panels([Panel("Men", "alt", ((None,),) * 7)], words)


def lines_of(moments: tuple[Moment | None, ...]) -> int:
    words = TimeWords("alt", ("2011", "2012", "2013", "2014"))
    return len(marks(over_time([TimeRow("Men", "50", moments)], words).wide, "line", stroke=ACCENT))


def test_line_over_time_breaks_at_a_missing_release() -> None:
    there = Moment(0.5)
    assert lines_of((there, there, there, there)) == 3
    assert lines_of((there, None, there, there)) == 1
    assert lines_of((there, None, there, None)) == 0


def test_change_that_is_told_is_ringed() -> None:
    words = TimeWords("alt", ("2011", "2012"))
    drawn = over_time([TimeRow("Men", "60", (Moment(0.5), Moment(0.6, told=True)))], words).wide
    (ring,) = marks(drawn, "circle", fill=PAPER)
    assert ring["cx"] == marks(drawn, "circle", fill=ACCENT)[1]["cx"]


def test_curve_has_its_dot_at_the_mark_and_its_value_beside_it() -> None:
    words = CurveWords("alt", "fidelity δ", "δ 0.9")
    drawn = [Curve("exact rates", "96 %", (60, 90, 96, 100)), Curve("free", "92.4 %", (60, 80, 92.4, 100))]
    levels = [Curve("true rules", "100 %", (100,)), Curve("before any report", "60 %", (60,))]
    found = curves([0, 0.5, 0.9, 1], drawn, levels, words, mark=0.9)
    (mark,) = marks(found, "line", **{"stroke-dasharray": "2 3"})
    (dot,) = marks(found, "circle")
    assert float(dot["cx"]) == pytest.approx(float(mark["x1"]), abs=0.6)
    said = " ".join(texts(found))
    assert all(of in said for of in ("δ 0.9", "96 % exact", "92.4 % free", "100 % true", "60 % before"))
    beside = [box for box in boxes(ET.fromstring(found)) if " %" in box.text]
    assert all(a.bottom <= b.top + 1 for a, b in pairwise(sorted(beside, key=lambda box: box.top)))


def test_examples_in_docstrings() -> None:
    found = doctest.testmod(series_module)
    assert found.attempted
    assert not found.failed


def test_text_without_room_keeps_beginning_and_end() -> None:
    told = wrap(LONG, 150, 12.5)
    assert len(told) == 2
    assert told[0].startswith("Women who")
    assert told[1].startswith("…")
    assert told[1].endswith("municipality")
    assert all(text_width(line, 12.5) <= 150 for line in told)
    assert wrap("", 150, 12.5) == ()
    assert wrap("Men", 1, 12.5, lines=1), "a letter is never left without a line"


def test_right_to_left_text_is_cut_on_its_own_side() -> None:
    assert wrap("אישה ילידת חוץ " * 9, 150, 12.5)[-1].startswith("\u200f…")


def test_marks_stay_with_their_letters() -> None:
    assert all(not line.startswith("\u0301") for line in wrap("e\u0301" * 60, 100, 12.5, lines=9))
