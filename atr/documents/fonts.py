"""The fonts of a document: the bundled subsets whose characters occur in it, and what it needs of supplied fonts.

Style sheets name "Source Sans 3" or "Source Serif 4" alone; :func:`with_fonts` writes the families behind it. Every
subset has a family name of its own, because WeasyPrint takes fonts of the same name, weight and style for one. A face
claims only characters that it draws, since WeasyPrint looks no further than the first face that claims one.
HTML carries its fonts in itself, as WOFF2. For the PDF the bundled ones are named, and WeasyPrint's fetcher reads them
as TrueType: tokenising and unpacking the others would take a third of its time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from atr.core.display_text import CONTROL, UNDRAWN
from atr.documents import supplied_fonts, templates
from atr.documents.supplied_fonts import JOINERS, css_ranges
from atr.programme.font_files import FontFile

_BASES = (
    ("Source Sans 3", "source-sans-3", "400", "normal"),
    ("Source Sans 3", "source-sans-3", "600", "normal"),
    ("Source Serif 4", "source-serif-4", "400", "normal"),
    ("Source Serif 4", "source-serif-4", "400", "italic"),
    ("Source Serif 4", "source-serif-4", "600", "normal"),
)
_SUBSETS = {
    "latin": "0000-00FF,0131,0152-0153,02BB-02BC,02C6,02DA,02DC,0300,0303-0304,0308-0309,0323,0329,2000-200B,200E-201F,2021-206F,20AC,2122,2191,2193,2212,2215,FEFF",  # noqa: E501
    "latin-ext": "0100-0130,0132-0151,0154-02BA,02BD-02C5,02C7-02CC,02CE-02D7,02DD-02FF,1D00-1DBF,1E00-1E9F,1EF2-1EFF,2020,20A0-20A9,20AB,20AD-20C4,2113,2C60-2C7F,A720-A7FF",  # noqa: E501
    "greek": "0370-0377,037A-037F,0384-038A,038C,038E-03A1,03A3-03FF",
    "cyrillic": "0301,0400-045F,0490-0491,04B0-04B1,2116",
}
_SCRIPTS = {
    "hebrew": "0590-05FF,20AA,FB1D-FB4F",
    "arabic": "0600-06FF,0750-077F,0870-08FF,200C-200D,FB50-FDFF,FE70-FEFC",
    "devanagari": "0900-097F,1CD0-1CFF,200C-200D,25CC,A830-A839,A8E0-A8FF",
}
_SYMBOLS = "2713,2715,FFFD"

SCHEME = "atr-font:"
"""Begins the address of a bundled font in a document for WeasyPrint."""
BASE = f"@font-face{{font-family:Base;src:url({SCHEME}source-sans-3-latin-400-normal)}}"
"""Defines a font, for documents that name none."""


class _Face(NamedTuple):
    """A bundled font; one without a base stands behind every base."""

    base: str
    family: str
    weight: str
    style: str
    characters: frozenset[int]
    file: str


def with_fonts(html: str, *, embedded: bool = True, supplied: Sequence[FontFile] = ()) -> str:
    """Add the font faces that a document needs to the beginning of its first style sheet, and name them wherever it
    names a bundled family.

    Parameters
    ----------
    html
        The document.
    embedded
        Whether the bundled fonts are embedded; otherwise they are named, for :func:`read`.
    supplied
        Fonts for the characters that no bundled font has; always embedded.
    """
    characters = {ord(character) for character in set(html)}
    used = [face for face in _faces() if face.characters & (characters - JOINERS)]
    missing = {code for code in characters if UNDRAWN.match(chr(code)) and not CONTROL.match(chr(code))}
    own = [*supplied_fonts.subsets(supplied, missing, packed=embedded)]
    behind = [*(face.family for face in used if not face.base), *(font.family for font in own)]
    stacks = {
        base: list(dict.fromkeys([*(face.family for face in used if face.base == base), *behind]))
        for base, *_ in _BASES
    }

    def stack(named: re.Match[str]) -> str:
        # WeasyPrint takes a space after a comma in SVG for the beginning of a name.
        return ",".join(f"{named[1]}{family}{named[1]}" for family in stacks[named[2]])

    html = re.sub(f"([\"'])({'|'.join(stacks)})\\1", stack, html)
    faces = [*(_rule(face, embedded) for face in used), *(font.rule for font in own)]
    return html.replace("<style>\n", "\n".join(["<style>", *faces, ""]), 1)


def read(address: str) -> bytes | None:
    """The font at an address: a bundled one by :data:`SCHEME`, or one that the address holds; None for every other."""
    if address.startswith(supplied_fonts.PREFIX):
        return base64.b64decode(address.removeprefix(supplied_fonts.PREFIX))
    scheme, _, name = address.partition(":")
    return _bundled()[name].read_bytes() if f"{scheme}:" == SCHEME and name in _bundled() else None


def _rule(face: _Face, embedded: bool) -> str:
    if embedded:
        src, form = f"data:font/woff2;base64,{_data(face.file)}", "woff2"
    else:
        src, form = f"{SCHEME}{face.file}", "truetype"
    return (
        f'@font-face{{font-family:"{face.family}";font-weight:{face.weight};font-style:{face.style};'
        f'src:url({src}) format("{form}");unicode-range:{css_ranges(face.characters)}}}'
    )


@cache
def _faces() -> tuple[_Face, ...]:
    """Every bundled font."""

    def all_faces() -> Iterator[_Face]:
        for subset, ranges in _SUBSETS.items():
            suffix = "" if subset == "latin" else f" {subset.replace('-', ' ').title()}"
            for base, file, weight, style in _BASES:
                named = f"{file}-{subset}-{weight}-{style}"
                yield _Face(base, base + suffix, weight, style, _drawn(ranges), named)
        for script, ranges in _SCRIPTS.items():
            for weight in ("400", "600"):
                named = f"noto-sans-{script}-{weight}-normal"
                yield _Face("", f"Noto Sans {script.title()}", weight, "normal", _drawn(ranges), named)
        yield _Face("", "ATR Symbols", "400", "normal", _drawn(_SYMBOLS), "atr-symbols")

    return tuple(all_faces())


def _drawn(ranges: str) -> frozenset[int]:
    """The characters of some ranges that the bundled fonts draw."""
    ends = (part.partition("-") for part in ranges.split(","))
    codes = (code for first, _, last in ends for code in range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(code for code in codes if not UNDRAWN.match(chr(code)))


@cache
def _bundled() -> dict[str, Path]:
    return {path.stem: path for path in (templates.folder() / "report" / "fonts").glob("*.ttf")}


@cache
def _data(name: str) -> str:
    return base64.b64encode((templates.folder() / "report" / "fonts" / f"{name}.woff2").read_bytes()).decode()
