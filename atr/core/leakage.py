"""Other yardsticks of what a decision mapping gives away: the same mapping in the units of other definitions.

Each takes the regions of all QID groups side by side, as :class:`atr.core.groups.Groups` does: ``population`` (n,)
people or shares, ``decision`` (n, outcomes) probability P(a|s), ``offsets`` (g + 1,) where each group starts. Within
a group T,
P(s) is a region's share, P(a) the group's rate, P(s, a) = P(s) P(a|s) and P(s|a) the reader's posterior. The sensitive
value s is the region; :func:`leakage_of_values` takes it for the value of one sensitive attribute of several.

Each returns (g,), one number for each group. Natural logarithms, but for the min-entropy leakage, which is in bits. An
outcome nobody in a group gets counts nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from atr.core.arrays import FloatArray, IntArray
from atr.core.protected import ProtectedSets, Protection


@dataclass(frozen=True, eq=False, slots=True)
class Leakage:
    """All yardsticks of one mapping, (g,) each; ``overall`` has the worst group.

    Attributes
    ----------
    minimum_uncertainty
        γ, nats: the smaller, the more is given away.
    local_differential_privacy
        nats; infinite where an outcome is impossible for some regions only.
    log_lift
        nats; infinite likewise.
    likeness_gain
        Relative gain of a posterior over its prior.
    min_entropy_leakage
        bits.
    """

    minimum_uncertainty: FloatArray
    local_differential_privacy: FloatArray
    log_lift: FloatArray
    likeness_gain: FloatArray
    min_entropy_leakage: FloatArray

    @property
    def overall(self) -> dict[str, float]:
        """The worst group of each yardstick."""
        return {
            "minimum_uncertainty": float(self.minimum_uncertainty.min()),
            "local_differential_privacy": float(self.local_differential_privacy.max()),
            "log_lift": float(self.log_lift.max()),
            "likeness_gain": float(self.likeness_gain.max()),
            "min_entropy_leakage": float(self.min_entropy_leakage.max()),
        }


def leakage(population: ArrayLike, decision: ArrayLike, offsets: ArrayLike) -> Leakage:
    """Give every yardstick of a mapping.

    Raises
    ------
    ValueError
        If the arrays do not fit each other or hold impossible values.

    Examples
    --------
    >>> told = leakage([12, 5, 3], [[1, 0], [1, 0], [0, 1]], [0, 3])
    >>> told.overall["local_differential_privacy"], round(told.overall["likeness_gain"], 3)
    (inf, 5.667)
    """
    arrays = (population, decision, offsets)
    return Leakage(
        minimum_uncertainty=minimum_uncertainty(*arrays),
        local_differential_privacy=local_differential_privacy(*arrays),
        log_lift=log_lift(*arrays),
        likeness_gain=likeness_gain(*arrays),
        min_entropy_leakage=min_entropy_leakage(*arrays),
    )


def leakage_of_values(
    population: ArrayLike,
    decision: ArrayLike,
    offsets: ArrayLike,
    *,
    values: Sequence[tuple[str, ...]],
    sets: ProtectedSets | None,
) -> Leakage:
    """Give every yardstick of what a mapping tells of the value of a sensitive attribute; of several, of the worst.

    The minimum uncertainty is that of the protected sets, named ones included. The other yardsticks are of single
    values: the chance of an outcome in a named set is a mean of those of its values, so it never lies further out.

    Parameters
    ----------
    population, decision, offsets
        As above.
    values
        (n,) the values of the sensitive attributes in each region; within a group no two regions share them all.
    sets
        The protected sets; None: every region on its own.

    Examples
    --------
    >>> both = [("none", "young"), ("none", "old"), ("some", "young"), ("some", "old")]
    >>> rule = [[0.5, 0.5], [0.25, 0.75], [0.5, 0.5], [0.25, 0.75]]
    >>> told = leakage_of_values([1, 1, 1, 1], rule, [0, 4], values=both, sets=None)
    >>> told.local_differential_privacy.round(4)
    array([0.6931])
    """
    p, D, o = np.asarray(population, dtype=np.float64), np.asarray(decision, dtype=np.float64), np.asarray(offsets)
    if len(values[0]) == 1:
        each = [leakage(p, D, o)]
    else:
        each = [leakage(*_as_one(p, D, _alike(values, place, o))) for place in range(len(values[0]))]
    return Leakage(
        minimum_uncertainty=minimum_uncertainty(p, D, o, sets=sets),
        local_differential_privacy=np.max([of.local_differential_privacy for of in each], axis=0),
        log_lift=np.max([of.log_lift for of in each], axis=0),
        likeness_gain=np.max([of.likeness_gain for of in each], axis=0),
        min_entropy_leakage=np.max([of.min_entropy_leakage for of in each], axis=0),
    )


def minimum_uncertainty(
    population: ArrayLike, decision: ArrayLike, offsets: ArrayLike, *, sets: ProtectedSets | None = None
) -> FloatArray:
    """Give γ = -ln max P(s|a) over regions s, or protected sets, and outcomes a: the maximum confidence otherwise told.

    Returns
    -------
    (g,) nats, from 0 (somebody is found out for certain) up.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Appendix C.

    Examples
    --------
    >>> minimum_uncertainty([12, 5, 3], [[1, 0], [1, 0], [0, 1]], [0, 3])
    array([0.])
    >>> minimum_uncertainty([1, 1], [[0.5, 0.5], [0.5, 0.5]], [0, 2]).round(4)
    array([0.6931])
    """
    share, D, starts = _shares(population, decision, offsets)
    joint = share[:, None] * D
    total = np.add.reduceat(joint, starts)
    most = np.maximum.reduceat(joint, starts) if sets is None else sets.largest(sets.sums(joint))
    posterior = np.divide(most, total, out=np.zeros_like(total), where=total > 0)
    # The quotient may exceed 1 by a rounding error; + 0.0 makes -0 a 0.
    uncertainty: FloatArray = -np.log(np.minimum(posterior.max(axis=1), 1)) + 0.0
    return uncertainty


def local_differential_privacy(population: ArrayLike, decision: ArrayLike, offsets: ArrayLike) -> FloatArray:
    """Give max ln P(a|s) / P(a|s') over outcomes a and regions s, s' of a group, whatever their populations.

    Returns
    -------
    (g,) nats: 0 for a mapping that is the same everywhere; infinite where an outcome is possible in some regions of
    a group and impossible in others.

    References
    ----------
    Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith, *What Can We Learn Privately?*, SIAM J. Comput. 40 (2011);
    Duchi, Jordan, Wainwright, *Local Privacy and Statistical Minimax Rates*, FOCS 2013. Here the decision is the
    channel and the region its input.

    Examples
    --------
    >>> local_differential_privacy([1, 1], [[0.5, 0.5], [0.75, 0.25]], [0, 2]).round(4)
    array([0.6931])
    """
    _, D, starts = _shares(population, decision, offsets)
    distance = _log_ratio(np.maximum.reduceat(D, starts), np.minimum.reduceat(D, starts))
    largest: FloatArray = distance.max(axis=1)
    return largest


def log_lift(population: ArrayLike, decision: ArrayLike, offsets: ArrayLike) -> FloatArray:
    """Give max |ln P(s|a) / P(s)| over regions and outcomes: how far a posterior is from its prior, either way.

    Returns
    -------
    (g,) nats; at most the local differential privacy. Infinite where an outcome rules some region out.

    References
    ----------
    Hsu, Asoodeh, Calmon, *Information-Theoretic Privacy Watchdogs*, ISIT 2019; Ding, Liu, Farokhi, *A Linear
    Reduction Method for Local Differential Privacy and Log-lift* (arXiv 2101.09689).

    Examples
    --------
    >>> log_lift([1, 1], [[0.5, 0.5], [0.75, 0.25]], [0, 2]).round(4)
    array([0.4055])
    """
    share, D, starts = _shares(population, decision, offsets)
    rate = np.add.reduceat(share[:, None] * D, starts)
    most, least = np.maximum.reduceat(D, starts), np.minimum.reduceat(D, starts)
    # A mean lies between the extremes, rounding errors aside.
    rate = np.clip(rate, least, most)
    distance: FloatArray = np.maximum(_log_ratio(most, rate), _log_ratio(rate, least)).max(axis=1)
    return distance


def likeness_gain(population: ArrayLike, decision: ArrayLike, offsets: ArrayLike) -> FloatArray:
    """Give max (P(s|a) - P(s)) / P(s) over regions and outcomes: what β-likeness bounds.

    Not the confidence this library calls β, which is absolute: a gain of 1 takes 2 % to 4 % and 40 % to 80 %.

    Returns
    -------
    (g,) number from 0 up, always finite.

    References
    ----------
    Cao, Karras, *Publishing Microdata with a Robust Privacy Guarantee*, PVLDB 5 (2012), basic β-likeness;
    "beta-Likeness" in ARX.

    Examples
    --------
    >>> likeness_gain([1, 1], [[0.5, 0.5], [0.75, 0.25]], [0, 2]).round(4)
    array([0.3333])
    """
    share, D, starts = _shares(population, decision, offsets)
    rate = np.add.reduceat(share[:, None] * D, starts)
    most = np.maximum.reduceat(D, starts)
    gain = np.divide(most, np.minimum(rate, most), out=np.ones_like(most), where=rate > 0) - 1
    largest: FloatArray = gain.max(axis=1)
    return largest


def min_entropy_leakage(population: ArrayLike, decision: ArrayLike, offsets: ArrayLike) -> FloatArray:
    """Give log2 of Σ_a max_s P(s, a) / max_s P(s): how much likelier one guess at the region is right.

    An average over outcomes; the maximum confidence is the worst of them.

    Returns
    -------
    (g,) bits, from 0 to log2 of the number of outcomes.

    References
    ----------
    Smith, *On the Foundations of Quantitative Information Flow*, FoSSaCS 2009.

    Examples
    --------
    >>> min_entropy_leakage([1, 1], [[1, 0], [0, 1]], [0, 2])
    array([1.])
    """
    share, D, starts = _shares(population, decision, offsets)
    after = np.maximum.reduceat(share[:, None] * D, starts).sum(axis=1)
    before = np.maximum.reduceat(share, starts)
    # Nothing is ever lost by an outcome, but for rounding errors.
    bits: FloatArray = np.log2(np.maximum(after / before, 1))
    return bits


def _alike(values: Sequence[tuple[str, ...]], place: int, offsets: IntArray) -> ProtectedSets:
    """Give the regions that share a value of one attribute, group by group."""
    of_one = [(of_region[place],) for of_region in values]
    groups = (of_one[first:end] for first, end in pairwise(offsets.tolist()))
    return ProtectedSets.of([list(Protection(("",)).labelled(group).values()) for group in groups], offsets)


def _as_one(
    population: FloatArray, decision: FloatArray, sets: ProtectedSets
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Make one region of each set."""
    people = sets.sums(population)
    chance = sets.sums(population[:, None] * decision) / people[:, None]
    return people, np.minimum(chance, 1), sets.group_offsets


def _shares(population: ArrayLike, decision: ArrayLike, offsets: ArrayLike) -> tuple[FloatArray, FloatArray, IntArray]:
    """Give P(s) within each group, the mapping, and where the groups start."""
    p, D, o = np.asarray(population, dtype=np.float64), np.asarray(decision, dtype=np.float64), np.asarray(offsets)
    if p.ndim != 1 or D.ndim != 2 or len(p) != len(D) or not len(p):
        raise ValueError("there must be one population and one row of chances for each region")
    if not (np.isfinite(p).all() and (p > 0).all()):
        raise ValueError("population must be positive and finite: a region nobody is in does not exist")
    if not ((D >= 0) & (D <= 1)).all() or (np.abs(D.sum(axis=1) - 1) > 1e-9).any():
        raise ValueError("chances must be between 0 and 1 and those of every region must add up to 1")
    if o.ndim != 1 or len(o) < 2 or o[0] != 0 or o[-1] != len(p) or (np.diff(o) <= 0).any():
        raise ValueError(f"offsets must increase from 0 to {len(p)}, the number of regions")
    starts = o[:-1].astype(np.int64)
    return p / np.repeat(np.add.reduceat(p, starts), np.diff(o)), D, starts


def _log_ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Give ln above / below: infinite where only ``below`` is 0, and 0 where both are."""
    possible = below > 0
    ratio = np.log(np.where(possible, above, 1)) - np.log(np.where(possible, below, 1))
    return np.where(possible, ratio, np.where(above > 0, math.inf, 0.0))
