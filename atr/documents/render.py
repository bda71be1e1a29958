"""All documents of a release, rendered from its public report."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from atr.documents import csv as annex
from atr.documents.html import report_html
from atr.documents.pdf import pdf
from atr.report.model import PublicReport

REPORT = "report.json"
MANIFEST = "manifest.json"


def render(report: PublicReport, folder: Path) -> dict[str, Any]:
    """Write the HTML and PDF report, the annex and the manifest; the same report gives the same bytes.

    Parameters
    ----------
    report
        What is published.
    folder
        Made if it is not there; files of the same names are replaced.

    Returns
    -------
    The manifest: for each file but itself its SHA-256 and its size in bytes.

    Raises
    ------
    EnvironmentFault
        If the libraries that lay out the PDF are missing.
    """
    files = contents(report)
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {"files": {name: _entry(files[name]) for name in sorted(files)}}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / MANIFEST).write_bytes((json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode())
    return manifest


def contents(report: PublicReport) -> dict[str, bytes]:
    """The files of a release by name, the manifest not among them."""
    data = annex.report_json(report)
    sha256 = hashlib.sha256(data).hexdigest()
    rules, fairness, influence = annex.announced_rules(report), annex.fairness(report), annex.influence(report)
    html = report_html(report, sha256=sha256)
    paper = report_html(report, sha256=sha256, embedded=False)
    attached = {
        REPORT: (data, "The report, machine-readable"),
        "announced_rules.csv": (rules, "The announced decision rules"),
        "fairness.csv": (fairness, "The fairness measures"),
        "influence.csv": (influence, "The influence of each input"),
    }
    return {
        "report.html": html.encode(),
        "report.pdf": pdf(paper, date=report.date, identifier=sha256[:32], attachments=attached),
        REPORT: data,
        "announced_rules.csv": rules,
        "fairness.csv": fairness,
        "influence.csv": influence,
    }


def _entry(content: bytes) -> dict[str, str | int]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
