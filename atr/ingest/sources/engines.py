"""The kinds of databases, and how the exact texts of their values are asked for."""

# ruff: noqa: S608 - what is put into the SQL is made here, or a quoted name, or the programme's own query
from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import duckdb

from atr.ingest.sources.base import Column, Needed, exact, plain_number, refuse_type
from atr.programme.log import Database
from atr.warehouse.connection import Parameters
from atr.warehouse.extensions import Extension


class Engine(ABC):
    """How a kind of database is read. ``source`` is what DuckDB calls it while it is attached."""

    name: ClassVar[str]
    type: ClassVar[str]
    extension: ClassVar[Extension | None]
    quote: ClassVar[str] = '"'
    allowed: ClassVar[tuple[str, ...]]
    """The types whose values have one exact text each, as :meth:`types` names them."""
    moments: ClassVar[dict[str, str]] = {}
    """Types of moments, and those of DuckDB."""
    numbers: ClassVar[tuple[str, ...]] = ()
    """Types of numbers that are written with zeros that say nothing."""

    def table(self, name: str) -> str:
        """Quote the name of a table, with its schema if it has one."""
        return ".".join(map(self.column, name.split(".")))

    def column(self, name: str) -> str:
        """Quote the name of a column."""
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the session write values as they are meant here."""
        return

    @abstractmethod
    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        """The columns of ``rows``, and their types as messages name them."""

    def text(self, value: str, type: str) -> str:
        """SQL of the server for the exact text of a value."""
        raise NotImplementedError

    def plain(self, cell: str, type: str) -> str:
        """SQL of DuckDB for a text of the server as it is read."""
        return plain_number(cell) if type in self.numbers else cell

    def relation(self, rows: str, columns: dict[str, str], where: str, needed: Needed) -> tuple[str, Parameters]:
        """What stands after FROM in DuckDB, with the texts of columns, given with their types, as ``c0, c1, …``."""
        for name, type in columns.items():
            refuse_type(type, allowed=self.allowed, name=name, where=where, key=needed[name])
        texts = ", ".join(f"{self.text(self.column(n), type)} AS c{i}" for i, (n, type) in enumerate(columns.items()))
        return f"{self.type}_query('source', $1)", Parameters([f"SELECT {texts} FROM {rows}"])

    def found(self, columns: dict[str, str], where: str, needed: Needed) -> dict[str, Column]:
        """The columns as they are read."""
        found = {}
        for i, (name, type) in enumerate(columns.items()):
            text, moment = self.plain(f"c{i}", type), self.moments.get(type)
            value = text if moment is None else f"TRY_CAST({text} AS {moment})"
            found[name] = Column(text, value, moment or "VARCHAR")
        return found

    def _ask(self, connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(f"FROM {self.type}_query('source', $1)", [sql]).fetchall()

    def _names(self, connection: duckdb.DuckDBPyConnection, rows: str) -> dict[str, str]:
        """The columns of ``rows``, and their types as DuckDB takes them."""
        return _described(connection, f"FROM {self.type}_query('source', $1)", [f"SELECT * FROM {rows}"])


def _described(connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[str] = ()) -> dict[str, str]:
    return {name: type for name, type, *_ in connection.execute(f"DESCRIBE {sql}", list(parameters)).fetchall()}


class DuckDB(Engine):
    """A DuckDB file, whose values are taken as they are."""

    name, type, extension = "DuckDB", "duckdb", None

    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        return _described(connection, f"FROM {rows}")

    def relation(self, rows: str, columns: dict[str, str], where: str, needed: Needed) -> tuple[str, Parameters]:
        cells = ", ".join(f"{self.column(name)} AS c{i}" for i, name in enumerate(columns))
        return f"(SELECT {cells} FROM {rows})", Parameters()

    def found(self, columns: dict[str, str], where: str, needed: Needed) -> dict[str, Column]:
        return {
            name: exact(f"c{i}", type, name=name, where=where, key=needed[name])
            for i, (name, type) in enumerate(columns.items())
        }


class SQLite(Engine):
    """A SQLite file, in which each value has a type of its own."""

    name, type, extension = "SQLite", "sqlite", "sqlite_scanner"
    allowed = ("TEXT", "REAL")

    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        names = self._names(connection, rows)
        kinds = ", ".join(
            f"max(typeof({self.column(name)}) = '{kind}') AS c{2 * i + j}"
            for i, name in enumerate(names)
            for j, kind in enumerate(("blob", "real"))
        )
        (found,) = self._ask(connection, f"SELECT {kinds} FROM {rows}")
        told = {("1", "0"): "BLOB", ("0", "1"): "REAL", ("1", "1"): "BLOB"}
        return {name: told.get(found[2 * i : 2 * i + 2], "TEXT") for i, name in enumerate(names)}

    def text(self, value: str, type: str) -> str:
        """The shortest of the numbers with 15, 16 and 17 digits that is the same."""
        digits = "".join(
            f"WHEN CAST(printf('%!.{n}g', {value}) AS REAL) = {value} THEN printf('%!.{n}g', {value}) "
            for n in (15, 16)
        )
        number = f"CASE {digits} ELSE printf('%!.17g', {value}) END"
        trimmed = f"CASE WHEN instr({number}, 'e') THEN {number} ELSE rtrim(rtrim({number}, '0'), '.') END"
        return f"CASE typeof({value}) WHEN 'real' THEN {trimmed} ELSE CAST({value} AS TEXT) END"


class PostgreSQL(Engine):
    """A PostgreSQL server, or one that speaks like it."""

    name, type, extension = "PostgreSQL", "postgres", "postgres_scanner"
    allowed = (
        "bool", "int2", "int4", "int8", "oid", "numeric", "float4", "float8", "text", "varchar", "bpchar", "char",
        "name", "citext", "enum", "date", "time", "timetz", "timestamp", "timestamptz", "uuid", "inet", "cidr",
    )  # fmt: skip
    moments = {"date": "DATE", "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMP WITH TIME ZONE"}  # noqa: RUF012
    numbers = ("numeric", "float4", "float8")

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        settings = {"DateStyle": "ISO, YMD", "TimeZone": "UTC", "extra_float_digits": "1"}
        sets = ", ".join(
            f"set_config('{name}', '{value}', true) AS c{i}" for i, (name, value) in enumerate(settings.items())
        )
        self._ask(connection, f"SELECT {sets}")

    def types(self, connection: duckdb.DuckDBPyConnection, source: Database, rows: str) -> dict[str, str]:
        names = self._names(connection, rows)
        each = " UNION ALL ".join(
            f"SELECT {i} AS i, pg_typeof((SELECT {self.column(name)} FROM {rows} LIMIT 0))::oid AS oid"
            for i, name in enumerate(names)
        )
        types = self._ask(
            connection,
            "SELECT (CASE WHEN t.typtype = 'e' THEN 'enum' ELSE t.typname END)::text AS type "
            f"FROM ({each}) AS c JOIN pg_type AS d ON d.oid = c.oid "
            "JOIN pg_type AS t ON t.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END ORDER BY c.i",
        )
        return {name: type for name, (type,) in zip(names, types, strict=True)}

    def text(self, value: str, type: str) -> str:
        return f"{value}::text"


class MySQL(Engine):
    """A MySQL or MariaDB server."""

    name, type, extension, quote = "MySQL", "mysql", "mysql_scanner", "`"
    allowed = (
        "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "date", "datetime",
        "timestamp", "time", "year", "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "uuid",
    )  # fmt: skip
    moments = {"date": "DATE", "datetime": "TIMESTAMP", "timestamp": "TIMESTAMP WITH TIME ZONE"}  # noqa: RUF012
    numbers = ("decimal", "float", "double")

    def prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("SET mysql_tinyint1_as_boolean = false; SET mysql_bit1_as_boolean = false")

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
        self._ask(connection, f"SELECT 1 FROM {rows} LIMIT 0")
        return dict(self._ask(connection, sql))

    def _of_query(self, connection: duckdb.DuckDBPyConnection, rows: str) -> dict[str, str]:
        """Of a query less is known: whether a time has a zone, or bytes are a text."""
        found = self._names(connection, rows)
        known = {"VARCHAR": "text", "DATE": "date", "FLOAT": "float", "DOUBLE": "double", "TIME": "time"}
        whole = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?|DECIMAL.*")
        return {
            name: "decimal" if whole.fullmatch(type) else known.get(type, f"{type} of a query")
            for name, type in found.items()
        }

    def text(self, value: str, type: str) -> str:
        if type == "float":
            value = f"CAST({value} AS DOUBLE)"
        elif type == "timestamp":
            value = f"DATE_ADD('1970-01-01', INTERVAL UNIX_TIMESTAMP({value}) SECOND)"
        text = f"CONVERT({value} USING utf8mb4)" if "text" in type or "char" in type else f"CAST({value} AS CHAR)"
        return f"CONCAT({text}, '+00')" if type == "timestamp" else text

    def plain(self, cell: str, type: str) -> str:
        return super().plain(f"CAST(CAST({cell} AS FLOAT) AS VARCHAR)" if type == "float" else cell, type)
