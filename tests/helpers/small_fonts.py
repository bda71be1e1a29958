"""Fonts with a few characters, which all look like a bar; and which fonts a PDF has."""

from __future__ import annotations

import io
from pathlib import Path

import pikepdf
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen


def write_font(path: Path, characters: str, *, weight: int = 400, variable: bool = False) -> Path:
    """Write a font; a variable one has the weights 100 to 900, and ``weight`` is its default."""
    glyphs = {f"uni{ord(character):04X}": character for character in characters}
    names = [".notdef", *glyphs]
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for point in ((100, 700), (200, 700), (200, 0)):
        pen.lineTo(point)
    pen.closePath()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(character): name for name, character in glyphs.items()})
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (600, 100)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": path.stem, "styleName": "Regular", "psName": path.stem})
    builder.setupOS2(usWeightClass=weight)
    builder.setupPost()
    if variable:
        builder.setupFvar([("wght", 100, weight, 900, "Weight")], [])
        builder.setupGvar({})
    builder.font.flavor = "woff2" if path.suffix == ".woff2" else None
    path.parent.mkdir(parents=True, exist_ok=True)
    builder.save(path)
    return path


def embedded(content: bytes) -> set[str]:
    """The names of the fonts in a PDF, without the mark of a subset."""
    with pikepdf.open(io.BytesIO(content)) as file:
        return {str(font.BaseFont).partition("+")[2] for page in file.pages for font in page.Resources.Font.values()}
