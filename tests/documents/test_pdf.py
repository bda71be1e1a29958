"""The PDF: its text, its structure, its pages."""

from __future__ import annotations

import hashlib
import io
import itertools
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pikepdf
import pypdf
import pytest

from atr.documents import pdf as module
from atr.documents import templates
from atr.documents.html import report_html
from atr.documents.sections import fairness as parity
from atr.documents.text.comparisons import sentence
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
    """The text of every page."""
    return [text for text, _ in _read(content)]


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
    assert hashlib.sha256(documents("compas")["report.json"]).hexdigest() in text.replace("\n", "")
    for words in (f"{report.coverage.decisions:,}", "62.3", "58.3", "10 percentage points", "36 groups"):
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
        assert len(figures) == 4
        assert all("against" in str(e.Alt) and "0." in str(e.Alt) for e in figures[:2])
        assert "Prior offences: " in str(figures[2].Alt)
        assert "A: People with" in str(figures[3].Alt)
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


def test_bookmarks_contents_and_running_heads(documents: Documents) -> None:
    reader = pypdf.PdfReader(io.BytesIO(documents("compas")["report.pdf"]))
    flat: list[Any] = []
    stack = [reader.outline]
    while stack:
        for item in stack.pop():
            stack.append(item) if isinstance(item, list) else flat.append(item)
    where = {str(item.title): reader.get_destination_page_number(item) for item in flat}
    contents = pages(documents("compas")["report.pdf"])[0]
    for title in ("2 Announced decision rules", "3.2 By race", "9 Provenance"):
        assert re.search(rf"{title[2:].strip()}[ .]+{where[title] + 1}\b", contents), title  # type: ignore[operator]
    assert "cannot be told" in contents, "what is to be seen at a glance is on the first page"
    total = len(reader.pages)
    texts = pages(documents("compas")["report.pdf"])
    for number, (page, text) in enumerate(zip(reader.pages, texts, strict=True), start=1):
        assert f"{number} / {total}" in text
        assert number == 1 or "Risk scores before trial" in text
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
    rules = [text for text in found if "2 Announced decision rules" in text]
    inside = [text for text in rules if re.search(r"value b \d", text) and "value c" in text]
    assert len(inside) > 2
    assert all("People" in text and "level 3" in text for text in inside[:-1])


@pytest.mark.parametrize("name", ["compas", *(pytest.param(n, marks=LONG) for n in ("long", "one", "tall"))])
def test_no_heading_is_left_alone(documents: Documents, name: str) -> None:
    for text in pages(documents(name)["report.pdf"]):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        body = [line for line in lines if not re.fullmatch(r"\d+ / \d+|Example publisher · .*", line)]
        assert not re.match(r"\d(\.\d)? [A-Z]|Table \d|Figure \d", body[-1]), body[-1]


@pytest.mark.parametrize("name", ["compas", "hostile", *(pytest.param(n, marks=LONG) for n in ("long", "places"))])
def test_every_figure_fits_a_page(documents: Documents, name: str) -> None:
    """Whatever a chart draws lies between the running heads."""
    found = 0
    for _, curves in _read(documents(name)["report.pdf"]):
        found += len(curves)
        assert all(50 < y < 800 and 50 < x < 550 for x, y in curves)
    assert found


@LONG
def test_many_groups_are_told_shortly(documents: Documents, reports: dict[str, PublicReport]) -> None:
    """A chart draws the groups most people are in, and says so; sentences are for those furthest from 1."""
    (by,) = parity.protected(reports["places"])
    assert by["chart"] is not None
    assert len(by["chart"].rows) == parity.MAX_MARKS < len(by["rows"]) == by["groups_in_all"]
    assert sum(row.ring is not None for row in by["chart"].rows) == 1
    ratios = [e for e in reports["places"].fairness if e.measure == "p_percent_rule"]
    told = [e for e in ratios if any(said.startswith(sentence(e, reports["places"])) for said in by["sentences"])]
    others = [
        e for e in reports["places"].fairness
        if e.measure == "p_percent_rule" and e.outcome == "low" and e.reference in e.groups and e not in told
    ]  # fmt: skip
    assert len(told) == parity.MAX_SENTENCES
    nearest = min(abs(math.log(e.value)) if e.value else math.inf for e in told)
    assert all(e.value and abs(math.log(e.value)) <= nearest for e in others)
    text = " ".join(pages(documents("places")["report.pdf"])).replace("\n", " ")
    assert "20 groups with most people" in text
    assert len(pages(documents("places")["report.pdf"])) <= 18


def test_figures_stand_with_their_tables(documents: Documents) -> None:
    found = 0
    for text in pages(documents("compas")["report.pdf"]):
        for figure in re.finditer(r"^Figure \d+", text, flags=re.M):
            assert re.search(r"^Table \d+", text[figure.end() :], flags=re.M), figure.group()
            found += 1
    assert found >= 4


def test_one_honest_page_when_nothing_is_announced(documents: Documents) -> None:
    (text,) = pages(documents("none")["report.pdf"])
    assert "12 groups of people have fewer than 1,000 people" in text
    assert "Contents" not in text
    with pikepdf.open(io.BytesIO(documents("none")["report.pdf"])) as file:
        assert not [e for e in elements(file.Root.StructTreeRoot) if e.S == "/Table"]


@LONG
def test_one_page_even_with_many_withheld_groups() -> None:
    from atr.documents.render import contents

    report = sample.grid((8, 9), 1, name="A long name of a value, {kind} {i}")
    assert len(report.withheld_groups) == 72
    (text,) = pages(contents(report)["report.pdf"])
    assert "more, which report.json names" in text


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


def test_fonts_are_the_same_in_both_forms() -> None:
    from fontTools.ttLib import woff2

    packed = sorted(BUNDLED.glob("*.woff2"))
    assert [p.stem for p in packed] == sorted(p.stem for p in BUNDLED.glob("*.ttf"))
    for path in packed:
        unpacked = io.BytesIO()
        woff2.decompress(io.BytesIO(path.read_bytes()), unpacked)
        assert path.with_suffix(".ttf").read_bytes() == unpacked.getvalue(), path.stem


def test_html_for_paper_differs_in_its_fonts_only(reports: dict[str, PublicReport]) -> None:
    screen, paper = (report_html(reports["compas"], sha256="0", embedded=e) for e in (True, False))
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


def test_few_pages(documents: Documents) -> None:
    assert len(pages(documents("compas")["report.pdf"])) <= 18


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
