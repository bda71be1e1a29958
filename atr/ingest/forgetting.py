"""Forgetting decisions for good: the rows of some ids, and every trace of them in the store."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from atr.core.display_text import cleaned
from atr.errors import IngestError, ProgrammeError
from atr.ingest import ingest
from atr.ingest.sums import summarise
from atr.programme import Programme
from atr.warehouse.connection import Warehouse, warehouse_path, write_anew
from atr.warehouse.ledger import of_every_kind
from atr.warehouse.store import hold


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten.

    Parameters
    ----------
    ids, rows, unknown
        How many of the ids were found, how many rows they had, and how many are not in the store.
    still_there
        Files of the log that had such rows, and of which there still is one of the name.
    untouched
        Ids of the drafts and published releases, which stay as they are.
    """

    ids: int
    rows: int
    unknown: int
    still_there: tuple[str, ...]
    untouched: tuple[str, ...]

    @property
    def told(self) -> list[str]:
        """Sentences for the person at the keyboard."""
        rows, ids = (f"{n:,} {what}{'s' * (n != 1)}" for n, what in ((self.rows, "row"), (self.ids, "id")))
        lines = [f"Forgotten: {rows} of {ids}. The warehouse was written anew, without a trace."]
        if self.unknown:
            lines.append(f"Not in the store: {self.unknown:,} of the {self.ids + self.unknown:,} ids.")
        if self.still_there:
            files = ", ".join(self.still_there)
            lines.append(f"Look whether these files still have them, for whoever reads them anew: {files}.")
        if self.untouched:
            releases = ", ".join(self.untouched)
            lines.append(f"Untouched, with the numbers they were made with, and texts that dossiers quote: {releases}.")
        return lines


def read_ids(path: Path) -> list[str]:
    """Read a text file with an id on every line.

    Raises
    ------
    IngestError
        If it is no UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise IngestError("is not in UTF-8", where=str(path), hint="Save it as a plain text in UTF-8.") from None


def forget(programme: Programme, ids: Collection[str]) -> Forgotten:
    """Forget decisions by their ids, and write the warehouse anew without them.

    The texts of quarantined lines without an id are forgotten too, since they may name one, and so is all that runs
    left in the store.

    Parameters
    ----------
    programme
        Its store is held while this lasts.
    ids
        As the log writes them.

    Raises
    ------
    ProgrammeError
        If the log has no ids.
    IngestError
        If no log was read yet, it is kept and has none of these ids, or the log that the warehouse mirrors still has
        some: nothing is forgotten then.
    """
    if programme.log.id is None:
        raise ProgrammeError("the log has no ids, so nothing can be forgotten by them", where=f"{programme.path}, log")
    if not warehouse_path(programme).exists():
        raise IngestError("no log was read yet", where=str(programme.store_path))
    with hold(programme.store_path):
        return _forget(programme, sorted({cleaned(id) for id in ids} - {""}))


def _forget(programme: Programme, wanted: list[str]) -> Forgotten:
    with Warehouse.open(programme) as warehouse:
        if not programme.log.keep:
            ingest(warehouse, programme)
        layout = warehouse.layout()
        with warehouse.transaction() as connection:
            connection.execute("CREATE OR REPLACE TEMP TABLE forgotten (id VARCHAR)")
            connection.execute("INSERT INTO forgotten SELECT unnest($1::VARCHAR[])", [wanted])
            found = warehouse.query(
                "SELECT file, name, count(*) FROM log_rows SEMI JOIN forgotten USING (id) JOIN files USING (file) "
                "GROUP BY ALL ORDER BY name"
            )
            ((number,),) = warehouse.query("SELECT count(*) FROM forgotten SEMI JOIN log_rows USING (id)")
            if not found and programme.log.keep:
                raise IngestError(
                    "none of these ids is in the store",
                    where=str(programme.store_path),
                    hint="Is it the right series, and are the ids those of the column that log.id names?",
                )
            if found and not programme.log.keep:
                raise IngestError(
                    f"the log still has rows of {number:,} of these ids, and the store mirrors the log",
                    where=", ".join(name for _, name, _ in found),
                    hint="Remove them from the log, then give this command again: it leaves no trace of them here.",
                )
            ((decisions,),) = warehouse.query("SELECT count(*) FROM decisions SEMI JOIN forgotten USING (id)")
            connection.execute("DELETE FROM log_rows WHERE id IN (FROM forgotten)")
            nothing = ", ".join(f"{column} = NULL" for column in layout.texts.values())
            connection.execute(
                f"UPDATE log_rows SET raw = '', {nothing} WHERE coalesce(id, '') = '' AND raw IS NOT NULL"  # noqa: S608
            )
            connection.execute("UPDATE log_changes SET gone = gone + $1", [decisions])
            summarise(warehouse, frozenset(file for file, *_ in found), gone=frozenset())
        untouched = tuple(
            f"{r.id} ({r.state})" for r in of_every_kind(warehouse) if r.state in ("draft", "published", "replaced")
        )
    write_anew(programme)
    for left in ("runs", "tmp"):
        shutil.rmtree(programme.store_path / left, ignore_errors=True)
    names = dict.fromkeys(name for _, name, _ in found)
    still_there = tuple(name for name in names if "://" in name or (programme.path.parent / name).exists())
    return Forgotten(number, sum(n for *_, n in found), len(wanted) - number, still_there, untouched)
