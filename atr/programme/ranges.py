"""The file of ranges: between what, region by region, the programme lets an announced chance lie.

Limits are a second thing that a report tells, beside the announced chances, and must not be fitted to the decisions:
they are to be set beforehand, and are coarse.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from atr.core.region_table import RegionTable
from atr.errors import ProgrammeError

ENDS = ("lower", "upper")
"""The columns beside those of the attributes."""

STEP = 0.05
"""Limits are multiples of it. They are printed and hold the true chances: fine ones would give these away."""

Values = tuple[str, ...]


def read(path: Path, attributes: Sequence[str]) -> RegionTable[tuple[float, float]]:
    """Read a file of ranges.

    Parameters
    ----------
    path
        A CSV in UTF-8: a column for each attribute, with the values that reports show, and the columns ``lower`` and
        ``upper``, between which the announced chance of the positive outcome must lie; 0 to 1.
    attributes
        Names of the attributes, public ones first.

    Raises
    ------
    ProgrammeError
        Naming the line of the first fault found.
    """
    content, rows = by_region(path, attributes, ENDS)
    ranges: dict[Values, tuple[float, float]] = {}
    for where, values, fields in rows:
        lower, upper = (_chance(fields[name], name, where=where) for name in ENDS)
        if lower > upper:
            raise ProgrammeError(f"lower, {lower}, is above upper, {upper}", where=where)
        ranges[values] = lower, upper
    return RegionTable(path, hashlib.sha256(content).hexdigest(), tuple(attributes), ranges)


def by_region(
    path: Path, attributes: Sequence[str], columns: Sequence[str]
) -> tuple[bytes, Iterator[tuple[str, Values, dict[str, str]]]]:
    """The bytes of a CSV in UTF-8 that says something of each region once, and its rows.

    Parameters
    ----------
    path
        The file: a column for each attribute, with the values that reports show, and further columns.
    attributes, columns
        Names of the attributes, and of the further columns.

    Returns
    -------
    The bytes, and for each row where it is, the values of its region in the order of the attributes, and its fields.

    Raises
    ------
    ProgrammeError
        Naming the line of the first fault found, some of them while rows are taken.
    """
    content, rows = rows_of(path)
    first = next(rows, None)
    if first is None:
        raise ProgrammeError("the file is empty", where=str(path))
    line, header = first
    _check_header(header, (*attributes, *columns), where=f"{path}, line {line}")

    def found() -> Iterator[tuple[str, Values, dict[str, str]]]:
        lines: dict[Values, int] = {}
        for line, row in rows:
            where = f"{path}, line {line}"
            if len(row) != len(header):
                raise ProgrammeError(f"has {len(row)} of the {len(header)} fields that the header names", where=where)
            fields = dict(zip(header, row, strict=True))
            values = tuple(fields[name] for name in attributes)
            if values in lines:
                raise ProgrammeError(f"is about the same region as line {lines[values]}", where=where)
            lines[values] = line
            yield where, values, fields

    return content, found()


def rows_of(path: Path) -> tuple[bytes, Iterator[tuple[int, list[str]]]]:
    """The bytes of a CSV in UTF-8, and every row that is not empty, with the line it starts on.

    Raises
    ------
    ProgrammeError
        If it cannot be read.
    """
    try:
        content = path.read_bytes()
        return content, _rows(content.decode("utf-8-sig"), path)
    except UnicodeDecodeError:
        raise ProgrammeError("is not UTF-8 text: save it as UTF-8", where=str(path)) from None
    except OSError as error:
        raise ProgrammeError(f"cannot be read ({error.strerror})", where=str(path)) from None


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ProgrammeError(f"is not valid CSV: {error}", where=f"{path}, line {line}") from None
        if row:
            yield line, row


def _check_header(header: Sequence[str], expected: Sequence[str], *, where: str) -> None:
    columns = ", ".join(expected)
    for name in header:
        if name not in expected:
            raise ProgrammeError(f"unknown column '{name}'; the columns here are {columns}", where=where)
        if header.count(name) > 1:
            raise ProgrammeError(f"the column '{name}' stands twice", where=where)
    for name in expected:
        if name not in header:
            raise ProgrammeError(f"the column '{name}' is missing; the columns here are {columns}", where=where)


def _chance(text: str, name: str, *, where: str) -> float:
    try:
        chance = float(text)
    except ValueError:
        chance = -1.0
    if not 0 <= chance <= 1 or "_" in text:
        raise ProgrammeError(f"{name} must be a number from 0 to 1, not '{text}'", where=where)
    step = round(chance / STEP)
    if abs(chance - step * STEP) > 1e-12:
        raise ProgrammeError(
            f"{name} must be a multiple of {STEP}, not '{text}'",
            where=where,
            hint="Limits are printed. Finer ones, fitted to the true chances, would tell them.",
        )
    return round(step * STEP, 2)
