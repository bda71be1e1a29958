"""Parquet files: their columns, and the texts that stand for their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb

from atr.core.display_text import printable
from atr.errors import IngestError
from atr.ingest.sources.base import File, Relation, literally, require_columns
from atr.warehouse.connection import Parameters, Warehouse

_NO_PLAIN_VALUES = ("STRUCT", "MAP", "UNION", "BLOB", "GEOMETRY", "VARIANT")


@contextmanager
def relation(warehouse: Warehouse, file: File, needed: Mapping[str, str]) -> Iterator[Relation | None]:
    """Open a Parquet file for DuckDB to read, as a context manager.

    Parameters
    ----------
    warehouse, file
        As :func:`atr.ingest.sources.relation` takes them.
    needed
        The columns it must have, and the programme's keys that name them.

    Returns
    -------
    The file as DuckDB reads it, while the context lasts.

    Raises
    ------
    IngestError
        If it has not the needed columns, or is no Parquet file.
    """
    p = Parameters([literally(file.path)])
    try:
        elements = warehouse.connection.execute("SELECT name, num_children FROM parquet_schema($1)", p).fetchall()
        types = warehouse.connection.execute("DESCRIBE FROM read_parquet($1, hive_partitioning = false)", p).fetchall()
    except (duckdb.InvalidInputException, duckdb.IOException):
        raise IngestError("is not a Parquet file that can be read", where=str(file.path)) from None
    names: list[str] = []
    position = 1
    for _ in range(elements[0][1] or 0):
        names.append(elements[position][0])
        open_children = 1
        while open_children:
            open_children += (elements[position][1] or 0) - 1
            position += 1
    require_columns(needed, names, file.path)
    columns = {}
    for name in needed:
        i = names.index(name)
        kind: str = types[i][1]
        if kind.startswith(_NO_PLAIN_VALUES) or kind.endswith("]"):
            what = f"the column '{printable(name)}' holds {kind.split('(')[0]}, not plain values"
            raise IngestError(what, where=str(file.path))
        columns[name] = f"CAST(c{i} AS VARCHAR)"
        if kind.startswith(("DECIMAL", "DOUBLE", "FLOAT")):
            columns[name] = rf"regexp_replace(regexp_replace({columns[name]}, '(\.\d*?)0+$', '\1'), '\.$', '')"
    aliases = ", ".join(f"c{i}" for i in range(len(names)))
    yield Relation(f"read_parquet($1, hive_partitioning = false) AS file({aliases})", p, columns, "Parquet")
