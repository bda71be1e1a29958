"""The page on report.json names every note, status, reader and reason that the format has."""

from __future__ import annotations

from typing import get_args

from atr.documents.templates import folder
from atr.report import model
from tests.helpers.paths import ROOT

PAGE = (ROOT / "docs" / "report-json.md").read_text(encoding="utf-8")


def test_the_page_names_all_there_is() -> None:
    names = [*(note.stem for note in (folder() / "report" / "notes").iterdir()), model.SCHEMA]
    for part, field in ((model.Group, "status"), (model.NotCompared, "reason")):
        names += get_args(part.model_fields[field].annotation)
    assert [name for name in names if f"`{name}`" not in PAGE] == []
