"""Which period of a log is published when none is named."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from atr.errors import PeriodError
from atr.programme.periods import Every
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import covered_span, days_far_off
from atr.warehouse.reportable import between, chosen
from tests.helpers.logs import HEADER, account, programme, write

YEAR = {f"2025-{month:02d}-{day:02d}": 4 for month in range(1, 13) for day in (1, 15, 28)}


def log(folder: Path, days: Mapping[str, int]) -> None:
    every = [day for day, decisions in days.items() for _ in range(decisions)]
    write(folder, HEADER + "".join(f"{i},{day},f,5,{'no' if i % 3 else 'yes'}\n" for i, day in enumerate(every)))


@pytest.mark.parametrize(
    "placeholders",
    [
        {"2099-12-31": 1},
        {"9998-12-30": 1},
        {"1900-01-01": 60},
        {"1970-01-01": 1000},
        {"1899-12-30": 300, "1900-01-01": 900, "2999-12-31": 800},
        {"1970-01-01": 1, "2099-12-31": 1},
        {"1925-03-01": 1, "0205-03-01": 1},
    ],
)
def test_dates_far_off_do_not_stretch_what_a_log_covers(tmp_path: Path, placeholders: dict[str, int]) -> None:
    log(tmp_path, YEAR | placeholders)
    made = programme(tmp_path, period={"every": "year", "timezone": "UTC"})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert covered_span(warehouse) == (date(2025, 1, 1), date(2025, 12, 28))
        assert days_far_off(warehouse) == {date.fromisoformat(day): n for day, n in placeholders.items()}
        assert chosen(warehouse, made, today=date(2100, 6, 1)).label == "2025"
        assert between(warehouse, made, None, None, today=date(2100, 6, 1)) == ["2025"]
        with pytest.raises(PeriodError, match="no year that is over by 2025-12-31 has decisions to its end"):
            chosen(warehouse, made, today=date(2025, 12, 31))


def test_a_log_with_a_gap_is_whole(tmp_path: Path) -> None:
    earlier = {day.replace("2025", "2020"): 1 for day in YEAR}
    log(tmp_path, YEAR | earlier)
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(tmp_path))
        assert days_far_off(warehouse) == {}
        assert covered_span(warehouse) == (date(2020, 1, 1), date(2025, 12, 28))


@pytest.mark.parametrize(
    ("days", "every", "today", "named"),
    [
        (["2025-01-02", "2025-05-31"], "year", "2026-06-01", "2025"),
        (["2025-01-02", "2025-05-31"], "quarter", "2025-03-31", "2025-Q2"),
        (["2025-05-31"], "month", "2025-05-31", "2025-05"),
    ],
)
def test_a_period_not_covered_to_its_end_must_be_named(
    tmp_path: Path, days: list[str], every: Every, today: str, named: str
) -> None:
    log(tmp_path, dict.fromkeys(days, 3))
    made = programme(tmp_path, period={"every": every, "timezone": "UTC"})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        with pytest.raises(PeriodError, match=rf"no {every} that is over by.*\n.*--period {named}\."):
            chosen(warehouse, made, today=date.fromisoformat(today))
        assert chosen(warehouse, made, named, today=date.fromisoformat(today)).label == named
