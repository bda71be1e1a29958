"""Tables and queries of databases: DuckDB and SQLite files, PostgreSQL and MySQL servers.

Each is read into memory (or what DuckDB spills of it) by one statement, which sees one state of the database, through a
connection of its own: neither the address nor a fault of the server reaches the warehouse. Servers and SQLite give
every value as text, as exact as they have it; types of which that cannot be said are refused.
"""

# ruff: noqa: S608 - what is put into the SQL is made here, or the quoted name of a table, or the programme's own query
from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

import duckdb

from atr.core.display_text import printable
from atr.errors import AtrError, EnvironmentFault, IngestError
from atr.ingest.sources.base import Column, Needed, Part, Relation, exact, plain_number, refuse_type, require_columns
from atr.programme import Programme
from atr.programme.log import Database
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.extensions import Extension, load_extension

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

_CONNECTION_LOST = (
    "unable to connect",
    "failed to connect",
    "server closed",
    "terminating connection",
    "lost connection",
)


class Engine(ABC):
    """How a kind of database is read. ``source`` is what DuckDB calls it while it is attached."""

    name: ClassVar[str]
    type: ClassVar[str]
    extension: ClassVar[Extension | None]
    quote: ClassVar[str] = '"'

    def table(self, name: str) -> str:
        """Quote the name of a table, with its schema if it has one."""
        return ".".join(f"{self.quote}{self._doubled(part)}{self.quote}" for part in name.split("."))

    def column(self, name: str) -> str:
        """Quote the name of a column."""
        return f"{self.quote}{self._doubled(name)}{self.quote}"

    def _doubled(self, name: str) -> str:
        return name.replace(self.quote, 2 * self.quote)

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the session write values as they are meant here."""
        return

    @abstractmethod
    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        """The columns of ``rows``, and their types as messages name them."""

    @abstractmethod
    def texts(self, columns: dict[str, str], where: str, needed: Needed) -> list[str]:
        """SQL of the server for the exact texts of columns, given with their types."""

    def relation(self, rows: str, texts: list[str]) -> tuple[str, Parameters]:
        """What stands after FROM in DuckDB, with the texts as ``c0, c1, …``."""
        columns = ", ".join(f"{text} AS c{i}" for i, text in enumerate(texts))
        return f"{self.type}_query('source', $1)", Parameters([f"SELECT {columns} FROM {rows}"])

    def found(self, columns: dict[str, str], where: str, needed: Needed) -> dict[str, Column]:
        """The columns as they are read."""
        return {name: Column(f"c{i}", f"c{i}") for i, name in enumerate(columns)}


def _described(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Parameters) -> dict[str, str]:
    return {name: type for name, type, *_ in connection.execute(f"DESCRIBE {sql}", parameters).fetchall()}


class DuckDB(Engine):
    """A DuckDB file, whose values are taken as they are."""

    name, type, extension = "DuckDB", "duckdb", None

    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        return _described(connection, f"FROM {rows}", Parameters())

    def texts(self, columns: dict[str, str], where: str, needed: Needed) -> list[str]:
        return [self.column(name) for name in columns]

    def relation(self, rows: str, texts: list[str]) -> tuple[str, Parameters]:
        columns = ", ".join(f"{text} AS c{i}" for i, text in enumerate(texts))
        return f"(SELECT {columns} FROM {rows})", Parameters()

    def found(self, columns: dict[str, str], where: str, needed: Needed) -> dict[str, Column]:
        return {
            name: exact(f"c{i}", type, name=name, where=where, key=needed[name])
            for i, (name, type) in enumerate(columns.items())
        }


class SQLite(Engine):
    """A SQLite file, in which each value has a type of its own."""

    name, type, extension = "SQLite", "sqlite", "sqlite_scanner"

    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        names = _described(connection, "FROM sqlite_query('source', $1)", Parameters([f"SELECT * FROM {rows}"]))
        kinds = ", ".join(
            f"max(typeof({self.column(name)}) = '{kind}') AS c{2 * i + j}"
            for i, name in enumerate(names)
            for j, kind in enumerate(("blob", "real"))
        )
        found = connection.execute("FROM sqlite_query('source', $1)", [f"SELECT {kinds} FROM {rows}"]).fetchone() or ()
        told = {("1", "0"): "BLOB", ("0", "1"): "REAL", ("1", "1"): "BLOB"}
        return {name: told.get(found[2 * i : 2 * i + 2], "TEXT") for i, name in enumerate(names)}

    def texts(self, columns: dict[str, str], where: str, needed: Needed) -> list[str]:
        for name, type in columns.items():
            refuse_type(type, allowed=("TEXT", "REAL"), name=name, where=where, key=needed[name])
        return [self._text(self.column(name)) for name in columns]

    def _text(self, column: str) -> str:
        """The shortest of the numbers with 15, 16 and 17 digits that is the same."""
        digits = "".join(
            f"WHEN CAST(printf('%!.{n}g', {column}) AS REAL) = {column} THEN printf('%!.{n}g', {column}) "
            for n in (15, 16)
        )
        number = f"CASE {digits} ELSE printf('%!.17g', {column}) END"
        trimmed = f"CASE WHEN instr({number}, 'e') THEN {number} ELSE rtrim(rtrim({number}, '0'), '.') END"
        return f"CASE typeof({column}) WHEN 'real' THEN {trimmed} ELSE CAST({column} AS TEXT) END"


class PostgreSQL(Engine):
    """A PostgreSQL server, or one that speaks like it."""

    name, type, extension = "PostgreSQL", "postgres", "postgres_scanner"
    allowed = (
        "bool", "int2", "int4", "int8", "oid", "numeric", "float4", "float8", "text", "varchar", "bpchar", "char",
        "name", "citext", "enum", "date", "time", "timetz", "timestamp", "timestamptz", "uuid", "inet", "cidr",
    )  # fmt: skip

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        settings = {"DateStyle": "ISO, YMD", "TimeZone": "UTC", "extra_float_digits": "1"}
        sets = ", ".join(
            f"set_config('{name}', '{value}', true) AS c{i}" for i, (name, value) in enumerate(settings.items())
        )
        connection.execute("FROM postgres_query('source', $1)", [f"SELECT {sets}"]).fetchall()

    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        names = _described(connection, "FROM postgres_query('source', $1)", Parameters([f"SELECT * FROM {rows}"]))
        each = " UNION ALL ".join(
            f"SELECT {i} AS i, pg_typeof((SELECT {self.column(name)} FROM {rows} LIMIT 0))::oid AS oid"
            for i, name in enumerate(names)
        )
        types = connection.execute(
            "FROM postgres_query('source', $1)",
            [
                "SELECT (CASE WHEN t.typtype = 'e' THEN 'enum' ELSE t.typname END)::text AS type "
                f"FROM ({each}) AS c JOIN pg_type AS d ON d.oid = c.oid "
                "JOIN pg_type AS t ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END ORDER BY c.i"
            ],
        ).fetchall()
        return {name: type for name, (type,) in zip(names, types, strict=True)}

    def texts(self, columns: dict[str, str], where: str, needed: Needed) -> list[str]:
        for name, type in columns.items():
            refuse_type(type, allowed=self.allowed, name=name, where=where, key=needed[name])
        return [f"{self.column(name)}::text" for name in columns]

    def found(self, columns: dict[str, str], where: str, needed: Needed) -> dict[str, Column]:
        moments = {"date": "DATE", "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMP WITH TIME ZONE"}
        numbers = ("numeric", "float4", "float8")
        return {
            name: _column(plain_number(f"c{i}") if type in numbers else f"c{i}", moments.get(type))
            for i, (name, type) in enumerate(columns.items())
        }


class MySQL(Engine):
    """A MySQL or MariaDB server."""

    name, type, extension, quote = "MySQL", "mysql", "mysql_scanner", "`"
    allowed = (
        "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "date", "datetime",
        "timestamp", "time", "year", "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "uuid",
    )  # fmt: skip

    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        if source.table is None:
            return self._of_query(connection, rows)
        *schema, table = source.table.split(".")
        texts = [f"CONVERT(0x{name.encode().hex()} USING utf8mb4)" for name in (*schema, table)]
        sql = (
            "SELECT column_name AS c, CAST(data_type AS CHAR) AS t FROM information_schema.columns "
            f"WHERE table_schema = {texts[0] if schema else 'DATABASE()'} AND table_name = {texts[-1]} "
            "ORDER BY ordinal_position"
        )
        connection.execute("FROM mysql_query('source', $1)", [f"SELECT 1 FROM {rows} LIMIT 0"])
        return dict(connection.execute("FROM mysql_query('source', $1)", [sql]).fetchall())

    def _of_query(self, connection: duckdb.DuckDBPyConnection, rows: str) -> dict[str, str]:
        """Of a query less is known: whether a time has a zone, or bytes are a text."""
        found = _described(connection, "FROM mysql_query('source', $1)", Parameters([f"SELECT * FROM {rows}"]))
        known = {"VARCHAR": "text", "DATE": "date", "FLOAT": "float", "DOUBLE": "double", "TIME": "time"}
        whole = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?|DECIMAL.*")
        return {
            name: "decimal" if whole.fullmatch(type) else known.get(type, f"{type} of a query")
            for name, type in found.items()
        }

    def texts(self, columns: dict[str, str], where: str, needed: Needed) -> list[str]:
        found = []
        for name, type in columns.items():
            refuse_type(type, allowed=self.allowed, name=name, where=where, key=needed[name])
            value = self.column(name)
            if type == "float":
                value = f"CAST({value} AS DOUBLE)"
            elif type == "timestamp":
                value = f"DATE_ADD('1970-01-01', INTERVAL UNIX_TIMESTAMP({value}) SECOND)"
            text = f"CONVERT({value} USING utf8mb4)" if "text" in type or "char" in type else f"CAST({value} AS CHAR)"
            found.append(f"CONCAT({text}, '+00')" if type == "timestamp" else text)
        return found

    def found(self, columns: dict[str, str], where: str, needed: Needed) -> dict[str, Column]:
        moments = {"date": "DATE", "datetime": "TIMESTAMP", "timestamp": "TIMESTAMP WITH TIME ZONE"}
        found = {}
        for i, (name, type) in enumerate(columns.items()):
            text = f"CAST(CAST(c{i} AS FLOAT) AS VARCHAR)" if type == "float" else f"c{i}"
            text = plain_number(text) if type in ("decimal", "float", "double") else text
            found[name] = _column(text, moments.get(type))
        return found


def _column(text: str, moment: str | None) -> Column:
    return Column(text, text) if moment is None else Column(text, f"TRY_CAST({text} AS {moment})", moment)


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
        return Part(name, f"{where} ({name})", partial(_relation, engine, address, source, f"{where} ({name})"))
    path = programme.path.parent / Path(source.database).expanduser()
    engine = _file(path, where)
    opened = partial(_relation, engine, str(path), source, f"{path}, {what}")
    journals = [path.with_name(path.name + end) for end in (".wal", "-wal", "-journal")]
    alone = not any(journal.exists() for journal in journals)
    return Part(name, f"{path}, {what}", opened, path if alone else None, told=f"{what} {source.query or ''}".strip())


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
    quoted = address.replace("'", "''")
    try:
        connection.execute(f"ATTACH '{quoted}' AS source (TYPE {engine.type}, READ_ONLY)")
    except duckdb.Error as error:
        said = str(error).lower().replace(address.lower(), "")
    else:
        return
    if source.variable is None:
        hint = "Close what has it open, or write it with a version of DuckDB that is not newer than atr's."
        raise IngestError(f"cannot be opened as a {engine.name} database", where=where, hint=hint)
    told = next((told for words, told in _NOT_REACHED.items() if words in said), "cannot be reached")
    hint = f"Look at the address in the environment variable {source.variable}, and at the server."
    raise EnvironmentFault(f"the {engine.name} database {told}", where=where, hint=hint)


def _fetch(
    connection: duckdb.DuckDBPyConnection,
    engine: Engine,
    address: str,
    source: Database,
    where: str,
    needed: Needed,
) -> dict[str, Column]:
    """Read the needed columns into ``fetched.main.log``, in one transaction of the database."""
    rows = engine.table(source.table) if source.table is not None else f"({_one(source.query or '')}\n) AS log_query"
    try:
        connection.execute("USE source")
        connection.execute("BEGIN")
        engine.prepare(connection)
        types = engine.types(connection, source, rows)
        require_columns(needed, [*types], where)
        columns = {name: types[name] for name in needed}
        sql, parameters = engine.relation(rows, engine.texts(columns, where, needed))
        found = engine.found(columns, where, needed)
        connection.execute(f"CREATE TABLE fetched.main.log AS FROM {sql}", parameters)
        connection.execute("COMMIT")
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        fault = _fault(str(error), engine, address, source, where)
    else:
        return found
    raise fault


def _fault(said: str, engine: Engine, address: str, source: Database, where: str) -> AtrError:
    lost = address in said or any(words in said.lower() for words in _CONNECTION_LOST)
    if lost and source.variable is not None:
        hint = f"Start again; look at the server that the environment variable {source.variable} names."
        return EnvironmentFault(f"the {engine.name} database broke off the reading", where=where, hint=hint)
    line = re.sub(r'^.*?(ERROR:\s*|query ".*?": )', "", said, flags=re.DOTALL).split("\n")[0]
    if re.search("does not exist|doesn't exist|no such table", line) and source.table is not None:
        hint = "Write it as the database does, with its schema if it has one, as in public.decisions."
        return IngestError(
            f"there is no table {printable(source.table)}, or it may not be read", where=where, hint=hint
        )
    what = f"{engine.name} cannot read the {'query' if source.table is None else 'table'}"
    return IngestError(what, where=where, hint="Try it with a client of the database.", private=f"It says: {line}")


def _one(query: str) -> str:
    return query.strip().rstrip(";").strip()
