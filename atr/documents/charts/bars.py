"""Sorted bars: how far the outcome moves with each attribute, or what part of a gap goes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from atr.documents.charts.axes import Plot
from atr.documents.charts.layout import Axis, Heads, Words, rows_chart
from atr.documents.charts.scale import Scale
from atr.documents.charts.scale import axis as axis_of
from atr.documents.charts.svg import HALF, WIDE, Drawing, band, colours


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar: its value, and ``text``, the number at its end. ``strong`` bars stand out."""

    label: str
    value: float
    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class BarWords:
    """The words of a chart of bars: in full, and above its labels."""

    alt: str
    label: str


def bars(rows: Sequence[BarRow], words: BarWords, *, number: Callable[[float], str], half: bool = False) -> Drawing:
    """Draw bars, the largest at the top whatever its sign; those of the same size keep their order.

    Parameters
    ----------
    rows
        The bars.
    words
        The words of the chart.
    number
        Writes a number of the axis.
    half
        Whether another chart stands beside it on paper and on wide screens.
    """
    ordered = sorted(rows, key=lambda row: -abs(row.value))
    ticks = axis_of([0.0, *(row.value for row in rows)])
    axis = Axis(tuple((tick, number(tick)) for tick in ticks), partial(Scale, ticks[0], ticks[-1]), solid=0.0)

    def draw(i: int, y: float, plot: Plot) -> tuple[list[Markup], tuple[float, float]]:
        row = ordered[i]
        a, b = plot.span((min(row.value, 0.0), max(row.value, 0.0)))
        return [band(a, y - 7, b - a, 14, colours(row.strong)[0])], (a, b - 4)

    room, width = (110.0, HALF) if half else (280.0, WIDE)
    beside = [Words(row.label, number=row.text, strong=row.strong) for row in ordered]
    return rows_chart(beside, Heads(words.label, room=room, low=True, width=width), axis, draw, words.alt)
