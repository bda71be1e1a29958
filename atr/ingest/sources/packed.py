"""Files of a log as streams: whole, unpacked, and of the kind that their names say."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import zstandard

from atr.errors import IngestError
from atr.warehouse.connection import Warehouse
from atr.warehouse.store import os_faults

_PACKED = {".gz": "gzip", ".zst": "Zstandard"}
_LARGEST_WINDOW = 1 << 31
"""Bytes that a Zstandard file may look back, as with ``zstd --ultra --long=31``."""

_KINDS = (
    (b"PK\x03\x04", "a zip or Excel file", "name it .xlsx if it is one; else unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old or a locked Excel file", "save it as .xlsx, without a password"),
    (b"PAR1", "a Parquet file", "name it .parquet"),
    (b"\x1f\x8b", "packed by gzip", "name it so, as in log.csv.gz"),
    (b"\x28\xb5\x2f\xfd", "packed by Zstandard", "name it so, as in log.csv.zst"),
    (b"BZh", "packed by bzip2", "unpack it, or pack it by gzip"),
    (b"\xfd7zXZ", "packed by xz", "unpack it, or pack it by gzip"),
    (b"7z\xbc\xaf", "a 7z file", "unpack it"),
    (b"SQLite format 3\0", "a SQLite database", "give source: {database: …, table: …}"),
    (b"%PDF-", "a PDF file", "export the log as CSV"),
    (b"Obj\x01", "an Avro file", "write it as Parquet"),
    (b"ORC", "an ORC file", "write it as Parquet"),
)
"""How files of other kinds begin, what they are, and what to do."""
_MARKED_UP = (b"<!doctype html", b"<html", b"<table", b"<?xml", b"<meta", b"<head")


@contextmanager
def unpacked(path: Path, warehouse: Warehouse) -> Iterator[IO[bytes]]:
    """Open a file to read from its beginning, and again; what is packed is unpacked into a scratch file before.

    It must be whole: DuckDB reads half a gzip file in silence.

    Raises
    ------
    IngestError
        If it cannot be read, is not whole, or is of another kind than its name says.
    """
    if not packing(path):
        try:
            stream = path.open("rb")
            begins = stream.read(1 << 10)
        except OSError as error:
            raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
        with stream:
            _refuse_other_kinds(begins, path)
            stream.seek(0)
            yield stream
        return
    with warehouse.scratch() as copy:
        with os_faults(warehouse.path or path):
            for chunk in _unpack(path):
                copy.write(chunk)
            copy.flush()
            copy.seek(0)
            _refuse_other_kinds(copy.read(1 << 10), path)
            copy.seek(0)
        yield copy


def packing(path: Path) -> str:
    """Tell how a file is packed, by its name; nothing if it is not."""
    return _PACKED.get(path.suffix.lower(), "")


def unpacked_name(path: Path) -> str:
    """Give the name of a file as if it were not packed, in small letters."""
    name = path.name.lower()
    return name.removesuffix(path.suffix.lower()) if packing(path) else name


def _unpack(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            if packing(path) == "gzip":
                with gzip.open(file) as stream:
                    yield from iter(lambda: stream.read(1 << 20), b"")
            else:
                yield from _zstandard(file)
    except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError):
        raise IngestError(f"is not a whole {packing(path)} file", where=str(path)) from None
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from error


def _zstandard(file: IO[bytes]) -> Iterator[bytes]:
    """Unpack frame by frame; the readers of the library take half a frame for a whole one."""
    frame: zstandard.ZstdDecompressionObj | None = None
    while chunk := file.read(1 << 14):
        while chunk:
            frame = frame or zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()
            yield frame.decompress(chunk)
            chunk = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError


def _refuse_other_kinds(begins: bytes, path: Path) -> None:
    """Name what a file is that its name says nothing of."""
    binary = re.search(rb"[\0-\x08\x0e-\x1f]", begins) is not None
    for start, what, advice in _KINDS:
        if begins.startswith(start) and (binary or not start.isalnum()):  # headers may begin with these letters
            raise IngestError(f"is {what}", where=str(path), hint=f"{advice[0].upper()}{advice[1:]}.")
    if begins.removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_MARKED_UP):
        raise IngestError("is a web page or XML", where=str(path), hint="Export the log as CSV, or as .xlsx.")
