"""Reading and counting logs, against DuckDB doing no more than that with the same rows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import yaml

from atr.ingest import ingest
from atr.programme import Programme, load, periods
from atr.warehouse import counting
from atr.warehouse.connection import Warehouse
from benchmarks.cases import Row
from benchmarks.measure import in_a_child, in_turn

ROWS = 10_000_000
MANY_ROWS = 100_000_000
MONTHS = 100
QUIET = "SET enable_progress_bar = false"


IDS = {"ids in order": "i", "ids in no order": f"i * 7919 % {ROWS}"}
"""What they are called, and SQL of an id."""


def make_log(
    path: Path, rows: int, *, first: int = 0, months: int = 48, month: int | None = None, id: str = "i"
) -> None:
    """Write decisions as Parquet: an id, a day, four public attributes, a sensitive number and an outcome."""
    day = f"DATE '2018-01-01' + INTERVAL ({'i % ' + str(months) if month is None else month}) MONTH"
    of = "(hash(i + {}) % {})::INTEGER".format
    with duckdb.connect() as connection:
        connection.execute(QUIET)
        connection.execute(
            f"""
            COPY (
                SELECT {id} AS id, ({day} + INTERVAL ({of(9, 28)}) DAY)::DATE AS day,
                       ['Male', 'Female'][1 + {of(0, 2)}] AS sex,
                       ['under 25', '25 to 45', 'over 45'][1 + {of(1, 3)}] AS age,
                       'office ' || {of(2, 8)} AS office, ['felony', 'misdemeanour'][1 + {of(3, 2)}] AS charge,
                       floor(40 * pow({of(4, 1000)} / 1000, 4))::INTEGER AS priors,
                       ['low', 'medium', 'high'][1 + {of(5, 3)}] AS outcome
                FROM range({first}, {first + rows}) AS t(i)
            ) TO '{path}' (FORMAT parquet)
            """
        )


def make_programme(folder: Path, source: str, *, ids: bool = True) -> Programme:
    """A programme that reads it."""
    public = {name: {"role": "public"} for name in ("sex", "age", "office", "charge")}
    log = {"source": source, "decided_at": "day", "outcome": "outcome", "positive": "low"}
    data = {
        "programme": "scale", "title": "Scale", "publisher": {"name": "P", "contact": "p@example.org"},
        "system": {"name": "S"}, "log": log | ({"id": "id"} if ids else {}),
        "attributes": public | {"priors": {"role": "sensitive", "bins": [1, 4, 11], "protected": True}},
        "policy": {"max_confidence": 0.75}, "period": {"every": "year", "timezone": "Europe/Berlin"},
        "store": f"store-{ids}",
    }  # fmt: skip
    path = folder / f"programme-{ids}.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return load(path)


def reading(rows: int = ROWS, rounds: int = 3) -> Iterator[Row]:
    """Reading, reading again and counting a log of one file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = {}
        for what, id in [*IDS.items(), ("no ids", "")]:
            log = f"{what}.parquet"
            make_log(folder / log, rows, id=id or "i")
            (folder / what).mkdir()
            made[what] = make_programme(folder / what, f"../{log}", ids=bool(id))

        def anew(what: str) -> Callable[[], None]:
            def read() -> None:
                shutil.rmtree(made[what].store_path, ignore_errors=True)
                again(what)()

            return read

        def again(what: str) -> Callable[[], None]:
            def read() -> None:
                with Warehouse.open(made[what]) as warehouse:
                    ingest(warehouse, made[what])

            return read

        def plain(what: str) -> Callable[[], None]:
            def create() -> None:
                path = folder / "plain.duckdb"
                path.unlink(missing_ok=True)
                with duckdb.connect(str(path)) as connection:
                    connection.execute(QUIET)
                    columns = "*" if what in IDS else "* EXCLUDE (id)"
                    connection.execute(f"CREATE TABLE log AS SELECT {columns} FROM '{folder / what}.parquet'")

            return create

        for what in made:
            most = 2.0 if what in IDS else 1.5
            taken = in_turn({"plain": plain(what), "read": anew(what)}, rounds=rounds)
            yield Row(
                f"reading {rows:,} rows of Parquet, {what}",
                f"{taken['read'].seconds:.1f} s",
                f"CREATE TABLE AS SELECT of the same columns, {taken['plain'].seconds:.1f} s",
                taken["read"].ratio,
                target=f"≤ {most:g}",
                met=taken["read"].ratio <= most,
            )
        (usual, *_) = made
        taken = in_turn({"again": again(usual)}, rounds=rounds)
        seconds = taken["again"].seconds
        yield Row(f"nothing new to read in {rows:,} rows", f"{seconds:.2f} s", "", 1, target="≤ 2 s", met=seconds <= 2)
        with Warehouse.open(made[usual], read_only=True) as warehouse:
            period = periods.parse("2020")
            group_by = """
                SELECT a0, a1, a2, a3, CASE WHEN a4 < 1 THEN 0 WHEN a4 < 4 THEN 1 WHEN a4 < 11 THEN 2 ELSE 3 END,
                       outcome, count(*)
                FROM decisions WHERE decided_on >= DATE '2020-01-01' AND decided_on < DATE '2021-01-01' GROUP BY ALL"""
            taken = in_turn(
                {
                    "bare": lambda: warehouse.query(group_by),
                    "counted": lambda: counting.aggregate(warehouse, made[usual], period),
                },
                rounds=rounds,
            )
        yield Row(
            f"counting a year of {rows:,} rows by region",
            f"{taken['counted'].seconds:.2f} s",
            f"the bare GROUP BY, {taken['bare'].seconds:.2f} s",
            taken["counted"].ratio,
            target="≤ 1.5",
            met=taken["counted"].ratio <= 1.5,
        )


def many_files(files: int = MONTHS, rows: int = ROWS // MONTHS, rounds: int = 3) -> Iterator[Row]:
    """Reading a folder of monthly files of which one changed, against reading that file alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for inner in ("all", "one", "a", "b"):
            (folder / inner).mkdir()
        for month in range(files):
            make_log(folder / f"all/{month}.parquet", rows, first=month * rows, month=month)
        whole, alone = (
            make_programme(folder / "a", "../all/*.parquet"),
            make_programme(folder / "b", "../one/*.parquet"),
        )
        changed, turn = folder / "all" / f"{files // 2}.parquet", [0]

        def change() -> None:
            turn[0] += 1
            make_log(changed, rows - turn[0], first=files // 2 * rows, month=files // 2)
            shutil.copyfile(changed, folder / "one" / "log.parquet")

        def read(programme: Programme, *, anew: bool = False) -> None:
            if anew:
                shutil.rmtree(programme.store_path, ignore_errors=True)
            with Warehouse.open(programme) as warehouse:
                ingest(warehouse, programme)

        change()
        read(whole)

        def one() -> None:
            read(alone, anew=True)

        def all_of_them() -> None:
            read(whole)
            change()

        taken = in_turn({"one": one, "all": all_of_them}, rounds=rounds)
        yield Row(
            f"{files} files of {rows:,} rows, one of them changed",
            f"{taken['all'].seconds:.2f} s",
            f"reading one such file, {taken['one'].seconds:.2f} s",
            taken["all"].ratio,
        )


DRAFT = """
import json, resource, sys, threading, time
from atr import pipeline
peak = 0
def watch():
    global peak
    while True:
        peak = max(peak, int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize())
        time.sleep(0.05)
threading.Thread(target=watch, daemon=True).start()
steps = {}
def step(function, *arguments):
    began = time.perf_counter()
    done = function(*arguments)
    steps[function.__name__] = time.perf_counter() - began
    return done
pipeline.publish(sys.argv[1], "2020", step=step)
print(json.dumps({"peak": peak, "steps": steps}))
"""


def draft(rows: int = MANY_ROWS) -> Iterator[Row]:
    """From Parquet to a draft: time and peak memory of the whole process, against a tenth of the rows."""
    with tempfile.TemporaryDirectory() as name:
        folder, found = Path(name), {}
        for n in (rows // 10, rows):
            make_log(folder / f"{n}.parquet", n)
            (folder / str(n)).mkdir()
            made = make_programme(folder / str(n), f"../{n}.parquet")
            found[n] = in_a_child(DRAFT, str(made.path), ATR_MEMORY_LIMIT="3GB")
            shutil.rmtree(made.store_path)
        tenth, whole = found[rows // 10], found[rows]
        gib = whole["peak"] / 2**30
        yield Row(
            f"peak memory from {rows:,} rows of Parquet to a draft, DuckDB limited to 3 GB",
            f"{gib:.1f} GiB",
            f"with a tenth of the rows, {tenth['peak'] / 2**30:.1f} GiB",
            whole["peak"] / tenth["peak"],
            target="≤ 4 GiB",
            met=gib <= 4,
        )
        for step, seconds in whole["steps"].items():
            if seconds < 1:
                continue
            of_tenth = tenth["steps"][step]
            yield Row(
                f"{step.replace('_', ' ')} of {rows:,} rows",
                f"{seconds:.1f} s",
                f"a tenth of the rows, {of_tenth:.1f} s",
                seconds / of_tenth,
                target="≤ 10 (linear)",
                met=seconds <= 10 * of_tenth,
            )


def logs() -> Iterator[Row]:
    """All of these."""
    yield from reading()
    yield from many_files()
    yield from draft()
