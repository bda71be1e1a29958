"""What every kind of file has: a state that is noticed when it changes, and columns that the programme needs."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from atr.core.display_text import printable
from atr.errors import IngestError
from atr.programme import Programme
from atr.warehouse.connection import Parameters


@dataclass(frozen=True)
class File:
    """A file as it was when it was hashed."""

    path: Path
    name: str
    """Its path relative to the programme file."""
    state: tuple[int, ...]
    size: int
    sha256: str


def _nothing_lost(connection: duckdb.DuckDBPyConnection) -> None:
    """Files of most kinds are read whole or not at all."""


@dataclass(frozen=True)
class Relation:
    """A file as DuckDB reads it: what stands after FROM, and the text of each needed column."""

    sql: str
    parameters: Parameters
    columns: dict[str, str]
    kind: str
    """As people call it."""
    first_line: int = 1
    """The line of its first row."""
    prove_whole: Callable[[duckdb.DuckDBPyConnection], None] = _nothing_lost
    """Raises IngestError if a row of the file is neither in ``stage`` nor in ``rejects``."""


def fingerprint(path: Path, programme: Programme) -> File:
    """Hash a file, and note its state so that a change is noticed.

    Parameters
    ----------
    path
        The file.
    programme
        From whose folder it is named.

    Returns
    -------
    The file with its size in bytes and its SHA-256.

    Raises
    ------
    IngestError
        If it cannot be read.
    """
    state = state_of(path)
    try:
        with path.open("rb") as content:
            sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    name = os.path.relpath(path, programme.path.parent).replace(os.sep, "/")
    return File(path, name, state, state[0], sha256)


def state_of(path: Path) -> tuple[int, ...]:
    """Give what changes with a file.

    Returns
    -------
    Its size in bytes, when it was written in nanoseconds, and its place on the disk; (-1,) if it is gone.
    """
    try:
        found = path.stat()
    except OSError:
        return (-1,)
    return found.st_size, found.st_mtime_ns, found.st_ino


def require_columns(needed: Mapping[str, str], names: list[str], path: Path) -> None:
    """Check that a file has each needed column once.

    Parameters
    ----------
    needed
        The columns it must have, and the programme's keys that name them.
    names
        The columns that it has.
    path
        The file, for messages.

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
        raise IngestError("; ".join(told), where=str(path), private=f"Its columns are {some}.")
    for name in needed:
        if names.count(name) > 1:
            raise IngestError(f"the column '{printable(name)}' stands there {names.count(name)} times", where=str(path))


def literally(path: Path) -> str:
    """Escape a path so that DuckDB takes nothing in it for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
