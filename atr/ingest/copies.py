"""Decisions that stand in a log once more, and would be counted twice."""

# ruff: noqa: S608 - what is put into the SQL is made here: column names and numbers of files
from __future__ import annotations

from atr.errors import IngestError
from atr.ingest.precedence import among
from atr.warehouse.connection import Warehouse


def refuse_copies(warehouse: Warehouse) -> None:
    """Refuse a file that another one repeats: without ids nobody can tell whether these are the same decisions.

    With dates, a file repeats another of which more than half the rows stand equally often in it, day included;
    without, one that has the same rows.

    Parameters
    ----------
    warehouse
        In a transaction, with the sums of all files made.

    Raises
    ------
    IngestError
        If one does, with the names of both.
    """
    layout = warehouse.layout()
    new = {file for (file,) in warehouse.query("SELECT file FROM files WHERE NOT compared")}
    if not new:
        return
    warehouse.connection.execute("UPDATE files SET compared = true")
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
            SELECT file, hash({layout.content}) AS content, {layout.people} AS n
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


def refuse_other_spellings(warehouse: Warehouse) -> None:
    """Refuse ids of which some are those of others written as numbers with a fraction of nothing, as 7.0 for 7.

    Parameters
    ----------
    warehouse
        In a transaction, with a log that has ids.

    Raises
    ------
    IngestError
        If there are any, with the files.
    """
    with_fraction = "id LIKE '%.0%' AND regexp_full_match(id, '[+-]?[0-9]+[.]0+')"
    if not warehouse.query(f"SELECT 1 FROM decisions WHERE {with_fraction} LIMIT 1"):
        return
    found = warehouse.query(
        f"""
        SELECT a.name, b.name, count(DISTINCT s.id), min(s.id), min(o.id)
        FROM (FROM decisions WHERE {with_fraction}) AS s
        JOIN decisions AS o ON o.id = regexp_replace(s.id, '[.]0+$', '')
        JOIN files AS a ON a.file = s.file JOIN files AS b ON b.file = o.file
        GROUP BY ALL ORDER BY 3 DESC, 1, 2
        """
    )
    for name, other, ids, spelt, plain in found[:1]:
        raise IngestError(
            f"{ids:,} {'id is' if ids == 1 else 'ids are'} those of {other}, written with .0 at the end: are they the "
            "same decisions?",
            where=name,
            hint="Write the ids alike: a program that took the column for numbers with fractions wrote this file.",
            private=f"As {spelt!r} and {plain!r}.",
        )
