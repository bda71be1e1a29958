"""Axes: where values are drawn, what is written below, and intervals cut at their ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from atr.documents.charts.metrics import text_width, unbroken, wrap
from atr.documents.charts.palette import MUTED
from atr.documents.charts.svg import Ends, Type, arrow, leading, line, lines_of_text, text, within


@dataclass(frozen=True, slots=True)
class Plot:
    """Where values are drawn: their positions, and the ends of the axis, in px."""

    x: Callable[[float], float]
    left: float
    right: float

    def span(self, ends: Ends) -> tuple[float, float]:
        """Positions of the ends of a range, cut at the ends of the axis."""
        low, high = ends
        a = self.left if low is None else min(max(self.x(low), self.left), self.right)
        b = self.right if high is None else max(min(self.x(high), self.right), self.left)
        return a, b

    def around(self, ranges: Sequence[Ends | None], value: float | None) -> tuple[float, float]:
        """Where the marks of some ranges and a value begin and end; at the left where there are none."""
        known = [*(ends for ends in ranges if ends is not None), *([] if value is None else [(value, value)])]
        spans = [self.span(ends) for ends in known] or [(self.left, self.left)]
        return min(a for a, _ in spans), max(b for _, b in spans)


def whisker(ends: Ends, y: float, plot: Plot, colour: str, width: float) -> list[Markup]:
    """An interval as a line; an end that is open, or beyond the axis, is an arrow."""
    a, b = plot.span(ends)
    low, high = ends
    parts = [line((a, y), (b, y), colour, width)]
    if low is None or plot.x(low) < plot.left - 0.5:
        parts.append(arrow(plot.left, y, -1, colour))
    if high is None or plot.x(high) > plot.right + 0.5:
        parts.append(arrow(plot.right, y, 1, colour))
    return parts


def tick_labels(ticks: Sequence[tuple[float, str]], plot: Plot, y: float, size: float, width: float) -> list[Markup]:
    """The numbers below an axis; one that would touch the number before it is left out."""
    style, parts, end = Type(size, fill=MUTED, anchor="middle"), [], -width
    for value, words in ticks:
        x, half = within(plot.x(value), words, style, 0, width), text_width(words, size) / 2
        if x - half > end + 4:
            parts.append(text(x, y, words, style))
            end = x + half
    return parts


def steps_below(steps: Sequence[str], plot: Plot, y: float, size: float, width: float) -> tuple[list[Markup], float]:
    """The names of the steps of an axis, each below the middle of its step; where they have no room, every other one.

    Returns
    -------
    The names, and their height in px.
    """
    slot = plot.x(1) - plot.x(0)
    every = next((k for k in range(1, len(steps)) if _fit(steps[::k], k * slot - 6, size)), max(len(steps), 1))
    style, parts, most, end = Type(size, fill=MUTED, anchor="middle"), [], 0, -width
    for i, step in list(enumerate(steps))[::every]:
        told = wrap(step, min(every * slot, width) - 6, size, lines=3)
        widest = max(told, key=lambda words: text_width(words, size), default="")
        x, half = within(plot.x(i + 0.5), widest, style, 0, width), text_width(widest, size) / 2
        if x - half > end + 4:
            parts += lines_of_text(x, y, told, style)
            most, end = max(most, len(told)), x + half
    return parts, most * leading(size)


def _fit(steps: Sequence[str], width: float, size: float) -> bool:
    """Whether names fit on three lines, their words unbroken."""
    return all(
        len(wrap(step, width, size, lines=4)) <= 3 and all(text_width(part, size) <= width for part in unbroken(step))
        for step in steps
    )
