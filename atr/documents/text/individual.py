"""Individual fairness in words."""

from __future__ import annotations

import math
from collections.abc import Mapping

from atr.documents.text import wording
from atr.report.model import Fairness, Pair, PublicReport
from atr.report.rounding import nearest


def sentence(entry: Fairness, pair: Pair, report: PublicReport) -> str:
    """State an entry of individual fairness in words, from its printed numbers and those of its pair of regions."""
    digits, tolerance, total = report.policy.digits, entry.threshold or 0.0, pair.distance == "total_variation"

    def amount(x: float) -> str:
        return (
            wording.points(x, decimals=wording.percent_decimals(digits))
            if total
            else wording.number(x, decimals=digits)
        )

    def with_unit(amount: str) -> str:
        return wording.plural(amount, "point") if total else f"{amount} in logarithm"

    said = [] if pair.least_people is None else [f"Compared are regions of {people_for_verdict(report)} or more alone."]
    said += _apart(entry, pair, report, amount(pair.records_apart))
    if entry.value:
        more, of = amount(entry.value), "any pair" if pair.least_people is None else "these pairs"
        said.append(f"They exceed it by {with_unit(more)}, the most of {of}.")
    elif entry.value == 0:
        said.append("No pair lies further apart than its declared distance; this one comes nearest to that.")
    low, high = entry.range
    if low is None:
        said.append("The true excess is infinite as well.")
    elif high is None:
        said.append(f"The true largest excess is {amount(low)} or more; nothing limits it from above.")
    elif low != high:
        said.append(f"The true largest excess lies between {amount(low)} and {amount(high)}.")
    limit = f"The tolerance is {with_unit(wording.points(tolerance) if total else wording.number(tolerance))}"
    fewest = people_for_verdict(report)
    verdicts = {
        "met": f"{limit}, so it is kept.",
        "not_met": f"{limit}, so it is not kept.",
        "cannot_tell": f"{limit}; whether it is kept cannot be told from a report this private.",
        "too_few_people": f"{limit}. No verdict is given, for regions of fewer than {fewest} are compared as well.",
        "different_times": f"{limit}. No verdict is given, for numbers of different times are compared.",
    }
    such = "a pair" if pair.least_people is None else "such a pair"
    share = f"{wording.percent(pair.people_involved)} of people are in {such}"
    said += [
        verdicts[entry.reason if entry.reason in verdicts else entry.verdict or "cannot_tell"],
        f"{share if pair.people_involved else 'Nobody is in a pair'} beyond the tolerance, as announced.",
    ]
    return " ".join(said)


def people_for_verdict(report: PublicReport) -> str:
    """The number of people that a group or region must have for a verdict, in words."""
    return wording.count(report.policy.minimum_group_size, "person", "people")


def _apart(entry: Fairness, pair: Pair, report: PublicReport, allowed: str) -> list[str]:
    """State the distance of the pair's outcomes, and the distance that is allowed."""
    a, b = (f"“{region(values, report)}”" for values in pair.regions)
    between = (
        f"They have {' and '.join(wording.people(n) for n in pair.people)} people. The declared distance between "
        f"them, {wording.number(pair.records_apart, decimals=2)},"
    )
    if pair.distance == "total_variation":
        apart = wording.percentage_points(
            pair.outcomes_apart or 0.0, decimals=wording.percent_decimals(report.policy.digits)
        )
        shares = " and ".join(wording.percent(chances[report.positive]) for chances in pair.chances)
        return [
            f"The outcomes of {a} and {b} are {apart} apart (“{report.positive}”: {shares}).",
            f"{between} allows {allowed}.",
        ]
    outcome = max(pair.chances[0], key=lambda o: _log_ratio(pair, o))
    sides = list(zip((a, b), (chances[outcome] for chances in pair.chances), pair.people, strict=True))
    (a, x, n), (b, y, m) = sorted(sides, key=lambda side: -side[1])
    if y == 0 < x:
        return [
            f"“{outcome}” is an outcome for {a}, with {wording.percent(x)}, and none for {b}: no distance allows that, "
            f"so the excess is infinite. They have {wording.people(n)} and {wording.people(m)} people."
        ]
    logarithms = _log_ratio(pair, outcome), pair.records_apart
    times, most = (f"{wording.number(nearest(math.exp(z), 2), decimals=2)} times" for z in logarithms)
    return [
        f"“{outcome}” is {times} as likely for {a} as for {b} ({wording.percent(x)} and {wording.percent(y)}).",
        f"{between} allows {most}.",
    ]


def _log_ratio(pair: Pair, outcome: str) -> float:
    x, y = (chances[outcome] for chances in pair.chances)
    return abs(math.log(x / y)) if x and y else math.inf if x != y else 0.0


def region(values: Mapping[str, str], report: PublicReport) -> str:
    """Name a decision region: every attribute and its value."""
    return ", ".join(f"{wording.raised(a.title)}: {values[a.name]}" for a in report.attributes)
