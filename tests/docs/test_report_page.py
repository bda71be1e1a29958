"""The page on report.json names every note, status, reader and reason that the format has."""

from __future__ import annotations

import re
from typing import get_args

from atr.documents.sections import trust
from atr.documents.templates import folder
from atr.report import model
from atr.report.headline import HeadlineId, RemainsId
from tests.helpers.paths import ROOT

PAGE = (ROOT / "docs" / "report-json.md").read_text(encoding="utf-8")


def test_the_page_names_all_there_is() -> None:
    method = (folder() / "report" / "method" / "notes.jinja").read_text(encoding="utf-8")
    names = [*trust.NOTES, *re.findall(r'id == "(\w+)"', method), model.SCHEMA]
    for part, field in ((model.Group, "status"), (model.NotCompared, "reason")):
        names += get_args(part.model_fields[field].annotation)
    assert [name for name in names if f"`{name}`" not in PAGE] == []
    assert [name for name in get_args(model.AlikeFinding) if f"`{name}`" not in PAGE] == []


def test_the_page_on_the_headline_names_every_id() -> None:
    page = (ROOT / "docs" / "headline.md").read_text(encoding="utf-8")
    ids = {*get_args(HeadlineId), *get_args(RemainsId)} - {"gap"}
    assert [name for name in sorted(ids) if f"`{name}`" not in page] == []
