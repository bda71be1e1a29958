"""The machine-readable files and the manifest."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from atr.core.display_text import spreadsheet_safe
from atr.documents import csv as annex
from atr.documents.render import render
from atr.report.model import PublicReport
from tests.helpers import sample
from tests.helpers.reports import Documents, silent


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_rules_say_what_the_report_says(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    found = {(r["group"], r["sensitive.priors_count"]): r for r in rows(annex.announced_rules(report))}
    regions = 0
    for group in report.announced_groups:
        for region in group.regions:
            row = found[group.id, region.sensitive["priors_count"]]
            assert row["announced.low"] == f"{region.announced['low']:.3f}"
            assert row["rate.low"] == f"{group.rate['low']:.3f}"  # type: ignore[index]
            assert int(row["population"]) == region.population
            assert int(row["group_population"]) == group.population
            regions += 1
    assert len(found) == regions + len(report.withheld_groups)


def test_withheld_groups_have_no_number() -> None:
    report = sample.compas(ceiling=0.5)
    assert report.withheld_groups
    for row in rows(annex.announced_rules(report)):
        if row["status"] == "withheld":
            numbers = [v for k, v in row.items() if k.split(".")[0] in {"rate", "announced", "population"}]
            assert set(numbers) == {""}
            assert row["group_population"] == ""


def test_fairness_has_every_comparison(reports: dict[str, PublicReport]) -> None:
    report = reports["unbounded"]
    found = rows(annex.fairness(report))
    assert len(found) == len(report.fairness)
    for row, entry in zip(found, report.fairness, strict=True):
        assert row["verdict"] == (entry.verdict or "")
        assert row["value"] == ("" if entry.value is None else f"{entry.value:.3f}")
        assert (row["range_high"] == "") is (entry.range[1] is None)
        assert row["condition.c_charge_degree"] == entry.condition.get("c_charge_degree", "")


def test_no_spreadsheet_runs_a_cell(reports: dict[str, PublicReport]) -> None:
    report = reports["hostile"]
    cells = [
        c
        for make in (annex.announced_rules, annex.fairness)
        for r in csv.reader(io.StringIO(make(report).decode(), newline=""))
        for c in r
    ]
    assert "'=1+1" in cells
    assert "'@SUM(A1)" in cells
    assert {"+", "-"} <= set(cells)
    assert not [c for c in cells if c[:1] in tuple("=@\t\r")]


@pytest.mark.parametrize("text", ["=1", "@a", "\tx", "\r=1", "+cmd|' /C calc'!A0", "-2+3+cmd|x", "+SUM(A1)"])
def test_formulas_are_neutralised(text: str) -> None:
    assert spreadsheet_safe(text).startswith("'")


@pytest.mark.parametrize(
    "text",
    [
        "=1", "@a", "\tx", "\r=1", "+cmd|' /C calc'!A0", "-2+3+cmd|x", "+SUM(A1)", " =1", '"=1', "\ufeff=1", "\u200b@a",
        "＝1", "＠a", "＋SUM（A1）", "－2+cmd｜x", "\n＝1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", ["", "a;", "a\t", "a\n", 'a"; ', ";;"])
def test_formulas_are_neutralised_wherever_a_cell_may_begin(text: str, before: str) -> None:
    split = re.split("[;\t\r\n]", spreadsheet_safe(before + text))
    for cell in (part.lstrip(' "\ufeff\u200b') for part in split):
        assert cell[:1] not in tuple("=@＝＠+-＋－")


@pytest.mark.parametrize("text", ["+", "-", "-5", "+ or more", "low", "a=b", "", "+5 %", "-5; 5", "a@b.org", "5-10"])
def test_other_texts_stay(text: str) -> None:
    assert spreadsheet_safe(text) == text


def test_numbers_keep_their_digits() -> None:
    assert annex.fraction(0.51, digits=1) == "0.51"
    assert annex.fraction(1.0, digits=4) == "1.0000"


def test_manifest_lists_every_file(reports: dict[str, PublicReport], tmp_path: Path) -> None:
    with silent():
        manifest = render(reports["none"], tmp_path / "new")
    files = {p.name: p.read_bytes() for p in (tmp_path / "new").iterdir()}
    assert json.loads(files.pop("manifest.json")) == manifest
    assert set(manifest["files"]) == set(files)
    assert list(manifest["files"]) == sorted(files)
    for name, content in files.items():
        assert manifest["files"][name] == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    assert files["report.json"] == reports["none"].to_json().encode()


CHILD = """
import sys
from pathlib import Path
from atr.documents.render import render
from atr.report.model import PublicReport
render(PublicReport.model_validate_json(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
"""


@pytest.mark.xdist_group("documents")
@pytest.mark.parametrize("name", ["none", pytest.param("compas", marks=pytest.mark.long)])
def test_same_bytes_in_another_process(
    reports: dict[str, PublicReport], documents: Documents, tmp_path: Path, name: str
) -> None:
    """Other time zone, other clock as far as libraries read it, other hash seed, other locale."""
    source = tmp_path / "in.json"
    source.write_text(reports[name].model_dump_json(by_alias=True), encoding="utf-8")
    other = {"TZ": "Pacific/Kiritimati", "SOURCE_DATE_EPOCH": "86400", "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", CHILD, source, tmp_path / "out"], check=True, env={**os.environ, **other})
    for file, content in documents(name).items():
        assert (tmp_path / "out" / file).read_bytes() == content, file


def test_rules_have_limits_as_columns(reports: dict[str, PublicReport]) -> None:
    report = reports["limits"]
    regions = [region for group in report.groups for region in group.regions or [None]]
    for row, region in zip(rows(annex.announced_rules(report)), regions, strict=True):
        told = region.limits and region.limits["low"] if region else None
        assert [row["lower"], row["upper"]] == ([f"{end:.3f}" for end in told] if told else ["", ""])
