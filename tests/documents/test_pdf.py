"""The PDF: its text, its structure, its pages."""

from __future__ import annotations

import gc
import hashlib
import io
import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pikepdf
import pypdf
import pytest

from atr.documents import pdf as module
from atr.documents import templates
from atr.documents.html import ReportPage
from atr.errors import EnvironmentFault
from atr.report.model import PublicReport
from tests.helpers import sample
from tests.helpers.reports import Documents

pytestmark = pytest.mark.xdist_group("documents")
"""One worker lays every report out, once."""
LONG = pytest.mark.long
"""Three reports are laid out in every run, the others in the long one."""


@cache
def _read(content: bytes) -> list[tuple[str, list[tuple[float, float]]]]:
    """The text of every page, and the ends of all curves on it; reading it takes as long as laying it out."""
    found = []
    for page in pypdf.PdfReader(io.BytesIO(content)).pages:
        curves: list[tuple[float, float]] = []

        def drawn(operator: bytes, operands: Any, matrix: list[float], _text: Any, curves: Any = curves) -> None:
            if operator == b"c":
                curves.append((float(matrix[0] * operands[4] + matrix[4]), float(matrix[3] * operands[5] + matrix[5])))

        found.append((page.extract_text(visitor_operand_before=drawn), curves))
    return found


def pages(content: bytes) -> list[str]:
    """The text of every page, in one line."""
    return [" ".join(text.split()) for text, _ in _read(content)]


def elements(node: Any) -> Iterator[Any]:
    """The structure elements of a document, in reading order."""
    kids = node.get("/K", [])
    for kid in kids if isinstance(kids, pikepdf.Array) else [kids]:
        if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
            yield kid
            yield from elements(kid)


def test_numbers_are_those_of_the_report(reports: dict[str, PublicReport], documents: Documents) -> None:
    report, text = reports["compas"], " ".join(pages(documents("compas")["report.pdf"]))
    for group in report.announced_groups:
        assert f"{group.population:,}" in text
        for region in group.regions:
            assert f"{100 * region.announced['low']:.1f}" in text
    for entry in report.fairness:
        if entry.measure == "p_percent_rule" and entry.outcome == "low":
            assert f"{entry.value:.3f}" in text
            assert f"{entry.range[0]:.3f} to {entry.range[1]:.3f}" in text
    assert hashlib.sha256(documents("compas")["report.json"]).hexdigest() in text.replace(" ", "")
    for words in (f"{report.coverage.decisions:,}", "62.3%", "58.3%", "36 groups"):
        assert words in text


def test_tags(documents: Documents) -> None:
    with pikepdf.open(io.BytesIO(documents("compas")["report.pdf"])) as file:
        root = file.Root
        assert root.MarkInfo.Marked
        assert str(root.Lang) == "en"
        assert root.ViewerPreferences.DisplayDocTitle
        assert "Risk scores before trial" in str(file.docinfo["/Title"])
        with file.open_metadata() as meta:
            assert meta["pdfuaid:part"] == "1"
        found = list(elements(root.StructTreeRoot))
        figures = [e for e in found if e.S == "/Figure"]
        assert all(re.search(r"\d", str(e.Alt)) or str(e.Alt).startswith("Legend: ") for e in figures)
        assert "African-American: 41 in 100" in str(figures[0].Alt)
        assert "prior offences: 20" in str(figures[-2].Alt)
        headers = [e for e in found if e.S == "/TH"]
        assert {str(e.A.Scope) for e in headers} == {"/Row", "/Column"}
        tables = [e for e in found if e.S == "/Table"]
        assert len(tables) >= 9
        for table in tables:
            cells = [e for e in elements(table) if e.S == "/TD" and "/Headers" in e.A]
            assert cells
        levels = [int(str(e.S)[2]) for e in found if re.fullmatch("/H[1-6]", str(e.S))]
        assert levels[0] == 1
        assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
        assert [p.Tabs for p in file.pages if "/Annots" in p]


def test_bookmarks_and_running_feet(documents: Documents) -> None:
    reader = pypdf.PdfReader(io.BytesIO(documents("compas")["report.pdf"]))
    flat: list[Any] = []
    stack = [reader.outline]
    while stack:
        for item in stack.pop():
            stack.append(item) if isinstance(item, list) else flat.append(item)
    where = {str(item.title): reader.get_destination_page_number(item) for item in flat}
    texts = pages(documents("compas")["report.pdf"])
    for title in ("1 What we found", "3 By sex and race", "A All rules", "E Settings and provenance"):
        assert title in texts[where[title]]  # type: ignore[index]
    for number, (page, text) in enumerate(zip(reader.pages, texts, strict=True), start=1):
        assert f"Risk scores before trial · 2013 {number}" in text
        assert (round(float(page.mediabox.width)), round(float(page.mediabox.height))) == (595, 842)


def test_annex_is_attached(documents: Documents) -> None:
    made = documents("compas")
    reader = pypdf.PdfReader(io.BytesIO(made["report.pdf"]))
    attached = {name: content[0] for name, content in reader.attachments.items()}
    assert attached == {
        name: made[name] for name in ("report.json", "announced_rules.csv", "fairness.csv", "influence.csv")
    }


@LONG
def test_table_heads_are_repeated(documents: Documents) -> None:
    found = pages(documents("many")["report.pdf"])
    first = next(i for i, text in enumerate(found) if "A All rules" in text)
    last = next(i for i, text in enumerate(found) if "B All comparisons" in text)
    assert last > first
    assert all("People" in text and "level 3" in text for text in found[first + 1 : last + 1])


@pytest.mark.parametrize("name", ["compas", "hostile", *(pytest.param(n, marks=LONG) for n in ("long", "places"))])
def test_every_figure_fits_a_page(documents: Documents, name: str) -> None:
    """Whatever a chart draws lies between the running heads."""
    found = 0
    for _, curves in _read(documents(name)["report.pdf"]):
        found += len(curves)
        assert all(40 < y < 810 and 46 < x < 550 for x, y in curves)
    assert found


def test_a_few_honest_pages_when_nothing_is_announced(documents: Documents) -> None:
    found = pages(documents("none")["report.pdf"])
    assert len(found) <= 3
    assert "12 groups of fewer than 1,000 people" in found[0]
    assert "All rules" not in " ".join(found)


@LONG
def test_few_pages_even_with_many_withheld_groups() -> None:
    from atr.documents.render import contents

    report = sample.grid((8, 9), 1, name="A long name of a value, {kind} {i}")
    assert len(report.withheld_groups) == 72
    found = pages(contents(report)["report.pdf"])
    assert len(found) <= 4
    assert "more, which report.json names" in " ".join(found)


@pytest.mark.long
def test_hostile_texts_are_texts(documents: Documents) -> None:
    text = re.sub(r"\s", "", "".join(pages(documents("hostile")["report.pdf"])))
    for shown in ("<script>document.title", "{{7*7}}", "]]>-->", "onerror=", "ελληνικά", "Кириллица", "AğırŞiş"):
        assert shown in text
    assert "\x00" not in text
    assert "\u202e" not in text


BUNDLED = templates.folder() / "report" / "fonts"
REFUSED = (
    "http://example.invalid/x.png",
    "https://example.invalid/x.ttf",
    "ftp://example.invalid/",
    "file:///etc/hostname",
    (BUNDLED / "source-sans-3-LICENSE").as_uri(),
    (BUNDLED / "atr-symbols.ttf").as_uri(),
    "data:text/plain,x",
    "atr-font:",
    "atr-font:nothing",
    "atr-font:atr-symbols.ttf",
    "atr-font:source-sans-3-LICENSE",
    "atr-font:../fonts/atr-symbols",
    "atr-font:..%2Ffonts%2Fatr-symbols",
    "atr-font:///etc/hostname",
    "ATR-FONT:atr-symbols",
)


@pytest.mark.parametrize("address", REFUSED)
def test_nothing_but_bundled_fonts_is_read(address: str) -> None:
    weasyprint = module.engine()
    with pytest.raises(weasyprint.urls.FatalURLFetchingError):
        module.bundled_fetcher(weasyprint).fetch(address)
    for html in (
        f"<html lang=en><title>t</title><img alt=x src='{address}'>",
        f"<html lang=en><title>t</title><link rel=stylesheet href='{address}'>",
        f"<html lang=en><title>t</title><style>@font-face{{font-family:x;src:url('{address}')}}</style>",
    ):
        with pytest.raises(weasyprint.urls.FatalURLFetchingError):
            module.pdf(html, date="2014-01-01", identifier="00", attachments={})


def test_bundled_fonts_are_read() -> None:
    fetcher = module.bundled_fetcher(module.engine())
    for path in sorted(BUNDLED.glob("*.ttf")):
        assert fetcher.fetch(f"atr-font:{path.stem}").read() == path.read_bytes()


def test_garbage_is_looked_for_after_a_layout_that_failed() -> None:
    with pytest.raises(ValueError, match="isoformat"):
        module.pdf("<p>a", date="some day", identifier="0", attachments={})
    assert gc.isenabled()


def test_fonts_are_the_same_in_both_forms() -> None:
    from fontTools.ttLib import woff2

    packed = sorted(BUNDLED.glob("*.woff2"))
    assert [p.stem for p in packed] == sorted(p.stem for p in BUNDLED.glob("*.ttf"))
    for path in packed:
        unpacked = io.BytesIO()
        woff2.decompress(io.BytesIO(path.read_bytes()), unpacked)
        assert path.with_suffix(".ttf").read_bytes() == unpacked.getvalue(), path.stem


def test_paper_of_few_rules_differs_in_its_fonts_only(reports: dict[str, PublicReport]) -> None:
    page = ReportPage(reports["compas"], "0")
    screen, paper = page.screen, page.paper
    assert "base64" not in paper
    assert "atr-font:" not in screen
    assert len(re.findall("@font-face", screen)) == len(re.findall("@font-face", paper)) > 5
    bare = [re.sub(r"@font-face\{[^}]*\}", "", html) for html in (screen, paper)]
    assert bare[0] == bare[1]


def test_every_letter_is_in_a_bundled_font(documents: Documents) -> None:
    with pikepdf.open(io.BytesIO(documents("compas")["report.pdf"])) as file:
        names = {str(font.BaseFont).partition("+")[2] for page in file.pages for font in page.Resources.Font.values()}
    assert names
    assert not [name for name in names if not name.startswith(("Source-Sans-3", "Source-Serif-4", "ATR-Symbols"))]


@pytest.mark.long
def test_few_pages_and_words_before_the_annex(documents: Documents) -> None:
    for name in ("compas", "limits"):
        found = pages(documents(name)["report.pdf"])
        annex = next(i for i, text in enumerate(found) if "A All rules" in text)
        assert annex < 8
        assert len(" ".join(found).partition("A All rules")[0].split()) <= 3000
        assert len(found) <= 20


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "weasyprint":
            raise OSError("cannot load library 'libpango-1.0-0'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(EnvironmentFault, match=r"^[^\n]*libpango-1\.0-0 libpangoft2-1\.0-0[^\n]*$"):
        module.engine()


def test_a_missing_optional_library_is_not_complained_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("weasyprint.pdf.fonts.harfbuzz_subset", None)
    module.pdf("<html lang=en><title>t</title><p>text", date="2014-01-01", identifier="00", attachments={})
    assert caplog.messages == []
