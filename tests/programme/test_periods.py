"""Periods: labels, lengths, and those of a log that are over."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.errors import PeriodError
from atr.programme.periods import ALL, Every, complete_periods, containing, parse, previous, today, zone

EVERY: list[Every] = ["month", "quarter", "year"]
days = st.dates(date(1, 2, 1), date(9998, 12, 31))


@pytest.mark.parametrize(
    ("label", "start", "end"),
    [
        ("2013", date(2013, 1, 1), date(2014, 1, 1)),
        ("2013-Q4", date(2013, 10, 1), date(2014, 1, 1)),
        ("2012-02", date(2012, 2, 1), date(2012, 3, 1)),
        ("2013-12", date(2013, 12, 1), date(2014, 1, 1)),
    ],
)
def test_a_label_names_its_days(label: str, start: date, end: date) -> None:
    period = parse(label)
    assert (period.label, period.start, period.end) == (label, start, end)
    assert period.contains(start)
    assert not period.contains(end)
    assert period.contains(end - timedelta(days=1))


@pytest.mark.parametrize(
    "label",
    ["", "2013-Q5", "2013-13", "2013-1", "13", "2013-q1", "2013-01-01", "0000", "9999", "２０１３x", "２０１３", "٢٠١٣",
     "२०१३-Q1", "2013-0１"],
)  # fmt: skip
def test_other_labels_are_refused(label: str) -> None:
    with pytest.raises(PeriodError, match="no period"):
        parse(label)


@given(days, st.sampled_from(EVERY))
def test_every_day_is_in_the_period_its_label_names(day: date, every: Every) -> None:
    period = containing(day, every)
    assert period.contains(day)
    assert parse(period.label) == period


@given(st.dates(date(2, 1, 1), date(9998, 12, 31)), st.sampled_from(EVERY))
def test_periods_follow_each_other_without_a_gap(day: date, every: Every) -> None:
    period = containing(day, every)
    assert previous(period).end == period.start
    assert containing(previous(period).start or day, every) == previous(period)


@pytest.mark.parametrize(
    ("first", "last", "every", "today", "labels"),
    [
        ("2014-01-02", "2014-12-31", "quarter", "2015-01-01", ["2014-Q1", "2014-Q2", "2014-Q3", "2014-Q4"]),
        ("2014-07-02", "2014-12-24", "quarter", "2020-01-01", ["2014-Q3", "2014-Q4"]),
        ("2014-07-02", "2014-12-23", "quarter", "2020-01-01", ["2014-Q3"]),
        ("2014-07-02", "2015-01-01", "quarter", "2020-01-01", ["2014-Q3", "2014-Q4"]),
        ("2014-01-02", "2014-12-30", "year", "2015-01-01", ["2014"]),
        ("2014-01-02", "2014-12-30", "year", "2014-12-31", []),
        ("2014-01-02", "2014-12-31", "year", "2014-12-31", []),
        ("2012-06-01", "2014-12-30", "year", "2020-01-01", ["2012", "2013", "2014"]),
        ("2012-06-01", "2014-12-30", "year", "2014-12-31", ["2012", "2013"]),
        ("2012-06-01", "2014-05-30", "year", "2020-01-01", ["2012", "2013"]),
        ("2012-06-01", "2012-09-30", "year", "2020-01-01", []),
        ("2014-01-01", "2014-02-26", "month", "2020-01-01", ["2014-01", "2014-02"]),
        ("2014-01-01", "2014-02-25", "month", "2020-01-01", ["2014-01"]),
        ("2013-12-31", "2014-03-01", "month", "2020-01-01", ["2013-12", "2014-01", "2014-02"]),
        ("2013-12-31", "2099-01-01", "month", "2014-02-01", ["2013-12", "2014-01"]),
        ("2014-05-05", "2014-05-05", "month", "2014-05-05", []),
        ("2014-05-05", "2014-05-05", "month", "2014-06-01", []),
        ("2014-05-05", "2014-05-29", "month", "2014-06-01", ["2014-05"]),
        ("2014-05-05", "2014-05-05", "all", "2014-05-05", ["all"]),
    ],
)
def test_a_complete_period_is_over_and_in_the_log(
    first: str, last: str, every: Every, today: str, labels: list[str]
) -> None:
    first_day, last_day, day = map(date.fromisoformat, (first, last, today))
    assert [period.label for period in complete_periods(first_day, last_day, every, today=day)] == labels


def test_today_is_the_day_in_the_time_zone() -> None:
    def new_year() -> datetime:
        return datetime(2014, 1, 1, 0, 30, tzinfo=UTC)

    assert today("America/New_York", new_year) == date(2013, 12, 31)
    assert today("Europe/Berlin", new_year) == date(2014, 1, 1)
    assert today(None, lambda: new_year().astimezone(zone("America/New_York"))) == date(2014, 1, 1)


def test_the_whole_log_has_no_period_before_it() -> None:
    with pytest.raises(PeriodError):
        previous(ALL)
