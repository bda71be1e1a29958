"""Group fairness of a mapping: every comparison of a report, each with the range its true value must lie in.

For a report everything is computed from announced chances, populations and the policy, never from the true mapping.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import pandas as pd

from atr.core.arrays import IntArray, Values
from atr.core.comparison_rows import Rows, joined
from atr.core.display_text import ANY, UNKNOWN
from atr.measures import MEASURES
from atr.measures.base import Figure, Lines, Measure, Range, Rate
from atr.measures.cells import Cells, Chances, EventCells
from atr.measures.rates import rates

PAIRS_UP_TO = 12
"""An attribute with more values is compared with its reference only: all pairs would drown the report."""


@dataclass(frozen=True)
class GroupingSpec:
    """Attributes by which people are grouped, and the group that the others are compared with.

    Parameters
    ----------
    attributes
        One attribute, or the several of an intersection.
    named
        The reference the programme names. Where it names none, or nobody announced has its value, ``rule`` decides.
    rule
        The group with the highest rate of the positive outcome, or with most people.
    """

    attributes: tuple[str, ...]
    named: str | None = None
    rule: Literal["highest", "largest"] = "highest"

    @property
    def name(self) -> str:
        """What it is called in the report.

        >>> GroupingSpec(("race", "sex")).name
        'race and sex'
        """
        return " and ".join(self.attributes)


@dataclass(frozen=True)
class Comparison:
    """One measure of two groups. ``groups[1]`` is the base; unbounded ends and missing ratios are inf and nan.

    ``people`` are as printed; ``rates`` are of ``outcome``, or of the positive one where none is named.
    """

    measure: str
    by: GroupingSpec
    groups: tuple[str, str]
    reference: str
    condition: tuple[tuple[str, str], ...]
    outcome: str | None
    value: float
    range: Range
    threshold: float | None
    people: tuple[int, int]
    rates: tuple[float, float]


def compare(
    cells: Cells[Chances],
    values: Mapping[str, Sequence[str]],
    *,
    compared: Sequence[GroupingSpec],
    legitimate: Values,
    outcomes: Values,
    lines: Lines,
    minimum: int = 1,
    rows: Mapping[str, Rows] | None = None,
) -> list[Comparison]:
    """Compare groups of people by every measure of group fairness.

    Parameters
    ----------
    cells
        The announced groups.
    values
        For each attribute, (n,) the display value of each region.
    compared
        Attributes by which people are compared. The category "unknown" is never the reference; nor is, by a rule, a
        group of fewer people than ``minimum``, if there is another.
    legitimate
        Attributes that parity is conditioned on, all together.
    outcomes
        The positive outcome, then the others.
    lines
        The policy's lines that measures are held to.
    minimum
        Published people of the smallest group that can be the reference.
    rows
        For attributes whose values meet in rest groups, who is in which row of the comparisons of everybody by them. In
        intersections and within classes, people are left out whose value is not told.

    Returns
    -------
    For each of ``compared`` the comparisons with its reference, then every other pair, then those within classes.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 9 to 11; for the
    ranges Lemma 2, see :func:`atr.measures.rates.rates`.
    """
    if not len(cells.people):
        return []
    events = cells.events()
    needed = {name for by in compared for name in by.attributes} | set(legitimate)
    columns = {name: pd.factorize(np.array(values[name], dtype=object)) for name in needed}
    found: list[Comparison] = []
    for by in compared:
        alone = of_groups = _rates_by(events, columns, by.attributes)
        named, together = by.named, Rows((), ())
        if len(by.attributes) == 1 and rows and by.name in rows:
            together = rows[by.name]
            labels = np.array(together.labels, dtype=object)[cells.group_of]
            of_groups = _rates_by(events, columns | {by.name: pd.factorize(labels)}, by.attributes)
            named = None if named is None else together.called(named)
        reference = _reference(of_groups, replace(by, named=named), minimum=minimum)
        if reference is None:
            continue
        beside = [(value,) for row in together.rows if reference == (joined(row.values),) for value in row.values]
        reference_alone = next((who for who in (reference, *beside, *alone) if who in alone), reference)
        conditions = [name for name in legitimate if name not in by.attributes]
        classes: dict[Values, _Rates] = {(): of_groups}
        if conditions:
            of_both = _rates_by(events, columns, (*conditions, *by.attributes))
            for both, of_set in of_both.items():
                classes.setdefault(both[: len(conditions)], {})[both[len(conditions) :]] = of_set
        for known, of_people in classes.items():
            condition = tuple(zip(conditions, known, strict=False))
            among, base = (alone, reference_alone) if condition else (of_groups, reference)
            for pair in _pairs(list(among), base):
                if set(pair) <= of_people.keys():
                    found += [
                        Comparison(
                            measure=measure.name,
                            by=by,
                            groups=(joined(pair[0]), joined(pair[1])),
                            reference=joined(base),
                            condition=condition,
                            outcome=None if outcome is None else outcomes[outcome],
                            value=value,
                            range=inside,
                            threshold=None if outcome else measure.line(lines),
                            people=(a.people, b.people),
                            rates=(a.value, b.value),
                        )
                        for measure, outcome, a, b, (value, inside) in _figures(
                            *(of_people[who] for who in pair), outcomes=len(outcomes), conditional=bool(condition)
                        )
                    ]
    return found


_Rates = dict[Values, Sequence[Rate]]
"""For each set of people, by the values that they share, its rate of every event."""


def _rates_by(
    events: Sequence[EventCells], columns: Mapping[str, tuple[IntArray, Any]], names: Sequence[str]
) -> _Rates:
    """Of everybody with the same values of some attributes, in the order in which values occur; of none without one.

    ``columns`` has (n,) the number of each region's value, and (values,) which these are.
    """
    set_of, _ = columns[names[0]]
    for codes, values in (columns[name] for name in names[1:]):
        set_of, _ = pd.factorize(set_of * len(values) + codes, sort=True)
    first = np.zeros(set_of.max() + 1, dtype=np.int64)
    first[set_of[::-1]] = np.arange(len(set_of))[::-1]  # in a quarter of the time of np.unique
    sets = zip(*(values[codes[first]] for codes, values in (columns[name] for name in names)), strict=True)
    of_sets = zip(sets, zip(*rates(events, set_of), strict=True), strict=True)
    return {who: found for who, found in of_sets if ANY not in who}


def _figures(
    group: Sequence[Rate], base: Sequence[Rate], *, outcomes: int, conditional: bool
) -> Iterator[tuple[Measure, int | None, Rate, Rate, Figure]]:
    """Every measure of two sets of people, with the outcome that it is of and the rates of that or the positive one."""
    for measure in MEASURES.values():
        if measure.conditional != conditional:
            continue
        if not measure.by_outcome:
            yield measure, None, group[0], base[0], measure.figure(group, base)
            continue
        for outcome, (a, b) in enumerate(zip(group[:outcomes], base[:outcomes], strict=True)):
            yield measure, outcome, a, b, measure.figure([a], [b])


def _reference(of_groups: _Rates, by: GroupingSpec, *, minimum: int) -> Values | None:
    known = {who: of[0] for who, of in of_groups.items() if UNKNOWN not in who}
    enough = {who: of for who, of in known.items() if of.people >= minimum} or known
    sizes = {who: of.people if by.rule == "largest" else of.value for who, of in enough.items()}
    return next((who for who in known if joined(who) == by.named), max(sizes, key=sizes.__getitem__, default=None))


def _pairs(groups: Sequence[Values], reference: Values) -> Iterator[tuple[Values, Values]]:
    yield from ((who, reference) for who in groups if who != reference)
    if len(groups) <= PAIRS_UP_TO:
        yield from ((b, a) for a, b in combinations(groups, 2) if reference not in (a, b))


Summary = Literal["worst_class", "mean_over_classes"]


class _OfTwo(Protocol):
    @property
    def people(self) -> tuple[int, int]: ...


_Class = TypeVar("_Class", bound=_OfTwo)


def counted(classes: Sequence[_Class], *, minimum: int) -> list[_Class]:
    """Give the classes in which both groups have at least ``minimum`` people; all classes if there is none.

    Parameters
    ----------
    classes
        Each with the people of the two groups.
    minimum
        People.
    """
    return [c for c in classes if min(c.people) >= minimum] or list(classes)


def overall(summary: Summary, values: Sequence[float], ranges: Sequence[Range], people: Sequence[int]) -> Figure:
    """Sum up conditional parity of two groups over all classes: the largest distance, or the mean one.

    Parameters
    ----------
    summary
        Which of the two.
    values, ranges
        The distance in each class, as announced, and the range of the true one.
    people
        The weights of the mean: how many people of the two groups each class has.

    Returns
    -------
    The value and its range: each end is the largest, or the mean, of those ends.

    Examples
    --------
    >>> overall("mean_over_classes", [0.1, 0.4], [(0.1, 0.2), (0.3, 0.5)], [300, 100])
    (0.175, (0.15, 0.275))
    """
    columns = (list(values), [low for low, _ in ranges], [high for _, high in ranges])
    if summary == "worst_class":
        value, low, high = (max(column) for column in columns)
    else:
        value, low, high = (float(np.dot(column, people)) / sum(people) for column in columns)
    return value, (low, high)
