"""Read again, killed and after the programme changed: every row is accounted for, and once."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr import ingest as ingestion
from atr.errors import IngestError, ProgrammeError
from atr.ingest import Accounting, ingest
from atr.programme.periods import ALL
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate
from atr.warehouse.ledger import Ledger
from tests.helpers.logs import GOOD, HEADER, balanced, decisions, programme, write


def test_the_same_file_adds_nothing_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD + "x\n")
    made = programme(tmp_path, {"source": "*.csv"})
    with Warehouse.open(made) as warehouse:
        first = ingest(warehouse, made)
        write(tmp_path, HEADER + GOOD + "x\n", "copy.csv")
        assert ingest(warehouse, made) == first
    with Warehouse.open(made) as warehouse:
        assert ingest(warehouse, made) == first


def test_of_rows_with_one_id_the_latest_wins(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    write(tmp_path, HEADER + GOOD + "1,2013-01-01,f,5,yes\n2,2013-01-02,m,11,no\n2,2013-01-02,m,12,no\n", "1.csv")
    with Warehouse.open(made) as warehouse:
        assert ingest(warehouse, made) == Accounting(5, 2, 1, 2, 0, 1, {})
        assert decisions(warehouse, "id, a1") == [("1", 5.0), ("2", 12.0)]
        write(tmp_path, HEADER + "3,2013-01-01,f,,yes\n2,2013-01-02,m,12,no\n1,2013-01-01,f,,yes\n", "2.csv")
        assert ingest(warehouse, made) == Accounting(8, 3, 2, 3, 0, 2, {})
        assert decisions(warehouse, "id, a1") == [("1", None), ("2", 12.0), ("3", None)]
        write(tmp_path, HEADER + "1,2013-01-01,f,6,yes\n1,2013-01-01,f,,yes\n3,2013-01-01,f,,yes\n", "3.csv")
        assert ingest(warehouse, made) == Accounting(11, 3, 3, 5, 0, 3, {})
        assert decisions(warehouse, "id, a1") == [("1", None), ("2", 12.0), ("3", None)]


@pytest.mark.parametrize("key", ["id", None])
def test_a_file_that_grew_adds_its_new_rows_only(tmp_path: Path, key: str | None) -> None:
    made = programme(tmp_path, {"id": key})
    rows = HEADER + GOOD + "bad\n9,x,f,5,yes\n" + GOOD.replace("1,", "3,", 1).replace("2,", "4,", 1)
    write(tmp_path, rows)
    with Warehouse.open(made) as warehouse:
        first = ingest(warehouse, made)
        assert first == Accounting(6, 4, 0, 0, 2, 1, first.reasons)
        write(tmp_path, rows + "5,2013-01-01,f,5,yes\nbad\n")
        assert ingest(warehouse, made) == Accounting(
            14,
            5,
            6 + (key is not None),
            0,
            2 + (key is None),
            2,
            first.reasons | ({"too few fields": 2} if key is None else {}),
        )
        assert len(decisions(warehouse)) == 5


def test_without_an_id_equal_rows_are_different_decisions(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD * 3)
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, programme(tmp_path, {"id": None})).decisions == 6


ROW = st.tuples(
    st.sampled_from(["1", "2", "3", "4", ""]),
    st.sampled_from(["2013-01-01", "2013-01-02", "never"]),
    st.sampled_from(["f", "m", "", "<b>", '"']),
    st.sampled_from(["5", "10", "", "x"]),
    st.sampled_from(["yes", "no", "no", "perhaps"]),
)
LOG = st.lists(st.lists(st.one_of(ROW, st.just(("malformed",))), max_size=8), min_size=1, max_size=4)


def expected(files: list[list[tuple[str, ...]]]) -> tuple[dict[str, tuple[str, ...]], int, int, int, int]:
    """The same in plain Python: what is known of each id, and the accounting."""
    known: dict[str, tuple[str, ...]] = {}
    rows = duplicates = corrections = quarantined = 0
    seen: list[tuple[str, ...]] = []
    for file in files:
        bad = []
        for row in file:
            rows += 1
            if len(row) == 1 or row[0] == "" or row[1] == "never" or row[3] == "x" or row[4] == "perhaps":
                duplicates += row in seen
                quarantined += row not in seen
                bad.append(row)
            elif row[0] in known:
                duplicates += known[row[0]] == row
                corrections += known[row[0]] != row
                known[row[0]] = row
            else:
                known[row[0]] = row
        seen += bad
    return known, rows, duplicates, corrections, quarantined


@given(LOG)
def test_every_row_is_accounted_for(files: list[list[tuple[str, ...]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = programme(folder, {"source": "*.csv", "outcomes": {"yes": ["yes"], "no": ["no"]}})
        files = [list(rows) for rows in dict.fromkeys(map(tuple, files))]
        for i, rows in enumerate(files):
            cells = ([f'"{c.replace(chr(34), chr(34) * 2)}"' for c in row] for row in rows)
            write(folder, HEADER + "".join(",".join(row) + "\n" for row in cells), f"{i}.csv")
        known, rows_read, duplicates, corrections, quarantined = expected(files)
        with Warehouse.in_memory() as warehouse:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(ingestion, "check_log", lambda *_: None)
                for _ in range(2):
                    found = ingest(warehouse, made)
                    assert balanced(found)
                    assert (found.rows_read, found.duplicates, found.corrections, found.quarantined) == (
                        rows_read, duplicates, corrections, quarantined,
                    )  # fmt: skip
            stored = decisions(warehouse, "id, decided_on::VARCHAR, coalesce(a0, ''), a1, outcome")
        assert stored == [
            (i, row[1], row[2], float(row[3]) if row[3] else None, row[4]) for i, row in sorted(known.items())
        ]


KILLED = """
import sys
from atr import ingest
from atr.programme import load
from atr.warehouse.store import hold
from atr.warehouse.connection import Warehouse
programme = load(sys.argv[1])
with hold(programme.store_path), Warehouse.open(programme) as warehouse:
    print("started", flush=True)
    ingest.ingest(warehouse, programme)
    print("done", flush=True)
"""


def test_a_killed_run_repeated_ends_as_one_that_was_not_killed(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    for n in range(3):
        rows = (
            f"{i % 12_000},2013-0{i % 9 + 1}-01,{'fm'[i % 2]},{i % 17},{'yes' if i % 3 else 'no'}\n"
            for i in range(n, 20_000)
        )
        write(tmp_path, HEADER + "".join(rows), f"{n}.csv")
    with Warehouse.in_memory() as warehouse:
        undisturbed = ingest(warehouse, made)
        expected_rows = decisions(warehouse)
    sizes = set()
    for delay in (0.02, 0.2):
        run = subprocess.Popen([sys.executable, "-c", KILLED, str(made.path)], stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None
        assert run.stdout.readline() == "started\n"
        time.sleep(delay)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        with Warehouse.open(made) as warehouse:
            found = ingestion.accounting(warehouse)
            sizes.add(found.files)
            if warehouse.layout_or_none() is not None:
                assert len(decisions(warehouse)) == found.decisions
            assert balanced(found)
    with Warehouse.open(made) as warehouse:
        assert ingest(warehouse, made) == undisturbed
        assert decisions(warehouse) == expected_rows
    assert min(sizes) < 3


def test_new_labels_need_no_new_reading(tmp_path: Path) -> None:
    log = write(tmp_path, HEADER + GOOD)
    with Warehouse.open(programme(tmp_path)) as warehouse:
        ingest(warehouse, programme(tmp_path))
        log.unlink()
        write(tmp_path, HEADER + GOOD + "3,2013-01-02,m,10,no\n")
        made = programme(
            tmp_path,
            attributes={
                "income": {"role": "sensitive", "bins": [5], "labels": ["low", "high"]},
                "sex": {"role": "public", "protected": True, "reference": "m", "values": {"m": "man", "f": "woman"}},
            },
        )
        assert ingest(warehouse, made).rows_read == 5
        assert aggregate(warehouse, made, ALL).region_values == (("high",), ("high",))


def test_another_choice_of_columns_reads_the_same_files_again(tmp_path: Path) -> None:
    write(tmp_path, "id,day,sex,race,income,outcome\n1,2013-01-01,f,a,5,yes\n2,2013-01-01,m,b,6,no\n", "1.csv")
    made = programme(tmp_path, {"source": "*.csv"})
    with Warehouse.open(made) as warehouse:
        ingest(warehouse, made)
        Ledger(warehouse).begin("2013", today="2014-01-01")
        other = programme(
            tmp_path,
            {"source": "*.csv"},
            attributes={"race": {"role": "public"}, "income": {"role": "sensitive"}, "sex": {"role": "public"}},
        )
        with pytest.raises(ProgrammeError, match="give bins"):
            ingest(warehouse, other)
        other = programme(
            tmp_path,
            {"source": "*.csv"},
            attributes={"race": {"role": "public"}, "income": {"role": "sensitive", "bins": [6]}},
        )
        assert ingest(warehouse, other) == Accounting(2, 2, 0, 0, 0, 1, {})
        assert decisions(warehouse, "a0, a1") == [("a", 5.0), ("b", 6.0)]
        assert [release.id for release in Ledger(warehouse).releases()] == ["2013-v1"]


@pytest.mark.parametrize("fate", ["gone", "changed"])
def test_without_the_same_files_nothing_is_lost(tmp_path: Path, fate: str) -> None:
    log = write(tmp_path, HEADER + GOOD, "1.csv")
    write(tmp_path, HEADER + GOOD.replace("1,", "7,", 1), "2.csv")
    made = programme(tmp_path, {"source": "*.csv"})
    with Warehouse.open(made) as warehouse:
        before, rows = ingest(warehouse, made), decisions(warehouse)
        if fate == "gone":
            log.unlink()
        else:
            log.write_text(HEADER + "1,2013-01-01,f,7,yes\n")
        with pytest.raises(IngestError, match=rf"1.csv: .*{'is gone' if fate == 'gone' else 'was changed'}"):
            ingest(warehouse, programme(tmp_path, {"source": "*.csv", "missing": ["", "?"]}))
        assert (ingestion.accounting(warehouse), decisions(warehouse)) == (before, rows)


@pytest.mark.parametrize("key", ["id", None])
def test_a_log_that_grew_can_be_read_again(tmp_path: Path, key: str | None) -> None:
    made = programme(tmp_path, {"id": key})
    with Warehouse.open(made) as warehouse:
        for rows in (GOOD, GOOD + "x\n3,2013-01-01,f,5,no\n", GOOD + "x\n3,2013-01-01,f,6,no\n4,2013-01-01,f,5,no\n"):
            write(tmp_path, HEADER + rows)
            ingest(warehouse, made)
        other = programme(tmp_path, {"id": key, "missing": ["", "?"]})
        if key is None:
            with pytest.raises(IngestError, match="was changed since"):
                ingest(warehouse, other)
        else:
            assert ingest(warehouse, other) == Accounting(5, 4, 0, 0, 1, 1, {"too few fields": 1})
