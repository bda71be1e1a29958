"""How numbers of people and rates are printed."""

from __future__ import annotations

import numpy as np

from atr.core.arrays import FloatArray, IntArray, PublishedPopulation, segment_of
from atr.core.tolerances import ROUNDING_NOISE, ZERO_CHANCE

CHANCE_DIGITS = 6
"""Announced chances are whole units of 10^-6, whatever number of digits they are printed with."""
RATE_DIGITS = 2
"""Rates are printed to the nearest percent: to more digits, that of a small group would give its exact size away."""


def rounded_total(people: IntArray, *, rounding: int) -> IntArray:
    """Round numbers of people, each for itself, to the nearest multiple; halves up, never to 0 where there is somebody.

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
    >>> rounded_total(np.array([0, 1, 7, 8, 12]), rounding=5)
    array([ 0,  5,  5, 10, 10])
    """
    nearest = (2 * people + rounding) // (2 * rounding) * rounding
    return np.where(people > 0, np.maximum(nearest, rounding), 0)


def open_total(printed: int, rounding: int) -> tuple[int, int]:
    """Smallest and largest number of people that :func:`rounded_total` rounds to this one.

    Parameters
    ----------
    printed
        People, a multiple of ``rounding``.
    rounding
        People, at least 1.

    Examples
    --------
    >>> open_total(10, 5), open_total(5, 5), open_total(20, 10), open_total(7, 1), open_total(0, 5)
    ((8, 12), (1, 7), (15, 24), (7, 7), (0, 0))
    """
    if printed == 0:
        return 0, 0
    return 1 if printed == rounding else printed - rounding // 2, printed + (rounding - 1) // 2


def published_population(people: IntArray, offsets: IntArray, *, rounding: int) -> PublishedPopulation:
    """Give the people of regions as printed, so that they add up to their group's :func:`rounded_total`.

    A region of fewer people than ``rounding`` is printed as "under" it. The others of its group are rounded down or
    up, those with the largest remainder up, the first of equal ones first, so that their sum is the nearest multiple of
    their true one. What they lack to the group's number lies between 0 and ``rounding`` a region that is under it.

    Parameters
    ----------
    people
        (n,) people, at least 1.
    offsets
        (g + 1,) where each group starts.
    rounding
        People, at least 1.

    Returns
    -------
    (n,) people; ``rounding // 2``, the number to calculate with, stands for "under ``rounding``".

    Examples
    --------
    >>> published_population(np.array([7, 7, 7, 3, 12, 11]), np.array([0, 4, 6]), rounding=5)
    array([10,  5,  5,  2, 15, 10])
    """
    group = segment_of(offsets)
    few = people < rounding
    down, rest = np.where(few, 0, people // rounding), np.where(few, 0, people % rounding)
    raised = (2 * np.bincount(group, rest, len(offsets) - 1) + rounding) // (2 * rounding)
    order = np.lexsort((-rest, group))
    rank = np.empty(len(people), dtype=np.int64)
    rank[order] = np.arange(len(people)) - offsets[:-1][group]
    return PublishedPopulation(np.where(few, rounding // 2, (down + (rank < raised[group])) * rounding))


def open_people(
    published: IntArray, totals: IntArray, offsets: IntArray, *, rounding: int
) -> tuple[IntArray, IntArray]:
    """Give the smallest and largest numbers of people that regions with these printed numbers can have.

    Parameters
    ----------
    published
        (n,) people, as :func:`published_population` gives them.
    totals
        (g,) people of each group as printed.
    offsets
        (g + 1,) where each group starts.
    rounding
        People, at least 1.

    Returns
    -------
    (n,) people at least and at most.

    Examples
    --------
    >>> open_people(np.array([10, 2, 40]), np.array([10, 40]), np.array([0, 2, 3]), rounding=5)
    (array([ 6,  1, 38]), array([11,  4, 42]))
    """
    group, few = segment_of(offsets), published < rounding
    least = np.where(few, 1, np.maximum(published - rounding + 1, rounding))
    most = np.where(few, rounding - 1, published + rounding - 1)
    of_group = np.array([open_total(total, rounding) for total in totals.tolist()], dtype=np.int64).reshape(-1, 2)
    fewest, highest = (np.add.reduceat(of, offsets[:-1])[group] if len(of) else of for of in (least, most))
    return (
        np.maximum(least, of_group[group, 0] - (highest - most)),
        np.minimum(most, of_group[group, 1] - (fewest - least)),
    )


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
    return np.asarray(raised_by_rest(whole, rest, percent) * 10 ** (CHANCE_DIGITS - RATE_DIGITS))


def raised_by_rest(whole: IntArray, rest: FloatArray, total: int) -> IntArray:
    """Raise as many of (n, outcomes) whole numbers by 1 as make each row add up to a total.

    Those with the largest rest, the first of equal ones first.

    >>> raised_by_rest(np.array([[33, 33, 33]]), np.array([[0.2, 0.4, 0.4]]), 100)
    array([[33, 34, 33]])
    """
    rank = np.argsort(np.argsort(-rest, axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(whole + (rank < total - whole.sum(axis=1, keepdims=True)))


def printed_rates(rates: FloatArray) -> FloatArray:
    """Round (outcomes,) rates to the nearest percent, halves up; the second of two is what the first leaves.

    >>> printed_rates(np.array([0.125, 0.875])), printed_rates(np.array([0.125, 0.25, 0.625]))
    (array([0.13, 0.87]), array([0.13, 0.25, 0.63]))
    """
    percent = np.floor(rates * 10**RATE_DIGITS + 0.5 + ROUNDING_NOISE)
    if len(percent) == 2:
        percent[1] = 10**RATE_DIGITS - percent[0]
    return np.asarray(percent / 10**RATE_DIGITS)


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
