"""Individual fairness in the report: measured on what it prints and said in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from atr.core.publication import RATE_DIGITS, open_people
from atr.measures import INDIVIDUAL
from atr.measures import individual as measuring
from atr.measures.base import at_most
from atr.measures.cells import Cells, Chances
from atr.measures.rates import within_totals
from atr.programme import AttributeDistance as Declared
from atr.programme import Programme
from atr.report import reader_view, wording
from atr.report.model import AttributeDistance, Fairness, IndividualPolicy, OutcomeDistance, Pair, PublicReport
from atr.report.rounding import bounds, nearest, printed_range, rounded_share


def individual_policy(programme: Programme) -> IndividualPolicy | None:
    """The declared distance of records as the report prints it, with every attribute; None where it is not measured."""
    policy = programme.fairness.individual
    if policy is None:
        return None
    distances = {}
    for name, attribute in programme.attributes.items():
        stated = policy.distances.get(name, Declared())
        weight = stated.weight if stated.weight is not None else 0.0 if attribute.protected else 1.0
        positions = attribute.positions(stated.kind)
        distances[name] = AttributeDistance(kind=stated.kind, weight=weight, positions=positions)
    return IndividualPolicy(distances=distances, measures=policy.measures, tolerance=policy.tolerance)


def with_individual(report: PublicReport) -> tuple[Fairness, ...]:
    """Measure individual fairness on the printed numbers of a report.

    A verdict needs regions of as many printed people as group fairness demands of a group. Where some regions have
    fewer, the figure over all of them has no verdict, and a second one is of the regions with people enough, if there
    are two.

    Returns
    -------
    The report's comparisons of groups, then those of individual fairness.
    """
    compared = tuple(e for e in report.fairness if e.pair is None)
    report = report.complete
    policy = report.policy.individual
    if policy is None or len(report.announced_regions) < 2:
        return compared
    cells = reader_view.cells(reader_view.announcement(report))
    between = [open_people(int(people), report.policy.population_rounding) for people in cells.published]
    cells = within_totals(cells, *np.array(between, dtype=np.int64).T)
    minimum = report.policy.minimum_group_size
    enough = int((cells.published >= minimum).sum())
    of_least = (None,) if enough < 2 or enough == len(cells.published) else (None, minimum)
    return compared + tuple(
        _entry(report, policy, cells, distance, least) for distance in policy.measures for least in of_least
    )


def excess(
    report: PublicReport, cells: Cells[Chances], distance: OutcomeDistance, least: int | None
) -> measuring.Excess:
    """The pair of announced regions whose outcomes exceed their declared distance most.

    Parameters
    ----------
    report
        Declares the distance of records and the tolerance.
    cells
        Its regions, with the chances to compare: (n, outcomes) probability.
    distance
        The distance of outcomes.
    least
        Printed people of the smallest region to compare; None: all.

    Returns
    -------
    The excess in units of ``distance``, with its range, its pair and the regions beyond the tolerance.

    Raises
    ------
    ValueError
        If the report declares no distance.
    """
    policy = report.policy.individual
    if policy is None:
        raise ValueError("the report declares no distance")
    points = records(reader_view.columns(report), policy)
    among = None if least is None else cells.published >= least
    return measuring.largest_excess(cells, points, distance=distance, tolerance=policy.tolerance, among=among)


def records(columns: Mapping[str, tuple[str, ...]], policy: IndividualPolicy) -> measuring.Records:
    """The announced regions as records between which the declared distance is measured.

    Parameters
    ----------
    columns
        For every attribute, (n,) one value for each region.
    policy
        Weights and positions of the attributes.
    """
    declared = {name: measuring.Attribute(d.weight, d.positions) for name, d in policy.distances.items()}
    return measuring.Records.of(columns, declared)


def _entry(
    report: PublicReport,
    policy: IndividualPolicy,
    cells: Cells[Chances],
    distance: OutcomeDistance,
    least: int | None,
) -> Fairness:
    digits, people = report.policy.digits, cells.published
    found = excess(report, cells, distance, least)
    apart = measuring.outcome_distance(cells, found.pair, distance)
    (one, a, of_a), (other, b, of_b) = (report.announced_regions[i] for i in found.pair)
    first, second = ({x.name: values[x.name] for x in report.attributes} for values in (one, other))
    distances = records(reader_view.columns(report), policy).distances(found.pair[0])
    ends = printed_range(found.value, found.range, digits)
    verdict = at_most(bounds(ends), policy.tolerance)
    few = least is None and bool((people < report.policy.minimum_group_size).any())
    if few:
        verdict = "cannot_tell"
    printed = Fairness(
        measure=INDIVIDUAL,
        attribute="",
        groups=(_words(first, report), _words(second, report)),
        reference="",
        outcome=None,
        value=nearest(found.value, digits) if math.isfinite(found.value) else None,
        range=ends,
        threshold=policy.tolerance,
        verdict=verdict,
        reason="too_few_people" if few else "line_in_range" if verdict == "cannot_tell" else None,
        sentence="",
        people=(a.population, b.population),
        rates=(nearest(of_a[report.positive], RATE_DIGITS), nearest(of_b[report.positive], RATE_DIGITS)),
        pair=Pair(
            distance=distance,
            least_people=least,
            regions=(first, second),
            chances=(of_a, of_b),
            outcomes_apart=nearest(apart, digits) if math.isfinite(apart) else None,
            records_apart=nearest(float(distances[found.pair[1]]), digits),
            people_involved=rounded_share(int(people[found.involved].sum()) / int(people.sum())),
        ),
    )
    return printed.model_copy(update={"sentence": sentence(printed, report)})


def _words(region: Mapping[str, str], report: PublicReport) -> str:
    return ", ".join(f"{wording.raised(a.title)}: {region[a.name]}" for a in report.attributes)


# --- sentences


def sentence(entry: Fairness, report: PublicReport) -> str:
    """State an entry of individual fairness in words, from its printed numbers alone.

    Raises
    ------
    ValueError
        If the entry is not of individual fairness.
    """
    pair, digits = entry.pair, report.policy.digits
    if pair is None or entry.threshold is None:
        raise ValueError("is no entry of individual fairness")
    total = pair.distance == "total_variation"

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
    limit = (
        f"The tolerance is {with_unit(wording.points(entry.threshold) if total else wording.number(entry.threshold))}"
    )
    fewest = people_for_verdict(report)
    verdicts = {
        "met": f"{limit}, so it is kept.",
        "not_met": f"{limit}, so it is not kept.",
        "cannot_tell": f"{limit}; whether it is kept cannot be told from a report this private.",
        "too_few_people": f"{limit}. No verdict is given, for regions of fewer than {fewest} are compared as well.",
    }
    such = "a pair" if pair.least_people is None else "such a pair"
    share = f"{wording.percent(pair.people_involved)} of people are in {such}"
    said += [
        verdicts["too_few_people" if entry.reason == "too_few_people" else entry.verdict or "cannot_tell"],
        f"{share if pair.people_involved else 'Nobody is in a pair'} beyond the tolerance, as announced.",
    ]
    return " ".join(said)


def people_for_verdict(report: PublicReport) -> str:
    """The number of people that a group or region must have for a verdict, in words."""
    return wording.count(report.policy.minimum_group_size, "person", "people")


def _apart(entry: Fairness, pair: Pair, report: PublicReport, allowed: str) -> list[str]:
    """State the distance of the pair's outcomes, and the distance that is allowed."""
    a, b = (f"“{name}”" for name in entry.groups)
    between = (
        f"They have {' and '.join(wording.number(n) for n in entry.people)} people. The declared distance between "
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
    sides = list(zip((a, b), (chances[outcome] for chances in pair.chances), entry.people, strict=True))
    (a, x, n), (b, y, m) = sorted(sides, key=lambda side: -side[1])
    if y == 0 < x:
        return [
            f"“{outcome}” is an outcome for {a}, with {wording.percent(x)}, and none for {b}: no distance allows that, "
            f"so the excess is infinite. They have {wording.number(n)} and {wording.number(m)} people."
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
