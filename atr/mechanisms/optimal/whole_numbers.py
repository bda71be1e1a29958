"""What a reader makes of an announcement who remembers that k of n people is a whole number.

A rule is a vector of whole numbers: how many people of each region got an outcome. The reader knows the numbers of
people, the promise and, where the rates of groups are exact, how many people of the group got it. Of the rules that are
left he thinks one as likely as the other. Of three outcomes and more he looks at one outcome at a time: its rules are
the whole numbers within its own limits, whichever the others are.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from atr.core.arrays import FloatArray, IntArray, counts_within
from atr.core.fidelity import Fidelity
from atr.core.protected import ProtectedSets
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
    people: IntArray,
    chances: FloatArray,
    promise: Fidelity,
    *,
    totals: IntArray | None,
    offsets: IntArray,
    sets: ProtectedSets | None,
    digits: int,
) -> WholeNumberConfidence:
    """Compute how sure a reader of whole numbers is in every group.

    Parameters
    ----------
    people
        (n,) people of each region, of whole groups.
    chances
        (n, outcomes) announced, probability.
    promise
        What is promised of them.
    totals
        (g, outcomes) people of each group with each outcome; None where rates are not announced as they are.
    offsets
        (g + 1,) where each group starts.
    sets
        Protected sets; None: every region on its own.
    digits
        Decimal digits of the chances.

    Returns
    -------
    For every group.
    """
    lowest, highest = counts_within(*promise.believed(chances, digits=digits), people)
    sets = sets or ProtectedSets.regions(offsets)
    least, most = (np.add.reduceat(ends, offsets[:-1]) for ends in (lowest, highest))
    of_set = sets.group_of_set
    if totals is None:
        expected, whole = (lowest + highest) / 2, (least + most) / 2
        all_of_set = sets.sums(highest)
        largest = _share(all_of_set, all_of_set + least[of_set] - sets.sums(lowest))
    else:
        groups = zip(pairwise(offsets.tolist()), totals.tolist(), strict=True)
        parts = [_expected(people[i:j], lowest[i:j], highest[i:j], total) for (i, j), total in groups]
        expected, whole = np.concatenate(parts), totals.astype(np.float64)
        all_of_set = np.minimum(sets.sums(highest), totals[of_set] - (least[of_set] - sets.sums(lowest)))
        largest = _share(all_of_set, whole[of_set])
    average = _share(sets.sums(expected), whole[of_set])
    return WholeNumberConfidence(*(sets.largest(of) for of in (average, largest, average / sets.factors)))


def _expected(people: IntArray, lowest: IntArray, highest: IntArray, totals: list[int]) -> FloatArray:
    """Give (m, outcomes) people that the reader expects in the regions of a group with these totals."""
    two = len(totals) == 2
    of_outcomes = [
        Box("uniform", people, lowest[:, outcome], highest[:, outcome], total).expected
        for outcome, total in enumerate(totals[:1] if two else totals)
    ]
    return np.column_stack([*of_outcomes, people - of_outcomes[0]] if two else of_outcomes)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Give (v,) the largest quotient of (v, outcomes) people, of those outcomes that anybody got."""
    share: FloatArray = np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0).max(axis=1)
    return share
