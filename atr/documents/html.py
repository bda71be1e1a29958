"""The HTML documents: one self-contained file each, without scripts and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr.documents import templates, view
from atr.documents.fonts import faces
from atr.report import wording
from atr.report.model import ProgrammeInfo, PublicReport

_FILES = (
    ("report.html", "Report (HTML)"),
    ("report.pdf", "Report (PDF)"),
    ("report.json", "Report (JSON)"),
    ("announced_rules.csv", "Rules (CSV)"),
    ("fairness.csv", "Fairness (CSV)"),
    ("influence.csv", "Influence (CSV)"),
)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A release on the index page.

    Parameters
    ----------
    label
        The period's label, such as ``2013-Q1``.
    period
        Its days in words; empty for the whole log.
    version
        Counts from 1.
    date
        ISO date of the draft, which the documents bear.
    state
        ``published``, ``superseded`` or ``withdrawn``.
    folder
        Where the documents are, relative to the page.
    sha256
        The hash of ``report.json``.
    remark
        Why it was replaced or withdrawn; empty if there is nothing to say.
    """

    label: str
    period: str
    version: int
    date: str
    state: str
    folder: str
    sha256: str
    remark: str = ""


def report_html(report: PublicReport, *, sha256: str, embedded: bool = True) -> str:
    """The report as HTML, for screens and for WeasyPrint alike.

    Parameters
    ----------
    report
        What is published.
    sha256
        The hash of ``report.json``, which the document prints.
    embedded
        Whether the document carries its fonts in itself; else it names them, which is for WeasyPrint.
    """
    known = view.context(report, sha256=sha256)
    name = "report/report.html.jinja" if report.announced_groups else "report/none.html.jinja"
    bare = templates.render(name, **known, fonts=())
    return templates.render(name, **known, fonts=faces(bare, embedded=embedded))


def index_html(programme: ProgrammeInfo, releases: Sequence[IndexEntry]) -> str:
    """The page that lists the releases of a series.

    Parameters
    ----------
    programme
        The series.
    releases
        In the order to list them.
    """
    known = {
        "programme": programme,
        "releases": releases,
        "files": _FILES,
        "w": wording,
        "contact": view.contact(programme.publisher.contact),
        "website": view.link(programme.publisher.website),
    }
    bare = templates.render("index/index.html.jinja", **known, fonts=())
    return templates.render("index/index.html.jinja", **known, fonts=faces(bare))
