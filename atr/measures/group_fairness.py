"""Group fairness on the announced mapping, each measure with the range its true value must lie in.

Measures are those of [CGP] section 6: statistical parity (Def. 9), conditional statistical parity (Def. 10) and the
p%-rule (Def. 11). Everything here is computed from announced chances, populations and the policy, never from the true
decision mapping.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial, reduce
from itertools import combinations, count
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from atr.core.display_text import UNKNOWN
from atr.core.tolerances import ZERO_CHANCE
from atr.measures import MEASURES, feasible_outcomes
from atr.measures.base import Figure, Lines, Range, Rate

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PAIRS_UP_TO = 12
"""An attribute with more values is compared with its reference only: all pairs would drown the report."""


@dataclass(frozen=True)
class EventCells:
    """The announced groups, cell by cell, for one event: that the outcome is one of some.

    Parameters
    ----------
    population
        (n,) people.
    chance
        (n,) announced probability of the event.
    lower, upper
        (n,) between what the true probability lies, by the promise of fidelity.
    offsets
        (g + 1,) where each QID group starts.
    totals
        (g, 2) between what the number of people of each group with the event lies; None where group rates are free.
    printed
        (n,) people as they are printed.
    halves
        Half digits by which the printed rate of a group may be off where rates are exact.
    inside
        (outcomes,) which outcomes it is made of.
    flattened
        (g,) which groups show their rates as chances, so that what is told of these rates is no whole number of people.
    """

    population: Floats
    chance: Floats
    lower: Floats
    upper: Floats
    offsets: Ints
    totals: Floats | None
    printed: Ints
    halves: int
    inside: npt.NDArray[np.bool_]
    flattened: npt.NDArray[np.bool_] | None = None

    def settled(self, value: Floats, group: Ints) -> Floats:
        """(k,) people with the event in some groups, as announced: whole numbers where rates are exact."""
        if self.totals is None:
            return value
        whole = np.clip(np.rint(value), *self.totals[group].T)
        return whole if self.flattened is None else np.where(self.flattened[group], value, whole)

    @cached_property
    def group_of(self) -> Ints:
        """(n,) the QID group of each region."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def in_people(self) -> tuple[Floats, ...]:
        """(n,) people with the event, at least, at most and as announced; all people, and as they are printed."""
        n = self.population
        return n * self.lower, n * self.upper, n * self.chance, n, self.printed.astype(np.float64)

    @cached_property
    def of_groups(self) -> tuple[Floats, ...]:
        """(g,) the same of whole groups, added up in the same order as those of any part."""
        return tuple(np.bincount(self.group_of, weights=x).astype(np.float64, copy=False) for x in self.in_people)


@dataclass(frozen=True)
class AnnouncedCells:
    """The announced groups, cell by cell: what a reader holds, with the exact populations.

    Parameters
    ----------
    population
        (n,) people.
    chance
        (n, outcomes) announced probabilities, the positive outcome first.
    digits
        Decimal digits of the announced probabilities; (g,) where they differ by QID group.
    lower, upper
        (n, outcomes) between what the true probabilities lie, by the promise of fidelity.
    offsets
        (g + 1,) where each QID group starts.
    exact
        Whether group rates are announced as they are.
    printed
        (n,) people as they are printed.
    flattened
        (g,) which groups show their rates as chances; None: none.
    """

    population: Ints
    chance: Floats
    digits: int | Ints
    lower: Floats
    upper: Floats
    offsets: Ints
    exact: bool
    printed: Ints
    flattened: npt.NDArray[np.bool_] | None = None

    @property
    def outcomes(self) -> int:
        """How many outcomes there are."""
        return int(self.chance.shape[1])

    @property
    def halves(self) -> int:
        """Half digits that a rate is kept to: of two outcomes to half a digit; of three and more, each to a digit."""
        return 1 if self.outcomes == 2 else 2

    @property
    def half(self) -> Floats:
        """(g,) by how much the rate of an outcome in each group was rounded at most."""
        digits = np.broadcast_to(self.digits, len(self.offsets) - 1)
        half: Floats = self.halves * 0.5 * 10.0 ** -digits.astype(np.float64)
        return half

    def _total(self, outcome: int) -> Floats:
        """(g, 2) between what the number of people of each group with an outcome lies."""
        digits = np.broadcast_to(self.digits, len(self.offsets) - 1)
        units = np.rint(self.chance[:, outcome] * 10.0 ** np.repeat(digits, np.diff(self.offsets))).astype(np.int64)
        total = exact_totals(self.population, units, self.offsets, digits=digits, halves=self.halves)
        if self.flattened is None or not self.flattened.any():
            return total
        # A whole number would give the exact size of a small group away, whose rate alone is told.
        people = np.add.reduceat(self.population, self.offsets[:-1])
        shown = np.add.reduceat(self.population * self.chance[:, outcome], self.offsets[:-1])
        off = people * self.half
        return np.where(self.flattened[:, None], np.stack([shown - off, shown + off], axis=1), total)

    @cached_property
    def _totals(self) -> Floats:
        """(outcomes, g, 2) the same of every outcome."""
        return np.array([self._total(a) for a in range(self.outcomes)])

    def _total_of(self, inside: list[int], outside: list[int]) -> Floats:
        """(g, 2) the same of the event that the outcome is one of some; of three and more, all bound it."""
        if self.outcomes == 2:
            return self._total(inside[0])
        people = np.add.reduceat(self.population, self.offsets[:-1])
        within, rest = (self._totals[of].sum(axis=0) for of in (inside, outside))
        return np.stack(
            [np.maximum(within[:, 0], people - rest[:, 1]), np.minimum(within[:, 1], people - rest[:, 0])], axis=1
        )

    def within_totals(self, least: Ints, most: Ints) -> AnnouncedCells:
        """The same, with every single cell bound by what the known total of its group leaves to it, too.

        Parameters
        ----------
        least, most
            (n,) between what the numbers of people lie, ``population`` too. Where they are known exactly the bounds are
            the tightest; else they hold for all numbers between.
        """
        if not self.exact or not len(self.population):
            return self
        if (least < most).any():
            every = frozenset(range(self.outcomes))
            alone = [frozenset({a}) for a in range(self.outcomes)]
            cells = cache(replace(self, exact=False).event)
            low = np.column_stack([self._least_chance(event, cells, least, most) for event in alone])
            high = 1 - np.column_stack([self._least_chance(every - event, cells, least, most) for event in alone])
        else:
            each, group = np.arange(len(self.population)), self._group_of
            single = _Sets(len(each), each, group, each, np.diff(self.offsets)[group] == 1)
            low, high = (of[: self.outcomes].T / self.population[:, None] for of in _parts(self.events(), single).ends)
            if self.outcomes == 2:
                low, high = np.column_stack([low, 1 - high]), np.column_stack([high, 1 - low])
        return replace(self, lower=np.minimum(low, self.chance), upper=np.maximum(high, self.chance))

    def _least_chance(
        self, event: feasible_outcomes.Outcomes, cells: Callable[..., EventCells], least: Ints, most: Ints
    ) -> Floats:
        """(n,) what the true chance of an event is at least in each cell, whatever the people of all cells are.

        Parameters
        ----------
        cells
            The cells for the event that the outcome is one of some.
        """
        one, all_people = least.astype(np.float64), most.astype(np.float64)
        half = self.half[self._group_of]

        def rest(of: Floats) -> Floats:
            """The most that the rest of the group adds, for each person of the cell."""
            return (np.bincount(self._group_of, weights=of)[self._group_of] - of) / one

        off = np.maximum(half * (1 + rest(all_people)), 0.5 / one)  # half digits a person, or half a person
        bounds: list[Floats] = []
        for by_cells, by_total in feasible_outcomes.least_people(event, self.outcomes):
            terms = [often * cells(*outcomes).lower for outcomes, often in by_cells.items()]
            for outcomes, often in by_total.items():
                of, rounded = cells(*outcomes), min(len(outcomes), self.outcomes - len(outcomes))
                terms.append(often * (of.chance - rest(all_people * (of.upper - of.chance)) - rounded * off))
            bounds.append(reduce(np.add, terms))
        return reduce(np.maximum, bounds)

    @property
    def _group_of(self) -> Ints:
        """(n,) the QID group of each region."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def event(self, *outcomes: int) -> EventCells:
        """The cells for the event that the outcome is one of these; the others bound it as well."""
        inside = list(outcomes)
        outside = [a for a in range(self.outcomes) if a not in outcomes]
        chance = self.chance[:, inside].sum(axis=1)
        return EventCells(
            population=self.population.astype(np.float64),
            chance=chance,
            lower=np.maximum(self.lower[:, inside].sum(axis=1), 1 - self.upper[:, outside].sum(axis=1)),
            upper=np.minimum(self.upper[:, inside].sum(axis=1), 1 - self.lower[:, outside].sum(axis=1)),
            offsets=self.offsets,
            totals=self._total_of(inside, outside) if self.exact and len(self.population) else None,
            printed=self.printed,
            halves=self.halves * min(len(inside), len(outside)),
            inside=np.isin(np.arange(self.outcomes), inside),
            flattened=self.flattened,
        )

    def events(self) -> tuple[EventCells, ...]:
        """Of every event and its opposite one: two mappings are as far apart as in the one they differ in most.

        The first is that the outcome is the positive one.
        """
        a = self.outcomes
        half = [e for size in range(1, a // 2 + 1) for e in combinations(range(a), size) if 2 * size < a or 0 in e]
        return tuple(self.event(*e) for e in half)


@dataclass(frozen=True)
class GroupingSpec:
    """What people are compared by, and against whom.

    Parameters
    ----------
    attributes
        One attribute, or the several of an intersection.
    named
        The reference named for it. Where there is none, or nobody announced has its value: ``rule``.
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
    """Two groups of people compared. ``groups[1]`` is the base; unbounded ends and missing ratios are inf and nan.

    ``people`` are those printed; ``rates`` are of ``outcome``, or of the positive one where none is named.
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


@dataclass(frozen=True)
class _Coded:
    """A value, or a tuple of values of several attributes, for each region, by its number among those that occur.

    Parameters
    ----------
    codes
        (n,) the number of each region; where ``whole``, (g,) that of each QID group, whose regions have it in common.
    values
        What the numbers stand for.
    group_of
        (n,) the QID group of each region.
    """

    codes: Ints
    values: tuple[tuple[str, ...], ...]
    group_of: Ints
    whole: bool

    @staticmethod
    def of(column: Sequence[str], event: EventCells) -> _Coded:
        known: defaultdict[str, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(known.__getitem__, column), dtype=np.int64, count=len(column))
        first = codes[event.offsets[:-1]]
        whole = bool((codes == first[event.group_of]).all())
        return _Coded(first if whole else codes, tuple((value,) for value in known), event.group_of, whole)

    def crossed(self, other: _Coded) -> _Coded:
        """The pairs of a value of this and a value of the other that occur."""
        whole = self.whole and other.whole
        first, second = (x.codes if whole or not x.whole else x.codes[x.group_of] for x in (self, other))
        codes, which = _renumbered(first * len(other.values) + second)
        pairs = zip(*(part.tolist() for part in np.divmod(which, len(other.values))), strict=True)
        return _Coded(codes, tuple(self.values[i] + other.values[k] for i, k in pairs), self.group_of, whole)


@dataclass(frozen=True)
class _Sets:
    """Disjoint sets of people, cut up by QID group.

    Parameters
    ----------
    size
        How many sets there are.
    part
        (n,) the part of each region; None where the groups are the parts.
    group, set
        (parts,) the group and the set of each part.
    whole
        (parts,) whether a part is a whole group.
    """

    size: int
    part: Ints | None
    group: Ints
    set: Ints
    whole: npt.NDArray[np.bool_]

    @staticmethod
    def of(column: _Coded, offsets: Ints) -> _Sets:
        size = len(column.values)
        if column.whole:
            groups = np.arange(len(offsets) - 1)
            return _Sets(size, None, groups, column.codes, np.ones(len(groups), dtype=bool))
        part, which = _renumbered(column.group_of * size + column.codes)
        group, of_set = np.divmod(which, size)
        return _Sets(size, part, group, of_set, np.bincount(part) == np.diff(offsets)[group])


def exact_totals(population: Ints, chance: Ints, offsets: Ints, *, digits: int | Ints, halves: int = 1) -> Floats:
    """Between what whole numbers each group's people with an event lie, where group rates are exact.

    A group's rate was rounded by at most half a last digit, so a total by at most half a digit per person: below
    10^digits people a single whole number is left.

    Parameters
    ----------
    population
        (n,) people.
    chance
        (n,) announced chances in units of the last digit.
    offsets
        (g + 1,).
    digits
        Decimal digits of the announced chances; (g,) where they differ by group.
    halves
        Half digits by which the rate of a group may be off.

    Returns
    -------
    (g, 2) people.

    Examples
    --------
    >>> exact_totals(np.array([12, 5, 3]), np.array([15, 24, 900]), np.array([0, 3]), digits=3)
    array([[3., 3.]])
    """
    unit = 10**digits
    people = np.add.reduceat(population, offsets[:-1])
    total = np.add.reduceat(population * chance, offsets[:-1])
    low = -((halves * people - 2 * total) // (2 * unit))
    high = (2 * total + halves * people) // (2 * unit)
    nearest = (2 * total + unit) // (2 * unit)
    return np.stack([np.minimum(low, nearest), np.maximum(high, nearest)], axis=1).astype(np.float64)


def announced_rate(cells: EventCells, members: npt.NDArray[np.bool_]) -> float:
    """The announced rate of an event among the people in some regions.

    Parameters
    ----------
    members
        (n,) which regions; at least one.
    """
    sides = _Coded(np.where(members, 0, 1), (("inside",), ("outside",)), cells.group_of, whole=False)
    return _rates(cells, _Sets.of(sides, cells.offsets), None)[0].value


def _cut(cells: EventCells, sets: _Sets) -> tuple[Floats, ...]:
    """(parts,) people with the event, at least, at most and as announced; all people, and as they are printed."""
    if sets.part is None:
        return cells.of_groups
    return tuple(np.bincount(sets.part, weights=x).astype(np.float64, copy=False) for x in cells.in_people)


def _parts(events: Sequence[EventCells], sets: _Sets) -> feasible_outcomes.Parts:
    """What bounds the outcomes of sets of people together, where group rates are exact."""
    cut = [_cut(event, sets) for event in events]
    return feasible_outcomes.Parts(
        events=np.array([event.inside for event in events]),
        set=sets.set,
        group=sets.group,
        people=cut[0][3],
        low=np.array([x[0] for x in cut]),
        high=np.array([x[1] for x in cut]),
        whole_low=np.array([event.of_groups[0] for event in events]),
        whole_high=np.array([event.of_groups[1] for event in events]),
        totals=np.array([event.totals for event in events]),
    )


def _rates(cells: EventCells, sets: _Sets, ends: tuple[Floats, Floats] | None) -> list[Rate]:
    """The announced rate of an event in every set, and between what the true one lies.

    The upper end of one set and the lower end of another are reached by the same mapping, also where the two share a
    group: the most that the one can have is what its total leaves with the other at its least, and the other way round.
    So the ends of a difference or a ratio of two rates of an outcome are those of the rates, and are attained. Those of
    an event of several outcomes may not be reached together (:meth:`feasible_outcomes.Parts.apart`).

    Parameters
    ----------
    ends
        (parts,) people with the event, at least and at most; None: cell by cell.
    """
    low, high, value, people, printed = _cut(cells, sets)
    if cells.totals is not None and sets.whole.any():
        value = np.where(sets.whole, cells.settled(value, sets.group), value)
    low, high = ends or (low, high)
    low, high, value, people, printed = (
        np.bincount(sets.set, weights=x, minlength=sets.size).astype(np.float64, copy=False)
        for x in (low, high, value, people, printed)
    )
    low, high, value = (x / np.maximum(people, 1.0) for x in (low, high, value))
    low, high = np.maximum(np.minimum(low, value), 0.0), np.minimum(np.maximum(high, value), 1.0)
    columns = (printed.astype(np.int64).tolist(), value.tolist(), low.tolist(), high.tolist())
    return [Rate(n, x, (bottom, top)) for n, x, bottom, top in zip(*columns, strict=True)]


@dataclass(frozen=True)
class _Measured:
    """The rates of sets of people, by what the sets are called, and how far the outcomes of two sets are apart.

    Parameters
    ----------
    place
        The number of each set.
    rates
        For each event those of each set.
    parts
        What bounds the outcomes together, beyond the bounds of each event.
    pairs
        How many pairs of sets are compared.
    """

    place: dict[Any, int]
    rates: list[list[Rate]]
    parts: feasible_outcomes.Parts | None
    pairs: int

    @staticmethod
    def of(events: Sequence[EventCells], column: _Coded, names: Sequence[Any], *, pairs: int) -> _Measured:
        """For events of cells, and what the values of a column are called."""
        sets = _Sets.of(column, events[0].offsets)
        parts = _parts(events, sets) if events[0].totals is not None else None
        ends = zip(*parts.ends, strict=True) if parts else [None] * len(events)
        rates = [_rates(event, sets, of_event) for event, of_event in zip(events, ends, strict=True)]
        return _Measured({name: i for i, name in enumerate(names)}, rates, parts, pairs)

    def of_event(self, event: int, name: Any) -> Rate:
        """The rate of an event in a set."""
        return self.rates[event][self.place[name]]

    def apart(self, one: Any, other: Any) -> Figure:
        """Total variation distance of the outcomes of two sets, and its range."""
        i, j = self.place[one], self.place[other]
        of_two = [(rates[i], rates[j]) for rates in self.rates]
        value, inside = MEASURES["statistical_parity"].figure(*zip(*of_two, strict=True))
        if self.parts is not None and inside[0] < inside[1]:
            ends = [(a.range[1] - b.range[0], b.range[1] - a.range[0]) for a, b in of_two]
            low, high = self.parts.apart(i, j, inside, ends, pairs=self.pairs)
            inside = min(low, value), max(high, value)
        return value, inside


def group_rates(cells: EventCells) -> Floats:
    """(g,) the announced rate of an event in each QID group; where rates are exact, of whole numbers of people."""
    value = cells.of_groups[2]
    value = cells.settled(value, np.arange(len(value)))
    rates: Floats = value / cells.of_groups[3]
    return rates


def compare(
    cells: AnnouncedCells,
    values: Mapping[str, Sequence[str]],
    *,
    compared: Sequence[GroupingSpec],
    legitimate: tuple[str, ...],
    outcomes: tuple[str, ...],
    lines: Lines,
    minimum: int = 1,
) -> list[Comparison]:
    """All group-fairness comparisons of a report.

    Parameters
    ----------
    cells
        The announced groups.
    values
        For each attribute, (n,) the display value of each region.
    compared
        What people are compared by. The category "unknown" is never the reference; nor is, by a rule, a group of fewer
        people than ``minimum``, if there is another.
    legitimate
        Attributes that parity is conditioned on, all together.
    outcomes
        The positive outcome, then the others.
    lines
        The policy's lines that measures are held to.
    minimum
        Printed people of the smallest group that can be the reference.

    Returns
    -------
    For each of ``compared`` the comparisons with its reference, then every other pair, then those within classes.
    """
    if not len(cells.population):
        return []
    needed = {name for by in compared for name in by.attributes} | set(legitimate)
    events = cells.events()
    coded = {name: _Coded.of(values[name], events[0]) for name in needed}
    result: list[Comparison] = []
    for by in compared:
        column = reduce(_Coded.crossed, (coded[name] for name in by.attributes))
        shown = [joined(parts) for parts in column.values]
        measured = _Measured.of(events, column, shown, pairs=_number_of_pairs(len(shown)))
        unknown = {label for label, parts in zip(shown, column.values, strict=True) if UNKNOWN in parts}
        of_positive = dict(zip(shown, measured.rates[0], strict=True))
        reference = _reference(of_positive, by, unknown, minimum=minimum)
        if reference is None:
            continue
        # The single outcomes are the first events; of two outcomes, the second is the opposite of the first.
        of_outcomes = [dict(zip(shown, rates, strict=True)) for rates in measured.rates[: len(outcomes)]]
        if len(outcomes) == 2:
            of_outcomes.append({label: _opposite(found) for label, found in of_positive.items()})
        pairs = list(_pairs(shown, reference))
        made = partial(Comparison, by=by, reference=reference)
        for pair in pairs:
            for measure in (m for m in MEASURES.values() if not m.conditional):
                for outcome, rates in zip(outcomes if measure.by_outcome else (None,), of_outcomes, strict=False):
                    a, b = (rates[who] for who in pair)
                    value, inside = measure.figure([a], [b]) if measure.by_outcome else measured.apart(*pair)
                    result.append(
                        made(
                            measure=measure.name,
                            groups=pair,
                            condition=(),
                            outcome=outcome,
                            value=value,
                            range=inside,
                            threshold=measure.line(lines) if outcome in (None, outcomes[0]) else None,
                            people=(a.people, b.people),
                            rates=(a.value, b.value),
                        )
                    )
        names = [name for name in legitimate if name not in by.attributes]
        if not names:
            continue
        alike = reduce(_Coded.crossed, (coded[name] for name in names)).crossed(column)
        of_classes = [(parts[: len(names)], joined(parts[len(names) :])) for parts in alike.values]
        classes = list(dict.fromkeys(klass for klass, _ in of_classes))
        within = _Measured.of(events, alike, of_classes, pairs=len(classes) * _number_of_pairs(len(shown)))
        for klass in classes:
            condition = tuple(zip(names, klass, strict=True))
            for pair in pairs:
                one, other = ((klass, who) for who in pair)
                if one in within.place and other in within.place:
                    a, b = (within.of_event(0, who) for who in (one, other))
                    value, inside = within.apart(one, other)
                    result += [
                        made(
                            measure=measure.name,
                            groups=pair,
                            condition=condition,
                            outcome=None,
                            value=value,
                            range=inside,
                            threshold=measure.line(lines),
                            people=(a.people, b.people),
                            rates=(a.value, b.value),
                        )
                        for measure in MEASURES.values()
                        if measure.conditional
                    ]
    return result


Summary = Literal["worst_class", "mean_over_classes"]


class _OfTwo(Protocol):
    @property
    def people(self) -> tuple[int, int]: ...


_Class = TypeVar("_Class", bound=_OfTwo)


def counted(classes: Sequence[_Class], *, minimum: int) -> list[_Class]:
    """The classes in which both groups have people enough; all of them, where they have in none."""
    return [c for c in classes if min(c.people) >= minimum] or list(classes)


def overall(summary: Summary, values: Sequence[float], ranges: Sequence[Range], people: Sequence[int]) -> Figure:
    """Conditional parity of two groups over all classes: the largest distance, or the mean one.

    Parameters
    ----------
    values, ranges
        Of the distance in each class.
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


def joined(parts: Sequence[str]) -> str:
    """Values of several attributes as one; those with a comma or a quotation mark are quoted as in CSV.

    >>> joined(("African-American", "Female")), joined(("a, b", "c"))
    ('African-American, Female', '"a, b", c')
    """
    if len(parts) == 1:
        return parts[0]
    return ", ".join('"' + part.replace('"', '""') + '"' if {",", '"'} & {*part} else part for part in parts)


def _opposite(of: Rate) -> Rate:
    """The rate of the opposite event."""
    low, high = of.range
    value, low, high = (0.0 if 1 - x <= ZERO_CHANCE else 1 - x for x in (of.value, high, low))
    return Rate(of.people, value, (low, high))


def _reference(rates: Mapping[str, Rate], by: GroupingSpec, unknown: AbstractSet[str], *, minimum: int) -> str | None:
    known = [value for value in rates if value not in unknown]
    if by.named in known:
        return by.named
    candidates = [value for value in known if rates[value].people >= minimum] or known
    if by.rule == "largest":
        return max(candidates, key=lambda value: rates[value].people, default=None)
    return max(candidates, key=lambda value: rates[value].value, default=None)


def _pairs(values: Sequence[str], reference: str) -> Iterator[tuple[str, str]]:
    yield from ((value, reference) for value in values if value != reference)
    if len(values) <= PAIRS_UP_TO:
        yield from ((b, a) for a, b in combinations(values, 2) if reference not in (a, b))


def _number_of_pairs(values: int) -> int:
    return math.comb(values, 2) if values <= PAIRS_UP_TO else values - 1


def _renumbered(codes: Ints) -> tuple[Ints, Ints]:
    """(n,) numbers without gaps in place of others, and which those were, in their order."""
    size = int(codes.max(initial=-1)) + 1
    if size > 4 * len(codes) + 1024:
        which, numbers = np.unique(codes, return_inverse=True)
        return numbers.reshape(-1), which
    used = np.bincount(codes, minlength=size) > 0
    return (np.cumsum(used) - 1)[codes], np.flatnonzero(used)
