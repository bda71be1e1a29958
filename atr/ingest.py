"""From decision logs to the warehouse: every row becomes a decision, a duplicate, a correction, or is quarantined."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import csv
import difflib
import glob
import gzip
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

import duckdb

from atr.errors import AtrError, IngestError, ProgrammeError, RefusedError
from atr.programme import Programme, printable
from atr.warehouse import Layout, Parameters, Warehouse

_DATE = (
    r"^(\d{4}-\d\d-\d\d)"
    r"(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,9})?)? ?(Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)?)?$"
)
_PARQUET = (".parquet", ".pq")
_NO_ZONE = "date without a time zone"
_DELIMITERS = (",", ";", "\t", "|")
_MALFORMED = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "UNQUOTED VALUE": "quote out of place",
    "LINE SIZE OVER MAXIMUM": "line too long",
    "INVALID ENCODING": "not UTF-8 text",
}


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


@dataclass(frozen=True)
class _File:
    path: Path
    name: str
    size: int
    sha256: str
    line_end: bytes
    lines: int


@dataclass(frozen=True)
class _Relation:
    """A file as DuckDB reads it: what stands after FROM, and the text of each needed column."""

    sql: str
    parameters: Parameters
    columns: dict[str, str]
    first_line: int
    width: int
    """Columns of a CSV file, all of them; 0 for other files."""


def ingest(warehouse: Warehouse, programme: Programme) -> Accounting:
    """Bring the warehouse up to date with the files that ``log.source`` matches.

    Each file is one transaction: a run that is killed leaves the warehouse as it was before that file. A file that was
    ingested before adds nothing, whatever it is called now. If the programme reads other columns than before, the
    warehouse is made anew from the same files.

    Raises
    ------
    IngestError
        If there is no file, or one cannot be read or does not fit the programme.
    ProgrammeError
        If the programme does not fit the log; see :func:`check_log`.
    RefusedError
        If too large a share of a file would be quarantined; nothing of that file is kept.
    """
    files = [_fingerprint(path, programme) for path in _matches(programme)]
    layout, made_for = Layout.of(programme), warehouse.layout_or_none()
    first_time = made_for is None
    if made_for is None:
        with warehouse.transaction():
            warehouse.prepare(layout)
    elif made_for != layout:
        _rebuild(warehouse, programme, layout)
    known = {sha256 for (sha256,) in warehouse.query("SELECT sha256 FROM ingestions")}
    for file in files:
        if file.sha256 not in known:
            with warehouse.transaction():
                _ingest_file(warehouse, programme, file)
            known.add(file.sha256)
    try:
        check_log(warehouse, programme)
    except AtrError:
        if first_time:
            with warehouse.transaction():
                warehouse.forget()
        raise
    _prove_unique(warehouse, layout)
    warehouse.checkpoint()
    return accounting(warehouse)


def accounting(warehouse: Warehouse) -> Accounting:
    """What became of every row that was ever read."""
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


def _prove_unique(warehouse: Warehouse, layout: Layout) -> None:
    if layout.id is not None:
        twice = warehouse.query("SELECT 1 FROM decisions GROUP BY id HAVING count(*) > 1 LIMIT 1")
        assert not twice, "an id stands for two decisions"


def check_log(warehouse: Warehouse, programme: Programme) -> None:
    """Hold the programme against all that was ingested.

    Raises
    ------
    ProgrammeError
        If an outcome never occurs, more than two are not grouped, a number has no bins, or a reference is nobody's.
    IngestError
        If the log has no decisions.
    """
    layout = warehouse.layout()
    if not warehouse.query("SELECT 1 FROM decisions LIMIT 1"):
        raise IngestError("the log has no decisions", where=f"{programme.path}, log.source")
    _check_outcomes(warehouse, programme)
    for name, attribute in programme.attributes.items():
        column, where = layout.column(name), f"{programme.path}, attributes.{name}"
        if attribute.bins is None and attribute.values is None:
            ((numeric,),) = warehouse.query(
                f"""
                SELECT bool_and(regexp_full_match(raw, $1))
                FROM (SELECT DISTINCT {column} AS raw FROM decisions WHERE {column} IS NOT NULL)
                """,
                [r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?"],
            )
            if numeric:
                raise ProgrammeError(
                    "every value in the log is a number: give bins, or list its values",
                    where=where,
                    hint='As in bins: [1, 4, 11], or values: {"0": no, "1": yes}.',
                )
        if attribute.reference is not None and not _occurs(warehouse, programme, name, attribute.reference):
            raise ProgrammeError("the reference occurs nowhere in the log", where=f"{where}.reference")


def _check_outcomes(warehouse: Warehouse, programme: Programme) -> None:
    log, where = programme.log, f"{programme.path}, log"
    raws = [raw for (raw,) in warehouse.query("SELECT DISTINCT outcome FROM decisions ORDER BY outcome LIMIT 50")]
    private = f"The outcomes in the log: {', '.join(printable(raw) for raw in raws)}"
    if log.outcomes is None:
        if len(raws) > 2:
            raise ProgrammeError(
                f"the log has {'50 or more' if len(raws) == 50 else len(raws)} outcomes, and a report of more than two "
                "is not supported yet",
                where=f"{where}.outcomes",
                hint="Group them into two, as in outcomes: {granted: [yes, partly], refused: [no]}.",
                private=private,
            )
        occurring = {printable(raw) for raw in raws}
    else:
        occurring = {name for name, group in log.outcomes.items() if set(group) & set(raws)}
    if log.positive not in occurring:
        raise ProgrammeError("this outcome never occurs in the log", where=f"{where}.positive", private=private)
    if len(occurring) == 1:
        raise ProgrammeError(
            "the log has one outcome only, so there is nothing to report on",
            where=f"{where}.{'outcome' if log.outcomes is None else 'outcomes'}",
        )


def _occurs(warehouse: Warehouse, programme: Programme, name: str, reference: str) -> bool:
    attribute, column = programme.attributes[name], warehouse.layout().column(name)
    if attribute.bins is not None:
        i = attribute.categories.index(reference)
        low, high = (float("-inf"), *attribute.bins)[i], (*attribute.bins, float("inf"))[i]
        sql = f"SELECT 1 FROM decisions WHERE {column} >= $1 AND {column} < $2 LIMIT 1"
        return bool(warehouse.query(sql, [low, high]))
    shown = attribute.shown(reference)
    raws = warehouse.query(f"SELECT DISTINCT {column} FROM decisions WHERE {column} IS NOT NULL")
    return any(attribute.shown(raw) == shown for (raw,) in raws)


# --- files -----------------------------------------------------------------------------------------------------


def _matches(programme: Programme) -> list[Path]:
    base, source = programme.path.parent, Path(programme.log.source).expanduser()
    if (base / source).is_file():
        return [base / source]
    found = glob.glob(os.path.join(glob.escape(str(base)), source), recursive=True)  # noqa: PTH118, PTH207 - absolute patterns
    files = sorted(Path(path) for path in found if Path(path).is_file())
    if not files:
        raise IngestError(
            f"there is no file {programme.log.source}",
            where=f"{programme.path}, log.source",
            hint="Paths are relative to the programme file.",
        )
    return files


def _fingerprint(path: Path, programme: Programme) -> _File:
    """Hash a file and count its lines, and see that it is whole: DuckDB reads half a gzip file without a word."""
    hashed, size, ends, last = hashlib.sha256(), 0, {b"\n": 0, b"\r": 0}, b""
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                hashed.update(chunk)
                size += len(chunk)
        if path.suffix.lower() not in _PARQUET:
            with _bytes(path) as unpacked:
                while chunk := unpacked.read(1 << 20):
                    last = chunk[-1:]
                    for end in ends:
                        ends[end] += chunk.count(end)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise IngestError("is not a whole gzip file", where=str(path)) from error
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    line_end = b"\n" if ends[b"\n"] else b"\r"
    lines = ends[line_end] + (last not in (b"", line_end))
    base = programme.path.parent
    name = os.path.relpath(path, base).replace(os.sep, "/")
    return _File(path, name, size, hashed.hexdigest(), line_end, lines)


def _bytes(path: Path) -> gzip.GzipFile | IO[bytes]:
    return gzip.open(path) if _is_gzip(path) else path.open("rb")


def _rebuild(warehouse: Warehouse, programme: Programme, layout: Layout) -> None:
    base, files = programme.path.parent, []
    for name, sha256 in warehouse.query("SELECT path, sha256 FROM ingestions WHERE NOT superseded ORDER BY ingestion"):
        path = base / name
        file = _fingerprint(path, programme) if path.is_file() else None
        if file is None or file.sha256 != sha256:
            raise IngestError(
                "the programme reads other columns than the warehouse was made with, so all files have to be read "
                f"again, and this one {'is gone' if file is None else 'was changed since'}",
                where=str(path),
                hint=f"Put the file back as it was, or undo the change in {programme.path}. To start anew with the "
                "files that are there, give it another store. Nothing was changed.",
            )
        files.append(file)
    with warehouse.transaction():
        warehouse.prepare(layout)
        for file in files:
            _ingest_file(warehouse, programme, file)


def _ingest_file(warehouse: Warehouse, programme: Programme, file: _File) -> None:
    connection = warehouse.connection
    layout = warehouse.layout()
    ((ingestion,),) = warehouse.query("SELECT coalesce(max(ingestion), 0) + 1 FROM ingestions")
    needed = [c for c in (layout.id, layout.decided_at, layout.outcome, *layout.attributes) if c is not None]
    if file.path.suffix.lower() in _PARQUET:
        relation: _Relation | None = _parquet(connection, file.path, needed)
    else:
        relation = _csv(file.path, needed)
    rows = 0
    if relation is not None:
        _stage(connection, layout, file, relation)
        rows = _gate(connection, programme, file)
    if _fingerprint_changed(file):
        raise IngestError("was changed while it was read", where=str(file.path), hint="Start again.")
    counts = _merge(connection, layout, file, ingestion) if rows else (0, 0, 0, 0)
    connection.execute(
        "INSERT INTO ingestions VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, false, $10)",
        [
            ingestion, file.name, file.size, file.sha256, rows, *counts,
            datetime.now().astimezone().isoformat(timespec="seconds"),
        ],
    )  # fmt: skip
    if rows:
        _supersede(connection, layout, file, ingestion)
    for table in ("stage", "rejects", "repeats", "known", "reject_errors", "reject_scans"):
        connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def _fingerprint_changed(file: _File) -> bool:
    try:
        with file.path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() != file.sha256
    except OSError:
        return True


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _csv(path: Path, needed: list[str]) -> _Relation | None:
    try:
        with _bytes(path) as stream:
            header = _header(stream, path, needed)
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    if header is None:
        return None
    names, delimiter, blank = header
    p = Parameters()
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    # `parallel` stays at its default: with false, DuckDB 1.5 drops what follows an open quote and records no reject.
    # `nullstr` is a text that no file has: which texts are missing is decided later, for every kind of file alike.
    sql = f"""read_csv(
        {p.mark(_literally(path))}, columns = {{{columns}}}, auto_detect = false, header = true, skip = {blank},
        delim = {p.mark(delimiter)}, quote = '"', escape = '"', strict_mode = true,
        compression = '{"gzip" if _is_gzip(path) else "none"}', hive_partitioning = false,
        nullstr = [{p.mark(chr(1) + "no value" + chr(2))}], store_rejects = true, rejects_limit = 0)"""
    return _Relation(sql, p, {name: f"c{names.index(name)}" for name in needed}, first_line=blank + 2, width=len(names))


def _header(stream: gzip.GzipFile | IO[bytes], path: Path, needed: list[str]) -> tuple[list[str], str, int] | None:
    """The column names, the delimiter, and the number of blank lines above them; None in a file without text."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="").read(1 << 20)
    above = text[: len(text) - len(text.lstrip("\r\n"))]
    text, blanks = text[len(above) :], len(re.findall(r"\r\n|\r|\n", above))
    if not text.strip("\ufeff \t\r\n"):
        return None
    found: list[tuple[int, int, str, list[str]]] = []
    for delimiter in _DELIMITERS:
        try:
            names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error:
            continue
        found.append((sum(name in names for name in needed), len(names), delimiter, names))
    if not found or any("\udc80" <= char <= "\udcff" or char == "\0" for name in found[0][3] for char in name):
        raise IngestError("the header is not UTF-8 text", where=str(path), hint="Save the file as CSV in UTF-8.")
    _, _, delimiter, names = max(found, key=lambda f: f[:2])
    _find(needed, names, path)
    return names, delimiter, blanks


def _find(needed: list[str], names: list[str], path: Path) -> None:
    missing = [name for name in needed if name not in names]
    if missing:
        near = {name: difflib.get_close_matches(name, names, n=2, cutoff=0.5) for name in missing}
        folded = {name: [n for n in names if n.strip().casefold() == name.strip().casefold()] for name in missing}
        text = "; ".join(
            f"there is no column '{printable(name)}'"
            + ("".join(f", but '{printable(n)}'" for n in (folded[name] or near[name])[:1]))
            for name in missing
        )
        some = ", ".join(printable(name) for name in names[:30]) + (", …" if len(names) > 30 else "")
        raise IngestError(text, where=str(path), hint=f"Its columns are {some}.")
    for name in needed:
        if names.count(name) > 1:
            raise IngestError(f"the column '{printable(name)}' stands there {names.count(name)} times", where=str(path))


def _literally(path: Path) -> str:
    """The path with nothing in it that DuckDB would take for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _parquet(connection: duckdb.DuckDBPyConnection, path: Path, needed: list[str]) -> _Relation:
    p = Parameters([_literally(path)])
    try:
        elements = connection.execute("SELECT name, num_children FROM parquet_schema($1)", p).fetchall()
        types = connection.execute("DESCRIBE FROM read_parquet($1, hive_partitioning = false)", p).fetchall()
    except (duckdb.InvalidInputException, duckdb.IOException) as error:
        raise IngestError("is not a Parquet file that can be read", where=str(path)) from error
    names: list[str] = []
    position = 1
    for _ in range(elements[0][1] or 0):
        names.append(elements[position][0])
        open_children = 1
        while open_children:
            open_children += (elements[position][1] or 0) - 1
            position += 1
    _find(needed, names, path)
    columns = {}
    for name in needed:
        i = names.index(name)
        kind: str = types[i][1]
        if kind.startswith(("STRUCT", "MAP", "UNION", "BLOB", "GEOMETRY", "VARIANT")) or kind.endswith("]"):
            what = f"the column '{printable(name)}' holds {kind.split('(')[0]}, not plain values"
            raise IngestError(what, where=str(path))
        text = f"CAST(c{i} AS VARCHAR)"
        if kind.startswith(("DECIMAL", "DOUBLE", "FLOAT")):
            text = rf"regexp_replace(regexp_replace({text}, '(\.\d*?)0+$', '\1'), '\.$', '')"
        columns[name] = text
    aliases = ", ".join(f"c{i}" for i in range(len(names)))
    return _Relation(
        f"read_parquet($1, hive_partitioning = false) AS file({aliases})", p, columns, first_line=1, width=0
    )


# --- rows ------------------------------------------------------------------------------------------------------


def _stage(connection: duckdb.DuckDBPyConnection, layout: Layout, file: _File, relation: _Relation) -> None:
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
        faults.append(f"WHEN outcome NOT IN ({named}) THEN 'outcome that the programme does not name'")
    typed = []
    for column, (name, number) in zip(layout.columns, layout.attributes.items(), strict=True):
        typed.append(f"n{column} AS {column}" if number else column)
        if number:
            reason = p.mark(f"no number in '{printable(name)}'")
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
        hint = "Write it with one kind of line ending." if "state machine" in str(error) else ""
        cause = "it mixes line endings" if hint else str(error).splitlines()[0]
        raise IngestError(f"cannot be read ({cause})", where=str(file.path), hint=hint) from error
    _collect_rejects(connection, file, relation)


def _collect_rejects(connection: duckdb.DuckDBPyConnection, file: _File, relation: _Relation) -> None:
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


def _see_that_no_line_is_lost(connection: duckdb.DuckDBPyConnection, file: _File, relation: _Relation) -> None:
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
    with _bytes(file.path) as stream:
        text = stream if file.line_end == b"\n" else stream.read().split(b"\r")
        blank = sum(not line.strip() for line in text)
    if rows + in_rows + in_rejects + blank < file.lines - 1:
        raise IngestError(
            "has lines that DuckDB passes over in silence",
            where=str(file.path),
            hint="Write it as plain CSV in UTF-8, with one kind of line ending, no blank lines and every quote closed.",
        )


def _gate(connection: duckdb.DuckDBPyConnection, programme: Programme, file: _File) -> int:
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
            hint="\n".join(f"{reason}: {n:,} rows, first in line {_listed(lines)}" for reason, n, lines in found),
        )
    return int(rows)


def _listed(lines: Iterable[int]) -> str:
    return ", ".join(str(line) for line in lines)


def _same(layout: Layout, a: str, b: str) -> str:
    return " AND ".join(f"{a}.{c} IS NOT DISTINCT FROM {b}.{c}" for c in ("decided_on", "outcome", *layout.columns))


_EARLIER = "(SELECT ingestion FROM ingestions WHERE path = $1 AND ingestion < $2)"


def _same_decision(layout: Layout) -> str:
    """Whether the stored decision ``d`` is the staged row ``s``: by id, or without one by place and content."""
    if layout.id is not None:
        return "d.id = s.id"
    return f"d.position = s.position AND d.ingestion IN {_EARLIER} AND {_same(layout, 'd', 's')}"


def _merge(
    connection: duckdb.DuckDBPyConnection, layout: Layout, file: _File, ingestion: int
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


def _supersede(connection: duckdb.DuckDBPyConnection, layout: Layout, file: _File, ingestion: int) -> None:
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
