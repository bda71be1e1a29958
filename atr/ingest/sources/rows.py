"""Rows that Python reads one by one, and how DuckDB reads them then."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import duckdb

from atr.errors import IngestError
from atr.ingest.sources.base import Column, Needed, Relation
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.store import os_faults

NO_VALUE = chr(1) + "no value" + chr(2)
"""Stands for no value where DuckDB reads CSV; a text that no file has."""


@dataclass(frozen=True)
class Row:
    """A row: its line, or its number, and the text of each needed column."""

    line: int
    cells: list[str | None]


@dataclass(frozen=True)
class Fault:
    """What is no row: its line, why, and what it says."""

    line: int
    reason: str
    raw: str


@contextmanager
def relation_of(
    rows: Iterable[Row | Fault], types: dict[str, str], needed: Needed, kind: str, path: Path, warehouse: Warehouse
) -> Iterator[Relation]:
    """Write rows into a scratch file for DuckDB to read.

    Parameters
    ----------
    rows
        In order.
    types
        Types of columns whose texts can be cast to them, as far as they are other than texts, known once all rows are
        read.
    needed
        The columns.
    kind
        Of the file, as people call it.
    path
        The file, for messages.
    warehouse
        It has the scratch file.
    """
    with warehouse.scratch() as good, warehouse.scratch() as bad:
        wholes, faults = 0, 0
        with os_faults(warehouse.path or path):
            to_good, to_bad = _writer(good), _writer(bad)
            for row in rows:
                try:
                    if isinstance(row, Row):  # the faults before it are added to its line once they are known
                        cells = (NO_VALUE if cell is None else cell for cell in row.cells)
                        to_good.writerow([row.line - faults, *cells])
                        wholes += 1
                        continue
                except UnicodeEncodeError:
                    row = Fault(row.line, "half of a character", "")
                to_bad.writerow([row.line, row.reason, row.raw])
                faults += 1
            good.flush()
            bad.flush()
        p = Parameters()
        sql = _read_csv(p, good, {"line": "BIGINT"} | {f"c{i}": "VARCHAR" for i in range(len(needed))})

        def finish(connection: duckdb.DuckDBPyConnection, read: int) -> None:
            p = Parameters()
            texts = _read_csv(p, bad, {"line": "BIGINT", "reason": "VARCHAR", "raw": "VARCHAR"})
            ((told,),) = connection.execute(f"INSERT INTO rejects SELECT * FROM {texts}", p).fetchall()
            if (read, told) != (wholes, faults):
                raise IngestError("has rows that DuckDB passes over in silence", where=str(path))

        columns = {name: Column(f"c{i}", f"c{i}") for i, name in enumerate(needed)}
        columns |= {n: Column(columns[n].text, f"CAST({columns[n].text} AS {type})", type) for n, type in types.items()}
        yield Relation(sql, p, columns, kind, "line", finish=finish)


def _writer(file: IO[bytes]) -> Any:
    return csv.writer(codecs.getwriter("utf-8")(file), lineterminator="\n", quoting=csv.QUOTE_ALL)


def _read_csv(p: Parameters, file: IO[bytes], columns: dict[str, str]) -> str:
    listed = ", ".join(f"'{name}': '{type}'" for name, type in columns.items())
    return f"""read_csv({p.mark(f"/dev/fd/{file.fileno()}")}, columns = {{{listed}}}, auto_detect = false,
        header = false, delim = ',', quote = '"', escape = '"', new_line = '\\n', max_line_size = {_LONGEST},
        hive_partitioning = false, nullstr = [{p.mark(NO_VALUE)}])"""


_LONGEST = 1 << 24
"""Bytes of a row."""
