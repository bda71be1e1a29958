"""Who is in which row of a comparison by one attribute where values meet in rest groups; from printed numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

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

    @cached_property
    def labels(self) -> Values:
        """(g,) what the row of each group is called; :data:`ANY` where it is in none."""
        return tuple(ANY if row < 0 else joined(self.rows[row].values) for row in self.of_groups)

    def called(self, value: str) -> str:
        """What the row of a value is called; the value itself where it has none."""
        return next((joined(row.values) for row in self.rows if value in row.values), value)


def joined(values: Sequence[str]) -> str:
    """Join several values into one text; those with a comma or quotation mark are quoted as in CSV.

    >>> joined(("African-American", "Female")), joined(("a, b", "c")), joined(("a, b",))
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
    own: Counter[str] = Counter()
    for value, n in zip(values, people, strict=True):
        if value != ANY:
            own[value] += n
    small = [[v for v in met if own[v] <= FEW * n] for met, n in zip(mixed, people, strict=True)]
    found = _rows(values, mixed, people, order, [of if len(of) > 1 else [] for of in small])
    return found if len(found.rows) > 1 or len(own) < 2 else _rows(values, mixed, people, order, [[] for _ in mixed])


def _rows(
    values: Sequence[str],
    mixed: Sequence[Values],
    people: Sequence[int],
    order: Sequence[str],
    joining: Sequence[Sequence[str]],
) -> Rows:
    """As :func:`rows`, from the values that each mixed group joins in one row, with it."""
    place = {value: i for i, value in enumerate(order)}
    named = {*values, *chain(*joining)} - {ANY}
    names = sorted(named, key=lambda value: (place.get(value, len(place)), value))
    first_of = {value: value for value in names}
    for together in joining:
        firsts = {first_of[value] for value in together}
        if len(firsts) < 2:
            continue
        first = min(firsts, key=names.index)
        first_of = {value: first if of in firsts else of for value, of in first_of.items()}
    number = {first: i for i, first in enumerate(dict.fromkeys(first_of.values()))}
    row_of = {value: number[first] for value, first in first_of.items()}
    of_groups = [
        row_of.get(value, row_of[together[0]] if together else -1)
        for value, together in zip(values, joining, strict=True)
    ]
    of_row, met, outside = defaultdict[int, list[str]](list), defaultdict[int, set[str]](set), Counter[int]()
    for value in names:
        of_row[row_of[value]].append(value)
    for n, meet, of in zip(people, mixed, of_groups, strict=True):
        met[of].update(meet)
        outside.update(dict.fromkeys({row_of[value] for value in meet if value in row_of} - {of}, n))
    found = []
    for row in number.values():
        some = met[row] - {*of_row[row]}
        found.append(Row(tuple(of_row[row]), tuple(filter(some.__contains__, names)) if some else (), outside[row]))
    unplaced = sum(n for n, met, together in zip(people, mixed, joining, strict=True) if met and not together)
    return Rows(tuple(of_groups), tuple(found), unplaced)
