"""Moments as logs write them, and the days they are on where the programme is."""

from __future__ import annotations

from bisect import bisect_left
from calendar import isleap
from datetime import datetime, timedelta
from functools import cache
from typing import TypeAlias

from atr.ingest.sources.base import Column
from atr.programme.log import EPOCHS
from atr.programme.periods import RULES, clock_changes
from atr.warehouse.connection import Parameters

Steps: TypeAlias = list[dict[str, str]]
"""SQL of columns by name, step by step: each may use the columns of the steps before."""

_USUAL = (
    r"^(\d{4}-\d\d-\d\d)"
    r"(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,9})?)? ?(Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)?)?$"
)
"""A day, or a day and a time, with or without a zone."""

_MICROSECOND = timedelta(microseconds=1)


def _micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1)) // _MICROSECOND


_FIRST, _LAST = (_micros(datetime(*day)) for day in ((1, 1, 2), (9998, 12, 31)))
"""A day further from the ends of the calendar than any two clocks from each other."""
_FOUR_DIGITS = _micros(datetime(1000, 1, 1))


def is_moment(column: Column) -> bool:
    """Whether the values of a column are moments, and need no reading of texts."""
    return column.type == "DATE" or column.type.startswith("TIMESTAMP")


def moments(cell: str, column: Column, form: str | None, p: Parameters) -> Steps:
    """Say what moments a cell holds.

    Parameters
    ----------
    cell
        The name it has in the SQL. Its value is the column's, if that holds moments, else the text.
    column
        Its type.
    form
        ``log.date_format``: a format of strptime, or one of :data:`EPOCHS`; None for the usual form.
    p
        The parameters of the statement.

    Returns
    -------
    In the last step ``CELL_us``, microseconds since 1970 rounded down (NULL if it is no moment): in UTC where
    ``CELL_zoned``, and else by the clock of nobody knows where; and ``CELL_ns``, the nanoseconds that are left.
    """
    us, zoned, ns, shape = (f"{cell}_{part}" for part in ("us", "zoned", "ns", "shape"))
    if is_moment(column):
        value = f"TRY_CAST({cell} AS TIMESTAMP)" if column.type in ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS") else cell
        nanos = f"epoch_ns({cell}) % 1000" if column.type == "TIMESTAMP_NS" else "0"
        with_zone = "TIME ZONE" in column.type
        return [{us: f"CASE WHEN isfinite({cell}) THEN epoch_us({value}) END", zoned: str(with_zone), ns: nanos}]
    if form in EPOCHS:
        fraction = f"rpad(split_part({cell}, '.', 2)[1:{EPOCHS[form]}], {EPOCHS[form]}, '0')"
        whole = f"TRY_CAST(concat(split_part({cell}, '.', 1), {fraction}) AS BIGINT)"
        number = f"CASE WHEN regexp_full_match({cell}, '[+-]?[0-9]+([.][0-9]+)?') THEN {whole} END"
        return [{us: number, zoned: "true", ns: "0"}]
    if form is not None:
        with_zone = "%z" in form
        text = f"regexp_replace({cell}, 'Z$', '+00')" if with_zone else cell
        parsed = f"epoch_us(try_strptime({text}, {p.mark(form)}))"
        four_digits = f"CASE WHEN {shape} >= {_FOUR_DIGITS} THEN {shape} END"
        return [{shape: parsed}, {us: four_digits, zoned: str(with_zone), ns: "0"}]
    whole = f"""concat({shape}.day, ' ', if({shape}.time = '', '00:00', {shape}.time),
        if({shape}.seconds = '', ':00', {shape}.seconds),
        if({shape}.zone IN ('', 'Z'), '+00', {shape}.zone))"""
    return [
        {shape: f"regexp_extract({cell}, '{_USUAL}', ['day', 'time', 'seconds', 'zone'])"},
        {
            us: f"epoch_us(TRY_CAST({whole} AS TIMESTAMPTZ))",
            zoned: f"{shape}.zone <> ''",
            ns: f"TRY_CAST(rpad({shape}.seconds[11:13], 3, '0') AS INTEGER)",
        },
    ]


def days(cell: str, timezone: str | None, *, never_zoned: bool = False) -> Steps:
    """Say on which day of a time zone moments are.

    The rules are those of :func:`atr.programme.periods.zone`, written out: the engine's own may be older.

    Parameters
    ----------
    cell
        As in :func:`moments`, whose columns there are.
    timezone
        The zone's name; None: UTC. A moment without a zone is on the day that is written.
    never_zoned
        Whether no moment has a zone, so that no rule is needed.

    Returns
    -------
    In the last step ``decided_on``; NULL if the cell is no moment.
    """
    written = f"CASE WHEN {cell}_us >= {_FIRST} AND {cell}_us < {_LAST} THEN make_timestamp({cell}_us)::DATE END"
    if never_zoned:
        return [{"decided_on": written}]
    changes, end, alike = _rules(timezone or "UTC")
    us, clock, year = f"{cell}_us", f"{cell}_clock", f"year(make_timestamp({cell}_us))"
    leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))::BIGINT"
    start = f"make_date({year}, 1, 1)"
    same = f"{us} - epoch_us({start}) + {[*alike]}[7 * {leap} + isodow({start})]"
    return [
        {clock: f"CASE WHEN {us} < {end} THEN {us} WHEN {us} < {_LAST} THEN {same} END"},
        {
            "decided_on": f"""CASE WHEN {us} >= {_FIRST} AND {us} < {_LAST} THEN
                make_timestamp({us} + CASE WHEN {cell}_zoned THEN {_ahead(clock, changes)} ELSE 0 END)::DATE END"""
        },
    ]


@cache
def _rules(timezone: str) -> tuple[list[tuple[int, int]], int, list[int]]:
    """Find when the clocks of a zone change, until years of one calendar have the same changes for good.

    Returns
    -------
    The changes: since when, in microseconds since 1970, and how far ahead of UTC clocks are then; where they end; and
    when the years before that began that stand for all later ones of their calendar: those that begin on a Monday and
    so on, common years first, then leap years.
    """
    changes = [(_micros(since), ahead // _MICROSECOND) for since, ahead in clock_changes(timezone)]
    years = range(RULES[0].year, RULES[1].year)
    starts = [_micros(datetime(year, 1, 1)) for year in (*years, years.stop)]
    calendars = [7 * isleap(year) + datetime(year, 1, 1).weekday() for year in years]
    each: dict[int, tuple[int, list[tuple[int, int]]]] = {}
    regular = len(years)
    for i in reversed(range(len(years))):
        at = bisect_left(changes, (starts[i],))
        within = [(since - starts[i], ahead) for since, ahead in changes[at : bisect_left(changes, (starts[i + 1],))]]
        if each.setdefault(calendars[i], (changes[at - 1][1], within)) != (changes[at - 1][1], within):
            break
        regular = i
    alike: dict[int, int] = {}
    while len(alike) < len(each):
        alike.setdefault(calendars[regular], starts[regular])
        regular += 1
    changes = changes[: bisect_left(changes, (starts[regular],))]
    return changes, starts[regular], [alike[calendar] for calendar in sorted(alike)]


def _number(cell: str) -> str:
    """SQL of the number that a text is, exact. DuckDB makes a wide decimal of a text a hundred times more slowly."""
    forms = {
        "[0-9]{1,18}": "BIGINT",
        "[0-9]{1,12}[.][0-9]{1,6}": "DECIMAL(18, 6)",
        "[0-9]+([.][0-9]+)?": "DECIMAL(38, 9)",
    }
    cases = (
        f"WHEN regexp_full_match({cell}, '[+-]?{form}') THEN TRY_CAST({cell} AS {of})" for form, of in forms.items()
    )
    return f"(CASE {' '.join(cases)} END)::DECIMAL(38, 9)"


def _ahead(clock: str, changes: list[tuple[int, int]]) -> str:
    """SQL that searches for the last change that had come, by halves."""
    if len(changes) == 1:
        return str(changes[0][1])
    middle = len(changes) // 2
    earlier, later = _ahead(clock, changes[:middle]), _ahead(clock, changes[middle:])
    return f"CASE WHEN {clock} < {changes[middle][0]} THEN {earlier} ELSE {later} END"


def revisions(cell: str, column: Column, form: str | None, p: Parameters) -> Steps:
    """Say which revisions a cell holds: moments, or numbers.

    Where ``log.date_format`` is given, moments of the usual form are read too, as the key is for dates of decisions.

    Parameters
    ----------
    cell, column, form, p
        As in :func:`moments`.

    Returns
    -------
    In the last step ``revision``, a number or seconds since 1970, and ``revised_as``, which of them it is; NULL if
    it is neither.
    """
    us, zoned, ns = (f"{cell}_{part}" for part in ("us", "zoned", "ns"))
    number = "NULL::DECIMAL(38, 9)" if is_moment(column) else _number(cell)
    steps = moments(cell, column, form=None if form in EPOCHS else form, p=p)
    if form is not None and form not in EPOCHS and "%Y-%d" not in form and not is_moment(column):
        other = f"{cell}_usual"
        steps += [{other: f"CASE WHEN {us} IS NULL THEN {cell} END"}, *moments(other, column, None, p)]
        us, ns = f"coalesce({us}, {other}_us)", f"coalesce({other}_ns, {ns})"
        zoned = f"coalesce({other}_zoned AND {other}_us IS NOT NULL, false) OR ({cell}_us IS NOT NULL AND {zoned})"
    seconds = f"({us} * 0.000001::DECIMAL(7, 6) + coalesce({ns}, 0) * 0.000000001::DECIMAL(10, 9))::DECIMAL(38, 9)"
    return [
        *steps,
        {
            "revision": f"CASE WHEN {us} IS NOT NULL THEN {seconds} ELSE {number} END",
            "revised_as": f"""CASE WHEN {us} IS NULL THEN if({number} IS NULL, NULL, 'numbers')
                WHEN {zoned} THEN 'times with a zone' ELSE 'times without a zone' END""",
        },
    ]
