"""Ratios to a reference on one logarithmic axis, with the lines that they are held against."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from atr.documents.charts.axes import Plot, whisker
from atr.documents.charts.layout import Axis, Heads, Words, rows_chart
from atr.documents.charts.scale import Scale
from atr.documents.charts.svg import Drawing, Ends, Kind, arrow, band, colours, mark

_TICKS = (0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0)
"""Where an axis can begin, end and have a number; what lies beyond is an arrow."""


@dataclass(frozen=True, slots=True)
class RatioRow:
    """A group: its ratio to the reference, and ``text``, the number beside it, or what stands where there is none."""

    label: str
    people: str
    ratio: float | None
    text: str
    verdict: str
    kind: Kind = "none"
    interval: Ends | None = None
    range: Ends | None = None


@dataclass(frozen=True, slots=True)
class RatioWords:
    """The words of a chart of ratios: in full, above its columns, and above its lines."""

    alt: str
    label: str
    people: str
    verdict: str
    lines: str = ""


def ratios(
    rows: Sequence[RatioRow],
    words: RatioWords,
    *,
    number: Callable[[float], str],
    lines: tuple[float, ...] = (0.8, 1.25),
) -> Drawing:
    """Draw ratios, a row each.

    Parameters
    ----------
    rows
        The groups, from the top.
    words
        The words of the chart.
    number
        Writes a number of the axis.
    lines
        The ratios that a rule draws its lines at.
    """
    ends = [end for row in rows for ends in (row.range, row.interval) for end in ends or ()]
    known = [v for v in (*ends, *(row.ratio for row in rows), *lines) if v is not None]
    low = max((tick for tick in _TICKS[:3] if tick <= min(known, default=1)), default=_TICKS[0])
    high = min((tick for tick in _TICKS[6:] if tick >= max(known, default=1)), default=_TICKS[-1])
    axis = Axis(
        tuple((tick, number(tick)) for tick in _TICKS if low <= tick <= high),
        lambda left, right: _log(low, high, left, right),
        solid=1.0,
        dashed=lines,
        dashed_label=words.lines,
    )
    beside = [Words(row.label, row.people, row.text, row.verdict, strong=row.kind == "not_met") for row in rows]
    heads = Heads(words.label, words.people, words.verdict)
    return rows_chart(beside, heads, axis, lambda i, y, plot: _row(rows[i], y, plot), words.alt)


def _log(low: float, high: float, left: float, right: float) -> Callable[[float], float]:
    scale = Scale(math.log(low), math.log(high), left, right)
    return lambda ratio: scale(math.log(max(ratio, 1e-9)))


def _row(row: RatioRow, y: float, plot: Plot) -> tuple[list[Markup], tuple[float, float]]:
    colour, pale = colours(row.kind == "not_met")
    parts: list[Markup] = []
    if row.range is not None:
        a, b = plot.span(row.range)
        parts.append(band(a, y - 6, b - a, 12, pale))
    if row.interval is not None:
        parts += whisker(row.interval, y, plot, colour, 2.4)
    if row.ratio is not None:
        x = plot.x(row.ratio)
        if plot.left <= x <= plot.right:
            parts.append(mark(x, y, 5.6, colour, hollow=row.kind == "cannot_tell"))
        else:
            parts.append(arrow(min(max(x, plot.left), plot.right), y, 1 if x > plot.right else -1, colour))
    return parts, plot.around((row.range, row.interval), row.ratio)
