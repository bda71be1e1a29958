"""How sure a reader can be of a sensitive value, given the announced mapping."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.core.arrays import BoolArray, FloatArray
from atr.core.groups import Groups
from atr.core.protected import ProtectedSets


def maximum_confidence(groups: Groups, decision: ArrayLike) -> FloatArray:
    """Give the largest posterior of any protected set of each group for a reader who takes a mapping at face value.

    The reader knows the public attributes, the outcome and the populations. With the true decisions this is
    the maximum posterior confidence C*, with announced ones the confidence the report gives. Where sets have
    factors, a set's confidence is divided by its factor: holding the result to β holds the set to β times its factor.

    Parameters
    ----------
    groups
        The regions, their populations and the protected sets.
    decision
        (n, outcomes) probability.

    Returns
    -------
    (g,) probability. An outcome nobody gets counts as 0.

    Raises
    ------
    ValueError
        If the mapping does not fit the regions.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 3 and 4.

    Examples
    --------
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> maximum_confidence(card, card.decision).round(3)
    array([1.  , 0.72])
    """
    D = np.asarray(decision, dtype=np.float64)
    if D.ndim != 2 or len(D) != len(groups.population):
        raise ValueError(f"the mapping must have one row for each of the {len(groups.population)} regions")
    people = groups.population[:, None] * D
    largest, total = _largest(groups, people), groups.sums(people)
    shares = np.divide(largest, total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(shares.max(axis=1))


def privacy_limit(groups: Groups) -> FloatArray:
    """Give β_min of each group: the confidence of a reader who knows the populations and no report.

    Parameters
    ----------
    groups
        The regions, their populations and the protected sets; decisions are not looked at.

    Returns
    -------
    (g,) probability: the largest share of any protected set, divided by the set's factor.

    References
    ----------
    The optimal privacy of Chen, Golubchik, Pal (Theorem 1) can never be below it.

    Examples
    --------
    >>> privacy_limit(Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6]))
    array([0.6 , 0.45])
    """
    return np.asarray(_largest(groups, groups.population) / groups.sums(groups.population))


def exact_shares(
    population: ArrayLike,
    announced: ArrayLike,
    *,
    digits: int,
    offsets: ArrayLike | None = None,
    sets: ProtectedSets | None = None,
    chosen: BoolArray | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give, per group and outcome, the largest protected set's people and all people, times 10^digits, as integers.

    Their quotient is the confidence a reader gets from that outcome, without any rounding. Where sets have
    factors, it is that of the set with the largest confidence divided by its factor, and so divided.

    Parameters
    ----------
    population
        (n,) people, whole numbers.
    announced
        (n, outcomes) announced mapping in whole units of 10^-digits.
    digits
        Decimals of the announced numbers.
    offsets
        (g + 1,) positions of the groups; None: all regions are one group.
    sets
        The protected sets, as :attr:`Groups.sets`; None: every region on its own.
    chosen
        (v,) look at these of the sets only, a group without any having confidence 0; None: at all of them.

    Returns
    -------
    Numerators and denominators, (g, outcomes) each. An outcome nobody gets has 0 and 0.

    Raises
    ------
    ValueError
        If populations or announced numbers are not whole or out of range, or a region's do not sum to one.

    Examples
    --------
    >>> exact_shares([12, 5, 3], [[100, 900], [20, 980], [900, 100]], digits=3)
    (array([[ 2700, 10800]]), array([[ 4000, 16000]]))
    """
    p, x, scale = np.asarray(population), np.asarray(announced), 10**digits
    groups = np.array([0, len(p)]) if offsets is None else np.asarray(offsets)
    fit = x.ndim == 2 and x.shape[:1] == p.shape and x.shape[1] > 1
    for name, array, fits in (("population", p, p.ndim == 1), ("announced", x, fit)):
        if not fits or not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"{name} must be whole numbers, one for each region")
    if (x < 0).any() or (x > scale).any():
        raise ValueError(f"announced must lie between 0 and {scale}")
    if (x.sum(axis=1) != scale).any():
        raise ValueError(f"the announced numbers of every region must sum to {scale}")
    if float(p.max()) * scale * len(p) >= 2.0**62:
        p, x = p.astype(object), x.astype(object)
    people = p[:, None] * x
    most, whole = (sets or ProtectedSets.regions(groups)).most(people, chosen)
    return most, np.add.reduceat(people, groups[:-1]).astype(most.dtype) * whole


def exact_confidence(
    population: ArrayLike,
    announced: ArrayLike,
    *,
    digits: int,
    offsets: ArrayLike | None = None,
    sets: ProtectedSets | None = None,
    chosen: BoolArray | None = None,
) -> list[Fraction]:
    """Give the maximum confidence of each group as an exact fraction, for statements that are published.

    Parameters
    ----------
    population
        (n,) people, whole numbers.
    announced
        (n, outcomes) announced mapping in whole units of 10^-digits.
    digits
        Decimals of the announced numbers.
    offsets
        (g + 1,) positions of the groups; None: all regions are one group.
    sets
        The protected sets, as :attr:`Groups.sets`; None: every region on its own.
    chosen
        (v,) look at these of the sets only, a group without any having confidence 0; None: at all of them.

    Returns
    -------
    g fractions.

    Raises
    ------
    ValueError
        If populations or announced numbers are not whole or out of range.

    Examples
    --------
    >>> exact_confidence([12, 5, 3], [[100, 900], [20, 980], [900, 100]], digits=3)
    [Fraction(27, 40)]
    """
    most, totals = exact_shares(population, announced, digits=digits, offsets=offsets, sets=sets, chosen=chosen)
    each = zip(most.tolist(), totals.tolist(), strict=True)
    return [max(Fraction(n, t) if t else Fraction(0) for n, t in zip(*group, strict=True)) for group in each]


def round_up(fraction: Fraction, *, digits: int) -> Decimal:
    """Round an exact number up to a number of decimals: a stated confidence must never be too small.

    Parameters
    ----------
    fraction
        Probability.
    digits
        Decimals.

    Examples
    --------
    >>> round_up(Fraction(27, 40), digits=3), round_up(Fraction(2, 3), digits=3)
    (Decimal('0.675'), Decimal('0.667'))
    """
    scale = 10**digits
    return Decimal(-(-fraction.numerator * scale // fraction.denominator)).scaleb(-digits)


def _largest(groups: Groups, people: FloatArray) -> FloatArray:
    """Take the most people (n, …) of any protected set of each group, in units of the set's factor: (g, …)."""
    sets = groups.sets
    if sets is None:
        return groups.maxima(people)
    of_sets = sets.sums(people)
    return sets.largest(of_sets / sets.factors.reshape(-1, *[1] * (of_sets.ndim - 1)))
