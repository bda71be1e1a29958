"""Review: a person reads the dossier and the draft, then publishes or rejects it."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from atr.documents.html import IndexEntry, site_html
from atr.errors import EnvironmentFault, RefusedError, ReviewError
from atr.programme import Programme, load
from atr.programme.periods import parse
from atr.report.build import period_info, programme_info
from atr.warehouse.connection import Warehouse, warehouse_path
from atr.warehouse.files import PUBLIC, put_folder, read_json, remove_folder, sha256, write_text
from atr.warehouse.ledger import Ledger, Release, documents_path, dossier_path
from atr.warehouse.store import hold

SHORTEST_HASH = 8
"""Characters of a report's hash that name it, at least."""
_AGAIN = "Remove the folder and run `atr publish` for the period again."


class Waiting(NamedTuple):
    """A draft that waits for review.

    Parameters
    ----------
    release
        The draft.
    documents, dossier
        The folders to read.
    overlapping
        The published periods that share days with it: with them it is published only if a person says so.
    """

    release: Release
    documents: Path
    dossier: Path
    overlapping: tuple[str, ...]


def waiting(programme: Programme, period: str) -> Waiting:
    """Find the draft of a period that waits for review.

    Parameters
    ----------
    programme
        The series.
    period
        Such as ``2013-Q1``.

    Returns
    -------
    The draft, with the folders to read and the published periods that share days with it.

    Raises
    ------
    ReviewError
        If none waits.
    """
    with Warehouse.open(programme, read_only=True) as warehouse:
        ledger = Ledger(warehouse)
        draft = _waiting(ledger, period, None)
        overlapping = _overlapping_published(programme, ledger, period)
    return Waiting(draft, documents_path(programme, draft), dossier_path(programme, draft), overlapping)


def review(
    programme: Programme | str | Path,
    period: str,
    *,
    approve: bool,
    name: str,
    comment: str,
    report_sha256: str | None = None,
    despite_overlap: bool = False,
) -> tuple[Release, Path]:
    """Publish the draft of a period that waits for review, or reject it; after an interruption, do so again.

    Parameters
    ----------
    programme
        From :func:`atr.load`, or the path of its file.
    period
        Such as 2013, 2013-Q1 or 2013-05.
    approve
        Whether it is published: what was reviewed, byte for byte, all of it or nothing.
    name, comment
        Who decides, and why; both go into the ledger.
    report_sha256
        The hash of the ``report.json`` that was read, or its beginning: no other draft is decided on.
    despite_overlap
        Publish although a published report of another period shares days with this one; the ledger keeps it.

    Returns
    -------
    The release, and the folder it was published in or stays in.

    Raises
    ------
    ReviewError
        If no draft waits, it is not what was drafted or read, or nobody is named.
    RefusedError
        If a published report of another period tells of the same days.
    EnvironmentFault
        If another run of the series does not end, or the site cannot be used.
    """
    if not name.strip() or not comment.strip():
        raise ReviewError("a decision needs a name and a comment: they go into the ledger")
    programme = load(programme)
    with hold(programme.store_path), Warehouse.open(programme) as warehouse:
        ledger = Ledger(warehouse)
        draft = _waiting(ledger, period, report_sha256)
        target = _on_site(programme, draft)
        if approve:
            overlapping = ", ".join(_overlapping_published(programme, ledger, period))
            if overlapping and not despite_overlap:
                raise RefusedError(
                    f"{period} shares days with a published report ({overlapping}): whoever has both can subtract one "
                    "from the other, and so learn of groups that a report withholds",
                    hint="Publish periods that do not overlap. If you have compared both reports and accept what they "
                    "tell together, add --despite-overlap; the ledger keeps it.",
                )
            _publish(programme, ledger, draft, target)
            comment += f" (despite the overlap with {overlapping})" if overlapping else ""
        elif remove_folder(target):  # of an interrupted approval
            _write_index(programme, ledger)
        decided = ledger.record(draft, state="published" if approve else "rejected", reviewer=name, comment=comment)
    return decided, documents_path(programme, decided)


def releases(programme: Programme) -> list[Release]:
    """List all releases of a series, by period and version.

    Parameters
    ----------
    programme
        The series.

    Returns
    -------
    Releases, each with who decided about it, what, when and why; none where nothing was drafted yet.
    """
    if not warehouse_path(programme).exists():
        return []
    with Warehouse.open(programme, read_only=True) as warehouse:
        return Ledger(warehouse).releases()


def history(programme: Programme | str | Path) -> pd.DataFrame:
    """List the releases of a series.

    Parameters
    ----------
    programme
        From :func:`atr.load`, or the path of its file.

    Returns
    -------
    A row a release, by period and version: its state and since when, its hashes, who decided, and why.
    """
    rows = [asdict(release) for release in releases(load(programme))]
    return pd.DataFrame(rows, columns=[field.name for field in fields(Release)])


def _waiting(ledger: Ledger, period: str, report_sha256: str | None) -> Release:
    last = next(reversed(ledger.releases(period)), None)
    if last is None:
        known = ", ".join(dict.fromkeys(r.period for r in ledger.releases())) or "none"
        raise ReviewError(
            f"there is no release of {period}", hint=f"`atr publish` makes a draft. Periods in the ledger: {known}."
        )
    if last.state != "draft":
        decided = f" by {last.reviewer}" if last.reviewer else ""
        raise ReviewError(
            f"no draft of {period} waits for review: version {last.version} is {last.state}{decided}",
            hint="`atr publish` makes a new draft if there is something new to say.",
        )
    if report_sha256 is not None and (
        len(report_sha256) < SHORTEST_HASH or not (last.report_sha256 or "").startswith(report_sha256.lower())
    ):
        raise ReviewError(
            f"the draft of {period} is not the one that was read: its report.json has the hash {last.report_sha256}",
            hint=f"Read the new draft and its dossier first. A hash has {SHORTEST_HASH} characters at least.",
        )
    return last


def _overlapping_published(programme: Programme, ledger: Ledger, period: str) -> tuple[str, ...]:
    """Give the other periods that share days with this one and are published, or were when an approval broke off."""

    def there(release: Release) -> bool:
        return release.state == "published" or (release.state == "draft" and _site_folder(programme, release).exists())

    return ledger.overlapping(period, there)


def _site_folder(programme: Programme, release: Release) -> Path:
    return documents_path(programme, replace(release, state="published"))


def _publish(programme: Programme, ledger: Ledger, draft: Release, target: Path) -> None:
    source = documents_path(programme, draft)
    _require_unchanged(source, draft)
    _public_folder(target.parent)
    put_folder(source, target, mode=PUBLIC)
    _write_index(programme, ledger, replace(draft, state="published"))


def _require_unchanged(folder: Path, draft: Release) -> None:
    """Check that a folder holds exactly what was drafted."""
    manifest = folder / "manifest.json"
    if not manifest.is_file() or sha256(manifest) != draft.manifest_sha256:
        raise ReviewError("its manifest is missing or was changed since it was drafted", where=str(folder), hint=_AGAIN)
    drafted = {name: file["sha256"] for name, file in read_json(manifest)["files"].items()}
    found = {path.name: sha256(path) if path.is_file() else "" for path in folder.iterdir() if path != manifest}
    changed = [name for name in drafted | found if drafted.get(name) != found.get(name)]
    if changed:
        raise ReviewError(f"{', '.join(changed)} changed since the draft was made", where=str(folder), hint=_AGAIN)


def _on_site(programme: Programme, draft: Release) -> Path:
    """Give the folder that a draft is published in.

    Raises
    ------
    EnvironmentFault
        If a folder there is a link, which would lead what is published, or what is removed, elsewhere.
    """
    target = _site_folder(programme, draft)
    for folder in (programme.site_path, target.parent, target):
        if folder.is_symlink():
            raise EnvironmentFault(
                "is a link, and nothing is published through links",
                where=str(folder),
                hint="Put a folder in its place, or name the folder it leads to as `site` in the programme.",
            )
    return target


def _public_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, readable for a web server whatever the umask."""
    if not folder.is_dir():
        _public_folder(folder.parent)
        folder.mkdir()
        folder.chmod(0o755)


def _write_index(programme: Programme, ledger: Ledger, *more: Release) -> None:
    """Write the page that lists what is published, and what is about to be, the latest period first."""
    published = [*(release for release in ledger.releases() if release.state == "published"), *more]
    latest = {release.period: release.version for release in published}
    in_order = sorted(published, key=lambda r: (parse(r.period).start or date.min, r.period, r.version))
    entries = [
        IndexEntry(
            period=period_info(parse(release.period), programme),
            version=release.version,
            newest=latest[release.period],
            date=release.date,
            sha256=release.report_sha256 or "",
        )
        for release in reversed(in_order)
    ]
    write_text(programme.site_path / "index.html", site_html(programme_info(programme), entries), mode=PUBLIC)
