"""Who is compared with whom: attributes and intersections, their references, and the rows of values that meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from atr.core.announcement import Announcement
from atr.core.comparison_rows import Rows, joined, rows_by
from atr.measures import group_fairness as fairness
from atr.programme import Programme
from atr.report import model


def rows_of(announcement: Announcement, programme: Programme) -> dict[str, Rows]:
    """Who is in which row of the comparisons by each protected public attribute."""
    public = programme.names(role="public")
    orders = {}
    for name in programme.names(protected=True):
        if name in public:
            met = (value for mixed in announcement.mixed for value in mixed.get(name, ()))
            values = (values[public.index(name)] for values in announcement.group_values)
            orders[name] = programme.attributes[name].in_order((*values, *met))
    return rows_by(announcement, public, orders)


def compared_by(programme: Programme) -> list[fairness.GroupingSpec]:
    """Attributes by which people are compared: the protected ones, then the declared intersections.

    The reference of an intersection is the people with the named reference of each of its attributes, if all name one.
    Otherwise it is the largest group if one of its attributes says so, else the group with the highest rate.
    """
    found = []
    for names in (*((name,) for name in programme.names(protected=True)), *programme.fairness.intersections):
        attributes = [programme.attributes[name] for name in names]
        named = [a.named_reference for a in attributes if a.named_reference is not None]
        found.append(
            fairness.GroupingSpec(
                names,
                joined(named) if len(named) == len(names) else None,
                "largest" if "largest" in {a.reference_rule for a in attributes} else "highest",
            )
        )
    return found


def compared(
    comparisons: Sequence[fairness.Comparison], announcement: Announcement, programme: Programme
) -> Iterator[model.ComparedBy]:
    """Attributes by which people are compared, as printed."""
    references = {of.by: of.reference for of in comparisons if not of.condition}
    rows = rows_of(announcement, programme)
    for by in compared_by(programme):
        reference, named = references.get(by), by.named
        if named is not None and by.name in rows:
            named = rows[by.name].called(named)
        yield model.ComparedBy(
            attribute=by.name,
            attributes=by.attributes,
            reference=reference,
            chosen=None if reference is None else "named" if reference == named else by.rule,
        )
