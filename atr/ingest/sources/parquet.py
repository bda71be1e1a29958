"""Parquet files: their columns, and the texts that stand for their values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from atr.errors import IngestError
from atr.ingest.sources.base import Needed, Relation, exact, literally, readable, require_columns
from atr.programme.log import Log
from atr.warehouse.connection import Parameters, Warehouse

_MOST_DIGITS = 38
"""DuckDB rounds decimals of more digits."""


@contextmanager
def relation(path: Path, log: Log, warehouse: Warehouse, needed: Needed) -> Iterator[Relation | None]:
    """Open a Parquet file for DuckDB to read; see :class:`atr.ingest.sources.base.Part`."""
    p = Parameters([literally(path)])
    options = "hive_partitioning = false, file_row_number = true"
    try:
        with readable("Parquet", str(path)):
            elements = warehouse.connection.execute(
                "SELECT name, num_children, type, logical_type, precision FROM parquet_schema($1)", p
            ).fetchall()
            described = warehouse.connection.execute(f"DESCRIBE FROM read_parquet($1, {options})", p).fetchall()
    except (IngestError, duckdb.IOException):
        raise IngestError("is not a Parquet file that can be read", where=str(path)) from None
    names: list[str] = []
    position = 1
    types = {i: type for i, (_, type, *_) in enumerate(described)}
    for _ in range(elements[0][1] or 0):
        name, _, *form = elements[position]
        types[len(names)] = _not_exact(*form, key=needed.get(name, "")) or types[len(names)]
        names.append(name)
        open_children = 1
        while open_children:
            open_children += (elements[position][1] or 0) - 1
            position += 1
    require_columns(needed, names, str(path))
    places = {name: names.index(name) for name in needed}
    columns = {
        name: exact(f"c{i}", types[i], name=name, where=str(path), key=needed[name]) for name, i in places.items()
    }
    aliases = ", ".join(f"c{i}" for i in range(len(names)))
    sql = f"read_parquet($1, {options}) AS file({aliases}, file_row_number)"
    yield Relation(sql, p, columns, "Parquet", "file_row_number + 1")


def _not_exact(type: str | None, logical: str | None, precision: int | None, *, key: str) -> str | None:
    """What a column holds of which DuckDB reads something else; None if it reads it as it is."""
    in_nanoseconds = "NANOS=Nano" in (logical or "")
    if (precision or 0) > _MOST_DIGITS:
        return f"decimals of {precision} digits"
    if type == "INT96":
        return "INT96 timestamps, of which nobody knows the zone"
    if in_nanoseconds and "TimeType" in (logical or ""):
        return "times in nanoseconds"
    if in_nanoseconds and "UTC=1" in (logical or "") and key != "log.decided_at":
        return "timestamps with a zone in nanoseconds"
    return None
