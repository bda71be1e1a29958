"""Changes since the last published report of a period as long, from the printed numbers of both reports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from atr.core.tolerances import ROUNDING_NOISE
from atr.errors import PeriodError
from atr.measures import MEASURES
from atr.programme.periods import parse
from atr.report.model import Change, Changes, Fairness, Margin, NotCompared, PublicReport
from atr.report.rounding import bounds, down, nearest, up

_DIGITS = 6
"""Decimal digits of a difference of two printed figures, neither of which has more."""

_Printed = tuple[float | None, float | None]
_Key = tuple[tuple[str, str], str]


def since(report: PublicReport, previous: PublicReport, *, sha256: str) -> Changes:
    """Compare the ratios and distances of the favourable outcome with those of an earlier report.

    Parameters
    ----------
    report, previous
        The report, and the one published before it.
    sha256
        The hash of the earlier report's ``report.json``.

    Returns
    -------
    Each group's figures against its reference beside the earlier ones, the margins to the lines, and what cannot be
    compared. A change is flagged only where the two printed ranges do not overlap.
    """
    margins: list[Margin] = []
    entries: list[Change] = []
    skipped: list[NotCompared] = []
    names = [by.attribute for by in report.compared]
    if report.positive != previous.positive:
        skipped.append(NotCompared(reason="outcome_changed", previous=previous.positive, now=report.positive))
        names = []
    for name in names:
        now, before = _figures(report, name), _figures(previous, name)
        worst, was = _worst(report, name), _worst(previous, name)
        if worst and was:  # whatever the references: each is the furthest of its report
            margins.append(_margin(report, name, worst, was))
        reason = _incompatible(now, before, name)
        if reason:
            skipped.append(reason)
            continue
        entries += [_change(report, e, before[key].value, before[key].range) for key, e in now.items() if key in before]
        skipped += _without_counterpart(now, before, name)
    if report.positive == previous.positive:
        gone = [by.attribute for by in previous.compared if by.attribute not in names]
        skipped += [NotCompared(reason="not_compared_now", attribute=a) for a in gone if _figures(previous, a)]
    return Changes(
        period=previous.period.label,
        version=previous.version,
        sha256=sha256,
        margin=tuple(margins),
        entries=tuple(entries),
        skipped=tuple(skipped),
    )


def problems(report: PublicReport) -> Iterator[tuple[str, str]]:
    """Contradictions between the changes that a report states and its own numbers.

    Parameters
    ----------
    report
        The report; the earlier one is not needed.

    Yields
    ------
    Where the contradiction is, and what is wrong.
    """
    found = report.changes
    if found is None:
        return
    try:
        earlier, own = parse(found.period), parse(report.period.label)
        if earlier.end is None or own.start is None or earlier.end > own.start or earlier.months != own.months:
            yield "period", "is not before that of the report and as long"
    except PeriodError:
        yield "period", "is no period before that of the report"
    stated: list[tuple[tuple[str, ...], Change | Margin, Change | Margin | None]] = []
    for change in found.entries:
        now = _figures(report, change.attribute).get((change.groups, change.measure))
        follows = None if now is None else _change(report, now, change.previous, change.previous_range)
        stated.append(((change.measure, change.attribute, *change.groups), change, follows))
    for margin in found.margin:
        worst = _worst(report, margin.attribute)
        was = _Worst(margin.previous_groups, margin.previous_threshold, margin.previous, margin.previous_range)
        again = None if worst is None else _margin(report, margin.attribute, worst, was)
        stated.append((("margin", margin.attribute), margin, again))
    seen = Counter(place for place, *_ in stated)
    for place, says, expected in stated:
        low, high = bounds(says.previous_range)
        if expected is None or seen[place] > 1:
            yield ", ".join(place), "has no counterpart among the comparisons of the report, or stands there twice"
        elif says.previous is not None and not low <= says.previous <= high:
            yield ", ".join(place), "the earlier figure lies outside its own range"
        elif says != expected:
            yield ", ".join(place), "does not follow from the figures"


def _figures(report: PublicReport, attribute: str) -> dict[_Key, Fairness]:
    """The comparisons of the favourable outcome for each group against the reference, by groups and measure."""
    return {
        (e.groups, e.measure): e
        for e in report.fairness
        if e.attribute == attribute
        and e.measure in MEASURES
        and e.reason != "different_times"
        and e.summary is None
        and e.outcome in (None, report.positive)
        and e.reference == e.groups[1]
        and not e.condition
    }


def _incompatible(now: dict[_Key, Fairness], before: dict[_Key, Fairness], attribute: str) -> NotCompared | None:
    """Why nothing by an attribute can be compared; None where it can, or where there is nothing in either report."""
    if not now or not before:
        reason: Literal["not_compared_then", "not_compared_now"] = "not_compared_then" if now else "not_compared_now"
        return NotCompared(reason=reason, attribute=attribute) if now or before else None
    was, is_now = (next(iter(figures.values())).reference for figures in (before, now))
    if was == is_now:
        return None
    return NotCompared(reason="reference_changed", attribute=attribute, previous=was, now=is_now)


def _without_counterpart(
    now: dict[_Key, Fairness], before: dict[_Key, Fairness], attribute: str
) -> Iterator[NotCompared]:
    here, there = (dict.fromkeys(groups[0] for groups, _ in figures) for figures in (now, before))
    if new := tuple(value for value in here if value not in there):
        yield NotCompared(reason="no_earlier_figure", attribute=attribute, groups=new)
    if gone := tuple(value for value in there if value not in here):
        yield NotCompared(reason="no_figure_now", attribute=attribute, groups=gone)


def _apart(report: PublicReport, a: _Printed, b: _Printed) -> bool:
    """Whether two printed ranges have nothing in common; an exact figure was rounded to the nearest digit."""
    half = 0.5 * 10.0**-report.policy.digits
    (a0, a1), (b0, b1) = (
        (low - half, high + half) if low == high else (low, high) for low, high in (bounds(a), bounds(b))
    )
    return a1 + ROUNDING_NOISE < b0 or b1 + ROUNDING_NOISE < a0


def _change(report: PublicReport, now: Fairness, previous: float | None, previous_range: _Printed) -> Change:
    return Change(
        attribute=now.attribute,
        groups=now.groups,
        measure=now.measure,
        previous=previous,
        previous_range=previous_range,
        value=now.value,
        change=None if now.value is None or previous is None else nearest(now.value - previous, _DIGITS),
        flagged=_apart(report, now.range, previous_range),
    )


# --- the margin


@dataclass(frozen=True)
class _Worst:
    """The margin of the ratio furthest from 1, with its range and its line."""

    groups: tuple[str, str]
    threshold: float
    value: float
    range: tuple[float, float]


def _worst(report: PublicReport, attribute: str) -> _Worst | None:
    """The ratio furthest from 1 among groups with people enough for a verdict; None where no line is drawn."""
    drawn = [
        e
        for e in _figures(report, attribute).values()
        if e.is_ratio and e.threshold is not None and e.reason != "too_few_people"
    ]
    if not drawn:
        return None
    digits, worst = report.policy.digits, min(drawn, key=lambda e: _at_most_1(e.value))
    line, value = worst.threshold or 0.0, nearest(_at_most_1(worst.value), digits)
    low, high = (min(side) for side in zip(*(_range_at_most_1(e.range) for e in drawn), strict=True))
    ends = value, min(down(low, digits), value), max(up(high, digits), value)
    margin, least, most = (nearest(end - line, _DIGITS) for end in ends)
    return _Worst(worst.groups, line, margin, (least, most))


def _at_most_1(ratio: float | None) -> float:
    """A ratio, or its inverse if that is smaller; 0 where there is none, because the base is 0."""
    return 0.0 if not ratio or math.isinf(ratio) else min(ratio, 1 / ratio)


def _range_at_most_1(inside: _Printed) -> tuple[float, float]:
    low, high = bounds(inside)
    ends = _at_most_1(low), _at_most_1(high)
    return min(ends), 1.0 if low <= 1 <= high else max(ends)


def _margin(report: PublicReport, attribute: str, now: _Worst, was: _Worst) -> Margin:
    return Margin(
        attribute=attribute,
        groups=now.groups,
        previous_groups=was.groups,
        threshold=now.threshold,
        previous_threshold=was.threshold,
        previous=was.value,
        previous_range=was.range,
        value=now.value,
        range=now.range,
        change=nearest(now.value - was.value, _DIGITS),
        flagged=_apart(report, now.range, was.range),
    )
