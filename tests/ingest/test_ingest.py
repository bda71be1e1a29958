"""Ingestion: every row is accounted for, nothing is read twice, and a killed run leaves the warehouse as it was."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from atr import ingest as ingestion
from atr.errors import IngestError, ProgrammeError, RefusedError
from atr.ingest import Accounting, ingest
from atr.programme import Programme, load
from atr.programme.periods import ALL
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate
from atr.warehouse.ledger import Ledger
from tests.helpers import series

HEADER = "id,day,sex,income,outcome\n"
GOOD = "1,2013-01-01,f,5,yes\n2,2013-01-02,m,10,no\n"
MANY = "".join(f"7{i},2013-01-01,f,5,perhaps {i}\n" for i in range(8))
"""More outcomes than a report can tell of."""


def programme(folder: Path, log: dict[str, Any] | None = None, **parts: Any) -> Programme:
    """The programme of these tests, in a folder, with some keys other than usual (None: left out)."""
    keys: dict[str, Any] = {
        "source": "log.csv", "id": "id", "decided_at": "day", "outcome": "outcome", "positive": "yes",
        "max_quarantined": 1.0,
    }  # fmt: skip
    keys |= log or {}
    data = {
        "programme": "small",
        "title": "Small",
        "publisher": {"name": "P", "contact": "p@example.org"},
        "system": {"name": "S"},
        "log": {key: value for key, value in keys.items() if value is not None},
        "attributes": {"sex": {"role": "public"}, "income": {"role": "sensitive", "bins": [10]}},
        "period": {"every": "quarter", "timezone": "Europe/Berlin"},
        "store": "private",
    } | parts
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return load(path)


def write(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def decisions(warehouse: Warehouse, columns: str = "id, decided_on, outcome, a0, a1") -> list[tuple[Any, ...]]:
    return warehouse.query(f"SELECT {columns} FROM decisions ORDER BY id, ingestion, position")


def quarantine(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    return warehouse.query("SELECT line, reason FROM quarantine ORDER BY ingestion, line")


def balanced(found: Accounting) -> bool:
    parts = found.decisions + found.duplicates + found.corrections + found.quarantined
    return found.rows_read == parts and sum(found.reasons.values()) == found.quarantined


# --- what a row becomes ----------------------------------------------------------------------------------------


def test_rows_become_typed_decisions(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD + "3,2013-05-05,,,yes\n")
    with Warehouse.open(programme(tmp_path)) as warehouse:
        found = ingest(warehouse, programme(tmp_path))
        assert decisions(warehouse) == [
            ("1", date(2013, 1, 1), "yes", "f", 5.0),
            ("2", date(2013, 1, 2), "no", "m", 10.0),
            ("3", date(2013, 5, 5), "yes", None, None),
        ]
    assert found == Accounting(3, 3, 0, 0, 0, 1, {})


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",2013-01-01,f,5,yes", "no id"),
        ("9,,f,5,yes", "no date"),
        ("9,01/02/2013,f,5,yes", "date that cannot be read"),
        ("9,2013-02-30,f,5,yes", "date that cannot be read"),
        ("9,2013-1-1,f,5,yes", "date that cannot be read"),
        ("9,2013-01-01 24:00,f,5,yes", "date that cannot be read"),
        ("9,2013-01-01T10:00 Europe/Berlin,f,5,yes", "date that cannot be read"),
        ("9,0000-01-01,f,5,yes", "date that cannot be read"),
        ("9,9999-12-31,f,5,yes", "date that cannot be read"),
        ("9,epoch,f,5,yes", "date that cannot be read"),
        ("9,infinity,f,5,yes", "date that cannot be read"),
        ("9,2013-01-01,f,5,", "no outcome"),
        ("9,2013-01-01,f,5,perhaps", "outcome that the programme does not name"),
        ("9,2013-01-01,f,five,yes", "no number in 'income' (attributes.income.bins)"),
        ("9,2013-01-01,f,nan,yes", "no number in 'income' (attributes.income.bins)"),
        ("9,2013-01-01,f,inf,yes", "no number in 'income' (attributes.income.bins)"),
        ("9,2013-01-01,f,1e999,yes", "no number in 'income' (attributes.income.bins)"),
        ("9,2013-01-01,f,1_000,yes", "no number in 'income' (attributes.income.bins)"),
        ('9,2013-01-01,f,"1,5",yes', "no number in 'income' (attributes.income.bins)"),
        ("9,2013-01-01,f,5", "too few fields"),
        ("9,2013-01-01,f,5,yes,no", "too many fields"),
        ('9,2013-01-01,"f"x,5,yes', "quote out of place"),
        (b"9,2013-01-01,\xff,5,yes", "not UTF-8 text"),
        ("9,2013-01-01,f,5,yes" + "s" * 3_000_000, "line too long"),
        (" ", "too few fields"),
    ],
)
def test_a_faulty_row_is_quarantined_with_its_reason_and_line(tmp_path: Path, row: str | bytes, reason: str) -> None:
    faulty = row.encode() if isinstance(row, str) else row
    write(tmp_path, (HEADER + "1,2013-01-01,f,5,yes\n").encode() + faulty + b"\n2,2013-01-02,m,10,no\n")
    made = programme(tmp_path, {"outcomes": {"yes": ["yes"], "no": ["no"]}})
    with Warehouse.open(made) as warehouse:
        found = ingest(warehouse, made)
        assert quarantine(warehouse) == [(3, reason)]
        assert [row[0] for row in decisions(warehouse)] == ["1", "2"]
        ((raw,),) = warehouse.query("SELECT raw FROM quarantine")
    assert found.reasons == {reason: 1}
    assert balanced(found)
    if isinstance(row, str) and raw.startswith("{"):
        assert list(json.loads(raw).values()) == [row.split(",")[i] for i in (4, 2, 3, 0, 1)] or '"' in row
    elif isinstance(row, str):
        assert raw[:1000] == row[:1000]


def test_line_numbers_count_the_lines_that_were_rejected(tmp_path: Path) -> None:
    rows = [
        "1,2013-01-01,f,5,yes",
        "x",
        "2,never,f,5,yes",
        "3,2013-01-01,m,5,no",
        "4,a,b,c,d,e,f",
        "y",
        "5,2013-01-01,f,z,no",
    ]
    write(tmp_path, HEADER + "\n".join(rows))
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        assert [line for line, _ in quarantine(warehouse)] == [3, 4, 6, 7, 8]


def test_a_gate_refuses_a_file_and_keeps_what_was_there(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv", "max_quarantined": 0.4})
    write(tmp_path, HEADER + GOOD, "a.csv")
    write(
        tmp_path,
        HEADER + GOOD.replace("1,", "11,", 1) + "3,SECRET,f,5,yes\n4,,m,SECRET,no\n5,SECRET,f,5,yes\n",
        "b.csv",
    )
    with Warehouse.open(made) as warehouse:
        with pytest.raises(RefusedError) as caught:
            ingest(warehouse, made)
        assert caught.value.exit_code == 3
        message = str(caught.value)
        assert "b.csv" in message
        assert "3 of 5 rows" in message
        assert "date that cannot be read: 2 rows, first in line 4, 6" in message
        assert "no date: 1 rows, first in line 5" in message
        assert "SECRET" not in message + caught.value.private
        assert len(decisions(warehouse)) == 2
        assert quarantine(warehouse) == []


@pytest.mark.parametrize("share", [0.2, 0.19])
def test_the_gate_is_above_the_share_not_at_it(tmp_path: Path, share: float) -> None:
    write(tmp_path, HEADER + GOOD + "3,2013-01-02,m,10,no\n4,2013-01-02,m,10,no\n5,x,f,5,yes\n")
    made = programme(tmp_path, {"max_quarantined": share})
    with Warehouse.in_memory() as warehouse:
        if share == 0.2:
            assert ingest(warehouse, made).quarantined == 1
        else:
            with pytest.raises(RefusedError):
                ingest(warehouse, made)


# --- dates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2013-07-01", date(2013, 7, 1)),
        ("2013-07-01 23:59", date(2013, 7, 1)),
        ("2013-07-01T23:59:59.999999999", date(2013, 7, 1)),
        ("2013-07-01T23:30:00Z", date(2013, 7, 2)),
        ("2013-07-01T23:30Z", date(2013, 7, 2)),
        ("2013-07-01 21:59:59.5Z", date(2013, 7, 1)),
        ("2013-07-01T00:30:00+05:30", date(2013, 6, 30)),
        ("2013-07-01 00:30+0530", date(2013, 6, 30)),
        ("2013-07-01 20:00:00 -05", date(2013, 7, 2)),
        ("2013-12-31T22:59:59Z", date(2013, 12, 31)),
        ("2013-12-31T23:00:00Z", date(2014, 1, 1)),
    ],
)
def test_a_decision_is_on_a_day_of_the_programmes_time_zone(tmp_path: Path, text: str, day: date) -> None:
    write(tmp_path, HEADER + f"1,{text},f,5,yes\n2,2013-07-01,f,5,no\n")
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, made).quarantined == 0
        assert decisions(warehouse, "decided_on")[0] == (day,)


@pytest.mark.parametrize("text", ["2013-07-01", "2013-07-01 10:00:00"])
def test_a_date_without_zone_needs_a_time_zone(tmp_path: Path, text: str) -> None:
    write(tmp_path, HEADER + f"1,2013-07-01T10:00Z,f,5,yes\n2,{text},f,5,no\n")
    made = programme(tmp_path, period={"every": "quarter"})
    with Warehouse.open(made) as warehouse:
        with pytest.raises(ProgrammeError, match=r"line 3: give period.timezone"):
            ingest(warehouse, made)
        assert warehouse.layout_or_none() is None


def test_with_a_zone_in_every_date_days_are_utc(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-07-01T23:30:00-02:00,f,5,yes\n2,2013-07-01T23:30:00Z,f,5,no\n")
    made = programme(tmp_path, period={"every": "quarter"})
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        assert decisions(warehouse, "decided_on") == [(date(2013, 7, 2),), (date(2013, 7, 1),)]


# --- files -----------------------------------------------------------------------------------------------------

HOSTILE = {
    "id": ["1", "2", "3", "4", "5"],
    'day "of" decision; DROP TABLE decisions': ["2013-01-01"] * 5,
    "Sex": ["<script>alert(1)</script>", "'; DROP TABLE decisions; --", "a\nb", 'say "hi", now', "NA"],
    "sex": ["漢字", "007", "é", " padded ", "=1+1"],
    "revenu brut (€)": ["5", "", "10", "10.0", "9.99"],
    "結果": ["yes", "no", "yes", "no", "yes"],
}


def hostile(folder: Path, source: str) -> Programme:
    return programme(
        folder,
        {"source": source, "decided_at": 'day "of" decision; DROP TABLE decisions', "outcome": "結果"},
        attributes={
            "Sex": {"role": "public"},
            "sex": {"role": "public"},
            "revenu brut (€)": {"role": "sensitive", "bins": [10]},
        },
    )


def as_csv(columns: dict[str, list[str]], delimiter: str = ",", end: str = "\n") -> bytes:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if set(text) & set('"\r\n' + delimiter) else text

    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(delimiter.join(map(cell, row)) + end for row in rows).encode()


def test_the_same_log_in_any_form_is_the_same_log(tmp_path: Path) -> None:
    table = pa.table({name: [cell or None for cell in cells] for name, cells in HOSTILE.items()})
    typed = table.set_column(0, "id", pa.array([1, 2, 3, 4, 5]))
    typed = typed.set_column(1, typed.column_names[1], pa.array([date(2013, 1, 1)] * 5))
    typed = typed.set_column(4, typed.column_names[4], pa.array([5.0, None, 10.0, 10.0, 9.99]))
    plain = as_csv(HOSTILE)
    write(tmp_path, plain, "plain.csv")
    write(tmp_path, b"\xef\xbb\xbf" + as_csv(HOSTILE, end="\r\n"), "windows.csv")
    write(tmp_path, gzip.compress(plain[:100]) + gzip.compress(plain[100:]), "packed.csv.gz")
    write(tmp_path, as_csv(HOSTILE, ";"), "semicolon.csv")
    write(tmp_path, as_csv(HOSTILE, "\t"), "tab.tsv")
    write(tmp_path, as_csv(HOSTILE, "|").rstrip(b"\n"), "no-end[1]*.csv")
    write(tmp_path, b"\n\n" + as_csv(HOSTILE | {"more": ["1"] * 5, "and": ["2"] * 5}), "more.csv")
    pq.write_table(table, tmp_path / "texts.parquet")
    pq.write_table(typed, tmp_path / "typed.parquet")
    found = {}
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 9
    for name in names:
        made = hostile(tmp_path, name)
        with Warehouse.in_memory() as warehouse:
            assert ingest(warehouse, made) == Accounting(5, 5, 0, 0, 0, 1, {}), name
            r = aggregate(warehouse, made, ALL)
            found[name] = (
                decisions(warehouse, "id, decided_on, outcome, a0, a1, a2"),
                r.group_values,
                r.region_values,
                r.counts.tolist(),
            )
    assert found["plain.csv"][0][4][3] == "NA"
    assert found["plain.csv"][0][1][4] == "007"
    assert found["plain.csv"][0][2][3] == "a\nb"
    for name, what in found.items():
        if name != "windows.csv":
            assert what == found["plain.csv"], name
    assert found["windows.csv"] == found["plain.csv"]


def test_columns_that_are_not_named_are_not_kept(tmp_path: Path) -> None:
    write(
        tmp_path,
        "name,id,day,sex,income,outcome\nAda Lovelace,1,2013-01-01,f,5,yes\n"
        "Lovelace,2,2013-01-01,f,bad,no\ny,3,2013-01-01,f,1,no\n",
    )
    made = programme(tmp_path)
    with Warehouse.open(made) as warehouse:
        ingest(warehouse, made)
        ((raw,),) = warehouse.query("SELECT raw FROM quarantine")
    assert json.loads(raw) == {"id": "2", "day": "2013-01-01", "sex": "f", "income": "bad", "outcome": "no"}
    assert b"Lovelace" not in (made.store_path / "warehouse.duckdb").read_bytes()


def test_only_the_texts_named_as_missing_are_missing(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01,?,?,yes\n2,2013-01-01,NA,5,no\n3,2013-01-01,,5,no\n4,2013-01-01,null,,no\n")
    made = programme(tmp_path, {"missing": ["?"]})
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, made).reasons == {"no number in 'income' (attributes.income.bins)": 1}
        assert decisions(warehouse, "a0, a1") == [(None, None), ("NA", 5.0), ("", 5.0)]


def test_with_nothing_missing_every_text_is_a_value(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01,,5,yes\n2,2013-01-01,NA,5,no\n")
    made = programme(tmp_path, {"missing": []})
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        assert decisions(warehouse, "a0") == [("",), ("NA",)]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,day,Sex,income,outcome", "no column 'sex', but 'Sex'"),
        ("id,day,sex,incom,outcome", "no column 'income', but 'incom'"),
        ("id,day,sex,income,x", "no column 'outcome'"),
        ("id,day,sex,income,outcome,sex", "column 'sex' stands there 2 times"),
        ("1,2013-01-01,f,5,yes", "no column 'id'"),
        (b"id,day,s\xe9x,income,outcome", "not UTF-8"),
        ("id,day,sex,income,outcome".encode("utf-16"), "not UTF-8"),
    ],
)
def test_a_header_that_does_not_fit_is_an_error(tmp_path: Path, header: str | bytes, message: str) -> None:
    path = write(tmp_path, (header.encode() if isinstance(header, str) else header) + b"\n1,2013-01-01,f,5,yes\n")
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match=message) as caught:
        ingest(warehouse, made)
    assert caught.value.where == str(path)


def test_a_doubled_column_that_is_not_needed_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path, "note,id,day,sex,income,note,outcome\na,1,2013-01-01,f,5,b,yes\na,2,2013-01-01,f,5,b,no\n")
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, programme(tmp_path)).decisions == 2


def test_parquet_without_a_column_names_it(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"id": [1], "day": ["2013"], "Sex": ["f"], "income": [1], "outcome": ["yes"]}),
        tmp_path / "log.parquet",
    )
    made = programme(tmp_path, {"source": "log.parquet"})
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match="no column 'sex', but 'Sex'"):
        ingest(warehouse, made)


def test_parquet_with_lists_is_an_error(tmp_path: Path) -> None:
    table = pa.table(
        {"junk": [{"a": [1]}], "id": [1], "day": ["2013-01-01"], "sex": [["f"]], "income": [1], "outcome": ["yes"]}
    )
    pq.write_table(table, tmp_path / "log.parquet")
    made = programme(tmp_path, {"source": "log.parquet"})
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match=r"'sex' holds .*not plain values"):
        ingest(warehouse, made)


def test_parquet_files_of_different_types_are_one_log(tmp_path: Path) -> None:
    for i, (ids, incomes, days) in enumerate(
        [
            ([1], pa.array([5]), pa.array(["2013-07-01T23:30Z"])),
            ([2.0], pa.array([2.5]), pa.array([1372721400], pa.timestamp("s", "UTC"))),
            (["3"], pa.array(["7"]), pa.array([1372721400], pa.timestamp("s"))),
        ]
    ):
        columns = {"note": [[i]], "id": ids, "day": days, "sex": pa.array(["f"]).dictionary_encode(), "income": incomes}
        pq.write_table(pa.table(columns | {"outcome": ["yes" if i else "no"]}), tmp_path / f"{i}.parquet")
    made = programme(tmp_path, {"source": "*.parquet"})
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        assert decisions(warehouse, "id, decided_on, a1") == [
            ("1", date(2013, 7, 2), 5.0),
            ("2", date(2013, 7, 2), 2.5),
            ("3", date(2013, 7, 1), 7.0),
        ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("log.csv.gz", b"hello", "not a whole gzip file"),
        ("log.csv.gz", gzip.compress((HEADER + GOOD * 1000).encode())[:-12], "not a whole gzip file"),
        ("log.parquet", b"hello", "not a Parquet file"),
        ("log.csv", HEADER + "1,2013-01-01,f,5,yes\r2,2013-01-01,f,5,no\n", "mixes line endings"),
        ("log.csv", HEADER + GOOD.replace("\n", "\r\n") + "3,2013-01-01,f,5,yes\r4", "mixes line endings"),
        ("log.csv", HEADER + '1,2013-01-01,"f,5,yes\n' + GOOD * 3, "line 2: a quote that is never closed"),
        ("log.csv", HEADER + GOOD + '1,2013-01-01,"f,5,yes\n' + '2,2013-01-01,"f",5,no\n' + GOOD, "line 4: a quote"),
        ("log.csv", "\r" + HEADER + GOOD, "lines that DuckDB passes over in silence"),
        ("log.csv", "", "no decisions"),
        ("log.csv", "\n\n", "no decisions"),
        ("log.csv", b"\xef\xbb\xbf", "no decisions"),
        ("log.csv", HEADER, "no decisions"),
        ("log.csv", HEADER.strip(), "no decisions"),
    ],
)
def test_a_file_that_cannot_be_read_whole_adds_nothing(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    write(tmp_path, content, name)
    made = programme(tmp_path, {"source": name})
    with Warehouse.open(made) as warehouse:
        with pytest.raises(IngestError, match=message):
            ingest(warehouse, made)
        assert warehouse.query("SELECT * FROM ingestions") == []


def test_no_value_of_the_log_is_in_what_an_unreadable_file_is_refused_with(tmp_path: Path) -> None:
    texts = pa.array([b"SECRET\xff"]).view(pa.string())
    columns = {"id": [1], "day": ["2013-01-01"], "sex": texts, "income": [5], "outcome": ["yes"]}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    made = programme(tmp_path, {"source": "log.parquet"})
    with Warehouse.open(made) as warehouse, pytest.raises(IngestError, match="cannot be read as Parquet") as caught:
        ingest(warehouse, made)
    assert "SECRET" not in "".join(traceback.format_exception(caught.value)) + caught.value.private


def test_the_first_row_of_a_file_without_header_is_shown_to_the_person_at_the_keyboard_only(tmp_path: Path) -> None:
    write(tmp_path, "1,2013-01-01,SECRET,5,yes\n")
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError) as caught:
        ingest(warehouse, made)
    assert "SECRET" not in str(caught.value)
    assert "SECRET" in caught.value.private


@pytest.mark.parametrize("what", ["text", "time", "place"])
def test_a_file_that_changes_while_it_is_read_adds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    log, gate = write(tmp_path, HEADER + GOOD), ingestion.gate

    def change(*arguments: Any) -> int:
        if what == "text":
            write(tmp_path, HEADER + GOOD + GOOD)
        elif what == "time":
            os.utime(log, (1, 1))
        else:
            log.unlink()
        return gate(*arguments)

    monkeypatch.setattr(ingestion, "gate", change)
    made = programme(tmp_path)
    with Warehouse.open(made) as warehouse:
        with pytest.raises(IngestError, match="was changed while it was read"):
            ingest(warehouse, made)
        assert warehouse.query("SELECT * FROM ingestions") == []


def test_a_file_is_recorded_with_its_size_and_hash(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv*"})
    write(tmp_path, HEADER + GOOD, "1.csv")
    write(tmp_path, gzip.compress((HEADER + GOOD.replace("1,", "3,", 1)).encode()), "2.csv.gz")
    with Warehouse.open(made) as warehouse:
        ingest(warehouse, made)
        recorded = warehouse.query("SELECT path, bytes, sha256 FROM ingestions ORDER BY ingestion")
    contents = {name: (tmp_path / name).read_bytes() for name in ("1.csv", "2.csv.gz")}
    assert recorded == [(name, len(text), hashlib.sha256(text).hexdigest()) for name, text in contents.items()]


# --- line endings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("windows_first", [False, True])
def test_files_of_both_line_endings_may_be_put_together(tmp_path: Path, windows_first: bool, packed: bool) -> None:
    rows = [f"{i},2013-01-01,{'fm'[i % 2]},{i % 20},{'yes' if i % 3 else 'no'}\n" for i in range(200_000)]
    rows[70_000] = "bad\n"
    rows[150_000] = "x,never,f,5,yes\n"
    half = [row.replace("\n", "\r\n") if (i < 100_000) == windows_first else row for i, row in enumerate(rows)]
    text = (HEADER.replace("\n", "\r\n") if windows_first else HEADER) + "".join(half)
    name = "log.csv.gz" if packed else "log.csv"
    write(tmp_path, gzip.compress(text.encode(), 1) if packed else text, name)
    made = programme(tmp_path, {"source": name})
    with Warehouse.open(made) as warehouse:
        found = ingest(warehouse, made)
        assert (found.rows_read, found.decisions) == (200_000, 199_998)
        assert quarantine(warehouse) == [(70_002, "too few fields"), (150_002, "date that cannot be read")]
        assert warehouse.query("SELECT max(strlen(outcome)) FROM decisions") == [(3,)]
        assert list((made.store_path / "tmp").rglob("*.*")) == []


CELL = st.lists(st.sampled_from(["a", " ", '"', ",", "\n", "\r\n", "\r", "é"]), max_size=5).map("".join)


@given(st.lists(st.tuples(CELL, CELL, st.booleans()), max_size=6), st.booleans(), st.booleans())
def test_line_breaks_within_quotes_are_kept_as_they_are(
    rows: list[tuple[str, str, bool]], marked: bool, windows: bool
) -> None:
    cells = [["id", "sex", "note", "outcome"], ["x", "f", "", "yes"], ["y", "f", "", "no"]]
    cells += [[str(i), sex, note, "yes"] for i, (sex, note, _) in enumerate(rows)]
    ends = [windows, windows, not windows, *(row[2] for row in rows)]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells]
    text = "".join(row + ("\r\n" if end else "\n") for row, end in zip(quoted, ends, strict=True))
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), ("\ufeff" if marked else "") + text)
        made = programme(
            Path(name),
            {"decided_at": None, "missing": []},
            attributes={"sex": {"role": "public"}, "note": {"role": "sensitive"}},
            period={"every": "all"},
        )
        with Warehouse.in_memory() as warehouse:
            assert ingest(warehouse, made).quarantined == 0
            assert decisions(warehouse, "id, a0, a1, outcome") == sorted(tuple(row) for row in cells[1:])


@pytest.mark.parametrize("sex", ['5" pipe', ' "f" ', '"f"x', '"f" "x"'])
def test_a_quote_out_of_place_among_mixed_line_endings_loses_nothing(tmp_path: Path, sex: str) -> None:
    found = []
    for end in ("\n", "\r\n"):
        rows = (f"9,2013-01-01,{sex},5,yes", '3,2013-01-01,"f",5,yes', "4,2013-01-01,f,5,no\n")
        write(tmp_path, HEADER + GOOD + end.join(rows))
        made = programme(tmp_path)
        with Warehouse.in_memory() as warehouse:
            found.append((ingest(warehouse, made), decisions(warehouse), quarantine(warehouse)))
    assert found[0] == found[1]
    assert found[0][0].rows_read == 5


def test_a_quote_that_is_never_closed_is_found_among_mixed_line_endings(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01,f,5,yes\r\n" + '2,2013-01-01,"f,5,yes\n' + GOOD.replace("\n", "\r\n"))
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match="line 3: a quote that is never closed"):
        ingest(warehouse, made)


def test_a_mixed_file_may_begin_with_blank_lines(tmp_path: Path) -> None:
    write(tmp_path, "\r\n\n" + HEADER + GOOD + "bad\r\n")
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, made).rows_read == 3
        assert quarantine(warehouse) == [(6, "too few fields")]


def test_an_empty_file_among_others_is_a_file_without_rows(tmp_path: Path) -> None:
    write(tmp_path, "", "1.csv")
    write(tmp_path, HEADER, "2.csv")
    write(tmp_path, HEADER + GOOD, "3.csv")
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, programme(tmp_path, {"source": "*.csv"})) == Accounting(2, 2, 0, 0, 0, 3, {})


def test_a_source_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "logs/*.csv"})
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match=r"no file logs/\*.csv"):
        ingest(warehouse, made)


# --- again, and again ------------------------------------------------------------------------------------------


def test_the_same_file_adds_nothing_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD + "x\n")
    made = programme(tmp_path, {"source": "*.csv"})
    with Warehouse.open(made) as warehouse:
        first = ingest(warehouse, made)
        write(tmp_path, HEADER + GOOD + "x\n", "copy.csv")
        assert ingest(warehouse, made) == first
    with Warehouse.open(made) as warehouse:
        assert ingest(warehouse, made) == first


def test_the_same_id_is_a_duplicate_or_a_correction_and_the_latest_wins(tmp_path: Path) -> None:
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


# --- killed ----------------------------------------------------------------------------------------------------

KILLED = """
import sys
from atr import ingest
from atr.programme import load
from atr.warehouse.store import hold
from atr.warehouse.connection import Warehouse
from tests.helpers import series
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
            f"{i % 18_000},2013-0{i % 9 + 1}-01,{'fm'[i % 2]},{i % 17},{'yes' if i % 3 else 'no'}\n"
            for i in range(n, 30_000)
        )
        write(tmp_path, HEADER + "".join(rows), f"{n}.csv")
    with Warehouse.in_memory() as warehouse:
        undisturbed = ingest(warehouse, made)
        expected_rows = decisions(warehouse)
    sizes = set()
    for delay in (0.02, 0.15, 0.35):
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


# --- the programme changes -------------------------------------------------------------------------------------


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


# --- the programme does not fit the log ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "log", "attributes", "message"),
    [
        ("1,2013-01-01,f,5,yes\n", {}, {}, "log.outcome: the log has one outcome only"),
        (
            "1,2013-01-01,f,5,yes\n",
            {"outcomes": {"yes": ["yes"], "no": ["no"]}},
            {},
            "log.outcomes: the log has one outcome only",
        ),
        (GOOD, {"positive": "granted"}, {}, "log.positive: this outcome never occurs"),
        (
            GOOD,
            {"positive": "ja", "outcomes": {"ja": ["oui"], "no": ["no", "yes"]}},
            {},
            "log.positive: this outcome never",
        ),
        (GOOD + MANY, {}, {}, r"10 outcomes.*\n?.*8 at most(.|\n)*Group them"),
        (
            GOOD.replace(",f,", ",0,").replace(",m,", ",1,"),
            {},
            {},
            "attributes.sex: every value in the log is a number: give bins",
        ),
        (
            GOOD,
            {},
            {"sex": {"role": "public", "protected": True, "reference": "x"}},
            "attributes.sex.reference: .*nowhere",
        ),
        (
            GOOD,
            {},
            {"income": {"role": "sensitive", "protected": True, "bins": [100], "reference": "100 and more"}},
            "reference",
        ),
    ],
)
def test_a_programme_that_does_not_fit_the_log_leaves_nothing_written(
    tmp_path: Path, rows: str, log: dict[str, Any], attributes: dict[str, Any], message: str
) -> None:
    write(tmp_path, HEADER + rows)
    usual = {"sex": {"role": "public"}, "income": {"role": "sensitive", "bins": [10]}}
    made = programme(tmp_path, log, attributes=usual | attributes)
    with Warehouse.open(made) as warehouse:
        with pytest.raises(ProgrammeError, match=message) as caught:
            ingest(warehouse, made)
        assert str(made.path) in caught.value.where
        assert "perhaps" not in str(caught.value)
        assert warehouse.layout_or_none() is None
        assert warehouse.query("SELECT * FROM ingestions") == []


def test_a_file_that_does_not_fit_is_not_kept_and_the_next_run_can_do_without_it(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    write(tmp_path, HEADER + GOOD, "1.csv")
    with Warehouse.open(made) as warehouse:
        before = ingest(warehouse, made)
        bad = write(tmp_path, HEADER + MANY, "2.csv")
        write(tmp_path, HEADER + "8,2013-01-01,f,5,yes\n", "3.csv")
        for _ in range(2):
            with pytest.raises(ProgrammeError, match="10 outcomes"):
                ingest(warehouse, made)
            assert ingestion.accounting(warehouse) == before
            assert len(decisions(warehouse)) == 2
        bad.unlink()
        assert ingest(warehouse, made) == Accounting(3, 3, 0, 0, 0, 2, {})


def test_a_correction_that_takes_the_last_of_an_outcome_is_not_kept(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    write(tmp_path, HEADER + GOOD, "1.csv")
    with Warehouse.open(made) as warehouse:
        before = ingest(warehouse, made)
        write(tmp_path, HEADER + GOOD.replace("yes", "no"), "2.csv")
        with pytest.raises(ProgrammeError, match="never occurs"):
            ingest(warehouse, made)
        assert ingestion.accounting(warehouse) == before
        assert decisions(warehouse, "outcome") == [("yes",), ("no",)]


def test_outcomes_may_be_spread_over_the_files_of_a_first_run(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    write(tmp_path, HEADER + "1,2013-01-01,f,5,no\n", "1.csv")
    write(tmp_path, HEADER + "2,2013-01-01,f,5,no\n", "2.csv")
    with Warehouse.open(made) as warehouse:
        with pytest.raises(ProgrammeError, match="never occurs"):
            ingest(warehouse, made)
        assert warehouse.layout_or_none() is None
        assert warehouse.query("SELECT * FROM ingestions") == []
        write(tmp_path, HEADER + "3,2013-01-01,f,5,yes\n", "3.csv")
        assert ingest(warehouse, made).files == 3


def test_columns_that_do_not_fit_leave_the_warehouse_as_it_was_made(tmp_path: Path) -> None:
    made = programme(tmp_path)
    write(tmp_path, HEADER + GOOD)
    with Warehouse.open(made) as warehouse:
        before, layout = ingest(warehouse, made), warehouse.layout()
        with pytest.raises(ProgrammeError, match="give bins"):
            ingest(
                warehouse,
                programme(tmp_path, attributes={"sex": {"role": "public"}, "income": {"role": "sensitive"}}),
            )
        assert warehouse.layout() == layout
        assert (ingest(warehouse, made), len(decisions(warehouse))) == (before, 2)


def test_a_column_that_is_empty_throughout_is_fine(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD.replace(",f,", ",,").replace(",m,", ",,").replace(",10,", ",,").replace(",5,", ",,"))
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        found = aggregate(warehouse, made, ALL)
    assert (found.group_values, found.region_values, found.counts.tolist()) == (
        (("unknown",),),
        (("unknown",),),
        [[1, 1]],
    )


def test_codes_with_leading_zeros_are_not_numbers(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD.replace(",f,", ",01,").replace(",m,", ",10,"))
    with Warehouse.in_memory() as warehouse:
        assert ingest(warehouse, programme(tmp_path)).decisions == 2


def test_an_outcome_misspelt_in_the_programme_is_named_to_the_person_at_the_keyboard(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    path.write_text(path.read_text().replace("- yes", "- yess").replace("- 'yes'", "- yess"))
    with pytest.raises(RefusedError) as refused, Warehouse.in_memory() as warehouse:
        ingest(warehouse, load(path))
    assert "'yes' (" in refused.value.private
    assert "'yes'" not in str(refused.value)


def test_values_that_readers_cannot_tell_apart_are_remarked(tmp_path: Path) -> None:
    counts = {("a", "x"): (9, 3), ("a ", "x"): (9, 3), ("b\u202e", "y" * 90): (9, 3), ("c", "z"): (9, 3)}
    path = series.write_series(tmp_path, counts)
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, load(path))
        found = ingestion.remarks(warehouse, load(path))
    assert [remark.split(":")[0] for remark in found] == ["attributes.public", "attributes.public", "attributes.secret"]
    assert "'a', 'a '" in found[0]
    assert r"b\u202e" in found[1]
    assert "90 letters" in found[2]


def test_what_is_likely_not_meant_is_remarked(tmp_path: Path) -> None:
    """An id that is not a decision's, and a declared value that the log writes otherwise."""
    path = series.write_series(tmp_path, series.card(2))
    content = yaml.safe_load(path.read_text())
    content["attributes"]["public"]["values"] = {"Women": "women", "men": "men"}
    path.write_text(yaml.safe_dump(content))
    header, *rows = (tmp_path / "log.csv").read_text().splitlines()
    customers = [f"c{n % 50},{row.split(',', 1)[1]}" for n, row in enumerate(rows)]
    (tmp_path / "log.csv").write_text("\n".join([header, *customers]) + "\n")
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, load(path))
        found = ingestion.remarks(warehouse, load(path))
    assert len(found) == 2, found
    assert "rows replaced an earlier one of the same id" in found[0]
    assert found[1] == "attributes.public.values: 'Women' occurs nowhere in the log, which has 'women'"


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        ("1,31.05.2013,f,5,yes", "log.decided_at"),
        ("1,2013-05-31,f,five,yes", "give values, not bins"),
        ("1,2013-05-31,f,5,maybe", "log.outcomes"),
    ],
)
def test_a_refusal_says_what_to_do(tmp_path: Path, content: str, advice: str) -> None:
    write(tmp_path, f"id,day,sex,income,outcome\n{content}\n".encode())
    outcomes = {"outcomes": {"granted": ["yes"], "denied": ["no"]}, "positive": "granted"}
    made = programme(tmp_path, outcomes | {"max_quarantined": 0.1})
    with Warehouse.in_memory() as warehouse, pytest.raises(RefusedError) as refused:
        ingest(warehouse, made)
    assert advice in refused.value.hint


def test_an_excel_file_is_named_as_such(tmp_path: Path) -> None:
    write(tmp_path, b"PK\x03\x04 and more")
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match="is a zip or Excel file"):
        ingest(warehouse, programme(tmp_path))
