"""Files of every kind, whole and with what they need, whatever their lines end in."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
import traceback
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from atr import ingest as ingestion
from atr.core.display_text import cleaned
from atr.errors import IngestError
from atr.ingest import Accounting
from atr.programme import Programme
from atr.programme.periods import ALL
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate
from tests.helpers import excel
from tests.helpers.logs import GOOD, HEADER, account, decisions, programme, quarantine, write

DAY = 'day "of" decision; DROP TABLE decisions'
HOSTILE = {
    "id": ["1", "2", "3", "4", "5"],
    DAY: ["2013-01-01"] * 5,
    "Sex": ["<script>alert(1)</script>", "'; DROP TABLE decisions; --", "a\nb", 'say "hi", now', "NA"],
    "sex": ["漢字", "007", "é", " padded ", "=1+1"],
    "revenu brut (€)": ["5", "", "10", "10.0", "9.99"],
    "結果": ["yes", "no", "yes", "no", "yes"],
}


def hostile(folder: Path, source: str) -> Programme:
    return programme(
        folder,
        {"source": source, "decided_at": DAY, "outcome": "結果"},
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


def as_excel(columns: dict[str, list[str]], *, typed: bool = False) -> bytes:
    def cell(name: str, value: str) -> str:
        if typed and name == DAY:
            return excel.number("41275", excel.DAY)
        return excel.number(value) if typed and name in ("id", "revenu brut (€)") and value else excel.text(value)

    cells = [[cell(name, value) for value in values] for name, values in columns.items()]
    rows = [list(map(excel.text, columns)), *map(list, zip(*cells, strict=True))]
    return excel.workbook(Notes="", Log="".join(excel.row(i, row, "C") for i, row in enumerate(rows, 3)))


def test_the_same_log_in_any_form_is_the_same_log(tmp_path: Path) -> None:
    table = pa.table({name: [cell or None for cell in cells] for name, cells in HOSTILE.items()})
    typed = table.set_column(0, "id", pa.array([1, 2, 3, 4, 5]))
    typed = typed.set_column(1, typed.column_names[1], pa.array([date(2013, 1, 1)] * 5))
    typed = typed.set_column(4, typed.column_names[4], pa.array([5.0, None, 10.0, 10.0, 9.99]))
    plain, objects = as_csv(HOSTILE), table.to_pylist()
    write(tmp_path, plain, "plain.csv")
    write(tmp_path, b"\xef\xbb\xbf" + as_csv(HOSTILE, end="\r\n"), "windows.csv")
    write(tmp_path, gzip.compress(plain[:100]) + gzip.compress(plain[100:]), "packed.csv.gz")
    write(tmp_path, as_csv(HOSTILE, ";"), "semicolon.csv")
    write(tmp_path, as_csv(HOSTILE, "\t"), "tab.tsv")
    write(tmp_path, as_csv(HOSTILE, "|").rstrip(b"\n"), "no-end[1]*.csv")
    write(tmp_path, b"\n\n" + as_csv(HOSTILE | {"more": ["1"] * 5, "and": ["2"] * 5}), "more.csv")
    write(tmp_path, b"sep=;\r\n" + as_csv(HOSTILE, ";", "\r\n"), "excel.csv")
    write(tmp_path, gzip.compress(plain) + bytes(512), "on-tape.csv.gz")
    write(tmp_path, zstandard.compress(plain[:100]) + zstandard.compress(plain[100:]), "frames.csv.zst")
    lines = "\n".join(map(json.dumps, objects)).encode()
    write(tmp_path, lines, "lines.jsonl")
    write(tmp_path, gzip.compress(lines), "lines.ndjson.gz")
    write(tmp_path, json.dumps(objects, ensure_ascii=False, indent=1), "array.json")
    write(tmp_path, zstandard.compress(json.dumps(objects).encode()), "array.json.zst")
    write(tmp_path, as_excel(HOSTILE), "texts.xlsx")
    write(tmp_path, as_excel(HOSTILE, typed=True), "typed.xlsx")
    pq.write_table(table, tmp_path / "texts.parquet")
    pq.write_table(typed, tmp_path / "typed.parquet")
    write(tmp_path, plain, "folder.csv/within/part-00000.csv")
    write(tmp_path, "", "folder.csv/within/_SUCCESS")
    write(tmp_path, "", "folder.csv/.hidden/log.csv")
    (partition := tmp_path / "partitioned" / f"{quote(DAY)}=2013-01-01" / "other=1").mkdir(parents=True)
    pq.write_table(table.drop_columns(DAY), partition / "0.parquet")
    found = {}
    names = sorted({path.name for path in tmp_path.iterdir()} - {"programme.yaml"})
    assert len(names) == 20
    for name in names:
        made = hostile(tmp_path, name)
        with Warehouse.in_memory() as warehouse:
            assert account(warehouse, made) == Accounting(5, 5, 0, 0, 0, 1, {}), name
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
        account(warehouse, made)
        ((raw,),) = warehouse.query("SELECT raw FROM log_rows WHERE raw IS NOT NULL")
    assert json.loads(raw) == {"id": "2", "day": "2013-01-01", "sex": "f", "income": "bad", "outcome": "no"}
    assert b"Lovelace" not in (made.store_path / "warehouse.duckdb").read_bytes()


def test_only_the_texts_named_as_missing_are_missing(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01,?,?,yes\n2,2013-01-01,NA,5,no\n3,2013-01-01,,5,no\n4,2013-01-01,null,,no\n")
    made = programme(tmp_path, {"missing": ["?"]})
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, made).reasons == {"no number in 'income' (attributes.income.bins)": 1}
        assert decisions(warehouse, "a0, a1") == [(None, None), ("NA", 5.0), ("", 5.0)]


def test_with_nothing_missing_every_text_is_a_value(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01,,5,yes\n2,2013-01-01,NA,5,no\n")
    made = programme(tmp_path, {"missing": []})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert decisions(warehouse, "a0") == [("",), ("NA",)]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,day,Sex,income,outcome", "no column 'sex', but 'Sex'"),
        ("id,day,sex,incom,outcome", "no column 'income', but 'incom'"),
        ("id,day,sex,income,x", "no column 'outcome'"),
        ("id,day,sex,income,outcome,sex", "column 'sex' stands there 2 times"),
        ("1,2013-01-01,f,5,yes", "no column 'id'"),
        (b"id,day,s\xe9x,income,outcome", "encoding: cp1252\nBesides, there is no column 'sex', but 'séx'"),
        ("id,day,sex,income,other".encode("utf-16"), "encoding: utf-16\nBesides, there is no column 'outcome'"),
    ],
)
def test_a_header_that_does_not_fit_is_an_error(tmp_path: Path, header: str | bytes, message: str) -> None:
    path = write(tmp_path, (header.encode() if isinstance(header, str) else header) + b"\n1,2013-01-01,f,5,yes\n")
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match=message) as caught:
        account(warehouse, made)
    assert caught.value.where == str(path)


def test_a_doubled_column_that_is_not_needed_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path, "note,id,day,sex,income,note,outcome\na,1,2013-01-01,f,5,b,yes\na,2,2013-01-01,f,5,b,no\n")
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, programme(tmp_path)).decisions == 2


def test_parquet_without_a_column_names_it(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"id": [1], "day": ["2013"], "Sex": ["f"], "income": [1], "outcome": ["yes"]}),
        tmp_path / "log.parquet",
    )
    made = programme(tmp_path, {"source": "log.parquet"})
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match="no column 'sex', but 'Sex'"):
        account(warehouse, made)


def test_parquet_with_lists_is_an_error(tmp_path: Path) -> None:
    table = pa.table(
        {"junk": [{"a": [1]}], "id": [1], "day": ["2013-01-01"], "sex": [["f"]], "income": [1], "outcome": ["yes"]}
    )
    pq.write_table(table, tmp_path / "log.parquet")
    made = programme(tmp_path, {"source": "log.parquet"})
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match=r"'sex' holds .*not plain values"):
        account(warehouse, made)


def test_parquet_files_of_different_types_are_one_log(tmp_path: Path) -> None:
    for i, (ids, incomes, days) in enumerate(
        [
            ([1], pa.array([5]), pa.array(["2013-07-01T23:30Z"])),
            ([Decimal("2.00")], pa.array([2.5]), pa.array([1372721400], pa.timestamp("s", "UTC"))),
            (["3"], pa.array(["7"]), pa.array([1372721400], pa.timestamp("s"))),
        ]
    ):
        columns = {"note": [[i]], "id": ids, "day": days, "sex": pa.array(["f"]).dictionary_encode(), "income": incomes}
        pq.write_table(pa.table(columns | {"outcome": ["yes" if i else "no"]}), tmp_path / f"{i}.parquet")
    made = programme(tmp_path, {"source": "*.parquet"})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
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
            account(warehouse, made)
        assert warehouse.layout_or_none() is None


def test_an_unreadable_file_is_refused_without_its_values(tmp_path: Path) -> None:
    texts = pa.array([b"SECRET\xff"]).view(pa.string())
    columns = {"id": [1], "day": ["2013-01-01"], "sex": texts, "income": [5], "outcome": ["yes"]}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    made = programme(tmp_path, {"source": "log.parquet"})
    with Warehouse.open(made) as warehouse, pytest.raises(IngestError, match="cannot be read as Parquet") as caught:
        account(warehouse, made)
    assert "SECRET" not in "".join(traceback.format_exception(caught.value)) + caught.value.private


def test_a_row_taken_for_the_header_is_told_privately(tmp_path: Path) -> None:
    write(tmp_path, "1,2013-01-01,SECRET,5,yes\n")
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError) as caught:
        account(warehouse, made)
    assert "SECRET" not in str(caught.value)
    assert "SECRET" in caught.value.private


@pytest.mark.parametrize("what", ["text", "time", "place"])
def test_a_file_that_changes_while_it_is_read_adds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    log, read_part = write(tmp_path, HEADER + GOOD), ingestion.read_part

    def change(*arguments: Any) -> None:
        read_part(*arguments)
        if what == "text":
            write(tmp_path, HEADER + GOOD + GOOD)
        elif what == "time":
            os.utime(log, (1, 1))
        else:
            log.unlink()

    monkeypatch.setattr(ingestion, "read_part", change)
    made = programme(tmp_path)
    with Warehouse.open(made) as warehouse:
        with pytest.raises(IngestError, match="was changed while it was read"):
            account(warehouse, made)
        assert warehouse.layout_or_none() is None


def test_a_file_is_recorded_with_its_hash(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv*"})
    write(tmp_path, HEADER + GOOD, "1.csv")
    write(tmp_path, gzip.compress((HEADER + GOOD.replace("1,", "3,", 1)).encode()), "2.csv.gz")
    with Warehouse.open(made) as warehouse:
        account(warehouse, made)
        recorded = warehouse.query("SELECT name, key FROM files ORDER BY place")
    contents = {name: (tmp_path / name).read_bytes() for name in ("1.csv", "2.csv.gz")}
    hashes = [(name, hashlib.sha256(text).hexdigest()) for name, text in contents.items()]
    assert [(name, key.split()[0]) for name, key in recorded] == hashes


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("windows_first", [False, True])
def test_files_of_both_line_endings_may_be_put_together(tmp_path: Path, windows_first: bool, packed: bool) -> None:
    rows = [f"{i},2013-01-01,{'fm'[i % 2]},{i % 20},{'yes' if i % 3 else 'no'}\n" for i in range(60_000)]
    rows[20_000] = "bad\n"
    rows[45_000] = "x,never,f,5,yes\n"
    half = [row.replace("\n", "\r\n") if (i < 30_000) == windows_first else row for i, row in enumerate(rows)]
    text = (HEADER.replace("\n", "\r\n") if windows_first else HEADER) + "".join(half)
    name = "log.csv.gz" if packed else "log.csv"
    write(tmp_path, gzip.compress(text.encode(), 1) if packed else text, name)
    made = programme(tmp_path, {"source": name})
    with Warehouse.open(made) as warehouse:
        found = account(warehouse, made)
        assert (found.rows_read, found.decisions) == (60_000, 59_998)
        assert quarantine(warehouse) == [(20_002, "too few fields"), (45_002, "date that cannot be read")]
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
            assert account(warehouse, made).quarantined == 0
            assert decisions(warehouse, "id, a0, a1, outcome") == sorted(tuple(map(cleaned, row)) for row in cells[1:])


@pytest.mark.parametrize("sex", ['5" pipe', ' "f" ', '"f"x', '"f" "x"'])
def test_a_misplaced_quote_in_a_mixed_file_loses_nothing(tmp_path: Path, sex: str) -> None:
    found = []
    for end in ("\n", "\r\n"):
        rows = (f"9,2013-01-01,{sex},5,yes", '3,2013-01-01,"f",5,yes', "4,2013-01-01,f,5,no\n")
        write(tmp_path, HEADER + GOOD + end.join(rows))
        made = programme(tmp_path)
        with Warehouse.in_memory() as warehouse:
            found.append((account(warehouse, made), decisions(warehouse), quarantine(warehouse)))
    assert found[0] == found[1]
    assert found[0][0].rows_read == 5


def test_an_open_quote_in_a_mixed_file_is_found(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01,f,5,yes\r\n" + '2,2013-01-01,"f,5,yes\n' + GOOD.replace("\n", "\r\n"))
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match="line 3: a quote that is never closed"):
        account(warehouse, made)


def test_a_mixed_file_may_begin_with_blank_lines(tmp_path: Path) -> None:
    write(tmp_path, "\r\n\n" + HEADER + GOOD + "bad\r\n")
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, made).rows_read == 3
        assert quarantine(warehouse) == [(6, "too few fields")]


def test_an_empty_file_among_others_is_a_file_without_rows(tmp_path: Path) -> None:
    write(tmp_path, "", "1.csv")
    write(tmp_path, HEADER, "2.csv")
    write(tmp_path, HEADER + GOOD, "3.csv")
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, programme(tmp_path, {"source": "*.csv"})) == Accounting(2, 2, 0, 0, 0, 3, {})


def test_a_source_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "logs/*.csv"})
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match=r"no file logs/\*.csv"):
        account(warehouse, made)
