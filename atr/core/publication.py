"""How numbers of people and rates are printed."""

from __future__ import annotations

import numpy as np

from atr.core.arrays import IntArray, PublishedPopulation

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


def flat_digits(digits: int) -> int:
    """Decimals of the chances of a flattened group: at most those of a printed rate, so that nothing more is told."""
    return min(digits, RATE_DIGITS)


def group_rates(counts: IntArray, offsets: IntArray, *, digits: int) -> IntArray:
    """Give the rate of each outcome in each group, rounded as the chances of a flattened group are.

    The rates of a group add up to 1: each is rounded down, then those with the largest rest are rounded up, the first
    of equal ones first.

    Parameters
    ----------
    counts
        (n, outcomes) people.
    offsets
        (g + 1,) where each group starts.
    digits
        Decimal digits of announced chances.

    Returns
    -------
    (g, outcomes) whole numbers in units of 10^-digits, multiples of a unit of :func:`flat_digits`.

    Examples
    --------
    >>> group_rates(np.array([[1, 1, 1], [2, 5, 0]]), np.array([0, 1, 2]), digits=3)
    array([[340, 330, 330],
           [290, 710,   0]])
    """
    unit = 10 ** flat_digits(digits)
    with_outcome = np.add.reduceat(counts, offsets[:-1])
    whole, rest = np.divmod(with_outcome * unit, with_outcome.sum(axis=1, keepdims=True))
    rank = np.argsort(np.argsort(-rest, axis=1, kind="stable"), axis=1, kind="stable")
    rates: IntArray = (whole + (rank < unit - whole.sum(axis=1, keepdims=True))) * (10**digits // unit)
    return rates
