"""The files a programme names that say something of each decision region: declared ranges, and side information.

Limits are a second thing that a report tells, beside the announced chances, and must not be fitted to the decisions:
they are to be set beforehand, and are coarse.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from atr.core.arrays import Values
from atr.core.region_table import RegionTable
from atr.core.tolerances import PROBABILITY_TOLERANCE
from atr.errors import ProgrammeError

T = TypeVar("T")

ENDS = ("lower", "upper")
"""The columns of a file of ranges beside those of the attributes."""

PEOPLE = "people"
"""The column of a file of side information beside those of the attributes."""

STEP = 0.05
"""Limits are multiples of it. They are printed and hold the true chances: fine ones would give these away."""

_MOST = 10**12


def read_ranges(path: Path, attributes: Sequence[str]) -> RegionTable[tuple[float, float]]:
    """Read between what, region by region, the announced chance of the positive outcome must lie.

    Parameters
    ----------
    path
        A CSV in UTF-8: a column for each attribute, with the values that reports show, and the columns ``lower`` and
        ``upper``, 0 to 1.
    attributes
        Names of the attributes, public ones first.

    Raises
    ------
    ProgrammeError
        Naming the line of the first fault found.
    """

    def limits(fields: dict[str, str], where: str) -> tuple[float, float]:
        lower, upper = (_chance(fields[name], name, where=where) for name in ENDS)
        if lower > upper:
            raise ProgrammeError(f"lower, {lower}, is above upper, {upper}", where=where)
        return lower, upper

    return _read(path, attributes, ENDS, limits)


def read_side_information(path: Path, attributes: Sequence[str]) -> RegionTable[int]:
    """Read how many people of each region a reader knows of, from a census for example.

    Parameters
    ----------
    path
        A CSV in UTF-8: a column for each attribute, with the values that reports show, and the column ``people``, whole
        numbers. Only their proportions within a QID group matter, so shares are given as numbers of people of 10,000,
        say.
    attributes
        Names of the attributes, public ones first.

    Raises
    ------
    ProgrammeError
        Naming the line of the first fault found.
    """

    def people(fields: dict[str, str], where: str) -> int:
        text = fields[PEOPLE]
        if not text.isascii() or not text.isdigit() or int(text) > _MOST:
            raise ProgrammeError(
                f"{PEOPLE} must be a whole number, at most {_MOST:,}, not '{text}'",
                where=where,
                hint="Give shares as people of 10,000, say: only proportions within a group matter.",
            )
        return int(text)

    return _read(path, attributes, (PEOPLE,), people)


def read_text(path: Path) -> tuple[str, str]:
    """The text of a file in UTF-8, and the hash of its bytes.

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
    """The hash of a CSV in UTF-8, and every row that is not empty, with the line it starts on.

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


def _read(
    path: Path, attributes: Sequence[str], columns: Sequence[str], value_of: Callable[[dict[str, str], str], T]
) -> RegionTable[T]:
    """Read one value for each region: what ``value_of`` makes of the fields of a row and where it is."""
    sha256, ((first, header), *rows) = read_rows(path)
    _check_header(header, (*attributes, *columns), where=f"{path}, line {first}")
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
        table[values], lines[values] = value_of(fields, where), line
    return RegionTable(path, sha256, tuple(attributes), table)


def _check_header(header: Sequence[str], expected: Sequence[str], *, where: str) -> None:
    faults = [
        *(f"unknown column '{name}'" for name in header if name not in expected),
        *(f"the column '{name}' stands twice" for name in header if header.count(name) > 1),
        *(f"the column '{name}' is missing" for name in expected if name not in header),
    ]
    if faults:
        raise ProgrammeError(f"{faults[0]}; the columns here are {', '.join(expected)}", where=where)


def _chance(text: str, name: str, *, where: str) -> float:
    try:
        chance = float(text)
    except ValueError:
        chance = -1.0
    if not 0 <= chance <= 1 or "_" in text:
        raise ProgrammeError(f"{name} must be a number from 0 to 1, not '{text}'", where=where)
    step = round(chance / STEP)
    if abs(chance - step * STEP) > PROBABILITY_TOLERANCE:
        raise ProgrammeError(
            f"{name} must be a multiple of {STEP}, not '{text}'",
            where=where,
            hint="Limits are printed. Finer ones, fitted to the true chances, would tell them.",
        )
    return round(step * STEP, 2)
