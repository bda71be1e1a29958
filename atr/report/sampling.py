"""Sampling uncertainty in the report, from its printed numbers; separate from the ranges that perturbation causes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, NamedTuple

import numpy as np

from atr.core.arrays import FloatArray
from atr.core.comparison_rows import joined
from atr.core.publication import RATE_DIGITS as PRINTED
from atr.core.publication import open_total
from atr.core.tolerances import ROUNDING_NOISE
from atr.measures import MEASURES, sampling
from atr.report import reader_view
from atr.report.model import Fairness, PublicReport, Sampling, SamplingInfo
from atr.report.rounding import down, nearest, up

P_DIGITS = 4
RATE_DIGITS = 3
_HALF = 0.5 * 10.0**-PRINTED

_Rates = Mapping[tuple[str, str, frozenset[tuple[str, str]], str], float]
"""The printed rate of an outcome, by attribute, its value, the condition and the outcome."""
_Test = tuple[str, frozenset[str], frozenset[tuple[str, str]], str]
"""Which hypothesis a test is of: that two groups, among people alike in something, have an outcome equally often."""


def sampling_info(coverage: Literal["sample", "whole"], alpha: float) -> SamplingInfo:
    """The part of the policy on sampling.

    Parameters
    ----------
    coverage
        Whether the log is a sample, or the whole: then there are no intervals and no tests.
    alpha
        1 minus the level of intervals and tests.
    """
    if coverage == "whole":
        return SamplingInfo(coverage=coverage)
    return SamplingInfo(coverage=coverage, alpha=alpha, methods=dict(sampling.METHODS))


class Counts(NamedTuple):
    """How many people had an outcome, at least and at most, of the fewest that the printed total can stand for."""

    fewest: int
    most: int
    people: int

    def share(self, end: int) -> sampling.Share:
        """The smallest (0) or the largest (1) share."""
        return self[end], self.people

    def p_value(self, other: Counts) -> float:
        """Of the rates of both that lie nearest together; 1 where some are alike."""
        if self.fewest * other.people > other.most * self.people:
            return sampling.p_value(self.share(0), other.share(1))
        return (
            sampling.p_value(self.share(1), other.share(0))
            if other.fewest * self.people > self.most * other.people
            else 1.0
        )

    def less(self) -> Counts:
        """The same of the opposite event."""
        return Counts(self.people - self.most, self.people - self.fewest, self.people)


@dataclass(frozen=True)
class _Everybody:
    """All announced people: (n,) printed numbers of regions, how far these and their group's rates are off, chances."""

    people: FloatArray
    off: FloatArray
    half: FloatArray
    chances: Mapping[str, FloatArray]

    @classmethod
    def of(cls, report: PublicReport) -> _Everybody:
        """Those of a report."""
        shown = reader_view.announcement(report)
        people, (least, most) = shown.published.astype(np.float64), shown.open_people
        half = np.zeros(len(shown.groups)) if shown.half is None else shown.half
        return cls(
            people=people,
            off=np.maximum(most - people, people - least),
            half=np.repeat(half, np.diff(shown.offsets)),
            chances=dict(zip(shown.outcomes, shown.mapping.T, strict=True)),
        )

    def rate(self, of: list[int], outcome: str, *, printed: float) -> tuple[float, float]:
        """The smallest and largest rate of an outcome in some regions that printed numbers allow; a percent is printed.

        For chances x within h and numbers n within d of the printed ones p, with c the mean of x by p, the rate lies
        within the sum of d |x - c| + (p + d) h over the sum of p - d of c.
        """
        x, people, off, half = (values[of] for values in (self.chances[outcome], self.people, self.off, self.half))
        mean = float(people @ x / people.sum())
        apart = off @ np.abs(x - mean) + (people + off) @ half
        reach = float(apart / max((people - off).sum(), 1.0))
        low, high = max(printed - _HALF, mean - reach, 0.0), min(printed + _HALF, mean + reach, 1.0)
        return (low, high) if low <= high else (max(printed - _HALF, 0.0), min(printed + _HALF, 1.0))


@dataclass(frozen=True)
class _Sampled:
    """A comparison whose groups are found among the announced people: its test, and how many had the outcome."""

    test: _Test
    outcome: str
    a: Counts
    b: Counts


def with_sampling(report: PublicReport) -> tuple[Fairness, ...]:
    """Add intervals and tests to the comparisons of a report; remove them where the log is no sample.

    People are the fewest that a printed total can stand for, and of the counts that the printed rate and the printed
    chances allow each end takes the least favourable: so no interval is narrower than that of the unrounded numbers.
    Measures of the same pair, class and outcome share one test; p values are adjusted for the number of tests. Where
    limits leave a figure open there is no test: what a reader expects of it is no count of anything.

    Returns
    -------
    The comparisons, in order.

    References
    ----------
    Holm, *A Simple Sequentially Rejective Multiple Test Procedure*, Scand. J. Statist. 6 (1979);
    :data:`atr.measures.sampling.METHODS` names the intervals and the test.
    """
    alpha = alpha_of(report)
    if alpha is None:
        return tuple(entry.model_copy(update={"sampling": None}) for entry in report.fairness)
    sampled = _sampled(report)
    p_values = {found.test: found.a.p_value(found.b) for found in sampled if found}
    adjusted = dict(zip(p_values, sampling.adjusted(tuple(p_values.values())), strict=True))
    return tuple(
        entry.model_copy(
            update={
                "sampling": None
                if found is None
                else _sampling(entry, found, p_values[found.test], adjusted[found.test], report=report, alpha=alpha)
            }
        )
        for entry, found in zip(report.fairness, sampled, strict=True)
    )


def exact_counts(report: PublicReport) -> dict[tuple[str, str], Counts]:
    """How many people had the positive outcome, by attribute and row, where the comparisons of everybody are exact."""
    everybody = [e for e in report.fairness if not e.condition and e.outcome in (None, report.positive)]
    sampled = _sampled(report.model_copy(update={"fairness": tuple(everybody)}))
    return {
        (entry.attribute, who): counts
        for entry, found in zip(everybody, sampled, strict=True)
        if found
        for who, counts in zip(entry.groups, (found.a, found.b), strict=True)
    }


def tests(report: PublicReport) -> int:
    """The number of tests for which the p values of a report are adjusted."""
    return len({found.test for found in _sampled(report) if found})


def alpha_of(report: PublicReport) -> float | None:
    """1 minus the level of intervals and tests; None where the decisions are no sample."""
    info = report.policy.sampling
    return None if info is None or info.coverage == "whole" else info.alpha


def _sampled(report: PublicReport) -> list[_Sampled | None]:
    if not report.fairness:
        return []
    rates = {
        (*_people(entry, who), entry.outcome or report.positive): rate
        for entry in report.fairness
        if is_of_two_groups(entry)
        for who, rate in zip(entry.groups, entry.rates, strict=True)
    }
    everybody, regions_of = _Everybody.of(report), cache(partial(_regions_of, report, reader_view.labels(report)))
    return [
        _find(
            report, entry, everybody, regions_of(entry.attributes or (entry.attribute,), tuple(entry.condition)), rates
        )
        if is_of_two_groups(entry) and (report.fidelity.kind != "limits" or entry.range[0] == entry.range[1])
        else None
        for entry in report.fairness
    ]


def is_of_two_groups(entry: Fairness) -> bool:
    """Whether a comparison is of two groups: no summary over classes, and no pair of regions."""
    return entry.summary is None and entry.measure in MEASURES


def _is_of_several(entry: Fairness, report: PublicReport) -> bool:
    """Whether a comparison is of several outcomes at once: what sampling could make is told of the favourable one."""
    return entry.outcome is None and len(report.outcomes) > 2


def _regions_of(
    report: PublicReport,
    labels: Mapping[str, tuple[str, ...]],
    attributes: tuple[str, ...],
    condition: tuple[str, ...],
) -> dict[tuple[str, ...], list[int]]:
    """The positions of regions by group and condition; of everybody, groups of one attribute are its rows."""
    found: dict[tuple[str, ...], list[int]] = {}
    for i, (values, _, _) in enumerate(report.announced_regions):
        of_rows = len(attributes) == 1 and not condition
        label = labels[attributes[0]][i] if of_rows else joined([values[a] for a in attributes])
        found.setdefault((label, *(values[name] for name in condition)), []).append(i)
    return found


def _people(entry: Fairness, who: str) -> tuple[str, str, frozenset[tuple[str, str]]]:
    return entry.attribute, who, frozenset(entry.condition.items())


def _find(
    report: PublicReport,
    entry: Fairness,
    everybody: _Everybody,
    regions: Mapping[tuple[str, ...], list[int]],
    rates: _Rates,
) -> _Sampled | None:
    outcome, rounding = entry.outcome or report.positive, report.policy.population_rounding
    event = report.positive if len(report.outcomes) == 2 else outcome  # the other of two is what it leaves
    counts = []
    for who, printed in zip(entry.groups, entry.people, strict=True):
        of, rate = regions.get((who, *entry.condition.values())), rates.get((*_people(entry, who), event))
        people = max(open_total(printed, rounding)[0], 0)
        if of is None or rate is None or event not in everybody.chances or not people:
            return None
        found = counted(everybody.rate(of, event, printed=rate), people, rounding)
        counts.append(found if event == outcome else found.less())
    test = entry.attribute, frozenset(entry.groups), frozenset(entry.condition.items()), event
    return _Sampled(test, outcome, counts[0], counts[1])


def counted(rate: tuple[float, float], people: int, rounding: int) -> Counts:
    """The counts that a rate between two allows: of exact people whole numbers between, of others those around."""
    low, high = (people * end for end in rate)
    inside = math.ceil(low - ROUNDING_NOISE), math.floor(high + ROUNDING_NOISE)
    outside = math.floor(low + ROUNDING_NOISE), math.ceil(high - ROUNDING_NOISE)
    if rounding > 1:
        return Counts(*outside, people)
    middle = int(nearest((low + high) / 2, 0))
    return Counts(*(inside if inside[0] <= inside[1] else (middle, middle)), people)


def printed_p(p_value: float) -> float:
    """Round a p value up, so that it is never 0: as printed a difference is significant only if it is."""
    return up(min(max(p_value, 10.0**-P_DIGITS), 1.0), P_DIGITS)


def _sampling(
    entry: Fairness, found: _Sampled, p_value: float, adjusted: float, *, report: PublicReport, alpha: float
) -> Sampling:
    digits, a, b, groups = report.policy.digits, found.a, found.b, entry.groups
    interval_of = sampling.ratio_interval if entry.is_ratio else sampling.difference_interval
    if not entry.is_ratio and sum(a[:2]) * b.people < sum(b[:2]) * a.people:
        a, b, groups = b, a, (groups[1], groups[0])
    low = interval_of(a.share(0), b.share(1), alpha=alpha)[0]
    high = interval_of(a.share(1), b.share(0), alpha=alpha)[1]
    if entry.value is not None and not _is_of_several(entry, report):
        low, high = min(low, entry.value), max(high, entry.value)  # which is of the exact numbers of people
    interval = down(low, digits), None if math.isinf(high) else up(high, digits)
    first_rate, second_rate = (
        (
            down(sampling.rate_interval(of.share(0), alpha=alpha)[0], RATE_DIGITS),
            up(sampling.rate_interval(of.share(1), alpha=alpha)[1], RATE_DIGITS),
        )
        for of in (found.a, found.b)
    )
    printed = [printed_p(p) for p in (p_value, adjusted)]
    return Sampling(
        interval=interval,
        rates=(first_rate, second_rate),
        p_value=printed[0],
        adjusted_p_value=printed[1],
        significant=printed[1] <= alpha,
        groups=None if entry.is_ratio else groups,
        outcome=found.outcome if _is_of_several(entry, report) else None,
    )
