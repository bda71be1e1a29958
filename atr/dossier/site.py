"""The public folder: what is published, what was replaced, and the page and the feed that list both."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

from atr.documents.site import PAGES, IndexEntry, feed_xml, finding, replaced_html, site_html
from atr.errors import EnvironmentFault, ReviewError
from atr.programme import Programme
from atr.programme.periods import now, parse
from atr.records.model import CHANNEL, read
from atr.report import earlier
from atr.report.build import period_info, programme_info
from atr.report.model import PublicReport
from atr.warehouse.entries import id_of
from atr.warehouse.files import PUBLIC, put_folder, read_json, sha256, write_text
from atr.warehouse.ledger import COMMANDS, Ledger, Release, documents_path
from atr.warehouse.register import Register


def withdraw_replaced(programme: Programme, ledger: Ledger, register: Register) -> None:
    """Note which releases are replaced, and put a line in place of their files unless the programme keeps them."""
    published = [release for release in ledger.releases() if release.state == "published"]
    newest = {release.period: release for release in published}
    old = [release for release in published if release is not newest[release.period]]
    if not old:
        return
    register.replace(id_of(release, programme, register.store) for release in old)
    for release in old:
        replaced = replace(release, state="replaced", changed_at=now().isoformat(timespec="seconds"))
        if not programme.keep_replaced and documents_path(programme, release).exists():
            with tempfile.TemporaryDirectory(dir=programme.store_path) as folder:
                page = replaced_html(programme_info(programme), _listed(programme, ledger, replaced))
                write_text(Path(folder) / PAGES[release.kind], page)
                put_folder(Path(folder), documents_path(programme, release), mode=PUBLIC)
        ledger.record(release, state="replaced")
    write_index(programme, ledger)


def put_on_site(programme: Programme, ledger: Ledger, draft: Release, target: Path) -> None:
    """Publish the documents of a draft, byte for byte, and list them."""
    _public_folder(target.parent)
    put_folder(documents_path(programme, draft), target, mode=PUBLIC)
    write_index(programme, ledger, replace(draft, state="published"))


def require_unchanged(programme: Programme, draft: Release) -> None:
    """Check that the folder of a draft holds exactly what was drafted.

    Raises
    ------
    ReviewError
        If it does not.
    """
    folder = documents_path(programme, draft)
    again = f"Remove the folder and run `{COMMANDS[draft.kind]}` for the period again."
    manifest = folder / "manifest.json"
    if not manifest.is_file() or sha256(manifest) != draft.manifest_sha256:
        raise ReviewError("its manifest is missing or was changed since it was drafted", where=str(folder), hint=again)
    drafted = {name: file["sha256"] for name, file in read_json(manifest)["files"].items()}
    found = {path.name: sha256(path) if path.is_file() else "" for path in folder.iterdir() if path != manifest}
    changed = [name for name in drafted | found if drafted.get(name) != found.get(name)]
    if changed:
        raise ReviewError(f"{', '.join(changed)} changed since the draft was made", where=str(folder), hint=again)


def on_site(programme: Programme, draft: Release) -> Path:
    """Give the folder that a draft is published in.

    Raises
    ------
    EnvironmentFault
        If a folder there is a link, which would lead what is published, or what is removed, elsewhere.
    """
    target = documents_path(programme, replace(draft, state="published"))
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


def write_index(programme: Programme, ledger: Ledger, *more: Release) -> None:
    """Write the page and the feed of what is published, and what is about to be, the latest period first."""
    published = [*(release for release in ledger.every_kind() if release.state in ("published", "replaced")), *more]
    in_order = sorted(published, key=lambda r: (parse(r.period).start or date.min, r.period, r.kind, r.version))
    entries = [_listed(programme, ledger, release) for release in reversed(in_order)]
    current = [release for release in in_order if release.state != "replaced" and release.kind == "report"]
    newest = _report(programme, current[-1]) if current else None
    info, fonts = programme_info(programme), programme.font_files
    page = site_html(info, entries, newest=newest, supplied=fonts)
    write_text(programme.site_path / "feed.xml", feed_xml(info, entries), mode=PUBLIC)
    write_text(programme.site_path / "index.html", page, mode=PUBLIC)


def _listed(programme: Programme, ledger: Ledger, release: Release) -> IndexEntry:
    """A release as the index page lists it."""
    same = [r for r in ledger.every_kind() if (r.period, r.kind) == (release.period, release.kind)]
    later = [r.version for r in same if r.state in ("published", "replaced")]
    replaced = release.state == "replaced"
    return IndexEntry(
        period=period_info(parse(release.period), programme),
        version=release.version,
        date=release.date,
        sha256=release.report_sha256 or "",
        replaced_by=min(version for version in later if version > release.version) if replaced else None,
        replaced_on=release.changed_at[:10] if replaced else "",
        withdrawn=replaced and not (documents_path(programme, release) / release.content_file).is_file(),
        kind=release.kind,
        finding="" if replaced else _finding(programme, release),
    )


def _finding(programme: Programme, release: Release) -> str:
    """What the first page of a release says; empty where it cannot be read."""
    if release.kind == "records":
        path = documents_path(programme, release) / CHANNEL
        return finding(read(path)) if path.is_file() else ""
    report = _report(programme, release)
    return "" if report is None else finding(report)


def _report(programme: Programme, release: Release) -> PublicReport | None:
    """The report of a release; None where it is not there, or of another schema."""
    path = documents_path(programme, release) / "report.json"
    return earlier.read(path) if path.is_file() else None
