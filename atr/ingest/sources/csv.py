"""CSV files, packed by gzip or not: their header, their lines, and how DuckDB reads them."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import duckdb
import numpy as np

from atr.errors import IngestError
from atr.ingest.sources.base import File, Relation, literally, require_columns
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.store import os_faults

_DELIMITERS = (",", ";", "\t", "|")


@contextmanager
def relation(warehouse: Warehouse, file: File, needed: Mapping[str, str]) -> Iterator[Relation | None]:
    """Open a CSV file for DuckDB to read, as a context manager.

    It must be whole: DuckDB reads half a gzip file in silence.

    Parameters
    ----------
    warehouse, file
        As :func:`atr.ingest.sources.relation` takes them.
    needed
        The columns it must have, and the programme's keys that name them.

    Returns
    -------
    The file as DuckDB reads it, while the context lasts; None if it is empty.

    Raises
    ------
    IngestError
        If it has not the needed columns, or is no CSV file.
    """
    try:
        with _unpacked(file.path) as stream:
            header = _header(stream.read(1 << 20), file.path, needed)
            stream.seek(0)
            line_end, lines, mixed = _lines(stream)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise IngestError("is not a whole gzip file", where=str(file.path)) from None
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(file.path)) from error
    if header is None:
        yield None
        return
    names, delimiter, blank = header
    with warehouse.scratch() as copy:
        address, packing = literally(file.path), "gzip" if _is_gzip(file.path) else "none"
        if mixed:
            with os_faults(warehouse.path or file.path), _unpacked(file.path) as stream:
                _even_out(stream, copy, delimiter)
                copy.flush()
            address, packing = f"/dev/fd/{copy.fileno()}", "none"
        p = Parameters()
        columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
        # `parallel` keeps its default: with false, DuckDB 1.5 drops what follows an open quote and records no reject.
        # `nullstr` is a text that no file has: which texts are missing is decided later, for every kind of file.
        sql = f"""read_csv(
            {p.mark(address)}, columns = {{{columns}}}, auto_detect = false, header = true, skip = {blank},
            delim = {p.mark(delimiter)}, quote = '"', escape = '"', strict_mode = true,
            compression = '{packing}', hive_partitioning = false,
            nullstr = [{p.mark(chr(1) + "no value" + chr(2))}], store_rejects = true, rejects_limit = 0)"""

        def prove_whole(connection: duckdb.DuckDBPyConnection) -> None:
            """Add up the lines: in some malformed files DuckDB drops rows and records no reject."""
            count = "(SELECT count(*) FROM stage) + (SELECT count(*) FROM rejects)"
            ((rows,),) = connection.execute(f"SELECT {count}").fetchall()
            if rows >= lines - blank - 1:
                return
            breaks = f"len({{0}}) - len(replace({{0}}, chr({line_end[0]}), ''))".format
            cells = " + ".join(breaks(f"c{i}") for i in range(len(names)))
            ((in_rows,),) = connection.execute(f"SELECT coalesce(sum({cells}), 0) FROM {sql}", p).fetchall()
            ((in_rejects,),) = connection.execute(f"SELECT coalesce(sum({breaks('raw')}), 0) FROM rejects").fetchall()
            with _unpacked(file.path) as stream:
                texts = stream if line_end == b"\n" else stream.read().split(line_end)
                empty = sum(not text.strip() for text in texts)
            if rows + in_rows + in_rejects + empty < lines - 1:
                raise IngestError(
                    "has lines that DuckDB passes over in silence",
                    where=str(file.path),
                    hint="Write it as plain CSV in UTF-8, with one kind of line ending, no blank lines and every quote "
                    "closed.",
                )

        yield Relation(sql, p, {name: f"c{names.index(name)}" for name in needed}, "CSV", blank + 2, prove_whole)


def _unpacked(path: Path) -> gzip.GzipFile | IO[bytes]:
    return gzip.open(path) if _is_gzip(path) else path.open("rb")


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _header(content: bytes, path: Path, needed: Mapping[str, str]) -> tuple[list[str], str, int] | None:
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
    require_columns(needed, names, path)
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
