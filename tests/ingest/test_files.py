"""Which files a log is, and what of each kind is refused, by its place."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import zstandard

from atr.errors import IngestError
from atr.ingest.sources import parts
from atr.warehouse.connection import Warehouse
from tests.helpers import excel
from tests.helpers.logs import GOOD, HEADER, account, decisions, programme, quarantine, write

COLUMNS = HEADER.strip().split(",")
ROW = {"id": "1", "day": "2013-01-01", "sex": "f", "income": "5", "outcome": "yes"}


def names(folder: Path, source: str | list[str]) -> list[str]:
    return [part.name for part in parts(programme(folder, {"source": source}))]


def refused(folder: Path, name: str, **log: Any) -> IngestError:
    """How a file is refused; the store is then as it was."""
    made = programme(folder, {"source": name} | log)
    with Warehouse.open(made) as warehouse:
        with pytest.raises(IngestError) as caught:
            account(warehouse, made)
        assert warehouse.layout_or_none() is None
    return caught.value


def book(*rows: list[str], sheet: str = "Log", left: str = "A") -> dict[str, str]:
    cells = [list(map(excel.text, COLUMNS)), *rows]
    return {sheet: "".join(excel.row(i, row, left) for i, row in enumerate(cells, 1))}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "a.csv",
        "b/1.csv",
        "b/10.csv",
        "b/2.csv",
        "b/c/3.jsonl",
        "b/_SUCCESS",
        "b/.tmp/4.csv",
        "b/_tmp/5.csv",
        "b/c/_tmp/6/7.csv",
    ):
        write(tmp_path, "", name)
    (tmp_path / "b" / "again").symlink_to(tmp_path / "b")
    (tmp_path / "elsewhere.csv").symlink_to(tmp_path / "a.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("b", ["b/1.csv", "b/2.csv", "b/10.csv", "b/c/3.jsonl"]),
        ("b/", ["b/1.csv", "b/2.csv", "b/10.csv", "b/c/3.jsonl"]),
        ("b/*.csv", ["b/1.csv", "b/2.csv", "b/10.csv"]),
        ("b/**/*.jsonl", ["b/c/3.jsonl"]),
        ("?", ["b/1.csv", "b/2.csv", "b/10.csv", "b/c/3.jsonl"]),
        ("b/_SUCCESS", ["b/_SUCCESS"]),
        ("b/**/*.csv", ["b/1.csv", "b/2.csv", "b/10.csv"]),
        ("b/_tmp/*.csv", ["b/_tmp/5.csv"]),
        ("b/_tm?/*.csv", ["b/_tmp/5.csv"]),
        ("b/c/_tmp/**/*.csv", ["b/c/_tmp/6/7.csv"]),
        ("*/c/_tmp/*/*", ["b/c/_tmp/6/7.csv"]),
        (["a.csv", "b/c", "./a.csv", "a.*"], ["a.csv", "b/c/3.jsonl"]),
        (["elsewhere.csv", "a.csv"], ["a.csv"]),
    ],
)
def test_a_source_names_files_folders_and_patterns(tree: Path, source: str | list[str], found: list[str]) -> None:
    assert names(tree, source) == found


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (["a.csv", "c.csv"], "there is no file c.csv"),
        (["a.csv", "c/*.csv"], r"there is no file c/\*.csv"),
        ("empty", "there are no data files in empty"),
        ("nobody" * 1000, "there is no file"),
        ("~nobody-of-that-name/log.csv", "there is no file"),
        ("broken", "is no file that can be read"),
    ],
)
def test_each_source_must_have_a_file(tree: Path, source: str | list[str], message: str) -> None:
    for name in ("empty", "broken"):
        (tree / name).mkdir()
    write(tree, "", "empty/_SUCCESS")
    (tree / "broken" / "log.csv").symlink_to(tree / "nowhere")
    with pytest.raises(IngestError, match=message):
        names(tree, source)


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/b/\xff.csv")).write_text("")
    with pytest.raises(IngestError, match="not UTF-8 text"):
        names(tmp_path, "b")


def test_the_same_rows_in_other_partitions_are_others(tmp_path: Path) -> None:
    rows = HEADER.replace(",sex", "") + "1,2013-01-01,5,yes\n2,2013-01-01,5,no\n"
    for sex in ("sex=f", "sex=__HIVE_DEFAULT_PARTITION__", "sex=a%2Fb"):
        write(tmp_path, rows, f"log/year=2013/{sex}/0.csv")
    made = programme(tmp_path, {"source": "log", "id": None, "repeats": True})
    told = "SELECT DISTINCT a0 FROM decisions ORDER BY a0 NULLS LAST"
    with Warehouse.open(made) as warehouse:
        account(warehouse, made)
        assert warehouse.query(told) == [("a/b",), ("f",), (None,)]
        (tmp_path / "log/year=2013/sex=f").rename(tmp_path / "log/year=2013/sex=m")
        account(warehouse, made)
        assert warehouse.query(told) == [("a/b",), ("m",), (None,)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("log.csv", gzip.compress(b"x"), "is packed by gzip"),
        ("log.csv", zstandard.compress(b"x"), "is packed by Zstandard"),
        ("log.csv", b"PAR1\x15\0..PAR1", "is a Parquet file"),
        ("log.csv", bz2.compress(HEADER.encode() + GOOD.encode()), "is packed by bzip2"),
        ("log.csv", b"ORC\0", "is an ORC file"),
        ("log.csv", b"PK\x03\x04", "is a zip or Excel file"),
        ("log.jsonl", b"\xd0\xcf\x11\xe0\xa1\xb1", "is an old or a locked Excel file"),
        ("log.csv", b"\n <!DOCTYPE html><p>Please log in", "is a web page or XML"),
        ("log.csv", b"SQLite format 3\0", "is a SQLite database"),
        ("log.csv.gz", gzip.compress(b"PAR1\0"), "is a Parquet file"),
        ("log.csv.zst", b"id,day", "is not a whole Zstandard file"),
        ("log.csv.zst", zstandard.compress(HEADER.encode() * 9)[:-3], "is not a whole Zstandard file"),
        ("log.csv.gz", gzip.compress(HEADER.encode()) + b"rest", "is not a whole gzip file"),
        ("log.xlsx", b"id,day", "is no Excel file"),
        ("log.xlsx", b"", "is no Excel file"),
        ("log.json", HEADER.encode(), "is no JSON"),
        ("log.parquet", HEADER.encode(), "is not a Parquet file"),
    ],
)
def test_a_file_of_another_kind_is_named_as_such(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = write(tmp_path, content, name)
    error = refused(tmp_path, name)
    assert message in error.message
    assert error.where == str(path)


@pytest.mark.parametrize("column", ["ORCID", "PAR1", "BZh91AY", "Obj", "PK"])
def test_a_header_may_begin_as_other_kinds_do(tmp_path: Path, column: str) -> None:
    write(tmp_path, HEADER.replace("id", column, 1) + GOOD)
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, programme(tmp_path, {"id": column})).decisions == 2


def test_a_file_renamed_to_another_kind_is_another(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD, "log/a.csv")
    made, name = programme(tmp_path, {"source": "log"}), "a.csv"
    with Warehouse.open(made) as warehouse:
        account(warehouse, made)
        for other in ("a.parquet", "a.csv.gz", "a.jsonl", "a.xlsx", "A.TXT"):
            (tmp_path / "log" / name).rename(tmp_path / "log" / other)
            with nullcontext() if other == "A.TXT" else pytest.raises(IngestError, match=re.escape(other)):
                account(warehouse, made)
            name = other


@pytest.mark.parametrize(
    ("content", "where", "message"),
    [
        ('{"id": 1,\n "sex": "f"}', "line 1", "holds no whole JSON object"),
        (json.dumps(ROW) + "\n" + json.dumps(ROW | {"sex": ["f"]}), "line 2", "'sex' holds a list"),
        (json.dumps([ROW, ROW | {"sex": {"a": 1}}]), "item 2 of the array", "'sex' holds an object"),
        (json.dumps([ROW, 5]), "line 1, column", "item 2 of the array is no JSON object"),
        (f"[{json.dumps(ROW)}\n,{json.dumps(ROW)[:-1]}]", "line 2, column 2", "item 2 of the array is no whole"),
        (f"[{json.dumps(ROW)}\n{json.dumps(ROW)}]", "line 2, column 1", "there is no comma here"),
        (json.dumps([ROW]) + "\n[]", "line 2, column 1", "goes on after the end of the array"),
        (json.dumps([ROW])[:-1], "line 1", "there is no comma here"),
        (json.dumps([ROW]).replace("f", "\xff").encode("latin-1"), "after line 1", "is not UTF-8 text"),
        ("[" * 100_000, "line 1, column 2", "item 1 of the array is no whole JSON object"),
        (json.dumps(ROW | {"Sex": "f", "sex": None}).replace(', "sex": null', ""), "", "no column 'sex', but 'Sex'"),
        ('{"id": "' + "x" * 5_000_000 + '"}', "line 1", "is longer than"),
    ],
)
def test_json_that_is_no_log_is_refused_by_place(
    tmp_path: Path, content: str | bytes, where: str, message: str
) -> None:
    path = write(tmp_path, content, "log.json")
    error = refused(tmp_path, "log.json")
    assert message in error.message
    assert error.where.startswith(f"{path}, {where}" if where else str(path))


def test_lines_that_are_no_json_are_quarantined_by_line(tmp_path: Path) -> None:
    good = [json.dumps(ROW | {"id": str(i), "outcome": "yes" if i else "no"}) for i in range(4)]
    bad = ["oops", "5", '{"id": "9", "id": "8"}', '{"sex": "\\ud800", "id": "9", "outcome": "yes"}', '{"id": NaN}']
    late = json.dumps(ROW | {"id": "late", "day": "never"})
    lines = [good[0], "", bad[0], good[1], bad[1], bad[2], late, bad[3], good[2], bad[4], late, good[3]]
    write(tmp_path, "\ufeff" + "\r\n".join(lines), "log.jsonl")
    made = programme(tmp_path, {"source": "log.jsonl"})
    with Warehouse.open(made) as warehouse:
        assert account(warehouse, made).rows_read == 11
        assert quarantine(warehouse) == [
            (3, "not JSON"),
            (5, "no JSON object"),
            (6, "not JSON"),
            (7, "date that cannot be read"),
            (8, "half of a character"),
            (10, "not JSON"),
            (11, "date that cannot be read"),
        ]


def test_numbers_of_json_stay_as_they_stand(tmp_path: Path) -> None:
    first = '{"id": 12345678901234567890, "sex": 0.10, "income": 1e1, "outcome": true, "day": "2013-01-01", "x": {}}'
    second = '{"id": 12345678901234567891, "sex": "-", "income": null, "outcome": false, "day": "2013-01-01"}'
    write(tmp_path, f"[{first},\n{second}]", "log.json")
    made = programme(tmp_path, {"source": "log.json", "positive": "true"})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert decisions(warehouse, "id, a0, a1, outcome") == [
            ("12345678901234567890", "0.10", 10.0, "true"),
            ("12345678901234567891", "-", None, "false"),
        ]


DAY = excel.number("41275", excel.DAY)
NOT_CALCULATED = "><f>1+1</f></c>"


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (excel.number("9007199254740994"), "a number too large for Excel to keep exactly"),
        (excel.number("1.25", excel.DURATION), "a duration"),
        ('t="e"><v>#N/A</v></c>', "shows an error"),
        (NOT_CALCULATED, "a formula without a value"),
        ("><f>1+1</f><v></v></c>", "a formula without a value"),
        ('><f t="shared" si="0"/><v/></c>', "a formula without a value"),
    ],
)
def test_a_cell_that_is_not_exact_is_refused_by_name(tmp_path: Path, cell: str, message: str) -> None:
    row = [excel.number("1"), DAY, excel.text("f"), excel.number("5"), excel.text("yes")]
    content = excel.workbook(**book(row, [row[0], DAY, cell, *row[3:], NOT_CALCULATED], left="C"))
    path = write(tmp_path, content, "log.xlsx")
    error = refused(tmp_path, "log.xlsx")
    assert message in error.message
    assert error.where == f"{path}, sheet 'Log', cell E3"


def test_cells_of_excel_are_read_exactly(tmp_path: Path) -> None:
    moment = excel.number("41275.999", excel.MOMENT)
    rows = [
        [excel.number("9007199254740992"), DAY, excel.number("0.1"), excel.number("5"), excel.text("yes")],
        [excel.text("007"), moment, 't="b"><v>1</v></c>', "", 't="str"><f>"n"&amp;"o"</f><v>no</v></c>'],
        [excel.number("3.0"), DAY, 't="str"><f>""</f><v></v></c>', excel.number("1e-7"), excel.text("no")],
        ["", "", "", "", "", excel.text("a note")],
    ]
    write(tmp_path, excel.workbook(**book(*rows)), "log.xlsx")
    made = programme(tmp_path, {"source": "log.xlsx"})
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, made).reasons == {"no id": 1}
        assert decisions(warehouse, "id, a0, a1, outcome, decided_on::VARCHAR") == [
            ("007", "true", None, "no", "2013-01-01"),
            ("3", None, 1e-7, "no", "2013-01-01"),
            ("9007199254740992", "0.1", 5.0, "yes", "2013-01-01"),
        ]


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        (book(sheet="A") | book(sheet="B"), "several sheets have the columns of the programme: 'A', 'B'"),
        ({"A": excel.row(1, [excel.text("x")]), "B": excel.row(1, [excel.text("y")])}, "no sheet has all"),
        ({"A": excel.row(1, [excel.text("x")]), "B": ""}, "there is no column 'outcome'"),
        ({"A": "", "B": ""}, "the log has no decisions"),
        (
            {"A": excel.row(1, [excel.text("x")]) + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'},
            "reaches to XFD1048576",
        ),
    ],
)
def test_a_workbook_needs_one_sheet_with_the_columns(tmp_path: Path, sheets: dict[str, str], message: str) -> None:
    write(tmp_path, excel.workbook(**sheets), "log.xlsx")
    assert message in refused(tmp_path, "log.xlsx").message


def test_a_json_name_in_other_letters_is_no_missing_value(tmp_path: Path) -> None:
    lines = ['{"id": 1, "day": "2013-01-01", "sex": "f", "income": 5, "outcome": "yes"}']
    write(tmp_path, "\n".join([*lines, lines[0].replace('"sex"', '"Sex"')]), "log.jsonl")
    fault = refused(tmp_path, "log.jsonl")
    assert (fault.message, fault.where.endswith("log.jsonl, line 2")) == ("there is no column 'sex', but 'Sex'", True)


@pytest.mark.parametrize("sheets", [1, 2])
def test_a_title_above_the_columns_is_told(tmp_path: Path, sheets: int) -> None:
    names = [excel.text(name) for name in ("id", "day", "sex", "income", "outcome")]
    rows = excel.row(1, [excel.text("Decisions of 2013")]) + excel.row(3, names)
    others = {"Notes": excel.row(1, [excel.text("x")])} if sheets == 2 else {}
    write(tmp_path, excel.workbook(**{"Log": rows} | others), "log.xlsx")
    assert "are in row 3 of 'Log': delete the rows above" in refused(tmp_path, "log.xlsx").hint


def test_faults_of_columns_nobody_needs_do_no_harm(tmp_path: Path) -> None:
    row = [excel.number("1"), DAY, excel.text("f"), excel.number("5"), excel.text("yes")]
    junk = ['t="e"><v>#N/A</v></c>', excel.number("1e300")]
    write(tmp_path, excel.workbook(**book(row + junk, [excel.number("2"), *row[1:4], excel.text("no")])), "log.xlsx")
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, programme(tmp_path, {"source": "log.xlsx"})).decisions == 2


def test_a_fault_in_one_of_several_files_keeps_nothing(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD, "log/1.csv")
    write(tmp_path, "[{}", "log/2.json")
    assert refused(tmp_path, "log").where.startswith(str(tmp_path / "log" / "2.json"))
