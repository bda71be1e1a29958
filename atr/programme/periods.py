"""Periods: half-open ranges of days with a label, such as 2013, 2013-Q1 and 2013-05."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from hashlib import sha256
from importlib import resources
from io import BytesIO
from itertools import pairwise
from typing import Literal
from zoneinfo import ZoneInfo

from atr.errors import PeriodError

Every = Literal["month", "quarter", "year", "all"]


@dataclass(frozen=True, slots=True)
class Period:
    """The days from ``start`` to before ``end``; both None for the whole log."""

    label: str
    start: date | None
    end: date | None

    @property
    def months(self) -> int | None:
        """How long it is; None for the whole log."""
        if self.start is None or self.end is None:
            return None
        return (self.end.year - self.start.year) * 12 + self.end.month - self.start.month

    def contains(self, day: date) -> bool:
        """Whether the day is in the period."""
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)

    def overlaps(self, other: Period) -> bool:
        """Whether some day is in both periods.

        >>> parse("2013").overlaps(parse("2013-Q4")), parse("2013-Q3").overlaps(parse("2013-Q4"))
        (True, False)
        """
        if self.start is None or self.end is None or other.start is None or other.end is None:
            return True
        return self.start < other.end and other.start < self.end


ALL = Period("all", None, None)


def parse(label: str | int) -> Period:
    """The period a label names.

    >>> parse("2013-Q2")
    Period(label='2013-Q2', start=datetime.date(2013, 4, 1), end=datetime.date(2013, 7, 1))

    Raises
    ------
    PeriodError
        If the label is none of the known shapes.
    """
    label = str(label)  # YAML and Python read 2013 as a number
    match = re.fullmatch(r"([0-9]{4})(?:-(?:Q([1-4])|(0[1-9]|1[0-2])))?", label)
    if label == "all":
        return ALL
    if match is None or int(match[1]) == 0 or int(match[1]) == 9999:
        raise PeriodError(f"'{label}' is no period", hint="Write it as 2013, 2013-Q1, 2013-05 or all.")
    year, first = int(match[1]), int(match[3] or 3 * int(match[2] or 1) - 2)
    after = first - 1 + (1 if match[3] else 3 if match[2] else 12)
    return Period(label, date(year, first, 1), date(year + after // 12, after % 12 + 1, 1))


def containing(day: date, every: Every) -> Period:
    """The period of this length that a day is in."""
    quarter, month = f"Q{(day.month + 2) // 3}", f"{day.month:02d}"
    part = {"month": f"-{month}", "quarter": f"-{quarter}", "year": ""}
    return ALL if every == "all" else parse(f"{day.year:04d}{part[every]}")


QUIET = 12
"""The last of so many parts of a period may be without decisions, and the log still covers it to its end."""


def complete_periods(first_day: date, last_day: date, every: Every, *, today: date) -> list[Period]:
    """List the periods a log can be reported on, the earliest first: those that are over, and covered to their end.

    The log covers a period whose last days had no decisions, too: of a year at most 30 days, of a quarter 7, of a month
    2. The whole log is one period, always over.

    Parameters
    ----------
    first_day, last_day
        Of the decisions in the log.
    every
        How long a period is.
    today
        The day it is, in the programme's time zone; a period is over if it ended before.
    """
    if every == "all":
        return [ALL]
    found, start = [], first_day
    while start <= last_day and (period := containing(start, every)).end is not None:
        found.append(period)
        start = period.end
    over = [period for period in found if period.end is not None and period.end <= today]
    return [period for period in over if _reaches(last_day, period)]


def _reaches(last_day: date, period: Period) -> bool:
    if period.start is None or period.end is None:
        return True
    return last_day + timedelta(days=1) + (period.end - period.start) // QUIET >= period.end


def now() -> datetime:
    """The present moment, with the offset of this machine's time zone; the only clock there is."""
    return datetime.now().astimezone()


def today(timezone: str | None, now: Callable[[], datetime] = now) -> date:
    """The day it is in a time zone; without one in UTC, as the days of the log."""
    return now().astimezone(zone(timezone) if timezone else UTC).date()


@cache
def zone(name: str) -> ZoneInfo:
    """The time zone of a name, by the rules of the installed package tzdata, never by those of this machine.

    Raises
    ------
    KeyError
        If there is none.
    """
    return ZoneInfo.from_file(BytesIO(_rules(name)), key=name)


@cache
def rules_of(name: str) -> str:
    """What changes when the rules of a zone do: the beginning of their SHA-256."""
    return sha256(_rules(name)).hexdigest()[:16]


def _rules(name: str) -> bytes:
    folder = resources.files("tzdata")
    if name not in (folder / "zones").read_text(encoding="ascii").split():
        raise KeyError(name)
    return (folder / "zoneinfo" / name).read_bytes()


RULES = (datetime(1840, 1, 1), datetime(2500, 1, 1))
"""When the clocks of some zone first changed, and a time 400 years after which, as the calendar, rules repeat."""
_SAMPLED = timedelta(days=6)
"""No zone's clocks change twice within so long."""


@cache
def clock_changes(name: str) -> tuple[tuple[datetime, timedelta], ...]:
    """How far the clocks of a zone are ahead of UTC, and since when.

    Parameters
    ----------
    name
        Of the zone.

    Returns
    -------
    Moments in UTC without a zone, in order, the first before all rules; and the offset from there on.
    """
    clock = zone(name)

    def ahead(moment: datetime) -> timedelta:
        return clock.fromutc(moment.replace(tzinfo=clock)).replace(tzinfo=None) - moment

    first, end = RULES
    samples = [first + i * _SAMPLED for i in range((end - first) // _SAMPLED + 1)] + [end]
    offsets = [ahead(moment) for moment in samples]
    found = [(datetime.min, offsets[0])]
    for (before, after), (old, new) in zip(pairwise(samples), pairwise(offsets), strict=True):
        if old != new:
            low, high = before, after
            while (seconds := (high - low) // timedelta(seconds=1)) > 1:
                middle = low + timedelta(seconds=seconds // 2)
                low, high = (middle, high) if ahead(middle) == old else (low, middle)
            found.append((high, new))
    return tuple(found)


def previous(period: Period) -> Period:
    """The period of the same length just before this one; the whole log has none."""
    if period.start is None or period.months is None:
        raise PeriodError("the whole log has no period before it")
    day = period.start - timedelta(days=1)
    every: Every = {1: "month", 3: "quarter", 12: "year"}[period.months]  # type: ignore[assignment]
    return containing(day, every)
