"""What charts are drawn with: lines, bands, marks and text, as SVG with presentation attributes only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup, escape

from atr.core.display_text import isolated, printable
from atr.documents.charts.metrics import text_width
from atr.documents.charts.palette import ACCENT, GREY, INK, LIMITS, LIMITS_GREY, PAPER

WIDE, HALF, NARROW = 640.0, 312.0, 320.0
"""Width of a drawing on paper and on a screen, of one of two side by side there, and on a phone, in px."""

Ends = tuple[float | None, float | None]
"""The lower and the upper end of a range; None where nothing bounds it."""

Kind = Literal["met", "not_met", "cannot_tell", "none"]
"""What a row's verdict is; ``none`` where it is not compared, or is what others are compared with."""

Anchor = Literal["start", "middle", "end"]
Shape = Literal["circle", "square", "diamond", "triangle"]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart drawn twice, for paper and wide screens and for phones; a page shows one by the class of its SVG."""

    wide: Markup
    narrow: Markup


@dataclass(frozen=True, slots=True)
class Type:
    """How a text is set."""

    size: float
    weight: int = 400
    fill: str = INK
    anchor: Anchor = "start"


def figure(name: str, width: float, height: float, alt: str, parts: Iterable[Markup]) -> Markup:
    """A whole drawing.

    Parameters
    ----------
    name
        Class of the SVG: ``wide``, ``narrow`` or ``strip``.
    width, height
        Size, in px.
    alt
        The drawing in words. It is repeated as a title where the drawing is printed: a PDF's text alternative.
    parts
        What is drawn, from the back to the front.
    """
    alt = isolated(printable(alt))
    title = Markup("") if name == "narrow" else Markup("<title>{}</title>").format(alt)
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="{}" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" '
        'height="{}" direction="ltr" font-family="\'Source Sans 3\',sans-serif">{}{}</svg>'
    ).format(name, alt, *(_px(v) for v in (width, height, width, height)), title, Markup("").join(parts))


def line(a: tuple[float, float], b: tuple[float, float], stroke: str, width: float = 1.0, dash: str = "") -> Markup:
    """A straight line between two points; a thin one along an axis lies on whole pixels of a screen."""
    if width < 1.5 and a[1] == b[1]:
        a, b = (a[0], math.floor(a[1]) + 0.5), (b[0], math.floor(b[1]) + 0.5)
    elif width < 1.5 and a[0] == b[0]:
        a, b = (math.floor(a[0]) + 0.5, a[1]), (math.floor(b[0]) + 0.5, b[1])
    dashes = Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
    return Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{}" stroke-width="{}"{}/>').format(
        *map(_px, (*a, *b)), stroke, _px(width), dashes
    )


def band(x: float, y: float, width: float, height: float, fill: str) -> Markup:
    """A filled rectangle; a width or height below 1 px is drawn as 1."""
    return Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>').format(
        *map(_px, (x, y, max(width, 1.0), max(height, 1.0))), fill
    )


def mark(x: float, y: float, radius: float, colour: str, *, shape: Shape = "circle", hollow: bool = False) -> Markup:
    """A dot, or another mark of about the same area."""
    fill, stroke = (PAPER, colour) if hollow else (colour, "none")
    pen = Markup('fill="{}" stroke="{}" stroke-width="{}"').format(fill, stroke, "1.6" if radius > 4 else "1.2")
    if shape == "circle":
        return Markup('<circle cx="{}" cy="{}" r="{}" {}/>').format(_px(x), _px(y), _px(radius), pen)
    if shape == "square":
        side = radius * math.sqrt(math.pi)
        return Markup('<rect x="{}" y="{}" width="{}" height="{}" {}/>').format(
            *map(_px, (x - side / 2, y - side / 2, side, side)), pen
        )
    if shape == "diamond":
        r = radius * math.sqrt(math.pi / 2)
        corners = [(x, y - r), (x + r, y), (x, y + r), (x - r, y)]
    else:
        r = radius * math.sqrt(math.pi / (0.75 * math.sqrt(3)))
        corners = [(x, y - r), (x + r * math.sqrt(0.75), y + r / 2), (x - r * math.sqrt(0.75), y + r / 2)]
    points = " ".join(f"{_px(a)},{_px(b)}" for a, b in corners)
    return Markup('<polygon points="{}" {}/>').format(points, pen)


def arrow(x: float, y: float, direction: int, colour: str) -> Markup:
    """The head of an arrow that ends at ``x``: to the right where direction is 1, to the left where it is -1."""
    back = x - 6 * direction
    points = f"{_px(x)},{_px(y)} {_px(back)},{_px(y - 3.5)} {_px(back)},{_px(y + 3.5)}"
    return Markup('<polygon points="{}" fill="{}"/>').format(points, colour)


def text(x: float, y: float, words: str, style: Type) -> Markup:
    """A line of text; ``y`` is its baseline."""
    weight = Markup(' font-weight="{}"').format(style.weight) if style.weight != 400 else ""
    anchor = Markup(' text-anchor="{}"').format(style.anchor) if style.anchor != "start" else ""
    return Markup('<text x="{}" y="{}" font-size="{}" fill="{}"{}{}>{}</text>').format(
        _px(x), _px(y), _px(style.size), style.fill, weight, anchor, escape(isolated(printable(words)))
    )


def lines_of_text(x: float, y: float, words: Sequence[str], style: Type) -> list[Markup]:
    """Lines of text one below the other; ``y`` is the first baseline."""
    return [text(x, y + i * leading(style.size), line, style) for i, line in enumerate(words)]


def on_paper(x: float, y: float, words: str, style: Type) -> list[Markup]:
    """A line of text that begins at ``x``, on a patch of paper that covers what it is written across."""
    width = text_width(words, style.size, style.weight)
    return [
        band(x - 2, y - 0.8 * style.size, width + 4, style.size, PAPER),
        text(x, y, words, style),
    ]


def within(x: float, words: str, style: Type, low: float, high: float) -> float:
    """Where the middle of a text goes, so that it ends inside ``low`` and ``high``."""
    half = text_width(words, style.size, style.weight) / 2
    return max(low + half, min(high - half, x))


def leading(size: float) -> float:
    """The distance between baselines, in px."""
    return math.ceil(size * 1.22)


def colours(strong: bool) -> tuple[str, str]:
    """The colour of a mark and of its band; those of what stands out are the darker ones in grey print too."""
    return (ACCENT, LIMITS) if strong else (GREY, LIMITS_GREY)


def _px(value: float) -> str:
    """A length with at most two decimals; never a negative zero."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
