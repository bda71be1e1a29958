"""The parts of a log, and for each kind how DuckDB reads it. A new kind is a module here and a line below."""

from __future__ import annotations

import json as text
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

from atr.ingest.sources import csv, database, json, parquet, xlsx
from atr.ingest.sources.base import Column, Needed, Opened, Part, Relation
from atr.ingest.sources.files import files, partitions
from atr.ingest.sources.packed import packing, unpacked_name
from atr.ingest.sources.remote import SCHEME, Object, ObjectPart, objects
from atr.programme import Programme
from atr.programme.log import Database, Log
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.layout import Layout

_KINDS = {"csv": csv.relation, "json": json.relation, "parquet": parquet.relation, "xlsx": xlsx.relation}
_ENDINGS = {
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet", ".pq": "parquet", ".xlsm": "xlsx",
    ".xlsx": "xlsx",
}  # fmt: skip
"""Of a file's name, packed or not; other files are CSV."""


def parts(programme: Programme, *, may_be_none: bool = False) -> list[Part]:
    """Find the parts of the log that ``log.source`` names.

    Parameters
    ----------
    programme
        From :func:`atr.load`.
    may_be_none
        Whether the warehouse keeps files that are gone, so that their folder may be empty.

    Returns
    -------
    In natural order: by the whole name, numbers in it as numbers. Relative paths start at the folder of the programme.

    Raises
    ------
    IngestError
        If one of the sources has none.
    """
    source = programme.log.source
    if isinstance(source, Database):
        return [database.part(programme, source)]
    addresses = [source for source in programme.log.sources if source.startswith(SCHEME)]
    remote = objects(addresses, may_be_none=may_be_none)
    found = files(programme, may_be_none=may_be_none) | {address: Path(address) for address in remote}
    return [_part(name, found[name], programme, remote.get(name)) for name in sorted(found, key=natural)]


def written(part: Part, programme: Programme, warehouse: Warehouse, needed: Needed) -> dict[str, str]:
    """Tell the keys of ``log`` that say how a part is written, as far as bytes and header of a CSV file tell them.

    Parameters
    ----------
    part, programme
        A part of its log.
    warehouse
        It has scratch files.
    needed
        The columns.

    Returns
    -------
    See :func:`atr.ingest.sources.csv.written`; nothing for what is no CSV.

    Raises
    ------
    IngestError
        If the file cannot be read.
    """
    found: dict[str, str] = {}
    if part.kind != "csv":
        return found

    @contextmanager
    def look(path: Path, log: Log, warehouse: Warehouse, needed: Needed) -> Iterator[None]:
        found.update(csv.written(path, log, warehouse, needed))
        yield None

    own = {column: key for column, key in needed.items() if column not in partitions(part.name)}
    fetched = part.object.fetched(look, programme.log, warehouse, own) if isinstance(part, ObjectPart) else None
    with fetched or look(Path(part.where), programme.log, warehouse, own):
        return found


def natural(name: str) -> list[tuple[int, str]]:
    """The key that sorts names with the numbers in them as numbers.

    >>> sorted(["10.csv", "9.csv", "a/1.csv"], key=natural)
    ['9.csv', '10.csv', 'a/1.csv']
    """
    pieces = re.split(r"([0-9]+)", name)
    return [(int(piece), piece) if i % 2 else (-1, piece) for i, piece in enumerate(pieces)]


def _part(name: str, path: Path, programme: Programme, remote: Object | None) -> Part:
    kind = _ENDINGS.get(PurePosixPath(unpacked_name(Path(name))).suffix, "csv")
    relation = _KINDS[kind]
    opened: Callable[[Warehouse, Needed], Opened] = (
        partial(relation, path, programme.log) if remote is None else partial(remote.fetched, relation, programme.log)
    )
    columns = {column: value for column, value in partitions(name).items() if column in Layout.of(programme).keys}
    told = " ".join(filter(None, [packing(Path(name)), text.dumps(columns) if columns else ""]))
    if columns:
        opened = partial(_partitioned, opened, columns)
    if remote is not None:
        return ObjectPart(name, name, kind, opened, told=told, object=remote)
    return Part(name, str(path), kind, opened, path, told)


@contextmanager
def _partitioned(
    opened: Callable[[Warehouse, Needed], Opened], told: dict[str, str | None], warehouse: Warehouse, needed: Needed
) -> Iterator[Relation | None]:
    """Open a file with the columns that its folders tell."""
    with opened(warehouse, {column: key for column, key in needed.items() if column not in told}) as relation:
        if relation is None:
            yield None
            return
        p = Parameters(relation.parameters)
        cells = {column: f"told{i}" for i, column in enumerate(told)}
        values = ", ".join(f"{p.mark(told[column])}::VARCHAR AS {cell}" for column, cell in cells.items())
        columns = relation.columns | {column: Column(cell, cell) for column, cell in cells.items()}
        sql = f"(SELECT *, {values} FROM {relation.sql})"  # noqa: S608
        yield replace(relation, sql=sql, parameters=p, columns=columns)
