"""The site of a series: the page that lists its releases, the page in place of a withdrawn one, and an Atom feed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from markupsafe import Markup

from atr.documents import fonts, templates
from atr.documents.charts.palette import dark_css
from atr.documents.html import link
from atr.documents.sections import over_time
from atr.documents.text import headline as headlines
from atr.documents.text import records as records_text
from atr.documents.text.language import Language
from atr.documents.text.records import RecordsWords
from atr.documents.text.words import Words
from atr.programme.font_files import FontFile
from atr.records.model import CHANNEL, NOTE, NOTE_PDF, PublicRecords
from atr.records.model import FILES as RECORD_FILES
from atr.report.headline import headline
from atr.report.model import PeriodInfo, ProgrammeInfo, PublicReport
from atr.warehouse.ledger import Kind, folder_of

FILES = {
    "report": ("report.html", "report.pdf", "report.json", "announced_rules.csv", "fairness.csv", "influence.csv"),
    "records": (NOTE, NOTE_PDF, *RECORD_FILES, CHANNEL),
}
"""The files of a release that are listed, by its kind; what is to be read first comes first."""
PAGES = {"report": "report.html", "records": NOTE}
"""The page in place of a release that was withdrawn, by its kind."""
_NAMESPACE = UUID(int=0)
_NOTHING_YET = "1970-01-01"
"""When a feed without entries changed last: Atom demands a date."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A release on the site.

    Parameters
    ----------
    period
        What it is about.
    version
        Counts from 1.
    date
        ISO date of the draft, which the documents bear.
    sha256
        The hash of ``report.json``.
    replaced_by, replaced_on
        The version that replaced it and the ISO date of that; None and empty where none did.
    withdrawn
        Whether its documents are no longer there.
    kind
        Whether it is a report or released records.
    finding
        What it found, in a sentence; not shown of a release that was replaced, empty where there is none.
    """

    period: PeriodInfo
    version: int
    date: str
    sha256: str
    replaced_by: int | None = None
    replaced_on: str = ""
    withdrawn: bool = False
    finding: str = ""
    kind: Kind = "report"

    @property
    def folder(self) -> str:
        """The folder of its files within that of its period."""
        return folder_of(self.kind, self.version)

    @property
    def replacement(self) -> str:
        """What is to be read first of the version that replaced it, as seen from its folder; empty without one."""
        return f"../{folder_of(self.kind, self.replaced_by)}/{self.files[0]}" if self.replaced_by else ""

    @property
    def files(self) -> Sequence[str]:
        """The files to list."""
        return FILES[self.kind]

    @property
    def updated(self) -> str:
        """ISO date of its last change on the site."""
        return max(self.date, self.replaced_on)


def site_html(
    programme: ProgrammeInfo,
    releases: Sequence[IndexEntry],
    *,
    newest: PublicReport | None = None,
    supplied: Sequence[FontFile] = (),
) -> str:
    """Render the page that lists the releases of a series.

    Parameters
    ----------
    programme
        The series.
    releases
        In the order to list them.
    newest
        The report of the latest period, whose series is drawn; None where it cannot be read.
    supplied
        Fonts for the characters that no bundled font has.
    """
    known: dict[str, Any] = {"programme": programme, "releases": releases, "link": link}
    known["dark"] = Markup(dark_css())  # noqa: S704 - colours of the palette
    figure = None if newest is None else over_time.figure(Words.of(newest))
    html = templates.render("site/index.html.jinja", language=Language.of(programme.language), figure=figure, **known)
    return fonts.with_fonts(html, supplied=supplied)


def finding(report: PublicReport | PublicRecords) -> str:
    """What a report found, or what was altered in records, as its first page says it."""
    if isinstance(report, PublicRecords):
        return records_text.finding(RecordsWords.of(report))
    return headlines.said(Words.of(report), headline(report))


def replaced_html(programme: ProgrammeInfo, release: IndexEntry) -> str:
    """Render the page that stands in place of a report that was replaced and withdrawn."""
    return templates.render(
        "site/replaced.html.jinja", language=Language.of(programme.language), programme=programme, r=release
    )


def feed_xml(programme: ProgrammeInfo, releases: Sequence[IndexEntry]) -> str:
    """Render the Atom feed of a series (RFC 4287).

    Its ids are UUIDs made from the names of publisher and programme, and from the hash of each report, and its links
    are relative to where it is read: no address of the site comes in.

    Parameters
    ----------
    programme
        The series.
    releases
        In the order to list them.
    """
    known: dict[str, Any] = {
        "programme": programme,
        "id": uuid5(_NAMESPACE, f"{programme.publisher.name}\n{programme.name}").urn,
        "updated": max((release.updated for release in releases), default=_NOTHING_YET),
        "entries": [(uuid5(_NAMESPACE, release.sha256).urn, release) for release in releases],
        "contact": link(programme.publisher.contact),
        "website": link(programme.publisher.website),
    }
    return templates.render("site/feed.xml.jinja", language=Language.of(programme.language), **known)
