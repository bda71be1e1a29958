"""The staged rows of one file among the decisions that are there: new, duplicates or corrections."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import duckdb

from atr.ingest.files import File
from atr.warehouse.connection import Layout

_EARLIER = "(SELECT ingestion FROM ingestions WHERE path = $1 AND ingestion < $2)"


def _same(layout: Layout, a: str, b: str) -> str:
    return " AND ".join(f"{a}.{c} IS NOT DISTINCT FROM {b}.{c}" for c in ("decided_on", "outcome", *layout.columns))


def _same_decision(layout: Layout) -> str:
    """Whether the stored decision ``d`` is the staged row ``s``: by id, or without one by place and content."""
    if layout.id is not None:
        return "d.id = s.id"
    return f"d.position = s.position AND d.ingestion IN {_EARLIER} AND {_same(layout, 'd', 's')}"


def merge_rows(
    connection: duckdb.DuckDBPyConnection, layout: Layout, file: File, ingestion: int
) -> tuple[int, int, int, int]:
    """Add the staged rows; returns how many were new decisions, duplicates, corrections and quarantined."""
    place = [file.name, ingestion]
    columns = ", ".join(("decided_on", "outcome", *layout.columns))
    same_fault = "q.reason = r.reason AND q.raw IS NOT DISTINCT FROM r.raw"
    if layout.id is None:
        same_fault += f" AND q.line = r.line AND q.ingestion IN {_EARLIER}"
    connection.execute(
        f"UPDATE rejects AS r SET again = EXISTS (FROM quarantine AS q WHERE {same_fault})",
        [] if layout.id is not None else place,
    )
    connection.execute(
        "INSERT INTO quarantine SELECT $1, line, reason, raw FROM rejects WHERE NOT again ORDER BY line", [ingestion]
    )
    # The rows of an id that the file has several times: whether each comes again, unchanged, and is the last.
    connection.execute(
        f"""
        CREATE TEMP TABLE repeats AS
        WITH several AS (SELECT id FROM stage WHERE reason IS NULL AND id IS NOT NULL GROUP BY id HAVING count(*) > 1),
        rows AS (SELECT s.position, s.id, row({columns}) AS content
                 FROM stage AS s SEMI JOIN several USING (id) WHERE s.reason IS NULL)
        SELECT position, id, row_number() OVER earlier > 1 AS again, lead(position) OVER earlier IS NULL AS last,
               content IS NOT DISTINCT FROM lag(content) OVER earlier AS same
        FROM rows WINDOW earlier AS (PARTITION BY id ORDER BY position)
        """
    )
    # The first rows of decisions that the warehouse has already, and whether they are unchanged.
    connection.execute(
        f"""
        CREATE TEMP TABLE known AS
        SELECT s.position, s.id, {_same(layout, "d", "s")} AS same
        FROM stage AS s JOIN decisions AS d ON {_same_decision(layout)}
        WHERE s.reason IS NULL AND s.position NOT IN (SELECT position FROM repeats WHERE again)
        """,
        [] if layout.id is not None else place,
    )
    (good, same, changed, quarantined, again) = connection.execute(
        """
        WITH old AS (SELECT same FROM repeats WHERE again UNION ALL SELECT same FROM known)
        SELECT (SELECT count(*) FROM stage WHERE reason IS NULL),
               (SELECT count(*) FROM old WHERE same), (SELECT count(*) FROM old WHERE NOT same),
               (SELECT count(*) FROM rejects WHERE NOT again), (SELECT count(*) FROM rejects WHERE again)
        """
    ).fetchone() or (0, 0, 0, 0, 0)
    connection.execute(
        """
        DELETE FROM decisions WHERE id IN (
            SELECT id FROM repeats WHERE again AND NOT same UNION ALL SELECT id FROM known WHERE NOT same)
        """
    )
    conditions = ["s.reason IS NULL"]
    if same + changed:  # most files have new decisions only, and these joins double the time they take
        conditions.append("s.position NOT IN (SELECT position FROM repeats WHERE NOT last)")
        if layout.id is not None:
            conditions.append("NOT EXISTS (FROM decisions AS d WHERE d.id = s.id)")
        else:
            conditions.append("s.position NOT IN (SELECT position FROM known)")
    kept = ", ".join(f"s.{column}" for column in ("decided_on", "outcome", *layout.columns))
    connection.execute(
        f"INSERT INTO decisions SELECT $1, s.position, s.id, {kept} FROM stage AS s WHERE {' AND '.join(conditions)}",
        [ingestion],
    )
    return good - same - changed, same + again, changed, quarantined


def supersede(connection: duckdb.DuckDBPyConnection, layout: Layout, file: File, ingestion: int) -> None:
    """Mark what was ingested from this path before, if the file still holds all of it: it is not needed to rebuild."""
    place = [file.name, ingestion]
    if connection.execute(f"SELECT 1 FROM ingestions WHERE ingestion IN {_EARLIER}", place).fetchone() is None:
        return
    connection.execute(
        f"""
        UPDATE ingestions SET superseded = true
        WHERE path = $1 AND ingestion < $2
        AND NOT EXISTS (FROM decisions AS d WHERE d.ingestion IN {_EARLIER}
                        AND NOT EXISTS (FROM stage AS s WHERE {_same_decision(layout)}))
        AND NOT EXISTS (FROM quarantine AS q WHERE q.ingestion IN {_EARLIER}
                        AND NOT EXISTS (FROM rejects AS r WHERE q.raw IS NOT DISTINCT FROM r.raw))
        """,
        place,
    )
