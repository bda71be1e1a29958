"""What people could be compared by, and nobody announced is: values that are listed, and combinations of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from atr.fairness import joined
from atr.report.model import ComparedBy, PublicReport
from atr.shown import UNKNOWN


def compared(report: PublicReport) -> tuple[ComparedBy, ...]:
    """What people are compared by, each with the values, or combinations of values, that nobody announced has."""
    return tuple(by.model_copy(update={"absent": tuple(_absent(report, by))}) for by in report.compared)


def count(report: PublicReport, by: ComparedBy) -> int:
    """How many those are, without listing them: a product of long lists can be longer than memory."""
    values = _values(report, by)
    some = {parts for parts in _announced(report, by) if all(v in of for v, of in zip(parts, values, strict=True))}
    return math.prod(map(len, values)) - len(some)


def _absent(report: PublicReport, by: ComparedBy) -> Iterator[str]:
    announced = _announced(report, by)
    return (joined(parts) for parts in product(*_values(report, by)) if parts not in announced)


def _announced(report: PublicReport, by: ComparedBy) -> set[tuple[str, ...]]:
    regions = (group.public | region.sensitive for group in report.announced_groups for region in group.regions)
    return {tuple(values.get(name, "") for name in by.attributes) for values in regions}


def _values(report: PublicReport, by: ComparedBy) -> list[tuple[str, ...]]:
    """The values of each part, as the report lists them: declared or announced, and so no secret of the log.

    Those that combine to no kind of people are left out of intersections: "unknown", and coarser values.
    """
    listed = {a.name: a for a in report.attributes}
    of_parts = [listed[name] for name in by.attributes]
    if len(of_parts) == 1:
        return [of_parts[0].values]
    return [tuple(v for v in a.values if v != UNKNOWN and v not in a.coarse) for a in of_parts]
