"""Tables and queries of databases: DuckDB and SQLite files, PostgreSQL and MySQL servers.

Each is read into memory (or what DuckDB spills of it) by one statement, which sees one state of the database, through a
connection of its own: neither the address nor a fault of the server reaches the warehouse. Servers and SQLite give
every value as text, as exact as they have it; types of which that cannot be said are refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb

from atr.core.display_text import printable
from atr.errors import AtrError, EnvironmentFault, IngestError
from atr.ingest.sources.base import Column, Needed, Part, Relation, require_columns
from atr.ingest.sources.engines import DuckDB, Engine, MySQL, PostgreSQL, SQLite
from atr.programme import Programme
from atr.programme.log import Database
from atr.warehouse.connection import Parameters, Warehouse, quoted
from atr.warehouse.extensions import load_extension

_SECONDS = 10
"""For which a PostgreSQL server is waited for, unless its address says otherwise."""

_NOT_REACHED = {
    "authentication failed": "refuses the user or the password",
    "access denied": "refuses the user or the password",
    "translate host name": "is on a host that is not known",
    "unknown server host": "is on a host that is not known",
    "connection refused": "is not there: nothing listens at its address",
    "can't connect": "is not there: nothing listens at its address",
    "does not exist": "is not on its server",
    "unknown database": "is not on its server",
    "timeout": "does not answer",
    "ssl": "does not agree about encryption (SSL)",
    "pg_hba": "does not let this machine in",
}
"""What a server's words say, and what is told of it: they may hold the address, and so the password."""

_BUSY = ("database is locked", "lock on file", "no space left")

_CONNECTION_LOST = ("unable to connect", "failed to connect", "server closed", "terminating conn", "lost connection")


def part(programme: Programme, source: Database) -> Part:
    """Find the table or query of a database that is the log.

    Raises
    ------
    IngestError
        If the file is not there or no database.
    EnvironmentFault
        If the environment variable is not set, or holds no address.
    """
    where = f"{programme.path}, log.source"
    what = f"table {source.table}" if source.table is not None else "query"
    name = f"{source.database}, {what}"
    if source.variable is not None:
        engine, address = _server(source.variable, where)
        opened = partial(_relation, engine, address, source, f"{where} ({name})")
        return Part(name, f"{where} ({name})", "database", opened)
    path = programme.path.parent / os.path.expanduser(source.database)  # noqa: PTH111 - "~" of nobody is a name too
    engine = _file(path, where)
    opened = partial(_relation, engine, str(path), source, f"{path}, {what}")
    journals = [path.with_name(path.name + end) for end in (".wal", "-wal", "-journal")]
    alone = not any(journal.exists() for journal in journals)
    told = f"{what} {source.query or ''}".strip()
    return Part(name, f"{path}, {what}", "database", opened, path if alone else None, told)


def _server(variable: str, where: str) -> tuple[Engine, str]:
    address = os.environ.get(variable, "").strip()
    hint = f"Put the address into {variable}, as in postgresql://user:password@host/database, or mysql://…."
    if not address:
        raise EnvironmentFault(f"the environment variable {variable} is not set", where=where, hint=hint)
    if re.match(r"(mysql|mariadb)://", address):
        return MySQL(), re.sub("^mariadb", "mysql", address)
    if re.match(r"postgres(ql)?://", address) or re.match(r"[a-z_]+ *=", address):
        if "connect_timeout" not in address and "PGCONNECT_TIMEOUT" not in os.environ:
            between = ("&" if "?" in address else "?") if "://" in address else " "
            address = f"{address}{between}connect_timeout={_SECONDS}"
        return PostgreSQL(), address
    what = f"the environment variable {variable} holds no address of a PostgreSQL or MySQL database"
    raise EnvironmentFault(what, where=where, hint=hint)


def _file(path: Path, where: str) -> Engine:
    try:
        with path.open("rb") as content:
            start = content.read(16)
    except FileNotFoundError:
        hint = "Paths are relative to the programme file; an environment variable is named without dots and slashes."
        raise IngestError(f"there is no file {path}", where=where, hint=hint) from None
    except OSError as error:
        raise IngestError(f"cannot be read ({error.strerror or error})", where=str(path)) from None
    if start[:15] == b"SQLite format 3":
        return SQLite()
    if start[8:12] == b"DUCK":
        return DuckDB()
    raise IngestError("is neither a DuckDB nor a SQLite database", where=str(path))


@contextmanager
def _relation(
    engine: Engine, address: str, source: Database, where: str, warehouse: Warehouse, needed: Needed
) -> Iterator[Relation]:
    """Read what is needed of a table or query; see :class:`atr.ingest.sources.base.Part`."""
    try:
        with _detached(warehouse, "source") as connection:
            connection.execute("SET TimeZone = 'UTC'")
            _attach(connection, engine, address, source, where)
            connection.execute("ATTACH ':memory:' AS fetched")
            columns = _fetch(connection, engine, address, source, where, needed)
        yield Relation("fetched.main.log", Parameters(), columns, engine.name, "0")
    finally:
        with _detached(warehouse, "fetched"):
            pass


@contextmanager
def _detached(warehouse: Warehouse, name: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection of its own to the warehouse's DuckDB, which does not know a database any more afterwards."""
    with warehouse.connection.cursor() as connection:
        try:
            with connection.cursor() as inner:
                yield inner
        finally:
            connection.execute(f"DETACH DATABASE IF EXISTS {name}")


def _attach(connection: duckdb.DuckDBPyConnection, engine: Engine, address: str, source: Database, where: str) -> None:
    """Attach a database. What DuckDB says of a failure holds the address: it is left behind, its traceback too."""
    if engine.extension is not None:
        load_extension(connection, engine.extension, f"a {engine.name} database")
    try:
        connection.execute(f"ATTACH '{quoted(address)}' AS source (TYPE {engine.type}, READ_ONLY)")
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        said = str(error).lower().replace(address.lower(), "")
    else:
        return
    if source.variable is None:
        _refuse_busy(said, engine, where)
        hint = "Close what has it open, or write it with a version of DuckDB that is not newer than atr's."
        raise IngestError(f"cannot be opened as a {engine.name} database", where=where, hint=hint)
    told = next((told for words, told in _NOT_REACHED.items() if words in said), "cannot be reached")
    hint = f"Look at the address in the environment variable {source.variable}, and at the server."
    raise EnvironmentFault(f"the {engine.name} database {told}", where=where, hint=hint)


def _fetch(
    connection: duckdb.DuckDBPyConnection, engine: Engine, address: str, source: Database, where: str, needed: Needed
) -> dict[str, Column]:
    """Read the needed columns into ``fetched.main.log``, in one transaction of the database."""
    query = (source.query or "").strip().rstrip(";").strip()
    rows = engine.table(source.table) if source.table is not None else f"({query}\n) AS log_query"
    try:
        connection.execute("USE source")
        connection.execute("BEGIN")
        engine.prepare(connection)
        types = engine.types(connection, source, rows)
        require_columns(needed, [*types], where)
        columns = {name: types[name] for name in needed}
        sql, parameters = engine.relation(rows, columns, where, needed)
        found = engine.found(columns, where, needed)
        connection.execute(f"CREATE TABLE fetched.main.log AS FROM {sql}", parameters)
        connection.execute("COMMIT")
    except (duckdb.OutOfMemoryException, duckdb.InterruptException):
        raise
    except duckdb.Error as error:
        said = str(error)
    else:
        return found
    _refuse_busy(said, engine, where)
    raise _fault(said, engine, address, source, where)


def _refuse_busy(said: str, engine: Engine, where: str) -> None:
    if any(words in said.lower() for words in _BUSY):
        hint = "Wait until whoever writes to it has ended; look at the free space of the store."
        raise EnvironmentFault(f"the {engine.name} database cannot be read now", where=where, hint=hint)


def _fault(said: str, engine: Engine, address: str, source: Database, where: str) -> AtrError:
    lost = address in said or any(words in said.lower() for words in _CONNECTION_LOST)
    if lost and source.variable is not None:
        hint = f"Start again; look at the server that the environment variable {source.variable} names."
        return EnvironmentFault(f"the {engine.name} database broke off the reading", where=where, hint=hint)
    line = re.sub(r'^.*?(ERROR:\s*|query ".*?": )', "", said, flags=re.DOTALL).split("\n")[0]
    if re.search("does not exist|doesn't exist|no such table", line) and source.table is not None:
        hint = "Write it as the database does, with its schema if it has one, as in public.decisions."
        what = f"there is no table {printable(source.table)}, or it may not be read"
        return IngestError(what, where=where, hint=hint)
    what = f"{engine.name} cannot read the {'query' if source.table is None else 'table'}"
    return IngestError(what, where=where, hint="Try it with a client of the database.", private=f"It says: {line}")
