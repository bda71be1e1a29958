"""Binary groups whose protected sets part them: each set is a region of its own to the closed form."""

from __future__ import annotations

import numpy as np

from atr.core.fidelity import Fidelity, Ranges
from atr.core.groups import FloatArray, Groups


def allowed_outcomes(groups: Groups, fidelity: Fidelity, digits: int | None) -> tuple[FloatArray, FloatArray]:
    """Give the (n, outcomes) allowed range of the announced mapping, the truth always inside."""
    D = groups.decision
    if digits is None:
        return fidelity.allowed_outcomes(D)
    lower, upper = fidelity.allowed_outcomes_on_grid(D, digits=digits)
    return np.minimum(lower / 10**digits, D), np.maximum(upper / 10**digits, D)


def by_regions(groups: Groups) -> bool:
    """Tell whether groups have two outcomes, protect every region on its own and keep the rates of its people."""
    return groups.outcomes == 2 and groups.sets is None and groups.rate_weights is None


def parted(groups: Groups) -> bool:
    """Tell whether groups have two outcomes and protected sets of which every region is in exactly one.

    Not where the rates of other people than theirs are kept: then more counts than how many of a set get an outcome.
    """
    sets = groups.sets
    if groups.outcomes != 2 or sets is None or groups.rate_weights is not None:
        return False
    return sets.split_every_group(len(groups.population))


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
