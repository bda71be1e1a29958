"""The rules as panels: for each step of the sensitive attributes the limits of each value, and the number to expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from markupsafe import Markup

from atr.documents.charts.axes import Plot, steps_below
from atr.documents.charts.legend import Entry, legend
from atr.documents.charts.metrics import BOLD, text_width, wrap
from atr.documents.charts.palette import INK, MUTED, RULE
from atr.documents.charts.scale import Scale
from atr.documents.charts.series import MOST, Pen, dot, joined, pens
from atr.documents.charts.svg import (
    HALF,
    NARROW,
    WIDE,
    Drawing,
    Type,
    band,
    figure,
    leading,
    line,
    lines_of_text,
    text,
)

_HEIGHT = 112.0
_SMALLEST, _LARGEST = 2.2, 6.2
"""The radius of a mark, in px: its area is people."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its limits and the number to expect, in 100; None where they are not told. ``few`` is drawn hollow."""

    people: int
    limits: tuple[float, float] | None
    expected: float | None = None
    few: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: its rules by series and step; None where there is nobody. ``alt`` is the panel in words."""

    title: str
    alt: str
    rules: tuple[tuple[Rule | None, ...], ...]


@dataclass(frozen=True, slots=True)
class PanelWords:
    """The words that all panels share; the first two series stand out.

    ``sizes`` are numbers of people with their words, the largest first; ``few`` and ``legend_alt`` are the legend's.
    """

    series: tuple[str, ...]
    steps: tuple[str, ...]
    not_told: str
    sizes: tuple[tuple[int, str], ...]
    legend_alt: str
    few: str = ""


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels of a page, and the legend above them."""

    legend: Drawing
    panels: tuple[Drawing, ...]


def panels(rules: Sequence[Panel], words: PanelWords) -> Panels:
    """Draw the rules.

    Parameters
    ----------
    rules
        The panels.
    words
        What they share.

    Raises
    ------
    ValueError
        Where there are more series than marks.
    """
    if len(words.series) > MOST:
        raise ValueError(f"{len(words.series)} series in a panel; at most {MOST} can be told apart, so draw fewer")
    drawn = pens(len(words.series))
    most = max((rule.people for panel in rules for row in panel.rules for rule in row if rule), default=1)
    largest = min(_LARGEST, 240 / max(len(words.steps), 1) / max(len(words.series), 1))
    unit = min(0.34, largest / sqrt(max(most, 1)))
    return Panels(
        Drawing(_legend(words, drawn, unit, "wide"), _legend(words, drawn, unit, "narrow")),
        tuple(
            Drawing(_panel(panel, words, drawn, unit, "wide"), _panel(panel, words, drawn, unit, "narrow"))
            for panel in rules
        ),
    )


def _radius(people: int, unit: float) -> float:
    return min(max(unit * sqrt(people), _SMALLEST), _LARGEST)


def _panel(panel: Panel, words: PanelWords, drawn: Sequence[Pen], unit: float, name: str) -> Markup:
    width, size = (HALF, 11.5) if name == "wide" else (NARROW, 13.0)
    aside = wrap(words.not_told, 76, size, lines=3)
    left = 8 + max(text_width(word, size) for word in ("100", *aside))
    title = wrap(panel.title, width, size + 1.5, weight=BOLD, lines=3)
    top = 10 + leading(size + 1.5) * len(title)
    foot = top + _HEIGHT
    strip = foot + 4 + max(24, leading(size) * len(aside))
    y, x = Scale(0, 100, foot, top), Plot(Scale(0, max(len(words.steps), 1), left + 6, width - 2), left + 6, width - 2)
    parts = lines_of_text(0, 12, title, Type(size + 1.5, BOLD))
    number = Type(size, fill=MUTED, anchor="end")
    for tick in range(0, 101, 25):
        parts.append(line((left + 6, y(tick)), (width - 2, y(tick)), RULE if tick else INK))
        parts.append(text(left, y(tick) + 4, str(tick), number))
    middle = (foot + strip) / 2
    first = middle + size * 0.35 - leading(size) * (len(aside) - 1) / 2
    parts += lines_of_text(left, first, aside, number)
    parts.append(line((left + 6, strip), (width - 2, strip), RULE))
    below, height = steps_below(words.steps, x, strip + size + 3, size, width)
    parts += below
    room, places = _places(len(words.steps), drawn, x)
    for pen, rules, xs in reversed(list(zip(drawn, panel.rules, places, strict=False))):
        parts += _series(pen, rules, xs, (y, middle, room), unit)
    return figure(name, width, strip + 7 + height, panel.alt, parts)


def _places(steps: int, drawn: Sequence[Pen], plot: Plot) -> tuple[float, list[list[float]]]:
    """How much bands are shrunk, and for each series their middles: within a step side by side."""
    room = [14.5 if pen.strong else 9.0 for pen in drawn]
    slot = plot.x(1) - plot.x(0)
    unit = min(1.0, slot * 0.92 / sum(room)) if room else 1.0
    starts = [sum(room[:i]) + room[i] / 2 - sum(room) / 2 for i in range(len(room))]
    return unit, [[plot.x(step + 0.5) + unit * start for step in range(steps)] for start in starts]


def _series(
    pen: Pen, rules: Sequence[Rule | None], xs: Sequence[float], ground: tuple[Scale, float, float], unit: float
) -> list[Markup]:
    """The bands, lines and marks of a series; ``ground`` is the axis, the middle of the strip below, and the room."""
    y, strip, room = ground
    width = (13.0 if pen.strong else 5.0) * room
    bands, marks = [], []
    points: list[tuple[float, float] | None] = []
    for rule, x in zip(rules, xs, strict=True):
        points.append(None)
        if rule is None:
            continue
        radius = _radius(rule.people, unit)
        if rule.limits is None:
            marks.append(dot(x, strip, radius, pen, hollow=True))
            continue
        low, high = map(y, rule.limits)
        bands.append(band(x - width / 2, high, width, low - high, pen.pale))
        if rule.expected is not None:
            points[-1] = (x, y(rule.expected))
            marks.append(dot(x, y(rule.expected), radius, pen, hollow=rule.few))
    return [*bands, *joined(points, pen), *marks]


def _legend(words: PanelWords, drawn: Sequence[Pen], unit: float, name: str) -> Markup:
    width, size = (WIDE, 12.0) if name == "wide" else (NARROW, 13.0)

    def example(pen: Pen) -> Entry:
        half = 6.5 if pen.strong else 2.5
        return Entry(
            lambda x, y: [band(x - half, y - 8, 2 * half, 16, pen.pale), dot(x, y, 4 if pen.strong else 2.6, pen)],
            2 * half,
            words.series[drawn.index(pen)],
            BOLD if pen.strong else 400,
        )

    def sized(people: int, told: str) -> Entry:
        radius = _radius(people, unit)
        return Entry(lambda x, y: [dot(x, y, radius, first)], 2 * radius, told)

    first = drawn[0]
    entries = [
        *(example(pen) for pen in drawn),
        *(sized(*size_of) for size_of in words.sizes),
        Entry(
            lambda x, y: [band(x - 6.5, y - 8, 13, 16, first.pale), dot(x, y, 3.4, first, hollow=True)], 13, words.few
        ),
        Entry(lambda x, y: [dot(x, y, 3.4, first, hollow=True)], 8, words.not_told),
    ]
    parts, height = legend(entries, width, size)
    return figure(name, width, height, words.legend_alt, parts)
