"""The released values, drawn in DuckDB: by the row, the seed and the channel, and by nothing else."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from atr.core.arrays import IntArray, offsets_of
from atr.programme import Programme
from atr.programme.periods import Period
from atr.records.channels import Channel
from atr.records.joints import Joints, raw_columns
from atr.warehouse import counting
from atr.warehouse.connection import Parameters, Warehouse

_DIGITS, _STEPS = 13, 2**52
"""So many hexadecimal digits of a hash make a number from 0 to 1, in so many steps."""


def draw(
    warehouse: Warehouse, programme: Programme, period: Period, joints: Joints, of: Sequence[Channel], *, key: str
) -> IntArray:
    """Draw the released value of every row.

    A row that has an id is told apart by it, another by all that it says and its number among those that say the same:
    the same rows have the same draws, in whatever order and files they are, and attributes are declared.

    Parameters
    ----------
    warehouse
        With the table ``raw_cells`` that :func:`atr.records.joints.count` left.
    programme, period
        What is released.
    joints, of
        The cells, and the channel of each pool.
    key
        Secret, of the draws of the column.

    Returns
    -------
    (p, y) rows of each pool with each released value.
    """
    stays, spread = _tables(joints, of)
    connection, p = warehouse.connection, Parameters()
    connection.register("stays", stays)
    connection.register("spread", spread)
    try:
        drawn = warehouse.frame(
            f"""
            SELECT placed.pool, CASE WHEN placed.step IS NULL THEN placed.x ELSE spread.y END AS y, count(*) AS n
            FROM (
                SELECT pool, source, x, (u - stay) / (1 - stay) AS w,
                    CASE WHEN u >= stay THEN floor(w * steps) END AS step
                FROM ({_uniform(warehouse, programme, period, key, p)}) drawn JOIN stays USING (cell)) placed
            LEFT JOIN spread ON placed.source = spread.source AND placed.step = spread.step AND w >= low AND w < high
            GROUP BY ALL
            """,
            p,
        )
    finally:
        connection.unregister("stays")
        connection.unregister("spread")
    counts = np.zeros((len(of), len(joints.values)), dtype=np.int64)
    counts[drawn["pool"].to_numpy(), drawn["y"].to_numpy()] = drawn["n"].to_numpy()
    return counts


def _uniform(warehouse: Warehouse, programme: Programme, period: Period, key: str, p: Parameters) -> str:
    """SQL of a number from 0 to 1 for every decision in a pool, with its cell."""
    layout = warehouse.layout()
    raws = raw_columns(warehouse, programme, p)
    cells = " AND ".join(f"raw_cells.{name} IS NOT DISTINCT FROM {sql}" for name, sql in raws.items())
    rows = f"FROM decisions JOIN raw_cells ON {cells} WHERE {counting.in_period_sql(warehouse, period, p)}"
    if layout.id is None:
        columns = ("decided_on", "decisions.outcome", *(layout.column(name) for name in sorted(layout.attributes)))
        content = ", ".join(f"coalesce({c}::VARCHAR, chr(30))" for c in columns)
        same = (
            f"SELECT cell, concat_ws(chr(31), {content}) AS row, {layout.people.replace('people', 'decisions.people')}"
        )
        numbered = (
            f"SELECT cell, row || chr(31) || unnest(range(n::BIGINT)) AS id FROM ({same} AS n {rows} GROUP BY ALL)"
        )
        rows = f"FROM ({numbered})"
    hashed = f"sha256({p.mark(key)} || id)"
    return f"SELECT cell, ('0x' || left({hashed}, {_DIGITS}))::BIGINT / {_STEPS} AS u {rows}"


def _tables(joints: Joints, of: Sequence[Channel]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pool, the value and the chance to keep it of every cell, and where values go that are not kept.

    A Markov channel draws anew from the whole group, the value itself included; the best one from the others.
    """
    stays, spread, sources = [], [], 0
    for pool, channel in enumerate(of):
        cells = channel.cells
        x, hidden = joints.value[cells], np.unique(joints.hidden[cells], return_inverse=True)[1]
        if channel.table is None:
            source, stay = np.full(len(cells), sources), np.full(len(cells), 1 - channel.alpha)
            spread.append(_spread(np.array([sources]), channel.counts.sum(axis=0)[None] / channel.counts.sum()))
            sources += 1
        else:
            places, source = np.unique(hidden * len(joints.values) + x, return_inverse=True)
            rows = channel.table.reshape(-1, len(joints.values))[places]
            own = np.arange(len(places)), places % len(joints.values)
            kept = rows[own]
            rows[own] = 0
            moved = rows.sum(axis=1)
            some = moved > 0
            stay = np.where(some, kept, 1.0)[source]
            spread.append(_spread(sources + np.flatnonzero(some), rows[some] / moved[some, None]))
            source, sources = source + sources, sources + len(places)
        stays.append(
            pd.DataFrame(
                {"cell": cells, "pool": pool, "source": source, "x": x, "stay": stay, "steps": len(joints.values)}
            )
        )
    return pd.concat(stays, ignore_index=True), pd.concat(spread, ignore_index=True)


def _spread(sources: IntArray, chances: np.ndarray) -> pd.DataFrame:
    """From which number to which each value is drawn, of (k, y) chances; those with none are left out.

    There is a row for each of as many equal steps as there are values that the numbers are in: a join finds them by it.
    """
    steps = chances.shape[1]
    source, y = np.nonzero(chances > 0)
    high = np.cumsum(chances, axis=1)[source, y]
    new = source[1:] != source[:-1]
    low, high = np.where(np.r_[True, new], 0.0, np.r_[0.0, high[:-1]]), np.where(np.r_[new, True], 2.0, high)
    first, last = (np.floor(np.minimum(ends, 1.0) * steps).astype(np.int64) for ends in (low, high))
    row = np.repeat(np.arange(len(y)), last - first + 1)
    step = np.arange(len(row)) - offsets_of(last - first + 1)[row] + first[row]
    return pd.DataFrame({"source": sources[source[row]], "step": step, "low": low[row], "high": high[row], "y": y[row]})
