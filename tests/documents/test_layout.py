"""The laid-out pages of reports that are hard to lay out: nothing stranded, cut off, too small or left blank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby, takewhile
from typing import Any

import pytest
import weasyprint

from atr.documents import pdf
from atr.documents.html import ReportPage
from atr.report.model import PublicReport
from tests.helpers import page_images, sample
from tests.helpers.german import in_german
from tests.helpers.releases import after, release
from tests.helpers.reports import silent
from tests.helpers.scripts_sample import several_scripts

SMALLEST = 8.4 * 96 / 72
"""The smallest type in CSS pixels, a tenth of a point less for rounding."""
FILLED, LAST = 2 / 3, 1 / 3
"""How much of a page before the annex is filled at least, and how much of the last such page."""
WORDS = "Angestelltenversicherungsgesetz und Grundstücksverkehrsgenehmigungszuständigkeitsübertragung, {kind} {i}"

SHAPES = {
    "one": lambda: sample.grid((1,), 3),
    "small": lambda: sample.grid((2, 2), 2, people=32, minimum=10),
    "series": lambda: after(release(2020, women=0.3, men=0.6), release(2021, women=0.5, men=0.6)),
    "outcomes": lambda: sample.compas(outcomes=("low", "medium")),
    "scripts": several_scripts,
    "compas": sample.compas,
    "words": lambda: sample.grid((3, 4), 4, name=WORDS),
    "200": lambda: sample.grid((4, 5, 10), 4),
    "1000": lambda: sample.grid((10, 10, 10), 5),
    "bundled compas": lambda: page_images.report("compas"),
    "bundled mortgage": lambda: page_images.report("mortgage"),
    "bundled card": lambda: page_images.report("card"),
}
LONG = {"words", "200", "1000", "bundled compas", "bundled mortgage", "bundled card"}
names = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in SHAPES]
)
german = pytest.mark.parametrize("german", [False, pytest.param(True, marks=pytest.mark.long)])
pytestmark = pytest.mark.xdist_group("layout")


@dataclass(frozen=True)
class Line:
    """A line of text on a page, in parts of the room of the page."""

    top: float
    bottom: float
    left: float
    right: float
    size: float
    text: str
    within: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """What stands on a page: its lines, where the lowest thing ends and in what, whether it is of the annex, its
    running head, and where on the sheet that begins, in px."""

    lines: list[Line]
    end: float
    annex: bool
    last: tuple[str, ...]
    head: str
    begins: float


@cache
def made(name: str) -> PublicReport:
    """A report, made once for both languages."""
    return SHAPES[name]()


@cache
def laid_out(name: str, *, german: bool = False) -> list[Page]:
    """The pages of a report."""
    engine = pdf.engine()
    report = in_german(made(name)) if german else made(name)
    html = ReportPage(report, "0" * 64).paper
    with silent():
        document = engine.HTML(string=html, base_url=None, url_fetcher=pdf.bundled_fetcher(engine)).render()
    return [_page(page._page_box) for page in document.pages]


def _page(box: Any) -> Page:
    top, left, height, width = box.content_box_y(), box.content_box_x(), box.height, box.width
    lines, end, last, annex, head, begins = [], 0.0, (), False, "", top
    for found, within in _boxes(box, ()):
        annex |= "annex" in within
        kind = type(found).__name__
        if kind not in {"TextBox", "InlineReplacedBox", "BlockReplacedBox"}:
            continue
        y = (found.position_y - top) / height
        if "margin" in within:
            head, begins = head + f" {found.text}" * (y < 0), min(begins, found.position_y)
            continue
        bottom = y + found.height / height
        if bottom > end:
            end, last = bottom, within
        if kind == "TextBox" and found.text.strip():
            x = (found.position_x - left) / width
            right = x + found.width / width
            lines.append(Line(y, bottom, x, right, found.style["font_size"], found.text, within))
    return Page(lines, end, annex, last, head.strip(), begins)


def _boxes(box: Any, within: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    if type(box).__name__ == "MarginBox":
        within = (*within, "margin")
    if box.element is not None and box.element_tag:
        within = (*within, box.element_tag.split("::")[0], *(box.element.get("class") or "").split())
    yield box, within
    for child in getattr(box, "children", ()) or ():
        yield from _boxes(child, within)


@names
@german
def test_the_pages_before_the_annex_are_at_most_eight(name: str, german: bool) -> None:
    assert len([page for page in laid_out(name, german=german) if not page.annex]) <= 8


@names
@german
def test_no_page_before_the_annex_is_a_third_blank(name: str, german: bool) -> None:
    pages = laid_out(name, german=german)
    ends = [page.end for page in pages if not page.annex]
    goes_on = any("annex" not in line.within for line in pages[len(ends)].lines)
    assert min(ends[:-1], default=1.0) >= FILLED, ends
    assert ends[-1] >= (FILLED if goes_on else LAST), ends


def test_a_small_report_is_short() -> None:
    assert len(laid_out("small")) <= 6


@names
def test_nothing_overhangs_its_page(name: str) -> None:
    for page in laid_out(name):
        for line in page.lines:
            assert line.left >= -0.001, line
            assert line.right <= 1.001, line
            assert line.bottom <= 1.003, line


@names
def test_type_is_large_enough(name: str) -> None:
    sizes = {(line.size, line.text) for page in laid_out(name) for line in page.lines if line.size < SMALLEST}
    assert {text for _, text in sizes if not re.fullmatch(r"[\W\d]*", text)} == set()


@names
def test_no_head_is_left_alone_at_the_foot(name: str) -> None:
    heads = {"h2", "h3", "h4", "caption", "finding", "sub", "thead", "heading"}
    for page in laid_out(name)[:-1]:
        alone = heads - ({"finding"} if "brief" in page.last else set())
        assert "columns" in page.last or not alone & {*page.last}, max(page.lines, key=lambda line: line.bottom)


@names
def test_a_table_that_goes_on_says_what_it_is_about(name: str) -> None:
    part = ""
    for page in laid_out(name):
        rows = [line for line in page.lines if "tbody" in line.within]
        if page.annex and "thead" in page.lines[0].within:
            assert page.head
            first = _squeezed(takewhile(lambda line: "heading" in line.within, rows)) or part
            assert " · " not in page.head or first.startswith(re.sub(r"\W", "", page.head.rpartition(" · ")[2]))
        for is_heading, lines in groupby(rows, key=lambda line: "heading" in line.within):
            part = _squeezed(lines) if is_heading else part


def _squeezed(lines: Iterable[Line]) -> str:
    return re.sub(r"\W", "", "".join(line.text for line in lines))


@names
def test_notes_stand_with_what_they_are_of(name: str) -> None:
    for page in laid_out(name):
        first = min(page.lines, key=lambda line: line.top)
        assert "note" not in first.within or "columns" in first.within or first.top > 0.02, first


def test_weasyprint_is_quiet_of_a_report_of_nothing() -> None:
    report: PublicReport = sample.none_announced()
    engine = pdf.engine()
    with silent():
        html = ReportPage(report, "0" * 64).paper
        assert isinstance(engine, type(weasyprint))
        document = engine.HTML(string=html, base_url=None, url_fetcher=pdf.bundled_fetcher(engine)).render()
    assert len(document.pages) <= 3
