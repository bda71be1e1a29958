"""The site: its index and its feed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from atr.documents.site import feed_xml, site_html
from atr.report.model import ProgrammeInfo, PublicReport
from tests.helpers.releases import after, release
from tests.helpers.site_entries import ENTRIES
from tests.helpers.texts import HOSTILE

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(params=["one", "hostile"])
def programme(reports: dict[str, PublicReport], request: pytest.FixtureRequest) -> ProgrammeInfo:
    return reports[request.param].programme


def test_the_index_says_which_version_is_the_newest(programme: ProgrammeInfo) -> None:
    page = site_html(programme, ENTRIES)
    states = re.findall(
        r"<h3>(.*?)</h3>\n.*version (\d), .*?</span>(?:<span><strong>(.*?)</strong>(.*?)</span>)?", page
    )
    assert states == [
        ("1 April to 30 June 2013", "3", "", ""),
        ("1 April to 30 June 2013", "2", "replaced by version 3 on 3 September 2013", ""),
        ("1 April to 30 June 2013", "1", "replaced by version 2 on 2 August 2013", "; its files were withdrawn"),
        ("All decisions", "1", "", ""),
    ]
    assert 'href="2013-Q2/v2/report.pdf"' in page
    assert "2013-Q2/v1/" not in page


def test_the_index_has_findings_and_a_chart(programme: ProgrammeInfo) -> None:
    newest = after(release(2020, women=0.3, men=0.6), release(2021, women=0.5, men=0.6))
    page = site_html(programme, ENTRIES, newest=newest)
    assert page.index("Over time") < page.index("women: 2020 30, 2021 50") < page.index('<h2 id="releases">')
    assert page.count('class="finding"') == 1, "of what was replaced, none is shown"
    assert "Taken back" not in page
    assert "<script" not in page
    assert "Over time" not in site_html(programme, ENTRIES)
    assert '<link rel="alternate" type="application/atom+xml"' in page


def _feed(programme: ProgrammeInfo, releases: tuple[object, ...] = ENTRIES) -> ElementTree.Element:
    return ElementTree.fromstring(feed_xml(programme, releases).encode())  # type: ignore[arg-type]


def _text(of: ElementTree.Element, name: str) -> str:
    (found,) = of.findall(ATOM + name)
    return found.text or ""


def test_the_feed_is_an_atom_feed(programme: ProgrammeInfo) -> None:
    feed = _feed(programme)
    entries = feed.findall(f"{ATOM}entry")
    assert feed.tag == f"{ATOM}feed"
    assert _text(feed.findall(f"{ATOM}author")[0], "name")
    assert len(entries) == len(ENTRIES)
    for of in (feed, *entries):
        assert _text(of, "title")
        assert urlsplit(_text(of, "id")).scheme == "urn"
        assert datetime.fromisoformat(_text(of, "updated")).tzinfo is not None
    assert len({_text(of, "id") for of in (feed, *entries)}) == len(entries) + 1
    assert {element.tag for element in feed.iter()} <= {
        ATOM + name
        for name in (
            "feed",
            "id",
            "title",
            "updated",
            "author",
            "name",
            "uri",
            "email",
            "link",
            "entry",
            "published",
            "summary",
        )
    }
    updated = [_text(of, "updated")[:10] for of in entries]
    assert updated == ["2013-09-01", "2013-09-03", "2013-08-02", "2013-05-01"]
    assert _text(feed, "updated")[:10] == max(updated)


def test_links_of_the_feed_need_no_address(programme: ProgrammeInfo) -> None:
    feed = _feed(programme)
    links = {of.get("rel"): of.get("href") for of in feed.findall(f"{ATOM}link")}
    assert links == {"self": "feed.xml", "alternate": "index.html"}
    pages = [of.get("href") for entry in feed.findall(f"{ATOM}entry") for of in entry.findall(f"{ATOM}link")]
    assert pages == [f"2013-Q2/v{version}/report.html" for version in (3, 2, 1)] + ["all/v1/report.html"]


def test_the_feed_is_the_same_and_its_ids_stay(programme: ProgrammeInfo) -> None:
    assert feed_xml(programme, ENTRIES) == feed_xml(programme, ENTRIES)
    later = replace(ENTRIES[0], replaced_by=4, replaced_on="2014-01-01")
    now, then = (_feed(programme, entries) for entries in ((later, *ENTRIES[1:]), ENTRIES))
    assert [e.text for e in now.iter(f"{ATOM}id")] == [e.text for e in then.iter(f"{ATOM}id")]
    summaries = [_text(entry, "summary") for entry in now.findall(f"{ATOM}entry")[:2]]
    assert summaries == ["replaced by version 4 on 1 January 2014", "replaced by version 3 on 3 September 2013"]


def test_what_others_wrote_is_text_in_the_feed(reports: dict[str, PublicReport]) -> None:
    feed = _feed(reports["hostile"].programme)
    summary = re.sub(r"\s+", " ", _text(feed.findall(f"{ATOM}entry")[0], "summary"))
    for text in HOSTILE[:5]:
        assert re.sub(r"\s+", " ", text) in summary


def test_a_feed_of_nothing_is_a_feed(programme: ProgrammeInfo) -> None:
    feed = _feed(programme, ())
    assert feed.findall(f"{ATOM}entry") == []
    assert _text(feed, "updated")
