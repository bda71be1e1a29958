"""From decision logs to the warehouse: every row becomes a decision, a duplicate, a correction, or is quarantined."""

from __future__ import annotations

from dataclasses import dataclass

from atr.errors import AtrError, IngestError
from atr.ingest.check import check_log, check_number_of_outcomes, remarks
from atr.ingest.sources import matches, relation
from atr.ingest.sources.base import File, fingerprint, state_of
from atr.ingest.staging import gate, merge_rows, stage, supersede
from atr.programme import Programme
from atr.warehouse.connection import Layout, Warehouse

__all__ = ["Accounting", "accounting", "check_log", "ingest", "remarks"]


@dataclass(frozen=True)
class Accounting:
    """What became of every row that was ever read: ``rows_read`` is the sum of the next four."""

    rows_read: int
    decisions: int
    duplicates: int
    corrections: int
    quarantined: int
    files: int
    reasons: dict[str, int]
    """Reason to quarantined rows, the most frequent first."""


def ingest(warehouse: Warehouse, programme: Programme) -> Accounting:
    """Bring the warehouse up to date with the files that ``log.source`` matches.

    Each file is one transaction: a run that is killed leaves the warehouse as it was before that file. A file that was
    ingested before adds nothing, whatever it is called now. If the programme reads other columns than before, the
    warehouse is made anew from the same files, all in one transaction. What a file brings is held against the
    programme before it is kept.

    Parameters
    ----------
    warehouse
        Open for writing.
    programme
        It names the files and their columns.

    Returns
    -------
    What became of every row, in numbers of rows and files.

    Raises
    ------
    IngestError
        If there is no file, or one cannot be read or does not fit the programme.
    ProgrammeError
        If the programme does not fit the log; see :func:`check_log`.
    RefusedError
        If too large a share of a file would be quarantined; nothing of that file is kept.
    """
    files = [fingerprint(path, programme) for path in matches(programme)]
    layout, made_for = Layout.of(programme), warehouse.layout_or_none()
    if made_for is None or made_for == layout:
        known = {sha256 for (sha256,) in warehouse.query("SELECT sha256 FROM ingestions")}
        parts = [[file] for file in _new(files, known)]
    else:
        old = _once_more(warehouse, programme, files)
        parts = [[*old, *_new(files, {file.sha256 for file in old})]]
    checking = False
    try:
        for n, part in enumerate(parts, start=1):
            with warehouse.transaction():
                checking = False
                if n == 1 and made_for != layout:
                    warehouse.prepare(layout)
                for file in part:
                    _ingest_file(warehouse, programme, file)
                checking = True
                (check_log if n == len(parts) else check_number_of_outcomes)(warehouse, programme)
        if not parts:
            check_log(warehouse, programme)
    except AtrError:
        if checking and made_for is None:
            with warehouse.transaction():
                warehouse.forget()
        raise
    return accounting(warehouse)


def accounting(warehouse: Warehouse) -> Accounting:
    """Count what became of every row that was ever read, in the warehouse's own records."""
    (totals,) = warehouse.query(
        """
        SELECT coalesce(sum(rows_read), 0)::BIGINT, coalesce(sum(decisions), 0)::BIGINT,
               coalesce(sum(duplicates), 0)::BIGINT, coalesce(sum(corrections), 0)::BIGINT,
               coalesce(sum(quarantined), 0)::BIGINT, count(*)
        FROM ingestions
        """
    )
    reasons = warehouse.query("SELECT reason, count(*) AS n FROM quarantine GROUP BY reason ORDER BY n DESC, reason")
    rows_read, decisions, duplicates, corrections, quarantined, files = totals
    return Accounting(rows_read, decisions, duplicates, corrections, quarantined, files, dict(reasons))


def _new(files: list[File], known: set[str]) -> list[File]:
    """The files of which no content is known, each content once."""
    first = {file.sha256: file for file in reversed(files)}
    return [file for file in files if file.sha256 not in known and first[file.sha256] is file]


def _once_more(warehouse: Warehouse, programme: Programme, files: list[File]) -> list[File]:
    """The files that the warehouse was made from, to be read again."""
    matched, old = {file.name: file for file in files}, []
    for name, sha256 in warehouse.query("SELECT path, sha256 FROM ingestions WHERE NOT superseded ORDER BY ingestion"):
        path = programme.path.parent / name
        file = matched.get(name)
        if file is None and path.is_file():
            file = fingerprint(path, programme)
        if file is None or file.sha256 != sha256:
            raise IngestError(
                "the programme reads other columns than the warehouse was made with, so all files have to be read "
                f"again, and this one {'is gone' if file is None else 'was changed since'}",
                where=str(path),
                hint=f"Put the file back as it was, or undo the change in {programme.path}. To start anew with the "
                "files that are there, give it another store. Nothing was changed.",
            )
        old.append(file)
    return old


def _ingest_file(warehouse: Warehouse, programme: Programme, file: File) -> None:
    connection, layout, rows = warehouse.connection, warehouse.layout(), 0
    ((ingestion,),) = warehouse.query("SELECT coalesce(max(ingestion), 0) + 1 FROM ingestions")
    with relation(warehouse, file, layout.keys) as found:
        if found is not None:
            stage(connection, layout, file, found)
            rows = gate(connection, programme, file)
    if state_of(file.path) != file.state:
        raise IngestError("was changed while it was read", where=str(file.path), hint="Start again.")
    counts = merge_rows(connection, layout, file, ingestion) if rows else (0, 0, 0, 0)
    connection.execute(
        "INSERT INTO ingestions VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, false)",
        [ingestion, file.name, file.size, file.sha256, rows, *counts],
    )
    if rows:
        supersede(connection, layout, file, ingestion)
    for table in ("stage", "rejects", "repeats", "known", "reject_errors", "reject_scans"):
        connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
