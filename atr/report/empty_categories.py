"""Values, and combinations of values, that people could be compared by but that nobody announced has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from atr.core.display_text import UNKNOWN
from atr.measures.group_fairness import joined
from atr.report.model import ComparedBy, PublicReport

LISTED = 1000
"""Combinations of listed values of an intersection, at most, for those that nobody has to be listed."""


def compared(report: PublicReport) -> tuple[ComparedBy, ...]:
    """Attributes by which people are compared, each with the values or combinations that nobody announced has."""
    return tuple(by.model_copy(update={"absent": tuple(_absent(report, by))}) for by in report.compared)


def too_many(report: PublicReport, by: ComparedBy) -> bool:
    """Whether an intersection has more combinations of values than :data:`LISTED`: then empty ones are not listed."""
    return len(by.attributes) > 1 and math.prod(map(len, _values(report, by))) > LISTED


def _absent(report: PublicReport, by: ComparedBy) -> Iterator[str]:
    if not too_many(report, by):
        announced = {tuple(values.get(name, "") for name in by.attributes) for values, _, _ in report.announced_regions}
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
