"""What every kind of source has: parts, such as files, that are noticed when they change, and exact columns."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import duckdb

from atr.core.display_text import printable
from atr.errors import IngestError
from atr.programme import Programme
from atr.warehouse.connection import Parameters, Warehouse

Needed: TypeAlias = Mapping[str, str]
"""The columns that a log must have, and the programme's keys that name them."""

Opened: TypeAlias = AbstractContextManager["Relation | None"]
"""A part as DuckDB reads it, while the context lasts; None if it is empty."""


@dataclass(frozen=True)
class Part:
    """A file, or a table, of a log.

    Parameters
    ----------
    name
        The path relative to the programme file, or the name of the table. It says where the part stands in the log.
    where
        What messages call it.
    kind
        How it is read: "csv", "json", "xlsx", "parquet" or "database".
    open
        Opens it for DuckDB to read, of a warehouse and the needed columns. Raises IngestError if it has not these, or
        is nothing of its kind.
    path
        The file; None for what is no file, and is read in every run.
    told
        What else its name says of its rows (how they are packed, and the partitions of a folder): not to be mistaken
        for the same file under another name.
    """

    name: str
    where: str
    kind: str
    open: Callable[[Warehouse, Needed], Opened]
    path: Path | None = None
    told: str = ""

    def found(self) -> tuple[int, ...] | None:
        """Give the state of the file on the disk; None for what is no file."""
        return None if self.path is None else state_of(self.path)

    def state(self) -> str | None:
        """Give what changes with the file; None if that is not to be relied upon, since it was written just now."""
        if self.path is None:
            return None
        found = state_of(self.path)
        settled = time.time_ns() - max(found[1:3], default=0) > SETTLED
        return json.dumps(found) if len(found) > 1 and settled else None

    def key(self) -> str | None:
        """Give what nothing else has that would be read as other rows; None for what is no file.

        Raises
        ------
        IngestError
            If the file cannot be read.
        """
        if self.path is None:
            return None
        try:
            with self.path.open("rb") as content:
                sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError as error:
            raise IngestError(f"cannot be read ({error.strerror or error})", where=self.where) from error
        return self.key_of(sha256)

    def key_of(self, sha256: str) -> str:
        """Give the key of a content with this hash."""
        return f"{sha256} {self.kind} {self.told}".strip()


SETTLED = 2_000_000_000
"""Nanoseconds: what was written less long ago may be written again within the same tick of a file system's clock."""


@dataclass(frozen=True)
class Column:
    """A column of a relation: SQL of its exact text, of its value, and the value's type as DuckDB names it."""

    text: str
    value: str
    type: str = "VARCHAR"


@dataclass(frozen=True)
class Relation:
    """A part as DuckDB reads it: what stands after FROM, the line of a row, and the needed columns."""

    sql: str
    parameters: Parameters
    columns: dict[str, Column]
    kind: str
    """As people call it."""
    line: str
    """SQL of the line or row that messages name, higher the later it comes; 0 where rows have no order."""
    finish: Callable[[duckdb.DuckDBPyConnection, int], None] = lambda *_: None
    """Called once so many rows were read: puts what was no row into the temporary table ``rejects`` (``line, reason,
    raw``), and raises IngestError if anything is in neither. Parts of most kinds are read whole or not at all."""


_UNREADABLE = (duckdb.InvalidInputException, duckdb.DataError, duckdb.InternalException, duckdb.NotSupportedError)


@contextmanager
def readable(kind: str, where: str) -> Iterator[None]:
    """Say in words that DuckDB fails at a part, without the values that it tells of.

    Parameters
    ----------
    kind, where
        What the part is, and what messages call it.

    Raises
    ------
    IngestError
        If it does.
    """
    try:
        yield
    except duckdb.Error as error:
        of_the_part = isinstance(error, duckdb.IOException) and where in str(error)
        ours = isinstance(error, duckdb.ConversionException)  # what a file holds is cast by trying
        if ours or (type(error) is not duckdb.Error and not isinstance(error, _UNREADABLE) and not of_the_part):
            raise
        if "state machine" in str(error):
            hint = "Write it with one kind of line ending."
            raise IngestError("cannot be read: it mixes line endings", where=where, hint=hint) from None
        raise IngestError(f"cannot be read as {kind}", where=where) from None


def file_name(path: Path, programme: Programme) -> str:
    """Name a file by its path relative to the programme file."""
    return os.path.relpath(path, programme.path.parent).replace(os.sep, "/")


def state_of(path: Path) -> tuple[int, ...]:
    """Give what changes with a file.

    Returns
    -------
    Its size in bytes, when it and its place were written in nanoseconds, and its place on the disk; (-1,) if it is
    gone.
    """
    try:
        found = path.stat()
    except OSError:
        return (-1,)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


_NUMBERS = ("DECIMAL", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
            "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE")  # fmt: skip
_PLAIN = (
    *_NUMBERS, "BIGNUM", "BOOLEAN", "VARCHAR", "JSON", "ENUM", "UUID", "DATE", "TIME", "TIME_NS", "TIME WITH TIME ZONE",
    "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", '"NULL"',
)  # fmt: skip
"""The types whose values have one exact text each, as DuckDB names them."""
_ROUNDED = ("FLOAT", "DOUBLE", "REAL", "FLOAT4", "FLOAT8")
"""Types of numbers that are not what was written: two ids may be one, or one two."""


def exact(sql: str, type: str, *, name: str, where: str, key: str) -> Column:
    """Give the exact text of a value of a DuckDB type.

    Parameters
    ----------
    sql, type
        The value, and its type as DuckDB names it.
    name, where
        Of the column and the part, for messages.
    key
        The programme's key that names the column.

    Raises
    ------
    IngestError
        If the type holds no plain values, or none that can be the key's.
    """
    refuse_type(type, _PLAIN, name=name, where=where, key=key)
    text = sql if type == "VARCHAR" else f"CAST({sql} AS VARCHAR)"
    return Column(plain_number(text) if type.startswith(("DECIMAL", *_ROUNDED)) else text, sql, type)


def is_number(type: str) -> bool:
    """Whether the values of a DuckDB type are numbers."""
    return _bare(type) in _NUMBERS


def is_whole_number(type: str) -> bool:
    """Whether the values of a DuckDB type are whole numbers that a BIGINT holds."""
    return type in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


def plain_number(text: str) -> str:
    """SQL of the text of a number without zeros that say nothing, as in 5.0 or -0."""
    text = rf"regexp_replace(regexp_replace({text}, '(\.\d*?)0+$', '\1'), '\.$', '')"
    return f"regexp_replace({text}, '^-0$', '0')"


def refuse_type(type: str, allowed: Sequence[str], *, name: str, where: str, key: str) -> None:
    """Refuse a column of a type that cannot be read exactly, or that is no type of ids.

    Parameters
    ----------
    type
        As the source names it.
    allowed
        The types that can be read.
    name, where, key
        As for :func:`exact`.

    Raises
    ------
    IngestError
        If it is refused.
    """
    bare = _bare(type)
    what = f"the column '{printable(name)}' holds {printable(bare if bare in allowed else type)}"
    if bare not in allowed or type.endswith("]"):
        raise IngestError(
            f"{what}, not plain values that can be read exactly ({printable(key)})",
            where=where,
            hint="Write it as a text, a number or a date, or leave the column out.",
        )
    if key == "log.id" and bare.upper() in _ROUNDED:
        hint = "Write ids as texts or whole numbers."
        raise IngestError(f"{what}, which is rounded and cannot be an id ({key})", where=where, hint=hint)


def _bare(type: str) -> str:
    """The name of a type without what stands in brackets."""
    return re.sub(r"\(.*", "", type, flags=re.DOTALL)


def require_columns(needed: Needed, names: list[str], where: str) -> None:
    """Check that a part has each needed column once.

    Parameters
    ----------
    needed
        The columns it must have, and the programme's keys that name them.
    names
        The columns that it has.
    where
        What messages call the part.

    Raises
    ------
    IngestError
        If one is missing, with what it may be called instead, or occurs several times.
    """
    told = []
    for name in (name for name in needed if name not in names):
        alike = [other for other in names if other.strip().casefold() == name.strip().casefold()]
        near = (alike or difflib.get_close_matches(name, names, n=1, cutoff=0.5))[:1]
        but = "".join(f", but '{printable(other)}'" for other in near)
        told.append(f"there is no column '{printable(name)}'{but} ({printable(needed[name])})")
    if told:
        some = ", ".join(printable(name) for name in names[:30]) + (", …" if len(names) > 30 else "")
        raise IngestError("; ".join(told), where=where, private=f"Its columns are {some}.")
    for name in needed:
        if names.count(name) > 1:
            raise IngestError(f"the column '{printable(name)}' stands there {names.count(name)} times", where=where)


def literally(path: Path | str) -> str:
    """Escape a path or an address so that DuckDB takes nothing in it for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
