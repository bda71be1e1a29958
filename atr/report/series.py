"""Rates over time: the published releases of a series beside each other, from the printed numbers of their reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from atr.core.publication import RATE_DIGITS as PRINTED
from atr.core.publication import open_total
from atr.core.tolerances import ROUNDING_NOISE
from atr.errors import PeriodError
from atr.measures import sampling as measures
from atr.programme.periods import Period, parse
from atr.report import reader_view
from atr.report.model import (
    SERIES_LENGTH,
    Fairness,
    NotCompared,
    PublicReport,
    RateChange,
    SeriesAttribute,
    SeriesGroup,
    SeriesRelease,
)
from atr.report.rate_ranges import rate_ranges
from atr.report.rounding import down, nearest, up
from atr.report.sampling import RATE_DIGITS, Counts, alpha_of, counted, exact_counts, is_of_two_groups, printed_p

_HALF = 0.5 * 10.0**-PRINTED
_Reason = Literal["different_times", "too_few_people", "ranges_overlap", "left_out", "could_be_chance"]


def series(report: PublicReport, earlier: Sequence[tuple[PublicReport, str]]) -> tuple[SeriesRelease, ...]:
    """Set the releases of a series beside each other.

    Parameters
    ----------
    report
        The report, which comes last.
    earlier
        The reports published before it of periods as long, in order, each with the hash of its ``report.json``.

    Returns
    -------
    The last :data:`~atr.report.model.SERIES_LENGTH` releases with their rates and which changes are told; empty for the
    first release.
    """
    if not earlier:
        return ()
    alpha, reports = alpha_of(report), [*earlier[1 - SERIES_LENGTH :], (report, None)]
    return with_changes([release(of, sha256=sha256, alpha=alpha) for of, sha256 in reports], report)


def release(report: PublicReport, *, sha256: str | None, alpha: float | None) -> SeriesRelease:
    """The rates of one release.

    Parameters
    ----------
    report
        Its report.
    sha256
        The hash of its ``report.json``; None for the report that the series is part of.
    alpha
        1 minus the level of intervals; None where there are none.
    """
    return SeriesRelease(
        period=report.period.label,
        version=report.version,
        sha256=sha256,
        positive=report.positive,
        attributes=tuple(_attributes(report, alpha)),
    )


def with_changes(releases: Sequence[SeriesRelease], report: PublicReport) -> tuple[SeriesRelease, ...]:
    """Add what became of the rates of each release since the one before it.

    Parameters
    ----------
    releases
        In order.
    report
        Whose level of tests and smallest group count for all of them.
    """
    found = [release.model_copy(update={"changes": (), "skipped": ()}) for release in releases[:1]]
    for before, now in pairwise(releases):
        skipped = tuple(_skipped(before, now))
        changes = () if before.positive != now.positive else tuple(_changes(before, now, report))
        found.append(now.model_copy(update={"changes": changes, "skipped": skipped}))
    return tuple(found)


def again(report: PublicReport) -> tuple[SeriesRelease, ...]:
    """The series of a report made anew, with the figures that it states of the releases before it."""
    if not report.series:
        return ()
    return with_changes([*report.series[:-1], release(report, sha256=None, alpha=alpha_of(report))], report)


def problems(report: PublicReport) -> Iterator[tuple[str, str]]:
    """Contradictions between the series that a report states and its own numbers.

    Yields
    ------
    Where the contradiction is, and what is wrong; without any, the series is what :func:`again` makes.
    """
    releases = report.series
    if not releases:
        return
    if not 1 < len(releases) <= SERIES_LENGTH:
        yield "length", f"is not 2 to {SERIES_LENGTH} releases"
    try:
        periods = [parse(of.period) for of in releases]
        if not all(_follows(now, before) for before, now in pairwise(periods)):
            yield "periods", "are not in order and as long as each other"
    except PeriodError:
        yield "periods", "has one that is no period"
    if any(of.sha256 is None for of in releases[:-1]):
        yield "sha256", "is missing"
    last = report.changes
    if last is not None and len(releases) > 1:
        before = releases[-2]
        if (last.period, last.version, last.sha256) != (before.period, before.version, before.sha256):
            yield "releases", "the last but one is not the report that changes are told since"
    for of in releases:
        groups = [(by.attribute, group) for by in of.attributes for group in by.groups]
        if len(_by_group(of)) < len(groups):
            yield of.period, "a group stands there twice"
        for attribute, group in groups:
            if problem := _problem(group, alpha_of(report)):
                yield f"{of.period}, {attribute}, {group.group}", problem


def _problem(group: SeriesGroup, alpha: float | None) -> str | None:
    fewest, most, people = group.counts
    low, high = _inside(group)
    inside = low * people - 1 <= fewest <= most <= min(high * people + 1, people)
    as_wide = group.range is None or (fewest <= low * people + 1 and most >= high * people - 1)
    if not inside or not as_wide or people > group.people or not low <= group.rate <= high:
        return "its numbers contradict each other"
    if nearest(group.rate, PRINTED) != group.rate or any(nearest(x, RATE_DIGITS) != x for x in group.range or ()):
        return "a number has too many digits"
    if group.interval != _interval(group.counts, None if group.different_times else alpha):
        return "its interval does not follow from its counts"
    return None


def _follows(now: Period, before: Period) -> bool:
    return before.end is not None and now.start is not None and before.end <= now.start and before.months == now.months


# --- the rates of a release


def _attributes(report: PublicReport, alpha: float | None) -> Iterator[SeriesAttribute]:
    ranges, counts, mixed = rate_ranges(report), exact_counts(report), _of_different_times(report)
    orders = {a.name: a.values for a in report.attributes}
    for by in (by for by in report.compared if len(by.attributes) == 1):
        compared, name = _compared(report, by.attribute), by.attribute
        if not compared:
            continue
        rates = {who: (e.people[i], e.rates[i]) for e in compared for i, who in enumerate(e.groups)}
        first = {who: who for who in rates} | {row.label: row.values[0] for row in by.rows}
        left_out = {row.label: row.left_out for row in by.rows}
        order, groups = {value: i for i, value in enumerate(orders[name])}, []
        for who in sorted(rates, key=lambda who: order.get(first[who], len(order))):
            people, rate = rates[who]
            fewest = max(open_total(people, report.policy.population_rounding)[0], 1)
            inside, of = ranges.get((name, who)), counts.get((name, who))
            if inside is not None:
                inside = min(down(inside[0], RATE_DIGITS), rate), max(up(inside[1], RATE_DIGITS), rate)
            if inside is not None or of is None:
                ends = inside or (max(rate - _HALF, 0.0), min(rate + _HALF, 1.0))
                of = counted(ends, fewest, report.policy.population_rounding)
            across = (name, who) in mixed
            groups.append(
                SeriesGroup(
                    group=who,
                    people=people,
                    left_out=left_out.get(who, 0),
                    rate=rate,
                    range=inside,
                    counts=tuple(of),
                    interval=_interval(of, None if across else alpha),
                    different_times=across,
                )
            )
        yield SeriesAttribute(attribute=name, reference=compared[0].reference, groups=tuple(groups))


def _compared(report: PublicReport, attribute: str) -> list[Fairness]:
    """The comparisons of everybody by an attribute whose rates are those of the positive outcome."""
    found = [e for e in report.fairness if e.attribute == attribute and is_of_two_groups(e) and not e.condition]
    return [e for e in found if e.outcome in (None, report.positive)]


def _of_different_times(report: PublicReport) -> set[tuple[str, str]]:
    """The attributes and rows of people whose numbers are of several versions of the log."""
    if not report.data_quality.corrections_wait:
        return set()
    versions, found = [group.as_of for group in report.announced_groups for _ in group.told], defaultdict(set)
    for name, labels in reader_view.labels(report).items():
        for who, version in zip(labels, versions, strict=True):
            found[name, who].add(version)
    return {row for row, of in found.items() if len(of) > 1}


def _interval(counts: tuple[int, int, int], alpha: float | None) -> tuple[float, float] | None:
    if alpha is None:
        return None
    fewest, most, people = counts
    low, high = (measures.rate_interval((n, people), alpha=alpha) for n in (fewest, most))
    return down(low[0], RATE_DIGITS), up(high[1], RATE_DIGITS)


# --- what became of them


def _changes(before: SeriesRelease, now: SeriesRelease, report: PublicReport) -> Iterator[RateChange]:
    alpha, was = alpha_of(report), _by_group(before)
    both = [(name, group, was[name, who]) for (name, who), group in _by_group(now).items() if (name, who) in was]
    tested = [not (a.different_times or b.different_times) and alpha is not None for _, a, b in both]
    p_values = [
        Counts(*a.counts).p_value(Counts(*b.counts))
        for (_, a, b), is_tested in zip(both, tested, strict=True)
        if is_tested
    ]
    adjusted = iter(zip(p_values, measures.adjusted(tuple(p_values)), strict=True))
    for (name, a, b), is_tested in zip(both, tested, strict=True):
        p, p_of_all = (printed_p(x) for x in next(adjusted)) if is_tested else (None, None)
        reason = _reason(a, b, report, significant=p_of_all is None or (alpha is not None and p_of_all <= alpha))
        yield RateChange(
            attribute=name,
            group=a.group,
            change=nearest(a.rate - b.rate, PRINTED),
            p_value=p,
            adjusted_p_value=p_of_all,
            told=reason is None,
            reason=reason,
        )


def _reason(a: SeriesGroup, b: SeriesGroup, report: PublicReport, *, significant: bool) -> _Reason | None:
    """Why a change cannot be told; None where it can."""
    if a.different_times or b.different_times:
        return "different_times"
    if min(a.people, b.people) < report.policy.minimum_group_size:
        return "too_few_people"
    if _overlap(_inside(a), _inside(b)):
        return "ranges_overlap"
    if _overlap(_of_all(a), _of_all(b)):
        return "left_out"
    return None if significant else "could_be_chance"


def _overlap(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a[0] <= b[1] + ROUNDING_NOISE and b[0] <= a[1] + ROUNDING_NOISE


def _of_all(group: SeriesGroup) -> tuple[float, float]:
    """Between what the true rate lies with the people left out, whatever their outcomes."""
    (low, high), share = _inside(group), group.people / (group.people + group.left_out)
    return low * share, high * share + 1 - share


def _inside(group: SeriesGroup) -> tuple[float, float]:
    """Between what the true rate lies: of an exact one, what is printed as it."""
    return group.range or (group.rate - _HALF, group.rate + _HALF)


def _by_group(release: SeriesRelease) -> dict[tuple[str, str], SeriesGroup]:
    return {(by.attribute, group.group): group for by in release.attributes for group in by.groups}


def _skipped(before: SeriesRelease, now: SeriesRelease) -> Iterator[NotCompared]:
    if before.positive != now.positive:
        yield NotCompared(reason="outcome_changed", previous=before.positive, now=now.positive)
        return
    was, is_now = ({by.attribute: by for by in release.attributes} for release in (before, now))
    for name in was | is_now:
        if name not in was or name not in is_now:
            yield NotCompared(reason="not_compared_now" if name in was else "not_compared_then", attribute=name)
            continue
        if was[name].reference != is_now[name].reference:
            then, current = was[name].reference, is_now[name].reference
            yield NotCompared(reason="reference_changed", attribute=name, previous=then, now=current)
        here, there = ([group.group for group in of[name].groups] for of in (is_now, was))
        if new := tuple(who for who in here if who not in there):
            yield NotCompared(reason="no_earlier_figure", attribute=name, groups=new)
        if gone := tuple(who for who in there if who not in here):
            yield NotCompared(reason="no_figure_now", attribute=name, groups=gone)
