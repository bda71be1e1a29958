"""The comparisons of groups of people in a report, against what its printed numbers allow."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.optimize import linprog

from atr.core.arrays import BoolArray
from atr.core.display_text import UNKNOWN
from atr.core.publication import RATE_DIGITS
from atr.core.tolerances import RECOMPUTED
from atr.measures import MEASURES
from atr.measures import group_fairness as fairness
from atr.report import model, reader_view
from atr.report.comparisons import ComparisonFormatter, in_classes
from atr.report.rounding import bounds, down, nearest, up
from atr.report.times import DIFFERENT_TIMES
from atr.verify.finding import Finding, differences, either, failed
from atr.verify.population_bounds import Interval, PopulationBounds, RateBounds

_INFEASIBLE = 2
"""What the solver says where there is no solution."""
_WHATEVER_THE_PEOPLE = ("reference", "threshold", "attributes", "classes")
_JUDGED = ("verdict", "reason", "shortfall")


def comparisons(printed: PopulationBounds) -> Iterator[Finding]:
    """Find what is false in the comparisons of a report that announces something.

    Parameters
    ----------
    printed
        The numbers of the report, with the populations they leave open.

    Returns
    -------
    A finding for each false or missing statement.
    """
    report = printed.report
    found = fairness.compare(
        printed.cells if printed.exact else replace(printed.cells, totals=None),
        {name: tuple(column) for name, column in printed.columns.items()},
        compared=[fairness.GroupingSpec(by.attributes, by.reference) for by in report.compared],
        legitimate=tuple(a.name for a in report.attributes if a.legitimate),
        outcomes=printed.announcement.outcomes,
        lines=report.policy,
        minimum=report.policy.minimum_group_size,
        rows=reader_view.rows(report),
    )
    for by in report.compared:
        yield from _reference(printed, by, is_compared=any(c.by.attributes == by.attributes for c in found))
    yield from _entries(printed, found)
    if not printed.settles(printed.everyone):
        yield from contradictions(report)


def _reference(printed: PopulationBounds, by: model.ComparedBy, *, is_compared: bool) -> Iterator[Finding]:
    """Check that a reference is announced, and the group that the rule stated for it chooses."""
    where, minimum = f"compared, {by.attribute}.reference", printed.report.policy.minimum_group_size
    if (by.reference is not None, by.chosen is not None) != (is_compared, is_compared):
        yield Finding(where, "is missing, or is of groups that are not compared")
    if by.reference is None:
        return
    groups = printed.people_by(by.attributes)
    people = {who: printed.printed_people(members) for who, members in groups.items()}
    values = printed.labels if len(by.attributes) == 1 else printed.columns
    unknown = np.logical_or.reduce([values[name] == UNKNOWN for name in by.attributes])
    known = {who for who, members in groups.items() if not unknown[members].any()}
    enough = {who for who in known if people[who][0] >= minimum}
    possible = {who for who in known if people[who][1] >= minimum} if enough else known
    if by.reference not in known:
        yield Finding(where, "is no group that is announced, or is unknown")
    elif by.chosen == "named":
        return
    elif by.reference not in possible:
        yield Finding(where, "has too few people")
    elif by.chosen == "largest" and people[by.reference][1] < max(people[who][0] for who in enough or known):
        yield Finding(where, "is not the largest group")
    elif by.chosen == "highest":
        rates = {who: printed.value(groups[who], printed.events[0]) for who in {*enough, by.reference}}
        if rates[by.reference][1] < max(low for low, _ in rates.values()) - RECOMPUTED:
            yield Finding(where, "is not the group with the highest rate")


def _entries(printed: PopulationBounds, found: Sequence[fairness.Comparison]) -> Iterator[Finding]:
    """Check each comparison against the ones that the report must have; their figures count for exact populations."""
    report = printed.report
    how = ComparisonFormatter(report.policy)
    compared = [entry for entry in report.fairness if entry.measure in MEASURES]
    stated, expected = ({_key(entry): entry for entry in entries} for entries in (compared, how.entries(found)))
    yield from failed(
        (len(stated) == len(compared), "fairness", "a comparison stands there twice"),
        *((key in expected, _name(e), "is a comparison that the groups do not give") for key, e in stated.items()),
        *((key in stated, _name(e), "is missing") for key, e in expected.items()),
    )
    classes = in_classes(report.fairness)
    for key in [key for key in expected if key in stated]:
        entry, follows = stated[key].model_copy(update={"condition": expected[key].condition}), expected[key]
        unjudged = ("sampling", *(_JUDGED if entry.reason == DIFFERENT_TIMES else ()))  # follows from the groups
        if entry.summary is not None:  # follows from the printed figures of the classes, whatever the exact people are
            follows = how.overall(entry.summary, classes.get((entry.attribute, entry.groups), [follows]))
        if entry.summary is not None or printed.settles(*_pair(printed, follows)):
            yield from _differ(entry, follows, [name for name in model.Fairness.model_fields if name not in unjudged])
            continue
        problems = list(_differ(entry, follows, _WHATEVER_THE_PEOPLE)) or list(_outside(printed, entry))
        yield from problems or _differ(entry, how.judged(entry), [name for name in _JUDGED if name not in unjudged])


def _differ(stated: model.Fairness, follows: model.Fairness, names: Sequence[str]) -> Iterator[Finding]:
    one, other = ({name: getattr(entry, name) for name in names} for entry in (stated, follows))
    for found in differences("", one, other):
        yield Finding(_name(stated), f"{found.where.removeprefix('.')} {found.problem}")


def _pair(printed: PopulationBounds, entry: model.Fairness) -> list[BoolArray]:
    """(n,) the regions of either group of a comparison."""
    of_attribute = printed.people_by(entry.attributes or (entry.attribute,), alone=bool(entry.condition))
    return [printed.having(entry.condition) & of_attribute[who] for who in entry.groups]


def _outside(printed: PopulationBounds, entry: model.Fairness) -> Iterator[Finding]:
    """Give what no populations within the rounding give."""
    digits, outcomes = printed.report.policy.digits, printed.announcement.outcomes
    event = printed.outcome_events[outcomes.index(entry.outcome) if entry.outcome in outcomes else 0]
    pair = _pair(printed, entry)
    for who, members, rate, people in zip(entry.groups, pair, entry.rates, entry.people, strict=True):
        fewest, most = printed.printed_people(members)
        if not fewest <= people <= most or people % printed.announcement.rounding:
            yield Finding(_name(entry), f"{who} is stated as {people} people, {either(fewest, most)} follows")
        low, high = printed_rate(printed.value(members, event))
        if not low <= rate <= high:
            yield Finding(_name(entry), f"the rate of {who} is stated as {rate}, {either(low, high)} follows")
    if not _is_single(entry, digits) and printed.cells.totals is not None and all(map(printed.whole, pair)):
        yield Finding(_name(entry), "has a range, though it compares whole groups whose rates are exact")
    a, b = (printed.rate(members, event) for members in pair)
    measure = MEASURES[entry.measure]
    if measure.scale == "ratio":
        follows = _ratio(a, b)
        if b.value[1] <= RECOMPUTED < a.value[0] if entry.value is not None else b.value[0] > RECOMPUTED:
            yield Finding(_name(entry), "a ratio is stated where there is none, or is missing")
    else:
        follows = _difference(a, b) if measure.by_outcome else _distance(printed, pair)
    yield from (Finding(_name(entry), problem) for problem in _figures(entry, follows, digits))


def _is_single(entry: model.Fairness, digits: int) -> bool:
    """Tell whether a range has no width; that of a figure at the line of a verdict was rounded down and up."""
    (low, high), line = bounds(entry.range), entry.threshold
    at_line = line is not None and any(low <= at <= high for at in (line, 1 / line if line else math.inf))
    return low == high or (at_line and high - low <= 1.5 * 10.0**-digits)


def _figures(entry: model.Fairness, follows: RateBounds, digits: int) -> Iterator[str]:
    """Check a value and its range against what they lie between."""
    half, (bottom, top), (low, high) = 0.5 * 10.0**-digits, bounds(entry.range), (follows.low, follows.high)
    value = entry.value
    if value is not None and not _within(value, (follows.value[0] - half, follows.value[1] + half)):
        yield f"the value is stated as {value}, {follows.value[0]:.{digits}f} to {follows.value[1]:.{digits}f} follows"
    if value is None and MEASURES[entry.measure].scale == "difference":
        yield "a value follows, but none is stated"
    if bottom == top and math.isfinite(top):
        if value != bottom or high[0] - low[1] >= 2 * half:
            yield "the range is narrower than what the promise leaves open"
        return
    if not _within(bottom, (_rounded(down, low[0] - _slack(low[0]), digits), low[1])):
        yield f"the range starts at {bottom}, {low[0]:.{digits}f} to {low[1]:.{digits}f} follows"
    if not _within(top, (high[0], _rounded(up, high[1] + _slack(high[1]), digits))):
        yield f"the range ends at {top}, {high[0]:.{digits}f} to {high[1]:.{digits}f} follows"
    if value is not None and not bottom <= value <= top:
        yield "the value lies outside its own range"


def _distance(printed: PopulationBounds, pair: Sequence[BoolArray]) -> RateBounds:
    """Bound the total variation distance of two sets of people and its ends: that of the event that differs most."""
    apart = [_difference(*(printed.rate(members, event) for members in pair)) for event in printed.events]
    ends = np.max([(of.value, of.low, of.high) for of in apart], axis=0).tolist()
    return RateBounds(*((low, high) for low, high in ends))


def _difference(a: RateBounds, b: RateBounds) -> RateBounds:
    """Bound the difference of two rates, and the two ends of its range."""

    def apart(x: Interval, y: Interval) -> Interval:
        return max(0.0, x[0] - y[1], y[0] - x[1]), max(x[1] - y[0], y[1] - x[0])

    widest = apart((a.low[0], a.high[1]), (b.low[0], b.high[1]))
    narrowest = apart((a.low[1], a.high[0]), (b.low[1], b.high[0]))
    return RateBounds(apart(a.value, b.value), (widest[0], narrowest[0]), (narrowest[1], widest[1]))


def _ratio(a: RateBounds, b: RateBounds) -> RateBounds:
    """Bound the ratio of two rates and its ends; where both can be 0, so that it is 1, that as well."""

    def over(x: Interval, y: Interval) -> Interval:
        smallest, largest = ((0.0 if p <= RECOMPUTED else p / q if q > RECOMPUTED else math.inf) for p, q in (x, y))
        return smallest, largest

    value = over((a.value[0], b.value[1]), (a.value[1], b.value[0]))
    low = over((a.low[0], b.high[1]), (a.low[1], b.high[0]))
    high = over((a.high[0], b.low[1]), (a.high[1], b.low[0]))
    if b.low[0] <= RECOMPUTED:
        high = high[0], math.inf
    if max(a.value[0], b.value[0]) <= RECOMPUTED:
        value = min(value[0], 1.0), max(value[1], 1.0)
    if max(a.high[0], b.high[0]) <= RECOMPUTED:
        low, high = (low[0], max(low[1], 1.0)), (min(high[0], 1.0), high[1])
    return RateBounds(value, low, high)


def printed_rate(value: Interval) -> Interval:
    """Give the smallest and largest printed rate, from those of the rate itself; all from 0 to 1."""
    noise = 0.0 if value[0] == value[1] else RECOMPUTED
    return nearest(value[0] - noise, RATE_DIGITS), nearest(value[1] + noise, RATE_DIGITS)


def _within(number: float, interval: Interval) -> bool:
    low, high = interval
    return low - _slack(low) <= number <= high + _slack(high)


def _rounded(how: Callable[[float, int], float], number: float, digits: int) -> float:
    return how(number, digits) if math.isfinite(number) else number


def _slack(number: float) -> float:
    return RECOMPUTED * max(1.0, abs(number)) if math.isfinite(number) else 0.0


def _key(entry: model.Fairness) -> tuple[object, ...]:
    given = frozenset(entry.condition.items())
    return entry.measure, entry.attribute, entry.groups, given, entry.summary, entry.outcome


def _name(entry: model.Fairness) -> str:
    given = "".join(f", {name} {value}" for name, value in entry.condition.items())
    parts = [entry.measure, f"{entry.attribute}: {' against '.join(entry.groups)}{given}", entry.summary, entry.outcome]
    return f"fairness, {', '.join(part for part in parts if part)}"


# --- contradictions


def contradictions(report: model.PublicReport) -> Iterator[Finding]:
    """Find comparisons by one attribute whose printed figures cannot all be true.

    Parameters
    ----------
    report
        A well-formed report; each of its figures is rounded to the nearest digit.

    Returns
    -------
    A finding for each attribute, and condition, whose figures contradict each other.
    """
    together: dict[tuple[str, frozenset[tuple[str, str]]], list[model.Fairness]] = defaultdict(list)
    for entry in report.fairness:
        if entry.measure in MEASURES and entry.summary is None and entry.outcome in (None, *report.outcomes):
            together[entry.attribute, frozenset(entry.condition.items())].append(entry)
    for (attribute, given), entries in together.items():
        if not _possible(entries, report):
            where = "".join(f", {name} {value}" for name, value in sorted(given))
            yield Finding(f"fairness, {attribute}{where}", "its rates, ratios and differences cannot all be true")


def _possible(entries: Sequence[model.Fairness], report: model.PublicReport) -> bool:
    """Tell whether there are rates of all groups and outcomes that give all these figures.

    Of two outcomes they sum to 1; of more, each was rounded to whole people on its own.
    """
    half, half_rate = (0.5 * 10.0**-digits + RECOMPUTED for digits in (report.policy.digits, RATE_DIGITS))
    groups, two = dict.fromkeys(who for e in entries for who in e.groups), len(report.outcomes) == 2
    place = {key: i for i, key in enumerate(product(groups, report.outcomes))}
    lower, upper = np.zeros(len(place)), np.ones(len(place))
    rows: list[tuple[int, int, float, float, float]] = []  # two rates, how often each counts, and their sum at most
    for e in entries:
        a, b = rates = [place[who, e.outcome or report.positive] for who in e.groups]
        lower[rates] = np.maximum(lower[rates], np.array(e.rates) - half_rate)
        upper[rates] = np.minimum(upper[rates], np.array(e.rates) + half_rate)
        if e.value is not None and e.is_ratio:
            rows += [(a, b, 1.0, -(e.value + half), RECOMPUTED), (a, b, -1.0, e.value - half, RECOMPUTED)]
        elif e.value is not None:
            rows += [(a, b, 1.0, -1.0, e.value + half), (a, b, -1.0, 1.0, e.value + half)]
            if two and e.rates[0] != e.rates[1]:
                more = 1.0 if e.rates[0] > e.rates[1] else -1.0
                rows.append((a, b, -more, more, half - e.value))
    if (lower > upper).any():
        return False
    sums = np.zeros((len(rows), len(place)))
    for row, (a, b, often_a, often_b, _) in zip(sums, rows, strict=True):
        row[[a, b]] = often_a, often_b
    found = linprog(
        np.zeros(len(place)),
        A_ub=sums,
        b_ub=[most for *_, most in rows],
        A_eq=np.kron(np.eye(len(groups)), np.ones(2)) if two else None,
        b_eq=np.ones(len(groups)) if two else None,
        bounds=list(zip(lower.tolist(), upper.tolist(), strict=True)),
        method="highs",
    )
    return int(found.status) != _INFEASIBLE
