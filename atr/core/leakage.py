"""Other yardsticks of what a decision mapping gives away: the same mapping in the units of other definitions.

Each takes the regions of all QID groups side by side with a mapping P(a|s), true or announced, as their decision.
Within a group T, P(s) is a region's share, P(a) the group's rate, P(s, a) = P(s) P(a|s) and P(s|a) the reader's
posterior. The sensitive value s is the region; :func:`leakage_of_values` takes it for the value of one sensitive
attribute of several.

Each returns (g,), one number for each group. Natural logarithms, but for the min-entropy leakage, which is in bits. An
outcome nobody in a group gets counts nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atr.core.arrays import FloatArray, Values
from atr.core.confidence import maximum_confidence
from atr.core.groups import Groups


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


def leakage(groups: Groups) -> Leakage:
    """Give every yardstick of what a mapping tells of the region a person is in.

    Parameters
    ----------
    groups
        Populations (n,), a mapping (n, outcomes) and protected sets under one ceiling, of which the minimum
        uncertainty is.

    Returns
    -------
    All yardsticks, (g,) each.

    Examples
    --------
    >>> told = leakage(Groups([12, 5, 3], [1, 1, 0], [0, 3]))
    >>> told.overall["local_differential_privacy"], round(told.overall["likeness_gain"], 3)
    (inf, 5.667)
    """
    return Leakage(
        minimum_uncertainty=minimum_uncertainty(groups),
        local_differential_privacy=local_differential_privacy(groups),
        log_lift=log_lift(groups),
        likeness_gain=likeness_gain(groups),
        min_entropy_leakage=min_entropy_leakage(groups),
    )


def leakage_of_values(groups: Groups, values: Sequence[Values]) -> Leakage:
    """Give every yardstick of what a mapping tells of the value of one sensitive attribute; of several, the worst.

    The minimum uncertainty is that of the protected sets, named ones included. The other yardsticks are of single
    values: the chance of an outcome in a named set is a mean of those of its values, so it never lies further out.

    Parameters
    ----------
    groups
        As for :func:`leakage`.
    values
        (n,) the values of the sensitive attributes in each region; within a group no two regions share them all.

    Returns
    -------
    All yardsticks, (g,) each: the worst of any sensitive attribute.

    Examples
    --------
    >>> both = [("none", "young"), ("none", "old"), ("some", "young"), ("some", "old")]
    >>> told = leakage_of_values(Groups([1, 1, 1, 1], [0.5, 0.25, 0.5, 0.25], [0, 4]), both)
    >>> told.local_differential_privacy.round(4)
    array([0.6931])
    """
    columns = list(zip(*values, strict=True))
    each = [groups if len(columns) == 1 else _by_value(groups, column) for column in columns]
    return Leakage(
        minimum_uncertainty=minimum_uncertainty(groups),
        local_differential_privacy=np.max([local_differential_privacy(of) for of in each], axis=0),
        log_lift=np.max([log_lift(of) for of in each], axis=0),
        likeness_gain=np.max([likeness_gain(of) for of in each], axis=0),
        min_entropy_leakage=np.max([min_entropy_leakage(of) for of in each], axis=0),
    )


def minimum_uncertainty(groups: Groups) -> FloatArray:
    """Give γ = -ln max P(s|a) over regions s, or protected sets, and outcomes a: the maximum confidence otherwise told.

    Parameters
    ----------
    groups
        Populations (n,) and the mapping (n, outcomes) to be judged.

    Returns
    -------
    (g,) nats, from 0 (somebody is found out for certain) up.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Appendix C.

    Examples
    --------
    >>> minimum_uncertainty(Groups([12, 5, 3], [1, 1, 0], [0, 3]))
    array([0.])
    >>> minimum_uncertainty(Groups([1, 1], [0.5, 0.5], [0, 2])).round(4)
    array([0.6931])
    """
    # The quotient may exceed 1 by a rounding error; + 0.0 makes -0 a 0.
    sure = maximum_confidence(groups, groups.decision)
    uncertainty: FloatArray = -np.log(np.minimum(sure, 1)) + 0.0
    return uncertainty


def local_differential_privacy(groups: Groups) -> FloatArray:
    """Give max ln P(a|s) / P(a|s') over outcomes a and regions s, s' of a group, whatever their populations.

    Parameters
    ----------
    groups
        Populations (n,) and the mapping (n, outcomes) to be judged.

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
    >>> local_differential_privacy(Groups([1, 1], [0.5, 0.75], [0, 2])).round(4)
    array([0.6931])
    """
    distance: FloatArray = _log_ratio(*_extremes(groups)).max(axis=1)
    return distance


def log_lift(groups: Groups) -> FloatArray:
    """Give max |ln P(s|a) / P(s)| over regions and outcomes: how far a posterior is from its prior, either way.

    Parameters
    ----------
    groups
        Populations (n,) and the mapping (n, outcomes) to be judged.

    Returns
    -------
    (g,) nats; at most the local differential privacy. Infinite where an outcome rules some region out.

    References
    ----------
    Hsu, Asoodeh, Calmon, *Information-Theoretic Privacy Watchdogs*, ISIT 2019; Ding, Liu, Farokhi, *A Linear
    Reduction Method for Local Differential Privacy and Log-lift* (arXiv 2101.09689).

    Examples
    --------
    >>> log_lift(Groups([1, 1], [0.5, 0.75], [0, 2])).round(4)
    array([0.4055])
    """
    most, least = _extremes(groups)
    # A mean lies between the extremes, rounding errors aside.
    rate = np.clip(groups.sums(_joint(groups)), least, most)
    distance: FloatArray = np.maximum(_log_ratio(most, rate), _log_ratio(rate, least)).max(axis=1)
    return distance


def likeness_gain(groups: Groups) -> FloatArray:
    """Give max (P(s|a) - P(s)) / P(s) over regions and outcomes: what β-likeness bounds.

    Not the confidence this library calls β, which is absolute: a gain of 1 takes 2 % to 4 % and 40 % to 80 %.

    Parameters
    ----------
    groups
        Populations (n,) and the mapping (n, outcomes) to be judged.

    Returns
    -------
    (g,) number from 0 up, always finite.

    References
    ----------
    Cao, Karras, *Publishing Microdata with a Robust Privacy Guarantee*, PVLDB 5 (2012), basic β-likeness;
    "beta-Likeness" in ARX.

    Examples
    --------
    >>> likeness_gain(Groups([1, 1], [0.5, 0.75], [0, 2])).round(4)
    array([0.3333])
    """
    rate, (most, _) = groups.sums(_joint(groups)), _extremes(groups)
    gain = np.divide(most, np.minimum(rate, most), out=np.ones_like(most), where=rate > 0) - 1
    largest: FloatArray = gain.max(axis=1)
    return largest


def min_entropy_leakage(groups: Groups) -> FloatArray:
    """Give log2 of Σ_a max_s P(s, a) / max_s P(s): how much likelier one guess at the region is right.

    An average over outcomes; the maximum confidence is the worst of them.

    Parameters
    ----------
    groups
        Populations (n,) and the mapping (n, outcomes) to be judged.

    Returns
    -------
    (g,) bits, from 0 to log2 of the number of outcomes.

    References
    ----------
    Smith, *On the Foundations of Quantitative Information Flow*, FoSSaCS 2009.

    Examples
    --------
    >>> min_entropy_leakage(Groups([1, 1], [1, 0], [0, 2]))
    array([1.])
    """
    after = groups.maxima(_joint(groups)).sum(axis=1)
    before = groups.maxima(_share(groups))
    # Nothing is ever lost by an outcome, but for rounding errors.
    bits: FloatArray = np.log2(np.maximum(after / before, 1))
    return bits


def _by_value(groups: Groups, values: Sequence[str]) -> Groups:
    """Make one region of those of a group that share a value of one attribute."""
    named, code = np.unique(values, return_inverse=True)
    present, region = np.unique(groups.group_of_region * len(named) + code, return_inverse=True)
    people = np.bincount(region, groups.population)
    chances = [np.bincount(region, groups.population * chance) / people for chance in groups.decision.T]
    offsets = np.searchsorted(present, np.arange(len(groups) + 1) * len(named))
    return Groups(people, np.minimum(np.column_stack(chances), 1), offsets)


def _share(groups: Groups) -> FloatArray:
    """(n,) P(s) within each group."""
    share: FloatArray = groups.population / groups.sums(groups.population)[groups.group_of_region]
    return share


def _joint(groups: Groups) -> FloatArray:
    """(n, outcomes) P(s, a) within each group."""
    return _share(groups)[:, None] * groups.decision


def _extremes(groups: Groups) -> tuple[FloatArray, FloatArray]:
    """(g, outcomes) the largest and the smallest P(a|s) of each group."""
    return groups.maxima(groups.decision), -groups.maxima(-groups.decision)


def _log_ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Give ln above / below: infinite where only ``below`` is 0, and 0 where both are."""
    possible = below > 0
    ratio = np.log(np.where(possible, above, 1)) - np.log(np.where(possible, below, 1))
    return np.where(possible, ratio, np.where(above > 0, math.inf, 0.0))
