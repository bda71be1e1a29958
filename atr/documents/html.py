"""The HTML documents: one self-contained file each, without scripts and without a network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from atr.documents import fonts, templates
from atr.documents.sections import numbered
from atr.documents.text import phrases, wording
from atr.documents.text.promise import described
from atr.report.model import PeriodInfo, ProgrammeInfo, PublicReport

_FILES = (
    ("report.html", "Report (HTML)"),
    ("report.pdf", "Report (PDF)"),
    ("report.json", "Report (JSON)"),
    ("announced_rules.csv", "Rules (CSV)"),
    ("fairness.csv", "Fairness (CSV)"),
    ("influence.csv", "Influence (CSV)"),
)
_ROOM_FOR_NAMES = 700
"""Letters of withheld groups' names that a one-page report has room for."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A release on the index page.

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
    """

    period: PeriodInfo
    version: int
    date: str
    sha256: str
    replaced_by: int | None = None
    replaced_on: str = ""
    withdrawn: bool = False


def report_html(report: PublicReport, *, sha256: str, embedded: bool = True) -> str:
    """Render the report as one HTML page, for screens and for WeasyPrint alike.

    Parameters
    ----------
    report
        What is published.
    sha256
        The hash of ``report.json``, which the document prints.
    embedded
        Whether the fonts are embedded; otherwise they are named, which is for WeasyPrint.

    Returns
    -------
    The page; where no group is announced, one that says so.
    """
    known: dict[str, Any] = {
        "report": report,
        "programme": report.programme,
        "sha256": sha256,
        "w": wording,
        "phrases": phrases,
        "period": wording.period(report.period),
        "short_title": shorten(report.programme.title, 60),
        "short_publisher": shorten(report.programme.publisher.name, 50),
        "link": link,
    }
    if report.announced_groups:
        known |= {"sections": numbered(report), "promise": described(report)}
        html = templates.render("report/report.html.jinja", **known)
    else:
        names = named_withheld(report)
        more = len(report.withheld_groups) - len(names)
        html = templates.render("report/none.html.jinja", **known, withheld=names, more_withheld=more)
    return fonts.with_fonts(html, embedded=embedded)


def site_html(programme: ProgrammeInfo, releases: Sequence[IndexEntry]) -> str:
    """Render the page that lists the releases of a series.

    Parameters
    ----------
    programme
        The series.
    releases
        In the order to list them.
    """
    known = {"programme": programme, "releases": releases, "files": _FILES, "w": wording, "link": link}
    return fonts.with_fonts(templates.render("site/index.html.jinja", **known))


def replaced_html(programme: ProgrammeInfo, release: IndexEntry) -> str:
    """Render the page that stands in place of a report that was replaced and withdrawn."""
    return templates.render("site/replaced.html.jinja", programme=programme, r=release, w=wording)


def named_withheld(report: PublicReport) -> list[str]:
    """The names of withheld groups, as many as fit a one-page report."""
    names = [phrases.group_name(group, report) for group in report.withheld_groups]
    return [
        name for name, letters in zip(names, accumulate(map(len, names)), strict=True) if letters <= _ROOM_FOR_NAMES
    ]


def shorten(text: str, length: int) -> str:
    """Shorten a text to at most so many letters, with an ellipsis where it was cut.

    >>> shorten("a long title", 8)
    'a long…'
    """
    text = " ".join(text.split())
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def link(text: str) -> str:
    """The address that a contact links to: a mail address or a web address; empty for everything else.

    >>> link("a@example.org"), link("https://example.org"), link("javascript:alert(1)"), link("Room 12")
    ('mailto:a@example.org', 'https://example.org', '', '')
    """
    if re.fullmatch(r"[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+", text):
        return f"mailto:{text}"
    return text if re.fullmatch(r"https?://[^\s\"'<>\\]+", text) else ""
