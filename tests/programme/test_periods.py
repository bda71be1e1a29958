"""Periods: labels, lengths, and the last one that a log covers to its end."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.errors import PeriodError
from atr.programme.periods import ALL, Every, containing, last_complete, parse, previous

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


def test_the_last_complete_period_is_one_the_log_covers_to_its_end() -> None:
    assert last_complete(date(2014, 12, 31), "quarter").label == "2014-Q4"
    assert last_complete(date(2014, 12, 30), "quarter").label == "2014-Q3"
    assert last_complete(date(2014, 12, 30), "year").label == "2013"
    assert last_complete(date(2014, 12, 30), "all") is ALL


def test_the_whole_log_has_no_period_before_it() -> None:
    with pytest.raises(PeriodError):
        previous(ALL)
