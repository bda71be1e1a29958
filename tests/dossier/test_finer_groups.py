"""Who knows the finer group of somebody in a rest group: how sure, and of how many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atr.pipeline import Draft
from tests.helpers import series

Counts = dict[tuple[str, str, str], tuple[int, int]]
"""People with each outcome, by area, age and secret."""


@pytest.mark.usefixtures("quick")
def test_the_dossier_says_what_finer_knowledge_tells(tmp_path: Path) -> None:
    """Of 9 and 12 people who join, one group has one value alone."""
    counts = {
        ("a1", "young", "x"): (20, 30), ("a1", "young", "y"): (25, 25),
        ("a2", "young", "x"): (4, 5),
        ("a2", "old", "x"): (2, 2), ("a2", "old", "y"): (4, 4),
    }  # fmt: skip
    outcome = _published(tmp_path, counts)
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    (finer,) = dossier["finer"]
    assert (finer["values"], finer["groups"], finer["people"]) == (["a2", "not shown on their own"], 2, 21)
    assert (finer["largest_before"], finer["largest"]) == (1, 1)
    assert (finer["people_before"], finer["people_above"]) == (9, 9)
    page = (outcome.dossier / "dossier.html").read_text(encoding="utf-8")
    assert "Who knows more than the rest group" in page
    assert "merged from 2 groups" in page


@pytest.mark.usefixtures("quick")
def test_coarsened_groups_that_join_have_no_line_of_zeros(tmp_path: Path) -> None:
    """Of what the log has of them no count is kept: nothing is said, not that nobody is above a ceiling."""
    counts = {
        ("a1", "young", "x"): (20, 30), ("a1", "young", "y"): (25, 25),
        ("a2", "young", "x"): (2, 2), ("a2", "old", "y"): (2, 3),
        ("a3", "young", "y"): (2, 3), ("a3", "old", "x"): (3, 3),
    }  # fmt: skip
    (tmp_path / "ages.csv").write_text("young,any age\nold,any age\n")
    outcome = _published(tmp_path, counts, {"hierarchy": "ages.csv"}, unattainable="coarsen", minimum_group_size=15)
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    assert [group["values"] for group in dossier["groups"]] == [["a1", "young"], ["any age", "not shown on their own"]]
    assert dossier["finer"] == []


def _published(folder: Path, counts: Counts, age: dict[str, str] | None = None, **policy: Any) -> Draft:
    content = series.programme(**{"max_confidence": 0.85, "fidelity": {"delta": 0.5}} | policy)
    content["attributes"] = {
        "area": {"role": "public", "protected": True},
        "age": {"role": "public"} | (age or {}),
        "secret": {"role": "sensitive"},
    }
    path = series.write_series(folder, {}, content=content)
    rows = (
        (*values, result)
        for values, people in counts.items()
        for result, n in zip(("yes", "no"), people, strict=True)
        for _ in range(n)
    )
    header = ["id", "day", "area", "age", "secret", "result"]
    series.write_rows(folder / "log.csv", header, ((f"{i}", "2024-12-06", *row) for i, row in enumerate(rows)))
    return series.publish(path)
