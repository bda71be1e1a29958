"""How numbers of people and rates are printed."""

from __future__ import annotations

import numpy as np

from atr.core.arrays import FloatArray, IntArray, PublishedPopulation
from atr.core.tolerances import ZERO_CHANCE

CHANCE_DIGITS = 6
"""Announced chances are whole units of 10^-6, whatever number of digits they are printed with."""
RATE_DIGITS = 2
"""Rates are printed to the nearest percent: to more digits, that of a small group would give its exact size away."""


def published_population(people: IntArray, *, rounding: int) -> PublishedPopulation:
    """Round people to the nearest multiple of ``rounding``, halves up, and never to 0 where there is somebody.

    Parameters
    ----------
    people
        (n,) people.
    rounding
        People, at least 1.

    Returns
    -------
    (n,) people.

    Examples
    --------
    >>> published_population(np.array([0, 1, 7, 8, 12]), rounding=5)
    array([ 0,  5,  5, 10, 10])
    """
    nearest = (2 * people + rounding) // (2 * rounding) * rounding
    return PublishedPopulation(np.where(people > 0, np.maximum(nearest, rounding), 0))


def open_people(published: int, rounding: int) -> tuple[int, int]:
    """Smallest and largest number of people that is published as this one.

    Parameters
    ----------
    published
        People, a multiple of ``rounding`` above 0.
    rounding
        People, at least 1.

    Examples
    --------
    >>> open_people(10, 5), open_people(5, 5), open_people(20, 10), open_people(7, 1)
    ((8, 12), (1, 7), (15, 24), (7, 7))
    """
    return 1 if published == rounding else published - rounding // 2, published + (rounding - 1) // 2


def group_rates(counts: IntArray, offsets: IntArray) -> IntArray:
    """Give the rate of each outcome in each group, to the nearest percent.

    The rates of a group add up to 1: each is rounded down, then those with the largest rest are rounded up, the first
    of equal ones first.

    Parameters
    ----------
    counts
        (n, outcomes) people.
    offsets
        (g + 1,) where each group starts.

    Returns
    -------
    (g, outcomes) whole numbers in units of 10^-6.

    Examples
    --------
    >>> group_rates(np.array([[1, 1, 1], [2, 5, 0]]), np.array([0, 1, 2]))
    array([[340000, 330000, 330000],
           [290000, 710000,      0]])
    """
    if not len(counts):
        return counts
    with_outcome, percent = np.add.reduceat(counts, offsets[:-1]), 10**RATE_DIGITS
    whole, rest = np.divmod(with_outcome * percent, with_outcome.sum(axis=1, keepdims=True))
    rank = np.argsort(np.argsort(-rest, axis=1, kind="stable"), axis=1, kind="stable")
    raised = rank < percent - whole.sum(axis=1, keepdims=True)
    rates: IntArray = (whole + raised) * 10 ** (CHANCE_DIGITS - RATE_DIGITS)
    return rates


def stand_in(limits: FloatArray, rates: FloatArray) -> IntArray:
    """Give the chances that figures on rules are computed with where limits are told and no chances.

    The group's rates where nothing is told, else the middle of the limits.

    Parameters
    ----------
    limits
        (outcomes, 2) probability.
    rates
        (outcomes,) of the group, as printed.

    Returns
    -------
    (outcomes,) whole units of 10^-6 that add up to a probability of 1.
    """
    low, width = limits[:, 0], limits[:, 1] - limits[:, 0]
    middle = rates if (width == 1).all() else low + width * (1 - low.sum()) / max(width.sum(), ZERO_CHANCE)
    units = np.rint(middle * 10**CHANCE_DIGITS).astype(np.int64)
    units[0] += 10**CHANCE_DIGITS - units.sum()
    return np.asarray(units)
