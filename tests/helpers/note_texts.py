"""The fidelity notes of a report in words."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from atr.documents.html import report_html
from atr.documents.text.wording import NBSP
from atr.report.model import PublicReport


def by_id(report: PublicReport | dict[str, Any]) -> dict[str, str]:
    """The text of each note of a report, or of its JSON, by its id."""
    return {id: text for id, (_, text) in titled(report).items()}


def titled(report: PublicReport | dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The title and the text of each note, by its id."""
    read = PublicReport.model_validate_json(json.dumps(report)) if isinstance(report, dict) else report
    page = html.unescape(report_html(read, sha256="", embedded=False)).replace(NBSP, " ")
    found = re.findall(r'<h3 id="note-\d+">(.*)</h3>\n<p>(.*)</p>', page)
    return {note.id: texts for note, texts in zip(read.notes, found, strict=True)}
