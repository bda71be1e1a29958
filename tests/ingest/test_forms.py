"""Logs that are not in the usual form: all keys to add are told at once, and with them the log is read."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from atr.errors import IngestError, ProgrammeError
from atr.ingest.numbers import number
from atr.warehouse.connection import Warehouse
from tests.helpers import excel
from tests.helpers.logs import account, decisions, programme, write

COLUMNS = ("id", "day", "sex", "income", "outcome")
USUAL = [("1", date(2025, 4, 3), "yes", "f", 1234.5), ("2", date(2025, 1, 31), "no", "m", 0.5)]


def log(*rows: tuple[str, ...], delimiter: str = ",", columns: tuple[str, ...] = COLUMNS) -> str:
    return "".join(delimiter.join(cells) + "\n" for cells in (columns, *rows))


def proposal(folder: Path, keys: dict[str, Any] | None = None, **parts: Any) -> str:
    """What is told of a log that is in another form."""
    made = programme(folder, {"max_quarantined": 0.01} | (keys or {}), **parts)
    with Warehouse.open(made) as warehouse:
        with pytest.raises(IngestError) as caught:
            account(warehouse, made)
        assert warehouse.layout_or_none() is None
    return str(caught.value)


def pasted(told: str) -> dict[str, str]:
    """The keys that a message says are to be added."""
    lines = re.findall(r"^  (.*)$", told, flags=re.MULTILINE)
    return dict(yaml.safe_load("\n".join(lines)))


GERMAN = log(("1", "03.04.2025", "f", "1.234,5", "yes"), ("2", "31.01.2025", "m", "0,5", "no"), delimiter=";")


@pytest.mark.parametrize(
    ("content", "keys"),
    [
        (GERMAN.encode(), {"decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y"}),
        (
            GERMAN.replace("sex", "größe;sex").replace(";f;", ";“groß”;f;").replace(";m;", ";é;m;").encode("cp1252"),
            {"encoding": "cp1252", "decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y"},
        ),
        (
            GERMAN.replace(";", "\t").encode("utf-16"),
            {"encoding": "utf-16", "decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y"},
        ),
        (
            GERMAN.replace(";", "^").encode("utf-16-le"),
            {
                "delimiter": "^", "encoding": "utf-16-le",
                "decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y",
            },
        ),
        (
            log(("1", "04/03/2025", "f", '"1,234.5"', "yes"), ("2", "1/31/2025", "m", "0.5", "no")),
            {"thousands": ",", "date_format": "%m/%d/%Y"},
        ),
        (
            log(("1", "04/03/2025 2:30 PM", "f", "1'234.5", "yes"), ("2", "01/31/2025 12:01 AM", "m", "0.5", "no")),
            {"thousands": "'", "date_format": "%m/%d/%Y %I:%M %p"},
        ),
        (
            log(("1", "20250403", "f", '"1\u202f234,5"', "yes"), ("2", "20250131", "m", '"0,5"', "no")),
            {"decimal": ",", "thousands": " ", "date_format": "%Y%m%d"},
        ),
        (
            log(("1", "1743674400", "f", "1234.5", "yes"), ("2", "1738324800", "m", "0.5", "no")),
            {"date_format": "epoch_seconds"},
        ),
        (
            log(("1", "1743674400123", "f", "1234.5", "yes"), ("2", "1738324800000", "m", "0.5", "no")),
            {"date_format": "epoch_milliseconds"},
        ),
        (
            log(("1", "03-Apr-25", "f", "1234.5", "yes"), ("2", "31-Jan-25", "m", "0.5", "no")),
            {"date_format": "%d-%b-%y"},
        ),
        (
            log(("1", "2025-04-03", "f", '"1234,5"', "yes"), ("2", "2025-01-31", "m", '"0,5"', "no")),
            {"decimal": ","},
        ),
    ],
)  # fmt: skip
def test_all_keys_are_told_at_once(tmp_path: Path, content: str | bytes, keys: dict[str, str]) -> None:
    write(tmp_path, content)
    told = proposal(tmp_path)
    found = pasted(told)
    assert "log.csv: is not in the usual form\nAdd under log:\n" in told
    assert {key: found[key] for key in found if key != "delimiter" or key in keys} == keys
    made = programme(tmp_path, found)
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, made).quarantined == 0
        assert decisions(warehouse) == USUAL


QUESTIONS = {
    "dates": (
        log(("1", "03/04/2025", "f", "1", "yes"), ("2", "05/06/2025", "m", "2", "no")),
        'Under log, give either date_format: "%d/%m/%Y" or date_format: "%m/%d/%Y"',
    ),
    "short dates": (
        log(("1", "03/04/25", "f", "1", "yes"), ("2", "05/06/25", "m", "2", "no")),
        'Under log, give either date_format: "%d/%m/%y" or date_format: "%m/%d/%y"',
    ),
    "points": (
        log(("1", "2025-01-01", "f", "1.234", "yes"), ("2", "2025-01-01", "m", "12.000", "no")),
        'Under log, give either decimal: "." or decimal: ",", thousands: "."',
    ),
    "commas": (
        log(("1", "2025-01-01", "f", '"1,234"', "yes"), ("2", "2025-01-01", "m", "1", "no")),
        'Under log, give either decimal: "," or thousands: ","',
    ),
    "points in other dates": (
        log(("1", "31.01.2025", "f", "1.234", "yes"), ("2", "01.02.2025", "m", "12.000", "no")),
        'Also give either decimal: "." or decimal: ",", thousands: "."',
    ),
    "dates with commas": (
        log(("1", "03/04/2025", "f", '"1,5"', "yes"), ("2", "05/06/2025", "m", "2", "no")),
        'Also give either date_format: "%d/%m/%Y" or date_format: "%m/%d/%Y"',
    ),
    "letters of DOS": (
        log(("1", "2025-01-01", "gr\u00fcn", "1", "yes"), ("2", "2025-01-01", "m", "2", "no")).encode("cp850"),
        "Under log, give either encoding: cp850 or",
    ),
}


@pytest.mark.parametrize("what", QUESTIONS)
def test_what_is_ambiguous_is_asked(tmp_path: Path, what: str) -> None:
    content, question = QUESTIONS[what]
    write(tmp_path, content)
    assert question in proposal(tmp_path)


@pytest.mark.parametrize(
    "keys",
    [{"decimal": "."}, {"decimal": ",", "thousands": "."}],
)
def test_an_answer_to_a_question_is_taken(tmp_path: Path, keys: dict[str, str]) -> None:
    write(tmp_path, QUESTIONS["points"][0])
    made = programme(tmp_path, keys)
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert decisions(warehouse, "a1") == [(1.234,), (12.0,)] if len(keys) == 1 else [(1234.0,), (12000.0,)]


def test_one_late_row_may_tell(tmp_path: Path) -> None:
    many = [(str(i), "03/04/2025", "f", "1.234", "yes") for i in range(30_000)]
    write(tmp_path, log(*many, ("x", "31/01/2025", "m", "0.5", "no")))
    assert pasted(proposal(tmp_path)) == {"date_format": "%d/%m/%Y"}


def test_numbers_that_are_ambiguous_only_late_are_asked(tmp_path: Path) -> None:
    many = [(str(i), "2025-01-01", "fm"[i % 2], "5", "yes") for i in range(30_000)]
    write(tmp_path, log(*many, ("x", "2025-01-01", "m", "1.234", "no")))
    assert 'either decimal: "." or decimal: ",", thousands: "."' in proposal(tmp_path)


@pytest.mark.parametrize("amounts", [("1.234", "0.5"), ("1.234", "12.34"), ("1", "2"), ("0.123", "0.456"), ("1e3", "")])
def test_plain_numbers_are_taken_as_they_are(tmp_path: Path, amounts: tuple[str, str]) -> None:
    first, second = amounts
    write(tmp_path, log(("1", "2025-01-01", "f", first, "yes"), ("2", "2025-01-01", "m", second, "no")))
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(tmp_path))
        assert decisions(warehouse, "a1") == [(float(text) if text else None,) for text in amounts]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"decimal": ","}, {"decimal": "."}),
        ({"date_format": "%d.%m.%Y"}, None),
        ({"delimiter": ";"}, {"delimiter": ","}),
        ({"encoding": "utf-16"}, {"encoding": "utf-8"}),
        ({"encoding": "ascii"}, {"encoding": "utf-8"}),
    ],
)
def test_wrong_keys_are_told(tmp_path: Path, wrong: dict[str, str], right: dict[str, str] | None) -> None:
    write(tmp_path, log(("1", "2025-01-31", "é", "1234.5", "yes"), ("2", "2025-02-01", "m", "0.5", "no")))
    told = proposal(tmp_path, wrong)
    if right is None:
        assert "Leave out log.date_format" in told
    else:
        assert "Change under log:" in told
        assert pasted(told) == right


def test_a_byte_that_is_no_text_is_told_with_its_place(tmp_path: Path) -> None:
    write(
        tmp_path,
        log(("1", "2025-01-31", "\u00e9f\u00e9", "1", "yes")).encode() + "2,2025-01-31,né".encode() + b"\xff,1,no\n",
    )
    made = programme(tmp_path, {"encoding": "utf-8"})
    with (
        Warehouse.in_memory() as warehouse,
        pytest.raises(IngestError, match=r"log\.csv, line 3, column 16"),
    ):
        account(warehouse, made)


def test_damage_in_a_file_is_no_other_encoding(tmp_path: Path) -> None:
    rows = log(*((str(i), "2025-01-31", "éé", "1", "yes") for i in range(9)))
    write(tmp_path, rows.encode() + b"9,2025-01-31,\xe9,1,no\n10,2025-01-31,m,1,no\n")
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, programme(tmp_path)).reasons == {"not UTF-8 text": 1}


@pytest.mark.parametrize("name", ["log.jsonl", "log.xlsx"])
def test_other_kinds_of_files_may_hold_such_texts(tmp_path: Path, name: str) -> None:
    rows = [dict(zip(COLUMNS, line.split(";"), strict=True)) for line in GERMAN.splitlines()[1:]]
    if name == "log.jsonl":
        write(tmp_path, "\n".join(map(json.dumps, rows)) + '\n{"id": 3, "day": "01.02.2025", "income": 1.234}', name)
    else:
        cells = [list(map(excel.text, row)) for row in [COLUMNS, *(row.values() for row in rows)]]
        cells.append([excel.number("3"), excel.text("01.02.2025"), "", excel.number("1.234"), ""])
        write(tmp_path, excel.workbook(Log="".join(excel.row(i, row) for i, row in enumerate(cells, 1))), name)
    told = proposal(tmp_path, {"source": name})
    keys = {"decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y"}
    assert pasted(told) == keys
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, programme(tmp_path, {"source": name, **keys})).reasons == {"no outcome": 1}
        assert decisions(warehouse) == USUAL


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"delimiter": "ab"}, "log.delimiter"),
        ({"delimiter": "a"}, "cannot stand between fields"),
        ({"delimiter": '"'}, "cannot stand between fields"),
        ({"encoding": "klingon"}, "no encoding of texts"),
        ({"encoding": "base64"}, "no encoding of texts"),
        ({"decimal": ";"}, "log.decimal"),
        ({"thousands": "."}, "is the decimal sign too"),
        ({"thousands": ",", "decimal": ","}, "is the decimal sign too"),
    ],
)
def test_keys_that_mean_nothing_are_refused(tmp_path: Path, keys: dict[str, str], message: str) -> None:
    with pytest.raises(ProgrammeError, match=message):
        programme(tmp_path, keys)


@pytest.mark.parametrize(
    ("keys", "read"),
    [
        ((None, None), {"1.5": 1.5, "-1e3": -1000.0, "0.123": 0.123, "1.234": 1.234}),
        ((",", None), {"1,5": 1.5, "1,234": 1.234, "-1e3": -1000.0}),
        ((",", "."), {"1,5": 1.5, "1.234": 1234.0, "1,234": 1.234, "-1e3": -1000.0, "1.234.567,8": 1234567.8}),
        ((None, ","), {"1.5": 1.5, "-1e3": -1000.0, "0.123": 0.123, "1,234": 1234.0, "1.234": 1.234}),
        ((None, "'"), {"1.5": 1.5, "-1e3": -1000.0, "0.123": 0.123, "1.234": 1.234, "1’234": 1234.0}),
        ((",", " "), {"1,5": 1.5, "1,234": 1.234, "-1e3": -1000.0, "1\u00a0234,5": 1234.5}),
    ],
)
def test_numbers_are_read_in_their_form_and_no_other(
    keys: tuple[str | None, str | None], read: dict[str, float]
) -> None:
    texts = ["1.5", "1,5", "-1e3", "0.123", "1,234", "1.234", "1.234.567,8", "1’234", "1\u00a0234,5"]
    texts += ["", "1_000", "inf", "nan", "12.34.567", "1,", "1.23,4", "0x10", "٣"]
    with Warehouse.in_memory() as warehouse:
        found = warehouse.query(f"SELECT text, {number('text', *keys)} FROM (SELECT unnest($1) AS text)", [texts])
    assert {text: value for text, value in found if value is not None} == read


def test_partitions_of_a_folder_do_not_hide_the_form(tmp_path: Path) -> None:
    columns = ("id", "day", "income", "outcome")
    rows = (("1", "03.04.2025", '"1234,5"', "yes"), ("2", "31.01.2025", '"0,5"', "no"))
    for sex, row in zip("fm", rows, strict=True):
        write(tmp_path, log(row, columns=columns), f"log/sex={sex}/0.csv")
    keys = {"decimal": ",", "date_format": "%d.%m.%Y"}
    assert pasted(proposal(tmp_path, {"source": "log"})) == keys
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(tmp_path, {"source": "log", **keys}))
        assert decisions(warehouse) == USUAL


def test_a_delimiter_is_told_of_partitions_too(tmp_path: Path) -> None:
    columns = ("id", "day", "income", "outcome")
    for sex in "fm":
        write(tmp_path, log((sex, "2025-04-03", "1", "yes"), delimiter="^", columns=columns), f"log/sex={sex}/0.csv")
    assert pasted(proposal(tmp_path, {"source": "log"})) == {"delimiter": "^"}


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("b", "a")])
def test_files_of_two_forms_are_told_of_each_other(tmp_path: Path, first: str, second: str) -> None:
    write(
        tmp_path, log(("1", "2025-04-03", "f", "1234.5", "yes"), ("2", "2025-01-31", "m", "0.5", "no")), f"{first}.csv"
    )
    german = log(("3", "30.04.2025", "f", "1234,5", "yes"), ("4", "31.01.2025", "m", "0,5", "no"), delimiter=";")
    write(tmp_path, german, f"{second}.csv")
    told = proposal(tmp_path, {"source": "*.csv"})
    if first == "a":
        assert "A form holds for all files of a log, and a.csv was read in the usual form: if the two differ" in told
    keys = {"decimal": ",", "date_format": "%d.%m.%Y"}
    if first == "b":
        told = proposal(tmp_path, {"source": "*.csv"} | keys)
        assert "A form holds for all files of a log, and a.csv was read in the form that log describes" in told
