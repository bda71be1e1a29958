"""What holds of every drawing."""

from __future__ import annotations

import io
import itertools
import logging
import re
import shutil
import xml.etree.ElementTree as ET
from functools import cache

import pikepdf
import pytest
from playwright.sync_api import sync_playwright

from atr.documents import pdf
from atr.documents.charts import palette
from atr.documents.charts.metrics import text_width
from atr.documents.fonts import with_fonts
from tests.helpers.drawings import ALT, SVG, boxes, drawings, strips

drawn = cache(drawings)
NAMES = list(drawn())
SIZES = ("wide", "narrow")
EVERY = [pytest.param(name, size, id=f"{name}, {size}") for name in NAMES for size in SIZES]


def root(name: str, size: str) -> ET.Element:
    return ET.fromstring(getattr(drawn()[name], size))


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_no_texts_meet(name: str, size: str) -> None:
    for a, b in itertools.combinations(boxes(root(name, size)), 2):
        apart = a.right <= b.left + 0.5 or b.right <= a.left + 0.5 or a.bottom <= b.top + 0.5 or b.bottom <= a.top + 0.5
        assert apart, (a, b)


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_texts_are_inside_and_legible(name: str, size: str) -> None:
    svg = root(name, size)
    width, height = (float(svg.attrib[side]) for side in ("width", "height"))
    assert width <= {"wide": 640, "narrow": 320}[size]
    for box in boxes(svg):
        assert box.left >= -0.5
        assert box.right <= width + 0.5
        assert box.top >= 0
        assert box.bottom <= height
    least = {"wide": 8.5 / 0.75, "narrow": 12}[size]
    assert all(float(node.attrib["font-size"]) >= least for node in svg.iter(SVG + "text"))


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_marks_are_inside(name: str, size: str) -> None:
    svg = root(name, size)
    width, height = (float(svg.attrib[side]) for side in ("width", "height"))
    for node in svg.iter():
        for key in ("x1", "x2", "x", "cx"):
            assert -0.5 <= float(node.get(key, 0)) <= width + 0.5
        for key in ("y1", "y2", "y", "cy"):
            assert 0 <= float(node.get(key, 0)) <= height
        if node.tag == SVG + "rect":
            assert float(node.attrib["width"]) > 0
            assert float(node.attrib["height"]) > 0


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_drawing_is_told_in_words(name: str, size: str) -> None:
    svg = root(name, size)
    assert svg.attrib["role"] == "img"
    assert svg.attrib["aria-label"] == ALT
    assert [title.text for title in svg.iter(SVG + "title")] == ([ALT] if size == "wide" else [])


@pytest.mark.parametrize(("name", "size"), EVERY)
def test_colours_are_of_the_palette(name: str, size: str) -> None:
    for node in root(name, size).iter():
        assert "style" not in node.attrib
        assert {node.get("fill", "none"), node.get("stroke", "none")} <= {*palette.DARK, "none"}


def test_strips_are_told_in_words() -> None:
    for strip in map(ET.fromstring, strips()):
        assert strip.attrib["aria-label"] == ALT
        assert strip.attrib["width"] == "156"
        assert all(0 <= box.left <= box.right <= 156 for box in boxes(strip))


def test_same_input_gives_the_same_bytes() -> None:
    assert drawings() == drawn()


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_marks_stand_out_from_the_page(dark: bool) -> None:
    def shown(colour: str) -> str:
        return palette.DARK[colour] if dark else colour

    paper = shown(palette.PAPER)
    assert all(contrast(shown(c), paper) >= 4.5 for c in (palette.INK, palette.MUTED, palette.ACCENT))
    assert contrast(shown(palette.GREY), paper) >= 3


def test_not_met_is_darkest_in_grey_print() -> None:
    svg = root("30 rates", "wide")
    circles = [node.attrib for node in svg.iter(SVG + "circle")]
    strong = {mark["fill"] for mark in circles if mark["fill"] == palette.ACCENT}
    others = {mark["fill"] for mark in circles} - strong
    assert strong
    assert all(luminance(palette.ACCENT) < luminance(other) / 2 for other in others)


def test_dark_mode_swaps_every_colour() -> None:
    rules = palette.dark_css()
    for light, dark in palette.DARK.items():
        assert f'svg [fill="{light}"] {{ fill: {dark}; }}' in rules
        assert f'svg [stroke="{light}"] {{ stroke: {dark}; }}' in rules


def page(size: str, *, embedded: bool) -> str:
    parts = "".join(str(getattr(drawing, size)) for drawing in drawn().values())
    return with_fonts(
        f'<!doctype html><html lang="en"><head><title>t</title><style>\nsvg {{ display: block }}</style></head>'
        f"<body>{parts}{''.join(strips())}</body></html>",
        embedded=embedded,
    )


@pytest.mark.long
@pytest.mark.parametrize("size", SIZES)
def test_browser_measures_text_no_wider(size: str) -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert chromium is not None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.set_content(page(size, embedded=True))
        tab.evaluate("document.fonts.ready")
        found = tab.evaluate(
            "[...document.querySelectorAll('svg text')].map(t => [t.textContent, +t.getAttribute('font-size'),"
            "+(t.getAttribute('font-weight') || 400), t.getComputedTextLength()])"
        )
        browser.close()
    assert len(found) > 500
    for words, points, weight, width in found:
        if re.fullmatch("[ -~…]*", words):
            assert width == pytest.approx(text_width(words, points, weight), rel=0.04, abs=1), words
        else:
            assert width <= text_width(words, points, weight) * 1.1 + 2, words


@pytest.mark.long
def test_pdf_takes_every_drawing_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="weasyprint"):
        content = pdf.pdf(page("wide", embedded=False), date="2020-01-01", identifier="00", attachments={})
    said = [record.getMessage() for record in caplog.records]
    assert not [message for message in said if not re.search("[女性]", message)], "no bundled font has only these"
    with pikepdf.open(io.BytesIO(content)) as read:
        figures = [
            each for each in read.objects if isinstance(each, pikepdf.Dictionary) and each.get("/S") == "/Figure"
        ]
        assert len(figures) == len(drawn()) + len(strips())
        assert {str(each.Alt) for each in figures} == {ALT}
