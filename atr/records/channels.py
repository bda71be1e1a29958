"""The channel of each group: α by the bounds, and what is told of what is hidden before and after. Private."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atr import sanitise
from atr.core.arrays import FloatArray, IntArray
from atr.errors import ProgrammeError
from atr.programme import Programme
from atr.records.joints import Joints, settings
from atr.records.pools import Pools
from atr.sanitise.distances import Distance
from atr.sanitise.measured import Leakage

DIGITS = 3
"""α is rounded up to so many: it is printed as it is used, and tells less of the counts that it was chosen by."""


@dataclass(frozen=True)
class Channel:
    """The channel of one pool, which depends on what is hidden.

    Parameters
    ----------
    cells
        (m,) positions of its cells among those of the joints.
    counts
        (s, x) people by hidden values and values of the column, all values of the release in order.
    least, alpha
        The smallest α that keeps the bounds in this group, not rounded, and the one that is used.
    table
        (s, x, y) P(Y|s, X); None for a Markov channel, which draws anew from the column with chance α.
    before, after
        What the column tells of what is hidden.
    loss
        The expected share of values that change.
    """

    cells: IntArray
    counts: IntArray
    least: float
    alpha: float
    table: FloatArray | None
    before: Leakage
    after: Leakage
    loss: float


def channels(joints: Joints, pools: Pools, programme: Programme) -> list[Channel]:
    """Choose the channel of every pool.

    Raises
    ------
    ProgrammeError
        If the column determines what is hidden in some group, or no α below 1 keeps the bounds in any.
    """
    of, where = settings(programme), f"{programme.path}, sanitise"
    counted = list(_counted(joints, pools))
    determined = [number for number, (_, counts) in enumerate(counted) if _determines(counts)]
    if determined:
        shared = ", ".join(filter(None, pools.values[determined[0]])) or "all people"
        raise ProgrammeError(
            f"in some group every value of '{of.column}' belongs to one value of {' and '.join(of.hide)}: it tells "
            "what is to be hidden under another name",
            where=where,
            hint="Release another column, fewer values of it (bins), or fewer groups (within: none).",
            private=f"In {len(determined):,} of {len(counted):,} groups; the first of them: {shared}.",
        )
    joint = [counts / counts.sum() for _, counts in counted]
    least = [sanitise.choose_alpha(each, **of.bounds) if of.alpha is None else of.alpha for each in joint]
    alphas = [_printed(max(least) if of.alpha_by == "release" else alpha) for alpha in least]
    if of.alpha is None and min(alphas) >= 1:
        bounds = " and ".join(f"{name} {bound:g}" for name, bound in of.bounds.items())
        raise ProgrammeError(
            f"no alpha below 1 keeps {bounds}: the column would tell nothing",
            where=where,
            hint="Raise the bound.",
        )
    distance = _distance(joints, of.distance)
    found = []
    for (cells, counts), each, smallest, alpha in zip(counted, joint, least, alphas, strict=True):
        table = sanitise.best(each, alpha, distance) if of.channel == "best" else None
        before = sanitise.leakage(each)
        after = sanitise.leakage(sanitise.linear_reduction(each, alpha=alpha))
        column = each.sum(axis=0)
        stays = 1 - alpha * (1 - column) if table is None else np.diagonal(table, axis1=1, axis2=2)
        found.append(Channel(cells, counts, smallest, alpha, table, before, after, float(1 - (each * stays).sum())))
    return found


def _printed(alpha: float) -> float:
    """Round α up: to the first number of so many digits that is not below it."""
    up = math.ceil(alpha * 10**DIGITS)
    return float(min(1, (up - ((up - 1) / 10**DIGITS >= alpha)) / 10**DIGITS))


def _counted(joints: Joints, pools: Pools) -> Iterator[tuple[IntArray, IntArray]]:
    order = np.argsort(pools.of_cell, kind="stable")
    ends = np.searchsorted(pools.of_cell[order], np.arange(len(pools.values) + 1))
    for first, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        cells = order[first:end]
        hidden = np.unique(joints.hidden[cells], return_inverse=True)[1]
        counts = np.zeros((hidden.max() + 1, len(joints.values)), dtype=np.int64)
        np.add.at(counts, (hidden, joints.value[cells]), joints.people[cells])
        yield cells, counts


def _determines(counts: IntArray) -> bool:
    """Whether each value of the column belongs to one of several hidden values."""
    return len(counts) > 1 and bool(((counts > 0).sum(axis=0) <= 1).all())


def _distance(joints: Joints, distance: Literal["hamming", "ordinal", "squared"]) -> Distance:
    """The distance by name; between numbers by how far apart they are, a missing one being as far as can be."""
    numbers = [value for value in joints.values if isinstance(value, float | int)]
    if distance == "hamming" or not numbers:
        return distance
    x = np.array(numbers, dtype=np.float64)
    apart = np.abs(np.subtract.outer(x, x))
    missing = len(joints.values) - len(numbers)
    apart = np.pad(apart, (0, missing), constant_values=max(float(apart.max()), 1.0))
    np.fill_diagonal(apart, 0)
    return apart if distance == "ordinal" else apart**2
