"""What a reader makes of an announcement who remembers that k of n people is a whole number.

A rule is a vector of whole numbers: how many people of each region got an outcome. The reader knows the numbers of
people, the promise and, where the rates of groups are exact, how many people of the group got it. Of the rules that are
left he thinks one as likely as the other. Of three outcomes and more he looks at one outcome at a time: its rules are
the whole numbers within its own limits, whichever the others are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from atr.core.arrays import FloatArray, IntArray
from atr.core.fidelity import Fidelity
from atr.core.protected import ProtectedSets
from atr.core.regions import Regions
from atr.core.tolerances import PROBABILITY_TOLERANCE
from atr.mechanisms.calibrated.box import Box


class WholeNumberConfidence(NamedTuple):
    """How sure a reader of whole numbers is of a protected set after an outcome, the largest of each group.

    Attributes
    ----------
    average
        (g,) over the rules that are left.
    largest
        (g,) of any one of these rules.
    held
        (g,) as ``average``, each set's divided by its factor: what is held to the ceiling.
    """

    average: FloatArray
    largest: FloatArray
    held: FloatArray


def whole_number_confidence(
    regions: Regions, chance: IntArray, promise: Fidelity, *, digits: int, exact: bool
) -> WholeNumberConfidence:
    """Compute how sure a reader of whole numbers is in every group.

    Parameters
    ----------
    regions
        Whole groups, with their true decisions: of these only the totals of groups are used.
    chance
        (n, outcomes) announced chances, in units of the last digit.
    promise
        What is promised of them.
    digits
        Decimal digits of the chances.
    exact
        Whether the rates of groups are announced as they are.

    Returns
    -------
    For every group; 0 where there are no regions.
    """
    if not len(regions):
        nothing = np.zeros(0)
        return WholeNumberConfidence(nothing, nothing, nothing)
    lowest, highest = _windows(regions.population, chance, promise, digits)
    starts, sets = regions.offsets[:-1], regions.sets or ProtectedSets.regions(regions.offsets)
    least, most = np.add.reduceat(lowest, starts), np.add.reduceat(highest, starts)
    of_set = sets.group_of_set
    if exact:
        totals = np.add.reduceat(regions.counts, starts).astype(np.float64)
        expected = np.concatenate(list(_expected(regions, lowest, highest)))
        all_of_set = np.minimum(sets.sums(highest), totals[of_set] - (least[of_set] - sets.sums(lowest)))
        largest = _share(all_of_set, totals[of_set])
    else:
        expected, totals = (lowest + highest) / 2, (least + most) / 2
        all_of_set = sets.sums(highest)
        largest = _share(all_of_set, all_of_set + least[of_set] - sets.sums(lowest))
    average = _share(sets.sums(expected), totals[of_set])
    return WholeNumberConfidence(*(sets.largest(of) for of in (average, largest, average / sets.factors)))


def _windows(people: IntArray, chance: IntArray, promise: Fidelity, digits: int) -> tuple[IntArray, IntArray]:
    """Give the fewest and the most people of each region with each outcome, (n, outcomes), by the promise."""
    lower, upper = promise.believed(chance / 10**digits, digits=digits)
    population, slack = people[:, None], PROBABILITY_TOLERANCE * people[:, None]
    lowest = np.ceil(np.clip(lower, 0, 1) * population - slack).astype(np.int64)
    highest = np.floor(np.clip(upper, 0, 1) * population + slack).astype(np.int64)
    return (
        np.maximum(lowest, population - (highest.sum(axis=1, keepdims=True) - highest)),
        np.minimum(highest, population - (lowest.sum(axis=1, keepdims=True) - lowest)),
    )


def _expected(regions: Regions, lowest: IntArray, highest: IntArray) -> Iterator[FloatArray]:
    """Give (m, outcomes) people that the reader expects in the regions of each group, whose totals are known."""
    for first, end in zip(regions.offsets[:-1], regions.offsets[1:], strict=True):
        population, totals = regions.population[first:end], regions.counts[first:end].sum(axis=0)
        of_outcomes = [
            Box("uniform", population, lowest[first:end, o], highest[first:end, o], int(totals[o])).expected()
            for o in range(1 if len(totals) == 2 else len(totals))
        ]
        if len(totals) == 2:
            of_outcomes.append(population - of_outcomes[0])
        yield np.column_stack(of_outcomes)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Give (v,) the largest quotient of (v, outcomes) people, of those outcomes that anybody got."""
    share: FloatArray = np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0).max(axis=1)
    return share
