"""DuckDB's extensions, which are installed as Python packages: DuckDB itself downloads none."""

from __future__ import annotations

from contextlib import suppress
from importlib.resources import files
from typing import Literal

import duckdb

from atr.errors import EnvironmentFault
from atr.warehouse.connection import quoted

Extension = Literal["postgres_scanner", "mysql_scanner", "sqlite_scanner", "httpfs"]


def load_extension(connection: duckdb.DuckDBPyConnection, name: Extension, what: str) -> None:
    """Load an extension of DuckDB, whose signature DuckDB checks.

    Parameters
    ----------
    connection
        For which, and for all others of its database, it is loaded.
    name
        The extension.
    what
        It is needed for, for the message.

    Raises
    ------
    EnvironmentFault
        If it is not installed, or not that of this DuckDB.
    """
    package = f"duckdb_extension_{name}"
    with suppress(ModuleNotFoundError, duckdb.Error):
        file = files(package) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        connection.execute(f"LOAD '{quoted(str(file))}'")
        return
    wanted = f"{package.replace('_', '-')}=={duckdb.__version__}"
    raise EnvironmentFault(f"{what} is read by a package that is missing", hint=f"Install it: pip install {wanted}")
