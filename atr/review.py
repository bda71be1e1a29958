"""Review: a person reads the dossier and the draft, then publishes or rejects it."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

from atr.errors import ReviewError
from atr.ledger import Ledger, Release, documents_path, dossier_path
from atr.programme import Programme
from atr.report import wording
from atr.report.html import IndexEntry, index_html
from atr.report.model import PublicReport
from atr.run import sha256
from atr.warehouse import Warehouse


def approve(
    programme: Programme, period: str, *, name: str, comment: str, report_sha256: str | None = None
) -> tuple[Release, Path]:
    """Publish the waiting draft of a period: what was reviewed, byte for byte, all of it or nothing.

    Parameters
    ----------
    name, comment
        Who approves, and why.
    report_sha256
        The hash of the ``report.json`` that was read, or its beginning; a draft with another is not published.

    Returns
    -------
    The release and the folder it was published in.

    Raises
    ------
    ReviewError
        If no draft waits, or it is not what was drafted or read.
    """
    with Warehouse.open(programme) as warehouse:
        ledger = Ledger(warehouse.connection)
        draft = _waiting(ledger, period, report_sha256)
        source = documents_path(programme, draft)
        _unchanged(source, draft)
        published = replace(draft, state="published")
        target = documents_path(programme, published)
        if not target.is_dir():
            _copy_whole(source, target)
        _unchanged(target, draft)
        _write_index(programme, [*(r for r in ledger.releases() if r.state == "published"), published])
        published = ledger.record(draft, state="published", reviewer=name, comment=comment)
    return published, target


def reject(
    programme: Programme, period: str, *, name: str, comment: str, report_sha256: str | None = None
) -> tuple[Release, Path]:
    """Keep the waiting draft unpublished, with the reason.

    Returns
    -------
    The release and the folder the draft stays in.

    Raises
    ------
    ReviewError
        If no draft waits, or it is not the one that was read.
    """
    with Warehouse.open(programme) as warehouse:
        ledger = Ledger(warehouse.connection)
        draft = _waiting(ledger, period, report_sha256)
        rejected = ledger.record(draft, state="rejected", reviewer=name, comment=comment)
    return rejected, documents_path(programme, rejected)


def waiting(programme: Programme, period: str) -> tuple[Release, Path, Path]:
    """The draft of a period that waits for review, with the folders of its documents and its dossier.

    Raises
    ------
    ReviewError
        If none waits.
    """
    with Warehouse.open(programme) as warehouse:
        draft = _waiting(Ledger(warehouse.connection), period, None)
    return draft, documents_path(programme, draft), dossier_path(programme, draft)


def history(programme: Programme) -> list[Release]:
    """All releases of a series, by period and version."""
    with Warehouse.open(programme) as warehouse:
        return Ledger(warehouse.connection).releases()


def _waiting(ledger: Ledger, period: str, report_sha256: str | None) -> Release:
    releases = ledger.releases(period)
    if not releases:
        known = ", ".join(dict.fromkeys(r.period for r in ledger.releases())) or "none"
        raise ReviewError(
            f"there is no release of {period}", hint=f"`atr publish` makes a draft. Periods in the ledger: {known}."
        )
    last = releases[-1]
    if last.state != "draft":
        decided = f" by {last.reviewer}" if last.reviewer else ""
        raise ReviewError(
            f"no draft of {period} waits for review: version {last.version} is {last.state}{decided}",
            hint="`atr publish` makes a new draft if there is something new to say.",
        )
    if report_sha256 and not (last.report_sha256 or "").startswith(report_sha256.lower()):
        raise ReviewError(
            f"the draft of {period} is not the one that was read: its report.json has the hash {last.report_sha256}",
            hint="Read the new draft and its dossier first.",
        )
    return last


def _unchanged(folder: Path, draft: Release) -> None:
    """Raise unless a folder holds exactly what was drafted."""
    manifest = folder / "manifest.json"
    if not manifest.is_file() or sha256(manifest) != draft.manifest_sha256:
        raise ReviewError("its manifest is missing or was changed since it was drafted", where=str(folder), hint=_AGAIN)
    files = json.loads(manifest.read_text(encoding="utf-8"))["files"]
    changed = [n for n, f in files.items() if not (folder / n).is_file() or sha256(folder / n) != f["sha256"]]
    extra = [path.name for path in folder.iterdir() if path.name not in files and path != manifest]
    if changed or extra:
        raise ReviewError(
            f"{', '.join(changed + extra)} changed since the draft was made", where=str(folder), hint=_AGAIN
        )


_AGAIN = "Remove the folder and run `atr publish` for the period again."


def _copy_whole(source: Path, target: Path) -> None:
    """Copy a folder so that readers see all of it or nothing."""
    _public_folder(target.parent)
    temporary = target.with_name(f".{target.name}.new")
    shutil.rmtree(temporary, ignore_errors=True)
    shutil.copytree(source, temporary)
    for path in temporary.iterdir():
        path.chmod(0o644)
        with path.open("rb") as file:
            os.fsync(file.fileno())
    temporary.chmod(0o755)
    temporary.rename(target)


def _public_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, readable for a web server whatever the umask."""
    if not folder.is_dir():
        _public_folder(folder.parent)
        folder.mkdir()
        folder.chmod(0o755)


def _write_index(programme: Programme, published: list[Release]) -> None:
    """The page that lists what is published, the latest period first."""
    latest = {r.period: r.version for r in published}
    entries, info = [], None
    for release in sorted(published, key=lambda r: (_start(programme, r), r.version), reverse=True):
        report = PublicReport.model_validate_json(
            (documents_path(programme, release) / "report.json").read_text(encoding="utf-8")
        )
        info = info or report.programme
        current = release.version == latest[release.period]
        entries.append(
            IndexEntry(
                label=release.period,
                period=wording.period(report.period),
                version=release.version,
                date=release.date,
                state="published" if current else "superseded",
                folder=f"{release.period}/v{release.version}",
                sha256=release.report_sha256 or "",
                remark="" if current else f"replaced by version {latest[release.period]}",
            )
        )
    if info is None:
        return
    page = programme.site_path / "index.html"
    temporary = page.with_name(".index.new")
    temporary.write_text(index_html(info, entries), encoding="utf-8")
    temporary.chmod(0o644)
    temporary.replace(page)


def _start(programme: Programme, release: Release) -> str:
    report = documents_path(programme, release) / "report.json"
    period = json.loads(report.read_text(encoding="utf-8"))["period"]
    return str(period["start"] or "")
