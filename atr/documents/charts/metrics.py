"""How wide text is, by the widths of the bundled fonts' glyphs, and where it breaks into lines."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from fontTools.ttLib import TTFont

from atr.documents import templates

BOLD = 600
_GAP = re.compile(r"\s|(?<=\w-)")
"""Where lines may break: at spaces, and behind a hyphen."""


@cache
def _advances(weight: int) -> dict[int, float]:
    """The advance of every bundled character, in ems; a text font's before those of other scripts."""
    found: dict[int, float] = {}
    fonts = (templates.folder() / "report" / "fonts").glob(f"*sans*-{weight}-normal.ttf")
    for path in sorted(fonts, key=lambda path: (not path.name.startswith("source"), path.name)):
        with TTFont(path, lazy=True) as font:
            em, advance = font["head"].unitsPerEm, font["hmtx"].metrics
            for character, glyph in font["cmap"].getBestCmap().items():
                found.setdefault(character, advance[glyph][0] / em)
    return found


def text_width(text: str, size: float, weight: int = 400) -> float:
    """The width of a line of text.

    Parameters
    ----------
    text
        The line; a character that no bundled font has counts as wide.
    size
        Font size, in px.
    weight
        400 or 600.

    Returns
    -------
    Width, in px.
    """
    known = _advances(weight)
    return size * sum(known[ord(c)] if ord(c) in known else _unknown(c) for c in text)


def _unknown(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(character) in "WF" else 0.7


def wrap(text: str, width: float, size: float, *, weight: int = 400, lines: int = 2) -> tuple[str, ...]:
    """Break text into lines that fit; one too long keeps its beginning and its end.

    Parameters
    ----------
    text
        The text; nothing is no line.
    width, size
        Room for a line, and the font size, in px.
    weight
        400 or 600.
    lines
        The most lines.
    """
    result: list[str] = []
    rest = " ".join(text.split())
    while rest:
        if text_width(rest, size, weight) <= width:
            return (*result, rest)
        if len(result) == lines - 1:
            return (*result, _end(rest, width, size, weight))
        cut = _fit(rest, width, size, weight)
        cut = max((gap.start() for gap in _GAP.finditer(rest) if gap.start() <= cut), default=cut)
        result.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return tuple(result)


def unbroken(text: str) -> list[str]:
    """The parts of a text that lines break between."""
    return _GAP.split(text)


def _fit(text: str, width: float, size: float, weight: int) -> int:
    """How many letters fit, at least one; a mark stays with its letter."""
    cut = next((i for i in range(1, len(text)) if text_width(text[: i + 1], size, weight) > width), len(text))
    while 1 < cut < len(text) and unicodedata.category(text[cut]).startswith("M"):
        cut -= 1
    return cut


def _end(text: str, width: float, size: float, weight: int) -> str:
    """The end of a text behind an ellipsis, which stands where its script begins."""
    mark = "\u200f" if any(unicodedata.bidirectional(c) in ("R", "AL") for c in text) else ""
    starts = range(1, len(text))
    start = next((i for i in starts if text_width("…" + text[i:], size, weight) <= width), len(text))
    while start < len(text) and unicodedata.category(text[start]).startswith("M"):
        start += 1
    return mark + "…" + text[start:].lstrip()
