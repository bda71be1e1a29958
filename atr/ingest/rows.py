"""The rows of one file: typed, dated and judged, and the gate that a file with too many faults does not pass."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

from collections.abc import Iterable

import duckdb

from atr.core.display_text import printable
from atr.errors import IngestError, ProgrammeError, RefusedError
from atr.ingest.files import File, Relation, unpacked
from atr.programme import Programme
from atr.warehouse.connection import Layout, Parameters

_DATE = (
    r"^(\d{4}-\d\d-\d\d)"
    r"(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,9})?)? ?(Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)?)?$"
)
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
    """Read the file into ``stage``, typed, with the first fault of each row; what is faulty goes to ``rejects``."""
    p = Parameters(relation.parameters)
    present = f"NOT IN ({p.marks(layout.missing)})" if layout.missing else "IS NOT NULL"
    cells = {"outcome": layout.outcome, **dict(zip(layout.columns, layout.attributes, strict=True))}
    cells |= {key: name for key, name in (("id", layout.id), ("moment", layout.decided_at)) if name is not None}
    texts = [f"{relation.columns[name]} AS raw_{key}" for key, name in cells.items()]
    known = [f"CASE WHEN raw_{key} {present} THEN raw_{key} END AS {key}" for key in cells]
    faults: list[str] = []
    decided_on = "NULL::DATE"
    if layout.id is not None:
        faults.append("WHEN id IS NULL OR id = '' THEN 'no id'")
    if layout.decided_at is not None:
        zone = p.mark(layout.timezone or "UTC")
        decided_on = f"""
            CASE WHEN day BETWEEN DATE '0001-01-02' AND DATE '9998-12-30' THEN
                CASE WHEN shape.zone <> '' THEN (
                    TRY_CAST(concat(shape.day, ' ', shape.time, if(shape.seconds = '', ':00', shape.seconds),
                                    replace(shape.zone, 'Z', '+00')) AS TIMESTAMPTZ) AT TIME ZONE {zone})::DATE
                ELSE day END
            END"""
        faults.append("WHEN moment IS NULL OR moment = '' THEN 'no date'")
        faults.append("WHEN decided_on IS NULL THEN 'date that cannot be read'")
        if layout.timezone is None:
            faults.append(f"WHEN shape.zone = '' THEN '{_NO_ZONE}'")
    faults.append("WHEN outcome IS NULL THEN 'no outcome'")
    if layout.outcomes is not None:
        named = p.marks(layout.outcomes)
        faults.append(f"WHEN outcome NOT IN ({named}) THEN {p.mark(_NO_SUCH_OUTCOME)}")
    typed = []
    for column, (name, number) in zip(layout.columns, layout.attributes.items(), strict=True):
        typed.append(f"n{column} AS {column}" if number else column)
        if number:
            reason = p.mark(f"no number in '{printable(name)}' (attributes.{printable(name)}.bins)")
            faults.append(f"WHEN {column} IS NOT NULL AND n{column} IS NULL THEN {reason}")
    numbers = [
        f""", CASE WHEN isfinite(TRY_CAST({c} AS DOUBLE)) AND NOT contains({c}, '_')
              THEN TRY_CAST({c} AS DOUBLE) END AS n{c}"""
        for c, number in zip(layout.columns, layout.attributes.values(), strict=True)
        if number
    ]
    shape = day = ""
    if layout.decided_at is not None:
        shape = f", regexp_extract(moment, '{_DATE}', ['day', 'time', 'seconds', 'zone']) AS shape"
        day = ", TRY_CAST(shape.day AS DATE) AS day"
    raw = ", ".join(f"{p.mark(name)}, raw_{key}" for key, name in cells.items())
    try:
        connection.execute(
            f"""
            CREATE TEMP TABLE stage AS
            WITH texts AS (SELECT row_number() OVER () - 1 AS position, {", ".join(texts)} FROM {relation.sql}),
            cells AS (SELECT *, {", ".join(known)} FROM texts),
            shapes AS (SELECT * {shape} FROM cells),
            days AS (SELECT * {day} {"".join(numbers)} FROM shapes),
            dated AS (SELECT *, {decided_on} AS decided_on FROM days),
            judged AS (SELECT *, CASE {" ".join(faults)} END AS reason FROM dated)
            SELECT position, {"id" if layout.id else "NULL::VARCHAR"} AS id, decided_on, outcome, {", ".join(typed)},
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
        kind = "CSV" if relation.width else "Parquet"
        raise IngestError(f"cannot be read as {kind}", where=str(file.path)) from None
    _collect_rejects(connection, file, relation)


def _collect_rejects(connection: duckdb.DuckDBPyConnection, file: File, relation: Relation) -> None:
    connection.execute(
        "CREATE TEMP TABLE rejects (line BIGINT, reason VARCHAR, raw VARCHAR, rows_before BIGINT, again BOOLEAN)"
    )
    has_rejects = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'reject_errors'").fetchone()
    if has_rejects:
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
    swallowed = connection.execute(
        """
        SELECT min(line) FROM rejects
        WHERE reason IN ('quote out of place', 'line too long') AND regexp_matches(raw, '[\r\n].')
        """
    ).fetchone()
    if swallowed and swallowed[0] is not None:
        raise IngestError(
            "a quote that is never closed, or closed in the wrong place, swallows the lines after it",
            where=f"{file.path}, line {swallowed[0]}",
            hint='A quote within a value is written twice, as in "5"" pipe".',
        )
    if relation.width:
        _see_that_no_line_is_lost(connection, file, relation)
    connection.execute(
        f"""
        INSERT INTO rejects
        SELECT s.position + {relation.first_line}
               + (SELECT count(*) FROM rejects AS r WHERE r.rows_before <= s.position),
               reason, raw, NULL, false
        FROM stage AS s WHERE reason IS NOT NULL
        """
    )


def _see_that_no_line_is_lost(connection: duckdb.DuckDBPyConnection, file: File, relation: Relation) -> None:
    """Add up the lines: in some malformed files DuckDB drops rows and records no reject."""
    above = relation.first_line - 1
    found = "(SELECT count(*) FROM stage) + (SELECT count(*) FROM rejects)"
    (rows,) = connection.execute(f"SELECT {found}").fetchone() or (0,)
    if rows >= file.lines - above:
        return

    def breaks(cell: str) -> str:
        return f"len({cell}) - len(replace({cell}, chr({file.line_end[0]}), ''))"

    within = " + ".join(breaks(f"c{i}") for i in range(relation.width))
    (in_rows,) = connection.execute(
        f"SELECT coalesce(sum({within}), 0) FROM {relation.sql}", relation.parameters
    ).fetchone() or (0,)
    (in_rejects,) = connection.execute(f"SELECT coalesce(sum({breaks('raw')}), 0) FROM rejects").fetchone() or (0,)
    with unpacked(file.path) as stream:
        text = stream if file.line_end == b"\n" else stream.read().split(b"\r")
        blank = sum(not line.strip() for line in text)
    if rows + in_rows + in_rejects + blank < file.lines - 1:
        raise IngestError(
            "has lines that DuckDB passes over in silence",
            where=str(file.path),
            hint="Write it as plain CSV in UTF-8, with one kind of line ending, no blank lines and every quote closed.",
        )


def gate(connection: duckdb.DuckDBPyConnection, programme: Programme, file: File) -> int:
    """Refuse a file with too many faults; returns its number of rows."""
    (rows,) = connection.execute(
        "SELECT (SELECT count(*) FROM stage) + (SELECT count(*) FROM rejects WHERE rows_before IS NOT NULL)"
    ).fetchone() or (0,)
    found: list[tuple[str, int, list[int]]] = connection.execute(
        "SELECT reason, count(*) AS n, min(line, 3) FROM rejects GROUP BY reason ORDER BY n DESC, reason"
    ).fetchall()
    for reason, _, lines in found:
        if reason == _NO_ZONE:
            raise ProgrammeError(
                f"{file.path.name} has dates without a time zone, as in line {lines[0]}: give period.timezone",
                where=f"{programme.path}, period",
                hint="As in period: {every: quarter, timezone: Europe/Berlin}. It says whose days are meant.",
            )
    bad = sum(n for _, n, _ in found)
    if bad and bad > programme.log.max_quarantined * rows:
        raise RefusedError(
            f"{bad:,} of {rows:,} rows cannot be used, more than the share of {programme.log.max_quarantined:g} that "
            "log.max_quarantined allows; nothing of this file was kept",
            where=str(file.path),
            hint="\n".join(
                [f"{reason}: {n:,} rows, first in line {_listed(lines)}" for reason, n, lines in found]
                + list(dict.fromkeys(advice for reason, *_ in found for advice in _advice(reason)))
            ),
            private=_unnamed_outcomes(connection),
        )
    return int(rows)


def _advice(reason: str) -> list[str]:
    return [advice for beginning, advice in _ADVICE.items() if reason.startswith(beginning)]


def _unnamed_outcomes(connection: duckdb.DuckDBPyConnection) -> str:
    """The most frequent outcomes that the programme does not name: one of them may be misspelt there."""
    found = connection.execute(
        "SELECT outcome, count(*) AS n FROM stage WHERE reason = $1 GROUP BY outcome ORDER BY n DESC, outcome LIMIT 5",
        [_NO_SUCH_OUTCOME],
    ).fetchall()
    named = ", ".join(f"'{printable(outcome)}' ({n:,} rows)" for outcome, n in found)
    return f"Outcomes in the log that log.outcomes does not name: {named}" if named else ""


def _listed(lines: Iterable[int]) -> str:
    return ", ".join(str(line) for line in lines)
