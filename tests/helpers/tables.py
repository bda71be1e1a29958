"""The tables of a section of a report, as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from atr.documents.html import report_html
from atr.report.model import PublicReport

Row = list[str]


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[Row]] = {}
        self.rows: list[Row] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if ("class", "scroll") in attrs:
            self.rows = self.found.setdefault(dict(attrs)["aria-label"], [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("th", "td")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def section(report: PublicReport, name: str) -> str:
    """The HTML of a section."""
    page = report_html(report, sha256="0" * 64)
    _, found, rest = page.partition(f'aria-labelledby="{name}">')
    assert found, f"there is a section {name}"
    return rest[: rest.index("</section>")]


def text(report: PublicReport, name: str) -> str:
    """What a section says, without marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section(report, name)))


def tables(report: PublicReport, name: str) -> dict[str, list[Row]]:
    """The rows of each table of a section, by its name; lines within a cell are kept."""
    parser = _Tables()
    parser.feed(section(report, name))
    return {label: [[" ".join(cell.split(" ")).strip() for cell in row] for row in rows]
            for label, rows in parser.found.items()}  # fmt: skip
