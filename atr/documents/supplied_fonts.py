"""The subsets of supplied fonts that a document needs."""

from __future__ import annotations

import base64
import io
from collections.abc import Collection, Iterator, Sequence, Set
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from atr.programme.font_files import FontFile

PREFIX = "data:font/sfnt;base64,"
"""Begins the address of a supplied font in a document for WeasyPrint."""
JOINERS = frozenset({0x200C, 0x200D})
"""Characters that shape those beside them, and are to be of their font."""
_WEIGHTS = (400, 600)


class Subset(NamedTuple):
    """A part of a supplied font: the family it has in a document, and the rule that defines it."""

    family: str
    rule: str


def subsets(fonts: Sequence[FontFile], characters: Set[int], *, packed: bool) -> Iterator[Subset]:
    """Cut what a document needs out of supplied fonts; the same fonts and characters give the same bytes.

    Parameters
    ----------
    fonts
        The fonts: each weight of a character is taken from the font nearest to it; of several, from that with the most
        of the characters.
    characters
        Code points that the document needs.
    packed
        Whether as WOFF2; otherwise as TrueType or OpenType, for WeasyPrint.
    """
    fit = sorted(fonts, key=lambda font: (-len(font.characters & characters), font.path.name))
    needed: dict[tuple[FontFile, ...], set[int]] = {}  # Pango takes another weight of a family before another family
    for code in sorted(characters):
        having = [font for font in fit if code in font.characters]
        if having:
            best = (min(having, key=lambda font: (font.slanted, abs(font.nearest(w) - w))) for w in _WEIGHTS)
            needed.setdefault(tuple(best), set()).add(code)
    for number, (of_weights, codes) in enumerate(needed.items(), 1):
        faces: dict[tuple[FontFile, float], int] = {}
        for font, weight in zip(of_weights, _WEIGHTS, strict=True):
            faces.setdefault((font, font.nearest(weight)), weight)
        for (font, cut_at), weight in faces.items():
            covered = codes | (JOINERS & font.characters)
            content = _cut(font, frozenset(covered), cut_at)
            address, form = (_packed(content), "woff2") if packed else (_address(PREFIX, content), "truetype")
            yield Subset(
                f"Supplied {number}",
                f'@font-face{{font-family:"Supplied {number}";font-weight:{weight};font-style:normal;'
                f'src:url({address}) format("{form}");unicode-range:{css_ranges(covered)}}}',
            )


def css_ranges(characters: Collection[int]) -> str:
    """Write code points as a CSS ``unicode-range``.

    >>> css_ranges({0x41, 0x42, 0x43, 0x3B1})
    'U+0041-0043,U+03B1'
    """
    runs = groupby(enumerate(sorted(characters)), key=lambda place: place[1] - place[0])
    ends = ((codes[0], codes[-1]) for codes in ([code for _, code in run] for _, run in runs))
    return ",".join(f"U+{a:04X}" if a == b else f"U+{a:04X}-{b:04X}" for a, b in ends)


@lru_cache(64)
def _cut(font: FontFile, characters: frozenset[int], weight: float) -> bytes:
    """The characters of a font and its space, of a variable one at a weight; kept, since large fonts take seconds."""
    from fontTools import subset
    from fontTools.varLib import instancer

    options = subset.Options(layout_features=["*"], hinting=False)
    loaded: Any = subset.load_font(str(font.path), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes={0x20, 0xA0, *characters})
    cutter.subset(loaded)
    if "fvar" in loaded:
        middle = {axis.axisTag: axis.defaultValue for axis in loaded["fvar"].axes}
        at = middle | {"wght": weight} if "wght" in middle else middle
        loaded = instancer.instantiateVariableFont(loaded, at, inplace=True)
    loaded.flavor = None
    written = io.BytesIO()
    loaded.save(written)
    return written.getvalue()


def _packed(content: bytes) -> str:
    """The address of a font that holds it as WOFF2."""
    from fontTools.ttLib import TTFont

    font, written = TTFont(io.BytesIO(content), recalcTimestamp=False), io.BytesIO()
    font.flavor = "woff2"
    font.save(written)
    return _address("data:font/woff2;base64,", written.getvalue())


def _address(prefix: str, content: bytes) -> str:
    return prefix + base64.b64encode(content).decode()
