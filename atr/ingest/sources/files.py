"""The files that the programme names: one by one, by folders and by patterns."""

from __future__ import annotations

import glob
import os
import re
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote

from atr.errors import IngestError
from atr.ingest.sources.base import file_name
from atr.programme import Programme

_NO_DATA = (".", "_")
"""How names begin of what lies in a folder of data and is none, such as ``_SUCCESS``."""
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def files(programme: Programme, *, may_be_none: bool = False) -> dict[str, Path]:
    """Find the files that ``log.source`` names; there ``may_be_none`` in a folder whose files are gone once read.

    Returns
    -------
    Name to path. A file that is named several times, or has several names, is there once.

    Raises
    ------
    IngestError
        If one of the sources has none, or a folder cannot be looked through.
    """
    found: dict[str, Path] = {}
    for source in (source for source in programme.log.sources if "://" not in source):
        for path in _matches(source, programme, may_be_none=may_be_none):
            found |= {file_name(file, programme): file for file in ([path] if path.is_file() else _within(path))}
    for name in found:
        if re.search("[\udc80-\udcff]", name):
            raise IngestError("the name of a file is not UTF-8 text", where=f"{name!a}", hint="Rename the file.")
    by_place: dict[str, str] = {}
    for name in sorted(found, key=lambda name: (name.count("/"), name)):
        by_place.setdefault(os.path.realpath(found[name]), name)
    return {name: found[name] for name in by_place.values()}


def is_data(place: str, pattern: str) -> bool:
    """Whether what a pattern found is data, by its place below what is fixed of the pattern.

    >>> is_data("2024/_temporary/0.csv", "log/**"), is_data("_2024/0.csv", "log/_*/*.csv")
    (False, True)
    """
    meant = [part for part in pattern.split("/") if part.startswith(_NO_DATA)]
    return all(
        not part.startswith(_NO_DATA) or any(fnmatchcase(part, one) for one in meant) for part in place.split("/")
    )


def partitions(name: str) -> dict[str, str | None]:
    """Read what the folders of a file say of all its rows, as in ``year=2024/month=1/0.parquet``.

    >>> partitions("log/country=C%C3%B4te/sex=__HIVE_DEFAULT_PARTITION__/0.parquet")
    {'country': 'Côte', 'sex': None}
    """
    pairs = (folder.partition("=") for folder in name.split("/")[:-1])
    return {unquote(key): None if value == _NO_VALUE else unquote(value) for key, equals, value in pairs if equals}


def _matches(source: str, programme: Programme, *, may_be_none: bool) -> list[Path]:
    base, named = programme.path.parent, Path(source)
    with suppress(RuntimeError):  # nobody's home
        named = named.expanduser()
    if os.path.exists(base / named):  # noqa: PTH110 - no name is too long for it
        found = [base / named]
    else:
        pattern = os.path.join(glob.escape(str(base)), named)  # noqa: PTH118 - named may be absolute
        found = [Path(path) for path in glob.glob(pattern, recursive=True)]  # noqa: PTH207
        fixed = base.joinpath(*takewhile(lambda part: not glob.has_magic(part), named.parts))
        found = [path for path in found if is_data(path.relative_to(fixed).as_posix(), source)]
    found = [path for path in found if path.is_file() or (path.is_dir() and _within(path))]
    is_folder = os.path.isdir(base / named)  # noqa: PTH112 - no name is too long for it
    folder = base / named if is_folder else (base / named).parent
    if not found and not (may_be_none and folder.is_dir()):
        what = "there are no data files in" if is_folder else "there is no file"
        raise IngestError(
            f"{what} {source}",
            where=f"{programme.path}, log.source",
            hint="Paths are relative to the programme file.",
        )
    return found


def _within(folder: Path) -> list[Path]:
    """All data files in a folder, and in the folders in it."""
    found: list[Path] = []
    looked_through = set[str]()
    for at, folders, names in os.walk(folder, onerror=_unreadable, followlinks=True):
        place = os.path.realpath(at)
        inner = [] if place in looked_through else [name for name in folders if not name.startswith(_NO_DATA)]
        folders[:] = sorted(inner)
        if place not in looked_through:
            found += [Path(at, name) for name in names if not name.startswith(_NO_DATA)]
        looked_through.add(place)
    for path in found:
        if not path.is_file():
            raise IngestError("is no file that can be read", where=str(path))
    return found


def _unreadable(error: OSError) -> None:
    raise IngestError(f"cannot be looked through ({error.strerror})", where=str(error.filename)) from error
