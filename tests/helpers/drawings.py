"""Drawings of every kind from inputs that are hard to lay out, and what stands where in them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import NamedTuple

from markupsafe import Markup

from atr.documents.charts.bars import BarRow, BarWords, bars
from atr.documents.charts.gaps import GapRow, GapWords, gaps
from atr.documents.charts.metrics import text_width
from atr.documents.charts.over_time import Moment, TimeRow, TimeWords, over_time
from atr.documents.charts.panels import Panel, PanelWords, Rule, panels
from atr.documents.charts.rates import RateRow, RateWords, rates, strip, strip_axis
from atr.documents.charts.svg import Drawing

ALT = 'All of it in words, with "quotes", <tags> & more'
LONG = "Women who were divorced, widowed or separated & lived with two or more children in a rural municipality"
LABELS = (LONG, "Men", "אישה ילידת חוץ", "x" * 90, "Αθηναίοι", "女性" * 20)
SHARES = (0.0, 1.0, 0.5, None, 0.5, 0.935)
TEXTS = ("0", "100", "50", "not told", "50", "93.5")
INTERVALS = ((0.0, 0.04), (0.96, 1.0), (0.0, 1.0), None, (0.2, None), None)
RANGES = (None, None, (0.1, 0.9), (0.3, None), (0.0, 1.0), (0.9, 0.95))
KINDS = ("not_met", "met", "cannot_tell", "none", "met", "not_met")
VERDICTS = ("not met", "met", "cannot be told from the ranges", "", "compared with", "not met, and long besides")
SVG = "{http://www.w3.org/2000/svg}"


def number(value: float) -> str:
    return f"{value:g}"


def of(values, i):
    return values[i % len(values)]


def rate_rows(n):
    return [
        RateRow(
            of(LABELS, i), f"{10 ** (i % 8):,}", of(SHARES, i), of(TEXTS, i), of(VERDICTS, i), of(KINDS, i),
            of(INTERVALS, i), of(RANGES, i),
        )
        for i in range(n)
    ]  # fmt: skip


def gap_rows(n):
    values = (-26.3, 0.0, 0.7, None, 100.0)
    return [
        GapRow(
            of(LABELS, i), of(("12.9 fewer", LONG), i), of(("between 10.5 and 15.4 fewer", LONG, ""), i), i % 2 == 0,
            of(values, i), of(values, i + 2), of(values, i + i % 2), of(((-3.0, 2.0), None), i), (-30.0, 20.0),
        )
        for i in range(n)
    ]  # fmt: skip


def time_rows(n, periods):
    def moment(i, j):
        share = of((0.5, 0.5, 1.0, 0.0, 0.68), i)
        return None if (i + j) % 5 == 4 else Moment(share, (share, None), (None, share), told=j % 2 == 1)

    return [TimeRow(of(LABELS, i), of(TEXTS, i), tuple(moment(i, j) for j in range(periods))) for i in range(n)]


def rule_panels(series, steps):
    words = PanelWords(
        tuple(of(LABELS, i) for i in range(series)), tuple(of((LONG, "none", "4 to 10"), i) for i in range(steps)),
        "not told", ((1_000_000, "1,000,000"), (20, "20 people")), ALT, "few people",
    )  # fmt: skip
    rules = (None, Rule(5, None), Rule(10**6, (0, 100), 50, few=True), Rule(300, (100, 100), 100), Rule(1, (0, 0), 0))
    return panels(
        [Panel(of(LABELS, p), ALT, tuple(tuple(of(rules, i + j) for j in range(steps)) for i in range(series)))
         for p in range(2)],
        words,
    )  # fmt: skip


def drawings() -> dict[str, Drawing]:
    """Every kind of drawing, by its name."""
    rated = RateWords(ALT, "Race", "People", "Against the line", f"four-fifths line: 54 {LONG}")
    gapped = GapWords(ALT, LONG, "In the same situation", "fewer in 100 scored low", "more", *LABELS[:5])
    barred = BarWords(ALT, "Who")
    found: dict[str, Drawing] = {}
    for n in (1, 4, 30):
        found[f"{n} rates"] = rates(rate_rows(n), rated, lines=(0.0,) if n == 1 else (0.54, 0.99))
        found[f"{n} gaps"] = gaps(gap_rows(n), gapped, number=number)
        lengths = [BarRow(of(LABELS, i), (-1) ** i * 10.0 * (i // 2), of(TEXTS, i), strong=i < 2) for i in range(n)]
        found |= {
            f"{n} bars{', half' * half}": bars(lengths, barred, number=number, half=half) for half in (False, True)
        }
        told = TimeWords(ALT, tuple(f"April to June {2010 + i}" for i in range(n)), LONG, "limits", "a change is told")
        found[f"{n} over time"] = over_time(time_rows(n, n), told)
    found["rates without line"] = rates(rate_rows(2), rated)
    found["no rows"] = rates([], rated)
    for series, steps in ((1, 1), (4, 4), (6, 12)):
        of_rules = rule_panels(series, steps)
        found[f"legend of {series}"] = of_rules.legend
        found |= {f"panel {i} of {series}": panel for i, panel in enumerate(of_rules.panels)}
    return found


def strips() -> list[Markup]:
    return [strip_axis(ALT), *(strip(row, ALT, lines=(0.54, 0.84)) for row in rate_rows(6))]


class Box(NamedTuple):
    """A text, and the rectangle that it is written in."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def boxes(root: ET.Element) -> Iterator[Box]:
    for node in root.iter(SVG + "text"):
        size, x, y = (float(node.attrib[name]) for name in ("font-size", "x", "y"))
        width = text_width(node.text or "", size, int(node.get("font-weight", "400")))
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[node.get("text-anchor", "start")]
        if node.text:
            yield Box(node.text, left, y - 0.72 * size, left + width, y + 0.22 * size)
