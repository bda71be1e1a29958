"""The rows of one file: typed, dated and judged, refused if too many are faulty, and merged with the decisions."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import duckdb

from atr.core.display_text import printable
from atr.errors import IngestError, ProgrammeError, RefusedError
from atr.ingest.sources.base import File, Relation
from atr.programme import Programme
from atr.warehouse.connection import Layout, Parameters

_DATE = (
    r"^(\d{4}-\d\d-\d\d)"
    r"(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,9})?)? ?(Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)?)?$"
)
_EARLIER = "(SELECT ingestion FROM ingestions WHERE path = $1 AND ingestion < $2)"
_NO_ZONE = "date without a time zone"
_NO_SUCH_OUTCOME = "outcome that the programme does not name"
_ADVICE = {
    "no date": "Every row needs a date in the column that log.decided_at names.",
    "date that": "Dates, in the column that log.decided_at names, are written 2013-05-31, or 2013-05-31 14:05+02:00.",
    "no number": "Bins need plain numbers, such as 1234.5 without units; for a column of texts, give values, not bins.",
    "not UTF-8": "Save the file as CSV in UTF-8.",
    "no id": "Every row needs its own id in the column that log.id names; leave log.id out if there is none.",
    _NO_SUCH_OUTCOME: "Name every value of the outcome in log.outcomes, as it stands in the log.",
}
_MALFORMED = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "UNQUOTED VALUE": "quote out of place",
    "LINE SIZE OVER MAXIMUM": "line too long",
    "INVALID ENCODING": "not UTF-8 text",
}


def stage(connection: duckdb.DuckDBPyConnection, layout: Layout, file: File, relation: Relation) -> None:
    """Read a file into the table ``stage``, typed, with the first fault of each row; faulty rows go to ``rejects`` too.

    Parameters
    ----------
    connection
        Of the warehouse, in a transaction.
    layout
        Which columns there are, and what is a missing value.
    file, relation
        The file, and how DuckDB reads it.

    Raises
    ------
    IngestError
        If it cannot be read, or rows would be lost.
    ProgrammeError
        If DuckDB does not know the time zone.
    """
    p = Parameters(relation.parameters)
    cells = {"outcome": layout.outcome, **dict(zip(layout.columns, layout.attributes, strict=True))}
    cells |= {key: name for key, name in (("id", layout.id), ("moment", layout.decided_at)) if name is not None}
    present = f"NOT IN ({p.marks(layout.missing)})" if layout.missing else "IS NOT NULL"
    texts = ", ".join(f"{relation.columns[name]} AS raw_{key}" for key, name in cells.items())
    known = ", ".join(f"CASE WHEN raw_{key} {present} THEN raw_{key} END AS {key}" for key in cells)
    raw = ", ".join(f"{p.mark(name)}, raw_{key}" for key, name in cells.items())
    numbers = {c: name for c, (name, number) in zip(layout.columns, layout.attributes.items(), strict=True) if number}
    parsed = "".join(
        f""", CASE WHEN isfinite(TRY_CAST({c} AS DOUBLE)) AND NOT contains({c}, '_')
              THEN TRY_CAST({c} AS DOUBLE) END AS n{c}"""
        for c in numbers
    )
    shape = day = ""
    decided_on = "NULL::DATE"
    if layout.decided_at is not None:
        shape = f", regexp_extract(moment, '{_DATE}', ['day', 'time', 'seconds', 'zone']) AS shape"
        day = ", TRY_CAST(shape.day AS DATE) AS day"
        decided_on = f"""
            CASE WHEN day BETWEEN DATE '0001-01-02' AND DATE '9998-12-30' THEN
                CASE WHEN shape.zone <> '' THEN (
                    TRY_CAST(concat(shape.day, ' ', shape.time, if(shape.seconds = '', ':00', shape.seconds),
                                    replace(shape.zone, 'Z', '+00')) AS TIMESTAMPTZ)
                    AT TIME ZONE {p.mark(layout.timezone or "UTC")})::DATE
                ELSE day END
            END"""
    faults = {
        "no id": layout.id and "id IS NULL OR id = ''",
        "no date": layout.decided_at and "moment IS NULL OR moment = ''",
        "date that cannot be read": layout.decided_at and "decided_on IS NULL",
        _NO_ZONE: layout.decided_at and layout.timezone is None and "shape.zone = ''",
        "no outcome": "outcome IS NULL",
        _NO_SUCH_OUTCOME: layout.outcomes is not None and f"outcome NOT IN ({p.marks(layout.outcomes)})",
    } | {
        f"no number in '{printable(name)}' (attributes.{printable(name)}.bins)": f"{c} IS NOT NULL AND n{c} IS NULL"
        for c, name in numbers.items()
    }
    judged = " ".join(f"WHEN {fault} THEN {p.mark(reason)}" for reason, fault in faults.items() if fault)
    typed = ", ".join(f"n{c} AS {c}" if c in numbers else c for c in layout.columns)
    try:
        connection.execute(
            f"""
            CREATE TEMP TABLE stage AS
            WITH texts AS (SELECT row_number() OVER () - 1 AS position, {texts} FROM {relation.sql}),
            cells AS (SELECT *, {known} FROM texts),
            shapes AS (SELECT * {shape} FROM cells),
            days AS (SELECT * {day} {parsed} FROM shapes),
            dated AS (SELECT *, {decided_on} AS decided_on FROM days),
            judged AS (SELECT *, CASE {judged} END AS reason FROM dated)
            SELECT position, {"id" if layout.id else "NULL::VARCHAR"} AS id, decided_on, outcome, {typed},
                   reason, CASE WHEN reason IS NOT NULL THEN CAST(json_object({raw}) AS VARCHAR) END AS raw
            FROM judged
            """,
            p,
        )
    except duckdb.NotImplementedException as error:
        if "TimeZone" not in str(error):
            raise
        raise ProgrammeError(f"DuckDB does not know the time zone {layout.timezone}", where="period.timezone") from None
    except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
        if "state machine" in str(error):
            hint = "Write it with one kind of line ending."
            raise IngestError("cannot be read: it mixes line endings", where=str(file.path), hint=hint) from None
        raise IngestError(f"cannot be read as {relation.kind}", where=str(file.path)) from None
    _collect_rejects(connection, file, relation)


def _collect_rejects(connection: duckdb.DuckDBPyConnection, file: File, relation: Relation) -> None:
    connection.execute(
        "CREATE TEMP TABLE rejects (line BIGINT, reason VARCHAR, raw VARCHAR, rows_before BIGINT, again BOOLEAN)"
    )
    if connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'reject_errors'").fetchall():
        p = Parameters()
        cases = " ".join(f"WHEN {p.mark(kind)} THEN {p.mark(reason)}" for kind, reason in _MALFORMED.items())
        connection.execute(
            f"""
            INSERT INTO rejects
            SELECT line, reason, raw, line - {relation.first_line} - row_number() OVER (ORDER BY line) + 1, false
            FROM (SELECT line::BIGINT AS line,
                         min(CASE error_type::VARCHAR {cases} ELSE 'malformed line' END) AS reason,
                         min(ltrim(csv_line, chr(10) || chr(13))) AS raw
                  FROM reject_errors WHERE line >= {relation.first_line} GROUP BY line)
            """,
            p,
        )
    ((swallowed,),) = connection.execute(
        """
        SELECT min(line) FROM rejects
        WHERE reason IN ('quote out of place', 'line too long') AND regexp_matches(raw, '[\r\n].')
        """
    ).fetchall()
    if swallowed is not None:
        raise IngestError(
            "a quote that is never closed, or closed in the wrong place, swallows the lines after it",
            where=f"{file.path}, line {swallowed}",
            hint='A quote within a value is written twice, as in "5"" pipe".',
        )
    relation.prove_whole(connection)
    connection.execute(
        f"""
        INSERT INTO rejects
        SELECT s.position + {relation.first_line}
               + (SELECT count(*) FROM rejects AS r WHERE r.rows_before <= s.position),
               reason, raw, NULL, false
        FROM stage AS s WHERE reason IS NOT NULL
        """
    )


def gate(connection: duckdb.DuckDBPyConnection, programme: Programme, file: File) -> int:
    """Refuse a file with too many faulty rows.

    Parameters
    ----------
    connection
        Of the warehouse, with the file staged.
    programme
        It says how large a share may be faulty.
    file
        The file, for messages.

    Returns
    -------
    How many rows the file has.

    Raises
    ------
    ProgrammeError
        If dates lack a time zone.
    RefusedError
        If a larger share is faulty than ``log.max_quarantined`` allows.
    """
    ((rows,),) = connection.execute(
        "SELECT (SELECT count(*) FROM stage) + (SELECT count(*) FROM rejects WHERE rows_before IS NOT NULL)"
    ).fetchall()
    found: list[tuple[str, int, list[int]]] = connection.execute(
        "SELECT reason, count(*) AS n, min(line, 3) FROM rejects GROUP BY reason ORDER BY n DESC, reason"
    ).fetchall()
    undated = {reason: lines[0] for reason, _, lines in found}.get(_NO_ZONE)
    if undated is not None:
        raise ProgrammeError(
            f"{file.path.name} has dates without a time zone, as in line {undated}: give period.timezone",
            where=f"{programme.path}, period",
            hint="As in period: {every: quarter, timezone: Europe/Berlin}. It says whose days are meant.",
        )
    bad = sum(n for _, n, _ in found)
    if bad and bad > programme.log.max_quarantined * rows:
        outcomes = connection.execute(
            "SELECT outcome, count(*) AS n FROM stage WHERE reason = $1 GROUP BY ALL ORDER BY n DESC, outcome LIMIT 5",
            [_NO_SUCH_OUTCOME],
        ).fetchall()
        unnamed = ", ".join(f"'{printable(outcome)}' ({n:,} rows)" for outcome, n in outcomes)
        raise RefusedError(
            f"{bad:,} of {rows:,} rows cannot be used, more than the share of {programme.log.max_quarantined:g} that "
            "log.max_quarantined allows; nothing of this file was kept",
            where=str(file.path),
            hint="\n".join(
                [f"{reason}: {n:,} rows, first in line {', '.join(map(str, lines))}" for reason, n, lines in found]
                + [told for start, told in _ADVICE.items() if any(reason.startswith(start) for reason, *_ in found)]
            ),
            private=f"Outcomes in the log that log.outcomes does not name: {unnamed}" if unnamed else "",
        )
    return int(rows)


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
    """Add the staged rows to the decisions and the quarantine.

    Parameters
    ----------
    connection
        Of the warehouse, with the file staged.
    layout
        Which columns there are.
    file, ingestion
        The file, and the number of its ingestion.

    Returns
    -------
    How many rows were new decisions, duplicates, corrections and quarantined.
    """
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
    ((good, same, changed, quarantined, again),) = connection.execute(
        """
        WITH old AS (SELECT same FROM repeats WHERE again UNION ALL SELECT same FROM known)
        SELECT (SELECT count(*) FROM stage WHERE reason IS NULL),
               (SELECT count(*) FROM old WHERE same), (SELECT count(*) FROM old WHERE NOT same),
               (SELECT count(*) FROM rejects WHERE NOT again), (SELECT count(*) FROM rejects WHERE again)
        """
    ).fetchall()
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
    """Mark earlier ingestions of the same path as superseded, if the file still holds all of their rows.

    They are then not needed to make the warehouse anew.

    Parameters
    ----------
    connection
        Of the warehouse, with the file staged.
    layout
        Which columns there are.
    file, ingestion
        The file, and the number of its ingestion.
    """
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
