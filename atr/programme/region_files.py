"""Reading the files a programme names: text, CSV, and what is said of each decision region."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from atr.core.arrays import Values
from atr.core.region_table import RegionFile, RegionTable
from atr.errors import ProgrammeError

T = TypeVar("T")


def read_regions(path: Path, attributes: Sequence[str], file: RegionFile[T]) -> RegionTable[T]:
    """Read one value for each decision region.

    Parameters
    ----------
    path
        A CSV in UTF-8: a column for each attribute, with the values that reports show, and the file's own columns.
    attributes
        Names of the attributes, public ones first.
    file
        What the file is, and what a row of it says.

    Returns
    -------
    What the file says of each region, with the hash of its bytes.

    Raises
    ------
    ProgrammeError
        Naming the line of the first fault found.
    """
    sha256, ((first, header), *rows) = read_rows(path)
    _check_header(header, (*attributes, *file.columns), where=f"{path}, line {first}")
    table: dict[Values, T] = {}
    lines: dict[Values, int] = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        if len(row) != len(header):
            raise ProgrammeError(f"has {len(row)} of the {len(header)} fields that the header names", where=where)
        fields = dict(zip(header, row, strict=True))
        values = tuple(fields[name] for name in attributes)
        if values in lines:
            raise ProgrammeError(f"is about the same region as line {lines[values]}", where=where)
        table[values], lines[values] = file.value(fields, where), line
    return RegionTable(path, sha256, tuple(attributes), table)


def read_text(path: Path) -> tuple[str, str]:
    """Read a text file in UTF-8, with the hash of its bytes.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    The text without a byte order mark, and the SHA-256 of the file in hexadecimal digits.

    Raises
    ------
    ProgrammeError
        If it cannot be read.
    """
    try:
        content = path.read_bytes()
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except FileNotFoundError:
        raise ProgrammeError("there is no such file", where=str(path), hint="`atr init` writes an example.") from None
    except UnicodeDecodeError:
        raise ProgrammeError("is not UTF-8 text: save it as UTF-8", where=str(path)) from None
    except OSError as error:
        raise ProgrammeError(f"cannot be read ({error.strerror})", where=str(path)) from None


def read_rows(path: Path) -> tuple[str, list[tuple[int, list[str]]]]:
    """Read the rows of a CSV in UTF-8, with the hash of its bytes.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    The SHA-256 of the file in hexadecimal digits; and every row that is not empty, with the line it starts on, from 1.

    Raises
    ------
    ProgrammeError
        If it cannot be read, or has no row.
    """
    text, sha256 = read_text(path)
    reader, rows, line = csv.reader(io.StringIO(text, newline=""), strict=True), [], 1
    try:
        for row in reader:
            rows.append((line, row))
            line = reader.line_num + 1
    except csv.Error as error:
        raise ProgrammeError(f"is not valid CSV: {error}", where=f"{path}, line {line}") from None
    rows = [(line, row) for line, row in rows if row]
    if not rows:
        raise ProgrammeError("the file is empty", where=str(path))
    return sha256, rows


def _check_header(header: Sequence[str], expected: Sequence[str], *, where: str) -> None:
    faults = [
        *(f"unknown column '{name}'" for name in header if name not in expected),
        *(f"the column '{name}' stands twice" for name in header if header.count(name) > 1),
        *(f"the column '{name}' is missing" for name in expected if name not in header),
    ]
    if faults:
        raise ProgrammeError(f"{faults[0]}; the columns here are {', '.join(expected)}", where=where)
