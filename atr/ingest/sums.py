"""The sums over the rows that the warehouse keeps, file by file."""

# ruff: noqa: S608 - what is put into the SQL is made here: column names and numbers of files
from __future__ import annotations

from atr.ingest.precedence import among
from atr.warehouse.connection import Warehouse

NUMBER_ID = "regexp_full_match(id_text, '[+-]?[0-9][0-9., ''\u00a0\u202f]*')"
"""SQL of whether an id that is kept as a text may be a number as a program writes it, as in 7.0, 007 and 1,007."""
ROUNDED_ID = "regexp_full_match(id_text, '[+-]?[0-9]+([.,][0-9]+[eE][+]?|[eE][+])[0-9]+')"
"""SQL of whether an id is as in 1.00E+11, which may stand for many."""


def summarise(warehouse: Warehouse, files: frozenset[int], *, gone: frozenset[int]) -> None:
    """Make the sums of some files anew.

    Parameters
    ----------
    warehouse
        In a transaction.
    files, gone
        The numbers of the files of which a row changed, and of those that left.
    """
    connection, layout = warehouse.connection, warehouse.layout()
    for table in ("fates", "cleaned", "cells", "spelt", "days"):
        connection.execute(f"DELETE FROM {table} WHERE {among(files | gone)}")
    these = among(files)
    connection.execute(
        f"INSERT INTO fates SELECT file, meaning, n FROM (SELECT file, fate, {layout.people} AS n FROM log_rows "
        f"WHERE {these} GROUP BY ALL) JOIN meanings USING (fate)"
    )
    connection.execute(
        f"INSERT INTO cleaned SELECT file, cleaned, count(*) FROM log_rows WHERE {these} AND cleaned <> 0 GROUP BY ALL"
    )
    of_these = f"{layout.people} FROM decisions WHERE {these} GROUP BY ALL"
    connection.execute(f"INSERT INTO days SELECT file, decided_on, {of_these}")
    each = (f"SELECT file, ${i}, {column}, {of_these}" for i, column in enumerate(layout.texts.values(), start=1))
    connection.execute(f"INSERT INTO cells {' UNION ALL '.join(each)}", list(layout.texts))
    if layout.id is not None:
        connection.execute(
            f"""
            INSERT INTO spelt
            SELECT file, min(length(id_text)) FILTER ({NUMBER_ID}), max(length(id_text)) FILTER ({NUMBER_ID}),
                   bool_or({ROUNDED_ID})
            FROM decisions WHERE {these} AND id_text IS NOT NULL GROUP BY file
            """
        )
    connection.execute("DELETE FROM conflicts")
    if connection.execute("SELECT 1 FROM fates WHERE fate = 'correction' LIMIT 1").fetchone() is None:
        return
    connection.execute(
        """
        INSERT INTO conflicts
        SELECT c.file, d.file, count(DISTINCT c.id) FROM log_rows AS c JOIN decisions AS d USING (id)
        WHERE c.fate = 2 GROUP BY ALL ORDER BY ALL
        """
    )
