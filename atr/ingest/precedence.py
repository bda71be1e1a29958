"""Which of the rows of one id counts, and what changed since the log was read before."""

# ruff: noqa: S608 - what is put into the SQL is made here: column names and numbers of files
from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import duckdb

from atr.errors import IngestError
from atr.ingest.mirror import Plan
from atr.warehouse.layout import Layout

_VALID = "fate <= 2"


class Changed(NamedTuple):
    """How many files, or decisions, are new, changed or gone."""

    new: int = 0
    changed: int = 0
    gone: int = 0

    def told(self, noun: str) -> str:
        """In words.

        >>> Changed(1, 12, 0).told("decision")
        '1 decision new, 12 changed'
        """
        found = [(n, what) for n, what in zip(self, self._fields, strict=True) if n] or [(0, "other")]
        (first, what), *others = found
        start = f"{first:,} {noun}{'s' if first != 1 else ''} {what}"
        return ", ".join([start, *(f"{n:,} {what}" for n, what in others)])


def settle(connection: duckdb.DuckDBPyConnection, layout: Layout, plan: Plan) -> tuple[Changed, frozenset[int]]:
    """Let the rows that are to leave go, and one row of each id count.

    Of the rows of an id that with the highest revision counts; of several, the last in the order of the log: by the
    place of its file, then by its line. A row of other content than the one that counts is a correction, one of the
    same content a duplicate.

    Parameters
    ----------
    connection
        Of the warehouse, in a transaction, with the rows of new files read, and those that are to leave still there.
    layout
        Which columns there are.
    plan
        Which files are new, to leave, or moved.

    Returns
    -------
    How many decisions changed, without ids as many as there are fewer or more of one content; and the numbers of the
    files of which a row has another fate.

    Raises
    ------
    IngestError
        If revisions are numbers in some rows and times in others, or only some have zones, or nothing says which row
        of an id counts.
    """
    first = not plan.known
    new, others = among(plan.new), among(plan.leaving | plan.moved)
    contested = "false"
    if layout.id is not None:
        of_these, lost = "", ""
        if not first:
            of_these = f"AND id_hash IN (SELECT id_hash FROM log_rows WHERE {_VALID} AND ({new} OR {others}))"
            lost = "OR bool_or(fate > 0)"
        if not (first and _ids_rise(connection)):
            connection.execute(
                f"""
                CREATE OR REPLACE TEMP TABLE contested AS
                SELECT id_hash FROM log_rows WHERE {_VALID} AND NOT {among(plan.leaving)} {of_these}
                GROUP BY id_hash HAVING count(*) > 1 {lost}
                """
            )
            if connection.execute("SELECT 1 FROM contested LIMIT 1").fetchone() is not None:
                contested = "id_hash IN (FROM contested)"
    decisions = f"""
        SELECT id, hash({layout.content}) AS content, {layout.people} AS people
        FROM decisions WHERE {{}} GROUP BY id, content"""
    if not first:
        before = f"({others} OR {contested}) AND NOT {new}"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE before AS {decisions.format(before)}")
    connection.execute(f"DELETE FROM log_rows WHERE {among(plan.leaving)}")
    if layout.revision is not None:
        _refuse_mixed_revisions(connection)
    judged = frozenset[int]() if contested == "false" else _judge(connection, layout, contested)
    if first:
        ((came,),) = connection.execute(f"SELECT coalesce({layout.people}, 0)::BIGINT FROM decisions").fetchall()
        return Changed(came), judged
    after = decisions.format(f"{new} OR {others} OR {contested}")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE after AS {after}")
    (found,) = connection.execute(_BY_CONTENT if layout.id is None else _BY_ID).fetchall()
    return Changed(*found), judged


_BY_ID = """
SELECT count(*) FILTER (b.id IS NULL), count(*) FILTER (a.content <> b.content), count(*) FILTER (a.id IS NULL)
FROM after AS a FULL JOIN before AS b ON a.id = b.id
"""
_BY_CONTENT = """
SELECT coalesce(sum(greatest(more, 0)), 0)::BIGINT, 0, coalesce(sum(greatest(-more, 0)), 0)::BIGINT
FROM (SELECT coalesce(a.people, 0) - coalesce(b.people, 0) AS more
      FROM after AS a FULL JOIN before AS b ON a.content = b.content)
"""


def _ids_rise(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether every id is a higher number than that of the row before, as in most exports, so that none repeats."""
    ((others,),) = connection.execute(
        f"""
        SELECT count(*) FILTER ((id_number > before) IS NOT TRUE)
        FROM (SELECT id_number, lag(id_number) OVER () AS before FROM log_rows WHERE {_VALID})
        """
    ).fetchall()
    return bool(others <= 1)  # the first


def _judge(connection: duckdb.DuckDBPyConnection, layout: Layout, contested: str) -> frozenset[int]:
    """Set the fate of the rows of contested ids, and tell in which files one changed."""
    revision = "revision DESC NULLS LAST," if layout.revision is not None else ""
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE judged AS
        WITH ranked AS (
            SELECT r.rowid AS place, r.file, r.fate, f.name, {layout.content} AS content,
                   first_value(content) OVER order_of_log AS that_counts, row_number() OVER order_of_log AS number,
                   rank() OVER order_of_log AS rank
            FROM log_rows AS r JOIN files AS f USING (file) WHERE {_VALID} AND {contested}
            WINDOW order_of_log AS (
                PARTITION BY id ORDER BY {revision} f.place DESC, file DESC, line DESC))
        SELECT place, file, fate, name, rank,
               CASE WHEN number = 1 THEN 0 WHEN content IS NOT DISTINCT FROM that_counts THEN 1 ELSE 2 END AS new_fate
        FROM ranked
        """
    )
    undecided = connection.execute(
        """
        SELECT first(name ORDER BY j.file, line), count(*), first(line ORDER BY j.file, line),
               first(id ORDER BY j.file, line)
        FROM judged AS j JOIN log_rows AS r ON r.rowid = j.place WHERE rank = 1 AND new_fate = 2
        """
    ).fetchone()
    if undecided is not None and undecided[1]:
        name, rows, line, of = undecided
        raise IngestError(
            f"{rows:,} {'row differs' if rows == 1 else 'rows differ'} from another of the same id, and nothing says "
            "which of them counts",
            where=f"{name}, line {line}" if line else name,
            private=f"The first has the id {of!r}.",
            hint="Name a column in log.revision, of which the highest counts, or let the id be that of a decision.",
        )
    connection.execute(
        """
        UPDATE log_rows SET fate = judged.new_fate FROM judged
        WHERE log_rows.rowid = judged.place AND judged.fate <> judged.new_fate
        """
    )
    other = connection.execute("SELECT DISTINCT file FROM judged WHERE fate <> new_fate").fetchall()
    return frozenset(file for (file,) in other)


def _refuse_mixed_revisions(connection: duckdb.DuckDBPyConnection) -> None:
    kinds = connection.execute(
        "SELECT revised_as, min(name) FROM log_rows JOIN files USING (file) WHERE revision IS NOT NULL GROUP BY ALL "
        "ORDER BY revised_as"
    ).fetchall()
    if len(kinds) > 1:
        found = " and ".join(f"{kind} in {name}" for kind, name in kinds)
        raise IngestError(
            f"the revisions are {found}: which are higher?",
            where="log.revision",
            hint="Name a column that holds one or the other throughout.",
        )


def among(files: Collection[int]) -> str:
    """Give the condition that a row is of one of some files."""
    return f"file IN ({', '.join(map(str, sorted(files)))})" if files else "false"
