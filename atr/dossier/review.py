"""Review: a person reads the dossier and the draft, then publishes or rejects it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from atr import ingest
from atr.documents.text.beside import ADDS_UP
from atr.documents.text.language import Language
from atr.dossier import site
from atr.dossier.sign_off import confirmed
from atr.errors import RefusedError, ReviewError
from atr.programme import Programme, load
from atr.records.seeds import require_same_draws
from atr.warehouse.connection import Warehouse, warehouse_path
from atr.warehouse.entries import complete, entry_of, entry_of_records, id_of
from atr.warehouse.files import read_json, remove_folder, sha256
from atr.warehouse.kept_releases import UNCOUNTED, Kept, Wait, kept_path
from atr.warehouse.ledger import COMMANDS, Kind, Ledger, Release, documents_path, dossier_path, of_every_kind
from atr.warehouse.register import Entry, Register, release_name
from atr.warehouse.store import hold

SHORTEST_HASH = 8
"""Characters of a report's hash that name it, at least."""
_KINDS = {"report": "reports", "records": "records"}


class Waiting(NamedTuple):
    """A draft that waits for review.

    Parameters
    ----------
    release
        The draft.
    documents, dossier
        The folders to read.
    overlapping
        The published reports that tell of the same people in another way: with them it is published only if a person
        says so.
    replaces
        The published version with other numbers that it replaces, if there is one: again, only if a person says so.
    waits
        The groups that have changed and are counted as the version before did.
    changed
        What has become of the log since the draft was made, or was published of the same people; empty if nothing has
        or was: else it is not published.
    beside
        Of a report the published records of the same people, of records the reports: what both tell adds up.
    """

    release: Release
    documents: Path
    dossier: Path
    overlapping: tuple[str, ...]
    replaces: int | None
    waits: tuple[Wait, ...]
    changed: str
    beside: tuple[str, ...]


def waiting(programme: Programme, period: str, *, kind: Kind = "report") -> Waiting:
    """Find the draft of a period that waits for review.

    Parameters
    ----------
    programme
        The series.
    period
        Such as ``2013-Q1``.
    kind
        Whether it is a report or released records.

    Returns
    -------
    The draft, with the folders to read and the published periods that share days with it.

    Raises
    ------
    ReviewError
        If none waits.
    """
    with Warehouse.open(programme, read_only=True) as warehouse:
        ledger = Ledger(warehouse, kind=kind)
        draft = _waiting(ledger, period, None)
        with Register.held(programme) as register:
            complete(register, warehouse, programme)
            kept, entry = _drafted(programme, register, draft)
            overlapping, beside = (_names(of, register) for of in (register.against(entry), _beside(register, entry)))
            since = ", ".join(_published_since(register, programme, draft, entry))
        changed = _log_changed(warehouse, kept) or (
            f"what is published of the same people changed ({since})" if since else ""
        )
        replaces = _replaced(programme, ledger, draft)
    folders = documents_path(programme, draft), dossier_path(programme, draft)
    return Waiting(draft, *folders, overlapping, replaces, kept.waits, changed, beside)


def review(
    programme: Programme | str | Path,
    period: str,
    *,
    approve: bool,
    name: str,
    comment: str,
    report_sha256: str | None = None,
    despite_overlap: bool = False,
    replaces: bool = False,
    kind: Kind = "report",
) -> tuple[Release, Path]:
    """Publish the draft of a period that waits for review, or reject it; after an interruption, do so again.

    Parameters
    ----------
    programme
        From :func:`atr.load`, or the path of its file.
    period
        Such as 2013, 2013-Q1 or 2013-05.
    approve
        Whether it is published: what was reviewed, byte for byte, all of it or nothing. By approving, the reviewer
        confirms :data:`atr.dossier.sign_off.POINTS`; the ledger keeps it.
    name, comment
        Who decides, and why; both go into the ledger.
    report_sha256
        The hash of the ``report.json`` that was read, or its beginning: no other draft is decided on.
    despite_overlap
        Publish although a published report tells of the same people in another way; the ledger keeps it.
    replaces
        Publish although a published version of the period has other numbers, which are withdrawn.
    kind
        Whether it is a report or released records.

    Returns
    -------
    The release, and the folder it was published in or stays in.

    Raises
    ------
    ReviewError
        If no draft waits, it is not what was drafted or read, or nobody is named.
    RefusedError
        If a published report tells of the same people in another way, a published version of the period has other
        numbers, something was published on the same log or people since the draft was made, the log has other rows by
        now, or the programme says otherwise what records are released.
    EnvironmentFault
        If another run of the series does not end, or the site cannot be used.
    """
    if not name.strip() or not comment.strip():
        raise ReviewError("a decision needs a name and a comment: they go into the ledger")
    programme = load(programme)
    with hold(programme.store_path), Warehouse.open(programme) as warehouse:
        ledger = Ledger(warehouse, kind=kind)
        with Register.held(programme) as register:
            if approve:
                site.withdraw_replaced(programme, ledger, register)  # where an approval broke off
            draft = _waiting(ledger, period, report_sha256)
            target = site.on_site(programme, draft)
            complete(register, warehouse, programme)
            if not approve:
                return _reject(programme, ledger, register, draft, target, name, comment)
            site.require_unchanged(programme, draft)
            kept, entry = _drafted(programme, register, draft)
            _require_newest(register, kept, entry)
            _require_same_terms(programme, kept, draft)
            require_same_draws(register, entry, programme)
            if changed := _log_changed(warehouse, kept):
                raise RefusedError(
                    f"the draft of {period} was made of a log that has other rows by now",
                    hint=f"Run `{COMMANDS[kind]}` for {period} again, and read the draft then.",
                    private=f"Since then {changed}.",
                )
            if since := _published_since(register, programme, draft, entry):
                raise RefusedError(
                    f"the draft of {period} was made before what is published of the same people changed "
                    f"({', '.join(since)}), and does not name what is published now",
                    hint=f"Run `{COMMANDS[kind]}` for {period} again, and read the new draft.",
                )
            overlapping = ", ".join(_names(register.against(entry), register))
            if overlapping and not despite_overlap:
                raise RefusedError(
                    f"{period} tells of the same people as a published report ({overlapping}), but divides them "
                    "otherwise or shares only some days: whoever has both can subtract one from the other"
                    if kind == "report"
                    else f"records of the same people are published ({overlapping}). {ADDS_UP.rstrip('.')}",
                    hint=f"Publish {_KINDS[kind]} that do not overlap. If you have read in the dossier what both tell "
                    "together and accept it, add --despite-overlap; the ledger keeps it.",
                )
            replaced = _replaced(programme, ledger, draft)
            if replaced and not replaces:
                raise RefusedError(
                    f"version {replaced} of {period} is published with other numbers: publishing this one replaces it",
                    hint="If that is what you want, add --replaces: "
                    + ("both stay on the site." if programme.keep_replaced else "its files are withdrawn."),
                )
            register.put(entry)
            site.put_on_site(programme, ledger, draft, target)
            comment += f" (despite the overlap with {overlapping})" if overlapping else ""
            beside = ", ".join(_names(_beside(register, entry), register))
            comment += f" (beside {beside}: what both tell adds up)" if beside else ""
            decided = ledger.record(draft, state="published", reviewer=name, comment=comment, confirmed=confirmed(kind))
            site.withdraw_replaced(programme, ledger, register)
    return decided, documents_path(programme, decided)


def releases(programme: Programme) -> list[Release]:
    """List all reports and released records of a series, by period, kind and version.

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
        return of_every_kind(warehouse)


def history(programme: Programme | str | Path) -> pd.DataFrame:
    """List the releases of a series.

    Parameters
    ----------
    programme
        From :func:`atr.load`, or the path of its file.

    Returns
    -------
    A row a release, by period, kind and version: its state and since when, its hashes, who decided, and why.
    """
    rows = [asdict(release) for release in releases(load(programme))]
    return pd.DataFrame(rows, columns=[field.name for field in fields(Release)])


def _waiting(ledger: Ledger, period: str, report_sha256: str | None) -> Release:
    last = next(reversed(ledger.releases(period)), None)
    what, command = "release" if ledger.kind == "report" else "release of records", COMMANDS[ledger.kind]
    if last is None:
        known = ", ".join(dict.fromkeys(r.period for r in ledger.releases())) or "none"
        raise ReviewError(
            f"there is no {what} of {period}", hint=f"`{command}` makes a draft. Periods in the ledger: {known}."
        )
    if last.state != "draft":
        decided = f" by {last.reviewer}" if last.reviewer else ""
        raise ReviewError(
            f"no draft of {period} waits for review: version {last.version} is {last.state}{decided}",
            hint=f"`{command}` makes a new draft if there is something new to say.",
        )
    if report_sha256 is not None and (
        len(report_sha256) < SHORTEST_HASH or not (last.report_sha256 or "").startswith(report_sha256.lower())
    ):
        raise ReviewError(
            f"the draft of {period} is not the one that was read: the hash of its {last.content_file} is "
            f"{last.report_sha256}",
            hint=f"Read the new draft and its dossier first. A hash has {SHORTEST_HASH} characters at least.",
        )
    return last


def _drafted(programme: Programme, register: Register, draft: Release) -> tuple[Kept, Entry]:
    """What is kept of a draft, and what would be entered in the register if it were published."""
    kept, path = Kept.read(kept_path(programme, draft.id)), documents_path(programme, draft) / draft.content_file
    if kept is None:
        raise RefusedError(
            f"the draft of {draft.period} was made by an earlier version of this software",
            hint=f"Run `{COMMANDS[draft.kind]}` for {draft.period} again: the new draft is held against what was "
            "published.",
        )
    make = entry_of if draft.kind == "report" else entry_of_records
    entry = make(read_json(path), programme, log=kept.log, raw=kept.raw, store=register.store, sha256=sha256(path))
    return kept, entry.model_copy(update={"seed": kept.seed})


def _beside(register: Register, entry: Entry) -> list[Entry]:
    return register.beside(entry.log, entry.days, entry.kind)


def _names(entries: Iterable[Entry], register: Register) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry.named(register.store) for entry in entries))


def _require_newest(register: Register, kept: Kept, own: Entry) -> None:
    """Check that nothing was published on the log since the draft was made, where it depends on that."""
    new = [entry for entry in register.published(kept.log) if entry.id not in {*(kept.seen or ()), own.id}]
    if kept.seen is not None and new:
        raise RefusedError(
            f"the draft of {own.period} was made before another report was published on the same log "
            f"({', '.join(_names(new, register))}), and does not count with what its readers know",
            hint=f"Run `atr publish` for {own.period} again, and read the new draft.",
        )


def _require_same_terms(programme: Programme, kept: Kept, draft: Release) -> None:
    """Check that a draft of records is of what the programme says today."""
    if draft.kind == "records" and kept.terms != (programme.sanitise and programme.sanitise.terms):
        raise RefusedError(
            f"the draft of {draft.period} was made before the part `sanitise` of the programme was changed",
            where=f"{programme.path}, sanitise",
            hint=f"Make it again with `{COMMANDS[draft.kind]}`, and read the new draft, or put the part back.",
        )


def _published_since(register: Register, programme: Programme, draft: Release, entry: Entry) -> list[str]:
    """Releases of the same people that are published and that a draft does not name, or the other way round."""
    content = read_json(documents_path(programme, draft) / draft.content_file)
    named = {(of["kind"], of["programme"], of["period"]) for of in content.get("beside", ())}
    now = {(of.kind, of.programme, of.period) for of in register.of_the_same(entry)}
    return [f"{name} {release_name(kind, label)}" for kind, name, label in sorted(named ^ now)]


def _log_changed(warehouse: Warehouse, kept: Kept) -> str:
    """What has become of the log, as the store has it, since a draft was held against it; empty if nothing has."""
    then, now = kept.log_read, ingest.log_changes(warehouse)
    if then in (UNCOUNTED, now):
        return ""
    if then[0] != now[0]:
        return "the log was read anew"
    english = Language.of("en")
    numbers = (english.say_n("{n} decision", "{n} decisions", n - m) for n, m in zip(now[1:], then[1:], strict=True))
    said = [f"{number} {what}" for number, what in zip(numbers, ("new", "changed", "gone"), strict=True)]
    return f"the log has {', '.join(said)}"


def _replaced(programme: Programme, ledger: Ledger, draft: Release) -> int | None:
    """The published version of the period whose numbers a draft changes; None where there is none."""
    published = [release for release in ledger.releases(draft.period) if release.state == "published"]
    for release in published[-1:]:
        if draft.kind == "records":
            return release.version
        there, here = (documents_path(programme, which) / "report.json" for which in (release, draft))
        old, new = read_json(there) if there.is_file() else {}, read_json(here)
        if any(_numbers(old.get(part)) != _numbers(new[part]) for part in ("groups", "coverage")):
            return release.version
    return None


def _numbers(part: Any) -> list[float | None]:
    """All numbers in a part of a report, in its order."""
    if isinstance(part, dict | list):
        parts = [of for name, of in part.items() if name != "as_of"] if isinstance(part, dict) else part
        return [*chain.from_iterable(map(_numbers, parts))]
    return [] if isinstance(part, str) else [part]


def _reject(
    programme: Programme, ledger: Ledger, register: Register, draft: Release, target: Path, name: str, comment: str
) -> tuple[Release, Path]:
    register.drop(id_of(draft, programme, register.store))  # of an interrupted approval
    if remove_folder(target):
        site.write_index(programme, ledger)
    kept_path(programme, draft.id).unlink(missing_ok=True)
    decided = ledger.record(draft, state="rejected", reviewer=name, comment=comment)
    return decided, documents_path(programme, decided)
