"""The files of released records."""

# ruff: noqa: S608 - what is put into the SQL is made here: quoted names and paths
from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd

from atr.core.arrays import IntArray
from atr.records.model import CHANNEL, FILES, PublicRecords
from atr.warehouse.connection import Warehouse, quoted
from atr.warehouse.files import sha256

MANIFEST = "manifest.json"


def write_records(warehouse: Warehouse, records: PublicRecords, counts: IntArray, folder: Path) -> PublicRecords:
    """Write ``records.csv`` and ``records.parquet``: a row for each decision, in the order of groups and values.

    That order is of what is released alone: no row can be found again by its place, in this file or in two of them.

    Parameters
    ----------
    warehouse
        Its engine writes the files.
    records
        Says what columns and groups there are.
    counts
        (g, y) rows of each group with each released value.
    folder
        Is there.

    Returns
    -------
    The records, with the hashes of both files.
    """
    group, value = np.nonzero(counts)
    columns = {name: [records.groups[g].values.get(name) for g in group.tolist()] for name in records.attributes} | {
        records.column: [records.values[y] for y in value.tolist()]
    }
    types = dict.fromkeys(records.attributes, "VARCHAR") | {records.column: "DOUBLE" if records.numeric else "VARCHAR"}
    rows = pd.DataFrame({f"c{i}": pd.Series(of, dtype=object) for i, of in enumerate(columns.values())})
    rows["n"] = counts[group, value]
    again = "_" * (1 + max(map(len, columns)))
    names = ", ".join(
        f'c{i}::{types[name]} AS "{name.replace(chr(34), chr(34) * 2)}"' for i, name in enumerate(columns)
    )
    warehouse.connection.register("released", rows)
    try:
        every = f"SELECT * EXCLUDE {again} FROM (SELECT {names}, unnest(range(n)) AS {again} FROM released)"
        csv, parquet = (quoted(str(folder / name)) for name in FILES)
        warehouse.query(f"COPY ({every}) TO '{parquet}' (FORMAT parquet)")
        warehouse.query(f"COPY (FROM read_parquet('{parquet}')) TO '{csv}' (FORMAT csv, HEADER)")
    finally:
        warehouse.connection.unregister("released")
    return records.model_copy(update={"sha256": {name: sha256(folder / name) for name in FILES}})


def write_channel(records: PublicRecords, folder: Path) -> None:
    """Write ``channel.json``."""
    (folder / CHANNEL).write_bytes(records.to_json().encode())


def write_manifest(folder: Path) -> None:
    """Write ``manifest.json``: the hash and the size of every other file."""
    files = {path.name: {"sha256": sha256(path), "bytes": path.stat().st_size} for path in sorted(folder.iterdir())}
    files.pop(MANIFEST, None)
    (folder / MANIFEST).write_text(json.dumps({"files": files}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def content_sha256(records: PublicRecords) -> str:
    """Hash what a release says, whatever its version, its date, what else is published, and who wrote its Parquet."""
    rows = {FILES[0]: records.sha256[FILES[0]]}
    said = records.model_copy(update={"version": 1, "date": "", "beside": (), "sha256": rows})
    return hashlib.sha256(said.to_json().encode()).hexdigest()
