"""Which periods of a log can be reported on."""

from __future__ import annotations

from datetime import date

from atr.errors import PeriodError
from atr.programme import Programme, periods
from atr.warehouse import counting
from atr.warehouse.connection import Warehouse


def chosen(
    warehouse: Warehouse,
    programme: Programme,
    label: str | None = None,
    ended_by: date | None = None,
    *,
    today: date,
) -> periods.Period:
    """Choose the period of a report.

    Parameters
    ----------
    label
        Such as 2013-Q1; by default the last period that is complete.
    ended_by
        By default the last period that had ended by this day, instead.
    today
        The day it is, where the programme is.

    Raises
    ------
    PeriodError
        If the label is no period, or the log covers none to its end.
    """
    every = programme.period.every
    if label is not None:
        return periods.parse(label)
    if ended_by is not None and every != "all":
        return periods.previous(periods.containing(ended_by, every))
    complete = _complete(warehouse, programme, today)
    if not complete:
        first, last = counting.covered_span(warehouse)
        raise PeriodError(
            f"no {every} that is over by {today} has decisions to its end: the log covers {first} to {last}",
            hint=f"If it is to be published all the same, name it: --period {periods.containing(last, every).label}.",
        )
    return complete[-1]


def between(
    warehouse: Warehouse, programme: Programme, first: str | None, last: str | None, *, today: date
) -> list[str]:
    """List the labels of the periods that the log has decisions in.

    Parameters
    ----------
    first, last
        Labels of the first and the last of them; by default the log's first, and the last one that is complete.
    today
        The day it is, where the programme is.

    Raises
    ------
    PeriodError
        If one of these is none of the log's, no period is over, or they are in the wrong order.
    """
    every = programme.period.every
    found = [period for period, _ in counting.periods(warehouse, every)]
    labels, since = [period.label for period in found], None if every == "all" else counting.covered_span(warehouse)[0]
    over = {period.label for period in _complete(warehouse, programme, today)}
    complete = [label for label in labels if label in over]
    if last is None and not complete:
        raise PeriodError(
            f"this log covers no {every} that is over to its end", hint=f"Name the last, of {', '.join(labels)}."
        )
    earliest = next(period.label for period in found if since is None or period.end is None or period.end > since)
    ends = (earliest if first is None else first, complete[-1] if last is None else last)
    for label in ends:
        if label not in labels:
            raise PeriodError(f"'{label}' is no period of this log", hint=f"Its periods are {', '.join(labels)}.")
    start, end = (labels.index(label) for label in ends)
    if start > end:
        raise PeriodError(f"{ends[0]} comes after {ends[1]}", hint="Give the earlier period as `first`.")
    return labels[start : end + 1]


def _complete(warehouse: Warehouse, programme: Programme, today: date) -> list[periods.Period]:
    every = programme.period.every
    if every == "all":
        return [periods.ALL]
    return periods.complete_periods(*counting.covered_span(warehouse), every, today=today)
