"""What the log itself calls the values that a report shows, so that reports with other names can be held together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise, product
from math import inf, nan
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from atr.core.display_text import UNKNOWN
from atr.programme import Attribute, Programme
from atr.warehouse import counting
from atr.warehouse.connection import Warehouse

Interval = tuple[float | None, float | None]
"""From a number to below another; None: without end."""
Item = Annotated[str | Interval | None, Field(union_mode="left_to_right")]
"""A raw value, the numbers of a bin, or a missing value."""
RawSet = Annotated[tuple[Item, ...] | Literal["*"], Field(union_mode="left_to_right")]
"""The raw values that a report shows as one, in one order; ``*``: any, or not told."""


class RawValues(BaseModel):
    """The raw values behind every display value of a programme: by attribute, and of the outcomes."""

    model_config = ConfigDict(frozen=True)

    attributes: dict[str, dict[str, RawSet]]
    outcomes: dict[str, RawSet]

    @classmethod
    def of(cls, warehouse: Warehouse, programme: Programme) -> Self:
        """Give those of a programme and the log in its warehouse, coarser names included."""
        return cls(
            attributes={name: _shown(warehouse, name, a) for name, a in programme.attributes.items()},
            outcomes={
                name: united([tuple(raws)]) for name, raws in counting.outcome_values(warehouse, programme).items()
            },
        )

    def behind(self, attribute: str, value: str | None) -> RawSet:
        """Give the raw values behind a display value; without one, any."""
        return self.attributes[attribute].get(value, (value,)) if value else "*"


def united(sets: Iterable[RawSet]) -> RawSet:
    """Unite sets of raw values; bins that touch become one.

    >>> united([((None, 1.0), "a"), ((1.0, 4.0), None)])
    ('a', None, (None, 4.0))
    """
    items = {item for raws in sets for item in raws}
    merged: list[Interval] = []
    for low, high in sorted((item for item in items if isinstance(item, tuple)), key=_ends):
        if merged and merged[-1][1] == low and low is not None:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return (*sorted((item for item in items if not isinstance(item, tuple)), key=json.dumps), *merged)


def inside(small: RawSet, large: RawSet) -> bool:
    """Tell whether every value of one set is in another."""
    return large == "*" or (small != "*" and all(any(_within(item, other) for other in large) for item in small))


def meet(one: RawSet, other: RawSet) -> bool:
    """Tell whether two sets share a value."""
    return "*" in (one, other) or any(_touch(item, another) for item in one for another in other)


def counterparts(ones: Iterable[RawSet], others: Iterable[RawSet]) -> dict[RawSet, RawSet]:
    """Pair sets that are the same, or share values with each other and with no further one: a spelling came or went.

    >>> counterparts([("a",), ("b", "c"), ("d",)], [("a", "A"), ("b",), ("c", "d")])
    {('a',): ('a', 'A')}
    """
    some, further = dict.fromkeys(ones), dict.fromkeys(others)
    pairs = {one: one for one in some if one in further}
    sharing = [(one, other) for one, other in product(some, further) if one != "*" != other and meet(one, other)]
    times = Counter(chain.from_iterable({("one", one), ("other", other)} for one, other in sharing))
    return pairs | {one: other for one, other in sharing if times["one", one] == times["other", other] == 1}


def _within(item: Item, other: Item) -> bool:
    if not isinstance(other, tuple) or item is None:
        return item == other
    low, high = _ends(other)
    if isinstance(item, tuple):
        return low <= _ends(item)[0] and _ends(item)[1] <= high
    return low <= _number(item) < high


def _touch(item: Item, other: Item) -> bool:
    if isinstance(item, tuple) and isinstance(other, tuple):
        return max(_ends(item)[0], _ends(other)[0]) < min(_ends(item)[1], _ends(other)[1])
    return _within(item, other) or _within(other, item)


def _ends(interval: Interval) -> tuple[float, float]:
    low, high = interval
    return -inf if low is None else low, inf if high is None else high


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan


def _shown(warehouse: Warehouse, name: str, attribute: Attribute) -> dict[str, RawSet]:
    pairs: Iterable[tuple[str, Item]]
    if attribute.bins is None:
        raws = dict.fromkeys((*(attribute.values or {}), *counting.raw_values(warehouse, name)))
        pairs = [(attribute.shown(raw), raw) for raw in raws]
    else:
        pairs = zip(attribute.categories, pairwise([None, *attribute.bins, None]), strict=True)
    found: dict[str, list[Item]] = {UNKNOWN: [None]}
    for value, item in pairs:
        found.setdefault(value, []).append(item)
    sets = {value: united([tuple(items)]) for value, items in found.items()}
    return sets | (_coarse(attribute.coarser.coarser, sets) if attribute.coarser else {})


def _coarse(coarser: Mapping[str, tuple[str, ...]], sets: Mapping[str, RawSet]) -> dict[str, RawSet]:
    members: dict[str, list[RawSet]] = {}
    for value, names in coarser.items():
        for name in {*names} - {value}:
            members.setdefault(name, []).append(sets.get(value, (value,)))
    return {name: united(parts) for name, parts in members.items()}
