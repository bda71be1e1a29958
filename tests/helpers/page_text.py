"""What stands on a page."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

from atr.documents.html import ReportPage
from atr.report.model import PublicReport


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []
        self.skipped = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.skipped += tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag == "style"

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.text.append(data)


def visible(page: str) -> str:
    """What a page says to whoever sees or hears it: its text, and the words of its attributes."""
    parser = _Text()
    parser.feed(page)
    said = re.findall(r'(?:aria-label|alt|title)="([^"]*)"|<meta name="description" content="([^"]*)"', page)
    return unescape(" ".join([*parser.text, *("".join(words) for words in said)]))


def read(report: PublicReport) -> tuple[str, list[str]]:
    parser = _Text()
    parser.feed(ReportPage(report, "f" * 64).screen)
    return re.sub(r"\s+", " ", "".join(parser.text)), parser.tags
