"""Tables and queries of databases: read exactly, as they are now, and no secret in any message."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from atr import ingest as ingestion
from atr.errors import AtrError, EnvironmentFault, IngestError, ProgrammeError
from atr.warehouse.connection import Warehouse
from tests.helpers import servers
from tests.helpers.command import atr
from tests.helpers.logs import GOOD, HEADER, account, decisions, programme, write

ROWS = [(1, "2013-01-01", "f", 5, "yes"), (2, "2013-01-02", "m", 10, "no"), (3, "2013-01-03", None, None, "no")]
READ = [(str(n), day, outcome, sex, income) for n, day, sex, income, outcome in ROWS]
TABLE = "CREATE TABLE decisions (id integer, day date, sex varchar(9), income integer, outcome varchar(9))"
VALUES = "INSERT INTO decisions VALUES " + ", ".join(str(row).replace("None", "NULL") for row in ROWS)
WIDE = "1234567890123456789012345678901234567890.25"
UUID = "0a8bcf4a-6a3c-4d6e-9a3e-2f6f5d6a7b8c"

pytestmark = pytest.mark.xdist_group("databases")


@pytest.fixture(scope="module")
def postgresql() -> Iterator[servers.Server]:
    with servers.postgresql() as server:
        server.run("ALTER ROLE atr SET datestyle = 'German'; ALTER ROLE atr SET timezone = 'Asia/Tokyo'")
        yield server


@pytest.fixture(scope="module")
def mariadb() -> Iterator[servers.Server]:
    with servers.mariadb() as server:
        yield server


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch, postgresql: servers.Server, mariadb: servers.Server) -> None:
    monkeypatch.setenv("PG_LOG", postgresql.address("postgresql"))
    monkeypatch.setenv("MY_LOG", mariadb.address("mysql"))


def read(folder: Path, **source: str) -> list[tuple[Any, ...]]:
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(folder, {"source": source}))
        return decisions(warehouse, "id, CAST(decided_on AS VARCHAR), outcome, a0, a1")


def texts(folder: Path, database: str, types: int, select: str | None = None) -> list[str | None]:
    """What is read of the columns c0, c1, … of the table ``types``, or of a query of them for one row."""
    attributes = {f"c{i}": {"role": "sensitive" if i else "public", "values": {"a": "a"}} for i in range(types)}
    of = {"table": "types"} if select is None else {"query": select}
    log = {"source": {"database": database, **of}, "id": None, "decided_at": None}
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(folder, log, attributes=attributes, period={"every": "all"}))
        columns = ", ".join(f"a{i}" for i in range(types))
        ((*found,),) = warehouse.query(f"SELECT {columns} FROM decisions WHERE outcome = 'yes'")
        return found


def lite(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def duck(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_tables_and_queries_of_every_kind_are_read(
    tmp_path: Path, postgresql: servers.Server, mariadb: servers.Server, addresses: None
) -> None:
    lite(tmp_path / "a.db", TABLE, VALUES)
    duck(tmp_path / "b.any", TABLE, VALUES)
    for server in (postgresql, mariadb):
        server.run(f"{TABLE}; {VALUES}")
    schemas = {"a.db": "main", "b.any": "main", "PG_LOG": "public", "MY_LOG": "logs"}
    for database, schema in schemas.items():
        assert read(tmp_path, database=database, table="decisions") == READ, database
        assert read(tmp_path, database=database, table=f"{schema}.decisions") == READ, database
        query = "SELECT * FROM decisions WHERE id < 3 -- not the third"
        assert read(tmp_path, database=database, query=query) == READ[:2], database


def test_types_of_postgresql_are_read_exactly(tmp_path: Path, postgresql: servers.Server, addresses: None) -> None:
    types = {
        "true": "boolean", "-5": "smallint", "9223372036854775807": "bigint", WIDE: "numeric",
        "9" * 50: "numeric(60, 5)",
        "0.1": "real", "1e+16": "double precision", "2.5": "small", "x": "char(9)", "漢字😀": "text", "so so": "mood",
        "12:30:00.123456": "time", "12:30:00+02": "timetz", UUID: "uuid", "2013-12-31": "date",
        "2013-12-31 23:30:00.123456": "timestamp", "2013-12-31 23:30:00+00": "timestamptz", "10.0.0.1/32": "inet",
    }  # fmt: skip
    typed = {f"c{i}": (text, type) for i, (text, type) in enumerate(types.items())}
    postgresql.run(
        "CREATE TYPE mood AS ENUM ('so so'); CREATE DOMAIN small AS numeric(9, 3);"
        f"CREATE TABLE types (outcome text, {', '.join(f'{name} {type}' for name, (_, type) in typed.items())});"
        f"INSERT INTO types VALUES ('yes', {', '.join(f'{text!r}' for text in types)});"
        "INSERT INTO types (outcome) VALUES ('no')"
    )
    assert texts(tmp_path, "PG_LOG", len(types)) == [*types]
    zeros = "SELECT '5.00'::numeric(9, 2) AS c0, '-0.0'::float8 AS c1, outcome FROM types"
    assert texts(tmp_path, "PG_LOG", 2, zeros) == ["5", "0"]


def test_types_of_mysql_are_read_exactly(tmp_path: Path, mariadb: servers.Server, addresses: None) -> None:
    types = {
        "2": "tinyint(1)", "18446744073709551615": "bigint unsigned", "0.1": "float", "0.25": "double",
        WIDE: "decimal(60, 20)", "2013-12-31": "date", "2013-12-31 23:30:00.123456": "datetime(6)",
        "2013-12-31 23:30:00": "datetime", "-25:00:00": "time", "2013": "year", "x": "char(9)",
        "漢字😀": "varchar(9) COLLATE utf8mb4_bin", "so so": "enum('so so')", '{"a": 1}': "json", UUID: "uuid",
    }  # fmt: skip
    typed = {f"c{i}": (text, type) for i, (text, type) in enumerate(types.items())}
    last = len(types)
    mariadb.run(
        f"CREATE TABLE types (outcome varchar(9), {', '.join(f'{name} {type}' for name, (_, type) in typed.items())}, "
        f"c{last} timestamp(3) NULL) CHARSET utf8mb4; INSERT INTO types (outcome) VALUES ('no');"
        "SET time_zone = '-05:00';"
        f"INSERT INTO types VALUES ('yes', {', '.join(f'{text!r}' for text in types)}, '2013-12-31 23:30:00.5')"
    )
    assert texts(tmp_path, "MY_LOG", 4, "SELECT c0, c1, c2, c3, outcome FROM types") == [*types][:4]
    found = texts(tmp_path, "MY_LOG", last + 1)
    assert found[:last] == [*types]
    assert found[last] in ("2014-01-01 04:30:00.5+00", "2014-01-01 04:30:00.500+00", "2014-01-01 04:30:00.500000+00")


def test_types_of_sqlite_are_read_exactly(tmp_path: Path) -> None:
    values = ("0.1", "0.30000000000000004", "1e300", "1e16", "5.0", "'5.0'", "9223372036854775807", "'漢字😀'", "NULL")
    columns = ", ".join(f"c{i}" for i in range(len(values)))
    lite(
        tmp_path / "a.db", f"CREATE TABLE types (outcome, {columns})", "INSERT INTO types (outcome) VALUES ('no')",
        f"INSERT INTO types VALUES ('yes', {', '.join(values)})",
    )  # fmt: skip
    found = texts(tmp_path, "a.db", len(values))
    assert [float(text or "") for text in found[:4]] == [0.1, 0.30000000000000004, 1e300, 1e16]
    assert found[:2] == ["0.1", "0.30000000000000004"]
    assert found[4:] == ["5", "5.0", "9223372036854775807", "漢字😀", None]


def test_types_of_duckdb_are_read_exactly(tmp_path: Path) -> None:
    types = {
        "true": "BOOLEAN", "-5": "TINYINT", "5": "UHUGEINT", "-170141183460469231731687303715884105728": "HUGEINT",
        "340282366920938463463374607431768211455": "UHUGEINT", "18446744073709551615": "UBIGINT", "9" * 60: "BIGNUM",
        "0.1": "FLOAT", "1e+16": "DOUBLE", "-99999999999999999999999999999.5": "DECIMAL(38, 9)", UUID: "UUID",
        "so so": "ENUM('so so', 'a]')", "12:30:00.123456": "TIME", "12:30:00+02": "TIMETZ", "2013-12-31": "DATE",
        "2013-12-31 23:30:00": "TIMESTAMP_S", "2013-12-31 23:30:00.123": "TIMESTAMP_MS",
        "2013-12-31 23:30:00.123456": "TIMESTAMP", "2013-12-31 23:30:00.123456789": "TIMESTAMP_NS",
        "2013-12-31 23:30:00+00": "TIMESTAMPTZ", "漢字😀": "VARCHAR", '{"a": 1}': "JSON",
    }  # fmt: skip
    columns = ", ".join(f"CAST({text!r} AS {type}) AS c{i}" for i, (text, type) in enumerate(types.items()))
    duck(
        tmp_path / "a.db", f"CREATE TABLE types AS SELECT 'yes' AS outcome, {columns}",
        "INSERT INTO types (outcome) VALUES ('no')",
    )  # fmt: skip
    assert texts(tmp_path, "a.db", len(types)) == [*types]


@pytest.mark.parametrize(
    ("database", "refused"),
    [
        ("PG_LOG", ["ARRAY['f']", "'f'::bytea", "interval '1 day'", "B'101'", "'{}'::jsonb", "ROW(1)", "5::money"]),
        ("MY_LOG", ["CAST('f' AS BINARY(3))", "NOW()", "b'1'"]),
        ("a.db", ["x'00ff'"]),
        ("b.db", ["['f']", "{'a': 1}", "MAP {'a': 1}", "INTERVAL 1 DAY", "'f'::BLOB", "'101'::BIT"]),
    ],
)
def test_a_type_without_plain_values_is_refused(
    tmp_path: Path, database: str, refused: list[str], addresses: None
) -> None:
    lite(tmp_path / "a.db", "CREATE TABLE t (a)")
    duck(tmp_path / "b.db", "CREATE TABLE t (a TEXT)")
    for value in refused:
        query = f"SELECT 1 AS id, '2013-01-01' AS day, {value} AS sex, 5 AS income, 'yes' AS outcome"
        with pytest.raises(IngestError, match=r"column 'sex' holds .+, not plain values .* \(attributes.sex\)"):
            read(tmp_path, database=database, query=query)


@pytest.mark.parametrize(
    ("database", "value"),
    [("PG_LOG", "1::float4"), ("PG_LOG", "1::float8"), ("MY_LOG", "1e0"), ("a.db", "1e16"), ("b.db", "'NaN'::DOUBLE")],
)
def test_rounded_numbers_are_no_ids(tmp_path: Path, database: str, value: str, addresses: None) -> None:
    lite(tmp_path / "a.db", "CREATE TABLE t (a)")
    duck(tmp_path / "b.db", "CREATE TABLE t (a TEXT)")
    query = f"SELECT {value} AS id, '2013-01-01' AS day, 'f' AS sex, 5 AS income, 'yes' AS outcome"
    with pytest.raises(IngestError, match=r"column 'id' holds \w+, which is rounded and cannot be an id \(log.id\)"):
        read(tmp_path, database=database, query=query)


FAULTS = {
    "password": ({"table": "decisions"}, EnvironmentFault, "refuses the user or the password"),
    "host": ({"table": "decisions"}, EnvironmentFault, "is on a host that is not known"),
    "port": ({"table": "decisions"}, EnvironmentFault, "nothing listens at its address"),
    "database": ({"table": "decisions"}, EnvironmentFault, "is not on its server"),
    "table": ({"table": "nowhere"}, IngestError, "there is no table nowhere"),
    "schema": ({"table": "no.where"}, IngestError, "there is no table no.where"),
    "query": ({"query": "SELECT 1 FROM nowhere"}, IngestError, "cannot read the query"),
    "syntax": ({"query": "SELEC 1"}, IngestError, "cannot read the query"),
    "column": ({"query": "SELECT 1 AS id, 2 AS days"}, IngestError, "no column 'day', but 'days'"),
    "twice": ({"query": "SELECT 1 AS id, 2 AS id"}, IngestError, "cannot read the query"),
}


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_without_the_address(
    tmp_path: Path, scheme: str, fault: str, addresses: None, monkeypatch: pytest.MonkeyPatch,
    postgresql: servers.Server, mariadb: servers.Server,
) -> None:  # fmt: skip
    server = postgresql if scheme == "postgresql" else mariadb
    address = server.address(scheme)
    changed = {
        "password": address.replace(servers.PASSWORD, servers.PASSWORD + "-wrong"),
        "host": address.replace("127.0.0.1", "nowhere.invalid"),
        "port": address.replace(str(server.port), str(servers.free_port())),
        "database": address + "-not",
    }
    monkeypatch.setenv("ANY_LOG", changed.get(fault, address))
    source, kind, message = FAULTS[fault]
    with pytest.raises(AtrError, match=message) as caught:
        read(tmp_path, database="ANY_LOG", **source)
    assert type(caught.value) is kind
    assert caught.value.exit_code == (4 if kind is EnvironmentFault else 1)
    assert len(caught.value.message.splitlines()) == 1
    told = "".join(traceback.format_exception(caught.value)) + str(caught.value) + caught.value.private
    assert servers.PASSWORD not in told
    assert servers.PASSWORD not in repr(caught.value.__context__)


def test_no_secret_is_kept_or_told(tmp_path: Path, postgresql: servers.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    postgresql.run(f"DROP TABLE IF EXISTS decisions; {TABLE}; {VALUES}")
    monkeypatch.setenv("PG_LOG", postgresql.address("postgresql"))
    made = programme(tmp_path, {"source": {"database": "PG_LOG", "table": "decisions"}})
    with Warehouse.open(made) as warehouse:
        account(warehouse, made)
    monkeypatch.setenv("PG_LOG", postgresql.address("postgresql").replace("atr:", "atr:not-"))
    done = atr("publish", made.path, "--json")
    assert done.returncode == 4
    assert '"kind": "EnvironmentFault"' in done.stdout
    assert servers.PASSWORD not in done.stdout + done.stderr
    kept = [path for path in made.store_path.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if servers.PASSWORD.encode() in path.read_bytes()]


def test_a_libpq_string_names_a_database_too(
    tmp_path: Path, postgresql: servers.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgresql.run(f"DROP TABLE IF EXISTS decisions; {TABLE}; {VALUES}")
    monkeypatch.setenv("PGPASSWORD", servers.PASSWORD)
    monkeypatch.setenv("ANY_LOG", f"host=127.0.0.1 port={postgresql.port} user=atr dbname=postgres")
    assert read(tmp_path, database="ANY_LOG", table="decisions") == READ
    write(tmp_path, f"[logs]\nhost=127.0.0.1\nport={postgresql.port}\nuser=atr\ndbname=postgres\n", "services")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    monkeypatch.setenv("ANY_LOG", "service=logs")
    assert read(tmp_path, database="ANY_LOG", table="decisions") == READ
    for nothing in ("", "not an address"):
        monkeypatch.setenv("ANY_LOG", nothing)
        with pytest.raises(EnvironmentFault, match=r"ANY_LOG (is not set|holds no address)"):
            read(tmp_path, database="ANY_LOG", table="decisions")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("postgresql://u:s3cret@host/db", "put it into an environment variable"),
        ({"database": "mysql://u:s3cret@host/db", "table": "t"}, "put it into an environment variable"),
        ({"database": "host=h password=s3cret", "table": "t"}, "put it into an environment variable"),
        ("s3://key:s3cret@bucket/log.csv", "AWS_ACCESS_KEY_ID"),
        ("s3://bucket/log.csv?s3_secret_access_key=s3cret", "AWS_ACCESS_KEY_ID"),
        ("s3://bucket/*.csv?region=x&s3_secret_access_key=s3cret", "AWS_ACCESS_KEY_ID"),
        ("https://u:s3cret@host/log.csv", "not read"),
        ({"database": "PG_LOG"}, "either a table or a query"),
    ],
)
def test_an_address_does_not_stand_in_a_programme(tmp_path: Path, source: Any, message: str) -> None:
    with pytest.raises(ProgrammeError, match=message) as caught:
        programme(tmp_path, {"source": source})
    assert "s3cret" not in str(caught.value) + caught.value.private


def test_a_database_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ProgrammeError, match="a database is read anew in every run"):
        programme(tmp_path, {"source": {"database": "a.db", "table": "t"}, "keep": True})


def test_rows_of_one_id_need_a_revision(tmp_path: Path) -> None:
    lite(
        tmp_path / "a.db", "CREATE TABLE t (id, day, sex, income, outcome, version)",
        "INSERT INTO t VALUES (1, '2013-01-01', 'f', 5, 'yes', 1), (1, '2013-01-01', 'm', 5, 'yes', 2),"
        "(2, '2013-01-01', 'm', 5, 'no', 1), (2, '2013-01-01', 'm', 5, 'no', 1)",
    )  # fmt: skip
    source = {"source": {"database": "a.db", "table": "t"}}
    with (
        Warehouse.in_memory() as warehouse,
        pytest.raises(IngestError, match=r"1 row differs .* nothing says which") as caught,
    ):
        account(warehouse, programme(tmp_path, source))
    assert caught.value.private == "The first has the id '1'."
    with Warehouse.in_memory() as warehouse:
        found = account(warehouse, programme(tmp_path, source | {"revision": "version"}))
        assert (found.decisions, found.duplicates, found.corrections) == (2, 1, 1)
        assert decisions(warehouse, "id, a0") == [("1", "m"), ("2", "m")]


def test_a_table_is_read_as_it_is_now(tmp_path: Path, postgresql: servers.Server, addresses: None) -> None:
    postgresql.run(f"DROP TABLE IF EXISTS decisions; {TABLE}; {VALUES}")
    made = programme(tmp_path, {"source": {"database": "PG_LOG", "table": "decisions"}})
    with Warehouse.open(made) as warehouse:
        assert account(warehouse, made).decisions == 3
        assert account(warehouse, made).decisions == 3
        postgresql.run("DELETE FROM decisions WHERE id = 3; UPDATE decisions SET sex = 'x' WHERE id = 2")
        found = ingestion.ingest(warehouse, made)
        assert (found.decisions.new, found.decisions.changed, found.decisions.gone) == (0, 1, 1)
        databases = warehouse.query("SELECT database_name FROM duckdb_databases() WHERE NOT internal")
        assert databases == [("warehouse",)]


def test_a_file_is_read_again_if_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_parts: list[str] = []
    reading = ingestion.read_part
    monkeypatch.setattr(ingestion, "read_part", lambda *given: [read_parts.append(given[2].name), reading(*given)][1])
    lite(tmp_path / "a.db", TABLE, VALUES)
    made = programme(tmp_path, {"source": {"database": "a.db", "table": "decisions"}})
    with Warehouse.open(made) as warehouse:
        for _ in range(2):
            assert account(warehouse, made).decisions == 3
        assert read_parts == ["a.db, table decisions"]
        open_elsewhere = sqlite3.connect(tmp_path / "a.db")
        open_elsewhere.execute("PRAGMA journal_mode = wal")
        with open_elsewhere:
            open_elsewhere.execute("DELETE FROM decisions WHERE id = 3")
        assert account(warehouse, made).decisions == 2
        for _ in range(2):
            assert ingestion.ingest(warehouse, made).told == "The log is as it was when it was read last."
        open_elsewhere.close()
        last = ingestion.ingest(warehouse, made)
        assert (last.told, last.accounting.decisions) == ("The log is as it was when it was read last.", 2)
        lite(tmp_path / "a.db", VALUES.replace("(3,", "(4,").replace("(2,", "(5,").replace("(1,", "(6,"))
        told = "Since the log was read last: 1 file changed: 3 decisions new."
        assert ingestion.ingest(warehouse, made).told == told


def test_a_query_sees_its_database_alone(tmp_path: Path) -> None:
    duck(tmp_path / "a.db", TABLE, VALUES, "ALTER TABLE decisions RENAME TO others")
    made = programme(tmp_path, {"source": {"database": "a.db", "table": "others"}})
    with Warehouse.open(made) as warehouse:
        account(warehouse, made)
        for name in ("decisions", "log_rows", "rejects", "main.decisions"):
            query = f"SELECT 1 AS id, '2013-01-01' AS day, 'f' AS sex, 5 AS income, 'yes' AS outcome FROM {name}"
            again = programme(tmp_path, {"source": {"database": "a.db", "query": query}})
            with pytest.raises(IngestError, match="DuckDB cannot read the query"):
                account(warehouse, again)


@pytest.mark.parametrize("kind", ["duckdb", pytest.param("sqlite3", marks=pytest.mark.long)])
def test_a_file_that_is_being_written_is_busy(tmp_path: Path, kind: str) -> None:
    (lite if kind == "sqlite3" else duck)(tmp_path / "a.db", TABLE, VALUES)
    writing = "BEGIN EXCLUSIVE" if kind == "sqlite3" else "SELECT 1"
    opened = f"import {kind}, sys; c = {kind}.connect('a.db'); c.execute('{writing}')"
    code = f"{opened}; print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(EnvironmentFault, match="cannot be read now"):
            read(tmp_path, database="a.db", table="decisions")
        process.communicate()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [("none.db", None, "there is no file"), ("log.db", b"hello", "neither a DuckDB nor"), ("log.db", b"", "neither a"),
     ("log.db", b"SQLite format 3\0" + b"x" * 500, "SQLite"), ("log.db", b"x" * 8 + b"DUCK" + b"x" * 500, "DuckDB")],
)  # fmt: skip
def test_a_file_that_is_no_database_is_an_error(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        write(tmp_path, content, name)
    with pytest.raises(IngestError, match=message):
        read(tmp_path, database=name, table="decisions")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Path:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("atr.warehouse.extensions.files", missing)
    lite(tmp_path / "a.db", TABLE, VALUES)
    with pytest.raises(EnvironmentFault, match=r"pip install duckdb-extension-sqlite-scanner==1\.5\.5"):
        read(tmp_path, database="a.db", table="decisions")


def test_what_is_wrong_in_rows_without_lines_names_none(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD)
    lite(tmp_path / "a.db", TABLE, VALUES, "UPDATE decisions SET day = 'x' WHERE id = 1")
    log = {"source": {"database": "a.db", "table": "decisions"}, "max_quarantined": 0.0}
    with Warehouse.in_memory() as warehouse, pytest.raises(AtrError, match="1 of 3 rows cannot be used") as caught:
        account(warehouse, programme(tmp_path, log))
    assert "line" not in caught.value.hint
