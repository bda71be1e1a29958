"""Rates by group: a dot for each on an axis from 0 to 100, and how each stands against a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from atr.documents.charts.axes import Plot, whisker
from atr.documents.charts.layout import Axis, Heads, Words, rows_chart
from atr.documents.charts.palette import ACCENT, MUTED, RULE
from atr.documents.charts.scale import Scale
from atr.documents.charts.svg import Drawing, Ends, Kind, Type, band, colours, figure, line, mark, text

STRIP = 156.0
"""Width of the chart of a row inside a table, in px."""


@dataclass(frozen=True, slots=True)
class RateRow:
    """A group: shares are from 0 to 1; ``text`` is the number beside the dot, or what stands where there is none."""

    label: str
    people: str
    rate: float | None
    text: str
    verdict: str
    kind: Kind = "none"
    interval: Ends | None = None
    range: Ends | None = None


@dataclass(frozen=True, slots=True)
class RateWords:
    """The words of a chart of rates: in full, above its columns, and above its lines."""

    alt: str
    label: str
    people: str
    verdict: str
    lines: str = ""


def rates(rows: Sequence[RateRow], words: RateWords, *, lines: tuple[float, ...] = ()) -> Drawing:
    """Draw the rates of groups, a row each.

    Parameters
    ----------
    rows
        The groups, from the top.
    words
        The words of the chart.
    lines
        The shares that rates are held against, such as four fifths of a reference's; from 0 to 1.
    """
    ticks = tuple((tick / 100, str(tick)) for tick in range(0, 101, 20))
    axis = Axis(
        ticks,
        partial(Scale, 0.0, 1.0),
        dashed=lines,
        dashed_label=words.lines if lines else "",
    )
    beside = [Words(row.label, row.people, row.text, row.verdict, strong=row.kind == "not_met") for row in rows]

    def draw(i: int, y: float, plot: Plot) -> tuple[list[Markup], tuple[float, float]]:
        return _marks(rows[i], y, plot, 6.2), plot.around((rows[i].range, rows[i].interval), rows[i].rate)

    return rows_chart(beside, Heads(words.label, words.people, words.verdict), axis, draw, words.alt)


def strip(row: RateRow, alt: str, *, lines: Sequence[float] = ()) -> Markup:
    """Draw the rate of a group without words, for a cell of a table.

    Parameters
    ----------
    row
        The group.
    alt
        The cell in words.
    lines
        The shares that the rate is held against; from 0 to 1.
    """
    plot = Plot(Scale(0.0, 1.0, 10.0, 144.0), 10.0, 144.0)
    return figure("strip", STRIP, 26, alt, [*_strip_lines(plot, lines), *_marks(row, 13, plot, 5)])


def strip_axis(alt: str) -> Markup:
    """Draw the numbers of the axis above the strips of a table; ``alt`` says what the axis is."""
    plot = Plot(Scale(0.0, 1.0, 10.0, 144.0), 10.0, 144.0)
    style = Type(11.5, fill=MUTED, anchor="middle")
    numbers = (text(plot.x(tick / 100), 15, str(tick), style) for tick in range(0, 101, 25))
    return figure("strip", STRIP, 20, alt, numbers)


def _strip_lines(plot: Plot, lines: Sequence[float]) -> list[Markup]:
    grid = [line((plot.x(tick / 100), 0), (plot.x(tick / 100), 26), RULE) for tick in range(0, 101, 25)]
    return grid + [line((plot.x(at), 0), (plot.x(at), 26), ACCENT, 1.2, "3 3") for at in lines]


def _marks(row: RateRow, y: float, plot: Plot, radius: float) -> list[Markup]:
    colour, pale = colours(row.kind == "not_met")
    parts: list[Markup] = []
    if row.range is not None:
        a, b = plot.span(row.range)
        parts.append(band(a, y - 6, b - a, 12, pale))
    if row.interval is not None:
        parts += whisker(row.interval, y, plot, colour, 2.4)
    if row.rate is not None:
        parts.append(mark(plot.x(row.rate), y, radius, colour, hollow=row.kind == "cannot_tell"))
    return parts
