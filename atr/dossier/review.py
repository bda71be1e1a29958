"""Review: a person reads the dossier and the draft, then publishes or rejects it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from atr.documents.html import IndexEntry, index_html
from atr.errors import EnvironmentFault, RefusedError, ReviewError
from atr.programme import Programme
from atr.programme.periods import parse
from atr.report import wording
from atr.report.build import period_info, programme_info
from atr.warehouse.connection import Warehouse
from atr.warehouse.files import PUBLIC, put_folder, read_json, remove_folder, sha256, write_text
from atr.warehouse.ledger import Ledger, Release, documents_path, dossier_path


def approve(
    programme: Programme,
    period: str,
    *,
    name: str,
    comment: str,
    report_sha256: str | None = None,
    despite_overlap: bool = False,
) -> tuple[Release, Path]:
    """Publish the waiting draft of a period: what was reviewed, byte for byte, all of it or nothing.

    May be repeated after it was interrupted anywhere.

    Parameters
    ----------
    name, comment
        Who approves, and why.
    report_sha256
        The hash of the ``report.json`` that was read, or its beginning; a draft with another is not published.
    despite_overlap
        Publish although a report of another period that shares days with this one is published. The ledger keeps it.

    Returns
    -------
    The release and the folder it was published in.

    Raises
    ------
    ReviewError
        If no draft waits, or it is not what was drafted or read.
    RefusedError
        If a published report of another period tells of the same days.
    """
    with Warehouse.open(programme) as warehouse:
        ledger = Ledger(warehouse)
        draft = _waiting(ledger, period, report_sha256)
        overlapping = _on_the_site(programme, ledger, period)
        if overlapping and not despite_overlap:
            raise RefusedError(
                f"{period} shares days with a published report ({', '.join(overlapping)}): whoever has both can "
                "subtract one from the other, and so learn of groups that a report withholds",
                hint="Publish periods that do not overlap. If you have compared both reports and accept what they tell "
                "together, add --despite-overlap; the ledger keeps it.",
            )
        if overlapping:
            comment = f"{comment} (despite the overlap with {', '.join(overlapping)})"
        source = documents_path(programme, draft)
        _unchanged(source, draft)
        published = replace(draft, state="published")
        target = _on_site(programme, published)
        _public_folder(target.parent)
        put_folder(source, target, mode=PUBLIC)
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
        ledger = Ledger(warehouse)
        draft = _waiting(ledger, period, report_sha256)
        if remove_folder(_on_site(programme, replace(draft, state="published"))):  # of an interrupted approval
            _write_index(programme, [r for r in ledger.releases() if r.state == "published"])
        rejected = ledger.record(draft, state="rejected", reviewer=name, comment=comment)
    return rejected, documents_path(programme, rejected)


def _on_the_site(programme: Programme, ledger: Ledger, period: str) -> tuple[str, ...]:
    """The other periods that share days with this one and are published, or were when an approval was interrupted."""

    def there(release: Release) -> bool:
        return release.state == "published" or (
            release.state == "draft" and documents_path(programme, replace(release, state="published")).exists()
        )

    return ledger.overlapping(period, there)


def waiting(programme: Programme, period: str) -> tuple[Release, Path, Path, tuple[str, ...]]:
    """The draft of a period that waits for review, with the folders of its documents and its dossier.

    The last are the published periods that share days with it: with them it is published only if a person says so.

    Raises
    ------
    ReviewError
        If none waits.
    """
    with Warehouse.open(programme, read_only=True) as warehouse:
        ledger = Ledger(warehouse)
        draft = _waiting(ledger, period, None)
        overlapping = _on_the_site(programme, ledger, period)
    return draft, documents_path(programme, draft), dossier_path(programme, draft), overlapping


def history(programme: Programme) -> list[Release]:
    """All releases of a series, by period and version."""
    with Warehouse.open(programme, read_only=True) as warehouse:
        return Ledger(warehouse).releases()


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
    if report_sha256 is not None and (
        len(report_sha256) < SHORTEST_HASH or not (last.report_sha256 or "").startswith(report_sha256.lower())
    ):
        raise ReviewError(
            f"the draft of {period} is not the one that was read: its report.json has the hash {last.report_sha256}",
            hint=f"Read the new draft and its dossier first. A hash has {SHORTEST_HASH} characters at least.",
        )
    return last


def _unchanged(folder: Path, draft: Release) -> None:
    """Raise unless a folder holds exactly what was drafted."""
    manifest = folder / "manifest.json"
    if not manifest.is_file() or sha256(manifest) != draft.manifest_sha256:
        raise ReviewError("its manifest is missing or was changed since it was drafted", where=str(folder), hint=_AGAIN)
    files = read_json(manifest)["files"]
    changed = [n for n, f in files.items() if not (folder / n).is_file() or sha256(folder / n) != f["sha256"]]
    extra = [path.name for path in folder.iterdir() if path.name not in files and path != manifest]
    if changed or extra:
        raise ReviewError(
            f"{', '.join(changed + extra)} changed since the draft was made", where=str(folder), hint=_AGAIN
        )


SHORTEST_HASH = 8

_AGAIN = "Remove the folder and run `atr publish` for the period again."


def _on_site(programme: Programme, published: Release) -> Path:
    """Where a release is published.

    Raises
    ------
    EnvironmentFault
        If a folder there is a link, which would lead what is published, or what is removed, elsewhere.
    """
    target = documents_path(programme, published)
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


def _write_index(programme: Programme, published: list[Release]) -> None:
    """The page that lists what is published, the latest period first."""
    latest = {release.period: release.version for release in published}
    newest_first = sorted(
        published, key=lambda r: (parse(r.period).start or date.min, r.period, r.version), reverse=True
    )
    entries = []
    for release in newest_first:
        current = release.version == latest[release.period]
        entries.append(
            IndexEntry(
                label=release.period,
                period=wording.period(period_info(parse(release.period), programme)),
                version=release.version,
                date=release.date,
                state="published" if current else "superseded",
                folder=f"{release.period}/v{release.version}",
                sha256=release.report_sha256 or "",
                remark="" if current else f"replaced by version {latest[release.period]}",
            )
        )
    page = programme.site_path / "index.html"
    write_text(page, index_html(programme_info(programme), entries), mode=PUBLIC)
