"""CSV files: their header, their lines, and how DuckDB reads them."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO

import duckdb
import numpy as np

from atr.errors import IngestError
from atr.ingest.sources.base import Column, Needed, Relation, require_columns
from atr.ingest.sources.encodings import likely, recode
from atr.ingest.sources.packed import unpacked
from atr.ingest.sources.rows import NO_VALUE
from atr.programme.log import Log
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.store import os_faults

DELIMITERS = (",", ";", "\t", "|")
"""Of these the header tells which one is meant."""
_MALFORMED = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "UNQUOTED VALUE": "quote out of place",
    "LINE SIZE OVER MAXIMUM": "line too long",
    "INVALID ENCODING": "not UTF-8 text",
}


@contextmanager
def relation(path: Path, log: Log, warehouse: Warehouse, needed: Needed) -> Iterator[Relation | None]:
    """Open a CSV file for DuckDB to read; see :class:`atr.ingest.sources.base.Part`."""
    with ExitStack() as scratch:
        stream = scratch.enter_context(unpacked(path, warehouse))
        if log.encoding is not None:
            packed, stream = stream, scratch.enter_context(warehouse.scratch())
            with os_faults(warehouse.path or path):
                recode(packed, stream, log.encoding, str(path))
        header = _header(stream.read(1 << 20), path, log.delimiter, needed)
        if header is None:
            yield None
            return
        names, delimiter, above = header
        stream.seek(0)
        line_end, lines, mixed = _lines(stream)
        if mixed:
            uneven, stream = stream, scratch.enter_context(warehouse.scratch())
            with os_faults(warehouse.path or path):
                uneven.seek(0)
                _even_out(uneven, stream, delimiter)
                stream.flush()
        for table in ("reject_errors", "reject_scans"):  # of the file before
            warehouse.connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
        p = Parameters()
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
        # `parallel` keeps its default: with false, DuckDB 1.5 drops what follows an open quote and records no reject.
        # `nullstr` is a text that no file has: which texts are missing is decided later, for every kind of file.
        # All columns are looked at: where some are left out, DuckDB overlooks faults, and may fail at others.
        sql = f"""(SELECT * FROM read_csv(
            {p.mark(f"/dev/fd/{stream.fileno()}")}, columns = {{{columns}}}, auto_detect = false, header = true,
            skip = {above}, delim = {p.mark(delimiter)}, quote = '"', escape = '"', strict_mode = true,
            compression = 'none', hive_partitioning = false, nullstr = [{p.mark(NO_VALUE)}],
            store_rejects = true, rejects_limit = 0) AS file WHERE hash(file) IS NOT NULL)"""

        def finish(connection: duckdb.DuckDBPyConnection, read: int) -> None:
            """Add up the lines: in some malformed files DuckDB drops rows and records no reject."""
            rows = read + _collect_rejects(connection, path, above + 2)
            if rows >= lines - above - 1:
                return
            breaks = f"len({{0}}) - len(replace({{0}}, chr({line_end[0]}), ''))".format
            cells = " + ".join(breaks(f"c{i}") for i in range(len(names)))
            ((in_rows,),) = connection.execute(f"SELECT coalesce(sum({cells}), 0) FROM {sql}", p).fetchall()
            ((in_rejects,),) = connection.execute(f"SELECT coalesce(sum({breaks('raw')}), 0) FROM rejects").fetchall()
            stream.seek(0)
            texts = stream if line_end == b"\n" else stream.read().split(line_end)
            empty = sum(not text.strip() for text in islice(texts, above, None))
            if rows + in_rows + in_rejects + empty < lines - above - 1:
                raise IngestError(
                    "has lines that DuckDB passes over in silence",
                    where=str(path),
                    hint="Write it as plain CSV in UTF-8, with one kind of line ending, no blank lines and every quote "
                    "closed.",
                )

        found = {name: Column(f"c{names.index(name)}", f"c{names.index(name)}") for name in needed}
        yield Relation(sql, p, found, "CSV", f"row_number() OVER () + {above + 1}", finish=finish)


def written(path: Path, log: Log, warehouse: Warehouse, needed: Needed) -> dict[str, str]:
    """Tell how a CSV file is written, as far as its bytes and its header tell.

    Returns
    -------
    ``encoding``, if it is likely another than ``log.encoding``, and ``delimiter``, if it is no comma.

    Raises
    ------
    IngestError
        If the file cannot be read.
    """
    with unpacked(path, warehouse) as stream:
        encoding = likely(stream)
        if log.encoding is not None and not (encoding or "").startswith("utf-16"):
            with suppress(IngestError), warehouse.scratch() as copy:
                stream.seek(0)
                recode(stream, copy, log.encoding, "")
                encoding = log.encoding
        stream.seek(0)
        begins = stream.read(1 << 20)
    found = {}
    if (encoding or "utf-8") != (log.encoding or "utf-8"):
        found["encoding"] = encoding or "utf-8"
    text = begins.decode(encoding or "utf-8-sig", errors="replace").lstrip("\ufeff\r\n")
    line, *_ = text.splitlines() or [""]
    if line.startswith("sep="):
        return found
    signs = [*DELIMITERS, *sorted({sign for sign in line if not sign.isalnum() and sign not in '"_\\'})]
    fitting = [sign for sign in signs if not set(needed) - set(next(csv.reader([line], delimiter=sign), []))]
    if fitting and fitting[0] != (log.delimiter or ","):
        found["delimiter"] = fitting[0]
    return found


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


def _header(content: bytes, path: Path, delimiter: str | None, needed: Needed) -> tuple[list[str], str, int] | None:
    """The column names, the delimiter, and the number of lines above them; None in a file without text."""
    whole = content.decode("utf-8-sig", errors="surrogateescape")
    text = whole.lstrip("\r\n")
    if not text.strip("\ufeff \t\r\n"):
        return None
    named = re.match(r"sep=([^\r\n])(\r\n|\r|\n)", text)  # as Excel writes it
    text = text[named.end() :] if named else text
    found: list[tuple[int, int, str, list[str]]] = []
    meant = delimiter or (named[1] if named else None)
    for possible in (meant,) if meant else DELIMITERS:
        try:
            names = next(csv.reader(io.StringIO(text, newline=""), delimiter=possible), [])
        except csv.Error:
            continue
        found.append((sum(name in names for name in needed), len(names), possible, names))
    if not found or re.search("[\udc80-\udcff\0]", "".join(found[0][3])):
        raise IngestError("the header is not UTF-8 text", where=str(path), hint="Save the file as CSV in UTF-8.")
    _, _, delimiter, names = max(found, key=lambda f: f[:2])
    require_columns(needed, names, str(path))
    return names, delimiter, len(re.findall(r"\r\n|\r|\n", whole[: len(whole) - len(text)]))


def _lines(stream: IO[bytes]) -> tuple[bytes, int, bool]:
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


def _even_out(stream: IO[bytes], copy: IO[bytes], delimiter: str) -> None:
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
