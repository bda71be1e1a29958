"""Files of a log without ids that hold the same decisions once more."""

# ruff: noqa: S608 - what is put into the SQL is made here: column names and numbers of files
from __future__ import annotations

from atr.errors import IngestError
from atr.ingest.precedence import among
from atr.warehouse.connection import Warehouse


def refuse_copies(warehouse: Warehouse, new: frozenset[int]) -> None:
    """Refuse a file that another one repeats: without ids nobody can tell whether these are the same decisions.

    With dates, a file repeats another of which more than half the rows stand equally often in it, day included;
    without, one that has the same rows.

    Parameters
    ----------
    warehouse
        In a transaction, with the sums of all files made.
    new
        The numbers of the files that were read now; all others were compared before.

    Raises
    ------
    IngestError
        If one does, with the names of both.
    """
    layout = warehouse.layout()
    spans = warehouse.query("SELECT file, min(day), max(day), sum(decisions) FROM days GROUP BY file ORDER BY file")
    close = {
        pair
        for file, first, last, _ in spans
        for other, other_first, other_last, _ in spans
        for pair in [(file, other)]
        if file != other
        and {file, other} & new
        and (layout.decided_at is None or (first <= other_last and other_first <= last))
    }
    if not close:
        return
    share = 0.5 if layout.decided_at is not None else 1 - 1e-9
    found = warehouse.query(
        f"""
        WITH contents AS (
            SELECT file, hash({layout.content}) AS content, count(*) AS n
            FROM decisions WHERE {among({file for pair in close for file in pair})} GROUP BY ALL)
        SELECT a.file, b.file, sum(a.n)::BIGINT
        FROM contents AS a JOIN contents AS b ON a.content = b.content AND a.n = b.n AND a.file <> b.file
        GROUP BY ALL ORDER BY ALL
        """
    )
    rows = {file: n for file, _, _, n in spans}
    names = dict(warehouse.query("SELECT file, name FROM files"))
    for file, other, same in found:
        equal = layout.decided_at is not None or rows[file] == rows[other]
        if (file, other) in close and same > share * rows[file] and equal:
            raise IngestError(
                f"{same:,} of its {rows[file]:,} decisions stand in {names[other]} too, and the log has no ids: are "
                "they the same?",
                where=names[file],
                hint="Remove the file that repeats the other, name the column of ids in log.id, or say repeats: true "
                "under log if they are different decisions.",
            )
