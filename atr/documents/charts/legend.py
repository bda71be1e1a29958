"""Legends: marks with their words, one after the other, on as many lines as they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from atr.documents.charts.metrics import text_width, wrap
from atr.documents.charts.svg import Type, lines_of_text


@dataclass(frozen=True, slots=True)
class Entry:
    """A mark, drawn about a middle, its width in px, and its words."""

    draw: Callable[[float, float], Iterable[Markup]]
    width: float
    words: str
    weight: int = 400


def legend(entries: Iterable[Entry], width: float, size: float) -> tuple[list[Markup], float]:
    """Lay out a legend.

    Parameters
    ----------
    entries
        What it explains; those without words are left out.
    width, size
        Room, and the font size, in px.

    Returns
    -------
    The marks and words, and their height in px.
    """
    parts: list[Markup] = []
    x, y, pitch = 0.0, 0.0, size + 10
    for entry in (entry for entry in entries if entry.words):
        words = wrap(entry.words, width - entry.width - 8, size, weight=entry.weight)
        long = entry.width + 8 + max(text_width(line, size, entry.weight) for line in words)
        if x and x + long > width:
            x, y = 0.0, y + pitch
        parts += entry.draw(x + entry.width / 2, y + 10)
        parts += lines_of_text(x + entry.width + 8, y + 10 + size * 0.35, words, Type(size, entry.weight))
        x += long + 18
        if len(words) > 1:
            x, y = 0.0, y + pitch * len(words)
    return parts, y + pitch if x else y
