"""From the log to a draft of released records that waits for review."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from atr import ingest, pipeline
from atr.documents import note
from atr.dossier import records as for_review
from atr.errors import ProgrammeError, RefusedError
from atr.programme import Programme, load, periods
from atr.programme.periods import Period
from atr.records import build, files, model
from atr.records.channels import channels
from atr.records.drawing import draw
from atr.records.joints import count, settings
from atr.records.pools import pooled
from atr.records.seeds import fingerprint, key_of, require_same_draws, seed_of
from atr.report.model import Beside
from atr.warehouse import counting, reportable
from atr.warehouse.connection import Warehouse, warehouse_path
from atr.warehouse.entries import complete, entry_of_records, log_of
from atr.warehouse.files import put_folder, sha256, write_json
from atr.warehouse.kept_releases import Kept, kept_path
from atr.warehouse.ledger import Ledger, Release, documents_path, dossier_path, is_whole
from atr.warehouse.raw_values import RawValues
from atr.warehouse.register import Register
from atr.warehouse.store import PATIENCE, hold

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
    replaces
        Whether a version of the period is published.
    """

    release: Release
    new: bool
    documents: Path
    dossier: Path
    overlapping: tuple[str, ...]
    beside: tuple[str, ...]
    replaces: bool

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
    new = not loaded.store_path.exists()
    with hold(loaded.store_path, wait=patience):
        new = new and not warehouse_path(loaded).exists()  # by now another run may have come first
        try:
            step(pipeline.load_log, str(loaded.path))
            draft: RecordsDraft = step(draft_records, str(loaded.path), label, ended_by, today)
        except (ProgrammeError, RefusedError):
            if new:
                shutil.rmtree(loaded.store_path, ignore_errors=True)
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
    seed = seed_of(programme)
    kept = _kept(warehouse, programme, seed)
    content = records.model_dump(mode="json", by_alias=True)
    entry = entry_of_records(content, programme, log=kept.log, raw=kept.raw, store=register.store, sha256="")
    require_same_draws(register, entry.model_copy(update={"seed": kept.seed}), programme)
    related = register.against(entry), register.beside(kept.log, period, "records")
    counts = draw(warehouse, programme, period, joints, found, key=key_of(seed, records.column))
    ledger = Ledger(warehouse, kind="records")
    published = [of for of in ledger.releases(period.label) if of.state == "published"]
    ledger.forget_begun()
    release = ledger.begin(period.label, today=today.isoformat())
    told = [Beside(kind=of.kind, programme=of.programme, period=of.period) for group in related for of in group]
    records = build.dated(records, version=release.version, date=today.isoformat(), beside=tuple(dict.fromkeys(told)))
    folder = programme.store_path / "runs" / release.id
    shutil.rmtree(folder, ignore_errors=True)
    public, private = folder / "public", folder / "dossier"
    for made in (public, private):
        made.mkdir(parents=True, mode=0o700)
    records = files.write_records(warehouse, records, counts, public)
    said = files.content_sha256(records)
    same = ledger.unchanged(release, content_sha256=said)
    new = same is None or not is_whole(programme, same)
    overlapping, beside = (
        tuple(dict.fromkeys(other.named(register.store) for other in of_kind)) for of_kind in related
    )
    if new or same is None:
        write_json(private / PRIVATE, build.for_the_reviewer(joints, pools, found))
        dossier = for_review.build(
            records,
            pools,
            found,
            counts,
            before=_told_before(programme, published),
            overlapping=overlapping,
            beside=beside,
        )
        for_review.render(dossier, private, fonts=programme.font_files)
        same = _left(programme, ledger, release, records, folder, said)
    else:
        ledger.forget_begun()
    shutil.rmtree(folder, ignore_errors=True)
    if same.state == "draft":
        kept.of_draft(kept_path(programme, same.id), new=new)
    folders = documents_path(programme, same), dossier_path(programme, same)
    return RecordsDraft(same, new, *folders, overlapping, beside, bool(published))


def _kept(warehouse: Warehouse, programme: Programme, seed: bytes) -> Kept:
    """What is kept of the release for its approval."""
    raw = RawValues.of(warehouse, programme)
    return Kept(
        raw=raw,
        log=log_of(warehouse, programme, raw, raw.outcomes),
        terms=repr(programme.sanitise),
        log_changes=ingest.log_changes(warehouse),
        seed=fingerprint(seed, warehouse.layout()),
    )


def _told_before(programme: Programme, published: Sequence[Release]) -> model.PublicRecords | None:
    """What is public of the records of a period that are published; None where there are none, or a file is gone."""
    paths = [documents_path(programme, release) / model.CHANNEL for release in published[-1:]]
    return next((model.read(path) for path in paths if path.is_file()), None)


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
