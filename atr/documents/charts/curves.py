"""Curves over one axis between level lines, each with its name and its value at a marked place beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from atr.documents.charts.metrics import BOLD, text_width, wrap
from atr.documents.charts.palette import GREY, INK, MUTED, RULE
from atr.documents.charts.scale import Scale, axis
from atr.documents.charts.series import dot, joined, pens, spread
from atr.documents.charts.svg import NARROW, Type, figure, line, lines_of_text, text, within

_SIZE, _ROOM, _HEIGHT = 12.0, 104.0, 170.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve, or a level line, which has one height; ``text`` is its value at the marked place."""

    label: str
    text: str
    heights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CurveWords:
    """The words of a chart of curves: in full, below its axis, and of the marked place."""

    alt: str
    axis: str
    mark: str


def curves(
    xs: Sequence[float], drawn: Sequence[Curve], levels: Sequence[Curve], words: CurveWords, *, mark: float
) -> Markup:
    """Draw curves as wide as half a page or a phone; the first two stand out.

    Parameters
    ----------
    xs
        (k,) positions on the axis, ascending, two or more.
    drawn, levels
        Curves of (k,) heights in percent, and lines of one.
    words
        The words of the chart.
    mark
        The position, one of ``xs``, at which curves have their dots.
    """
    at, every = list(xs).index(mark), [*drawn, *levels]
    ticks = axis([height for curve in every for height in curve.heights])
    left, right, top = 8 + text_width(f"{ticks[-1]:g}", _SIZE), NARROW - _ROOM - 18, 22.0
    foot = top + _HEIGHT
    x, y = Scale(xs[0], xs[-1], left + 6, right), Scale(ticks[0], ticks[-1], foot, top)
    parts = [line((left + 6, y(tick)), (right, y(tick)), RULE if tick > ticks[0] else INK) for tick in ticks]
    parts += [text(left, y(tick) + 4, f"{tick:g}", Type(_SIZE, fill=MUTED, anchor="end")) for tick in ticks]
    below = Type(_SIZE, fill=MUTED, anchor="middle")
    for tick in (xs[0], xs[-1]):
        parts.append(text(within(x(tick), f"{tick:g}", below, left, right), foot + 16, f"{tick:g}", below))
    parts.append(text((left + right) / 2, foot + 16, words.axis, below))
    named = Type(_SIZE, BOLD, anchor="middle")
    parts += [
        line((x(mark), top - 4), (x(mark), foot), MUTED, 1.2, "2 3"),
        text(within(x(mark), words.mark, named, left, right), top - 9, words.mark, named),
    ]
    parts += [line((x(xs[0]), y(level.heights[0])), (right, y(level.heights[0])), GREY, 1.2) for level in levels]
    for curve, pen in zip(drawn, pens(len(drawn)), strict=True):
        points = [(x(a), y(b)) for a, b in zip(xs, curve.heights, strict=True)]
        parts += [*joined(points, pen), dot(x(mark), points[at][1], 3.6, pen)]
    ends = [y(curve.heights[-1]) for curve in every]
    parts += _names(every, ends, len(drawn), (right, top - 6, foot + 14))
    return figure("strip", NARROW, foot + 24, words.alt, parts)


def _names(
    every: Sequence[Curve], ends: Sequence[float], strong: int, room: tuple[float, float, float]
) -> list[Markup]:
    """The value and the name of each line, beside where it ends and apart from each other."""
    right, top, foot = room
    labels = [wrap(f"{curve.text} {curve.label}", _ROOM, _SIZE, lines=2) for curve in every]
    heights = [14.5 * len(label) + 2 for label in labels]
    places = spread([*ends], heights, top, max(foot, top + sum(heights)))
    parts = []
    for i, (label, end, middle) in enumerate(zip(labels, ends, places, strict=True)):
        style = Type(_SIZE, BOLD if i < strong else 400, INK if i < strong else MUTED)
        parts.append(line((right, end), (right + 13, middle), GREY, 0.6))
        parts += lines_of_text(right + 16, middle - 7.3 * len(label) + 11, label, style)
    return parts
