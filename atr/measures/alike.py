"""People alike: the difference of two groups' rates, standardised over classes of people who share other attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.measures.cells import summed


@dataclass(frozen=True)
class Counts:
    """How many people of each region have an outcome, as expected and within limits.

    Parameters
    ----------
    people, fewest
        (n,) people, and the fewest that the printed number can stand for.
    expected, lowest, highest
        (n,) of these, the people with the outcome: as announced, at least and at most.
    group
        (n,) the QID group of each region, from 0.
    total
        (g, 2) people of each group with the outcome, at least and at most, infinite where not known; the expected ones
        are between.
    """

    people: FloatArray
    fewest: FloatArray
    expected: FloatArray
    lowest: FloatArray
    highest: FloatArray
    group: IntArray
    total: FloatArray

    def of(self, regions: IntArray) -> Counts:
        """Give the counts of all regions of some groups, by their positions."""
        groups, number = np.unique(self.group[regions], return_inverse=True)
        of_regions = (self.people, self.fewest, self.expected, self.lowest, self.highest)
        people, fewest, expected, lowest, highest = (x[regions] for x in of_regions)
        return Counts(people, fewest, expected, lowest, highest, number, self.total[groups])


@dataclass(frozen=True)
class Standardised:
    """The difference of two groups' rates among people alike.

    Parameters
    ----------
    value
        The rate of the first less that of the second, a class counting as often as it has people of the smaller.
    low, high
        Its smallest and largest value over counts within the limits.
    standard_error
        What sampling alone makes it vary by.
    people
        People of the two groups in classes that have some of both.
    compared
        (n,) which regions these people are in.
    """

    value: float
    low: float
    high: float
    standard_error: float
    people: tuple[float, float]
    compared: BoolArray


def standardised(counts: Counts, side: IntArray, class_of: IntArray) -> Standardised | None:
    """Compare two groups of people within classes, and average over these.

    Parameters
    ----------
    counts
        Of all regions of the groups that either has a part in.
    side
        (n,) 1 for regions of the first group, -1 for those of the second, 0 for others.
    class_of
        (n,) the class of each region, from 0; -1 where it is not known.

    Returns
    -------
    None where no class has people of both.

    Notes
    -----
    With w = min(n_a, n_b) the value is Σ w (p_a - p_b) / Σ w over classes: linear in the counts, so its ends are found
    group by group, raising the counts with the largest coefficients as far as the group's total allows. In the standard
    error each class has one more person with and one without the outcome, so that a rate of 0 or 1 in a small class is
    not taken as certain.

    References
    ----------
    Agresti and Caffo, *Simple and effective confidence intervals for proportions and differences of proportions result
    from adding two successes and two failures*, Am. Stat. 54 (2000).
    """
    known = (class_of >= 0) & (side != 0)
    classes = int(class_of.max(initial=-1)) + 1
    of = np.where(known, 2 * class_of + (side < 0), 2 * classes)  # the last is of those who are in no class
    in_class = np.bincount(of, counts.people, 2 * classes + 1)[:-1].reshape(classes, 2)
    weight = in_class.min(axis=1)
    if not weight.any():
        return None
    weight = weight / weight.sum()
    both = weight > 0
    each = np.divide(weight[:, None], in_class, out=np.zeros_like(in_class), where=both[:, None])
    coefficient = side * np.append(each.ravel(), 0.0)[of]
    low, high = -_largest(counts, -coefficient), _largest(counts, coefficient)
    value = float(coefficient @ counts.expected)
    fewest, had = (
        np.bincount(of, x, 2 * classes + 1)[:-1].reshape(classes, 2) for x in (counts.fewest, counts.expected)
    )
    n = np.maximum(fewest[both], 1.0)
    rate = (n * had[both] / in_class[both] + 1) / (n + 2)
    error = float(np.sqrt((weight[both, None] ** 2 * rate * (1 - rate) / n).sum()))
    a, b = in_class[both].sum(axis=0).tolist()
    return Standardised(value, min(low, value), max(high, value), error, (a, b), coefficient != 0)


def _largest(counts: Counts, coefficient: FloatArray) -> float:
    """The largest sum of coefficients times counts."""
    group, room = counts.group, counts.highest - counts.lowest
    order = np.lexsort((-coefficient, group))
    group, room, coefficient, lowest = group[order], room[order], coefficient[order], counts.lowest[order]
    before = np.cumsum(room) - room
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    before -= np.repeat(before[starts], np.diff(np.append(starts, len(group))))
    must, may = (counts.total - summed(counts.group, counts.lowest)[:, None]).T
    raised = np.clip(np.where(coefficient > 0, may[group], must[group]) - before, 0.0, room)
    return float(coefficient @ (lowest + raised))
