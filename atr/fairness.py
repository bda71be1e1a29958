"""Group fairness on the announced mapping, each measure with the range its true value must lie in.

Measures are those of [CGP] section 6: statistical parity (Def. 9), conditional statistical parity (Def. 10) and the
p%-rule (Def. 11). Everything here is computed from announced chances, populations and the policy, never from the true
decision mapping.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from atr.programme import UNKNOWN

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Measure = Literal["statistical_parity", "conditional_statistical_parity", "p_percent_rule"]
Verdict = Literal["met", "not_met", "cannot_tell"]
Range = tuple[float, float]

_NOISE = 1e-12
"""A lower end of a rate that is no larger was meant to be 0."""

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
    """

    population: Floats
    chance: Floats
    lower: Floats
    upper: Floats
    offsets: Ints
    totals: Floats | None
    printed: Ints
    halves: int = 1


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
    """

    population: Ints
    chance: Floats
    digits: int | Ints
    lower: Floats
    upper: Floats
    offsets: Ints
    exact: bool
    printed: Ints

    @property
    def outcomes(self) -> int:
        """How many outcomes there are."""
        return int(self.chance.shape[1])

    def event(self, *outcomes: int) -> EventCells:
        """The cells for the event that the outcome is one of these; the others bound it as well."""
        inside = list(outcomes)
        outside = [a for a in range(self.outcomes) if a not in outcomes]
        chance = self.chance[:, inside].sum(axis=1)
        # Rates are kept to half a digit; of three outcomes and more, each to a digit.
        halves = 1 if self.outcomes == 2 else 2 * min(len(inside), len(outside))
        totals = None
        if self.exact and len(self.population):
            digits = np.broadcast_to(self.digits, len(self.offsets) - 1)
            units = np.rint(chance * 10.0 ** np.repeat(digits, np.diff(self.offsets))).astype(np.int64)
            totals = exact_totals(self.population, units, self.offsets, digits=digits, halves=halves)
        return EventCells(
            population=self.population.astype(np.float64),
            chance=chance,
            lower=np.maximum(self.lower[:, inside].sum(axis=1), 1 - self.upper[:, outside].sum(axis=1)),
            upper=np.minimum(self.upper[:, inside].sum(axis=1), 1 - self.lower[:, outside].sum(axis=1)),
            offsets=self.offsets,
            totals=totals,
            printed=self.printed,
            halves=halves,
        )

    def events(self) -> tuple[EventCells, ...]:
        """Of every event and its opposite one: two mappings are as far apart as in the one they differ in most.

        The first is that the outcome is the positive one.
        """
        a = self.outcomes
        half = [e for size in range(1, a // 2 + 1) for e in combinations(range(a), size) if 2 * size < a or 0 in e]
        return tuple(self.event(*e) for e in half)


@dataclass(frozen=True)
class Comparison:
    """Two groups of people compared. ``groups[1]`` is the base; unbounded ends and missing ratios are inf and nan.

    ``people`` are those printed; ``rates`` are of ``outcome``, or of the positive one where none is named.
    """

    measure: Measure
    attribute: str
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
class _Rate:
    people: int
    value: float
    range: Range


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


def rate(cells: EventCells, members: npt.NDArray[np.bool_]) -> _Rate:
    """The announced rate of an event among the people in some regions, and between what the true one lies.

    Cell by cell within the promise; where group rates are exact, within each group's total as well.

    Parameters
    ----------
    members
        (n,) which regions; at least one.
    """
    starts = cells.offsets[:-1]

    def inside(values: Floats) -> Floats:
        return np.asarray(np.add.reduceat(np.where(members, cells.population * values, 0.0), starts))

    low, high, value = inside(cells.lower), inside(cells.upper), inside(cells.chance)
    if cells.totals is not None:
        outside = ~members

        def rest(values: Floats) -> Floats:
            return np.asarray(np.add.reduceat(np.where(outside, cells.population * values, 0.0), starts))

        touched = np.logical_or.reduceat(members, starts)
        whole = touched & ~np.logical_or.reduceat(outside, starts)
        least, most = cells.totals.T
        low = np.where(touched, np.maximum(low, least - rest(cells.upper)), 0.0)
        high = np.where(touched, np.minimum(high, most - rest(cells.lower)), 0.0)
        value = np.where(whole, np.clip(np.rint(value), least, most), value)
    people = float(cells.population[members].sum())
    ends = float(low.sum()) / people, float(high.sum()) / people
    announced = float(value.sum()) / people
    return _Rate(
        int(cells.printed[members].sum()),
        announced,
        (max(0.0, min(ends[0], announced)), min(1.0, max(ends[1], announced))),
    )


def group_rates(cells: EventCells) -> Floats:
    """(g,) the announced rate of an event in each QID group; where rates are exact, of whole numbers of people."""
    starts = cells.offsets[:-1]
    value = np.add.reduceat(cells.population * cells.chance, starts)
    if cells.totals is not None:
        value = np.clip(np.rint(value), *cells.totals.T)
    rates: Floats = value / np.add.reduceat(cells.population, starts)
    return rates


def difference(a: Sequence[_Rate], b: Sequence[_Rate]) -> tuple[float, Range]:
    """Total variation distance of two outcome distributions ([CGP] Def. 9) and its range.

    It is the largest difference in the rate of any event, so its ends are those of the event that differs most.

    Parameters
    ----------
    a, b
        The rates of the :meth:`AnnouncedCells.events`.
    """
    low = high = 0.0
    for x, y in zip(a, b, strict=True):
        (a0, a1), (b0, b1) = x.range, y.range
        low, high = max(low, a0 - b1, b0 - a1), max(high, a1 - b0, b1 - a0)
    return max(abs(x.value - y.value) for x, y in zip(a, b, strict=True)), (low, high)


def ratio(a: _Rate, b: _Rate) -> tuple[float, Range]:
    """Ratio of two rates ([CGP] Def. 11) and its range; 0/0 is 1, and r/0 is no ratio (nan).

    Both ends are infinite where the base is certain to be 0 and the other rate is not.
    """
    (a0, a1), (b0, b1) = a.range, b.range
    value = _divide(a.value, b.value)
    if a.range == b.range == (0.0, 0.0):
        return value, (1.0, 1.0)
    low = 0.0 if a0 == 0.0 else _divide(a0, b1)
    return (math.nan if math.isinf(value) else value), (low, math.inf if b0 <= _NOISE else a1 / b0)


def compare(
    cells: AnnouncedCells,
    values: dict[str, tuple[str, ...]],
    *,
    protected: dict[str, str | None],
    legitimate: tuple[str, ...],
    outcomes: tuple[str, ...],
    four_fifths: float,
    parity_tolerance: float,
) -> list[Comparison]:
    """All group-fairness comparisons of a report.

    Parameters
    ----------
    cells
        The announced groups.
    values
        For each attribute, (n,) the display value of each region.
    protected
        The protected attributes, each with its reference; None, or a value nobody announced has: the value with the
        highest rate. The category "unknown" is never chosen.
    legitimate
        Attributes that parity is conditioned on, all together.
    outcomes
        The positive outcome, then the others.
    four_fifths, parity_tolerance
        Where verdicts are drawn.

    Returns
    -------
    For each protected attribute the comparisons with its reference, then every other pair.
    """
    if not len(cells.population):
        return []
    everyone = np.ones(len(cells.population), dtype=bool)
    columns = {name: np.array(column, dtype=object) for name, column in values.items()}
    events = cells.events()
    single = tuple(cells.event(a) for a in range(len(outcomes)))
    result: list[Comparison] = []
    for attribute, wanted in protected.items():
        of_outcomes = [_rates(event, columns[attribute], everyone) for event in single]
        of_events = [_rates(event, columns[attribute], everyone) for event in events]
        reference = _reference(of_outcomes[0], wanted)
        if reference is None:
            continue

        compared = partial(_compared, attribute=attribute, reference=reference)
        parity = partial(compared, outcome=None, threshold=parity_tolerance)
        for pair in _pairs(of_outcomes[0], reference):
            for k, (outcome, rates) in enumerate(zip(outcomes, of_outcomes, strict=True)):
                found = ratio(*(rates[who] for who in pair))
                line = four_fifths if k == 0 else None
                result.append(
                    compared(
                        pair, rates, found, measure="p_percent_rule", condition=(), outcome=outcome, threshold=line
                    )
                )
            found = _apart(pair, of_events)
            result.append(parity(pair, of_outcomes[0], found, measure="statistical_parity", condition=()))
        given = [columns[name] for name in legitimate if name != attribute]
        names = [name for name in legitimate if name != attribute]
        for klass in dict.fromkeys(zip(*given, strict=True)):
            inside = np.logical_and.reduce([c == v for c, v in zip(given, klass, strict=True)])
            within = [_rates(event, columns[attribute], inside) for event in events]
            condition = tuple(zip(names, klass, strict=True))
            for pair in _pairs(within[0], reference):
                found = _apart(pair, within)
                result.append(
                    parity(pair, within[0], found, measure="conditional_statistical_parity", condition=condition)
                )
    return result


def verdict(measure: Measure, inside: Range, threshold: float | None) -> Verdict | None:
    """Met, not met, or cannot be told from a report this private; None where no line is drawn."""
    if threshold is None:
        return None
    low, high = inside
    slack = 1e-12
    if measure == "p_percent_rule":
        if low >= threshold - slack and high * threshold <= 1 + slack:
            return "met"
        return "not_met" if high < threshold - slack or low * threshold > 1 + slack else "cannot_tell"
    if high <= threshold + slack:
        return "met"
    return "not_met" if low > threshold + slack else "cannot_tell"


def _compared(pair: tuple[str, str], rates: dict[str, _Rate], found: tuple[float, Range], **what: Any) -> Comparison:
    value, inside = found
    a, b = (rates[who] for who in pair)
    return Comparison(
        groups=pair, value=value, range=inside, people=(a.people, b.people), rates=(a.value, b.value), **what
    )


def _apart(pair: tuple[str, str], of_events: list[dict[str, _Rate]]) -> tuple[float, Range]:
    """How far the outcomes of two groups of people are apart, from their rates of the events."""
    a, b = pair
    return difference([rates[a] for rates in of_events], [rates[b] for rates in of_events])


def _rates(cells: EventCells, column: npt.NDArray[np.object_], inside: npt.NDArray[np.bool_]) -> dict[str, _Rate]:
    return {value: rate(cells, inside & (column == value)) for value in dict.fromkeys(column[inside])}


def _reference(rates: dict[str, _Rate], wanted: str | None) -> str | None:
    if wanted in rates and wanted != UNKNOWN:
        return wanted
    known = [value for value in rates if value != UNKNOWN]
    return max(known, key=lambda value: rates[value].value, default=None)


def _pairs(rates: dict[str, _Rate], reference: str) -> Iterator[tuple[str, str]]:
    if reference in rates:
        yield from ((value, reference) for value in rates if value != reference)
    if len(rates) <= PAIRS_UP_TO:
        yield from ((b, a) for a, b in combinations(rates, 2) if reference not in (a, b))


def _divide(a: float, b: float) -> float:
    if b == 0.0:
        return 1.0 if a == 0.0 else math.inf
    return a / b
