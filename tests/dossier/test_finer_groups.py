"""Who knows the finer group of somebody in a rest group: how sure, and of how many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import series
from tests.warehouse.test_coarsen import _content, _series


@pytest.mark.usefixtures("quick")
def test_the_dossier_says_what_finer_knowledge_tells(tmp_path: Path) -> None:
    """Of 9 and 12 people who join, one group has one value alone."""
    counts = {
        ("a1", "young", "x"): (20, 30), ("a1", "young", "y"): (25, 25),
        ("a2", "young", "x"): (4, 5),
        ("a2", "old", "x"): (2, 2), ("a2", "old", "y"): (4, 4),
    }  # fmt: skip
    content = _content(unattainable="withhold")
    content["attributes"]["age"] = {"role": "public"}
    outcome = series.publish(_series(tmp_path, counts, content=content))
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    (finer,) = dossier["finer"]
    assert (finer["values"], finer["groups"], finer["people"]) == (["a2", "any"], 2, 21)
    assert (finer["largest_before"], finer["largest"]) == (1, 1)
    assert (finer["people_before"], finer["people_above"]) == (9, 9)
    page = (outcome.dossier / "dossier.html").read_text(encoding="utf-8")
    assert "Who knows more than the rest group" in page
    assert "merged from 2 groups" in page
