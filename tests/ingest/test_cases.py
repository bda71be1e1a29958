"""Logs that went wrong once, and others of their kinds: what is right about each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from atr.errors import IngestError
from atr.log_check import check
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import displayed
from atr.warehouse.reportable import chosen
from tests.helpers.logs import HEADER, account, programme, write

Row = list[str]

ROWS: list[Row] = [
    [
        str(i),
        f"2025-{i % 12 + 1:02d}-{i % 28 + 1:02d}",
        "fm"[i % 2],
        "5" if i // 2 % 2 else "15",
        "no" if i % 3 else "yes",
    ]
    for i in range(400)
]


def every(n: int, column: int, value: str, offset: int = 0) -> list[Row]:
    """The rows, with another value in every nth."""
    return [[*row[:column], value, *row[column + 1 :]] if i % n == offset else row for i, row in enumerate(ROWS)]


def written(column: int, form: Callable[[str], str]) -> list[Row]:
    """The rows, with one column written otherwise."""
    return [[*row[:column], form(row[column]), *row[column + 1 :]] for row in ROWS]


@dataclass(frozen=True)
class Case:
    """A log, the keys of its programme that are not the usual ones, and what is right."""

    rows: Sequence[Row]
    log: dict[str, Any] = field(default_factory=dict)
    timezone: str = "Europe/Berlin"
    every: str = "year"
    periods: dict[str, int] = field(default_factory=lambda: {"2025": 400})
    sexes: tuple[str, ...] = ("f", "m")
    remarks: tuple[str, ...] = ()
    reasons: dict[str, int] = field(default_factory=dict)
    head: str = HEADER


def instants(moment: str, timezone: str, quarter: str) -> Case:
    return Case(written(1, lambda _: moment), timezone=timezone, every="quarter", periods={quarter: 400})


AGAIN = HEADER.strip().split(",")
NA = ["NA", "nan", "None", "NULL", "N/A"]
CASES = {
    "rules of zones that are newer than an engine's": instants("2026-09-30T23:30:00Z", "Africa/Casablanca", "2026-Q3"),
    "a zone that stays on summer time": instants("2027-01-01T07:30:00Z", "America/Vancouver", "2027-Q1"),
    "a zone an hour ahead of what it was": instants("2026-06-30T22:59:59Z", "Africa/Casablanca", "2026-Q2"),
    "texts that mean no value": Case(
        [[*row[:2], NA[i // 8 % 5], *row[3:]] if i % 8 < 2 else row for i, row in enumerate(ROWS)],
        sexes=("N/A", "NA", "NULL", "None", "f", "m", "nan"),
        remarks=("attributes.sex: 'N/A' .20., .*, 'nan' .20. may mean .* log.missing", "no group"),
    ),
    "texts that are declared to mean no value": Case(
        every(8, 2, "NA"),
        {"missing": ["", "NA"]},
        sexes=("f", "m", "unknown"),
        remarks=("12 % of .* have no value", "has 'unknown' in 2025 .50"),
    ),
    "a question mark for no value": Case(
        every(8, 2, "?"), sexes=("?", "f", "m"), remarks=(r"attributes.sex: '\?' .50. may mean that", "no group"),
    ),
    "few in small letters": Case(
        every(100, 2, "F"),
        sexes=("F", "f", "m"),
        remarks=(
            "attributes.sex: 4 of 200 decisions say 'F', 196 'f': these differ only in letter case",
            "attributes.sex: no group that is announced has 'F' in 2025 .4 people there., 'f' in 2025 .196 people",
        ),
    ),
    "a full-width letter": Case(
        every(100, 2, "\uff46"),
        sexes=("f", "m", "\uff46"),
        remarks=("say '\uff46', 196 'f': these look alike", "no font of .* '\uff46'", "'\uff46' in 2025 .4 people"),
    ),
    "a date far ahead": Case(
        [*ROWS, ["x1", "2099-12-31", "f", "5", "no"]],
        periods={"2025": 400, "2099": 1},
        remarks=("1 decision is dated 2099-12-31, far from the others .2025-01-01 to 2025-12-28.",),
    ),
    "a year of two digits": Case(
        [*ROWS, ["x1", "0025-03-01", "f", "5", "no"]],
        periods={"0025": 1, "2025": 400},
        remarks=("1 decision is dated 0025-03-01, far from the others",),
    ),
    "characters without a font": Case(
        written(2, {"f": "日本語", "m": "👩🏽‍⚖️"}.__getitem__),
        sexes=("日本語", "👩🏽‍⚖️"),
        remarks=("attributes.sex: no font of the reports has .* printed as boxes",),
    ),
    "a header again": Case(
        [*ROWS[:200], ["sex", "income", "outcome"], *ROWS[200:]],
        {"id": None, "decided_at": None},
        every="all",
        periods={"all": 400},
        reasons={"header again": 1},
        head="sex,income,outcome\n",
        remarks=("log.source: quarantined, header again: 1 row, first log.csv, line 202",),
    ),
    "a header again, with ids and dates": Case(
        [*ROWS[:9], AGAIN, *ROWS[9:]],
        reasons={"header again": 1},
        remarks=("header again: 1 row, first log.csv, line 11",),
    ),
    "a header again, with spaces": Case(
        [*ROWS, [f" {name} " for name in AGAIN]],
        reasons={"header again": 1},
        remarks=("header again: 1 row", *(f"{key}: whitespace .* in 1 row" for key in
                      ("log.outcome", "attributes.sex", "attributes.income", "log.id", "log.decided_at"))),
    ),
    "an outcome with a space": Case(every(4, 4, "no "), remarks=("log.outcome: whitespace .* in 100 rows",)),
    "a byte order mark": Case(every(4, 2, "\ufefff"), remarks=("attributes.sex: whitespace or unseen .* 100",)),
    "ids with spaces": Case([*ROWS, ["7\u00a0", *ROWS[7][1:]]], remarks=("log.id: whitespace .* in 1 row",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_log_of_a_kind_that_went_wrong(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    rows = [row if len(row) == case.head.count(",") + 1 else row[2:] for row in case.rows]
    write(tmp_path, case.head + "".join(f"{','.join(row)}\n" for row in rows))
    attributes = {"sex": {"role": "public", "protected": True}, "income": {"role": "sensitive", "bins": [10]}}
    policy = {"max_confidence": 0.95, "minimum_group_size": 10}
    period = {"every": case.every, "timezone": case.timezone}
    made = programme(
        tmp_path, {"max_quarantined": 0.01} | case.log, attributes=attributes, policy=policy, period=period
    )
    found = check(made)
    of_periods = found.periods.to_dict("records")
    assert {row["period"]: row["decisions"] for row in of_periods} == case.periods
    assert found.accounting.reasons == case.reasons
    for remark in case.remarks:
        assert [told for told in found.remarks if re.search(remark, told)], (remark, found.remarks)
    assert len([told for told in found.remarks if "after today" not in told]) == len(case.remarks), found.remarks
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert displayed(warehouse, made, "sex") == [*case.sexes]
        if case.every == "year":
            assert chosen(warehouse, made, today=date(2026, 11, 29)).label == "2025"


@pytest.mark.parametrize("plain", ["7", "12345678901234567890", "0"])
def test_ids_written_as_fractions_are_not_new_decisions(tmp_path: Path, plain: str) -> None:
    write(tmp_path, HEADER + f"{plain},2025-01-01,f,5,yes\n8,2025-01-01,f,5,no\n", "h1.csv")
    made = programme(tmp_path, {"source": "*.csv"})
    with Warehouse.open(made) as warehouse:
        account(warehouse, made)
        write(tmp_path, HEADER + f"{plain}.0,2025-01-01,f,5,yes\n9.0,2025-01-01,f,5,no\n", "all.csv")
        with pytest.raises(
            IngestError,
            match=r"all.csv: 1 id is a number that is written otherwise.*: are they the same .* as those of h1.csv",
        ) as caught:
            account(warehouse, made)
        assert caught.value.private == f"As '{plain}.0' and '{plain}'."
        write(
            tmp_path, HEADER + "7.5,2025-01-01,f,5,yes\n8.00.0,2025-01-01,f,5,no\nv1.0,2025-01-01,f,5,no\n", "all.csv"
        )
        assert account(warehouse, made).decisions == 5


@pytest.mark.parametrize(
    ("plain", "spelt", "keys"),
    [
        ("1", "0001", {}),
        ("0", "000", {}),
        ("0", "-0", {}),
        ("7", "+7", {}),
        ("-7", "-007", {}),
        ("0007", "7.00", {}),
        ("1000000", "1,000,000", {}),
        ("1007", "1,007.00", {}),
        ("1007", "1 007", {}),
        ("1007", "1'007", {}),
        ("7", "7,0", {"decimal": ","}),
        ("1007", "1.007", {"decimal": ","}),
        ("1007", "1.007,0", {"decimal": ",", "thousands": "."}),
        ("100000000001", "1.00E+11", {}),
        ("x", "4,32E+11", {"decimal": ","}),
        ("x", "1.0000001E7", {}),
        ("12", "1e+11", {}),
    ],
)
def test_ids_as_a_program_writes_numbers_are_refused(
    tmp_path: Path, plain: str, spelt: str, keys: dict[str, str]
) -> None:
    rest, rounded = "2025-01-01,f,5", "E" in spelt.upper()
    write(tmp_path, HEADER + f'{plain},{rest},yes\n8,{rest},no\n"{spelt}",{rest},no\n')
    how = "1 id is rounded, as in" if rounded else "is a number that is written otherwise, as in"
    with Warehouse.in_memory() as warehouse:
        with pytest.raises(IngestError, match=how) as caught:
            account(warehouse, programme(tmp_path, keys))
        assert repr(spelt) in caught.value.private
        assert spelt not in str(caught.value).replace("as in 1.00E+11", "")
    write(tmp_path, HEADER + f'x{plain},{rest},yes\n0{plain}8,{rest},no\n"{spelt}",{rest},no\n1e5,{rest},no')
    with Warehouse.in_memory() as warehouse:
        if not rounded:
            assert account(warehouse, programme(tmp_path)).decisions == 4
