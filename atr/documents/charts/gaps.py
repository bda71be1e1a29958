"""Differences before and after comparing like with like: a ring and a dot for each pair of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from atr.documents.charts.axes import Plot, whisker
from atr.documents.charts.layout import Axis, Heads, Words, rows_chart
from atr.documents.charts.legend import Entry
from atr.documents.charts.palette import INK, LIMITS
from atr.documents.charts.scale import Scale
from atr.documents.charts.scale import axis as axis_of
from atr.documents.charts.svg import Drawing, Ends, band, colours, line, mark


@dataclass(frozen=True, slots=True)
class GapRow:
    """A pair of groups: differences in points, below 0 where the first have fewer.

    ``ring`` is of everybody, ``tick`` of people with the same public attributes, ``dot`` with the same attributes;
    ``band`` its limits, ``line`` these and chance. ``told`` is whether it can be told apart from chance and from none.
    """

    label: str
    finding: str
    note: str
    told: bool
    ring: float | None = None
    tick: float | None = None
    dot: float | None = None
    band: Ends | None = None
    line: Ends | None = None


@dataclass(frozen=True, slots=True)
class GapWords:
    """The words of a chart of differences: in full, above its columns, below its axis, and of its legend."""

    alt: str
    label: str
    finding: str
    fewer: str
    more: str
    ring: str = ""
    tick: str = ""
    dot: str = ""
    band: str = ""
    line: str = ""


def gaps(rows: Sequence[GapRow], words: GapWords, *, number: Callable[[float], str]) -> Drawing:
    """Draw differences, a row each; a legend entry without words is left out.

    Parameters
    ----------
    rows
        The pairs, from the top.
    words
        The words of the chart.
    number
        Writes a number of the axis, which has no sign.
    """
    values = [v for row in rows for v in (row.ring, row.tick, row.dot, *(row.band or ()), *(row.line or ()))]
    ticks = axis_of([0.0, *(v for v in values if v is not None)])
    axis = Axis(
        tuple((tick, number(abs(tick))) for tick in ticks),
        partial(Scale, ticks[0], ticks[-1]),
        solid=0.0,
        sides=(words.fewer if ticks[0] < 0 else "", words.more if ticks[-1] > 0 else ""),
        legend=_legend(words),
    )
    beside = [Words(row.label, finding=row.finding, note=row.note, strong=row.told) for row in rows]
    heads = Heads(words.label, finding=words.finding, low=True)
    return rows_chart(beside, heads, axis, lambda i, y, plot: (_marks(rows[i], y, plot), (0.0, 0.0)), words.alt)


def _marks(row: GapRow, y: float, plot: Plot) -> list[Markup]:
    colour, pale = colours(row.told)
    parts: list[Markup] = []
    if row.ring is not None and row.dot is not None:
        parts.append(line((plot.x(row.ring), y), (plot.x(row.dot), y), colour, 1.2))
    if row.line is not None:
        parts += whisker(row.line, y, plot, colour, 1.2)
    if row.band is not None:
        a, b = plot.span(row.band)
        parts.append(band(a, y - 5.5, b - a, 11, pale))
    if row.ring is not None:
        parts.append(mark(plot.x(row.ring), y, 5.4, colour, hollow=True))
    if row.tick is not None:
        parts.append(line((plot.x(row.tick), y - 7), (plot.x(row.tick), y + 7), colour, 1.8))
    if row.dot is not None:
        parts.append(mark(plot.x(row.dot), y, 4.6, colour))
    return parts


def _legend(words: GapWords) -> tuple[Entry, ...]:
    return (
        Entry(lambda x, y: [mark(x, y, 5.4, INK, hollow=True)], 13, words.ring),
        Entry(lambda x, y: [line((x, y - 7), (x, y + 7), INK, 1.8)], 4, words.tick),
        Entry(lambda x, y: [mark(x, y, 4.6, INK)], 11, words.dot),
        Entry(lambda x, y: [band(x - 13, y - 5.5, 26, 11, LIMITS)], 26, words.band),
        Entry(lambda x, y: [line((x - 13, y), (x + 13, y), INK, 1.2)], 26, words.line),
    )
