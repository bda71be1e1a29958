"""The marks of series that are drawn into one chart: the first two stand out, the others are grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice, pairwise

from markupsafe import Markup

from atr.documents.charts.palette import ACCENT, GREY, INK, LIMITS, LIMITS_GREY, LIMITS_INK
from atr.documents.charts.svg import Shape, line, mark

_SHAPES: tuple[Shape, ...] = ("circle", "square", "diamond", "triangle")
MOST = 2 + len(_SHAPES)
"""The most series that differ in their marks."""


@dataclass(frozen=True, slots=True)
class Pen:
    """How a series is drawn."""

    colour: str
    pale: str
    shape: Shape
    strong: bool


def pens(series: int) -> tuple[Pen, ...]:
    """How each of some series is drawn; the first :data:`MOST` all differ."""
    grey = [Pen(GREY, LIMITS_GREY, shape, strong=False) for shape in _SHAPES]
    strong = [Pen(ACCENT, LIMITS, "circle", strong=True), Pen(INK, LIMITS_INK, "square", strong=True)]
    return tuple(islice(chain(strong, cycle(grey)), series))


def joined(points: Sequence[tuple[float, float] | None], pen: Pen) -> list[Markup]:
    """Lines from each point to the next; none to or from a missing one."""
    width, dash = (1.2, "") if pen.strong else (0.8, "4 2")
    return [line(a, b, pen.colour, width, dash) for a, b in pairwise(points) if a is not None and b is not None]


def dot(x: float, y: float, radius: float, pen: Pen, *, hollow: bool = False) -> Markup:
    """The mark of a series."""
    return mark(x, y, radius, pen.colour, shape=pen.shape, hollow=hollow)


def spread(wanted: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """The middles of labels, near where they are wanted, so that none overlap.

    Parameters
    ----------
    wanted, heights
        The middle that each is wanted at, and its height, in px.
    low, high
        Where labels may begin and end; there is room for all.

    Examples
    --------
    >>> spread([50.0, 52.0, 99.0], [10.0, 10.0, 10.0], 0.0, 100.0)
    [50.0, 60.0, 95.0]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    middles, free = list(wanted), low
    for i in order:
        middles[i] = max(middles[i], free + heights[i] / 2)
        free = middles[i] + heights[i] / 2
    free = high
    for i in reversed(order):
        middles[i] = min(middles[i], free - heights[i] / 2)
        free = middles[i] - heights[i] / 2
    return middles
