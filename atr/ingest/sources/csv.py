"""CSV files, packed by gzip or not: their header, their lines, and how DuckDB reads them."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import duckdb
import numpy as np

from atr.errors import IngestError
from atr.ingest.sources.base import Column, Needed, Relation, literally, require_columns
from atr.programme.log import Log
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.store import os_faults

_DELIMITERS = (",", ";", "\t", "|")
_MALFORMED = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "UNQUOTED VALUE": "quote out of place",
    "LINE SIZE OVER MAXIMUM": "line too long",
    "INVALID ENCODING": "not UTF-8 text",
}


@contextmanager
def relation(path: Path, log: Log, warehouse: Warehouse, needed: Needed) -> Iterator[Relation | None]:
    """Open a CSV file for DuckDB to read; see :class:`atr.ingest.sources.base.Part`.

    It must be whole: DuckDB reads half a gzip file in silence.
    """
    try:
        with _unpacked(path) as stream:
            header = _header(stream.read(1 << 20), path, needed)
            stream.seek(0)
            line_end, lines, mixed = _lines(stream)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise IngestError("is not a whole gzip file", where=str(path)) from None
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    if header is None:
        yield None
        return
    names, delimiter, blank = header
    with warehouse.scratch() as copy:
        address, packing = literally(path), "gzip" if _is_gzip(path) else "none"
        if mixed:
            with os_faults(warehouse.path or path), _unpacked(path) as stream:
                _even_out(stream, copy, delimiter)
                copy.flush()
            address, packing = f"/dev/fd/{copy.fileno()}", "none"
        for table in ("reject_errors", "reject_scans"):  # of the file before
            warehouse.connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
        p = Parameters()
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
        # `parallel` keeps its default: with false, DuckDB 1.5 drops what follows an open quote and records no reject.
        # `nullstr` is a text that no file has: which texts are missing is decided later, for every kind of file.
        sql = f"""read_csv(
            {p.mark(address)}, columns = {{{columns}}}, auto_detect = false, header = true, skip = {blank},
            delim = {p.mark(delimiter)}, quote = '"', escape = '"', strict_mode = true,
            compression = '{packing}', hive_partitioning = false,
            nullstr = [{p.mark(chr(1) + "no value" + chr(2))}], store_rejects = true, rejects_limit = 0)"""

        def finish(connection: duckdb.DuckDBPyConnection, read: int) -> None:
            """Add up the lines: in some malformed files DuckDB drops rows and records no reject."""
            rows = read + _collect_rejects(connection, path, blank + 2)
            if rows >= lines - blank - 1:
                return
            breaks = f"len({{0}}) - len(replace({{0}}, chr({line_end[0]}), ''))".format
            cells = " + ".join(breaks(f"c{i}") for i in range(len(names)))
            ((in_rows,),) = connection.execute(f"SELECT coalesce(sum({cells}), 0) FROM {sql}", p).fetchall()
            ((in_rejects,),) = connection.execute(f"SELECT coalesce(sum({breaks('raw')}), 0) FROM rejects").fetchall()
            with _unpacked(path) as stream:
                texts = stream if line_end == b"\n" else stream.read().split(line_end)
                empty = sum(not text.strip() for text in texts)
            if rows + in_rows + in_rejects + empty < lines - 1:
                raise IngestError(
                    "has lines that DuckDB passes over in silence",
                    where=str(path),
                    hint="Write it as plain CSV in UTF-8, with one kind of line ending, no blank lines and every quote "
                    "closed.",
                )

        found = {name: Column(f"c{names.index(name)}", f"c{names.index(name)}") for name in needed}
        yield Relation(sql, p, found, "CSV", f"row_number() OVER () + {blank + 1}", finish=finish)


def _collect_rejects(connection: duckdb.DuckDBPyConnection, path: Path, first_line: int) -> int:
    """Put the lines that are no rows into ``rejects``, and tell how many there are."""
    p = Parameters()
    cases = " ".join(f"WHEN {p.mark(kind)} THEN {p.mark(reason)}" for kind, reason in _MALFORMED.items())
    connection.execute(
        f"""
        INSERT INTO rejects
        SELECT line::BIGINT, min(CASE error_type::VARCHAR {cases} ELSE 'malformed line' END),
               min(ltrim(csv_line, chr(10) || chr(13)))
        FROM reject_errors WHERE line >= {p.mark(first_line)} GROUP BY line
        """,
        p,
    )
    ((swallowed, rejects),) = connection.execute(
        """
        SELECT min(line) FILTER (reason IN ('quote out of place', 'line too long') AND regexp_matches(raw, '[\r\n].')),
               count(*)
        FROM rejects
        """
    ).fetchall()
    if swallowed is not None:
        raise IngestError(
            "a quote that is never closed, or closed in the wrong place, swallows the lines after it",
            where=f"{path}, line {swallowed}",
            hint='A quote within a value is written twice, as in "5"" pipe".',
        )
    return int(rejects)


def _unpacked(path: Path) -> gzip.GzipFile | IO[bytes]:
    return gzip.open(path) if _is_gzip(path) else path.open("rb")


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _header(content: bytes, path: Path, needed: Needed) -> tuple[list[str], str, int] | None:
    """The column names, the delimiter, and the number of blank lines above them; None in a file without text."""
    if content.startswith(b"PK\x03\x04"):
        raise IngestError(
            "is a zip or Excel file", where=str(path), hint="Save it as CSV in UTF-8, and name that file."
        )
    whole = content.decode("utf-8-sig", errors="surrogateescape")
    text = whole.lstrip("\r\n")
    if not text.strip("\ufeff \t\r\n"):
        return None
    found: list[tuple[int, int, str, list[str]]] = []
    for delimiter in _DELIMITERS:
        try:
            names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error:
            continue
        found.append((sum(name in names for name in needed), len(names), delimiter, names))
    if not found or re.search("[\udc80-\udcff\0]", "".join(found[0][3])):
        raise IngestError("the header is not UTF-8 text", where=str(path), hint="Save the file as CSV in UTF-8.")
    _, _, delimiter, names = max(found, key=lambda f: f[:2])
    require_columns(needed, names, str(path))
    return names, delimiter, len(re.findall(r"\r\n|\r|\n", whole[: len(whole) - len(text)]))


def _lines(stream: gzip.GzipFile | IO[bytes]) -> tuple[bytes, int, bool]:
    """What lines end in, how many there are, and whether some, or some line breaks within quotes, end otherwise."""
    ends, last = np.zeros(3, dtype=np.int64), b""
    while chunk := stream.read(1 << 20):
        while chunk.endswith(b"\r") and (more := stream.read(1)):
            chunk += more
        ends += [chunk.count(end) for end in (b"\n", b"\r", b"\r\n")]
        last = chunk[-1:]
    newlines, returns, both = ends.tolist()
    end = b"\n" if newlines else b"\r"
    return end, (newlines or returns) + (last not in (b"", end)), 0 < both < newlines


def _even_out(stream: gzip.GzipFile | IO[bytes], copy: IO[bytes], delimiter: str) -> None:
    """Copy CSV with LF for each CRLF that ends a row; line breaks within quotes stay as they are.

    What counts as quoted is what DuckDB takes for it. Where a malformed row makes that differ, CRLF is left, which
    DuckDB refuses.
    """
    start = rb"(^(?:\xef\xbb\xbf)?|" + re.escape(delimiter.encode()) + rb') *"'
    closed, opened = re.compile(start + rb'[^"]*+(?:""[^"]*+)*+"'), re.compile(start)
    quoted = False
    for line in stream:
        if quoted or b'"' in line:
            rest = closed.sub(rb"\1_", b'"' + line if quoted else line)
            quoted = opened.search(rest) is not None
        copy.write(line[:-2] + b"\n" if not quoted and line.endswith(b"\r\n") else line)
