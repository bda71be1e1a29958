"""The warehouse: one DuckDB file per programme, private, with one writer at a time."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd

from atr.errors import EnvironmentFault, IngestError, ProgrammeError, ReviewError
from atr.programme import Programme
from atr.warehouse.store import os_faults, private_files, private_folder

_TABLES = """
CREATE TABLE IF NOT EXISTS layout (description VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS ingestions (
    ingestion INTEGER NOT NULL, path VARCHAR NOT NULL, bytes BIGINT NOT NULL, sha256 VARCHAR NOT NULL,
    rows_read BIGINT NOT NULL, decisions BIGINT NOT NULL, duplicates BIGINT NOT NULL, corrections BIGINT NOT NULL,
    quarantined BIGINT NOT NULL, superseded BOOLEAN NOT NULL, ingested_at VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS quarantine (
    ingestion INTEGER NOT NULL, line BIGINT NOT NULL, reason VARCHAR NOT NULL, raw VARCHAR);
CREATE TABLE IF NOT EXISTS groups (
    release_id VARCHAR NOT NULL, qid_group INTEGER NOT NULL, "values" VARCHAR[] NOT NULL, people BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS regions (
    release_id VARCHAR NOT NULL, qid_group INTEGER NOT NULL, region INTEGER NOT NULL, "values" VARCHAR[] NOT NULL,
    outcome VARCHAR NOT NULL, people BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS announced (
    release_id VARCHAR NOT NULL, region INTEGER NOT NULL, outcome VARCHAR NOT NULL, population BIGINT NOT NULL,
    published BIGINT NOT NULL, chance BIGINT NOT NULL, digits INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS measures (
    release_id VARCHAR NOT NULL, name VARCHAR NOT NULL, subject VARCHAR NOT NULL, value DOUBLE);
"""


_SPILL = secrets.token_hex(8)
"""The folder of this process among those of the processes that use a store after one another. DuckDB makes it when it
is needed, and removes it."""


class RegionTable(Protocol):
    """Decision regions as :class:`atr.warehouse.counting.Regions` holds them."""

    @property
    def outcomes(self) -> tuple[str, ...]: ...
    @property
    def group_values(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def region_values(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def counts(self) -> npt.NDArray[np.int64]: ...
    @property
    def offsets(self) -> npt.NDArray[np.int64]: ...
    @property
    def group_population(self) -> npt.NDArray[np.int64]: ...


class Parameters(list[Any]):
    """The values of a statement, so that no text of a user ever becomes SQL."""

    def mark(self, value: Any) -> str:
        """Add a value; returns what stands for it in the statement."""
        self.append(value)
        return f"${len(self)}"

    def marks(self, values: Iterable[Any]) -> str:
        """Add several; returns their marks with commas between."""
        return ", ".join(self.mark(value) for value in values)


@dataclass(frozen=True)
class Layout:
    """The part of a programme that decides what ``decisions`` holds. Another layout needs the files to be read again.

    Bins, display names and the grouping of outcomes are not in it: they are applied when decisions are counted.
    """

    id: str | None
    decided_at: str | None
    timezone: str | None
    outcome: str
    outcomes: tuple[str, ...] | None
    missing: tuple[str, ...]
    attributes: dict[str, bool]
    """Name to whether it is a number. The attribute at position ``i`` is the column ``ai``."""

    @classmethod
    def of(cls, programme: Programme) -> Layout:
        """The layout a programme asks for."""
        log = programme.log
        return cls(
            id=log.id,
            decided_at=log.decided_at,
            timezone=programme.period.timezone,
            outcome=log.outcome,
            outcomes=None if log.outcomes is None else tuple(sorted(chain.from_iterable(log.outcomes.values()))),
            missing=tuple(sorted(set(log.missing))),
            attributes={name: a.bins is not None for name, a in programme.attributes.items()},
        )

    @property
    def keys(self) -> dict[str, str]:
        """The columns a log must have, and the programme's keys that name them."""
        named = {self.id: "log.id", self.decided_at: "log.decided_at", self.outcome: "log.outcome"}
        named |= {name: f"attributes.{name}" for name in self.attributes}
        return {column: key for column, key in named.items() if column is not None}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of ``decisions`` that hold the attributes."""
        return tuple(f"a{i}" for i in range(len(self.attributes)))

    def column(self, attribute: str) -> str:
        """The column that holds an attribute."""
        return f"a{list(self.attributes).index(attribute)}"


def warehouse_path(programme: Programme) -> Path:
    """Where the warehouse of a programme is."""
    return programme.store_path / "warehouse.duckdb"


class Warehouse:
    """One connection to a warehouse. Every statement that writes is here or in :mod:`atr.ingest`."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: Path | None = None, *, read_only: bool = False
    ) -> None:
        self.connection = connection
        self.path = path
        self.read_only = read_only
        connection.execute("SET TimeZone = 'UTC'")
        if not read_only:
            with self.transaction():
                connection.execute(_TABLES)

    @classmethod
    def open(cls, programme: Programme, *, read_only: bool = False) -> Self:
        """Open the programme's warehouse.

        Parameters
        ----------
        read_only
            Whether to open what is there and write nothing. Otherwise the store and the warehouse are made if there
            are none.

        Raises
        ------
        EnvironmentFault
            If another process has it open, or the store cannot be used.
        ProgrammeError
            If its path cannot be used.
        ReviewError
            If there is none to read.
        """
        path = warehouse_path(programme)
        if "?" in str(path):
            raise ProgrammeError(
                f"the store cannot be {programme.store_path}: DuckDB cannot use a path with '?'",
                where=f"{programme.path}, store",
                hint="Rename the folder, or name another store.",
            )
        if read_only:
            with os_faults(path):
                if not path.exists():
                    raise ReviewError(
                        f"nothing has been published yet: there is no store at {programme.store_path}",
                        hint="`atr publish` makes a draft.",
                    )
        else:
            private_folder(path.parent)
        spill = _spill(path)
        with _faults(path), os_faults(path):
            settings = _settings(spill="" if read_only else str(spill))
            connection = duckdb.connect(str(path), read_only=read_only, config=settings)
            try:
                if not read_only:
                    private_files(path)
                    for left_by_a_killed_run in {*spill.parent.glob("*")} - {spill}:
                        shutil.rmtree(left_by_a_killed_run, ignore_errors=True)
                    private_folder(spill.parent)
                return cls(connection, path, read_only=read_only)
            except BaseException:
                connection.close()
                raise

    @classmethod
    def in_memory(cls) -> Self:
        """A warehouse that writes nothing anywhere, and so must fit into memory."""
        with _faults(None):
            return cls(duckdb.connect(":memory:", config=_settings(spill="")))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what was written is then in the one file."""
        with _faults(self.path):
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """All that is written inside is kept, or none of it."""
        with _faults(self.path):
            self.connection.execute("BEGIN")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                _roll_back(self.connection)
                raise
        if self.path is not None:
            private_files(self.path)

    def scratch(self) -> IO[bytes]:
        """A file without a name, which is gone once it is closed: in the store, or else in memory where that can be."""
        with os_faults(self.path or Path(tempfile.gettempdir())):
            if self.path is None and sys.platform == "linux":
                return os.fdopen(os.memfd_create("scratch"), "w+b")
            return tempfile.TemporaryFile(dir=None if self.path is None else _spill(self.path).parent)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows a statement gives."""
        with _faults(self.path):
            return self.connection.execute(sql, list(parameters)).fetchall()

    def layout(self) -> Layout:
        """The layout of the decisions that were ingested.

        Raises
        ------
        IngestError
            If nothing was ingested yet.
        """
        layout = self.layout_or_none()
        if layout is None:
            raise IngestError("no log was ingested yet", where=str(self.path or "the warehouse in memory"))
        return layout

    def layout_or_none(self) -> Layout | None:
        """The same, or None."""
        row = next(iter(self.query("SELECT description FROM layout")), None)
        if row is None:
            return None
        parts: dict[str, Any] = {
            key: tuple(part) if isinstance(part, list) else part for key, part in json.loads(row[0]).items()
        }
        return Layout(**parts)

    def prepare(self, layout: Layout) -> None:
        """Make an empty ``decisions`` with this layout, in a transaction; what was ingested is forgotten."""
        self.forget()
        numbers = layout.attributes.values()
        attributes = [f"{c} {'DOUBLE' if n else 'VARCHAR'}" for c, n in zip(layout.columns, numbers, strict=True)]
        self.connection.execute(
            f"""
            CREATE TABLE decisions (
                ingestion INTEGER NOT NULL, position BIGINT NOT NULL, id VARCHAR, decided_on DATE,
                outcome VARCHAR NOT NULL, {", ".join(attributes)})
            """
        )
        self.connection.execute("INSERT INTO layout VALUES ($1)", [json.dumps(asdict(layout), ensure_ascii=False)])

    def forget(self) -> None:
        """Empty what ingestion fills, in a transaction; releases stay."""
        self.connection.execute("DROP TABLE IF EXISTS decisions")
        for table in ("layout", "ingestions", "quarantine"):
            self.connection.execute(f"DELETE FROM {table}")

    def checkpoint(self) -> None:
        """Move what was committed into the one file."""
        with _faults(self.path):
            self.connection.execute("CHECKPOINT")

    def store_regions(self, release_id: str, regions: RegionTable) -> None:
        """Keep the regions and groups a release was made from, in place of what was kept of it before."""
        groups = pd.DataFrame(
            {"qid_group": range(len(regions.group_values)), "values": [list(v) for v in regions.group_values]}
        ).assign(people=regions.group_population)
        rows = [
            (group, region, list(regions.region_values[region]), outcome, int(regions.counts[region, column]))
            for group, (start, stop) in enumerate(zip(regions.offsets, regions.offsets[1:], strict=False))
            for region in range(start, stop)
            for column, outcome in enumerate(regions.outcomes)
        ]
        with self.transaction():
            self._replace("groups", release_id, groups)
            self._replace(
                "regions",
                release_id,
                pd.DataFrame(rows, columns=["qid_group", "region", "values", "outcome", "people"]),
            )

    def store_announced(
        self,
        release_id: str,
        *,
        outcomes: Sequence[str],
        regions: npt.ArrayLike,
        population: npt.ArrayLike,
        published: npt.ArrayLike,
        chance: npt.ArrayLike,
        digits: int,
    ) -> None:
        """Keep the announced mapping of a release, in place of what was kept of it before.

        Parameters
        ----------
        release_id
            Such as ``2013-Q1-v1``.
        outcomes
            The positive outcome, then the others.
        regions
            (n,) positions of the announced regions.
        population, published
            (n,) people, exact and as printed.
        chance
            (n, outcomes) announced chances, in units of the last digit.
        digits
            Decimal digits of the chances.
        """
        rows = pd.DataFrame({"region": regions, "population": population, "published": published, "digits": digits})
        chances = np.asarray(chance).reshape(-1, len(outcomes))
        parts = [rows.assign(outcome=outcome, chance=chances[:, a]) for a, outcome in enumerate(outcomes)]
        with self.transaction():
            self._replace("announced", release_id, pd.concat(parts).sort_values("region", kind="stable"))

    def store_measures(self, release_id: str, rows: Iterable[tuple[str, str, float | None]]) -> None:
        """Keep the measures of a release, each (name, subject, value), in place of what was kept of it before."""
        frame = pd.DataFrame(list(rows), columns=["name", "subject", "value"]).astype({"value": "float64"})
        with self.transaction():
            self._replace("measures", release_id, frame.astype(object).where(frame.notna(), None))

    def _replace(self, table: str, release_id: str, rows: pd.DataFrame) -> None:
        self.connection.execute(f"DELETE FROM {table} WHERE release_id = $1", [release_id])
        if rows.empty:
            return
        self.connection.register("rows_to_store", rows)
        try:
            sql = f"INSERT INTO {table} BY NAME SELECT $1 AS release_id, * FROM rows_to_store"
            self.connection.execute(sql, [release_id])
        finally:
            self.connection.unregister("rows_to_store")


def _spill(path: Path) -> Path:
    return path.parent / "tmp" / _SPILL


def _settings(*, spill: str) -> dict[str, Any]:
    limit = os.environ.get("ATR_MEMORY_LIMIT")
    if limit is None:
        ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        limit = f"{min(4000, ram * 6 // 10**7)}MB"
    elif re.fullmatch(r"[1-9]\d*(\.\d+)? ?[KMGT]i?B", limit) is None:
        raise EnvironmentFault("is not an amount of memory", where="ATR_MEMORY_LIMIT", hint="Write it as in 4GB.")
    threads = os.environ.get("ATR_THREADS", str(os.cpu_count() or 1))
    if re.fullmatch(r"[1-9]\d{0,3}", threads) is None:
        raise EnvironmentFault("is not a number of threads", where="ATR_THREADS", hint="Write it as in 2.")
    return {
        "memory_limit": limit,
        "threads": int(threads),
        "temp_directory": spill,
        "preserve_insertion_order": True,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
    }


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    try:
        connection.execute("ROLLBACK")
    except duckdb.Error:  # the failure before it is the one to report; nothing of it was committed
        return


@contextmanager
def _faults(path: Path | None) -> Iterator[None]:
    where = str(path or "")
    try:
        yield
    except duckdb.OutOfMemoryException:
        hint = "Raise ATR_MEMORY_LIMIT." if path is None else "Raise ATR_MEMORY_LIMIT, or free space in the store."
        raise EnvironmentFault("there was not enough memory", where=where, hint=hint) from None
    except (
        duckdb.IOException, duckdb.FatalException, duckdb.SerializationException, duckdb.TransactionException
    ) as error:  # fmt: skip
        text = str(error).splitlines()[0]
        if isinstance(error, duckdb.TransactionException) and "Failed to commit" not in text:
            raise
        if "lock on file" in text or "Conflicting lock" in text:
            raise EnvironmentFault(
                f"another process has the warehouse open ({_holder_of_lock(str(error))})",
                where=where,
                hint="Wait until it has ended, or close it.",
            ) from None
        raise EnvironmentFault(
            f"the warehouse cannot be read or written ({text})",
            where=where,
            hint="Look at the free space and the permissions of the store; what was committed before is kept.",
        ) from None


def _holder_of_lock(text: str) -> str:
    found = re.search(r"PID (\d+)", text)
    return f"process {found[1]}" if found else "its process is not known"
