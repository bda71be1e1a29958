"""The rows of one part of the log: typed, dated and judged, and refused if too many are faulty."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import zip_longest

import duckdb

from atr.core.display_text import NOT_MEANT, cleaned, printable
from atr.errors import IngestError, ProgrammeError, RefusedError
from atr.ingest.days import Steps, days, is_moment, moments, revisions
from atr.ingest.forms import refuse_ambiguous_numbers, refuse_other_form
from atr.ingest.numbers import number
from atr.ingest.sources.base import Column, Part, Relation, is_number, is_whole_number, readable
from atr.programme import Programme
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.layout import LAST_BIT, Layout

_HEADER = "header again"
_NO_ZONE = "date without a time zone"
_NO_SUCH_OUTCOME = "outcome that the programme does not name"
_NO_COUNT = "count that is no whole number above 0 and up to 10^12"
_ADVICE = {
    _HEADER: "Files were put together with their headers: leave out the header of all but the first.",
    "no date": "Every row needs a date in the column that log.decided_at names.",
    "date that": "Dates, in the column that log.decided_at names, are written 2013-05-31, or 2013-05-31 14:05+02:00, "
    "or as log.date_format says, with English names of months. Placeholders such as 9999-12-31 are no dates: leave "
    "such rows out. Numbers such as 45658 are days as Excel counts them: format the column as dates, and save it anew.",
    "no number": "Bins need plain numbers, such as 1234.5 without units; for a column of texts, give values, not "
    "bins. Texts that mean that there is no value are named in log.missing.",
    "not UTF-8": "Save the file as CSV in UTF-8.",
    "no id": "Every row needs its own id in the column that log.id names; leave log.id out if there is none.",
    _NO_SUCH_OUTCOME: "Name every value of the outcome in log.outcomes, as it stands in the log.",
    "revision that": "Of rows with one id the highest revision counts: a number, a date or a time.",
    _NO_COUNT: "The column that log.counts names holds how many decisions a row stands for: a whole number above 0.",
}


def read_part(warehouse: Warehouse, programme: Programme, part: Part, file: int) -> None:
    """Read a part of the log into ``log_rows``, each row typed, and as a decision or with the first fault it has.

    Parameters
    ----------
    warehouse
        In a transaction.
    programme
        It says which columns there are, and how large a share of the rows may be faulty.
    part, file
        The part, and its number in the warehouse.

    Raises
    ------
    IngestError
        If it cannot be read, is written in another form than the programme says, or rows would be lost.
    ProgrammeError
        If dates lack a time zone.
    RefusedError
        If a larger share of the rows is faulty than ``log.max_quarantined`` allows.
    """
    connection, layout = warehouse.connection, warehouse.layout()
    with ExitStack() as opened:
        try:
            relation = opened.enter_context(part.open(warehouse, layout.keys))
        except IngestError:
            if part.kind != "database":
                refuse_other_form(warehouse, programme, part)
            raise
        if relation is None:
            return
        connection.execute("CREATE OR REPLACE TEMP TABLE rejects (line BIGINT, reason VARCHAR, raw VARCHAR)")
        with readable(relation.kind, part.where):
            _insert(connection, layout, relation, file)
            ((rows,),) = connection.execute("SELECT count(*) FROM log_rows WHERE file = $1", [file]).fetchall()
            relation.finish(connection, rows)
            _add_rejects(connection, layout, file)
            refuse_ambiguous_numbers(warehouse, programme, part, relation, file)
    refuse_faulty(warehouse, programme, part.name, part, file)


def _insert(connection: duckdb.DuckDBPyConnection, layout: Layout, relation: Relation, file: int) -> None:
    p, form = Parameters(relation.parameters), layout.form
    cells = {"outcome": layout.outcome, **dict(zip(layout.columns, layout.attributes, strict=True))}
    optional = {"id": layout.id, "moment": layout.decided_at, "revised": layout.revision, "counted": layout.counts}
    cells |= {key: name for key, name in optional.items() if name is not None}
    columns = {key: relation.columns[name] for key, name in cells.items()}
    present = f"NOT IN ({p.marks(layout.missing)})" if layout.missing else "IS NOT NULL"
    not_meant = p.mark(NOT_MEANT)
    numbers = {c: name for c, (name, number) in zip(layout.columns, layout.attributes.items(), strict=True) if number}
    plain = {key for key, column in columns.items() if column.type != "VARCHAR"}
    usable = {key for key in plain & {*numbers} if is_number(columns[key].type)}
    usable |= {key for key in plain & {"moment", "revised"} if is_moment(columns[key])}
    usable |= {key for key in plain & {"id"} if is_whole_number(columns[key].type)}
    direct = set[str]() if any(layout.missing) else usable
    texts = ", ".join(
        f"{column.value if key in direct else column.text} AS raw_{key}" for key, column in columns.items()
    )
    clean = ", ".join(
        f"raw_{key} AS clean_{key}"
        if key in plain
        else f"regexp_replace(raw_{key}, {not_meant}, '', 'g') AS clean_{key}"
        for key in cells
    )
    known = ", ".join(
        f"clean_{key} AS {key}" if key in direct else f"CASE WHEN clean_{key} {present} THEN clean_{key} END AS {key}"
        for key in cells
    )
    bits = [
        f"if(raw_{key} <> clean_{key}, {1 << min(i, LAST_BIT)}, 0)" for i, key in enumerate(cells) if key not in plain
    ]
    raw = ", ".join(f"{p.mark(name)}, raw_{key}" for key, name in cells.items())
    parsed = "".join(
        f", CASE WHEN isfinite({c}::DOUBLE) THEN {c}::DOUBLE END AS n{c}"
        if c in direct
        else f", {number(c, None, None) if c in plain else number(c, form['decimal'], form['thousands'])} AS n{c}"
        for c in numbers
    )
    dated, revised = layout.decided_at is not None, layout.revision is not None
    steps = _steps(layout, {key: columns[key] for key in ("moment", "revised") if key in columns}, direct, p)
    whole = "CASE WHEN regexp_full_match(counted, '0*[0-9]{1,13}') THEN counted::BIGINT ELSE 0 END"
    people = f", {whole} AS people" if layout.counts is not None else ""
    faults = {
        _HEADER: not plain and " AND ".join(f"clean_{key} = {p.mark(cleaned(name))}" for key, name in cells.items()),
        "no id": layout.id and ("id IS NULL" if "id" in direct else "id IS NULL OR id = ''"),
        "no date": dated and ("moment IS NULL" if "moment" in direct else "moment IS NULL OR moment = ''"),
        "date that cannot be read": dated and "decided_on IS NULL",
        _NO_ZONE: dated and layout.timezone is None and "NOT moment_zoned",
        "no outcome": "outcome IS NULL",
        _NO_SUCH_OUTCOME: layout.outcomes is not None and f"outcome NOT IN ({p.marks(layout.outcomes)})",
        "revision that is no number, date or time": revised and "revised IS NOT NULL AND revision IS NULL",
        _NO_COUNT: layout.counts and f"people NOT BETWEEN 1 AND {10**12}",
    } | {
        f"no number in '{printable(name)}' (attributes.{printable(name)}.bins)": f"{c} IS NOT NULL AND n{c} IS NULL"
        for c, name in numbers.items()
    }
    faults = {reason: fault for reason, fault in faults.items() if fault}
    numbered = _numbered(connection, faults)
    judged = " ".join(f"WHEN {fault} THEN {numbered[reason]}" for reason, fault in faults.items())
    found = {"file": f"{file}", "line": "line", "fate": "fate", "decided_on": "decided_on", "outcome": "outcome"}
    found |= {c: f"n{c}" if c in numbers else c for c in layout.columns}
    if layout.id is not None:
        whole_id = "id" if "id" in direct else "CASE WHEN TRY_CAST(id AS BIGINT)::VARCHAR = id THEN id::BIGINT END"
        found |= {"id_number": whole_id, "id_text": "NULL" if "id" in direct else f"if({whole_id} IS NULL, id, NULL)"}
    found |= {"revision": "revision", "revised_as": "revised_as"} if revised else {}
    found |= {"people": "if(fate = 0, people, 1)"} if layout.counts is not None else {}
    found["cleaned"] = "bits"
    found["raw"] = f"CASE WHEN fate > 0 THEN CAST(json_object({raw}) AS VARCHAR) END"
    connection.execute(
        f"""
        INSERT INTO log_rows BY NAME
        WITH texts AS (SELECT {relation.line} AS line, {texts} FROM {relation.sql}),
        cleaned AS (SELECT *, {clean} FROM texts),
        cells AS (SELECT *, {known}, {" | ".join(bits) or "0"} AS bits FROM cleaned),
        step0 AS (SELECT * {people} {parsed} FROM cells),
        {steps},
        judged AS (SELECT *, CASE {judged} ELSE 0 END AS fate FROM steps)
        SELECT {", ".join(f"{sql} AS {name}" for name, sql in found.items())} FROM judged
        """,
        p,
    )


def _steps(layout: Layout, columns: dict[str, Column], direct: set[str], p: Parameters) -> str:
    """The tables that find the day of a decision and the revision of a row, one after the other."""
    form = layout.form["date_format"]
    of: dict[str, tuple[Column, str | None]] = {
        key: (column, form) if key in direct or not is_moment(column) else (Column(column.text, column.text), None)
        for key, column in columns.items()
    }
    day: Steps = [{"decided_on": "NULL::DATE"}]
    revision: Steps = []
    if "moment" in of:
        day = moments("moment", *of["moment"], p)
        day += days("moment", layout.timezone, never_zoned=day[-1]["moment_zoned"] == "False")
    if "revised" in of:
        revision = revisions("revised", *of["revised"], p)
    nothing = dict[str, str]()
    each = [one | other for one, other in zip_longest(day, revision, fillvalue=nothing)]
    tables = [", ".join(["*", *(f"{sql} AS {name}" for name, sql in step.items())]) for step in each]
    found = ", ".join(f"step{i + 1} AS (SELECT {table} FROM step{i})" for i, table in enumerate(tables))
    return f"{found}, steps AS (FROM step{len(tables)})"


def _add_rejects(connection: duckdb.DuckDBPyConnection, layout: Layout, file: int) -> None:
    """Quarantine what is no row at all; the lines of faulty rows then count it."""
    reasons = connection.execute("SELECT DISTINCT reason FROM rejects ORDER BY reason").fetchall()
    if not reasons:
        return
    connection.execute(
        """
        UPDATE log_rows SET line = line + moved.shift
        FROM (
            SELECT place, sum((place IS NULL)::INTEGER) OVER (ORDER BY since, place NULLS FIRST) AS shift
            FROM (
                SELECT line - row_number() OVER (ORDER BY line) + 1 AS since, NULL AS place FROM rejects
                UNION ALL SELECT line, rowid FROM log_rows WHERE file = $1 AND fate > 0
            )
        ) AS moved
        WHERE log_rows.rowid = moved.place
        """,
        [file],
    )
    people = ", 1 AS people" if layout.counts is not None else ""
    _numbered(connection, [reason for (reason,) in reasons])
    connection.execute(
        f"""
        INSERT INTO log_rows BY NAME
        SELECT $1 AS file, line, fate, 0 AS cleaned, raw {people}
        FROM rejects JOIN meanings ON reason = meaning ORDER BY line
        """,
        [file],
    )


def _numbered(connection: duckdb.DuckDBPyConnection, reasons: Iterable[str]) -> dict[str, int]:
    """Give each reason why a row is quarantined the number that it has, or gets now, as a fate."""
    numbers: dict[str, int] = dict(connection.execute("SELECT meaning, fate FROM meanings").fetchall())
    for reason in reasons:
        if reason not in numbers:
            numbers[reason] = len(numbers)
            connection.execute("INSERT INTO meanings VALUES ($1, $2)", [numbers[reason], reason])
    return numbers


def refuse_faulty(warehouse: Warehouse, programme: Programme, name: str, part: Part | None, file: int) -> None:
    """Refuse a file of which too many rows are faulty.

    Parameters
    ----------
    warehouse
        With the file read, now or before.
    programme
        It says how large a share may be faulty.
    name, part, file
        The file's name and number, and the part of the log that it is; None if it is kept and gone.

    Raises
    ------
    IngestError
        If it is written in another form than the programme says.
    ProgrammeError
        If dates lack a time zone.
    RefusedError
        If a larger share of the rows is faulty than ``log.max_quarantined`` allows.
    """
    connection, where = warehouse.connection, name if part is None else part.where
    by_fate: dict[int, int] = dict(
        connection.execute("SELECT fate, count(*) FROM log_rows WHERE file = $1 GROUP BY fate", [file]).fetchall()
    )
    rows, bad = sum(by_fate.values()), sum(n for fate, n in by_fate.items() if fate > 2)
    if not bad:
        return
    faults: list[tuple[str, int, list[int]]] = connection.execute(
        "SELECT meaning, count(*) AS n, min(line, 3) FROM log_rows JOIN meanings USING (fate) "
        "WHERE file = $1 AND fate > 2 GROUP BY meaning ORDER BY n DESC, meaning",
        [file],
    ).fetchall()
    undated = {reason: lines[0] for reason, _, lines in faults}.get(_NO_ZONE)
    if undated is not None:
        raise ProgrammeError(
            f"{name} has dates without a time zone{_lines(', as', [undated])}: give period.timezone",
            where=f"{programme.path}, period",
            hint="As in period: {every: quarter, timezone: Europe/Berlin}. It says whose days are meant.",
        )
    too_many = bad > programme.log.max_quarantined * rows
    if part is not None and (bad == rows or too_many):
        refuse_other_form(warehouse, programme, part)
    if too_many:
        said = {reason: texts_of(warehouse, programme, reason, file) for reason, *_ in faults}
        raise RefusedError(
            f"{bad:,} of {rows:,} rows cannot be used, more than the share of {programme.log.max_quarantined:g} that "
            "log.max_quarantined allows; nothing was kept of this reading",
            where=where,
            hint="\n".join(
                [f"{reason}: {n:,} rows{_lines(', first', lines)}" for reason, n, lines in faults]
                + [told for start, told in _ADVICE.items() if any(reason.startswith(start) for reason, *_ in faults)]
            ),
            private="; ".join(f"{reason}: {', '.join(texts.values())}" for reason, texts in said.items() if texts),
        )


def texts_of(warehouse: Warehouse, programme: Programme, reason: str, file: int | None = None) -> dict[str, str]:
    """The commonest texts of the column that a reason of quarantine is about, in the first such rows, of a file or all.

    Each text with itself and its rows in words; nothing where the reason is about no column.
    """
    log = programme.log
    columns = {"outcome that": log.outcome, "date": log.decided_at, "revision": log.revision, "count": log.counts}
    columns |= {f"no number in '{printable(name)}'": name for name in programme.attributes}
    column = next((column for start, column in columns.items() if reason.startswith(start)), None)
    if column is None:
        return {}
    rows = warehouse.query(
        "SELECT raw FROM log_rows JOIN meanings USING (fate) WHERE meaning = $1 AND coalesce(file = $2, true) "
        "AND raw LIKE '{%' ORDER BY file, line LIMIT 1000",
        [reason, file],
    )
    texts = Counter(str(json.loads(raw)[column]) for (raw,) in rows)
    return {text: f"{text!r} ({n:,})" for text, n in texts.most_common(3)}


def _lines(how: str, lines: list[int]) -> str:
    """Say in which lines something is; nothing where rows have no lines."""
    return f"{how} in line {', '.join(map(str, lines))}" if any(lines) else ""
