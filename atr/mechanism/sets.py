<<<<<<< HEAD
"""Binary groups whose protected sets part them: each set is a region of its own to the closed form."""

from __future__ import annotations

import numpy as np

from atr.fidelity import Fidelity, Ranges
from atr.groups import FloatArray, Groups


def allowed_outcomes(groups: Groups, fidelity: Fidelity, digits: int | None) -> tuple[FloatArray, FloatArray]:
    """Give the (n, outcomes) allowed range of the announced mapping, the truth always inside."""
    D = groups.decision
    if digits is None:
        return fidelity.allowed_outcomes(D)
    lower, upper = fidelity.allowed_outcomes_on_grid(D, digits=digits)
    return np.minimum(lower / 10**digits, D), np.maximum(upper / 10**digits, D)


def by_regions(groups: Groups) -> bool:
    """Tell whether groups have two outcomes and protect every region on its own."""
    return groups.decision.shape[1] == 2 and groups.sets is None


def parted(groups: Groups) -> bool:
    """Tell whether groups have two outcomes and protected sets of which every region is in exactly one."""
    sets = groups.sets
    return groups.decision.shape[1] == 2 and sets is not None and sets.split_every_group(len(groups.population))


def sets_as_regions(groups: Groups, lower: FloatArray, upper: FloatArray) -> tuple[Groups, Ranges]:
    """Make one region of every protected set: how many of its people get an outcome is all that counts.

    Parameters
    ----------
    groups
        Binary groups that are :func:`parted`.
    lower, upper
        (n, 2) allowed range of the announced mapping.

    Examples
    --------
    >>> card = Groups([12, 5, 3], [0, 0.2, 1], [0, 3], protected_sets=[[[0, 1], [2]]])
    >>> of_sets, ranges = sets_as_regions(card, card.decision, card.decision)
    >>> of_sets.population, ranges.lower.round(4)
    (array([17.,  3.]), array([0.0588, 1.    ]))
    """
    sets = groups.sets
    if sets is None:
        raise ValueError("groups without protected sets have no sets to make regions of")
    p = groups.population
    people = sets.sums(p)
    d, lo, hi = (np.clip(sets.sums(p * x[:, 1]) / people, 0, 1) for x in (groups.decision, lower, upper))
    return Groups(people, d, sets.group_offsets), Ranges(np.minimum(lo, d), np.maximum(hi, d))
=======
"""Protected sets of regions, laid out for many groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.groups import FloatArray, IntArray

Nested = Sequence[Sequence[Sequence[int]]]
Factors = Sequence[Sequence[float]]


class Sets(NamedTuple):
    """Protected sets of all groups, one after the other.

    ``members`` (k,) regions of all sets; ``starts`` (s,) where each set starts; ``group`` (s,) its group; ``factor``
    (s,) what the ceiling is multiplied by for it.
    """

    members: IntArray
    starts: IntArray
    group: IntArray
    factor: FloatArray

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Add up (n, …) values of regions within each set: (s, …)."""
        return np.add.reduceat(values[self.members], self.starts, axis=0)


def sets_of(offsets: ArrayLike, protected_sets: Nested | None, factors: Factors | None = None) -> Sets:
    """Lay out protected sets; None: every region on its own.

    Raises
    ------
    ValueError
        If there are not as many lists as groups, a set is empty or leaves its group, or factors do not fit the sets.
    """
    o = np.asarray(offsets, dtype=np.int64)
    sizes = np.diff(o)
    groups = np.arange(len(sizes))
    if protected_sets is None:
        if factors is not None:
            raise ValueError("factors need protected sets, the sets they are for")
        regions = np.arange(o[-1])
        return Sets(regions, regions, np.repeat(groups, sizes), np.ones(len(regions)))
    if len(protected_sets) != len(sizes):
        raise ValueError(f"there are protected sets of {len(protected_sets)} groups for {len(sizes)} groups")
    lengths = np.array([len(rows) for sets in protected_sets for rows in sets], dtype=np.int64)
    if not len(lengths) or (lengths == 0).any():
        raise ValueError("a protected set needs at least one region")
    group = np.repeat(groups, [len(sets) for sets in protected_sets])
    rows = np.array([row for sets in protected_sets for rows in sets for row in rows], dtype=np.int64)
    within = np.repeat(group, lengths)
    if (rows < 0).any() or (rows >= sizes[within]).any():
        raise ValueError("a protected set names a region its group does not have")
    factor = np.ones(len(group)) if factors is None else np.array([c for of_group in factors for c in of_group])
    if (factors is not None and list(map(len, factors)) != list(map(len, protected_sets))) or not (factor > 0).all():
        raise ValueError("every protected set needs one positive factor")
    return Sets(rows + o[within], np.cumsum(lengths) - lengths, group, factor)
>>>>>>> linear
