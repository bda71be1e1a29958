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

import numpy as np

from atr.core.arrays import FloatArray, Values
from atr.core.confidence import maximum_confidence
from atr.core.groups import Groups


def leakage_of_values(groups: Groups, values: Sequence[Values]) -> dict[str, FloatArray]:
    """Give every yardstick of what a mapping tells of the value of one sensitive attribute; of several, the worst.

    The minimum uncertainty is that of the protected sets, named ones included. The other yardsticks are of single
    values: the chance of an outcome in a named set is a mean of those of its values, so it never lies further out.

    Parameters
    ----------
    groups
        Populations (n,), a mapping (n, outcomes) and protected sets under one ceiling, of which the minimum
        uncertainty is.
    values
        (n,) the values of the sensitive attributes in each region; within a group no two regions share them all.

    Returns
    -------
    For each yardstick, by the name of its function, (g,) numbers: the worst of any sensitive attribute.

    Examples
    --------
    >>> both = [("none", "young"), ("none", "old"), ("some", "young"), ("some", "old")]
    >>> told = leakage_of_values(Groups([1, 1, 1, 1], [0.5, 0.25, 0.5, 0.25], [0, 4]), both)
    >>> told["local_differential_privacy"].round(4)
    array([0.6931])
    """
    columns = list(zip(*values, strict=True))
    each = [groups if len(columns) == 1 else _by_value(groups, column) for column in columns]
    of_values = (local_differential_privacy, log_lift, likeness_gain, min_entropy_leakage)
    return {"minimum_uncertainty": minimum_uncertainty(groups)} | {
        yardstick.__name__: np.max([yardstick(of) for of in each], axis=0) for yardstick in of_values
    }


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
    return np.asarray(-np.log(np.minimum(sure, 1)) + 0.0)


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
    return np.asarray(_log_ratio(*_extremes(groups)).max(axis=1))


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
    return np.asarray(np.maximum(_log_ratio(most, rate), _log_ratio(rate, least)).max(axis=1))


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
    return np.asarray(gain.max(axis=1))


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
    return np.asarray(np.log2(np.maximum(after / before, 1)))


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
    return np.asarray(groups.population / groups.sums(groups.population)[groups.group_of_region])


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
