"""The fidelity notes of a report in words."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from atr.documents.html import ReportPage
from atr.report.model import PublicReport

_VOID = {"br", "meta", "col"}


class _Notes(HTMLParser):
    """The text of each element that is named after a note."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.said: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        id = dict(attrs).get("id") or ""
        self.open.append(id)
        if id.startswith("note-"):
            self.said.append((id.removeprefix("note-"), []))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        for id in self.open:
            if id.startswith("note-"):
                self.said[-1][1].append(data)


def said(report: PublicReport | dict[str, Any]) -> list[tuple[str, str]]:
    """Each note that a report, or its JSON, has words for, and these, in the order of the page."""
    read = PublicReport.model_validate_json(json.dumps(report)) if isinstance(report, dict) else report
    page = ReportPage(read, "").paper
    parser = _Notes()
    parser.feed(re.sub("<style.*?</style>", "", page, flags=re.DOTALL))
    return [(id, " ".join("".join(text).split())) for id, text in parser.said]


def by_id(report: PublicReport | dict[str, Any]) -> dict[str, str]:
    """The words of each note of a report, or of its JSON, by its id."""
    return dict(said(report))
