"""Rates by period and group: a line for each group, with its name where the line ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from atr.documents.charts.axes import Plot, steps_below
from atr.documents.charts.legend import Entry, legend
from atr.documents.charts.metrics import BOLD, text_width, wrap
from atr.documents.charts.palette import GREY, INK, LIMITS, MUTED, RULE
from atr.documents.charts.scale import Scale
from atr.documents.charts.series import Pen, dot, joined, pens, spread
from atr.documents.charts.svg import (
    NARROW,
    WIDE,
    Drawing,
    Ends,
    Type,
    band,
    figure,
    line,
    lines_of_text,
    mark,
    text,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A group's rate in a period, as shares from 0 to 1; ``told`` where a change since the last one is told."""

    rate: float
    interval: Ends | None = None
    range: Ends | None = None
    told: bool = False


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A group: its rate in each period, None where there is none, and ``text``, the number where its line ends."""

    label: str
    text: str
    moments: tuple[Moment | None, ...]


@dataclass(frozen=True, slots=True)
class TimeWords:
    """The words of a chart over time: in full, the names of its periods, and of its legend."""

    alt: str
    periods: tuple[str, ...]
    interval: str = ""
    range: str = ""
    told: str = ""


def over_time(rows: Sequence[TimeRow], words: TimeWords) -> Drawing:
    """Draw rates over time; the lines of the first two groups stand out.

    Parameters
    ----------
    rows
        The groups; each has as many moments as there are periods.
    words
        The words of the chart; a legend entry without words is left out.
    """
    return Drawing(_drawn(rows, words, "wide"), _drawn(rows, words, "narrow"))


def _drawn(rows: Sequence[TimeRow], words: TimeWords, name: str) -> Markup:
    width, size, room = (WIDE, 12.5, 180.0) if name == "wide" else (NARROW, 13.0, 100.0)
    drawn = pens(len(rows))
    number = max((text_width(row.text, size, BOLD) for row in rows), default=0)
    labels = [wrap(row.label, room, size, weight=_weight(pen), lines=3) for row, pen in zip(rows, drawn, strict=True)]
    beside = [(line, _weight(pen)) for label, pen in zip(labels, drawn, strict=True) for line in label]
    column = number + 6 + max((text_width(line, size, weight) for line, weight in beside), default=0)
    heights = [16.0 * max(len(label), 1) + 2 for label in labels]
    parts, top = legend(_legend(words), width, size)
    top += 14
    foot = top + max(200.0, sum(heights))
    left, right = 8 + text_width("100", size), width - column - 22
    slot = Scale(0, max(len(words.periods), 1), left + 6, right)
    plot, y = Plot(slot, left + 6, right), Scale(0, 1, foot, top)
    for tick in range(0, 101, 25):
        parts.append(line((left + 6, y(tick / 100)), (right, y(tick / 100)), RULE if tick else INK))
        parts.append(text(left, y(tick / 100) + 4, str(tick), Type(size, fill=MUTED, anchor="end")))
    below, height = steps_below(words.periods, plot, foot + size + 5, size, width)
    parts += below
    step = min(9.0, (slot(1) - slot(0)) * 0.7 / max(len(rows), 1))
    lines: list[Markup] = []
    ends: list[tuple[float, float]] = []
    for i, (row, pen) in enumerate(zip(rows, drawn, strict=True)):
        shift = step * (i - (len(rows) - 1) / 2)
        places = [(slot(period + 0.5) + shift, m) for period, m in enumerate(row.moments)]
        points = [None if m is None else (x, y(m.rate)) for x, m in places]
        ends.append(next((point for point in reversed(points) if point), (right, foot)))
        behind, before = _series(places, points, y, pen)
        parts += behind
        lines = [*before, *lines]
    parts += _names(rows, labels, ends, (right + 16, number, size), (top, foot))
    return figure(name, width, foot + height + 9, words.alt, [*parts, *lines])


def _weight(pen: Pen) -> int:
    return BOLD if pen.strong else 400


def _series(
    places: Sequence[tuple[float, Moment | None]],
    points: Sequence[tuple[float, float] | None],
    y: Scale,
    pen: Pen,
) -> tuple[list[Markup], list[Markup]]:
    """The bands of a series, which go behind all lines, and its lines and marks."""
    behind, before = [], joined(points, pen)
    for x, moment in places:
        if moment is None:
            continue
        if moment.range is not None:
            low, high = (y(end if end is not None else i) for i, end in enumerate(moment.range))
            behind.append(band(x - 3, high, 6, low - high, pen.pale))
        if moment.interval is not None:
            low, high = (y(end if end is not None else i) for i, end in enumerate(moment.interval))
            before.append(line((x, low), (x, high), pen.colour, 1.6))
        if moment.told:
            before.append(mark(x, y(moment.rate), 7.0, pen.colour, hollow=True))
        before.append(dot(x, y(moment.rate), 3.6 if pen.strong else 2.8, pen))
    return behind, before


def _names(
    rows: Sequence[TimeRow],
    labels: Sequence[tuple[str, ...]],
    ends: Sequence[tuple[float, float]],
    column: tuple[float, float, float],
    room: tuple[float, float],
) -> list[Markup]:
    """The number and name of each line, beside where it ends and apart from each other."""
    x, number, size = column
    parts: list[Markup] = []
    middles = spread([y for _, y in ends], [16.0 * max(len(label), 1) + 2 for label in labels], *room)
    for row, label, (end, at), middle, pen in zip(rows, labels, ends, middles, pens(len(rows)), strict=True):
        first = middle - 8 * len(label) + 12
        parts.append(line((end, at), (x - 3, middle), GREY, 0.6))
        parts.append(text(x + number, first, row.text, Type(size, BOLD, anchor="end")))
        parts += lines_of_text(x + number + 6, first, label, Type(size, _weight(pen)))
    return parts


def _legend(words: TimeWords) -> tuple[Entry, ...]:
    return (
        Entry(lambda x, y: [line((x, y - 8), (x, y + 8), INK, 1.6), mark(x, y, 3.6, INK)], 8, words.interval),
        Entry(lambda x, y: [band(x - 3, y - 8, 6, 16, LIMITS)], 6, words.range),
        Entry(lambda x, y: [mark(x, y, 7, INK, hollow=True), mark(x, y, 3.6, INK)], 15, words.told),
    )
