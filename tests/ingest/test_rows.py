"""What a row becomes: a decision on a day, or quarantined with its reason."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from atr.errors import ProgrammeError, RefusedError
from atr.ingest import Accounting
from atr.warehouse.connection import Warehouse
from tests.helpers.logs import GOOD, HEADER, account, balanced, decisions, programme, quarantine, write


def test_rows_become_typed_decisions(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD + "3,2013-05-05,,,yes\n")
    with Warehouse.open(programme(tmp_path)) as warehouse:
        found = account(warehouse, programme(tmp_path))
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
        found = account(warehouse, made)
        assert quarantine(warehouse) == [(3, reason)]
        assert [row[0] for row in decisions(warehouse)] == ["1", "2"]
        ((raw,),) = warehouse.query("SELECT raw FROM log_rows WHERE raw IS NOT NULL")
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
        account(warehouse, made)
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
        (tmp_path / "b.csv").rename(tmp_path / "b")
        account(warehouse, made)
        (tmp_path / "b").rename(tmp_path / "b.csv")
        with pytest.raises(RefusedError) as caught:
            account(warehouse, made)
        assert caught.value.exit_code == 3
        message = str(caught.value)
        assert "b.csv" in message
        assert "3 of 5 rows" in message
        assert "date that cannot be read: 2 rows, first in line 4, 6" in message
        assert "no date: 1 rows, first in line 5" in message
        assert "SECRET" not in message
        assert len(decisions(warehouse)) == 2
        assert quarantine(warehouse) == []


@pytest.mark.parametrize("share", [0.2, 0.19])
def test_the_gate_is_above_the_share_not_at_it(tmp_path: Path, share: float) -> None:
    write(tmp_path, HEADER + GOOD + "3,2013-01-02,m,10,no\n4,2013-01-02,m,10,no\n5,x,f,5,yes\n")
    made = programme(tmp_path, {"max_quarantined": share})
    with Warehouse.in_memory() as warehouse:
        if share == 0.2:
            assert account(warehouse, made).quarantined == 1
        else:
            with pytest.raises(RefusedError):
                account(warehouse, made)


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
        assert account(warehouse, made).quarantined == 0
        assert decisions(warehouse, "decided_on")[0] == (day,)


@pytest.mark.parametrize("text", ["2013-07-01", "2013-07-01 10:00:00"])
def test_a_date_without_zone_needs_a_time_zone(tmp_path: Path, text: str) -> None:
    write(tmp_path, HEADER + f"1,2013-07-01T10:00Z,f,5,yes\n2,{text},f,5,no\n")
    made = programme(tmp_path, period={"every": "quarter"})
    with Warehouse.open(made) as warehouse:
        with pytest.raises(ProgrammeError, match=r"line 3: give period.timezone"):
            account(warehouse, made)
        assert warehouse.layout_or_none() is None


def test_with_a_zone_in_every_date_days_are_utc(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-07-01T23:30:00-02:00,f,5,yes\n2,2013-07-01T23:30:00Z,f,5,no\n")
    made = programme(tmp_path, period={"every": "quarter"})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert decisions(warehouse, "decided_on") == [(date(2013, 7, 2),), (date(2013, 7, 1),)]
