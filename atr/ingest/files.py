"""The files of a log: which there are, whether they are whole, and how DuckDB reads them."""

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import duckdb

from atr.core.display_text import printable
from atr.errors import IngestError
from atr.programme import Programme
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.store import os_faults

_PARQUET = (".parquet", ".pq")
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class File:
    """A file as it was when it was hashed."""

    path: Path
    name: str
    """Its path relative to the programme file."""
    state: tuple[int, ...]
    size: int
    sha256: str
    line_end: bytes
    lines: int
    mixed: bool
    """Whether some of its lines end in CRLF and some in LF, or else some of its line breaks within quotes."""


@dataclass(frozen=True)
class Relation:
    """A file as DuckDB reads it: what stands after FROM, and the text of each needed column."""

    sql: str
    parameters: Parameters
    columns: dict[str, str]
    first_line: int
    width: int
    """Columns of a CSV file, all of them; 0 for other files."""


def matches(programme: Programme) -> list[Path]:
    """The files that ``log.source`` names.

    Raises
    ------
    IngestError
        If there is none.
    """
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


class _Hashed(io.FileIO):
    """A file that is hashed while it is read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.hash = hashlib.sha256()

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(-1 if size is None else size) or b""
        self.hash.update(chunk)
        return chunk


def fingerprint(path: Path, programme: Programme) -> File:
    """Hash a file and count its lines, and see that it is whole: DuckDB reads half a gzip file without a word.

    Raises
    ------
    IngestError
        If it cannot be read, or is not whole.
    """
    ends, last = {b"\n": 0, b"\r": 0, b"\r\n": 0}, b""
    text = path.suffix.lower() not in _PARQUET
    try:
        with _Hashed(path) as raw, gzip.GzipFile(fileobj=raw) if _is_gzip(path) else raw as stream:
            state = _state(os.fstat(raw.fileno()))
            while chunk := stream.read(1 << 20):
                if text:
                    ends[b"\n"] += chunk.count(b"\n")
                    if b"\r" in chunk:
                        ends[b"\r"] += chunk.count(b"\r")
                        ends[b"\r\n"] += chunk.count(b"\r\n")
                    ends[b"\r\n"] += last + chunk[:1] == b"\r\n"
                    last = chunk[-1:]
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise IngestError("is not a whole gzip file", where=str(path)) from None
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    line_end = b"\n" if ends[b"\n"] else b"\r"
    name = os.path.relpath(path, programme.path.parent).replace(os.sep, "/")
    return File(
        path,
        name,
        state,
        size=state[0],
        sha256=raw.hash.hexdigest(),
        line_end=line_end,
        lines=ends[line_end] + (last not in (b"", line_end)),
        mixed=0 < ends[b"\r\n"] < ends[b"\n"],
    )


def changed(file: File) -> bool:
    """Whether a file is another than the one that was hashed."""
    try:
        return _state(file.path.stat()) != file.state
    except OSError:
        return True


def _state(found: os.stat_result) -> tuple[int, ...]:
    return found.st_size, found.st_mtime_ns, found.st_ino


def unpacked(path: Path) -> gzip.GzipFile | IO[bytes]:
    """What a file holds, to be read."""
    return gzip.open(path) if _is_gzip(path) else path.open("rb")


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


@contextmanager
def relation(warehouse: Warehouse, file: File, needed: Mapping[str, str]) -> Iterator[Relation | None]:
    """A file for DuckDB to read; None if it is empty.

    Parameters
    ----------
    needed
        The columns it must have, and the programme's keys that name them.

    Raises
    ------
    IngestError
        If it has not the needed columns, or is no file of its kind.
    """
    if file.path.suffix.lower() in _PARQUET:
        yield _parquet(warehouse.connection, file.path, needed)
        return
    try:
        with unpacked(file.path) as stream:
            header = _header(stream, file.path, needed)
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(file.path)) from error
    if header is None:
        yield None
    elif file.mixed:
        with warehouse.scratch() as copy:
            with os_faults(warehouse.path or file.path), unpacked(file.path) as stream:
                _even_out(stream, copy, header[1])
                copy.flush()
            yield _csv(f"/dev/fd/{copy.fileno()}", needed, *header, packed=False)
    else:
        yield _csv(_literally(file.path), needed, *header, packed=_is_gzip(file.path))


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


def _csv(
    path: str, needed: Mapping[str, str], names: list[str], delimiter: str, blank: int, *, packed: bool
) -> Relation:
    p = Parameters()
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    # `parallel` stays at its default: with false, DuckDB 1.5 drops what follows an open quote and records no reject.
    # `nullstr` is a text that no file has: which texts are missing is decided later, for every kind of file alike.
    sql = f"""read_csv(
        {p.mark(path)}, columns = {{{columns}}}, auto_detect = false, header = true, skip = {blank},
        delim = {p.mark(delimiter)}, quote = '"', escape = '"', strict_mode = true,
        compression = '{"gzip" if packed else "none"}', hive_partitioning = false,
        nullstr = [{p.mark(chr(1) + "no value" + chr(2))}], store_rejects = true, rejects_limit = 0)"""
    return Relation(sql, p, {name: f"c{names.index(name)}" for name in needed}, first_line=blank + 2, width=len(names))


def _header(
    stream: gzip.GzipFile | IO[bytes], path: Path, needed: Mapping[str, str]
) -> tuple[list[str], str, int] | None:
    """The column names, the delimiter, and the number of blank lines above them; None in a file without text."""
    if stream.read(4) == b"PK\x03\x04":
        raise IngestError(
            "is a zip or Excel file", where=str(path), hint="Save it as CSV in UTF-8, and name that file."
        )
    stream.seek(0)
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


def _find(needed: Mapping[str, str], names: list[str], path: Path) -> None:
    missing = [name for name in needed if name not in names]
    if missing:
        near = {name: difflib.get_close_matches(name, names, n=2, cutoff=0.5) for name in missing}
        folded = {name: [n for n in names if n.strip().casefold() == name.strip().casefold()] for name in missing}
        text = "; ".join(
            f"there is no column '{printable(name)}'"
            + ("".join(f", but '{printable(n)}'" for n in (folded[name] or near[name])[:1]))
            + f" ({printable(needed[name])})"
            for name in missing
        )
        some = ", ".join(printable(name) for name in names[:30]) + (", …" if len(names) > 30 else "")
        raise IngestError(text, where=str(path), private=f"Its columns are {some}.")
    for name in needed:
        if names.count(name) > 1:
            raise IngestError(f"the column '{printable(name)}' stands there {names.count(name)} times", where=str(path))


def _literally(path: Path) -> str:
    """The path with nothing in it that DuckDB would take for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _parquet(connection: duckdb.DuckDBPyConnection, path: Path, needed: Mapping[str, str]) -> Relation:
    p = Parameters([_literally(path)])
    try:
        elements = connection.execute("SELECT name, num_children FROM parquet_schema($1)", p).fetchall()
        types = connection.execute("DESCRIBE FROM read_parquet($1, hive_partitioning = false)", p).fetchall()
    except (duckdb.InvalidInputException, duckdb.IOException):
        raise IngestError("is not a Parquet file that can be read", where=str(path)) from None
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
    return Relation(
        f"read_parquet($1, hive_partitioning = false) AS file({aliases})", p, columns, first_line=1, width=0
    )
