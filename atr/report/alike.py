"""People alike: how much of a gap remains among people who are otherwise alike, from the printed numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from atr.core.announcement import Announcement
from atr.core.arrays import FloatArray, IntArray, Values, segment_of
from atr.core.comparison_rows import joined
from atr.core.display_text import ANY, UNKNOWN
from atr.core.publication import RATE_DIGITS, rounded_total
from atr.core.tolerances import MISSED_STEPS, ZERO_CHANCE
from atr.measures.alike import Counts, standardised
from atr.measures.cells import summed
from atr.report import reader_view
from atr.report.model import Alike, AlikeClass, AlikeDifference, AlikeFinding, Fairness, PublicReport
from atr.report.rounding import down, nearest, printed_range, up
from atr.report.sampling import alpha_of

_Ends = tuple[float, float]


def alike(report: PublicReport) -> tuple[Alike, ...]:
    """Compare the groups of every protected attribute and intersection with their reference among people alike.

    With the printed numbers of people. Left out are people whose class is not known: those of rest and coarsened
    groups, of groups that show their rates only where sensitive attributes count, and those with a value "unknown".

    Returns
    -------
    One for each comparison of statistical parity with a reference, in their order.
    """
    pairs = [
        entry
        for entry in report.fairness
        if entry.measure == "statistical_parity" and entry.groups[1] == entry.reference
    ]
    if not pairs:
        return ()
    printed = _Printed(report)
    of_attributes = groupby(pairs, key=lambda entry: entry.attributes or (entry.attribute,))
    return tuple(found for by, entries in of_attributes for found in _by(printed, by, entries))


def counts_of(report: PublicReport) -> Counts:
    """People of the announced regions of a report, and how many have the positive outcome, within its limits.

    Limits are of whole people where numbers of people are printed exactly, of chances where they are rounded. Expected
    people that miss by rounding what the printed rate of their group leaves, or the printed limits, are moved there.
    """
    shown = reader_view.announcement(report)
    event = reader_view.cells(shown).event(0)
    people, group = shown.published.astype(np.float64), segment_of(shown.offsets)
    expected, lowest, highest = (people * of for of in (event.chance, event.lower, event.upper))
    fewest, most = shown.open_people
    exact = bool((fewest == most).all())
    if exact:
        lowest, below = np.ceil(lowest - MISSED_STEPS), np.ceil(highest - MISSED_STEPS) - 1
        told = (report.fidelity.kind == "limits") & (event.upper < 1) & ~shown.flat  # the upper end is not included
        highest = np.where(told, below, np.floor(highest + MISSED_STEPS))
    lowest, highest = np.minimum(lowest, expected), np.maximum(highest, expected)
    total = np.tile([-np.inf, np.inf], (len(shown.groups), 1))
    if event.totals is not None:
        now, least, most_of = (summed(group, of) for of in (expected, lowest, highest))
        total = _by_chances(shown, now, event.totals) if exact else _by_rates(report, summed(group, people))
        total = np.clip(total, least[:, None], most_of[:, None])
        missed = np.clip(now, *total.T) - now
        way = np.where((missed > 0)[group], highest, lowest) - expected
        expected = expected + way * np.abs(missed / np.maximum(np.abs(summed(group, way)), ZERO_CHANCE))[group]
    return Counts(people, np.maximum(fewest, 1).astype(np.float64), expected, lowest, highest, group, total)


def _by_rates(report: PublicReport, people: FloatArray) -> FloatArray:
    """(g, 2) totals of rounded people that the printed rates of groups leave."""
    rates = np.array([(group.rate or {})[report.positive] for group in report.announced_groups])
    half = 0.5 * 10.0**-RATE_DIGITS
    return people[:, None] * np.clip(np.column_stack([rates - half, rates + half]), 0.0, 1.0)


def _by_chances(shown: Announcement, now: FloatArray, total: FloatArray) -> FloatArray:
    """(g, 2) totals that the chances of exact people leave as well: these are off by a unit of their last digit."""
    off = np.add.reduceat(shown.people, shown.offsets[:-1]) * 10.0**-shown.group_digits
    off = off / 2 if len(shown.outcomes) == 2 else off
    least = np.maximum(total[:, 0], np.ceil(now - off - MISSED_STEPS))
    most = np.minimum(total[:, 1], np.floor(now + off + MISSED_STEPS))
    told = ~shown.limits_only & (least <= most)
    return np.where(told[:, None], np.column_stack([least, most]), total)


@dataclass(frozen=True)
class _Printed:
    """The announced regions of a report."""

    report: PublicReport

    @cached_property
    def columns(self) -> dict[str, Values]:
        return reader_view.columns(self.report)

    @cached_property
    def labels(self) -> dict[str, Values]:
        return reader_view.labels(self.report)

    @cached_property
    def counts(self) -> Counts:
        return counts_of(self.report)

    @cached_property
    def as_of(self) -> IntArray:
        """(g,) the version that each group's numbers are of."""
        return np.array([group.as_of or 0 for group in self.report.announced_groups], dtype=np.int64)

    @cached_property
    def errors(self) -> float | None:
        """How many standard errors sampling may add; None where the log is no sample."""
        alpha = alpha_of(self.report)
        return None if alpha is None else float(norm.isf(alpha / 2))

    @cached_property
    def ratios(self) -> dict[tuple[str, tuple[str, str]], float | None]:
        """The ratio of the rates of the positive outcome, by attribute and pair."""
        return {
            (entry.attribute, entry.groups): entry.value
            for entry in self.report.fairness
            if entry.measure == "p_percent_rule" and entry.outcome == self.report.positive and not entry.condition
        }

    def who(self, by: Values) -> npt.NDArray[np.object_]:
        """(n,) the group of each region by some attributes; :data:`ANY` where it is in none."""
        own = [self.labels[by[0]]] if len(by) == 1 else [self.columns[name] for name in by]
        told = [ANY if ANY in values else joined(values) for values in zip(*own, strict=True)]
        return np.array(told, dtype=object)

    def classes(self, names: Values) -> tuple[IntArray, list[Values]]:
        """(n,) the class of each region by some attributes, -1 where it is not known; and the values of each class."""
        coarsened = np.array([group.status == "coarsened" for group in self.report.announced_groups], dtype=np.bool_)
        values = pd.MultiIndex.from_arrays([self.columns[name] for name in names])
        codes, found = pd.factorize(values)
        told = np.array([not {ANY, UNKNOWN} & {*of} for of in found], dtype=np.bool_)
        return np.where(told[codes] & ~coarsened[self.counts.group], codes, -1), list(found)


@dataclass(frozen=True)
class _Classes:
    """The classes of people alike in some attributes."""

    names: Values
    of: IntArray
    values: list[Values]


def _by(printed: _Printed, by: Values, entries: Iterator[Fairness]) -> Iterator[Alike]:
    """All comparisons by an attribute, or the attributes of an intersection."""
    others = [a for a in printed.report.attributes if a.name not in by]
    names = tuple(a.name for a in others if a.role == "public")
    public = _Classes(names, *printed.classes(names)) if names else None
    both = tuple(a.name for a in others)
    situation = _Classes(both, *printed.classes(both)) if len(both) > len(names) else None
    who = printed.who(by)
    for entry in entries:
        side = (who == entry.groups[0]).astype(np.int64) - (who == entry.groups[1])
        everybody = _everybody(printed, entry, side)
        if everybody is not None:
            yield Alike(
                attribute=entry.attribute,
                attributes=entry.attributes,
                groups=entry.groups,
                everybody=everybody,
                public=_difference(printed, side, public),
                situation=_difference(printed, side, situation),
                classes=tuple(_of_classes(printed, side, public, situation)),
            )


def _of_classes(
    printed: _Printed, side: IntArray, public: _Classes | None, situation: _Classes | None
) -> Iterator[AlikeClass]:
    """The differences within each class of people with the same other public attributes."""
    if public is None:
        return
    order = np.argsort(public.of, kind="stable")
    for regions in np.split(order, np.flatnonzero(np.diff(public.of[order])) + 1):
        of_class = _difference(printed, side, public, regions)
        if of_class is not None:
            values = public.values[public.of[regions[0]]]
            yield AlikeClass(
                condition=dict(zip(public.names, values, strict=True)),
                public=of_class,
                situation=_difference(printed, side, situation, regions),
            )


def _everybody(printed: _Printed, entry: Fairness, side: IntArray) -> AlikeDifference | None:
    """The difference of all people of two groups: of two outcomes that of the comparison, with its sign."""
    alone = _Classes((), np.zeros(len(side), dtype=np.int64), [()])
    found = _difference(printed, side, alone)
    if found is None:
        return None
    apart, off, digits = entry.rates[0] - entry.rates[1], 10.0**-RATE_DIGITS, printed.report.policy.digits
    difference, *inside = np.clip((found.difference, *found.range), apart - off, apart + off).round(digits).tolist()
    if len(printed.report.outcomes) == 2:
        low, high = (end or 0.0 for end in entry.range)
        size, ratio = entry.value or 0.0, printed.ratios.get((entry.attribute, entry.groups))
        fewer = entry.rates[0] < entry.rates[1] if ratio is None or ratio == 1 else ratio < 1
        difference = -size if fewer else size
        inside = (-high, high) if low == 0 else (-high, -low) if fewer else (low, high)
    interval = found.interval
    if entry.sampling is not None:
        (least, most), (more, _) = entry.sampling.interval, entry.sampling.groups or entry.groups
        most = 1.0 if most is None else most
        interval = (least, most) if more == entry.groups[0] else (-most, -least)
    if interval is not None:
        interval = min(interval[0], inside[0]), max(interval[1], inside[1])
    return _told((), entry.people, difference, inside, interval, at_once=found.finding != "different_times")


def _difference(
    printed: _Printed, side: IntArray, classes: _Classes | None, regions: IntArray | None = None
) -> AlikeDifference | None:
    """The difference among people alike, of all regions or of those of some groups; None where nobody is."""
    if classes is None:
        return None
    every = np.arange(len(side)) if regions is None else regions
    counts, side, of = printed.counts.of(every), side[every], classes.of[every]
    found = standardised(counts, side, of)
    if found is None:
        return None
    digits, step = printed.report.policy.digits, printed.report.policy.population_rounding
    value = float(np.copysign(nearest(abs(found.value), digits), found.value)) + 0.0
    low, high = printed_range(value, (found.low, found.high), digits)
    inside = (low or 0.0, high or 0.0)
    interval = None
    if printed.errors is not None:
        off = printed.errors * found.standard_error
        interval = down(inside[0] - off, digits), up(inside[1] + off, digits)
    a, b = rounded_total(np.rint(found.people).astype(np.int64), rounding=step).tolist()
    versions = np.unique(printed.as_of[printed.counts.group[every][found.compared]])
    return _told(classes.names, (a, b), value, inside, interval, at_once=len(versions) == 1)


def _told(
    names: Values, people: tuple[int, int], difference: float, inside: _Ends, interval: _Ends | None, *, at_once: bool
) -> AlikeDifference:
    """A difference with what can be told of it: nothing of numbers of different times."""
    difference, *ends = (min(max(x + 0.0, -1.0), 1.0) for x in (difference, *inside, *(interval or ())))
    inside, interval = (ends[0], ends[1]), None if interval is None or not at_once else (ends[2], ends[3])
    return AlikeDifference(
        alike_in=names,
        people=people,
        difference=difference,
        range=inside,
        interval=interval,
        finding=_finding(inside, interval) if at_once else "different_times",
    )


def _finding(inside: _Ends, interval: _Ends | None) -> AlikeFinding:
    """What can be told of a difference, by its range, and that with what chance adds."""
    if inside[0] <= 0 <= inside[1] and inside[0] < inside[1]:
        return "cannot_be_told"
    if interval is not None and interval[0] <= 0 <= interval[1]:
        return "could_be_chance"
    return "none" if inside == (0, 0) else "higher" if inside[0] > 0 else "lower"
