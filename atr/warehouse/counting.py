"""Decision regions, their populations, the decision mapping and QID groups."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import numpy as np

from atr.core.arrays import IntArray, Values, offsets_of
from atr.core.display_text import CONTROL, UNKNOWN, printable
from atr.core.regions import Regions
from atr.errors import PeriodError
from atr.programme import Attribute, Programme
from atr.programme import periods as _periods
from atr.programme.periods import Every, Period
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.layout import OUTCOME


def aggregate(warehouse: Warehouse, programme: Programme, period: Period) -> Regions:
    """Count the people and outcomes of every decision region in a period.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme
        Its bins, display names and outcomes are applied here. Values shown alike are one value; a missing value is
        the value "unknown".
    period
        Half-open range of days.

    Returns
    -------
    The decision regions, exact, in the order of reports; nothing is merged or decided on yet.

    Raises
    ------
    PeriodError
        If the log has no decisions in the period, or no dates.
    """
    public, sensitive = programme.names(role="public"), programme.names(role="sensitive")
    names = (*public, *sensitive)
    outcomes = outcome_values(warehouse, programme)
    p, layout = Parameters(), warehouse.layout()
    shown = {name: f"v{i}" for i, name in enumerate(names)}
    raw_cells = [raw_sql(programme.attributes[n], layout.column(n), p) + f" AS {shown[n]}" for n in names]
    cases = " ".join(f"WHEN outcome IN ({p.marks(raws)}) THEN {i}" for i, raws in enumerate(outcomes.values()))
    people = [f"coalesce(sum(people) FILTER (decided = {i}), 0)::BIGINT" for i in range(len(outcomes))]
    in_period = in_period_sql(warehouse, period, p)
    displays = [display_sql(programme.attributes[n], shown[n], p) + f" AS {shown[n]}" for n in names]
    columns = ", ".join(shown.values())
    rows = warehouse.query(
        f"""
        WITH counted AS (
            SELECT {", ".join(raw_cells)}, CASE {cases} END AS decided, {layout.people} AS people
            FROM decisions WHERE {in_period} GROUP BY ALL),
        displayed AS (SELECT {", ".join(displays)}, decided, people FROM counted)
        SELECT {columns}, {", ".join(people)}
        FROM displayed GROUP BY {columns}
        """,
        p,
    )
    if not rows:
        raise _no_decisions(warehouse, period)
    k = len(names)
    values, counts = [row[:k] for row in rows], np.array([row[k:] for row in rows], dtype=np.int64)
    return regions_of_rows(values, counts, programme=programme, outcomes=tuple(outcomes))


def regions_of_rows(
    values: Sequence[Values],
    counts: IntArray,
    *,
    programme: Programme,
    outcomes: tuple[str, ...],
    merged: Mapping[Values, int] | None = None,
) -> Regions:
    """Make decision regions from rows, adding up the people of equal values.

    Parameters
    ----------
    values
        (n,) display values of all attributes, public ones first, in any order.
    counts
        (n, outcomes) people.
    programme
        It says in which order values come.
    outcomes
        The positive one first.
    merged
        How many groups of the log are in each coarsened group, by its public values.

    Returns
    -------
    The regions, sorted by public values, then by sensitive ones.
    """
    public, sensitive = programme.names(role="public"), programme.names(role="sensitive")
    names = (*public, *sensitive)
    places = []
    for name, column in zip(names, zip(*values, strict=True) if values else [()] * len(names), strict=True):
        place = {value: i for i, value in enumerate(programme.attributes[name].in_order(column))}
        places.append(np.fromiter(map(place.__getitem__, column), dtype=np.int64, count=len(values)))
    order = np.lexsort(places[::-1])
    rows = [values[i] for i in order]
    starts = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
    counts, rows = (np.add.reduceat(counts[order], starts) if rows else counts), [rows[i] for i in starts]
    k, groups = len(public), Counter(row[: len(public)] for row in rows)
    return Regions(
        public=public,
        protection=programme.protection,
        outcomes=outcomes,
        group_values=tuple(groups),
        region_values=tuple(row[k:] for row in rows),
        counts=counts,
        offsets=offsets_of(np.fromiter(groups.values(), dtype=np.int64)),
        merged=merged or {},
        known=programme.policy.known(rows),
    )


def unknown(regions: Regions, programme: Programme) -> dict[str, int]:
    """Count the people whose value is "unknown", for each attribute.

    Parameters
    ----------
    regions
        As counted.
    programme
        Its attributes.

    Returns
    -------
    Exact people for each attribute.
    """
    columns = dict(zip((*regions.public, *regions.sensitive), zip(*regions.values, strict=True), strict=True))
    return {
        name: int(regions.population[[value == UNKNOWN for value in columns[name]]].sum())
        for name in programme.attributes
    }


def displayed(warehouse: Warehouse, programme: Programme, name: str) -> list[str]:
    """Find the display values of an attribute that occur in the log.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme
        Its bins and display names are applied.
    name
        The attribute.

    Returns
    -------
    Display values, in the order of reports.
    """
    attribute, p = programme.attributes[name], Parameters()
    if attribute.bins is None:
        of_log = f"SELECT DISTINCT raw AS v FROM cells WHERE name = {p.mark(name)}"
    else:
        of_log = f"SELECT DISTINCT {raw_sql(attribute, warehouse.layout().column(name), p)} AS v FROM decisions"
    rows = warehouse.query(f"SELECT DISTINCT {display_sql(attribute, 'v', p)} FROM ({of_log})", p)
    return attribute.in_order(value for (value,) in rows)


def require_decisions(warehouse: Warehouse, period: Period) -> None:
    """Check that the log has decisions in a period.

    Raises
    ------
    PeriodError
        If the log has no decisions in the period, or no dates.
    """
    p = Parameters()
    if not warehouse.query(f"SELECT 1 FROM days WHERE {in_period_sql(warehouse, period, p, 'day')} LIMIT 1", p):
        raise _no_decisions(warehouse, period)


def decided_span(warehouse: Warehouse) -> tuple[date, date]:
    """Find the first and the last day that has a decision in the log.

    Raises
    ------
    PeriodError
        If the log has no dates.
    """
    ((first, last),) = warehouse.query("SELECT min(day), max(day) FROM days")
    if first is None:
        raise PeriodError("the log has no dates", hint="Name their column in log.decided_at, or take the period all.")
    return first, last


_GAP = timedelta(days=730)
"""What is further from the other days of a log than so long belongs to them only if it is much."""
_FEW = 0.01
"""A smaller share of the decisions is not much."""
_PLACEHOLDERS = {
    *(date(year, 1, 1) for year in (
        1, 100, 1000, 1111, 1583, 1600, 1601, 1700, 1753, 1800, 1899, 1900, 1901, 1904, 1970, 2099, 2100, 2200, 2999,
        3000, 4000, 9000, 9999)),
    *(date(year, 12, 31) for year in (1899, 1969, 2099, 2199, 2999, 3999, 4000, 9998, 9999)),
    *(date(1899, 12, 30), date(1900, 1, 2), date(1970, 1, 2)),
}  # fmt: skip
"""Days that programs, and people, write where they know none."""


def days_far_off(warehouse: Warehouse) -> dict[date, int]:
    """Find the days that are far from most others: placeholders such as 9999-12-31, or slips of the pen.

    Parameters
    ----------
    warehouse
        With the log ingested, and dates in it.

    Returns
    -------
    Each day with its decisions: those more than two years from the days of most decisions that are few, or one day.
    """
    rows = warehouse.query(
        "SELECT day, sum(decisions)::BIGINT FROM days WHERE day IS NOT NULL GROUP BY day ORDER BY day"
    )
    spans: list[dict[date, int]] = []
    before = date.min
    for day, decisions in rows:
        if not spans or day - before > _GAP:
            spans.append({})
        spans[-1][day] = decisions
        before = day
    real = [span for span in spans if not _PLACEHOLDERS.issuperset(span)]
    most = max(real or spans, key=lambda span: sum(span.values()), default={})
    few = _FEW * sum(decisions for _, decisions in rows)
    alone = [span for span in spans if len(span) == 1 or (real and span not in real) or sum(span.values()) <= few]
    return {day: decisions for span in alone if span is not most for day, decisions in span.items()}


def covered_span(warehouse: Warehouse) -> tuple[date, date]:
    """Find the first and the last day that has a decision in the log, days far off left out.

    Raises
    ------
    PeriodError
        If the log has no dates.
    """
    decided_span(warehouse)
    far = [*days_far_off(warehouse)]
    ((first, last),) = warehouse.query("SELECT min(day), max(day) FROM days WHERE NOT list_contains($1, day)", [far])
    return first, last


def periods(warehouse: Warehouse, every: Every) -> list[tuple[Period, int]]:
    """Find the periods that the log has decisions in.

    Parameters
    ----------
    warehouse
        With the log ingested.
    every
        The length of a period.

    Returns
    -------
    Each period with its number of decisions, the earliest first.

    Raises
    ------
    PeriodError
        If the log has no dates, and the period is not ``all``.
    """
    if every == "all":
        ((decisions,),) = warehouse.query("SELECT coalesce(sum(decisions), 0)::BIGINT FROM days")
        return [(_periods.ALL, decisions)] if decisions else []
    decided_span(warehouse)
    rows = warehouse.query(
        "SELECT min(day), sum(decisions)::BIGINT FROM days GROUP BY date_trunc($1, day) ORDER BY 1", [every]
    )
    return [(_periods.containing(day, every), decisions) for day, decisions in rows]


def raw_values(warehouse: Warehouse, name: str, most: int | None = None) -> list[str]:
    """Find the raw values of an attribute that occur in the log, missing ones left out: all, or at most so many."""
    sql = "SELECT DISTINCT raw FROM cells WHERE name = $1 AND raw IS NOT NULL ORDER BY 1 LIMIT $2"
    return [raw for (raw,) in warehouse.query(sql, [name, most])]


def outcome_values(warehouse: Warehouse, programme: Programme) -> dict[str, list[str]]:
    """Every outcome with its raw values, the positive one first, the others in the programme's order or by name."""
    log = programme.log
    named = {name: list(raws) for name, raws in (log.outcomes or {}).items()}
    if log.outcomes is None:
        for raw in raw_values(warehouse, OUTCOME):
            named.setdefault(printable(raw), []).append(raw)
    return {log.positive: named.pop(log.positive), **named}


def raw_sql(attribute: Attribute, column: str, p: Parameters) -> str:
    """What is counted by: the log's own text, or the number of the bin."""
    if attribute.bins is None:
        return column
    cases = " ".join(f"WHEN {column} < {p.mark(edge)} THEN {i}" for i, edge in enumerate(attribute.bins))
    return f"CASE WHEN {column} IS NULL THEN NULL {cases} ELSE {len(attribute.bins)} END"


def display_sql(attribute: Attribute, cell: str, p: Parameters) -> str:
    """The display name of what :func:`raw_sql` gives."""
    if attribute.bins is not None:
        cases = " ".join(f"WHEN {cell} = {i} THEN {p.mark(name)}" for i, name in enumerate(attribute.categories))
        other = ""
    else:
        named = (attribute.values or {}).items()
        cases = " ".join(f"WHEN {cell} = {p.mark(raw)} THEN {p.mark(name)}" for raw, name in named)
        other = f"ELSE regexp_replace({cell}, {p.mark(CONTROL.pattern)}, {p.mark(printable(chr(0)))}, 'g')"
    return f"CASE WHEN {cell} IS NULL THEN {p.mark(UNKNOWN)} {cases} {other} END"


def in_period_sql(warehouse: Warehouse, period: Period, p: Parameters, day: str = "decided_on") -> str:
    """SQL of whether a decision is in a period."""
    if period.start is None or period.end is None:
        return "true"
    decided_span(warehouse)
    return f"{day} >= {p.mark(period.start)} AND {day} < {p.mark(period.end)}"


def _no_decisions(warehouse: Warehouse, period: Period) -> PeriodError:
    first, last = decided_span(warehouse)
    return PeriodError(f"the log has no decisions in {period.label}", hint=f"The log covers {first} to {last}.")
