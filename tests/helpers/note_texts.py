"""The fidelity notes of a report in words."""

from __future__ import annotations

import json
from typing import Any

from atr.documents.text.notes import NOTES
from atr.documents.text.wording import NBSP
from atr.report.model import PublicReport


def by_id(report: PublicReport | dict[str, Any]) -> dict[str, str]:
    """The text of each note of a report, or of its JSON, by its id."""
    read = PublicReport.model_validate_json(json.dumps(report)) if isinstance(report, dict) else report
    return {note.id: NOTES[note.id][1](read).replace(NBSP, " ") for note in read.notes}
