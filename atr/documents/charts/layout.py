"""Charts of labelled rows: the columns of a table with an axis on paper, labels above their marks on a phone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from markupsafe import Markup

from atr.documents.charts.axes import Plot, tick_labels
from atr.documents.charts.legend import Entry, legend
from atr.documents.charts.metrics import BOLD, text_width, wrap
from atr.documents.charts.palette import ACCENT, INK, MUTED, RULE
from atr.documents.charts.svg import (
    NARROW,
    WIDE,
    Anchor,
    Drawing,
    Type,
    figure,
    leading,
    line,
    lines_of_text,
    on_paper,
    text,
    within,
)

_GAP = 16.0
_NUMBER = Type(13.5, BOLD)
_MANY = 6
"""From so many rows on, rows are lower, so that 30 fit on a page."""


@dataclass(frozen=True, slots=True)
class Words:
    """What stands beside the marks of a row; ``number`` right behind them."""

    label: str
    people: str = ""
    number: str = ""
    finding: str = ""
    note: str = ""
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Heads:
    """What stands above the columns, and the most room for labels, in px, of a chart so wide.

    Rows may be ``low``, as many always are.
    """

    label: str
    people: str = ""
    finding: str = ""
    room: float = 190.0
    low: bool = False
    width: float = WIDE


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis of a chart of rows, its legend, and the words of both.

    ``place`` gives the positions of values on an axis from one position to another. Values are counted from ``solid``,
    with ``sides``, words below the axis to its left and right; ``dashed`` are those that something is held against.
    """

    ticks: tuple[tuple[float, str], ...]
    place: Callable[[float, float], Callable[[float], float]]
    solid: float | None = None
    sides: tuple[str, str] = ("", "")
    dashed: tuple[float, ...] = ()
    dashed_label: str = ""
    legend: tuple[Entry, ...] = ()


Draw = Callable[[int, float, Plot], tuple[list[Markup], tuple[float, float]]]
"""Draws the marks of a row, by its number and the middle of its height; returns also where they begin and end."""


def rows_chart(rows: Sequence[Words], heads: Heads, axis: Axis, draw: Draw, alt: str) -> Drawing:
    """A chart of rows.

    Parameters
    ----------
    rows
        What stands beside the marks, from the top.
    heads, axis
        Above and below the rows.
    draw
        Draws the marks of a row.
    alt
        The chart in words.
    """
    return Drawing(_wide(rows, heads, axis, draw, alt), _narrow(rows, axis, draw, alt))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a wide chart, and how wide it is: the room for labels, where people end, where the findings are,
    and the plot."""

    width: float
    label: float
    lines: int
    people: float
    finding: float
    anchor: Anchor
    plot: Plot

    @property
    def beside(self) -> float:
        """Where lines of the findings are anchored."""
        return self.width if self.anchor == "end" else self.finding


def _columns(rows: Sequence[Words], heads: Heads, axis: Axis) -> _Columns:
    labels = (text_width(heads.label, 12), *(text_width(row.label, 12.5, _weight(row)) for row in rows))
    label = min(max(60.0, *labels), heads.room)
    people = max(text_width(word, 12.5) for word in (heads.people, *(row.people for row in rows)))
    people_end = label + (_GAP + people if people else 0)
    findings = [text_width(row.finding, 12.5, _weight(row)) for row in rows]
    beside = max(text_width(heads.finding, 12), *findings, *(text_width(row.note, 11.5) for row in rows), 0.0)
    finding = heads.width - min(ceil(beside), 190.0)
    left, right = people_end + _GAP, finding - _GAP - _room(rows)
    lines = 3 if heads.width == WIDE else 4
    anchor: Anchor = "start" if any(row.note for row in rows) else "end"
    return _Columns(heads.width, label, lines, people_end, finding, anchor, Plot(axis.place(left, right), left, right))


def _room(rows: Sequence[Words]) -> float:
    """The room to the right of the axis for the number of a mark at its end."""
    widths = [text_width(_number(row), _NUMBER.size, BOLD) for row in rows]
    return 18 + max(widths) if any(widths) else 10.0


def _number(row: Words) -> str:
    return "".join(wrap(row.number, 100, _NUMBER.size, weight=BOLD, lines=1))


def _weight(row: Words) -> int:
    return BOLD if row.strong else 400


def _numbered(
    row: Words, marks: tuple[list[Markup], tuple[float, float]], y: float, axis: Axis, plot: Plot
) -> list[Markup]:
    """The marks of a row and their number: behind them, or before them where only there it covers no line."""
    parts, (start, end) = marks
    if not row.number:
        return parts
    words = _number(row)
    width = text_width(words, _NUMBER.size, BOLD)
    held = [plot.x(value) for value in (axis.solid, *axis.dashed) if value is not None]
    before, behind = start - 12 - width, end + 12
    covers = [any(x - 3 <= line <= x + width + 3 for line in held) for x in (before, behind)]
    x = before if covers == [False, True] and before >= plot.left + 2 else behind
    return [*parts, *on_paper(x, y + 4.6, words, _NUMBER)]


def _wide(rows: Sequence[Words], heads: Heads, axis: Axis, draw: Draw, alt: str) -> Markup:
    columns = _columns(rows, heads, axis)
    parts, top = _above(heads, axis, columns)
    drawn: list[Markup] = []
    y = top
    for i, row in enumerate(rows):
        words, height = _row(row, y, columns, low=heads.low or len(rows) >= _MANY)
        drawn += [*words, *_numbered(row, draw(i, y + height / 2, columns.plot), y + height / 2, axis, columns.plot)]
        y += height
        if i < len(rows) - 1:
            parts.append(line((0, y), (columns.width, y), RULE))
    parts = [*_grid(axis, columns.plot, top, y), *parts, *drawn]
    return _closed("wide", columns.width, parts, y, alt, axis, columns.plot)


def _above(heads: Heads, axis: Axis, columns: _Columns) -> tuple[list[Markup], float]:
    """The legend and the heads of the columns, and where the rows begin."""
    parts, top = legend(axis.legend, columns.width, 12)
    low, high = columns.people + _GAP, columns.finding - _GAP
    held = wrap(axis.dashed_label, high - low, 12)
    label, finding = wrap(heads.label, columns.label, 12), wrap(heads.finding, columns.width - columns.finding, 12)
    top += 10 + 15.0 * max(map(len, (label, finding, held, ("",))))
    middle = _middle(axis, columns.plot)
    for x, words, style in (
        (0.0, label, Type(12, fill=MUTED)),
        (columns.people, (heads.people,), Type(12, fill=MUTED, anchor="end")),
        (middle, held, Type(12, fill=ACCENT, anchor="middle")),
        (columns.beside, finding, Type(12, fill=MUTED, anchor=columns.anchor)),
    ):
        for i, told in enumerate(words):
            place = within(x, told, style, low, high) if style.anchor == "middle" else x
            parts.append(text(place, top - 10 - 15 * (len(words) - 1 - i), told, style))
    return [*parts, line((0, top), (columns.width, top), INK)], top


def _middle(axis: Axis, plot: Plot) -> float:
    return sum(map(plot.x, axis.dashed)) / max(len(axis.dashed), 1)


def _row(row: Words, y: float, columns: _Columns, *, low: bool) -> tuple[list[Markup], float]:
    """The words of a row of a wide chart, and its height."""
    weight, room = _weight(row), columns.width - columns.finding
    label = wrap(row.label, columns.label, 12.5, weight=weight, lines=columns.lines)
    finding, note = wrap(row.finding, room, 12.5, weight=weight), wrap(row.note, room, 11.5)
    least, margin, pitch = (26.0, 7.0, 15.0) if low else (36.0, 14.0, 16.0)
    height = max(least, pitch * max(len(label), len(finding) + len(note)) + margin)
    middle = y + height / 2
    first = middle - pitch / 2 * (len(finding) + len(note)) + 12
    note_style = Type(11.5, fill=MUTED, anchor=columns.anchor)
    return [
        *lines_of_text(0, middle - 8 * len(label) + 12, label, Type(12.5, weight)),
        *([text(columns.people, middle + 4, row.people, Type(12.5, anchor="end"))] if row.people else []),
        *lines_of_text(columns.beside, first, finding, Type(12.5, weight, anchor=columns.anchor)),
        *lines_of_text(columns.beside, first + pitch * len(finding), note, note_style),
    ], height


def _grid(axis: Axis, plot: Plot, top: float, foot: float) -> list[Markup]:
    """Lines at the ticks, and those that something is held against."""
    parts = [line((plot.x(value), top), (plot.x(value), foot), RULE) for value, _ in axis.ticks if value != axis.solid]
    if axis.solid is not None:
        parts.append(line((plot.x(axis.solid), top), (plot.x(axis.solid), foot), INK, 1.1))
    return parts + [line((plot.x(v), top - 4), (plot.x(v), foot), ACCENT, 1.2, "4 3") for v in axis.dashed]


def _narrow(rows: Sequence[Words], axis: Axis, draw: Draw, alt: str) -> Markup:
    left, right = 10.0, NARROW - _room(rows)
    plot = Plot(axis.place(left, right), left, right)
    parts, y = legend(axis.legend, NARROW, 13)
    style = Type(13, fill=ACCENT, anchor="middle")
    for words in wrap(axis.dashed_label, 240, 13):
        y += 16
        parts.append(text(within(_middle(axis, plot), words, style, 0, NARROW), y - 3, words, style))
    y += 6
    parts.append(line((0, y), (NARROW, y), INK))
    for i, row in enumerate(rows):
        label, y = _label_above(row, y + 18)
        parts += [*label, *_grid(axis, plot, y + 9, y + 33), *_numbered(row, draw(i, y + 21, plot), y + 21, axis, plot)]
        y += 36
        if not _beside(row):
            weight = _weight(row)
            finding, note = wrap(row.finding, NARROW, 13.5, weight=weight), wrap(row.note, NARROW, 13, lines=3)
            parts += lines_of_text(0, y + 13, finding, Type(13.5, weight))
            parts += lines_of_text(0, y + 13 + 17 * len(finding), note, Type(13, fill=MUTED))
            y += 17.0 * (len(finding) + len(note)) + 8
        if i < len(rows) - 1:
            parts.append(line((0, y), (NARROW, y), RULE))
    return _closed("narrow", NARROW, parts, y, alt, axis, plot)


def _beside(row: Words) -> bool:
    """Whether a finding is short enough to stand beside the label on a phone."""
    return not row.note and text_width(row.finding, 13.5, _weight(row)) <= 130


def _label_above(row: Words, y: float) -> tuple[list[Markup], float]:
    """The label of a row of a narrow chart, whose first baseline is ``y``, with people behind it; and its last one."""
    weight = _weight(row)
    finding = row.finding if _beside(row) else ""
    room = NARROW - (text_width(finding, 13.5, weight) + 14 if finding else 0)
    words = wrap(row.label, room, 13.5, weight=weight, lines=4)
    parts = lines_of_text(0, y, words, Type(13.5, weight))
    if finding:
        parts.append(text(NARROW, y, finding, Type(13.5, weight, anchor="end")))
    y += 17.0 * (len(words) - 1)
    if row.people:
        people = f"({row.people})"
        x = text_width(words[-1], 13.5, weight) + 6
        if x + text_width(people, 13.5) > room:
            x, y = 0.0, y + 17
        parts.append(text(x, y, people, Type(13.5, fill=MUTED)))
    return parts, y


def _closed(name: str, width: float, parts: list[Markup], y: float, alt: str, axis: Axis, plot: Plot) -> Markup:
    """The drawing with its axis at the foot."""
    size = 12.0 if name == "wide" else 13.0
    foot = [line((plot.left, y), (plot.right, y), INK), *tick_labels(axis.ticks, plot, y + size + 4, size, width)]
    y, most = y + size + 8, 0
    if axis.solid is not None:
        origin = plot.x(axis.solid)
        sides: tuple[tuple[str, Anchor, float, float], ...] = (
            (axis.sides[0], "end", origin - 8, origin - 8),
            (axis.sides[1], "start", origin + 8, width - origin - 8),
        )
        for words, anchor, x, room in sides:
            told = wrap(words, room, size, lines=4) if room > 40 else ()
            foot += lines_of_text(x, y + size, told, Type(size, fill=MUTED, anchor=anchor))
            most = max(most, len(told))
    return figure(name, width, y + most * leading(size) + 4, alt, [*parts, *foot])
