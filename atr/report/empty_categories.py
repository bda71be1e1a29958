"""Who is in no comparison: values that nobody announced has, and people whose values are not told."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, product

from atr.core.comparison_rows import Rows, joined
from atr.core.display_text import UNKNOWN
from atr.report import reader_view
from atr.report.model import ComparedBy, ComparedRow, PublicReport

LISTED = 1000
"""Combinations of listed values of an intersection, at most, for those that nobody has to be listed."""


def compared(report: PublicReport) -> tuple[ComparedBy, ...]:
    """Attributes by which people are compared, each with its empty values or combinations, and who is in which row."""
    rows = reader_view.rows(report) if report.announced_groups else {}
    return tuple(
        by.model_copy(
            update={
                "absent": tuple(_absent(report, by)),
                "rows": tuple(_joined(rows[by.attribute])) if by.attribute in rows else (),
                "left_out": rows[by.attribute].left_out if by.attribute in rows else _untold(report, by),
            }
        )
        for by in report.compared
    )


def _joined(rows: Rows) -> Iterator[ComparedRow]:
    for row in rows.rows:
        if len(row.values) > 1 or row.some or row.left_out:
            yield ComparedRow(label=joined(row.values), values=row.values, some=row.some, left_out=row.left_out)


def _untold(report: PublicReport, by: ComparedBy) -> int:
    """People of groups that do not tell a value of each attribute."""
    return sum(
        group.population or 0
        for group in report.announced_groups
        if not {*group.public, *chain(*(region.sensitive for region in group.regions))}.issuperset(by.attributes)
    )


def too_many(report: PublicReport, by: ComparedBy) -> bool:
    """Whether an intersection has more combinations of values than :data:`LISTED`: then empty ones are not listed."""
    return len(by.attributes) > 1 and math.prod(map(len, _values(report, by))) > LISTED


def _absent(report: PublicReport, by: ComparedBy) -> Iterator[str]:
    if not too_many(report, by):
        announced = {tuple(values.get(name, "") for name in by.attributes) for values, _, _ in report.announced_regions}
        if len(by.attributes) == 1:
            announced |= {(value,) for group in report.announced_groups for value in group.mixed.get(by.attribute, ())}
        yield from (joined(parts) for parts in product(*_values(report, by)) if parts not in announced)


def _values(report: PublicReport, by: ComparedBy) -> list[tuple[str, ...]]:
    """The values of each part, as the report lists them: declared or announced, and so no secret of the log.

    Those that combine to no kind of people are left out of intersections: "unknown", and coarser values.
    """
    listed = {a.name: a for a in report.attributes}
    of_parts = [listed[name] for name in by.attributes]
    if len(of_parts) == 1:
        return [of_parts[0].values]
    return [tuple(v for v in a.values if v != UNKNOWN and v not in a.coarse) for a in of_parts]
