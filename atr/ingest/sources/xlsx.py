"""Excel files: the one sheet that has the columns, as far as its cells can be read exactly."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import reduce
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any
from xml.etree import ElementTree

import python_calamine as calamine

from atr.core.display_text import printable
from atr.errors import IngestError
from atr.ingest.sources.base import Needed, Relation, require_columns
from atr.ingest.sources.rows import Row, relation_of
from atr.programme.log import Log
from atr.warehouse.connection import Warehouse

_MOST_CELLS = 100_000_000
"""Of a sheet, with the empty ones between: they are all held in memory."""
_MOST_EXACT = 2**53
"""Excel keeps numbers as floats, of which neighbours above this are one number."""
_LOWEST = 50
"""A header is looked for in so many rows, to say where it is."""
_PLACE = re.compile(rb"""<(?:\w+:)?(?:c|row)\s[^>]*?\br\s*=\s*["']([A-Z]{0,3})([0-9]{1,7})["']""")
_WITHOUT_VALUE = re.compile(
    rb"""<(?:\w+:)?c\s(?=[^>]*?\br\s*=\s*["']([A-Z]{1,3}[0-9]{1,7})["'])"""
    rb"""(?:[^>]*\bt\s*=\s*["']e["'][^>]*>|"""
    rb"""(?![^>]*\bt\s*=\s*["']str)[^>]*>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*"""
    rb"""(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>)"""
)
"""A cell that shows an error, or holds a formula that whoever wrote the file did not calculate."""


@dataclass(frozen=True)
class _Sheet:
    name: str
    rows: calamine.CalamineSheet
    header: int
    """Its row, from 1; 0 where there is none."""
    names: list[str]
    without_value: list[str]
    """Such cells, as in C7."""


@contextmanager
def relation(path: Path, log: Log, warehouse: Warehouse, needed: Needed) -> Iterator[Relation | None]:
    """Open an Excel file for DuckDB to read; see :class:`atr.ingest.sources.base.Part`."""
    try:
        with path.open("rb") as file:
            found = _sheet_with(needed, list(_sheets(file, path)), path)
    except calamine.PasswordError:
        raise IngestError("is locked by a password", where=str(path), hint="Save it without one.") from None
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    except (calamine.CalamineError, zipfile.BadZipFile, ElementTree.ParseError, LookupError, ValueError, EOFError):
        hint = "Open it in Excel and save it as .xlsx, or as CSV in UTF-8."
        raise IngestError("is no Excel file that can be read", where=str(path), hint=hint) from None
    if found is None:
        yield None
        return
    types: dict[str, str] = {}
    rows = _rows(found, log.decimal or ".", types, needed, path)
    with relation_of(rows, types, needed, "Excel", path, warehouse) as opened:
        yield opened


def _sheets(file: IO[bytes], path: Path) -> Iterator[_Sheet]:
    parts = {}
    with zipfile.ZipFile(file) as packed:
        targets = {
            item.get("Id"): PurePosixPath("/xl", item.get("Target", "")).relative_to("/")
            for item in ElementTree.fromstring(packed.read("xl/_rels/workbook.xml.rels"))  # noqa: S314 - no entities
        }
        for item in ElementTree.fromstring(packed.read("xl/workbook.xml")).iter():  # noqa: S314
            if item.tag.endswith("}sheet"):
                (reference,) = (value for key, value in item.attrib.items() if key.endswith("}id"))
                with packed.open(str(targets[reference])) as part:
                    parts[item.get("name")] = _look_through(part, path, item.get("name", ""))
    file.seek(0)
    book = calamine.CalamineWorkbook.from_filelike(file)
    for sheet in (sheet for sheet in book.sheets_metadata if sheet.typ == calamine.SheetTypeEnum.WorkSheet):
        rows = book.get_sheet_by_name(sheet.name)
        for number, row in enumerate(rows.iter_rows(), 1):
            names = [str(cell) for cell in row]
            if any(names):
                yield _Sheet(sheet.name, rows, number, names, parts[sheet.name])
                break


def _look_through(part: IO[bytes], path: Path, sheet: str) -> list[str]:
    """Find the cells without a value, and refuse a sheet that no memory holds."""
    without_value, widest, rows, rest = list[str](), b"A", 1, b""
    while (chunk := part.read(1 << 22)) or rest:
        text = rest + chunk
        whole = max(text.rfind(b"<c "), text.rfind(b":c "), 0) or len(text)  # half a cell waits for the rest
        whole = whole if chunk else len(text)
        without_value += [found[1].decode() for found in _WITHOUT_VALUE.finditer(text, 0, whole)]
        for found in _PLACE.finditer(text, 0, whole):
            widest, rows = max(widest, found[1], key=lambda name: (len(name), name)), max(rows, int(found[2]))
        rest = text[whole:]
    if rows * reduce(lambda number, letter: 26 * number + letter - 64, widest, 0) > _MOST_CELLS:
        what = f"the sheet '{printable(sheet)}' reaches to {widest.decode()}{rows}, too far to be read"
        raise IngestError(what, where=str(path), hint="Delete the empty rows and columns, or save it as CSV in UTF-8.")
    return without_value


def _sheet_with(needed: Needed, sheets: list[_Sheet], path: Path) -> _Sheet | None:
    """The one sheet that has the columns; None where all are empty."""
    fitting = [sheet for sheet in sheets if not set(needed) - set(sheet.names)]
    if not sheets:
        return None
    if len(sheets) > 1 and len(fitting) != 1:
        which = "several sheets have" if fitting else "no sheet has all"
        listed = ", ".join(f"'{printable(sheet.name)}'" for sheet in fitting or sheets)
        lower = "" if fitting else _lower(needed, sheets)
        hint = f"A log needs {', '.join(map(printable, needed))}, in one sheet.{lower}"
        raise IngestError(f"{which} the columns of the programme: {listed}", where=str(path), hint=hint)
    sheet = (fitting or sheets)[0]
    try:
        require_columns(needed, sheet.names, str(path))
    except IngestError as error:
        hint = _lower(needed, sheets).strip()
        raise IngestError(error.message, where=error.where, hint=hint, private=error.private) from None
    return sheet


def _lower(needed: Needed, sheets: list[_Sheet]) -> str:
    """Say where the header must be, if it is further down, as below a title."""
    for sheet in sheets:
        for number, row in enumerate(islice(sheet.rows.iter_rows(), _LOWEST), 1):
            if number > sheet.header and not set(needed) - {str(cell) for cell in row}:
                return (
                    f" The names of the columns must be in the first row that is not empty, and are in row {number} of "
                    f"'{printable(sheet.name)}': delete the rows above."
                )
    return ""


def _rows(sheet: _Sheet, decimal: str, types: dict[str, str], needed: Needed, path: Path) -> Iterator[Row]:
    """The rows below the header as texts; columns of nothing but dates are typed so."""
    places = {name: sheet.names.index(name) for name in needed}
    left = (sheet.rows.start or (0, 0))[1]
    ours = {_letters(left + place): name for name, place in places.items()}
    for cell in sheet.without_value:
        column = cell.rstrip("0123456789")
        if column in ours and int(cell.removeprefix(column)) > sheet.header:
            raise IngestError("shows an error, or a formula without a value", where=_where(path, sheet, cell))
    dates, texts = set[str](), set[str]()
    for number, cells in enumerate(sheet.rows.iter_rows(), 1):
        if number > sheet.header and any(cell != "" for cell in cells):
            row: list[str | None] = []
            for name, place in places.items():
                text, dated = _text(cells[place], decimal)
                if text is None and cells[place] != "":
                    what = f"holds {'a duration' if dated else 'a number too large for Excel to keep exactly'}"
                    raise IngestError(what, where=_where(path, sheet, f"{_letters(left + place)}{number}"))
                if text is not None:
                    (dates if dated else texts).add(name)
                row.append(text)
            yield Row(number, row)
    types.update(dict.fromkeys(dates - texts, "TIMESTAMP"))


def _text(cell: Any, decimal: str) -> tuple[str | None, bool]:
    """The exact text of a cell, None where there is none, and whether it is a date or a duration."""
    if isinstance(cell, bool):
        return str(cell).lower(), False
    if isinstance(cell, int | float):
        if float(cell).is_integer():
            return (str(int(cell)) if abs(cell) <= _MOST_EXACT else None), False
        return repr(cell).replace(".", decimal), False
    if isinstance(cell, datetime):
        return cell.isoformat(" "), True
    if isinstance(cell, date):
        return cell.isoformat(), True
    if isinstance(cell, str | time):
        return str(cell) or None, False
    return None, True


def _where(path: Path, sheet: _Sheet, cell: str) -> str:
    return f"{path}, sheet '{printable(sheet.name)}', cell {cell}"


def _letters(place: int) -> str:
    """The name of a column, counted from 0.

    >>> _letters(26)
    'AA'
    """
    name = ""
    while place >= 0:
        place, letter = divmod(place, 26)
        name, place = chr(65 + letter) + name, place - 1
    return name
