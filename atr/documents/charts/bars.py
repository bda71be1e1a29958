"""Sorted bars: the share of the outcome that each attribute accounts for, or the leaves of a surrogate as sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from atr.documents.charts.axes import Plot, whisker
from atr.documents.charts.layout import SENTENCE, Axis, Heads, Words, rows_chart
from atr.documents.charts.palette import INK, PAPER
from atr.documents.charts.scale import Scale
from atr.documents.charts.scale import axis as axis_of
from atr.documents.charts.svg import Drawing, Ends, band, colours


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar: its value, and ``text``, the number at its end. ``strong`` bars stand out."""

    label: str
    value: float
    text: str
    people: str = ""
    strong: bool = False
    interval: Ends | None = None


@dataclass(frozen=True, slots=True)
class BarWords:
    """The words of a chart of bars: in full, above its columns, and below its axis on both sides of 0."""

    alt: str
    label: str
    people: str = ""
    fewer: str = ""
    more: str = ""


def bars(
    rows: Sequence[BarRow], words: BarWords, *, number: Callable[[float], str], whole: float | None = None
) -> Drawing:
    """Draw bars, the largest at the top whatever its sign; those of the same size keep their order.

    Parameters
    ----------
    rows
        The bars.
    words
        The words of the chart.
    number
        Writes a number of the axis.
    whole
        Where the axis ends, such as 100 for shares; without it, it ends behind the largest value.
    """
    ordered = sorted(rows, key=lambda row: -abs(row.value))
    ends = [end for row in rows for end in row.interval or () if end is not None]
    ticks = axis_of([0.0, *(row.value for row in rows), *ends, *([] if whole is None else [whole])])
    axis = Axis(
        tuple((tick, number(tick)) for tick in ticks),
        partial(Scale, ticks[0], ticks[-1]),
        solid=0.0,
        sides=(words.fewer if ticks[0] < 0 else "", words.more if ticks[-1] > 0 else ""),
    )
    beside = [Words(row.label, row.people, row.text, strong=row.strong) for row in ordered]

    def draw(i: int, y: float, plot: Plot) -> tuple[list[Markup], tuple[float, float]]:
        row = ordered[i]
        a, b = plot.span((min(row.value, 0.0), max(row.value, 0.0)))
        parts = [band(a, y - 7, b - a, 14, colours(row.strong)[0])]
        if row.interval is not None:
            parts += [*whisker(row.interval, y, plot, PAPER, 4), *whisker(row.interval, y, plot, INK, 1.4)]
            b = max(b, plot.span(row.interval)[1])
        return parts, (a, b - 4)

    return rows_chart(beside, Heads(words.label, words.people, room=SENTENCE), axis, draw, words.alt)
