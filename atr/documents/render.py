"""All documents of a release, rendered from its public report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atr.documents import csv
from atr.documents.html import ReportPage
from atr.documents.pdf import pdf
from atr.programme.font_files import FontFile
from atr.report.model import PublicReport

REPORT = "report.json"
MANIFEST = "manifest.json"
TABLES = {
    "announced_rules.csv": (csv.announced_rules, "The announced decision rules"),
    "fairness.csv": (csv.fairness, "The fairness measures"),
    "influence.csv": (csv.influence, "The influence of each input"),
}


def render(report: PublicReport, folder: Path, *, fonts: Sequence[FontFile] = ()) -> dict[str, Any]:
    """Write the HTML and PDF report, the annex and the manifest; the same report gives the same bytes.

    Parameters
    ----------
    report
        What is published.
    folder
        Made if it is not there; files of the same names are replaced.
    fonts
        Fonts for the characters that no bundled font has.

    Returns
    -------
    The manifest: for each file but itself its SHA-256 and its size in bytes.

    Raises
    ------
    EnvironmentFault
        If the libraries that lay out the PDF are missing.
    """
    files = contents(report, fonts=fonts)
    folder.mkdir(parents=True, exist_ok=True)
    entries = {name: {"sha256": _sha256(content), "bytes": len(content)} for name, content in sorted(files.items())}
    manifest = {"files": entries}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / MANIFEST).write_bytes((json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode())
    return manifest


def contents(report: PublicReport, *, fonts: Sequence[FontFile] = ()) -> dict[str, bytes]:
    """Render the files of a release, the manifest excepted.

    Returns
    -------
    The content of each file, by name.

    Raises
    ------
    EnvironmentFault
        If the libraries that lay out the PDF are missing.
    """
    attached = {REPORT: (report.to_json().encode(), "The report, machine-readable")}
    attached |= {name: (make(report), about) for name, (make, about) in TABLES.items()}
    sha256 = _sha256(attached[REPORT][0])
    page = ReportPage(report, sha256, fonts)
    return {
        "report.html": page.screen.encode(),
        "report.pdf": pdf(page.paper, date=report.date, identifier=sha256[:32], attachments=attached),
        **{name: content for name, (content, _) in attached.items()},
    }


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
