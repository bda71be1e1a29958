"""The parts of a log, and for each kind how DuckDB reads it. A new kind is a module here and a line below."""

from __future__ import annotations

import glob
import os
import re
from functools import partial
from pathlib import Path

from atr.errors import IngestError
from atr.ingest.sources import csv, database, parquet
from atr.ingest.sources.base import Part, file_name
from atr.programme import Programme
from atr.programme.log import Database

_KINDS = {".parquet": parquet.relation, ".pq": parquet.relation}
"""By the end of a file's name; other files are CSV."""


def parts(programme: Programme) -> list[Part]:
    """Find the parts of the log that ``log.source`` names.

    Parameters
    ----------
    programme
        From :func:`atr.load`.

    Returns
    -------
    In natural order: by the whole name, numbers in it as numbers. Relative paths start at the folder of the programme.

    Raises
    ------
    IngestError
        If there is none.
    """
    source = programme.log.source
    if isinstance(source, Database):
        return [database.part(programme, source)]
    found = {file_name(path, programme): path for path in _files(programme)}
    return [_part(name, found[name], programme) for name in sorted(found, key=natural)]


def natural(name: str) -> list[tuple[int, str]]:
    """The key that sorts names with the numbers in them as numbers.

    >>> sorted(["10.csv", "9.csv", "a/1.csv"], key=natural)
    ['9.csv', '10.csv', 'a/1.csv']
    """
    pieces = re.split(r"([0-9]+)", name)
    return [(int(piece), piece) if i % 2 else (-1, piece) for i, piece in enumerate(pieces)]


def _part(name: str, path: Path, programme: Programme) -> Part:
    opened = _KINDS.get(path.suffix.lower(), csv.relation)
    return Part(name, str(path), partial(opened, path, programme.log), path)


def _files(programme: Programme) -> list[Path]:
    base, source = programme.path.parent, Path(programme.log.sources[0]).expanduser()
    if (base / source).is_file():
        return [base / source]
    found = glob.glob(os.path.join(glob.escape(str(base)), source), recursive=True)  # noqa: PTH118, PTH207 - absolute patterns
    files = [Path(path) for path in found if Path(path).is_file()]
    if not files:
        raise IngestError(
            f"there is no file {programme.log.source}",
            where=f"{programme.path}, log.source",
            hint="Paths are relative to the programme file.",
        )
    return files
