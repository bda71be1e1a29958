"""JSON Lines, and JSON arrays of objects: numbers exactly as they stand."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from atr.core.display_text import printable
from atr.errors import IngestError
from atr.ingest.sources.base import Needed, Relation, require_columns
from atr.ingest.sources.packed import unpacked
from atr.ingest.sources.rows import Fault, Row, relation_of
from atr.programme.log import Log
from atr.warehouse.connection import Warehouse

_LONGEST = 1 << 22
"""Bytes of a line, and letters of an object of an array."""
_SPACE = re.compile(r"[ \t\r\n]*")
_BOOLEANS = {True: "true", False: "false"}


@contextmanager
def relation(path: Path, log: Log, warehouse: Warehouse, needed: Needed) -> Iterator[Relation | None]:
    """Open a JSON file for DuckDB to read; see :class:`atr.ingest.sources.base.Part`."""
    with unpacked(path, warehouse) as stream:
        start = stream.read(1 << 16).removeprefix(codecs.BOM_UTF8).lstrip()[:1]
        if not start:
            yield None
            return
        if start not in (b"[", b"{"):
            raise IngestError("is no JSON", where=str(path), hint="A log is an object a line, or an array of objects.")
        stream.seek(0)
        objects = _Objects(path, log.decimal or ".", needed)
        rows = objects.of_array(stream) if start == b"[" else objects.of_lines(stream)
        with relation_of(rows, {}, needed, "JSON", path, warehouse) as found:
            if objects.names:
                require_columns(needed, list(objects.names), str(path))
            yield found


class _Objects:
    """The objects of a file as rows, and the names of all that they have."""

    def __init__(self, path: Path, decimal: str, needed: Needed) -> None:
        self.names: dict[str, None] = {}
        self._path, self._needed = path, needed
        # No number becomes a float; its decimal sign is that of the log's other numbers.
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._once,
            parse_float=lambda text: text.replace(".", decimal),
            parse_int=str,
            parse_constant=_no_json,
        )

    def of_lines(self, stream: IO[bytes]) -> Iterator[Row | Fault]:
        """Read an object a line."""
        line, first = 0, True
        while text := stream.readline(_LONGEST + 1):
            line += 1
            where = f"{self._path}, line {line}"
            if len(text) > _LONGEST:
                raise IngestError(f"is longer than {_LONGEST:,} bytes", where=where, hint="Write an object a line.")
            text = text.removeprefix(codecs.BOM_UTF8) if line == 1 else text
            if not text.strip():
                continue
            try:
                found = self._decoder.decode(text.decode())
            except UnicodeDecodeError:
                yield Fault(line, "not UTF-8 text", text.decode(errors="replace"))
            except (ValueError, RecursionError):
                if first:
                    hint = "Write each object in one line, or all of them as an array."
                    raise IngestError("holds no whole JSON object", where=where, hint=hint) from None
                yield Fault(line, "not JSON", text.decode())
            else:
                row = self._row(found, line, where)
                yield row or Fault(line, "no JSON object", text.decode())
            first = False

    def of_array(self, stream: IO[bytes]) -> Iterator[Row]:
        """Read the objects of an array, which are counted in place of lines."""
        decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        buffer, at, number = "", 0, 0
        line, column = 1, 1  # of the first letter of the buffer

        def fill() -> bool:
            """Read more, and forget what is done with."""
            nonlocal buffer, at, line, column
            chunk = stream.read(1 << 20)
            line, column = place()
            try:
                buffer, at = buffer[at:] + decode(chunk, final=not chunk), 0
            except UnicodeDecodeError:
                raise IngestError("is not UTF-8 text", where=f"{self._path}, after line {line}") from None
            return bool(chunk)

        def upcoming() -> str:
            """Pass over white space; give the next character, nothing at the end."""
            nonlocal at
            while True:
                at = _SPACE.match(buffer, at).end()  # type: ignore[union-attr]
                if at < len(buffer) or not fill():
                    return buffer[at : at + 1]

        def place() -> tuple[int, int]:
            *before, last = buffer[:at].split("\n")
            return line + len(before), len(last) + (1 if before else column)

        def where() -> str:
            return "{}, line {}, column {}".format(self._path, *place())

        upcoming()
        at += 1  # the bracket that opens the array
        while (character := upcoming()) != "]":
            if number:
                if character != ",":
                    raise IngestError("is no whole JSON array: there is no comma here", where=where())
                at += 1
                upcoming()
            number += 1
            while True:
                try:
                    found, end = self._decoder.raw_decode(buffer, at)
                    break
                except (ValueError, RecursionError):
                    if len(buffer) - at > _LONGEST or not fill():
                        what = f"item {number} of the array is no whole JSON object"
                        raise IngestError(what, where=where()) from None
            row = self._row(found, number, f"{self._path}, item {number} of the array")
            if row is None:
                raise IngestError(f"item {number} of the array is no JSON object", where=where())
            yield row
            at = end
        at += 1
        if upcoming():
            raise IngestError("goes on after the end of the array", where=where())

    def _row(self, found: Any, line: int, where: str) -> Row | None:
        if not isinstance(found, dict):
            return None
        self.names.update(dict.fromkeys(found))
        cells = [found.get(name) for name in self._needed]
        for i, (name, value) in enumerate(zip(self._needed, cells, strict=True)):
            if value is None and name not in found:
                for other in (other for other in found if other.casefold() == name.casefold()):
                    what = f"there is no column '{printable(name)}', but '{printable(other)}'"
                    hint = "Write the name of a column in the same letters in all objects."
                    raise IngestError(what, where=where, hint=hint)
            elif isinstance(value, bool):
                cells[i] = _BOOLEANS[value]
            elif value is not None and not isinstance(value, str):
                kind = "a list" if isinstance(value, list) else "an object"
                raise IngestError(f"the column '{printable(name)}' holds {kind}, not a plain value", where=where)
        return Row(line, cells)

    @staticmethod
    def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError
        return found


def _no_json(_: str) -> NoReturn:
    raise ValueError
