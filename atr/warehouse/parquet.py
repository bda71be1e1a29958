"""Parquet files between the steps of a run, written and read by DuckDB."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb
import pandas as pd

from atr.errors import EnvironmentFault


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame whole or not at all.

    Raises
    ------
    EnvironmentFault
        If the disk or the folder refuses it.
    """
    temporary = path.with_suffix(".tmp")
    try:
        with _database().cursor() as connection:
            connection.from_df(frame).write_parquet(str(temporary))
    except duckdb.IOException as error:
        raise EnvironmentFault(
            f"cannot be written ({str(error).splitlines()[0]})",
            where=str(path),
            hint="Look at the free space and the permissions of the store.",
        ) from None
    temporary.replace(path)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a file written by :func:`write_parquet`, with its rows in their order."""
    with _database().cursor() as connection:
        return connection.read_parquet(str(path)).df()


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One empty database for all files: opening one takes longer than reading a file."""
    return duckdb.connect(config={"threads": "1", "python_enable_replacements": "false"}).execute(
        # A file of a run may be written again at the same path; its old pages must not be remembered.
        "SET enable_external_file_cache = false"
    )
