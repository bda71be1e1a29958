"""The HTML: in a real browser, and as text."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from atr.documents.html import IndexEntry, replaced_html, report_html, site_html
from atr.documents.sections import fairness
from atr.report.model import PeriodInfo, PublicReport
from tests.helpers import sample
from tests.helpers.page_text import read
from tests.helpers.texts import HOSTILE


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
        (folder / f"{name}.html").write_text(report_html(report, sha256="0" * 64), encoding="utf-8")
    second = PeriodInfo(label="2013-Q2", start="2013-04-01", end="2013-07-01", timezone=None)
    entries = [
        IndexEntry(second, 3, "2013-09-01", "1" * 64),
        IndexEntry(second, 2, "2013-08-01", "2" * 64, replaced_by=3, replaced_on="2013-09-03"),
        IndexEntry(second, 1, "2013-07-01", "4" * 64, replaced_by=2, replaced_on="2013-08-02", withdrawn=True),
        IndexEntry(PeriodInfo(label="all", start=None, end=None, timezone=None), 1, "2013-05-01", "3" * 64),
    ]
    (folder / "replaced.html").write_text(replaced_html(reports["hostile"].programme, entries[2]), encoding="utf-8")
    (folder / "index.html").write_text(site_html(reports["hostile"].programme, entries), encoding="utf-8")
    (folder / "index-empty.html").write_text(site_html(reports["one"].programme, []), encoding="utf-8")
    return folder


def test_the_index_says_which_version_is_the_newest(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    states = re.findall(r"<h3>(.*?)</h3>\n.*version (\d) .*<strong>(\w+)</strong></span>(?:<span>(.*?)</span>)?", page)
    assert states == [
        ("1 April to 30 June 2013", "3", "published", ""),
        ("1 April to 30 June 2013", "2", "replaced", "by version 3 on 3 September 2013"),
        ("1 April to 30 June 2013", "1", "replaced", "by version 2 on 2 August 2013; its files were withdrawn"),
        ("All decisions", "1", "published", ""),
    ]
    assert 'href="2013-Q2/v2/report.pdf"' in page
    assert "2013-Q2/v1/" not in page


PAGES = [
    "compas",
    "hostile",
    "index",
    "replaced",
    *(pytest.param(n, marks=pytest.mark.long) for n in ("tall", "one", "none", "index-empty")),
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
        assert page.evaluate("document.querySelectorAll('script, img, iframe, link').length") == 0
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
    assert {f.strip('"') for f in loaded} >= {"Source Sans 3", "Source Serif 4", "ATR Symbols"}
    family = "getComputedStyle(document.querySelector('svg text')).fontFamily"
    assert "Source Sans 3" in page.evaluate(family)
    assert page.evaluate("getComputedStyle(document.querySelector('svg .ink')).fill") == "rgb(230, 234, 238)"
    context.close()


def test_hostile_texts_are_texts(reports: dict[str, PublicReport]) -> None:
    text, tags = read(reports["hostile"])
    for shown in HOSTILE[:5]:
        assert re.sub(r"\s+", " ", shown) in text
    assert not {"script", "img"} & set(tags)
    assert "\x00" not in text
    assert "\u202e" not in text
    assert 'href="javascript' not in report_html(reports["hostile"], sha256="")


def test_at_a_glance(reports: dict[str, PublicReport]) -> None:
    text, _ = read(reports["compas"])
    assert "5,111 decisions made from 1 January to 31 December 2013" in text
    assert (
        "A reader who takes these rules at face value, and knows a person’s public attributes and outcome, can be at "
        "most 62.3 % sure of a person’s prior offences; without this report, 58.3 %."
    ) in text
    assert "No announced chance differs from the true one by more than 10 percentage points." in text
    assert "1 met" in text
    assert "1 not met" in text
    assert "2 cannot be told" in text
    assert "surest" not in text


def test_groups_beyond_the_limit_are_in_the_annex(reports: dict[str, PublicReport]) -> None:
    text, _ = read(reports["beyond"])
    assert "The table shows the 200 groups with most people. The rules of all 240 announced groups" in text


def test_withheld_groups_are_named_without_numbers() -> None:
    report = sample.compas(ceiling=0.5)
    text, _ = read(report)
    for group in report.withheld_groups:
        assert ", ".join(group.public.values()) in text
    assert f"{len(report.withheld_groups)} groups are withheld because prior offences could be guessed" in text


def test_nobody_is_said(reports: dict[str, PublicReport]) -> None:
    text, _ = read(reports["compas"])
    assert "nobody" in text
    assert "A dot: nobody is in this situation." in text


def test_order_of_groups_is_the_same_everywhere(reports: dict[str, PublicReport]) -> None:
    races = next(a for a in reports["compas"].attributes if a.name == "race").values
    for protected in fairness.protected(reports["compas"]):
        if protected["by"].attribute == "race":
            rows = [row.label for row in protected["rows"]]
            assert rows == [race for race in races if race in rows]
            assert [row.label for row in protected["chart"].rows] == rows
            for each in protected["classes"]:
                labels = [row.label for row in each.rows]
                assert labels == [race for race in races if race in labels]


def test_small_enough() -> None:
    report = sample.grid((4, 5, 10), 8, name="{kind} with a long name, as they happen to be, {i}")
    assert len(report.announced_groups) == 200
    assert len(report_html(report, sha256="").encode()) < 1_000_000


def test_nothing_that_was_not_stated_is_left_blank(reports: dict[str, PublicReport]) -> None:
    plain = reports["one"]
    system = plain.programme.system.model_copy(update={"purpose": "", "appeal": "", "human_review": "", "version": ""})
    report = plain.model_copy(update={"programme": plain.programme.model_copy(update={"system": system})})
    text, _ = read(report)
    assert "How to contest a decision. The publisher has not stated how." in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_heat_cells_can_be_read(reports: dict[str, PublicReport], scheme: str) -> None:
    html = report_html(reports["one"], sha256="")
    found = re.findall(r"\.heat-(\d+) \{ background: rgb\((\d+),(\d+),(\d+)\); color: (#\w{6}); \}", html)
    rules = found[:21] if scheme == "light" else found[21:]
    assert [int(rule[0]) for rule in rules] == list(range(21))
    for _, *background, ink in rules:
        text = luminance([int(ink[i : i + 2], 16) for i in (1, 3, 5)])
        behind = luminance([int(c) for c in background])
        light, dark = max(text, behind), min(text, behind)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def luminance(colour: list[int]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_chart_has_a_title_first_and_a_table(reports: dict[str, PublicReport]) -> None:
    html = report_html(reports["compas"], sha256="")
    assert len(re.findall(r"<svg [^>]*><title id=", html)) == len(re.findall("<svg", html)) == 4
    assert len(re.findall("<desc id=", html)) == 4


def test_ids_are_unique(reports: dict[str, PublicReport]) -> None:
    for report in reports.values():
        ids = re.findall(r' id="([^"]+)"', report_html(report, sha256=""))
        assert len(ids) == len(set(ids))


def test_what_a_publisher_wrote_is_drawn_by_no_chart() -> None:
    """WeasyPrint sets the text of drawings letter by letter: Arabic would come out in pieces, and backwards."""
    names = "ذكر أنثى غير معروف {i}"
    html = report_html(sample.grid((3,), 2, people=400, name=names), sha256="0" * 64)
    drawn = "".join(re.findall("<text.*?</text>", html, re.DOTALL))
    assert drawn
    assert "ذكر" not in drawn
    assert html.count('<span class="label sans"') == 4
