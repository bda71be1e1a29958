"""Charts of one labelled row for each group or input: bars, dots, rings and the intervals of a sample on one axis.

The axis holds every dot, ring and bar, and of intervals as much as has room; an end beyond it, or that nothing bounds,
is an arrow to the edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr.documents.charts.scale import Scale, Tick, axis, wrap
from atr.documents.text.wording import number

WIDTH = 640.0
LEFT, RIGHT = 176.0, 556.0
TOP = 30.0
_ROOM = 1.0
"""The most that an interval may extend the axis at either end, in widths of the axis without intervals."""

Ends = tuple[float | None, float | None]
"""The lower and the upper end of a range; None where nothing bounds it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A row before it is drawn: what stands beside it, what is said of it in words, and the values it shows."""

    label: str
    text: str
    words: str
    bar: Ends | None = None
    dot: float | None = None
    ring: float | None = None
    interval: Ends | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A bar or an interval as drawn; an open end has an arrow."""

    start: float
    end: float
    open_left: bool
    open_right: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A drawn row: positions in the chart's own units."""

    label: str
    y: float
    text: str
    bar: Span | None
    dot: float | None
    ring: float | None
    whisker: Span | None


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart ready to draw, with the words that say the same."""

    title: str
    values: str
    """Every value drawn, in words."""
    description: str
    """How to read the chart."""
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    lines: tuple[float, ...]
    """Positions of the lines, from the left; the band between them is where a rule is met."""
    line_label: Tick
    base: float
    """Position of the value that all are compared with."""
    height: float
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    width: float = WIDTH


def row_chart(
    marks: Sequence[Mark],
    *,
    title: str,
    description: str,
    base: float,
    lines: Sequence[float] = (),
    line_label: str = "",
) -> Chart:
    """Lay out a chart of rows.

    Parameters
    ----------
    marks
        The rows, from the top.
    title, description
        What the chart shows, and how to read it: its text alternative.
    base
        The value that all are compared with.
    lines, line_label
        Values at which a rule draws its lines, ascending, and the label above them.

    Returns
    -------
    Positions in units of the drawing.
    """
    bounds = (x for m in marks for x in (m.dot, m.ring, *(m.bar or ())) if x is not None)
    ticks = _ticks([base, *lines, *bounds], [m.interval for m in marks if m.interval])
    x = Scale(ticks[0], ticks[-1], LEFT, RIGHT)
    rows, y = [], TOP + 4
    for mark in marks:
        label = wrap(mark.label)
        pitch = 28.0 if len(label) == 1 else 36.0
        dot, ring = (None if value is None else x(value) for value in (mark.dot, mark.ring))
        bar, whisker = (_span(ends, x) for ends in (mark.bar, mark.interval))
        rows.append(Row(" ".join(label), y + pitch / 2, mark.text, bar, dot, ring, whisker))
        y += pitch
    drawn = tuple(map(x, lines))
    middle = min(max(sum(drawn) / len(drawn), LEFT + 80), RIGHT - 80) if drawn else LEFT
    return Chart(
        title=title,
        values="; ".join(f"{m.label}: {m.words}" for m in marks) + ".",
        description=description,
        rows=tuple(rows),
        ticks=tuple(Tick(x(t), number(t)) for t in ticks),
        lines=drawn,
        line_label=Tick(middle, line_label),
        base=x(base),
        height=y + 30,
    )


def _ticks(values: Sequence[float], intervals: Sequence[Ends]) -> tuple[float, ...]:
    """The ticks of an axis that holds all values, and as much of the intervals as :data:`_ROOM` allows."""
    low, high = min(values), max(values)
    room = _ROOM * (high - low)
    ends = [x for interval in intervals for x in interval if x is not None]
    return axis([*values, *(min(max(x, low - room), high + room) for x in ends)])


def _span(ends: Ends | None, x: Scale) -> Span | None:
    if ends is None:
        return None
    low, high = ends
    open_left, open_right = low is None or low < x.low, high is None or high > x.high
    start, end = LEFT if low is None or open_left else x(low), RIGHT if high is None or open_right else x(high)
    return Span(start, end, open_left, open_right)
