"""Nothing is parsed back out of a label: values may hold any separator that labels are made with."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from atr.core.display_text import cleaned
from atr.verify import verify
from tests.helpers import forging, series

HOSTILE = ("a\nb", "a, b", "a: b", "a and b", 'say "a", b', "a against b", " · ", "a")
MATTERS = ("x: y", "x, kind: y")


def _content() -> dict[str, Any]:
    content = series.programme(minimum_group_size=10, max_confidence=0.95, population_rounding=5)
    content["log"]["coverage"] = "sample"
    content["attributes"] = {
        "kind": {"role": "public", "protected": True, "title": "kind: of, person"},
        "place": {"role": "public", "protected": True},
        "matter": {"role": "public", "legitimate": True},
        "secret": {"role": "sensitive", "protected": True},
    }
    content["fairness"] = {
        "intersections": [["kind", "place"], ["place", "secret"]],
        "individual": {"measures": ["total_variation"], "tolerance": 0.1, "distances": {"matter": {"weight": 1}}},
    }
    return content


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    path = series.write_series(folder, {}, content=_content())
    regions = product(HOSTILE, HOSTILE[:3], MATTERS, ("low, or so", "high\nup"))
    rows = (
        (f"{i}-{k}", "2024-12-06", *region, "yes" if k % 24 < 6 + i % 12 else "no")
        for i, region in enumerate(regions)
        for k in range(24)
    )
    series.write_rows(folder / "log.csv", ["id", "day", "kind", "place", "matter", "secret", "result"], rows)
    with series.quick():
        return series.publish(path).documents


def test_values_with_separators_are_published(published: Path) -> None:
    report = json.loads((published / "report.json").read_text())
    by = {entry["attribute"] for entry in report["fairness"]}
    assert {"kind", "place", "secret", "kind and place", "place and secret"} <= by
    assert {group["public"]["kind"] for group in report["groups"]} == set(map(cleaned, HOSTILE))
    assert verify(published) == []


def test_intersections_of_such_values_stay_apart(published: Path) -> None:
    report = json.loads((published / "report.json").read_text())
    both = [e for e in report["fairness"] if e["attribute"] == "kind and place" and e["measure"] == "p_percent_rule"]
    groups = {group for entry in both for group in entry["groups"]}
    assert len(groups) == len(HOSTILE) * 3
    assert all(entry["sampling"] for entry in both)


@pytest.mark.parametrize("forged", [["kind"], ["place", "kind"], ["kind", "kind"]])
def test_an_intersection_by_other_attributes_is_found(published: Path, tmp_path: Path, forged: list[str]) -> None:
    report = json.loads((published / "report.json").read_text())
    i = next(i for i, entry in enumerate(report["fairness"]) if entry["attribute"] == "kind and place")
    changed = forging.with_value(report, ("fairness", i, "attributes"), forged)
    assert verify(forging.write(tmp_path / "r.json", changed))
