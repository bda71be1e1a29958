"""Individual fairness in the report, measured on what it prints."""

from __future__ import annotations

import math
from collections.abc import Mapping

from atr.core.comparison_rows import joined
from atr.core.publication import RATE_DIGITS
from atr.measures import INDIVIDUAL
from atr.measures import individual as measuring
from atr.measures.base import at_most
from atr.measures.cells import Cells, Chances
from atr.measures.rates import within_totals
from atr.programme import AttributeDistance as Declared
from atr.programme import Programme
from atr.report import reader_view
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
    shown = reader_view.announcement(report)
    cells = within_totals(reader_view.cells(shown), *shown.open_people)
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
    few = least is None and bool((people < report.policy.minimum_group_size).any())
    verdict = "cannot_tell" if few else at_most(bounds(ends), policy.tolerance)
    return Fairness(
        measure=INDIVIDUAL,
        attribute="",
        groups=(joined(list(first.values())), joined(list(second.values()))),
        reference="",
        outcome=None,
        value=nearest(found.value, digits) if math.isfinite(found.value) else None,
        range=ends,
        threshold=policy.tolerance,
        verdict=verdict,
        reason="too_few_people" if few else "line_in_range" if verdict == "cannot_tell" else None,
        people=(a.people, b.people),
        rates=(nearest(of_a[report.positive], RATE_DIGITS), nearest(of_b[report.positive], RATE_DIGITS)),
        pair=Pair(
            distance=distance,
            least_people=least,
            regions=(first, second),
            people=(a.population, b.population),
            chances=(of_a, of_b),
            outcomes_apart=nearest(apart, digits) if math.isfinite(apart) else None,
            records_apart=nearest(float(distances[found.pair[1]]), digits),
            people_involved=rounded_share(int(people[found.involved].sum()) / int(people.sum())),
        ),
    )
