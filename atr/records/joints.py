"""How many people have each value of the released column and of what is hidden, group by group. Private."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from atr.core.arrays import IntArray, Values
from atr.errors import ProgrammeError
from atr.programme import Programme, ReleasedRecords
from atr.programme.periods import Period
from atr.records.model import Value
from atr.warehouse import counting
from atr.warehouse.connection import Parameters, Warehouse

MOST_VALUES = 1000
"""More values make no channel that could be looked at, and groups in which they single people out."""


@dataclass(frozen=True)
class Joints:
    """People by group, hidden values and value of the column, as counted in the log.

    Parameters
    ----------
    released, values
        Names of the attributes of the file, and the values of the column, in the order of reports.
    groups
        (g,) values of the released attributes.
    group, hidden, value, people
        (n,) of each cell: the positions of its group, its hidden values and its value, and its people. The cells are
        those of the table ``raw_cells`` of the warehouse, in its order.
    hiding
        (h,) the hidden values at each position.
    """

    released: tuple[str, ...]
    values: tuple[Value, ...]
    groups: tuple[Values, ...]
    group: IntArray
    hidden: IntArray
    value: IntArray
    people: IntArray
    hiding: tuple[Values, ...]


def settings(programme: Programme) -> ReleasedRecords:
    """Give what a programme releases.

    Raises
    ------
    ProgrammeError
        If it releases no records.
    """
    if programme.sanitise is None:
        raise ProgrammeError(
            "releases no records: it has no part `sanitise`",
            where=str(programme.path),
            hint="As in sanitise: {column: …, hide: […], max_log_lift: 0.5}.",
        )
    return programme.sanitise


def released_attributes(programme: Programme) -> tuple[str, ...]:
    """Give the public attributes that released rows have: none that is hidden."""
    of = settings(programme)
    names = programme.names(role="public") if of.within == "public" else ()
    return tuple(name for name in names if name not in of.hide and name != of.column)


def not_covered(programme: Programme) -> tuple[str, ...]:
    """Give the sensitive attributes of which nothing is promised: neither released nor hidden."""
    of = settings(programme)
    return tuple(name for name in programme.names(role="sensitive") if name not in (of.column, *of.hide))


def count(warehouse: Warehouse, programme: Programme, period: Period) -> Joints:
    """Count people by group, hidden values and value of the column, and leave the table ``raw_cells`` of them.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme
        What is released and hidden; bins and display names are applied as in reports.
    period
        Half-open range of days.

    Raises
    ------
    ProgrammeError
        If the column has too many values.
    """
    of, released, p = settings(programme), released_attributes(programme), Parameters()
    raws = raw_columns(warehouse, programme, p)
    warehouse.query(
        f"""
        CREATE OR REPLACE TEMP TABLE raw_cells AS
        SELECT (row_number() OVER () - 1)::INTEGER AS cell, * FROM (
            SELECT {", ".join(f"{sql} AS {name}" for name, sql in raws.items())},
                {warehouse.layout().people}::BIGINT AS people
            FROM decisions WHERE {counting.in_period_sql(warehouse, period, p)} GROUP BY ALL)
        """,
        p,
    )
    p, names = Parameters(), (*released, *of.hide)
    shown = [counting.display_sql(programme.attributes[n], f"r{i}", p) + f" AS v{i}" for i, n in enumerate(names)]
    column = _column(warehouse, programme, p)
    cells = warehouse.frame(f"SELECT {', '.join([*shown, column])}, people FROM raw_cells ORDER BY cell", p)
    values = _values(warehouse, programme, cells["x"])
    place = {value: i for i, value in enumerate(values)}
    columns = [f"v{i}" for i in range(len(names))]
    group, groups = _numbered(cells, columns[: len(released)])
    order = sorted(range(len(groups)), key=_places(programme, released, groups).__getitem__)
    rank = np.empty(len(groups), dtype=np.int64)
    rank[order] = np.arange(len(groups))
    hidden, hiding = _numbered(cells, columns[len(released) :])
    return Joints(
        released=released,
        values=values,
        groups=tuple(groups[g] for g in order),
        group=rank[group],
        hidden=hidden,
        value=cells["x"].map(lambda x: place[None if x != x else x]).to_numpy(np.int64),
        people=cells["people"].to_numpy(np.int64),
        hiding=tuple(hiding),
    )


def raw_columns(warehouse: Warehouse, programme: Programme, p: Parameters) -> dict[str, str]:
    """SQL of what released and hidden attributes and the column (``x``) are counted by, by the names it has there."""
    of, layout = settings(programme), warehouse.layout()
    names = (*released_attributes(programme), *of.hide)
    raws = {
        f"r{i}": counting.raw_sql(programme.attributes[name], layout.column(name), p) for i, name in enumerate(names)
    }
    if of.column not in programme.attributes:
        return raws | {"x": "outcome"}
    column = layout.column(of.column)
    return raws | {"x": column if of.numeric else counting.raw_sql(programme.attributes[of.column], column, p)}


def _column(warehouse: Warehouse, programme: Programme, p: Parameters) -> str:
    of = settings(programme)
    if of.numeric:
        return "x"
    if of.column in programme.attributes:
        return counting.display_sql(programme.attributes[of.column], "x", p) + " AS x"
    outcomes = counting.outcome_values(warehouse, programme).items()
    return f"CASE {' '.join(f'WHEN x IN ({p.marks(raws)}) THEN {p.mark(name)}' for name, raws in outcomes)} END AS x"


def _values(warehouse: Warehouse, programme: Programme, found: pd.Series) -> tuple[Value, ...]:
    """The values of the column that occur, in order."""
    of, occur = settings(programme), set(found.dropna().unique().tolist())
    where = f"{programme.path}, sanitise.column"
    if len(occur) > MOST_VALUES:
        raise ProgrammeError(
            f"'{of.column}' has {len(occur):,} values; a released column has at most {MOST_VALUES:,}",
            where=where,
            hint="Give it bins and say numeric: false, or values that several share.",
        )
    if of.numeric:
        return (*sorted(occur), *((None,) if found.isna().any() else ()))
    if of.column not in programme.attributes:
        return tuple(name for name in counting.outcome_values(warehouse, programme) if name in occur)
    return tuple(programme.attributes[of.column].in_order(occur))


def _numbered(cells: pd.DataFrame, columns: list[str]) -> tuple[IntArray, list[Values]]:
    """The position of each cell's values among those that occur, and these."""
    if not columns:
        return np.zeros(len(cells), dtype=np.int64), [()]
    number = cells.groupby(columns, sort=False).ngroup().to_numpy(np.int64)
    first = np.unique(number, return_index=True)[1]
    return np.asarray(number, dtype=np.int64), [*cells[columns].iloc[first].itertuples(index=False, name=None)]


def _places(programme: Programme, names: Iterable[str], groups: list[Values]) -> list[tuple[int, ...]]:
    """Where each group stands by the order of values."""
    columns = []
    for name, column in zip(names, zip(*groups, strict=True), strict=True):
        place = {value: i for i, value in enumerate(programme.attributes[name].in_order(column))}
        columns.append([place[value] for value in column])
    return [*zip(*columns, strict=True)] or [()] * len(groups)
