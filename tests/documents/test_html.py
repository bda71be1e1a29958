"""The HTML: in a real browser, and as text."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from atr.documents.html import ReportPage
from atr.documents.note import contents
from atr.documents.sections import numbered
from atr.documents.site import replaced_html, site_html
from atr.documents.text.words import Words
from atr.report.model import PublicReport
from tests.helpers import released, sample, site_entries, tables
from tests.helpers.page_text import read
from tests.helpers.releases import after, release
from tests.helpers.scripts_sample import several_scripts
from tests.helpers.texts import HOSTILE

NEWEST = after(release(2020, women=0.3, men=0.6), release(2021, women=0.5, men=0.6))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert chromium is not None, "these tests need a browser: `make test` installs chromium, or says how"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(reports: dict[str, PublicReport], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pages: every report and an index."""
    folder = tmp_path_factory.mktemp("site")
    for name, report in reports.items():
        (folder / f"{name}.html").write_text(ReportPage(report, "0" * 64).screen, encoding="utf-8")
    entries = site_entries.ENTRIES
    (folder / "replaced.html").write_text(replaced_html(reports["hostile"].programme, entries[2]), encoding="utf-8")
    (folder / "index.html").write_text(
        site_html(reports["hostile"].programme, entries, newest=NEWEST), encoding="utf-8"
    )
    (folder / "note.html").write_bytes(contents(released.records())["note.html"])
    (folder / "index-empty.html").write_text(site_html(reports["one"].programme, []), encoding="utf-8")
    return folder


PAGES = [
    "hostile",
    "index",
    "replaced",
    "note",
    *(pytest.param(n, marks=pytest.mark.long) for n in ("compas", "tall", "one", "none", "index-empty")),
]


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("name", PAGES)
def test_in_a_browser(browser: Any, site: Path, name: str) -> None:
    """No request, no message, no script, no sideways scroll, no accessibility fault in light and dark."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    address = (site / f"{name}.html").as_uri()
    requests: list[str] = []
    messages: list[str] = []
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme, viewport={"width": 320, "height": 700})
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: messages.append(dialog.message))

        def only_itself(route: Any) -> None:
            if route.request.url == address:
                route.continue_()
            else:
                requests.append(route.request.url)
                route.abort()

        page.route("**/*", only_itself)
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.title() != "run"
        assert page.evaluate("document.querySelectorAll('script, img, iframe, link:not([rel=alternate])').length") == 0
        page.set_viewport_size({"width": 1000, "height": 900})
        results = axe.run(page, options=None if scheme == "light" else {"runOnly": ["color-contrast"]})
        assert results.response["passes"]
        assert results.violations_count == 0, results.generate_report()
        context.close()
    assert requests == []
    assert messages == []


@pytest.mark.xdist_group("browser")
def test_fonts_and_dark_charts(browser: Any, site: Path) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto((site / "compas.html").as_uri())
    loaded = page.evaluate("[...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)")
    assert {f.strip('"') for f in loaded} >= {"Source Sans 3", "Source Serif 4"}
    family = "getComputedStyle(document.querySelector('svg text')).fontFamily"
    assert "Source Sans 3" in page.evaluate(family)
    inks = page.evaluate("[...document.querySelectorAll('svg text')].map(e => getComputedStyle(e).fill)")
    light = [sum(map(int, ink[4:-1].split(", "))) for ink in inks]
    assert light
    assert min(light) > 3 * 128, "text is light on a dark page"
    context.close()


@pytest.mark.xdist_group("browser")
def test_several_scripts_have_their_fonts(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(ReportPage(several_scripts(), "").screen, encoding="utf-8")
    page = browser.new_page(viewport={"width": 320, "height": 700})
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    loaded = page.evaluate("[...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)")
    assert {f.strip('"') for f in loaded} >= {"Noto Sans Hebrew", "Noto Sans Arabic", "Noto Sans Devanagari"}
    page.close()


def test_hostile_texts_are_texts(reports: dict[str, PublicReport]) -> None:
    text, tags = read(reports["hostile"])
    for shown in HOSTILE[:5]:
        assert re.sub(r"\s+", " ", shown) in text
    assert not {"script", "img"} & set(tags)
    assert "\x00" not in text
    assert "\u202e" not in text
    assert 'href="javascript' not in ReportPage(reports["hostile"], "").screen


def test_page_1_says_what_where_and_when(reports: dict[str, PublicReport]) -> None:
    text, _ = read(reports["compas"])
    assert "1 January to 31 December 2013 · Example publisher · dated 12 February 2014" in text
    second = reports["compas"].model_copy(update={"version": 2})
    assert "version 2, dated 12 February 2014" in read(second)[0]


def test_titles_stand_in_sentences_as_written() -> None:
    public = sample.attribute("citizenship", "German citizenship", ("yes", "no"), protected=True)
    secret = sample.attribute("cnp", "CNP status", ("a", "b"), role="sensitive")
    chances = {"yes": (0.6, 0.4), "no": (0.3, 0.5)}
    counts = {((who,), level): (100, x) for who, both in chances.items() for level, x in zip("ab", both, strict=True)}
    text, _ = read(sample.report((public, secret), counts))
    assert "By German citizenship" in text
    assert "sure of a sensitive attribute (CNP status)" in text
    assert "german" not in text
    assert "cNP" not in text


@pytest.mark.parametrize("name", ["compas", "limits"])
def test_chance_is_luck_on_every_page(reports: dict[str, PublicReport], name: str) -> None:
    for section in numbered(Words.of(reports[name])):
        if not section.annex:
            said = tables.text(reports[name], section.id)
            assert not re.findall(r"\bchances\b|chance of|chance alone|p value|significan", said)


def test_small_enough() -> None:
    report = sample.grid((4, 5, 10), 8, name="{kind} with a long name, as they happen to be, {i}")
    assert len(report.announced_groups) == 200
    assert len(ReportPage(report, "").screen.encode()) < 1_000_000


def test_how_to_contest_is_called_not_stated(reports: dict[str, PublicReport]) -> None:
    plain = reports["one"]
    system = plain.programme.system.model_copy(update={"purpose": "", "appeal": "", "human_review": "", "version": ""})
    report = plain.model_copy(update={"programme": plain.programme.model_copy(update={"system": system})})
    assert "How to contest is not stated." in read(report)[0]


def test_ids_are_unique(reports: dict[str, PublicReport]) -> None:
    for report in reports.values():
        ids = re.findall(r' id="([^"]+)"', ReportPage(report, "").screen)
        assert len(ids) == len(set(ids))
