"""The warehouse: private files, one writer, and stores that can be repeated."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from atr import pipeline as steps
from atr.errors import AtrError, EnvironmentFault, IngestError, ProgrammeError, ReviewError
from atr.ingest import accounting, ingest
from atr.programme import Programme, load
from atr.warehouse import coarsening
from atr.warehouse.connection import Warehouse
from atr.warehouse.ledger import Ledger
from atr.warehouse.run import Batch
from atr.warehouse.store import hold
from tests.helpers import series

PROGRAMME = """
programme: small
title: Small
publisher: {name: P, contact: p@example.org}
system: {name: S}
log: {source: log.csv, id: id, outcome: outcome, positive: "yes"}
attributes:
  sex: {role: public}
  income: {role: sensitive, bins: [10]}
period: {every: all}
store: private
"""


@pytest.fixture
def programme(tmp_path: Path) -> Programme:
    (tmp_path / "programme.yaml").write_text(PROGRAMME)
    (tmp_path / "log.csv").write_text("id,sex,income,outcome\n1,f,5,yes\n2,m,10,no\n3,f,,yes\n")
    return load(tmp_path / "programme.yaml")


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _run(code: str, *arguments: object, wait: bool = True) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if wait:
        process.wait(timeout=60)
    return process


@pytest.mark.usefixtures("open_umask")
def test_only_the_owner_can_read_what_is_stored(programme: Programme) -> None:
    store = programme.store_path
    with hold(store), Warehouse.open(programme) as warehouse:
        ingest(warehouse, programme)
        with warehouse.transaction() as connection:
            connection.execute("CREATE TABLE trial AS SELECT 2 AS line, 'b' AS raw")
        paths = [store, *store.rglob("*")]
        assert {p.name for p in paths} >= {"warehouse.duckdb", "warehouse.duckdb.wal", "writer.json", "writer.lock"}
        for path in paths:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert os.umask(0) == 0


def test_the_umask_of_the_process_is_left_alone(programme: Programme, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "umask", lambda mask: pytest.fail("set for every thread"))
        with hold(programme.store_path), Warehouse.open(programme) as warehouse:
            ingest(warehouse, programme)


def test_in_memory_nothing_is_written_anywhere(
    programme: Programme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, programme).accounting.decisions == 3
        assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_fetched_or_guessed(programme: Programme) -> None:
    with Warehouse.open(programme) as warehouse:
        ((install, load_, replace, zone, order),) = warehouse.query(
            """
            SELECT current_setting('autoinstall_known_extensions'), current_setting('autoload_known_extensions'),
                   current_setting('python_enable_replacements'), current_setting('TimeZone'),
                   current_setting('preserve_insertion_order')
            """
        )
    assert (install, load_, replace, zone, order) == (False, False, False, "UTC", True)


def test_memory_and_threads_are_bounded_by_settings(programme: Programme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATR_MEMORY_LIMIT", "512MiB")
    monkeypatch.setenv("ATR_THREADS", "1")
    with Warehouse.open(programme) as warehouse:
        assert warehouse.query("SELECT current_setting('memory_limit'), current_setting('threads')") == [
            ("512.0 MiB", 1)
        ]


@pytest.mark.parametrize(
    ("name", "value"), [("ATR_MEMORY_LIMIT", "lots"), ("ATR_THREADS", "0"), ("ATR_THREADS", "two")]
)
def test_a_wrong_setting_is_named(programme: Programme, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvironmentFault, match=name):
        Warehouse.open(programme)


def test_too_little_memory_says_which_setting_to_raise(programme: Programme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATR_MEMORY_LIMIT", "10MB")
    with Warehouse.in_memory() as warehouse, pytest.raises(EnvironmentFault, match="ATR_MEMORY_LIMIT"):
        warehouse.query("SELECT DISTINCT md5(range::VARCHAR) FROM range(3_000_000)")


def test_a_second_run_is_told_who_holds_the_programme(tmp_path: Path) -> None:
    other = _run(
        """
        import sys
        from pathlib import Path
        from atr.warehouse.store import hold
        with hold(Path(sys.argv[1])):
            print("held", flush=True)
            sys.stdin.read()
        """,
        tmp_path,
        wait=False,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    with (
        pytest.raises(EnvironmentFault, match=rf"process {other.pid} on .*since \d{{4}}-") as caught,
        hold(tmp_path, wait=0.2),
    ):
        pass
    assert caught.value.exit_code == 4
    other.communicate("")
    with hold(tmp_path, wait=0):
        assert json.loads((tmp_path / "writer.json").read_text())["pid"] == os.getpid()
    assert not (tmp_path / "writer.json").exists()


def test_a_killed_run_holds_nothing(tmp_path: Path) -> None:
    _run(
        "import os, sys, pathlib\nimport atr.warehouse.store as w\n"
        "with w.hold(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), 9)",
        tmp_path,
    )
    assert (tmp_path / "writer.json").exists()
    with hold(tmp_path, wait=0):
        pass


HOLDER = """
import sys
from atr.programme import load
from atr.warehouse.connection import Warehouse
with Warehouse.open(load(sys.argv[1]), read_only=sys.argv[2] == "read"):
    print("open", flush=True)
    sys.stdin.read()
"""


@contextmanager
def _opened_elsewhere(programme: Programme, how: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the warehouse open until it is told to end, or until this one is done with it."""
    other = _run(HOLDER, programme.path, how, wait=False)
    assert other.stdin is not None
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    yield other
    if not other.stdin.closed:
        other.stdin.close()
    other.wait(timeout=60)


WAYS = pytest.mark.parametrize(("there", "here"), [("write", "write"), ("write", "read"), ("read", "write")])


@WAYS
def test_who_has_the_warehouse_open_is_named(programme: Programme, there: str, here: str) -> None:
    Warehouse.open(programme).close()
    with (
        _opened_elsewhere(programme, there) as other,
        pytest.raises(EnvironmentFault, match=f"process {other.pid}") as caught,
    ):
        Warehouse.open(programme, read_only=here == "read", wait=0.1)
    assert caught.value.exit_code == 4


@WAYS
def test_readers_and_writers_wait_for_each_other(programme: Programme, there: str, here: str) -> None:
    Warehouse.open(programme).close()
    with _opened_elsewhere(programme, there) as other:
        assert other.stdin is not None
        ended = threading.Timer(0.3, other.stdin.close)
        ended.start()
        with Warehouse.open(programme, read_only=here == "read") as warehouse:
            assert warehouse.query("SELECT * FROM releases") == []
        ended.join()


def test_two_may_read_at_once(programme: Programme) -> None:
    Warehouse.open(programme).close()
    with _opened_elsewhere(programme, "read"):
        Warehouse.open(programme, read_only=True, wait=0).close()


def test_what_a_killed_run_spilled_is_removed(programme: Programme) -> None:
    left = programme.store_path / "tmp" / "0123"
    left.mkdir(parents=True)
    (left / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"people")
    Warehouse.open(programme).close()
    assert not left.exists()


def test_no_empty_folder_is_left(programme: Programme) -> None:
    with Warehouse.open(programme) as warehouse:
        ingest(warehouse, programme)
        with warehouse.scratch() as file:
            file.write(b"people")
    assert list((programme.store_path / "tmp").iterdir()) == []


def test_a_path_that_duckdb_cannot_use_is_named(tmp_path: Path) -> None:
    path = series.write_series(tmp_path / "Q1?", series.card(2))
    with pytest.raises(ProgrammeError, match=r"cannot use a path with '\?'"):
        Warehouse.open(load(path))
    with pytest.raises(ProgrammeError, match="store"):
        steps.publish(path)
    assert not (path.parent / "var" / "test-series").exists()
    path.write_text(path.read_text() + f"store: {tmp_path / 'store'}\n")
    Warehouse.open(load(path)).close()


def test_a_store_that_cannot_be_made_is_the_machines_fault(programme: Programme) -> None:
    programme.store_path.write_text("in the way")
    with pytest.raises(EnvironmentFault, match="private"):
        Warehouse.open(programme)
    with pytest.raises(EnvironmentFault, match="private"), hold(programme.store_path):
        pass


@pytest.mark.parametrize("call", ["mkdir", "chmod"])
def test_a_store_without_permission_is_the_machines_fault(
    programme: Programme, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, call, refuse)
    with pytest.raises(EnvironmentFault, match="Permission denied"):
        Warehouse.open(programme)
    with pytest.raises(EnvironmentFault, match="Permission denied"), hold(programme.store_path):
        pass


def test_a_holder_that_cannot_be_removed_still_lets_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch, pytest.raises(EnvironmentFault, match="Permission denied"), hold(tmp_path):
        patch.setattr(Path, "unlink", refuse)
    with hold(tmp_path, wait=0):
        pass


def test_a_warehouse_that_cannot_be_opened_is_closed(programme: Programme, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise EnvironmentFault("cannot be used", where=str(path))

    with monkeypatch.context() as patch:
        patch.setattr("atr.warehouse.connection.private_files", refuse)
        with pytest.raises(EnvironmentFault):
            Warehouse.open(programme)
    duckdb.connect(str(programme.store_path / "warehouse.duckdb"), read_only=True).close()


# --- to read only ----------------------------------------------------------------------------------------------


def _state(folder: Path) -> list[tuple[Any, ...]]:
    return [(path, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(folder.rglob("*"))]


@pytest.mark.parametrize("made", [False, True])
def test_reading_makes_no_warehouse_where_there_is_none(programme: Programme, made: bool) -> None:
    if made:
        programme.store_path.mkdir()
    before = _state(programme.path.parent)
    with pytest.raises(ReviewError, match=r"nothing has been published yet: there is no store at .*private"):
        Warehouse.open(programme, read_only=True)
    assert _state(programme.path.parent) == before


def test_reading_writes_nothing_and_needs_no_hold(programme: Programme) -> None:
    with Warehouse.open(programme) as warehouse:
        ingest(warehouse, programme)
    with hold(programme.store_path):
        before = _state(programme.store_path)
        with Warehouse.open(programme, read_only=True) as warehouse:
            assert accounting(warehouse).decisions == 3
            with pytest.raises(duckdb.InvalidInputException, match="read-only"):
                warehouse.query("DELETE FROM log_rows")
        assert _state(programme.store_path) == before


def test_what_a_killed_run_committed_can_be_read(programme: Programme) -> None:
    _run(
        """
        import os, sys
        from atr.programme import load
        from atr.warehouse.connection import Warehouse
        warehouse = Warehouse.open(load(sys.argv[1]))
        warehouse.query("CREATE TABLE trial AS SELECT 2 AS line, 'b' AS raw")
        os.kill(os.getpid(), 9)
        """,
        programme.path,
    )
    assert (programme.store_path / "warehouse.duckdb.wal").exists()
    with Warehouse.open(programme, read_only=True) as warehouse:
        assert warehouse.query("SELECT line, raw FROM trial") == [(2, "b")]


def test_a_file_that_is_no_warehouse_is_the_machines_fault(programme: Programme) -> None:
    programme.store_path.mkdir()
    (programme.store_path / "warehouse.duckdb").write_text("hello, this is not a database" * 1000)
    with pytest.raises(EnvironmentFault, match="cannot be read or written"):
        Warehouse.open(programme)


def test_a_full_disk_leaves_what_was_committed(programme: Programme) -> None:
    with Warehouse.open(programme) as warehouse:
        ingest(warehouse, programme)
    with (programme.path.parent / "log.csv").open("a") as log:
        log.writelines(f"{i},f,{i * 7919 % 1000003},yes\n" for i in range(10, 200_000))
    full = _run(
        """
        import resource, signal, sys
        from atr.errors import EnvironmentFault
        from atr.ingest import ingest
        from atr.programme import load
        from atr.warehouse.connection import Warehouse
        programme = load(sys.argv[1])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, 900_000))
        try:
            with Warehouse.open(programme) as warehouse:
                ingest(warehouse, programme)
        except EnvironmentFault as fault:
            print(fault)
        """,
        programme.path,
    )
    out, err = full.communicate()
    assert "cannot be read or written" in out, err
    with Warehouse.open(programme) as warehouse:
        assert accounting(warehouse).decisions == 3
        assert ingest(warehouse, programme).accounting.decisions == 3 + 199_990


def test_a_transaction_is_kept_whole_or_not_at_all(programme: Programme) -> None:
    with Warehouse.open(programme) as warehouse:
        with pytest.raises(ZeroDivisionError), warehouse.transaction() as connection:
            connection.execute("CREATE TABLE trial AS SELECT 2 AS line, 'b' AS raw")
            raise ZeroDivisionError
        assert warehouse.query("SELECT * FROM duckdb_tables() WHERE table_name = 'trial'") == []


def test_without_a_log_the_layout_is_an_error(programme: Programme) -> None:
    with Warehouse.open(programme) as warehouse, pytest.raises(IngestError, match="no log was read") as caught:
        warehouse.layout()
    assert isinstance(caught.value, AtrError)


def test_a_store_of_an_earlier_version_is_read_anew_once(programme: Programme) -> None:
    with Warehouse.open(programme) as warehouse:
        Ledger(warehouse).begin("2013", today="2014-01-01")
        for table in ("ingestions", "quarantine", "decisions", "layout", "regions"):
            warehouse.query(f"CREATE TABLE {table} (release_id VARCHAR)")
    with Warehouse.open(programme) as warehouse:
        first, second = ingest(warehouse, programme), ingest(warehouse, programme)
        assert (first.anew, second.anew) == (True, False)
        assert first.accounting == second.accounting
        assert [release.id for release in Ledger(warehouse).releases()] == ["2013-v1"]
        assert not warehouse.query("SELECT 1 FROM duckdb_tables() WHERE table_name IN ('ingestions', 'regions')")


def test_a_run_file_that_cannot_be_written_says_so(programme: Programme) -> None:
    steps.load_log(str(programme.path))
    run = steps.begin(str(programme.path))
    with Warehouse.open(programme, read_only=True) as warehouse:
        regions = coarsening.aggregate(warehouse, programme, run.period)
    with pytest.raises(EnvironmentFault, match="cannot be used") as caught:
        run.share_out(regions)
    assert str(run.folder) in str(caught.value)
    with pytest.raises(EnvironmentFault, match="cannot be used") as caught:
        run.save_solved(Batch("all", 0), pd.DataFrame({"a": [1]}))
    assert str(run.folder) in str(caught.value)
