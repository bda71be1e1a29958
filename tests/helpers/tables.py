"""The tables of a section of a report, as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from atr.documents.html import ReportPage
from atr.report.model import PublicReport

Row = list[str]


class _Tables(HTMLParser):
    """A cell over several columns is followed by empty ones, but for the last of its row."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[Row]] = {}
        self.rows: list[Row] = []
        self.inside = False
        self.span = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if ("class", "scroll") in attrs:
            self.rows = self.found.setdefault(dict(attrs)["aria-label"], [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1] += [""] * self.span if self.rows[-1] else []
            self.rows[-1].append("")
            self.inside, self.span = True, int(dict(attrs).get("colspan") or 1) - 1

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("th", "td")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def section(report: PublicReport, name: str, *, paper: bool = False) -> str:
    """The HTML of a section."""
    page = ReportPage(report, "0" * 64)
    _, found, rest = (page.paper if paper else page.screen).partition(f'aria-labelledby="{name}">')
    assert found, f"there is a section {name}"
    return rest[: rest.index("</section>")]


def text(report: PublicReport, name: str, *, paper: bool = False) -> str:
    """What a section says, without marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section(report, name, paper=paper)))


def tables(report: PublicReport, name: str, *, paper: bool = False) -> dict[str, list[Row]]:
    """The rows of each table of a section, by its name; lines within a cell are kept."""
    parser = _Tables()
    parser.feed(section(report, name, paper=paper))
    return {label: [[" ".join(cell.split(" ")).strip() for cell in row] for row in rows]
            for label, rows in parser.found.items()}  # fmt: skip
