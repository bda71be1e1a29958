"""On which day a decision was made: zones, forms of dates, and columns that hold dates themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.errors import IngestError, ProgrammeError
from atr.ingest import ingest
from atr.ingest.days import days
from atr.ingest.days import moments as read_moments
from atr.ingest.sources.base import Column
from atr.programme.periods import clock_changes, containing, zone
from atr.warehouse.connection import Parameters, Warehouse
from tests.helpers.logs import HEADER, account, decisions, programme, quarantine, write

ZONES = [
    "Africa/Casablanca", "America/New_York", "America/Vancouver", "America/St_Johns", "Asia/Kathmandu", "Asia/Kolkata",
    "Australia/Lord_Howe", "Europe/Berlin", "Europe/Dublin", "Asia/Gaza", "Pacific/Apia", "Pacific/Chatham",
    "Pacific/Kiritimati", "America/Sao_Paulo", "UTC",
]  # fmt: skip
YEARS = [1900, 1999, 2011, 2012, 2020, 2024, 2026, 2027, 2100, 2500, 2900, 9990]
firsts = st.builds(datetime, st.sampled_from(YEARS), st.integers(1, 12), st.sampled_from([1, 28]), tzinfo=st.just(UTC))
instants = st.builds(
    lambda at, minutes, seconds: at + timedelta(minutes=minutes, seconds=seconds),
    firsts | st.datetimes(datetime(1800, 1, 1), datetime(9990, 1, 1), timezones=st.just(UTC)),
    st.integers(-96, 96).map(lambda quarters: 15 * quarters),
    st.sampled_from([-1, 0, 1]),
)


def read(folder: Path, moments: Sequence[Any], log: dict[str, Any] | None = None, **parts: Any) -> list[date | None]:
    """The days of moments as a log has them; None for those that are quarantined."""
    rows = [f"{i},{moment},f,5,{'no' if i % 2 else 'yes'}\n" for i, moment in enumerate(["2013-01-01", *moments])]
    rows = rows[1:] if log else rows
    write(folder, HEADER + "".join(rows))
    made = programme(folder, log, **parts)
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        found = dict(decisions(warehouse, "id, decided_on"))
    return [found.get(str(i + 1)) for i in range(len(moments))]


@pytest.mark.parametrize(
    "name", ["Europe/Berlin", "America/New_York", "Asia/Gaza", "Australia/Lord_Howe", "Asia/Tokyo"]
)
def test_days_around_every_change_of_clocks_are_exact(name: str) -> None:
    clock, second = zone(name), timedelta(seconds=1)
    changes = [since.replace(tzinfo=UTC) for since, _ in clock_changes(name)[1:]]
    changes += [datetime(year, month, 28, tzinfo=UTC) for year in range(2500, 9990, 7) for month in (3, 7, 11)]
    moments = []
    for change in changes:
        for day in (change, change + timedelta(days=1)):
            midnight = day.astimezone(clock).replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
            moments += [midnight - second, midnight, midnight + second]
        moments += [change - second, change]
    rows = "(SELECT (to_timestamp(m)) AS moment, m FROM (SELECT unnest($1::BIGINT[]) AS m))"
    p = Parameters([[int(moment.timestamp()) for moment in moments]])
    for step in [
        *read_moments("moment", Column("moment", "moment", "TIMESTAMP WITH TIME ZONE"), None, p),
        *days("moment", name),
    ]:
        rows = f"(SELECT *, {', '.join(f'{sql} AS {key}' for key, sql in step.items())} FROM {rows})"
    with Warehouse.in_memory() as warehouse:
        found = dict(warehouse.query(f"SELECT m, decided_on FROM {rows}", p))
    assert found == {int(moment.timestamp()): moment.astimezone(clock).date() for moment in moments}


@given(st.sampled_from(ZONES), st.lists(instants, min_size=2, max_size=40), st.integers(-60, 60))
def test_a_moment_is_on_the_day_its_zone_says(
    tmp_path_factory: pytest.TempPathFactory, name: str, moments: list[datetime], quarters: int
) -> None:
    """Held against zoneinfo, around the ends of periods: summer time, half hours, skipped days, rules to come."""
    folder = tmp_path_factory.mktemp("log")
    days = [moment.astimezone(zone(name)).date() for moment in moments]
    told, period = timezone(timedelta(minutes=15 * quarters)), {"every": "month", "timezone": name}
    texts = [moment.astimezone(told).isoformat(sep=" ") for moment in moments]
    assert read(folder, texts, period=period) == days
    seconds = [int(moment.timestamp()) for moment in moments]
    assert read(folder, seconds, {"date_format": "epoch_seconds"}, period=period) == days
    assert [containing(day, "quarter").contains(day) for day in days] == [True] * len(days)


@pytest.mark.parametrize(
    ("name", "moment", "day"),
    [
        ("Africa/Casablanca", "2026-08-31T23:30:00Z", date(2026, 9, 1)),  # an hour ahead, for the last summer
        ("Africa/Casablanca", "2026-09-30T23:30:00Z", date(2026, 9, 30)),
        ("America/Vancouver", "2026-12-01T06:30:00Z", date(2026, 11, 30)),
        ("America/Vancouver", "2026-12-01T07:30:00Z", date(2026, 12, 1)),  # summer time throughout
        ("Pacific/Apia", "2011-12-30T09:59:59Z", date(2011, 12, 29)),
        ("Pacific/Apia", "2011-12-30T10:00:00Z", date(2011, 12, 31)),  # the 30th was left out
        ("Asia/Kathmandu", "2020-12-31T18:14:59Z", date(2020, 12, 31)),
        ("Asia/Kathmandu", "2020-12-31T18:15:00Z", date(2021, 1, 1)),
        ("Europe/Berlin", "2024-02-29T22:59:59.999999999Z", date(2024, 2, 29)),
        ("Europe/Berlin", "2024-03-31T21:59:59Z", date(2024, 3, 31)),
        ("Europe/Berlin", "2024-03-31T22:00:00Z", date(2024, 4, 1)),
        ("Europe/Berlin", "2020-12-31T23:00:00Z", date(2021, 1, 1)),
    ],
)
def test_known_days_of_zones(tmp_path: Path, name: str, moment: str, day: date) -> None:
    assert read(tmp_path, [moment], period={"every": "month", "timezone": name}) == [day]


@pytest.mark.parametrize(
    ("form", "texts", "days"),
    [
        ("%d.%m.%Y", ["31.05.2013", "1.6.2013", "2013-05-31", "31.02.2013", "31.05.13", ""],
         [date(2013, 5, 31), date(2013, 6, 1), None, None, None, None]),
        ("%m/%d/%Y %H:%M", ["12/31/2013 23:59", "31/12/2013 10:00", "12/31/2013", "12/31/2013 24:00"],
         [date(2013, 12, 31), None, None, None]),
        ("%m/%d/%Y %I:%M %p", ["12/31/2013 11:59 PM", "12/31/2013 13:00 PM"], [date(2013, 12, 31), None]),
        ("%Y%m%d", ["20130531", "2013531", "20131331", "20130531 x"], [date(2013, 5, 31), None, None, None]),
        ("%d.%m.%y", ["1.12.13", "1.12.68", "1.12.69"], [date(2013, 12, 1), date(2068, 12, 1), date(1969, 12, 1)]),
        ("%d %b %Y", ["31 May 2013", "1 JUN 2013", "1 Juni 2013"], [date(2013, 5, 31), date(2013, 6, 1), None]),
        ("%d.%m.%Y %H:%M%z", ["31.12.2013 23:30Z", "31.12.2013 23:30+01:00", "31.12.2013 23:30", "1.1.2014 00:30+0200"],
         [date(2014, 1, 1), date(2013, 12, 31), None, date(2013, 12, 31)]),
        ("%d.%m.%Y %H:%MZ", ["31.12.2013 23:30Z"], [date(2014, 1, 1)]),
        ("epoch_seconds",
         ["1388534399", "1388530799.999999999", "1388530800", "-1", "1e9", "2013-01-01", "99999999999999"],
         [date(2014, 1, 1), date(2013, 12, 31), date(2014, 1, 1), date(1970, 1, 1), None, None, None]),
        ("epoch_milliseconds", ["1388530799999", "1388530799999.9", "1388530800000"],
         [date(2013, 12, 31), date(2013, 12, 31), date(2014, 1, 1)]),
    ],
)  # fmt: skip
def test_dates_are_read_in_the_form_that_is_told(
    tmp_path: Path, form: str, texts: list[str], days: list[date | None]
) -> None:
    """In Berlin, an hour ahead of UTC in winter."""
    assert read(tmp_path, [texts[0], *texts], {"date_format": form})[1:] == days


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("%d.%m.%Q", "'%Q' is unknown"),
        ("%d.%m.%Y %", "'%' is unknown"),
        ("%-d.%m.%Y", "'%-' is unknown"),
        ("dd.mm.yyyy", "needs the day, the month and the year"),
        ("%Y-%m", "needs the day"),
        ("%d.%m.%Y %I:%M", "%I .1 to 12. with %p"),
        ("epoch", "needs the day"),
    ],
)
def test_a_form_of_dates_that_cannot_be_is_refused(tmp_path: Path, form: str, told: str) -> None:
    with pytest.raises(ProgrammeError, match=f"log.date_format.*{told}"):
        programme(tmp_path, {"date_format": form})


TYPES = {
    "DATE": "2013-12-31",
    "TIMESTAMP": "2013-12-31 23:59:59.999999",
    "TIMESTAMP_S": "2013-12-31 23:59:59",
    "TIMESTAMP_MS": "2013-12-31 23:59:59.999",
    "TIMESTAMP_NS": "2013-12-31 23:59:59.999999999",
    "TIMESTAMPTZ": "2013-12-31 22:59:59.5+00",
}


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("missing", [[""], ["", "n/a"]])
def test_a_column_of_dates_says_what_its_texts_would(tmp_path: Path, type_: str, missing: list[str]) -> None:
    """Whether texts mean that there is no value, or not; and a form of texts is not meant for it."""
    values = [TYPES[type_], "1969-12-31 23:00:00+00", "2014-06-30 22:30:00+00", None]
    values += ["infinity"] if type_ != "TIMESTAMP_S" else []  # DuckDB writes none of that
    cells = ", ".join(f"({i}, {'NULL' if v is None else repr(v)}::{type_})" for i, v in enumerate(values))
    columns = "i::VARCHAR AS id, day, 'f' AS sex, 5 AS income, if(i = 0, 'yes', 'no') AS outcome"
    sql = f"SELECT {columns} FROM (VALUES {cells}) AS v(i, day)"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"COPY ({sql}) TO '{tmp_path / 'log.parquet'}'")
        connection.execute(f"COPY ({sql}) TO '{tmp_path / 'log.csv'}' (HEADER)")
    found = []
    for source, form in (("log.parquet", None), ("log.parquet", "%d.%m.%Y"), ("log.csv", None)):
        made = programme(tmp_path, {"source": source, "missing": missing, "date_format": form})
        with Warehouse.in_memory() as warehouse:
            account(warehouse, made)
            found.append((decisions(warehouse, "id, decided_on"), [fate for _, fate in quarantine(warehouse)]))
    assert found[0] == found[1] == found[2]
    assert found[0][0][0] == ("0", date(2013, 12, 31))
    assert found[0][1] == ["no date", "date that cannot be read"][: len(values) - 3]


@pytest.mark.parametrize(
    ("form", "earlier", "later"),
    [
        (None, "9", "10"),
        (None, "-2", "-1.5"),
        (None, "100000000000000000000", "100000000000000000001"),
        (None, "2013-05-31", "2013-05-31 00:01"),
        (None, "2013-05-31 10:00:00.123456788", "2013-05-31 10:00:00.123456789"),
        (None, "2013-06-01T00:30:00+02:00", "2013-05-31T23:00:00Z"),
        ("%d.%m.%Y", "31.05.2013", "01.06.2013"),
        ("%d.%m.%Y", "2013-05-31T10:00:00Z", "2013-06-01T09:00:00Z"),
        ("epoch_seconds", "999", "1000.5"),
    ],
)  # fmt: skip
def test_the_later_revision_counts(tmp_path: Path, form: str | None, earlier: str, later: str) -> None:
    day = {"%d.%m.%Y": "31.05.2013", "epoch_seconds": "1370000000"}.get(form or "", "2013-05-31")
    rows = [f"1,{day},f,5,yes,{later}", f"1,{day},f,20,yes,{earlier}", f"2,{day},f,5,no,{earlier}"]
    write(tmp_path, "id,day,sex,income,outcome,revised\n" + "\n".join(rows))
    made = programme(tmp_path, {"revision": "revised", "date_format": form})
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, made).corrections == 1
        assert decisions(warehouse, "id, a1") == [("1", 5.0), ("2", 5.0)]


@pytest.mark.parametrize(
    ("one", "other", "kinds"),
    [
        ("1", "2013-05-31", "numbers in log.csv and times without a zone in log.csv"),
        ("2013-05-31 10:00Z", "2013-05-31 10:00", "times with a zone in log.csv and times without a zone in log.csv"),
    ],
)
def test_revisions_of_two_kinds_are_not_compared(tmp_path: Path, one: str, other: str, kinds: str) -> None:
    rows = [f"1,2013-05-31,f,5,yes,{one}", f"2,2013-05-31,f,5,no,{other}"]
    write(tmp_path, "id,day,sex,income,outcome,revised\n" + "\n".join(rows))
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match=kinds):
        account(warehouse, programme(tmp_path, {"revision": "revised"}))


@pytest.mark.parametrize("keep", [False, True])
def test_new_rules_of_a_zone_mean_a_new_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: bool) -> None:
    """Rows that are kept though their files may be gone stay on the days they were on."""
    write(tmp_path, HEADER + "1,2013-07-01T23:30Z,f,5,yes\n2,2013-07-01,f,5,no\n")
    made = programme(tmp_path, {"keep": keep})
    with Warehouse.open(made) as warehouse:
        assert not ingest(warehouse, made).anew
        monkeypatch.setattr("atr.warehouse.layout.rules_of", lambda name: f"other rules of {name}")
        assert ingest(warehouse, made).anew is not keep


@pytest.mark.parametrize(
    ("form", "type_", "value", "day"),
    [
        ("%Y%m%d", "BIGINT", "20131231", date(2013, 12, 31)),
        ("epoch_seconds", "BIGINT", "1388530800", date(2014, 1, 1)),
        ("epoch_seconds", "DOUBLE", "1388530799.75", date(2013, 12, 31)),
        ("epoch_seconds", "DECIMAL(20, 3)", "1388530800.001", date(2014, 1, 1)),
        ("epoch_milliseconds", "UBIGINT", "1388530799999", date(2013, 12, 31)),
        ("%d.%m.%Y", "ENUM ('31.12.2013')", "31.12.2013", date(2013, 12, 31)),
    ],
)
def test_columns_of_numbers_are_read_in_the_form_told(
    tmp_path: Path, form: str, type_: str, value: str, day: date
) -> None:
    columns = f"'{value}'::{type_} AS day, 'f' AS sex, 5 AS income, if(i = 0, 'yes', 'no') AS outcome"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT i AS id, {columns} FROM range(2) AS t(i)) TO '{tmp_path / 'log.parquet'}'")
    made = programme(tmp_path, {"source": "log.parquet", "date_format": form})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert decisions(warehouse, "decided_on") == [(day,), (day,)]


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP", "TIMESTAMPTZ"])
@pytest.mark.parametrize("missing", [[""], ["", "n/a"]])
def test_the_later_revision_of_a_typed_column_counts(tmp_path: Path, type_: str, missing: list[str]) -> None:
    moments = ["2013-06-01 00:00:00.000001+00", "2013-05-31 23:59:59+00", None]
    cells = ", ".join(f"({i}, {'NULL' if m is None else repr(m)}::{type_})" for i, m in enumerate(moments))
    columns = "'1' AS id, DATE '2013-05-31' AS day, 'f' AS sex, i AS income, 'yes' AS outcome, revised"
    other = "SELECT '2', DATE '2013-05-31', 'f', 7, 'no', NULL"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        sql = f"SELECT {columns} FROM (VALUES {cells}) AS v(i, revised) UNION ALL {other}"
        connection.execute(f"COPY ({sql}) TO '{tmp_path / 'log.parquet'}'")
    made = programme(tmp_path, {"source": "log.parquet", "revision": "revised", "missing": missing})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert decisions(warehouse, "id, a1") == [("1", 0.0), ("2", 7.0)]
