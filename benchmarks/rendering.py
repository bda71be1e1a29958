"""Documents of a report, against WeasyPrint laying out a plain table of as many cells."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import yaml

from benchmarks.cases import Row
from benchmarks.measure import ROOT, in_a_child

GROUPS, PEOPLE = 1_000, 200

DRAFT = """
import json, sys, time
from atr import pipeline
seconds = {}
def step(function, *arguments):
    began = time.process_time()
    result = function(*arguments)
    seconds[function.__name__] = time.process_time() - began
    return result
draft = pipeline.publish(*sys.argv[1:], step=step)
print(json.dumps({"report": str(draft.documents / "report.json"), "seconds": seconds["render"]}))
"""

DOCUMENTS = """
import json, re, resource, sys, time
from pathlib import Path
from atr.documents import pdf
from atr.documents.html import ReportPage
from atr.report.model import PublicReport
report = PublicReport.model_validate_json(Path(sys.argv[1]).read_text())
began = time.process_time()
page = ReportPage(report, "0" * 64)
html, paper = page.screen, page.paper
pdf.pdf(paper, date=report.date, identifier="0" * 32, attachments={})
seconds, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({
    "seconds": seconds, "peak": peak, "html": len(html.encode()), "groups": len(report.announced_groups),
    "cells": len(re.findall("<t[dh]", paper)),
}))
"""

PLAIN = """
import json, sys, time
from atr.documents import fonts, pdf
cells = int(sys.argv[1])
row = "<tr>" + "<td>between 10 and 15</td>" * 8 + "</tr>"
table = f"<style>\\n{fonts.BASE}</style><table>{row * (cells // 8)}</table>"
began = time.process_time()
html = f"<!doctype html><html lang=en><title>Plain</title>{table}"
pdf.pdf(html, date="2020-01-01", identifier="0" * 32, attachments={})
print(json.dumps({"seconds": time.process_time() - began}))
"""


def many_groups(folder: Path, groups: int = GROUPS, people: int = PEOPLE) -> Path:
    """A programme and a log of groups by three public attributes, with five sensitive steps."""
    each = round(groups ** (1 / 3))
    of = "(hash(i + {}) % {})::INTEGER".format
    with duckdb.connect() as connection:
        connection.execute(
            f"""
            COPY (
                SELECT i AS id, DATE '2020-01-01' AS day, 'a' || (i % {each}) AS a, 'b' || (i // {each} % {each}) AS b,
                       'c' || (i // {each * each} % {each}) AS c, {of(1, 5)} AS level,
                       ['yes', 'no'][1 + ({of(2, 100)} < 30 + 5 * {of(1, 5)})::INTEGER] AS outcome
                FROM range({groups * people}) AS t(i)
            ) TO '{folder / "log.parquet"}' (FORMAT parquet)
            """
        )
    attributes = {name: {"role": "public", "protected": name == "a", "legitimate": name == "c"} for name in "abc"}
    data = {
        "programme": "many", "title": "Many groups", "publisher": {"name": "P", "contact": "p@example.org"},
        "system": {"name": "S"},
        "log": {"source": "log.parquet", "id": "id", "decided_at": "day", "outcome": "outcome", "positive": "yes"},
        "attributes": attributes | {"level": {"role": "sensitive", "bins": [1, 2, 3, 4]}},
        "policy": {"max_confidence": 0.75, "minimum_group_size": 50},
        "period": {"every": "year", "timezone": "Europe/Berlin"},
    }  # fmt: skip
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def rendering() -> Iterator[Row]:
    """HTML and PDF of COMPAS 2013 and of a report of a thousand groups, and the step of a run that renders them."""
    with tempfile.TemporaryDirectory() as name:
        compas = Path(name) / "compas"
        shutil.copytree(ROOT / "examples" / "compas", compas, ignore=shutil.ignore_patterns("var", "site"))
        for programme, period in ((compas, "2013"), (many_groups(Path(name)), "2020")):
            drafted = in_a_child(DRAFT, str(programme), period)
            made = in_a_child(DOCUMENTS, str(drafted["report"]))
            plain = in_a_child(PLAIN, str(int(made["cells"])))
            what = f"of {made['groups']:,.0f} groups"
            yield Row(
                f"HTML and PDF {what}, processor time",
                f"{made['seconds']:.1f} s",
                f"a plain table of {made['cells']:,.0f} cells, {plain['seconds']:.1f} s",
                made["seconds"] / plain["seconds"],
            )
            yield Row(
                f"the step that renders documents and dossier, and checks the draft, {what}, processor time",
                f"{drafted['seconds']:.1f} s",
                f"HTML and PDF alone, {made['seconds']:.1f} s",
                drafted["seconds"] / made["seconds"],
            )
            size, peak = made["html"] / 10**6, made["peak"]
            yield Row(f"HTML {what}", f"{size:.2f} MB", "", 1, target="≤ 1 MB", met=size <= 1)
            yield Row(f"peak memory of the PDF {what}", f"{peak:.2f} GiB", "", 1, target="≤ 1 GiB", met=peak <= 1)
