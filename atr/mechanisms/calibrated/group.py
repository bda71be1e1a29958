"""What is announced of a group, whatever its number of outcomes.

=========================  ===================================================================================
outcomes, people           limits
=========================  ===================================================================================
two                        of the positive outcome; those of the other mirror them
three, up to EXACT_PEOPLE  of every outcome
more outcomes or people    of the positive outcome; others as the totals of the group, for a *named reader*: to
                           whom the secret plays no part among them
=========================  ===================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from atr.core.arrays import FloatArray, IntArray, counts_within
from atr.core.regions import ToldBefore
from atr.core.tolerances import MISSED_STEPS
from atr.mechanisms.calibrated import every_table, every_total
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.partition import Counts, Group
from atr.mechanisms.calibrated.readers import MODELS, Model
from atr.mechanisms.calibrated.tables import OUTCOMES
from atr.mechanisms.calibrated.two_versions import EarlierVersion

EXACT_PEOPLE = 1000
"""Most people of a group whose tables of three outcomes are counted; it depends on numbers of people alone."""

_NOT_ALIKE: tuple[Model, ...] = ("uniform", "extreme")
"""Whoever thinks the secret plays no part is as sure whatever the totals: as the others are where nobody has one."""


@dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """Limits of the chances of a group's regions, and what readers make of them. Public, but for being a group's own.

    Attributes
    ----------
    limits
        (m, 2) ends of the chance of the positive outcome, or (m, outcomes, 2) of every chance, in steps of the grid; 0
        and ``steps`` where nothing is told.
    expected
        (m,) or (m, outcomes) people that a reader of the uniform model expects; the named one, where he is.
    by_reader
        How sure each reader is, the largest over sets: uniform, extreme, alike, and earlier where a reader of earlier
        reports has a rule left.
    of_sets
        (sets,) the largest of each protected set over all readers.
    prior
        How sure the surest reader of one report is by numbers of people and rates alone.
    rules
        How many rules are left.
    steps
        Of the grid, from chance 0 to 1.
    stopped_by_earlier
        A reader of earlier reports is above the ceiling by numbers of people and rates alone, or of earlier versions
        cannot be followed: nothing was cut.
    named_reader
        The promise is to readers to whom the secret plays no part among outcomes other than the positive one.
    """

    limits: IntArray
    expected: FloatArray
    by_reader: dict[str, float]
    of_sets: FloatArray
    prior: float
    rules: float
    steps: int
    stopped_by_earlier: bool
    named_reader: bool = False

    @property
    def lower(self) -> IntArray:
        """Lower limits."""
        return self.limits[..., 0]

    @property
    def upper(self) -> IntArray:
        """Upper limits."""
        return self.limits[..., 1]

    @property
    def confidence(self) -> float:
        """The largest over all readers."""
        return max(self.by_reader.values())

    @property
    def told(self) -> bool:
        """Whether any chance has limits."""
        return bool((self.limits != [0, self.steps]).any())


@lru_cache(maxsize=32_768)  # a run asks of every group before others join, after that, and when it is solved
def announceable(ceilings: Ceilings, outcomes: int = 2) -> bool:
    """Tell whether people and totals alone leave every reader at or below every ceiling, whatever the totals."""
    people = ceilings.population
    if ceilings.exceeded(people.astype(np.float64), int(people.sum())):  # everybody has the same outcome
        return False
    of_tables = [every_table.exceeded] if _chances_cut(people, outcomes) > 1 else []
    return not any(exceeded(ceilings, model) for exceeded in [every_total.exceeded, *of_tables] for model in _NOT_ALIKE)


def solve_group(
    counts: IntArray,
    ceilings: Ceilings,
    *,
    steps: int = 20,
    least: int = 3,
    earlier: Sequence[FloatArray] = (),
    previous: IntArray | None = None,
    versions: Sequence[ToldBefore] = (),
) -> Cell | None:
    """Find what to announce of one group.

    Parameters
    ----------
    counts
        (m, outcomes) people of each region with each outcome, the positive one first; somebody in every region.
    ceilings
        Of its protected sets.
    steps
        Of the grid of limits, from chance 0 to 1.
    least
        Each half of a cut has more whole counts of its region, and more rules.
    earlier
        What earlier reports tell, oldest first: (m, outcomes, 2) lowest and highest chances, both ends included.
    previous
        (m, outcomes, 2) limits announced last time, on the same grid.
    versions
        What each version of the same period told of the group before it changed.

    Returns
    -------
    Cell | None
        None where numbers of people alone tell too much: the group may not be announced.
    """
    people, outcomes = counts.sum(axis=1), counts.shape[1]
    if not announceable(ceilings, outcomes):
        return None
    cut = _chances_cut(people, outcomes)
    below = [_below(chances, cut) for chances in earlier]
    told = [[_counts(chances, people, cut) for chances in reports] for reports in (earlier, below)]
    before = _readings(versions, counts, ceilings, cut)
    group = Group(counts[:, :cut], ceilings, steps=steps, least=least, earlier=told, versions=before or ())
    start = None if previous is None else previous[:, :cut].reshape(-1, 2)
    cell = _cell(group, start, stopped=before is None)
    return cell if cut > 1 else _of_positive(cell, counts)


def may_be_told_anew(counts: IntArray, ceilings: Ceilings, versions: Sequence[ToldBefore]) -> bool:
    """Tell whether the rate alone of a changed group leaves whoever has an earlier version below every ceiling.

    Parameters
    ----------
    counts, ceilings, versions
        As of :func:`solve_group`.
    """
    people, totals = counts.sum(axis=1), counts.sum(axis=0)
    cut = _chances_cut(people, len(totals))
    before = _readings(versions, counts, ceilings, cut)
    if before is not None:
        return Group(counts[:, :cut], ceilings, versions=before).start.safe
    # Of those who only joined others he knows as much as of a group of their own.
    return all(not of.lost.any() and (of.people <= people).all() and (of.totals[0] <= totals).all() for of in versions)


def announce(
    population: ArrayLike,
    favourable: ArrayLike,
    *,
    max_confidence: float | Sequence[float],
    steps: int = 20,
    least: int = 3,
    sets: Sequence[Sequence[int]] | None = None,
    earlier: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
    previous: tuple[ArrayLike, ArrayLike] | None = None,
) -> Cell | None:
    """Find the cell to announce of one group with two outcomes.

    Parameters
    ----------
    population, favourable
        (m,) people of each region, and those of them with the positive outcome.
    max_confidence
        Ceiling of every protected set, or one for each.
    steps, least
        As of :func:`solve_group`.
    sets
        Protected sets, each a list of positions of regions; None: every region on its own.
    earlier
        What earlier reports tell, oldest first: (m,) lowest and (m,) highest counts.
    previous
        (m,) lower and (m,) upper limits announced last time, on the same grid.

    Returns
    -------
    Cell | None
        None where numbers of people alone tell too much: the group may not be announced.

    Raises
    ------
    ValueError
        If numbers do not fit each other.

    Examples
    --------
    >>> cell = announce([20, 20, 20], [16, 9, 3], max_confidence=0.8)
    >>> cell.lower, cell.upper, cell.expected
    (array([14,  8,  0]), array([20, 12,  4]), array([17. ,  9.5,  1.5]))
    """
    people, positive = _whole_numbers(population), _whole_numbers(favourable)
    if people.shape != positive.shape or (people < 1).any() or (positive < 0).any() or (positive > people).any():
        raise ValueError("favourable must be whole numbers between 0 and those of population, which are positive")
    ceilings = Ceilings.of(people, max_confidence, sets)
    if not announceable(ceilings):
        return None
    told = [(_whole_numbers(low), _whole_numbers(high)) for low, high in earlier or []]
    group = Group(positive[:, None], ceilings, steps=steps, least=least, earlier=[told])
    cell = _cell(group, None if previous is None else np.column_stack([*map(_whole_numbers, previous)]))
    return replace(cell, limits=cell.limits[:, 0], expected=cell.expected[:, 0])


def _chances_cut(people: IntArray, outcomes: int) -> int:
    """Give of how many outcomes chances are cut: all where tables are counted, else the positive one."""
    return outcomes if outcomes == OUTCOMES and people.sum() <= EXACT_PEOPLE else 1


def _cell(group: Group, previous: IntArray | None, *, stopped: bool = False) -> Cell:
    """Find the cell of a group that may be announced, of the chances that are cut; nothing is cut if ``stopped``."""
    start = group.start
    stopped = stopped or (len(group.windows) + len(group.versions) > 1 and not start.safe)
    rules = start if stopped else start.split(previous)
    untold, confidences = start.confidences(), rules.confidences()
    return Cell(
        limits=rules.limits.reshape(*group.counts.shape, 2),
        expected=rules.uniform.expected.reshape(group.counts.shape),
        by_reader={name: float(of.max()) for name, of in confidences.items()},
        of_sets=np.max([*confidences.values()], axis=0),
        prior=float(max(untold[model].max() for model in MODELS)),
        rules=rules.uniform.rules,
        steps=group.steps,
        stopped_by_earlier=stopped,
    )


def _of_positive(cell: Cell, counts: IntArray) -> Cell:
    """Lay out the limits of the positive outcome as those of all.

    Of two outcomes, one has exactly the people whom the other has not. Of more, no other outcome can have more; and the
    named reader expects of those without the positive outcome the same shares of the others in every region.
    """
    people, totals = counts.sum(axis=1), counts.sum(axis=0)
    limits = np.repeat(cell.limits, len(totals), axis=1)
    limits[:, 1:] = cell.steps - cell.limits[:, :, ::-1]
    if len(totals) > 2:
        limits[:, 1:, 0] = 0
    rest = people - cell.expected[:, 0]
    others = np.outer(rest, totals[1:] / max(totals[1:].sum(), 1))
    expected = np.column_stack([cell.expected, others])
    return replace(cell, limits=limits, expected=expected, named_reader=len(totals) > 2)


def _readings(
    versions: Sequence[ToldBefore], counts: IntArray, ceilings: Ceilings, cut: int
) -> list[EarlierVersion] | None:
    """Set each version before, as two readers take its limits, beside (m, outcomes) people; None if one cannot be."""
    both = [read for of in versions for read in (of, of._replace(limits=_below(of.limits, cut)))]
    if any(of.lost.any() for of in both) or (both and cut > 1):
        return None
    found = [EarlierVersion(of, int(counts[:, 0].sum()), ceilings) for of in both]
    return [*{of.key: of for of in found}.values()] if all(of.countable for of in found) else None


def _below(chances: FloatArray, cut: int) -> FloatArray:
    """Lower upper ends of (m, outcomes, 2) limits a little, for who knows that no chance that is cut is at its own."""
    below, upper = chances.copy(), chances[:, :cut, 1]
    below[:, :cut, 1] = np.where(upper < 1, upper - 2 * MISSED_STEPS, upper)
    return below


def _counts(chances: FloatArray, people: IntArray, cut: int) -> Counts:
    """Give lowest and highest counts, of the chances that are cut, within (m, outcomes, 2) limits."""
    lowest, highest = counts_within(chances[..., 0], chances[..., 1], people)
    return lowest[:, :cut].ravel(), highest[:, :cut].ravel()


def _whole_numbers(values: ArrayLike) -> IntArray:
    """Give a row of whole numbers."""
    numbers = np.asarray(values)
    whole = numbers.astype(np.int64)
    if numbers.ndim != 1 or not len(numbers) or not np.array_equal(whole, numbers):
        raise ValueError("numbers of people, counts and limits must be rows of whole numbers")
    return whole
