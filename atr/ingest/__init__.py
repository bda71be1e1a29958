"""From the log to the warehouse, which mirrors it: what is counted is what a fresh reading of the log would count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr.errors import IngestError, ProgrammeError
from atr.ingest.check import check_log
from atr.ingest.copies import refuse_copies, refuse_other_spellings
from atr.ingest.mirror import plan, write_files
from atr.ingest.precedence import Changed, settle
from atr.ingest.remarks import not_announced, remarks
from atr.ingest.sources import parts
from atr.ingest.sources.base import Part
from atr.ingest.staging import read_part, refuse_faulty
from atr.ingest.sums import summarise
from atr.programme import Programme
from atr.warehouse.connection import Warehouse
from atr.warehouse.layout import USABLE, Layout

__all__ = ["Accounting", "Reading", "accounting", "check_log", "ingest", "log_changes", "not_announced", "remarks"]


@dataclass(frozen=True)
class Accounting:
    """What became of every row of the log: ``rows_read`` is the sum of the next four."""

    rows_read: int
    decisions: int
    duplicates: int
    corrections: int
    quarantined: int
    files: int
    reasons: dict[str, int]
    """Reason to quarantined rows, the most frequent first."""


@dataclass(frozen=True)
class Reading:
    """What a reading of the log came to.

    Parameters
    ----------
    accounting
        What became of every row.
    files, decisions
        How many are new, changed or gone since the log was read before.
    anew
        Whether a log that had been read before was read anew: the store is of an earlier version, or the programme
        or the rules of its time zone changed.
    unknown
        How many of the changed files (tables, say) nothing but their rows tells whether they changed.
    """

    accounting: Accounting
    files: Changed
    decisions: Changed
    anew: bool = False
    unknown: int = 0

    @property
    def told(self) -> str:
        """A sentence for the person at the keyboard: what is not public of a log stands in it exactly."""
        if self.anew:
            why = "the store is of an earlier version, or the programme or a time zone changed"
            return f"The whole log was read anew ({why}); what was published stays as it is."
        if self.decisions.new == self.accounting.decisions and self.files.new == self.accounting.files:
            return f"The log is read for the first time: {self.files.told('file')}: {self.decisions.told('decision')}."
        if not any((self.files.new, self.files.changed - self.unknown, self.files.gone, *self.decisions)):
            return "The log is as it was when it was read last."
        return f"Since the log was read last: {self.files.told('file')}: {self.decisions.told('decision')}."


def ingest(warehouse: Warehouse, programme: Programme) -> Reading:
    """Let the warehouse mirror the log that ``log.source`` names.

    Files that are as they were are not read again, whatever they are called now. All that is written is one
    transaction: a run that is killed, or finds a fault, leaves the warehouse as it was.

    Parameters
    ----------
    warehouse
        Open for writing.
    programme
        It names the log and its columns.

    Returns
    -------
    What became of every row, and what changed.

    Raises
    ------
    IngestError
        If there is no log, or a part of it cannot be read or does not fit the programme.
    ProgrammeError
        If the programme does not fit the log; see :func:`check_log`.
    RefusedError
        If too large a share of a file would be quarantined.
    """
    before, layout = warehouse.layout_or_none(), Layout.of(programme)
    found = parts(programme, may_be_none=programme.log.keep and before is not None)
    with warehouse.transaction() as connection:
        anew = False
        if before != layout:
            if programme.log.keep:
                _refuse_to_lose(warehouse, programme, found)
            anew = warehouse.prepare(layout)
        mirror = plan(warehouse, found, keep=programme.log.keep)
        if mirror.files != mirror.known:
            write_files(warehouse, mirror.files)
        for part, file, state in mirror.to_read:
            read_part(warehouse, programme, part, file)
            if state != part.found():
                raise IngestError("was changed while it was read", where=part.where, hint="Start again.")
        decisions = Changed()
        if mirror.new | mirror.leaving | mirror.moved:
            decisions, judged = settle(connection, layout, mirror)
            connection.execute(
                "UPDATE log_changes SET new = new + $1, changed = changed + $2, gone = gone + $3", list(decisions)
            )
            summarise(warehouse, mirror.new | judged, gone=mirror.leaving)
            if layout.id is not None:
                refuse_other_spellings(warehouse)
        faulty = {file for (file,) in warehouse.query("SELECT file FROM fates WHERE fate <> ALL ($1)", [USABLE])}
        for known in mirror.files:
            if known.file in faulty - mirror.new:  # the new ones were judged when they were read
                refuse_faulty(warehouse, programme, known.name, mirror.parts.get(known.file), known.file)
        if layout.id is None and not programme.log.repeats:
            refuse_copies(warehouse)
        check_log(warehouse, programme)
    unknown = {file.name for file in (*mirror.known, *mirror.files) if file.key is None}
    return Reading(accounting(warehouse), Changed(*mirror.changes), decisions, anew, len(unknown))


def _refuse_to_lose(warehouse: Warehouse, programme: Programme, found: Sequence[Part]) -> None:
    """Refuse to read the log anew where rows of files that are gone are kept, or were counted by an earlier version."""
    names: dict[str, str] = {}
    for table, name, sha256 in (("files", "name", "key"), ("ingestions", "path", "sha256")):
        if warehouse.query("SELECT 1 FROM duckdb_tables() WHERE table_name = $1", [table]):
            rows = warehouse.query(f"SELECT {sha256}, {name} FROM {table}")  # noqa: S608 - as they stand above
            names |= {(key or "").split(" ")[0]: name for key, name in rows}
    there = {(part.key() or "").split(" ")[0] for part in found} if names else set[str]()
    lost = sorted(name for sha256, name in names.items() if sha256 not in there)
    if lost:
        more = f" and {len(lost) - 1:,} more" if len(lost) > 1 else ""
        raise ProgrammeError(
            f"the log has to be read anew, and files whose rows are kept are gone: {lost[0]}{more}",
            where=str(programme.path),
            hint="Put them back as they were, or undo the change of the programme, or of this software. To start anew "
            "without them, name another store.",
        )


def log_changes(warehouse: Warehouse) -> tuple[int, int, int, int]:
    """Count the decisions that were new, changed or gone in all readings so far, after the generation of the log."""
    ((generation, new, changed, gone),) = warehouse.query("FROM log_changes")
    return generation, new, changed, gone


def accounting(warehouse: Warehouse) -> Accounting:
    """Count what became of every row of the log, in the warehouse's own sums."""
    fates: dict[str, int] = dict(warehouse.query("SELECT fate, sum(rows)::BIGINT FROM fates GROUP BY fate"))
    ((files,),) = warehouse.query("SELECT count(*) FROM files")
    rows = sum(fates.values())
    decisions, duplicates, corrections = (fates.pop(name, 0) for name in USABLE)
    reasons = dict(sorted(fates.items(), key=lambda of: (-of[1], of[0])))
    return Accounting(rows, decisions, duplicates, corrections, sum(reasons.values()), files, reasons)
