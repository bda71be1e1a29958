"""The warehouse: one DuckDB file per programme, private, with one writer at a time."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self

import duckdb
import pandas as pd
from pydantic import ValidationError

from atr.core.arrays import usable_cores
from atr.errors import EnvironmentFault, IngestError, ProgrammeError, ReviewError
from atr.programme import Programme
from atr.warehouse.layout import Layout
from atr.warehouse.store import os_faults, private_files, private_folder

_TABLES = """
CREATE TABLE IF NOT EXISTS releases (
    period VARCHAR NOT NULL, version INTEGER NOT NULL, state VARCHAR NOT NULL, date VARCHAR NOT NULL,
    content_sha256 VARCHAR, report_sha256 VARCHAR, manifest_sha256 VARCHAR, reviewer VARCHAR, comment VARCHAR,
    changed_at VARCHAR NOT NULL);
CREATE TABLE IF NOT EXISTS release_events AS SELECT * FROM releases LIMIT 0;
ALTER TABLE releases ADD COLUMN IF NOT EXISTS kind VARCHAR;
ALTER TABLE release_events ADD COLUMN IF NOT EXISTS kind VARCHAR;
CREATE TABLE IF NOT EXISTS log_changes (
    generation BIGINT NOT NULL, new BIGINT NOT NULL, changed BIGINT NOT NULL, gone BIGINT NOT NULL);
ALTER TABLE releases ADD COLUMN IF NOT EXISTS confirmed VARCHAR;
ALTER TABLE release_events ADD COLUMN IF NOT EXISTS confirmed VARCHAR;
INSERT INTO log_changes SELECT 0, 0, 0, 0 WHERE NOT EXISTS (FROM log_changes);
"""
"""Releases, and how many decisions of the log were new, changed or gone in all readings so far, begun anew in a new
generation whenever the whole log was read anew."""

_LOCKED = "lock on file"
"""How DuckDB says that another process has the file open."""

WAIT = 10.0
"""Seconds that whoever opens a warehouse waits for another process to close it."""

_SPILL = secrets.token_hex(8)
"""The folder of this process among those of the processes that use a store after one another. DuckDB makes it when it
is needed, and removes it."""


class Parameters(list[Any]):
    """The values of a statement, so that no text of a user ever becomes SQL."""

    def mark(self, value: Any) -> str:
        """Add a value, and return what stands for it in the statement."""
        self.append(value)
        return f"${len(self)}"

    def marks(self, values: Iterable[Any]) -> str:
        """Add several values, and return their marks with commas between."""
        return ", ".join(self.mark(value) for value in values)


def quoted(text: str) -> str:
    """A text as it stands between single quotes in SQL, where no parameter can stand."""
    return text.replace("'", "''")


def warehouse_path(programme: Programme) -> Path:
    """Give the file that a programme's warehouse is in."""
    return programme.store_path / "warehouse.duckdb"


class Warehouse:
    """One connection to a warehouse. Every statement that writes is here or in :mod:`atr.ingest`."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: Path | None = None, *, read_only: bool = False
    ) -> None:
        self.connection = connection
        self.path = path
        self._spill: tempfile.TemporaryDirectory[str] | None = None
        connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        if not read_only:
            with self.transaction():
                connection.execute(_TABLES)

    @classmethod
    def open(cls, programme: Programme, *, read_only: bool = False, wait: float = WAIT) -> Self:
        """Open the programme's warehouse.

        Parameters
        ----------
        programme
            It names the store.
        read_only
            Whether to open what is there and write nothing. Otherwise the store and the warehouse are made if there
            are none.
        wait
            Seconds to wait for another process that has it open: one may write, or several may read.

        Returns
        -------
        The open warehouse; as a context manager it closes itself.

        Raises
        ------
        EnvironmentFault
            If another process has it open for longer, which is named, or the store cannot be used.
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
            connection = _connect(path, read_only=read_only, spill="" if read_only else str(spill), wait=wait)
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
    def in_memory(cls, programme: Programme | None = None) -> Self:
        """Open a warehouse that leaves nothing anywhere; what memory does not hold goes to a folder that is removed.

        Parameters
        ----------
        programme
            If its log says so, the warehouse begins with what its store keeps of files that are gone.

        Raises
        ------
        EnvironmentFault
            If another process has the store open for longer, or it cannot be read.
        """
        spill = tempfile.TemporaryDirectory(prefix="atr-", ignore_cleanup_errors=True)
        connection = duckdb.connect(":memory:", config=_settings(spill=spill.name))
        path = None if programme is None or not programme.log.keep else warehouse_path(programme)
        with _faults(path):
            if path is not None and path.exists():
                _connect(path, read_only=True, spill="", wait=WAIT).close()
                connection.execute(f"ATTACH '{quoted(str(path))}' AS store (READ_ONLY)")
                connection.execute("COPY FROM DATABASE store TO memory")
                connection.execute("DETACH store")
            made = cls(connection)
        made._spill = spill
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what was written is then in the one file."""
        with _faults(self.path):
            self.connection.close()
        if self._spill is not None:
            self._spill.cleanup()

    @contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Keep all that is written inside, or none of it.

        Raises
        ------
        EnvironmentFault
            If memory or the disk do not suffice, or the file cannot be read or written.
        """
        with _faults(self.path):
            self.connection.execute("BEGIN")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                with suppress(duckdb.Error):  # the failure before it is the one to report; nothing was committed
                    self.connection.execute("ROLLBACK")
                raise
        if self.path is not None:
            private_files(self.path)

    def scratch(self) -> IO[bytes]:
        """Open a file without a name, which is gone once it is closed: in the store, or in memory where that can be."""
        with os_faults(self.path or Path(tempfile.gettempdir())):
            if self.path is None and sys.platform == "linux":
                return os.fdopen(os.memfd_create("scratch"), "w+b")
            return tempfile.TemporaryFile(dir=None if self.path is None else _spill(self.path).parent)

    @contextmanager
    def scratch_folder(self) -> Iterator[Path]:
        """Make a private folder, which is gone afterwards: in the store, or where the machine has such folders."""
        with os_faults(self.path or Path(tempfile.gettempdir())):
            folder = tempfile.TemporaryDirectory(dir=None if self.path is None else _spill(self.path).parent)
        with folder as name:
            yield Path(name)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement.

        Parameters
        ----------
        sql
            One statement, with ``$1`` and so on for its parameters.
        parameters
            Their values.

        Returns
        -------
        Its rows.

        Raises
        ------
        EnvironmentFault
            If memory or the disk do not suffice, or the file cannot be read or written.
        """
        with _faults(self.path):
            return self.connection.execute(sql, list(parameters)).fetchall()

    def frame(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """Run a statement, as :meth:`query` does, and give its rows as a frame."""
        with _faults(self.path):
            return self.connection.execute(sql, list(parameters)).df()

    def layout(self) -> Layout:
        """Read the layout that the log was read with.

        Raises
        ------
        IngestError
            If no log was read yet.
        """
        layout = self.layout_or_none()
        if layout is None:
            raise IngestError("no log was read yet", where=str(self.path or "the warehouse in memory"))
        return layout

    def layout_or_none(self) -> Layout | None:
        """Read the layout that the log was read with; None if none was, or by another version that read otherwise."""
        if not self.query("SELECT 1 FROM duckdb_tables() WHERE table_name = 'mirror' AND NOT temporary"):
            return None
        ((description,),) = self.query("SELECT layout FROM mirror")
        try:
            return Layout.model_validate_json(description)
        except ValidationError:
            return None

    def prepare(self, layout: Layout) -> bool:
        """Make the mirror of a log anew, empty, in a transaction; releases stay.

        Returns
        -------
        Whether there was one before, with another layout or of an earlier version.
        """
        sql = "SELECT table_name FROM duckdb_tables() WHERE NOT temporary"
        there = {name for (name,) in self.query(sql)} - {"releases", "release_events", "log_changes"}
        if "log_rows" in there:
            self.connection.execute("DROP VIEW decisions")
        for name in there:
            self.connection.execute(f"DROP TABLE {name}")
        self.connection.execute(layout.tables)
        self.connection.execute("INSERT INTO mirror VALUES ($1)", [layout.model_dump_json()])
        self.connection.execute("UPDATE log_changes SET generation = generation + 1, new = 0, changed = 0, gone = 0")
        return bool(there)


def write_anew(programme: Programme) -> None:
    """Write the programme's warehouse to a new file that takes the place of the old one, with no trace of what is gone.

    Raises
    ------
    EnvironmentFault
        If another process has it open, or the disk is full; the old one stays then.
    """
    path = warehouse_path(programme)
    new = path.with_suffix(".new")
    with _faults(path), os_faults(path):
        _connect(path, read_only=False, spill=str(_spill(path)), wait=WAIT).close()  # its log is written into it
        for left_by_a_killed_run in path.parent.glob(f"{new.name}*"):
            left_by_a_killed_run.unlink()
        with duckdb.connect(str(new), config=_settings(spill=str(_spill(path)))) as connection:
            private_files(new)
            connection.execute(f"ATTACH '{quoted(str(path))}' AS old (READ_ONLY)")
            connection.execute(f"COPY FROM DATABASE old TO {new.stem}")
            connection.execute("DETACH old")
        new.replace(path)


def _spill(path: Path) -> Path:
    return path.parent / "tmp" / _SPILL


def _settings(*, spill: str) -> dict[str, Any]:
    limit = os.environ.get("ATR_MEMORY_LIMIT")
    if limit is None:
        ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        limit = f"{min(4000, ram * 6 // 10**7)}MB"
    elif re.fullmatch(r"[1-9]\d*(\.\d+)? ?[KMGT]i?B", limit) is None:
        raise EnvironmentFault("is not an amount of memory", where="ATR_MEMORY_LIMIT", hint="Write it as in 4GB.")
    return {
        "memory_limit": limit,
        "threads": usable_cores(),
        "temp_directory": spill,
        "preserve_insertion_order": True,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
    }


def _connect(path: Path, *, read_only: bool, spill: str, wait: float) -> duckdb.DuckDBPyConnection:
    """Open the file, if need be once another process has closed it."""
    settings, pause = _settings(spill=spill), 0.02
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=settings)
        except duckdb.IOException as error:
            if wait <= 0 or _LOCKED not in str(error):
                raise
        time.sleep(min(pause, wait))
        wait, pause = wait - pause, min(2 * pause, 1.0)


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
        if _LOCKED in text:
            holder = re.search(r"PID (\d+)", str(error))
            who = f"process {holder[1]}" if holder else "its process is not known"
            raise EnvironmentFault(
                f"another process has the warehouse open ({who})",
                where=where,
                hint="Wait until it has ended, or close it.",
            ) from None
        raise EnvironmentFault(
            f"the warehouse cannot be read or written ({text})",
            where=where,
            hint="Look at the free space and the permissions of the store; what was committed before is kept.",
        ) from None
