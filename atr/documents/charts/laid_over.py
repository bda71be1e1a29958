"""Text in drawings that WeasyPrint cannot set: it sets their text letter by letter, which breaks right-to-left and
joined scripts, so that on paper such text is laid over the drawing. Browsers need none of this."""

from __future__ import annotations

import re
import unicodedata

_DRAWING = re.compile(r'<svg [^>]*class="(wide|narrow)"[^>]*>.*?</svg>', re.DOTALL)
_TEXT = re.compile(r"<text ([^>]*)>([^<]*)</text>")
_ATTRIBUTE = re.compile(r'([a-z-]+|viewBox)="([^"]*)"')
_LETTER_BY_LETTER = re.compile(
    "[^\u0000-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u200d\u2010-\u2027\u2030-\u20cf\u2100-\u2bff\u2e80-\ua4cf\ua720-\ua7ff"
    "\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
)
"""A character that may join, be reordered or stand on another: any but those of scripts that do neither."""
_BASELINE = 0.812
"""Where the baseline of a line of Source Sans 3 is, whose height is the font size."""


def laid_over(html: str) -> str:
    """Take text that cannot be drawn letter by letter out of the drawings of a page, and lay it over them.

    Drawings for phones go: styling what paper never shows takes WeasyPrint a tenth of its time.

    Parameters
    ----------
    html
        The page; its drawings are those of :func:`~atr.documents.charts.svg.figure`.
    """
    return _DRAWING.sub(lambda found: _drawing(found[0]) if found[1] == "wide" else "", html)


def _drawing(svg: str) -> str:
    head = dict(_ATTRIBUTE.findall(svg[: svg.index(">")]))
    width, height = (float(head[side]) for side in ("width", "height"))
    laid: list[str] = []

    def take(found: re.Match[str]) -> str:
        if not _LETTER_BY_LETTER.search(found[2]):
            return found[0]
        laid.append(_span(dict(_ATTRIBUTE.findall(found[1])), found[2], width, height))
        return ""

    drawn = _TEXT.sub(take, svg)
    if not laid:
        return svg
    family = head["font-family"]
    return f'<div style="position:relative;line-height:1;font-family:{family}">{drawn}{"".join(laid)}</div>'


def _span(at: dict[str, str], words: str, width: float, height: float) -> str:
    size, anchor, x = float(at["font-size"]), at.get("text-anchor", "start"), float(at["x"]) / width
    place = f"right:{100 * (1 - x):.3f}%" if anchor == "end" else f"left:{100 * x:.3f}%"
    moved = ";transform:translateX(-50%)" if anchor == "middle" else ""
    strong = next((way for way in map(unicodedata.bidirectional, words) if way in ("L", "R", "AL")), "L")
    return (
        f'<span style="position:absolute;{place};top:{100 * (float(at["y"]) - _BASELINE * size) / height:.3f}%{moved};'
        f"font-size:{size:g}px;font-weight:{at.get('font-weight', '400')};color:{at['fill']};white-space:nowrap;"
        f'direction:{"ltr" if strong == "L" else "rtl"}">{words}</span>'
    )
