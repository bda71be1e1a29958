"""Text that WeasyPrint would set letter by letter is laid over the drawings of a page."""

from __future__ import annotations

import io
import re

import pypdf
import pytest

from atr.core.display_text import isolated
from atr.documents.charts.laid_over import laid_over
from atr.documents.charts.rates import RateRow, RateWords, rates
from atr.documents.charts.svg import Drawing
from atr.documents.fonts import with_fonts
from atr.documents.pdf import pdf

WORDS = RateWords("alt", "Race", "People", "Against the line")


def chart(label: str) -> Drawing:
    return rates([RateRow(label, "5", 0.5, "50", "met", "met")], WORDS)


@pytest.mark.parametrize("label", ["Men & women, “a–b”…", "Αθηναίοι", "другие", "Übermaß", "Việt", "女性"])
def test_drawing_without_joined_scripts_stays(label: str) -> None:
    html = f"<p>{chart(label).wide}</p>"
    assert laid_over(html) == html


@pytest.mark.parametrize("label", ["אישה", "امرأة", "महिलाएँ", "e\u0301te", "ผู้หญิง"])
def test_joined_and_right_to_left_text_is_laid_over(label: str) -> None:
    html = laid_over(f"<p>{chart(label).wide}</p>")
    (span,) = re.findall("<span style=.*?</span>", html)
    assert f">{isolated(label)}</span>" in span
    assert ("rtl" in span) == (label in {"אישה", "امرأة"})
    assert f">{label}</text>" not in html
    assert ">met</text>" in html


def test_what_is_laid_over_stays_escaped() -> None:
    assert ">\u2068אישה\u2069 &lt;b&gt; &amp;</span>" in laid_over(str(chart("אישה <b> &").wide))


def test_drawing_for_phones_goes_and_others_stay() -> None:
    other = '<svg xmlns="http://www.w3.org/2000/svg"><text>אישה</text></svg>'
    assert laid_over(f"{chart('אישה').narrow}{other}") == other


@pytest.mark.long
def test_paper_has_arabic_in_one_piece() -> None:
    page = (
        '<!doctype html><html lang="en"><head><title>t</title><style>\nbody { margin: 0 }</style></head><body>'
        f"{chart('امرأة').wide}</body></html>"
    )
    content = pdf(with_fonts(page, embedded=False), date="2020-01-01", identifier="00", attachments={})
    assert "امرأة" in pypdf.PdfReader(io.BytesIO(content)).pages[0].extract_text()
