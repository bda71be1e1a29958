"""Sampling uncertainty in the report, from its printed numbers; separate from the ranges that perturbation causes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

from atr.core.publication import RATE_DIGITS as PRINTED
from atr.measures import MEASURES, sampling
from atr.measures import group_fairness as fairness
from atr.report.model import Fairness, PublicReport, Sampling, SamplingInfo
from atr.report.rounding import down, nearest, up

P_DIGITS = 4
RATE_DIGITS = 3
_HALF = 0.5 * 10.0**-PRINTED

_Tally = Mapping[tuple[str, ...], tuple[int, Mapping[str, float]]]
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


@dataclass(frozen=True)
class _Sampled:
    """A comparison whose groups are found among the announced people: its test, and how many had the outcome."""

    test: _Test
    outcome: str
    a: sampling.Share
    b: sampling.Share


def with_sampling(report: PublicReport) -> tuple[Fairness, ...]:
    """Add intervals and tests to the comparisons of a report; remove them where the log is no sample.

    Counts are the printed numbers of people times the printed chances, summed up, kept to the printed rate, and rounded
    to whole numbers: sums are off where many numbers of people were rounded, rates where there are many people.
    Measures of the same pair, class and outcome share one test; p values are adjusted for the number of tests.

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
    p_values = {found.test: sampling.p_value(found.a, found.b) for found in sampled if found}
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


def tests(report: PublicReport) -> int:
    """The number of tests for which the p values of a report are adjusted."""
    return len({found.test for found in _sampled(report) if found})


def alpha_of(report: PublicReport) -> float | None:
    """1 minus the level of intervals and tests; None where the decisions are no sample."""
    info = report.policy.sampling
    return None if info is None or info.coverage == "whole" else info.alpha


def _sampled(report: PublicReport) -> list[_Sampled | None]:
    rates = {
        (*_people(entry, who), entry.outcome or report.positive): rate
        for entry in report.fairness
        if is_of_two_groups(entry)
        for who, rate in zip(entry.groups, entry.rates, strict=True)
    }
    tally = cache(partial(_tally, report))
    return [
        _find(report, entry, tally(entry.attributes or (entry.attribute,), tuple(entry.condition)), rates)
        if is_of_two_groups(entry)
        else None
        for entry in report.fairness
    ]


def is_of_two_groups(entry: Fairness) -> bool:
    """Whether a comparison is of two groups: no summary over classes, and no pair of regions."""
    return entry.summary is None and entry.measure in MEASURES


def _is_of_several(entry: Fairness, report: PublicReport) -> bool:
    """Whether a comparison is of several outcomes at once: what sampling could make is told of the favourable one."""
    return entry.outcome is None and len(report.outcomes) > 2


def _tally(report: PublicReport, attributes: tuple[str, ...], condition: tuple[str, ...]) -> _Tally:
    """By group and condition: the people, as printed, and how many of them each outcome is expected to have."""
    found: dict[tuple[str, ...], tuple[int, dict[str, float]]] = {}
    for values, region, chances in report.announced_regions:
        key = (fairness.joined([values.get(a, "") for a in attributes]), *(values.get(name, "") for name in condition))
        people, expected = found.get(key, (0, dict.fromkeys(report.outcomes, 0.0)))
        had = {outcome: expected[outcome] + region.population * x for outcome, x in chances.items()}
        found[key] = people + region.population, had
    return found


def _people(entry: Fairness, who: str) -> tuple[str, str, frozenset[tuple[str, str]]]:
    return entry.attribute, who, frozenset(entry.condition.items())


def _find(report: PublicReport, entry: Fairness, tally: _Tally, rates: _Rates) -> _Sampled | None:
    outcome = entry.outcome or report.positive
    event = report.positive if len(report.outcomes) == 2 else outcome  # the other of two is what it leaves
    shares = []
    for who in entry.groups:
        people, expected = tally.get((who, *entry.condition.values()), (0, {}))
        rate = rates.get((*_people(entry, who), event))
        if not people or rate is None or event not in expected:
            return None
        least, most = people * (rate - _HALF), people * (rate + _HALF)
        had = min(max(int(nearest(min(max(expected[event], least), most), 0)), 0), people)
        shares.append((had if event == outcome else people - had, people))
    test = entry.attribute, frozenset(entry.groups), frozenset(entry.condition.items()), event
    return _Sampled(test, outcome, shares[0], shares[1])


def _sampling(
    entry: Fairness, found: _Sampled, p_value: float, adjusted: float, *, report: PublicReport, alpha: float
) -> Sampling:
    digits, a, b, groups = report.policy.digits, found.a, found.b, entry.groups
    if entry.is_ratio:
        low, high = sampling.ratio_interval(a, b, alpha=alpha)
    else:
        if a[0] * b[1] < b[0] * a[1]:
            a, b, groups = b, a, (groups[1], groups[0])
        low, high = sampling.difference_interval(a, b, alpha=alpha)
    if entry.value is not None and not _is_of_several(entry, report):
        low, high = min(low, entry.value), max(high, entry.value)  # which is of the exact numbers of people
    interval = down(low, digits), None if math.isinf(high) else up(high, digits)
    rates = [sampling.rate_interval(share, alpha=alpha) for share in (found.a, found.b)]
    first_rate, second_rate = ((down(least, RATE_DIGITS), up(most, RATE_DIGITS)) for least, most in rates)
    # Rounded up, and so never 0: as printed a difference is significant only if it is.
    printed = [up(min(max(p, 10.0**-P_DIGITS), 1.0), P_DIGITS) for p in (p_value, adjusted)]
    return Sampling(
        interval=interval,
        rates=(first_rate, second_rate),
        p_value=printed[0],
        adjusted_p_value=printed[1],
        significant=printed[1] <= alpha,
        groups=None if entry.is_ratio else groups,
        outcome=found.outcome if _is_of_several(entry, report) else None,
    )
