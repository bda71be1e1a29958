"""One or two plain sentences for every fairness figure, from the printed numbers alone."""

from __future__ import annotations

import math
from collections.abc import Mapping

from atr.documents.text import individual, sampling, wording
from atr.report.model import Fairness, PublicReport
from atr.report.rounding import bounds

_PRIVATE = "cannot be told from a report this private"


def said(entry: Fairness, report: PublicReport) -> str:
    """State a comparison in words, and then what sampling could make of it, if decisions are seen as a sample."""
    return " ".join(filter(None, (sentence(entry, report), sampling.sentence(entry, report))))


def sentence(entry: Fairness, report: PublicReport) -> str:
    """State a comparison in words, and why its verdict is what it is.

    Returns
    -------
    One or more sentences, with rates in percent and differences in percentage points.
    """
    if entry.pair is not None:
        return individual.sentence(entry, entry.pair, report)
    digits, minimum = report.policy.digits, report.policy.minimum_group_size
    decimals, titles = wording.percent_decimals(digits), {a.name: a.title for a in report.attributes}
    if entry.is_ratio:
        first, figure = _ratio(entry, digits), _range_of_ratio(entry, digits)
    else:
        over_classes = entry.summary is not None
        first = _overall(entry, titles, decimals, minimum) if over_classes else _difference(entry, report, decimals)
        figure = _range_of_difference(entry, decimals)
    where, line = wording.class_name(entry.condition, titles), entry.threshold
    said = [f"{where}." if where else "", first]
    if entry.reason == "different_times":
        said.append("These are numbers of different versions of the report, so of different times: no verdict.")
    elif line is None or entry.verdict is None or entry.reason == "too_few_people":
        said.append(f"{figure}." if figure else "")
    else:
        said += _ratio_judged(entry, figure, line) if entry.is_ratio else _difference_judged(entry, figure, line)
    if entry.reason == "too_few_people":
        people = wording.count(minimum, "person", "people")
        said.append(f"{_too_few(entry)} the {people} that a verdict needs: too few people.")
    return " ".join(filter(None, said))


def _too_few(entry: Fairness) -> str:
    kept, of_all = entry.classes or (1, 1)
    if entry.summary is None:
        return "One of the two groups does not have"
    if kept == of_all:
        return "No class has"
    return f"{of_all - kept:,} of {of_all:,} classes {'does' if of_all - kept == 1 else 'do'} not have"


def _ratio(entry: Fairness, digits: int) -> str:
    a, b = entry.groups
    shares = [wording.percent(rate) for rate in entry.rates]
    if entry.value is None:
        return (
            f"As announced, “{entry.outcome}” was never the outcome for {b}, so the two cannot be put in proportion "
            f"({shares[0]} of people for {a}, {shares[1]} for {b})."
        )
    if entry.rates == (0.0, 0.0) and entry.value == 1:
        return (
            f"As announced, “{entry.outcome}” was never the outcome for {a}, nor for {b}: 0 to 0 counts as alike, as 1."
        )
    value = wording.number(entry.value, decimals=digits)
    return (
        f"“{entry.outcome}” was the outcome {value} times as often for {a} as for {b} ({shares[0]} of people against "
        f"{shares[1]})."
    )


def _range_of_ratio(entry: Fairness, digits: int) -> str:
    low, high = bounds(entry.range)
    if math.isfinite(low) and math.isinf(high):
        return f"The true figure is {wording.number(low, decimals=digits)} or more; nothing limits it from above"
    ends = wording.between(entry.range, decimals=digits, word="and")
    return "" if low == high else f"The true figure lies between {ends}"


def _ratio_judged(entry: Fairness, figure: str, line: float) -> list[str]:
    low, high = bounds(entry.range)
    rule = f"the {wording.rule_name(entry)}"
    below, above = wording.number(line), wording.inverse(line)
    if entry.verdict == "met":
        return [_ended(figure, f"{rule} allows {below} to {above}: met.")]
    if entry.verdict == "cannot_tell":
        ends = [end for end, at in ((below, line), (above, 1 / line)) if low <= at <= high] or [below]
        return [f"{figure}; that includes {' and '.join(ends)}, where {rule} draws its line: it {_PRIVATE}."]
    under = entry.value is not None and entry.value < 1
    said = [_ended(figure, f"the line of {rule} is {below if under else above}: not met.")]
    if entry.shortfall is not None:
        short = entry.groups[0 if under else 1]
        more = wording.count(entry.shortfall, "more decision", "more decisions")
        said.append(f"About {more} “{entry.outcome}” for {short} would reach it.")
    return said


def _difference(entry: Fairness, report: PublicReport, decimals: int) -> str:
    a, b = entry.groups
    shares = [wording.percent(rate) for rate in entry.rates]
    value = wording.percentage_points(entry.value or 0.0, decimals=decimals)
    outcome = entry.outcome or report.positive
    if len(report.outcomes) == 2 or entry.outcome is not None:
        return f"The shares of “{outcome}” for {a} and {b} are {value} apart ({shares[0]} and {shares[1]})."
    return (
        f"The outcomes of {a} and {b} are {value} apart: so many of 100 would need another outcome for the two to be "
        f"alike (of “{outcome}” alone: {shares[0]} and {shares[1]})."
    )


def _overall(entry: Fairness, titles: Mapping[str, str], decimals: int, minimum: int) -> str:
    a, b = entry.groups
    kept, of_all = entry.classes or (1, 1)
    value = wording.percentage_points(entry.value or 0.0, decimals=decimals)
    worst = f" (in the class “{wording.class_name(entry.worst_condition, titles)}”)"
    how = f"at most {value} apart{worst}" if entry.summary == "worst_class" else f"{value} apart on average"
    rest = ""
    if of_all > kept:
        have, are = ("class has", "is") if of_all - kept == 1 else ("classes have", "are")
        rest = f"; {of_all - kept:,} more {have} fewer than {minimum:,} people of one of them and {are} not counted"
    classes = wording.count(kept, "class", "classes")
    return f"Over {classes} of people alike in what may count, {a} and {b} are {how}{rest}."


def _range_of_difference(entry: Fairness, decimals: int) -> str:
    low, high = entry.range
    if low is None or high is None or low == high:
        return ""
    ends = (wording.points(x, decimals=decimals) for x in (low, high))
    return f"The true distance lies between {' and '.join(ends)}"


def _difference_judged(entry: Fairness, figure: str, line: float) -> list[str]:
    limit = wording.plural(wording.points(line), "point")
    if entry.verdict == "cannot_tell":
        return [f"{figure}; that includes the limit of {limit}: it {_PRIVATE}."]
    return [_ended(figure, f"the limit is {limit}: {'met' if entry.verdict == 'met' else 'not met'}.")]


def _ended(figure: str, rest: str) -> str:
    return f"{figure}; {rest}" if figure else wording.raised(rest)
