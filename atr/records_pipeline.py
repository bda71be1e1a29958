"""From the log to a draft of released records that waits for review."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from atr import ingest, pipeline
from atr.documents import note
from atr.dossier import records as for_review
from atr.errors import IngestError, PeriodError, ProgrammeError, RefusedError
from atr.programme import Programme, load, periods
from atr.programme.periods import Period
from atr.records import build, files, model, versions
from atr.records.channels import channels
from atr.records.drawing import draw
from atr.records.joints import Joints, count, settings
from atr.records.pools import Pools, pooled
from atr.records.seeds import fingerprint, key_of, require_same_draws, seed_if_any, seed_of
from atr.report.model import Beside
from atr.warehouse import counting, reportable
from atr.warehouse.connection import Warehouse, warehouse_path
from atr.warehouse.entries import complete, entry_of_records, log_of
from atr.warehouse.files import put_folder, sha256, write_json
from atr.warehouse.kept_releases import Kept, Wait, kept_path
from atr.warehouse.ledger import Ledger, Release, documents_path, dossier_path, is_whole
from atr.warehouse.raw_values import RawValues
from atr.warehouse.register import Register
from atr.warehouse.store import PATIENCE, hold, missing_folders, remove_made

PRIVATE = "channels.json"
"""What the reviewer sees of the channels, in the folder of the dossier."""


@dataclass(frozen=True, slots=True)
class RecordsDraft:
    """What a run came to.

    Parameters
    ----------
    release, new
        The release that waits for review, or the one before, if there is nothing new to say; and whether there is.
    documents, dossier
        Folders of the public files, and of what only the reviewer sees.
    overlapping, beside
        Published records, and reports, of the same people.
    replaces, changed
        Whether a version of the period is published, and what is other than there.
    waits
        The groups of which too few people changed for a new version: the published one stays.
    """

    release: Release
    new: bool
    documents: Path
    dossier: Path
    overlapping: tuple[str, ...]
    beside: tuple[str, ...]
    replaces: bool
    changed: versions.Changed | None = None
    waits: tuple[Wait, ...] = ()

    @property
    def records(self) -> model.PublicRecords:
        """What is public of them, beside the file."""
        return model.read(self.documents / model.CHANNEL)


def release_records(
    programme: Programme | str | Path,
    period: str | int | None = None,
    *,
    ended_by: date | None = None,
    today: date | None = None,
    step: pipeline.Step = pipeline.run_step,
    patience: float = PATIENCE,
) -> RecordsDraft:
    """Make the released records of a period, one column altered at random, and leave them as a draft for review.

    Parameters
    ----------
    programme
        From :func:`atr.load`, or the path of its file; its part ``sanitise`` says what is released and hidden.
    period
        Such as 2013, 2013-Q1 or 2013-05; by default the last complete one.
    ended_by
        By default the last period that had ended by this day, instead.
    today
        The day it is; by default by the clock, in the programme's time zone.
    step
        How to run a step: called with the function and its arguments.
    patience
        Seconds to wait for another run of the series.

    Returns
    -------
    The draft; the release before, if there is nothing new to say.

    Raises
    ------
    ProgrammeError
        If the column determines what is hidden, or no α keeps the bounds.
    RefusedError
        If too few people were decided on, or the seed of records before is gone.
    AtrError
        If the log or the machine is in the way. Nothing is drafted then.
    """
    loaded = load(programme)
    settings(loaded)
    label = None if period is None else periods.parse(period).label
    made = missing_folders(loaded.store_path)
    with hold(loaded.store_path, wait=patience):
        made = [] if warehouse_path(loaded).exists() else made  # by now another run may have come first
        try:
            step(pipeline.load_log, str(loaded.path))
            draft: RecordsDraft = step(draft_records, str(loaded.path), label, ended_by, today)
        except (ProgrammeError, IngestError, PeriodError, RefusedError):
            remove_made(made)
            raise
    return draft


def draft_records(
    programme_path: str, period: str | None = None, ended_by: date | None = None, today: date | None = None
) -> RecordsDraft:
    """Make the records of a period of the log that was loaded, and leave them as a draft."""
    programme = load(programme_path)
    with Warehouse.open(programme) as warehouse:
        day = today or periods.today(programme.period.timezone)
        chosen = reportable.chosen(warehouse, programme, period, ended_by, today=day)
        counting.require_decisions(warehouse, chosen)
        return _draft(warehouse, programme, chosen, day)


def _draft(warehouse: Warehouse, programme: Programme, period: Period, today: date) -> RecordsDraft:
    joints = count(warehouse, programme, period)
    pools = pooled(joints, programme)
    found = channels(joints, pools, programme)
    records = build.public_records(programme, period, joints, pools, found)
    with Register.held(programme) as register:
        complete(register, warehouse, programme)
    kept = _kept(warehouse, programme, joints, pools)
    content = records.model_dump(mode="json", by_alias=True)
    entry = entry_of_records(content, programme, log=kept.log, raw=kept.raw, store=register.store, sha256="")
    known = fingerprint(seed_if_any(programme), warehouse.layout())
    require_same_draws(register, entry.model_copy(update={"seed": known}), programme)
    overlapping, beside = (
        tuple(dict.fromkeys(other.named(register.store) for other in of_kind))
        for of_kind in (register.against(entry), register.beside(kept.log, period, "records"))
    )
    ledger = Ledger(warehouse, kind="records")
    before = _told_before(programme, ledger, period)
    if before is not None and (waits := _waits(programme, ledger, kept, period.label, len(joints.released))):
        folders = documents_path(programme, before.release), dossier_path(programme, before.release)
        return RecordsDraft(before.release, False, *folders, overlapping, beside, True, waits=waits)
    seed = seed_of(programme)
    kept = kept.model_copy(update={"seed": fingerprint(seed, warehouse.layout())})
    counts = draw(warehouse, programme, period, joints, found, key=key_of(seed, records.column))
    ledger.forget_begun()
    release = ledger.begin(period.label, today=today.isoformat())
    told = [Beside(kind=of.kind, programme=of.programme, period=of.period) for of in register.of_the_same(entry)]
    records = build.dated(records, version=release.version, date=today.isoformat(), beside=tuple(dict.fromkeys(told)))
    folder = programme.store_path / "runs" / release.id
    shutil.rmtree(folder, ignore_errors=True)
    public, private = folder / "public", folder / "dossier"
    for made in (public, private):
        made.mkdir(parents=True, mode=0o700)
    records = files.write_records(warehouse, records, counts, public)
    said = files.content_sha256(records)
    changed = before and versions.changed(warehouse, (before.records, records), (before.folder, public))
    same = ledger.unchanged(release, content_sha256=said)
    new = same is None or not is_whole(programme, same) or _is_outdated(programme, same, records)
    if new or same is None:
        write_json(private / PRIVATE, build.for_the_reviewer(joints, pools, found))
        told_before = None if before is None or changed is None else (before.records, changed)
        dossier = for_review.build(
            records, pools, found, counts, before=told_before, overlapping=overlapping, beside=beside
        )
        for_review.render(dossier, private, fonts=programme.font_files)
        same = _left(programme, ledger, release, records, folder, said)
    else:
        ledger.forget_begun()
    shutil.rmtree(folder, ignore_errors=True)
    if same.state == "draft":
        kept.of_draft(kept_path(programme, same.id), new=new)
    folders = documents_path(programme, same), dossier_path(programme, same)
    replaces = any(of.state == "published" for of in ledger.releases(period.label))
    return RecordsDraft(same, new, *folders, overlapping, beside, replaces, changed)


def _kept(warehouse: Warehouse, programme: Programme, joints: Joints, pools: Pools) -> Kept:
    """What is kept of the release for its approval, and for later versions."""
    raw = RawValues.of(warehouse, programme)
    counted, joined = versions.counted(joints, pools)
    return Kept(
        raw=raw,
        log=log_of(warehouse, programme, raw, raw.outcomes),
        terms=settings(programme).terms,
        log_changes=ingest.log_changes(warehouse),
        counted=counted,
        joined=joined,
    )


def _waits(programme: Programme, ledger: Ledger, kept: Kept, period: str, released: int) -> tuple[Wait, ...]:
    """The groups that let a new version wait, held against all that were published of the period."""
    told = (of for of in ledger.releases(period) if of.state in ("published", "replaced"))
    before = (Kept.read(kept_path(programme, of.id)) for of in told)
    return versions.waits(kept, [of for of in before if of is not None and of.counted], released, programme.policy)


def _is_outdated(programme: Programme, release: Release, records: model.PublicRecords) -> bool:
    """Tell whether a draft names other releases of the same people than are published by now."""
    waits = release.state == "draft"
    return waits and model.read(documents_path(programme, release) / model.CHANNEL).beside != records.beside


class _Before(NamedTuple):
    """The version of a period that is published, with what is public of it and where."""

    release: Release
    records: model.PublicRecords
    folder: Path


def _told_before(programme: Programme, ledger: Ledger, period: Period) -> _Before | None:
    """The version that is published; None where there is none, or it is not as it was."""
    published = [of for of in ledger.releases(period.label) if of.state == "published"]
    if not published or not is_whole(programme, published[-1]):
        return None
    folder = documents_path(programme, published[-1])
    return _Before(published[-1], model.read(folder / model.CHANNEL), folder)


def _left(
    programme: Programme, ledger: Ledger, release: Release, records: model.PublicRecords, folder: Path, said: str
) -> Release:
    """Leave the files as a draft."""
    files.write_channel(records, folder / "public")
    for name, content in note.contents(records, supplied=programme.font_files).items():
        (folder / "public" / name).write_bytes(content)
    files.write_manifest(folder / "public")
    draft = replace(release, state="draft", date=records.date)
    documents = documents_path(programme, draft)
    put_folder(folder / "public", documents)
    put_folder(folder / "dossier", dossier_path(programme, draft))
    return ledger.record(
        draft,
        state="draft",
        content_sha256=said,
        report_sha256=sha256(documents / model.CHANNEL),
        manifest_sha256=sha256(documents / files.MANIFEST),
        comment=None,
    )
