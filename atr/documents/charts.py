"""Geometry of the charts; the drawing itself is a template.

A chart shows, for each group, its announced ratio as a dot and the range of the true one as a thick bar; where the
decisions are seen as a sample, a thin line with end caps is the interval that sampling leaves. The axis holds every dot
and bar, and of intervals as much as has room; an end beyond it, or that nothing bounds, is an arrow to the edge.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from atr.report.wording import between, inverse, number

WIDTH = 640.0
LEFT, RIGHT = 176.0, 556.0
TOP = 30.0
Ticks = tuple[float, ...]
_STEPS = (1, 2, 2.5, 5)
_ROOM = 1.0
"""How far beyond everything else an interval may stretch the axis, in widths of the axis without it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of a chart before it is drawn; a reference, or a ratio that does not exist, has no value and no range."""

    label: str
    value: float | None
    range: tuple[float | None, float | None]
    symbol: str = ""
    reference: bool = False
    interval: tuple[float, float | None] | None = None


@dataclass(frozen=True, slots=True)
class Whisker:
    """The interval of a sample as drawn; an end that lies beyond the axis has an arrow in place of a cap."""

    start: float
    end: float
    open_left: bool
    open_right: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A drawn line: positions in the chart's own units."""

    label: tuple[str, ...]
    y: float
    dot: float | None
    start: float
    end: float
    arrow_left: bool
    arrow_right: bool
    text: str
    reference: bool
    whisker: Whisker | None = None

    @property
    def bar(self) -> bool:
        """Whether there is a range to draw."""
        return self.end - self.start > 0.05


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled position on the axis."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A dot chart with ranges, ready to draw."""

    id: str
    title: str
    values: str
    """Every value drawn, in words."""
    description: str
    """How to read the chart."""
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    lines: tuple[Tick, ...]
    band: tuple[float, float] | None
    one: float
    height: float
    line_label: str
    label_x: float
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    width: float = WIDTH


def axis(values: Iterable[float]) -> tuple[float, float, tuple[float, ...]]:
    """The two ends of an axis that holds all values, and where its ticks are.

    >>> axis([0.52, 1.0, 1.35])
    (0.4, 1.4, (0.4, 0.6, 0.8, 1.0, 1.2, 1.4))
    """
    known = list(values)
    low, high = min(known), max(known)
    raw = max(high - low, 1e-9) / 5
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next((s * scale for s in _STEPS if s * scale >= raw * 0.999), 10 * scale)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    ticks = tuple(round(i * step, 10) for i in range(first, last + 1))
    return ticks[0], ticks[-1], ticks


def dot_chart(
    marks: Sequence[Mark], *, id: str, title: str, threshold: float | None, decimals: int, level: str = ""
) -> Chart:
    """A chart of ratios to a reference.

    Parameters
    ----------
    marks
        In the order to draw them.
    id
        Unique in the document.
    title
        What the chart shows; its text alternative begins with it.
    threshold
        The p of the p%-rule: lines are drawn at p and 1/p.
    decimals
        Least decimals of printed ratios.
    level
        That of the marks' intervals, as in 95 %; empty where they have none.
    """
    lines = () if threshold is None or threshold <= 0 else tuple(dict.fromkeys((threshold, 1 / threshold)))
    drawn = [x for m in marks for x in (m.value, *m.range) if x is not None]
    low, high, ticks = _axis([*drawn, *lines, 1.0], [m.interval for m in marks if m.interval])

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (RIGHT - LEFT), 2)

    rows: list[Row] = []
    y = TOP + 4
    for mark in marks:
        label = wrap(mark.label)
        pitch = 28.0 if len(label) == 1 else 36.0
        start, end = mark.range
        nothing = mark.value is None and start is None and end is None
        value = "no ratio" if mark.value is None else number(mark.value, decimals=decimals)
        text = "reference" if mark.reference else f"{mark.symbol} {value}".strip()
        rows.append(
            Row(
                label,
                y + pitch / 2,
                x(1.0) if mark.reference else None if mark.value is None else x(mark.value),
                x(1.0) if mark.reference else LEFT if start is None else x(start),
                x(1.0) if mark.reference else LEFT if nothing else RIGHT if end is None else x(end),
                start is None and not nothing,
                end is None and not nothing,
                text,
                mark.reference,
                _whisker(mark.interval, (low, high), x),
            )
        )
        y += pitch
    values = "; ".join(
        f"{m.label}: {'reference' if m.reference else said(m, decimals=decimals, level=level)}" for m in marks
    )
    return Chart(
        id=id,
        title=title,
        values=f"{values}.",
        description=_how(threshold, level),
        rows=tuple(rows),
        ticks=tuple(Tick(x(t), number(t)) for t in ticks),
        lines=tuple(Tick(x(v), "") for v in lines),
        band=(x(min(lines)), x(max(lines))) if lines else None,
        one=x(1.0),
        height=y + 30,
        line_label="" if threshold is None else line_label(threshold),
        label_x=min(max(sum(map(x, lines)) / max(1, len(lines)), LEFT + 80), RIGHT - 80) if lines else LEFT,
    )


def _axis(values: Sequence[float], intervals: Sequence[tuple[float, float | None]]) -> tuple[float, float, Ticks]:
    """An axis that holds all values, and as much of the intervals as :data:`_ROOM` allows."""
    low, high = min(values), max(values)
    room = _ROOM * (high - low)
    ends = [x for interval in intervals for x in interval if x is not None]
    return axis([*values, *(min(max(x, low - room), high + room) for x in ends)])


def _whisker(
    interval: tuple[float, float | None] | None, ends: tuple[float, float], x: Callable[[float], float]
) -> Whisker | None:
    if interval is None:
        return None
    low, high = interval
    open_left, open_right = low < ends[0], high is None or high > ends[1]
    return Whisker(
        LEFT if open_left else x(low), RIGHT if high is None or open_right else x(high), open_left, open_right
    )


def _how(threshold: float | None, level: str) -> str:
    lines = "" if threshold is None else f" Dashed lines: {line_label(threshold)}."
    return f"{legend(level)}{lines}"


def legend(level: str, *, exact: bool = False) -> str:
    """What is drawn how, in words; where figures are exact, no range is drawn."""
    sample = f"; thin line with end caps: {level} interval if the decisions are seen as a sample" if level else ""
    bar = "" if exact else f"; {'thick bar' if level else 'bar'}: range of the true one"
    return f"Dot: announced ratio{', which is exact' if exact else ''}{bar}{sample}; ring: reference."


def line_label(threshold: float) -> str:
    """What is written above the lines."""
    return f"rule met from {number(threshold)} to {inverse(threshold)}"


def said(mark: Mark, *, decimals: int, level: str = "") -> str:
    """A mark in figures: the announced ratio, the range of the true one, and the interval of a sample."""
    value = "no ratio" if mark.value is None else number(mark.value, decimals=decimals)
    known = [] if mark.range == (mark.value, mark.value) else [between(mark.range, decimals=decimals)]
    if mark.interval is not None:
        known.append(f"{level} as a sample {between(mark.interval, decimals=decimals)}")
    return f"{mark.symbol} {value} {f'({joined})' if (joined := ', '.join(known)) else ''}".strip()


def wrap(text: str, *, width: int = 24, lines: int = 2) -> tuple[str, ...]:
    """A label in at most so many lines of about so many letters; of a longer one the beginning and the end are kept.

    >>> wrap("African-American"), wrap("x" * 60)
    (('African-American',), ('xxxxxxxxxxxxxxxxxxxxxxxx', '…xxxxxxxxxxxxxxxxxxxxxxx'))
    """
    result: list[str] = []
    rest = " ".join(text.split())
    while rest and len(result) < lines:
        cut = _fit(rest, width)
        if cut < len(rest) and (space := rest.rfind(" ", 0, cut + 1)) > width // 3 and len(result) < lines - 1:
            cut = space
        if cut < len(rest) and len(result) == lines - 1:
            result.append("…" + rest[-(cut - 1) :].lstrip())
            break
        result.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return tuple(result) or ("",)


def _fit(text: str, width: int) -> int:
    used = 0
    for position, character in enumerate(text):
        used += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used > width:
            return position
    return len(text)
