"""Who is in which row of a comparison by one attribute where values meet in rest groups; from printed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from atr.core.announcement import Announcement
from atr.core.arrays import Values
from atr.core.display_text import ANY

FEW = 10
"""A value with more than so many times the people of a mixed group, in groups of its own, stays a row of its own."""


@dataclass(frozen=True)
class Row:
    """People who are compared as one.

    Parameters
    ----------
    values
        The values of the attribute that everybody of the announced groups with them is in this row for.
    some
        Values of which some people are in it, those that meet the others in a mixed group; the rest have their own row.
    left_out
        How many people of mixed groups, some of them with these values, are not in it.
    """

    values: Values
    some: Values = ()
    left_out: int = 0


@dataclass(frozen=True)
class Rows:
    """The rows of an attribute.

    Parameters
    ----------
    of_groups
        (g,) the number of each group's row; -1 where it is in none.
    rows
        Each row, by the order of its first value.
    left_out
        How many people, of those whose values of the attribute meet, are in no row.
    """

    of_groups: tuple[int, ...]
    rows: tuple[Row, ...]
    left_out: int = 0

    @property
    def labels(self) -> Values:
        """(g,) what the row of each group is called; :data:`ANY` where it is in none."""
        return tuple(ANY if row < 0 else label(self.rows[row].values) for row in self.of_groups)

    def called(self, value: str) -> str:
        """What the row of a value is called; the value itself where it has none."""
        return next((label(row.values) for row in self.rows if value in row.values), value)


def label(values: Sequence[str]) -> str:
    """Join several values into one text; those with a comma or quotation mark are quoted as in CSV.

    >>> label(("African-American", "Female")), label(("a, b", "c")), label(("a, b",))
    ('African-American, Female', '"a, b", c', 'a, b')
    """
    if len(values) == 1:
        return values[0]
    return ", ".join('"' + v.replace('"', '""') + '"' if {",", '"'} & {*v} else v for v in values)


def rows_by(announcement: Announcement, public: Sequence[str], orders: Mapping[str, Sequence[str]]) -> dict[str, Rows]:
    """Decide who is in which row of the comparisons by some public attributes.

    Parameters
    ----------
    announcement
        The announced groups.
    public
        Names of all public attributes, in their order.
    orders
        The attributes that people are compared by, with their values in the order of reports.
    """
    people = announcement.group_people.tolist()
    return {
        name: rows(
            [values[public.index(name)] for values in announcement.group_values],
            [mixed.get(name, ()) for mixed in announcement.mixed],
            people,
            order,
        )
        for name, order in orders.items()
    }


@dataclass
class _Union:
    values: set[str] = field(default_factory=set)
    some: set[str] = field(default_factory=set)
    groups: set[int] = field(default_factory=set)


def rows(values: Sequence[str], mixed: Sequence[Values], people: Sequence[int], order: Sequence[str]) -> Rows:
    """Decide who is in which row.

    Values that meet in a mixed group form one row, with it and all groups of their own. A value with more than
    :data:`FEW` times its people in groups of its own keeps a row without the mixed group, which says how many it leaves
    out; where all but one do, the mixed group is in no row, for a row of one value would not be of that value. Where
    all would be one row, and values have groups of their own, mixed groups are in no row either, so that these can be
    compared.

    Parameters
    ----------
    values
        (g,) the value of each group, :data:`ANY` where its people do not share one or none is told.
    mixed
        (g,) the values that meet in each group without a shared one; empty where that is not told.
    people
        (g,) as printed.
    order
        All values, in the order of reports.

    Examples
    --------
    >>> found = rows(["a", "b", "c", ""], [(), (), (), ("a", "b", "c")], [2000, 60, 90, 80], ["a", "b", "c"])
    >>> found.of_groups
    (0, 1, 1, 1)
    >>> found.rows[1]
    Row(values=('b', 'c'), some=('a',), left_out=0)
    """
    own: dict[str, int] = {}
    for value, n in zip(values, people, strict=True):
        if value != ANY:
            own[value] = own.get(value, 0) + n
    found = _rows(values, mixed, people, order, own, few=FEW)
    return found if len(found.rows) > 1 or len(own) < 2 else _rows(values, mixed, people, order, own, few=None)


def _rows(
    values: Sequence[str],
    mixed: Sequence[Values],
    people: Sequence[int],
    order: Sequence[str],
    own: dict[str, int],
    *,
    few: int | None,
) -> Rows:
    """As :func:`rows`, from how many people have each value in groups of its own; no mixed group has a row for None."""
    unions = {value: _Union({value}) for value in own}
    aside: dict[str, int] = {}
    unplaced = 0
    for group, meeting in enumerate(mixed):
        if not meeting:
            continue
        alone = [value for value in meeting if few is None or own.get(value, 0) > few * people[group]]
        joining = [value for value in meeting if value not in alone]
        if len(joining) < 2:
            alone, joining = [*meeting], []
            unplaced += people[group]
        for value in alone:
            aside[value] = aside.get(value, 0) + people[group]
        if not joining:
            continue
        union = unions.setdefault(joining[0], _Union({joining[0]}))
        union.groups.add(group)
        union.some |= set(alone)
        for value in joining[1:]:
            other = unions.get(value, _Union({value}))
            if other is not union:
                union.values |= other.values
                union.some |= other.some
                union.groups |= other.groups
            unions |= dict.fromkeys(union.values, union)
    place = {value: i for i, value in enumerate(order)}

    def in_order(some: set[str]) -> Values:
        return tuple(sorted(some, key=lambda value: (place.get(value, len(place)), value)))

    found = list({in_order(union.values): union for union in unions.values()}.items())
    found.sort(key=lambda item: (place.get(item[0][0], len(place)), item[0]))
    number = {value: i for i, (of, _) in enumerate(found) for value in of}
    number_of_mixed = {group: i for i, (_, union) in enumerate(found) for group in union.groups}
    return Rows(
        of_groups=tuple(
            number.get(value, -1) if value != ANY else number_of_mixed.get(g, -1) for g, value in enumerate(values)
        ),
        rows=tuple(
            Row(of, in_order(union.some - union.values), _left_out(of, union, aside, people, mixed))
            for of, union in found
        ),
        left_out=unplaced,
    )


def _left_out(
    values: Values, union: _Union, aside: dict[str, int], people: Sequence[int], mixed: Sequence[Values]
) -> int:
    """People of mixed groups that some of the values meet others in, and that are not in the row."""
    if not any(value in aside for value in values):
        return 0
    return sum(
        n
        for group, (n, meeting) in enumerate(zip(people, mixed, strict=True))
        if group not in union.groups and not {*values}.isdisjoint(meeting)
    )
