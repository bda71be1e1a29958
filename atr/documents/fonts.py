"""The fonts of a document: of each bundled subset only those whose characters occur in it.

Every subset has a family name of its own, because WeasyPrint takes fonts of the same name, weight and style for one.
HTML carries its fonts in itself, as WOFF2. For the PDF they are named, and WeasyPrint's fetcher reads the same fonts as
TrueType: tokenising and unpacking the others would take a third of its time.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from pathlib import Path

from atr.documents import templates

_FACES = (
    ("Source Sans 3", "source-sans-3", "400", "normal"),
    ("Source Sans 3", "source-sans-3", "600", "normal"),
    ("Source Serif 4", "source-serif-4", "400", "normal"),
    ("Source Serif 4", "source-serif-4", "400", "italic"),
    ("Source Serif 4", "source-serif-4", "600", "normal"),
)
_LATIN = "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF"  # noqa: E501
_SUBSETS = {
    "latin": _LATIN,
    "latin-ext": "U+0100-0130,U+0132-0151,U+0154-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+20A0-20AB,U+20AD-20C4,U+2113,U+2C60-2C7F,U+A720-A7FF",  # noqa: E501
    "greek": "U+0370-0377,U+037A-037F,U+0384-038A,U+038C,U+038E-03A1,U+03A3-03FF",
    "cyrillic": "U+0301,U+0400-045F,U+0490-0491,U+04B0-04B1,U+2116",
}
_SUFFIX = {"latin": "", "latin-ext": " Latin Ext", "greek": " Greek", "cyrillic": " Cyrillic"}
_SYMBOLS = "U+2713,U+2715,U+FFFD"

SCHEME = "atr-font:"
"""Begins the address of a bundled font in a document for WeasyPrint."""


def with_fonts(html: str, *, embedded: bool = True) -> str:
    """Add the font faces that a document needs to the beginning of its first style sheet.

    Parameters
    ----------
    html
        The document.
    embedded
        Whether the fonts are embedded; otherwise they are named, for :func:`read`.
    """
    found = [
        _face(family + _SUFFIX[subset], weight, style, ranges, f"{file}-{subset}-{weight}-{style}", embedded)
        for subset, ranges in _SUBSETS.items()
        if subset == "latin" or _within(ranges).search(html)
        for family, file, weight, style in _FACES
    ]
    if _within(_SYMBOLS).search(html):
        found.append(_face("ATR Symbols", "400", "normal", _SYMBOLS, "atr-symbols", embedded))
    return html.replace("<style>\n", "\n".join(["<style>", *found, ""]), 1)


def read(address: str) -> bytes | None:
    """The bundled font (TrueType) at an address that begins with :data:`SCHEME`; None for every other address."""
    scheme, _, name = address.partition(":")
    return _bundled()[name].read_bytes() if f"{scheme}:" == SCHEME and name in _bundled() else None


def _face(family: str, weight: str, style: str, ranges: str, name: str, embedded: bool) -> str:
    if embedded:
        src, form = f"data:font/woff2;base64,{_data(name)}", "woff2"
    else:
        src, form = f"{SCHEME}{name}", "truetype"
    return (
        f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:{style};src:url({src}) format("{form}");'
        f"unicode-range:{ranges}}}"
    )


@cache
def _bundled() -> dict[str, Path]:
    return {path.stem: path for path in (templates.folder() / "report" / "fonts").glob("*.ttf")}


@cache
def _within(ranges: str) -> re.Pattern[str]:
    """A pattern that finds the characters of ranges written as in CSS."""
    return re.compile("[" + re.sub("(?:U[+])?([0-9A-F]{4}),?", r"\\u\1", ranges) + "]")


@cache
def _data(name: str) -> str:
    return base64.b64encode((templates.folder() / "report" / "fonts" / f"{name}.woff2").read_bytes()).decode()
