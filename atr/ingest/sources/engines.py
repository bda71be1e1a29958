"""The kinds of databases, and how the exact texts of their values are asked for."""

# ruff: noqa: S608 - what is put into the SQL is made here, or a quoted name, or the programme's own query
from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import ClassVar

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
