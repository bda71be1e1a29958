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
from atr.errors import ProgrammeError
from atr.ingest import Accounting
from atr.ingest.precedence import Changed
from atr.programme.periods import ALL
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate
from atr.warehouse.ledger import Ledger
from tests.helpers.logs import GOOD, HEADER, account, balanced, decisions, programme, write

ROW = st.tuples(
    st.sampled_from(["1", "2", "3", "4", ""]),
    st.sampled_from(["2013-01-01", "2013-01-02", "never"]),
    st.sampled_from(["f", "m", "", "<b>", '"']),
    st.sampled_from(["5", "10", "", "x"]),
    st.sampled_from(["yes", "no", "no", "perhaps"]),
)
LOG = st.lists(st.lists(st.one_of(ROW, st.just(("malformed",))), max_size=8), min_size=1, max_size=4)


def expected(files: list[list[tuple[str, ...]]]) -> tuple[dict[str, tuple[str, ...]], int, int, int, int]:
    """The same in plain Python: the row that counts of each id, and the accounting."""
    rows = [row for file in files for row in file]
    good = [
        row
        for row in rows
        if not (len(row) == 1 or row[0] == "" or row[1] == "never" or row[3] == "x" or row[4] == "perhaps")
    ]
    counts = {row[0]: row for row in good}
    duplicates = sum(row == counts[row[0]] for row in good) - len(counts)
    corrections = sum(row != counts[row[0]] for row in good)
    return counts, len(rows), duplicates, corrections, len(rows) - len(good)


@given(LOG)
def test_every_row_is_accounted_for(files: list[list[tuple[str, ...]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = programme(folder, {"source": "*.csv", "outcomes": {"yes": ["yes"], "no": ["no"]}})
        for i, rows in enumerate(files):
            cells = ([f'"{c.replace(chr(34), chr(34) * 2)}"' for c in row] for row in rows)
            write(folder, HEADER + "".join(",".join(row) + "\n" for row in cells), f"{i}.csv")
        known, rows_read, duplicates, corrections, quarantined = expected(files)
        with Warehouse.in_memory() as warehouse:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(ingestion, "check_log", lambda *_: None)
                for _ in range(2):
                    found = account(warehouse, made)
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


@pytest.mark.long
def test_a_killed_run_repeated_ends_as_one_that_was_not_killed(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    for n in range(3):
        rows = (
            f"{i % 12_000},2013-0{i % 9 + 1}-01,{'fm'[i % 2]},{i % 17},{'yes' if i % 3 else 'no'}\n"
            for i in range(n, 20_000)
        )
        write(tmp_path, HEADER + "".join(rows), f"{n}.csv")
    with Warehouse.in_memory() as warehouse:
        undisturbed = account(warehouse, made)
        expected_rows = decisions(warehouse)
    for delay in (0.02, 0.2):
        run = subprocess.Popen([sys.executable, "-c", KILLED, str(made.path)], stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None
        assert run.stdout.readline() == "started\n"
        time.sleep(delay)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        with Warehouse.open(made) as warehouse:
            if warehouse.layout_or_none() is not None:
                assert ingestion.accounting(warehouse) == undisturbed
                assert decisions(warehouse) == expected_rows
    with Warehouse.open(made) as warehouse:
        assert account(warehouse, made) == undisturbed
        assert decisions(warehouse) == expected_rows


def test_new_labels_need_no_new_reading(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD)
    with Warehouse.open(programme(tmp_path)) as warehouse:
        before = account(warehouse, programme(tmp_path))
        made = programme(
            tmp_path,
            attributes={
                "income": {"role": "sensitive", "bins": [5], "labels": ["low", "high"]},
                "sex": {"role": "public", "protected": True, "reference": "m", "values": {"m": "man", "f": "woman"}},
            },
        )
        assert ingestion.ingest(warehouse, made) == ingestion.Reading(before, Changed(), Changed())
        assert aggregate(warehouse, made, ALL).region_values == (("high",), ("high",))


def test_another_choice_of_columns_reads_the_same_files_again(tmp_path: Path) -> None:
    write(tmp_path, "id,day,sex,race,income,outcome\n1,2013-01-01,f,a,5,yes\n2,2013-01-01,m,b,6,no\n", "1.csv")
    made = programme(tmp_path, {"source": "*.csv"})
    with Warehouse.open(made) as warehouse:
        account(warehouse, made)
        Ledger(warehouse).begin("2013", today="2014-01-01")
        other = programme(
            tmp_path,
            {"source": "*.csv"},
            attributes={"race": {"role": "public"}, "income": {"role": "sensitive"}, "sex": {"role": "public"}},
        )
        with pytest.raises(ProgrammeError, match="give bins"):
            account(warehouse, other)
        other = programme(
            tmp_path,
            {"source": "*.csv"},
            attributes={"race": {"role": "public"}, "income": {"role": "sensitive", "bins": [6]}},
        )
        assert account(warehouse, other) == Accounting(2, 2, 0, 0, 0, 1, {})
        assert decisions(warehouse, "a0, a1") == [("a", 5.0), ("b", 6.0)]
        assert [release.id for release in Ledger(warehouse).releases()] == ["2013-v1"]
