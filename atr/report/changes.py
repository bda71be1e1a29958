"""Changes since the last published report of a period as long, from the printed numbers of both reports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from atr.core.tolerances import ROUNDING_NOISE
from atr.errors import PeriodError
from atr.measures import MEASURES
from atr.programme.periods import parse
from atr.report.model import Change, Changes, Fairness, Margin, PublicReport
from atr.report.rounding import bounds, down, nearest, up
from atr.report.wording import listed, number, percent_decimals, points, rule_name

_DIGITS = 6
"""Decimal digits of a difference of two printed figures, neither of which has more."""
_NAMED = 5

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
    skipped: list[str] = []
    names = [by.attribute for by in report.compared]
    titles = {by.attribute: by.title for by in (*previous.compared, *report.compared)}
    if report.positive != previous.positive:
        skipped.append(f"The favourable outcome was “{previous.positive}” and is now “{report.positive}”.")
        names = []
    for name in names:
        now, before = _figures(report, name), _figures(previous, name)
        worst, was = _worst(report, name), _worst(previous, name)
        if worst and was:  # whatever the references: each is the furthest of its report
            margins.append(_margin(report, name, worst, was))
        reason = _incompatible(now, before, titles[name])
        if reason:
            skipped.append(reason)
            continue
        entries += [_change(report, e, before[key].value, before[key].range) for key, e in now.items() if key in before]
        skipped += _without_counterpart(now, before, titles[name])
    if report.positive == previous.positive:
        gone = [by.attribute for by in previous.compared if by.attribute not in names]
        skipped += [f"By {titles[a]} groups are no longer compared." for a in gone if _figures(previous, a)]
    return Changes(
        period=previous.period.label,
        version=previous.version,
        sha256=sha256,
        margin=tuple(margins),
        entries=tuple(entries),
        skipped=tuple(skipped),
    )


def problems(report: PublicReport, *, sentences: bool) -> Iterator[tuple[str, str]]:
    """Contradictions between the changes that a report states and its own numbers.

    Parameters
    ----------
    report
        The report; the earlier one is not needed.
    sentences
        Whether its sentences must be those of this version of the software.

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
        elif says != (expected if sentences else expected.model_copy(update={"sentence": says.sentence})):
            yield ", ".join(place), "does not follow from the figures"


def _figures(report: PublicReport, attribute: str) -> dict[_Key, Fairness]:
    """The comparisons of the favourable outcome for each group against the reference, by groups and measure."""
    return {
        (e.groups, e.measure): e
        for e in report.fairness
        if e.attribute == attribute
        and e.measure in MEASURES
        and e.summary is None
        and e.outcome in (None, report.positive)
        and e.reference == e.groups[1]
        and not e.condition
    }


def _incompatible(now: dict[_Key, Fairness], before: dict[_Key, Fairness], title: str) -> str:
    """Why nothing by an attribute can be compared; empty where it can."""
    if not now or not before:
        return f"By {title} nothing {'was compared then' if now else 'is compared now'}." if now or before else ""
    references = [next(iter(figures.values())).reference for figures in (before, now)]
    if references[0] != references[1]:
        return f"By {title} the reference was {references[0]} and is now {references[1]}: ratios are not compared."
    return ""


def _without_counterpart(now: dict[_Key, Fairness], before: dict[_Key, Fairness], title: str) -> Iterator[str]:
    here, there = ([groups[0] for groups, _ in figures] for figures in (now, before))
    for these, others, where in ((here, there, "have no earlier figure"), (there, here, "have no figure now")):
        missing = [value for value in dict.fromkeys(these) if value not in others]
        if missing:
            said = where.replace("have", "has", 1) if len(missing) == 1 else where
            yield f"By {title}, {listed(missing, most=_NAMED)} {said}."


def _apart(report: PublicReport, a: _Printed, b: _Printed) -> bool:
    """Whether two printed ranges have nothing in common; an exact figure was rounded to the nearest digit."""
    half = 0.5 * 10.0**-report.policy.digits
    (a0, a1), (b0, b1) = (
        (low - half, high + half) if low == high else (low, high) for low, high in (bounds(a), bounds(b))
    )
    return a1 + ROUNDING_NOISE < b0 or b1 + ROUNDING_NOISE < a0


def _change(report: PublicReport, now: Fairness, previous: float | None, previous_range: _Printed) -> Change:
    change = None if now.value is None or previous is None else nearest(now.value - previous, _DIGITS)
    flagged = _apart(report, now.range, previous_range)
    digits, group, base = min(report.policy.digits, 3), *now.groups
    if now.is_ratio:
        values = ["no ratio" if x is None else number(x, decimals=digits) for x in (now.value, previous)]
        said = f"{group}: the ratio to {base} is {values[0]}, and was {values[1]}."
    else:
        values = ["none" if x is None else points(x, decimals=percent_decimals(digits)) for x in (now.value, previous)]
        what = "distance of outcomes" if now.outcome is None and len(report.outcomes) > 2 else "distance of rates"
        said = f"{group}: the {what} from {base} is {values[0]} points, and was {values[1]}."
    return Change(
        attribute=now.attribute,
        groups=now.groups,
        measure=now.measure,
        previous=previous,
        previous_range=previous_range,
        value=now.value,
        change=change,
        flagged=flagged,
        sentence=f"{said} {_told(flagged)}",
    )


def _told(flagged: bool) -> str:
    return "The figure has changed: its two ranges do not overlap." if flagged else "No change can be told."


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
    digits = report.policy.digits
    worst = min(drawn, key=lambda e: _at_most_1(e.value))
    ends = [_range_at_most_1(e.range) for e in drawn]
    threshold = worst.threshold or 0.0
    value = nearest(_at_most_1(worst.value), digits)
    low, high = (min(side) for side in zip(*ends, strict=True))
    inside = min(down(low, digits), value), max(up(high, digits), value)
    return _Worst(
        worst.groups,
        threshold,
        nearest(value - threshold, _DIGITS),
        (nearest(inside[0] - threshold, _DIGITS), nearest(inside[1] - threshold, _DIGITS)),
    )


def _at_most_1(ratio: float | None) -> float:
    """A ratio, or its inverse if that is smaller; 0 where there is none, because the base is 0."""
    return 0.0 if not ratio or math.isinf(ratio) else min(ratio, 1 / ratio)


def _range_at_most_1(inside: _Printed) -> tuple[float, float]:
    low, high = bounds(inside)
    ends = _at_most_1(low), _at_most_1(high)
    return min(ends), 1.0 if low <= 1 <= high else max(ends)


def _margin(report: PublicReport, attribute: str, now: _Worst, was: _Worst) -> Margin:
    flagged = _apart(report, now.range, was.range)
    title = next((by.title for by in report.compared if by.attribute == attribute), attribute)
    decimals = min(report.policy.digits, 3)
    rule = rule_name(next(e for e in _figures(report, attribute).values() if e.threshold == now.threshold))

    def lies(of: _Worst) -> str:
        side = "within" if of.value >= 0 else "beyond"
        return f"{number(abs(of.value), decimals=decimals)} {side} the line of {number(of.threshold)}"

    other = "" if {*was.groups} == {*now.groups} else f" that of {was.groups[0]} against {was.groups[1]} was,"
    sentence = (
        f"Of the ratios by {title}, that of {now.groups[0]} against {now.groups[1]} is furthest from 1: {lies(now)} "
        f"({rule}); in the earlier report{other} {lies(was)}. {_told(flagged)}"
    )
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
        flagged=flagged,
        sentence=sentence,
    )
