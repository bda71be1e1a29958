"""Versions of released records of one period: what is new in a later one, and which changes are too few to be told."""

# ruff: noqa: S608 - what is put into the SQL is made here: quoted paths
from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from atr.core.arrays import Values
from atr.core.policy import Policy
from atr.records.joints import Joints
from atr.records.model import FILES, PublicRecords
from atr.records.pools import Pools
from atr.warehouse.connection import Warehouse, quoted
from atr.warehouse.kept_releases import Kept, Wait
from atr.warehouse.versions import too_few

Counted = tuple[tuple[Values, tuple[int, ...]], ...]


class Changed(NamedTuple):
    """What is other in a version than in the one that is published: rows, totals of groups, and alphas of groups."""

    rows: int
    totals: int
    alphas: int


def changed(warehouse: Warehouse, versions: tuple[PublicRecords, PublicRecords], folders: tuple[Path, Path]) -> Changed:
    """Count what is other in a later version than in an earlier one, by their public files.

    Parameters
    ----------
    warehouse
        Its engine reads the files.
    versions, folders
        What is public of the earlier and the later version, and where their rows are.
    """
    here, there = (f"FROM read_parquet('{quoted(str(folder / FILES[1]))}')" for folder in folders)
    rows = max(version.people for version in versions)
    if versions[0].columns == versions[1].columns and versions[0].numeric == versions[1].numeric:
        one_way = (f"SELECT count(*) FROM ({a} EXCEPT ALL {b})" for a, b in ((here, there), (there, here)))
        rows = max(warehouse.query(sql)[0][0] for sql in one_way)
    totals, alphas = zip(*map(_told, versions), strict=True)
    return Changed(rows, *(sum(a.get(k) != b.get(k) for k in {*a, *b}) for a, b in (totals, alphas)))


def _told(records: PublicRecords) -> tuple[dict[Any, int], dict[Any, float]]:
    """The totals and the alphas of every group."""
    named = [(tuple(sorted(group.values.items())), group) for group in records.groups]
    totals = {
        (who, value): people
        for who, group in named
        for value, people in zip(records.values, group.totals, strict=True)
        if people
    }
    return totals, {who: group.alpha for who, group in named}


def counted(joints: Joints, pools: Pools) -> tuple[Counted, tuple[tuple[Values, Values], ...]]:
    """Give what is kept of the people of records: numbers by group, hidden values and value, and the pool of groups."""
    people, whole = defaultdict[Values, int](int), dict[Values, Values]()
    for g, h, x, pool, n in zip(
        *(of.tolist() for of in (joints.group, joints.hidden, joints.value, pools.of_cell, joints.people)), strict=True
    ):
        people[(*joints.groups[g], *joints.hiding[h], str(joints.values[x]))] += n
        if pool >= 0:
            whole[joints.groups[g]] = pools.values[pool]
    return tuple((values, (n,)) for values, n in people.items()), tuple(whole.items())


def waits(now: Kept, versions: Iterable[Kept], released: int, policy: Policy) -> tuple[Wait, ...]:
    """Find the groups of which too few people came, went or were corrected since one of the versions before.

    Parameters
    ----------
    now, versions
        What is kept of records, and of the versions of the period that were published.
    released
        So many values of those that people are counted by are of released attributes.
    policy
        Says how large groups are.
    """
    found = {}
    for before in versions:
        here, there, whole = dict(now.counted), dict(before.counted), dict(before.joined)
        cells = defaultdict[Values, list[Values]](list)
        for values in {**there, **here}:
            cells[whole.get(values[:released], values[:released])].append(values)
        for unit, members in cells.items():
            then, people = ([of.get(values, (0,))[0] for values in members] for of in (there, here))
            if then != people:
                hidden, column = (
                    np.unique([repr(part) for part in of], return_inverse=True)[1]
                    for of in ([values[released:-1] for values in members], [values[-1] for values in members])
                )
                difference = np.zeros((hidden.max() + 1, column.max() + 1), dtype=np.int64)
                np.add.at(difference, (hidden, column), np.subtract(people, then))
                if too_few(difference, policy):
                    found[unit] = Wait(values=unit, before=sum(then), now=sum(people), why="few")
    return tuple(found.values())
