"""The files of a log, and for each kind of file how DuckDB reads it. A new kind is a module here and a line below."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from atr.errors import IngestError
from atr.ingest.sources import csv, parquet
from atr.ingest.sources.base import File, Relation
from atr.programme import Programme
from atr.warehouse.connection import Warehouse

_KINDS = {".parquet": parquet.relation, ".pq": parquet.relation}
"""By the end of a file's name; other files are CSV."""


def matches(programme: Programme) -> list[Path]:
    """Find the files that ``log.source`` names.

    Parameters
    ----------
    programme
        From :func:`atr.load`.

    Returns
    -------
    Paths in alphabetical order, relative patterns from the folder of the programme file.

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


def relation(warehouse: Warehouse, file: File, needed: Mapping[str, str]) -> AbstractContextManager[Relation | None]:
    """Open a file for DuckDB to read, as a context manager.

    Parameters
    ----------
    warehouse
        Whose connection reads it.
    file
        From :func:`atr.ingest.sources.base.fingerprint`.
    needed
        The columns it must have, and the programme's keys that name them.

    Returns
    -------
    The file as DuckDB reads it, while the context lasts; None if it is empty.

    Raises
    ------
    IngestError
        If it has not the needed columns, or is no file of its kind.
    """
    return _KINDS.get(file.path.suffix.lower(), csv.relation)(warehouse, file, needed)
