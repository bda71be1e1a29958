"""Individual fairness: for each measure the pair of regions that attains it, attribute by attribute."""

from __future__ import annotations

from typing import Any

from atr.documents.comparisons import common_decimals, measured
from atr.documents.text.individual import people_for_verdict
from atr.documents.text.wording import number, raised
from atr.report.individual import records
from atr.report.model import IndividualPolicy, OutcomeDistance, PublicReport
from atr.report.rounding import nearest

NAMES: dict[OutcomeDistance, str] = {"total_variation": "total variation", "relative": "relative distance"}
KINDS = {"nominal": "alike or not", "ordinal": "steps of its order", "numeric": "middles of its bins"}


def alike(report: PublicReport) -> list[dict[str, Any]]:
    """The measures of individual fairness, each with the pair of regions that exceeds the distance most.

    Returns
    -------
    For each its name, the regions compared, its figures, and ``lines``: for every attribute the title, kind of
    distance, weight, two values and their distance. There are no lines where an earlier measure has the same pair.
    """
    found: list[dict[str, Any]] = []
    policy, enough = report.policy.individual, f"regions of {people_for_verdict(report)} or more"
    for entry in report.fairness:
        pair = entry.pair
        if pair is None or policy is None:
            continue
        lines = []
        for a in report.attributes:
            values, of = (pair.regions[0][a.name], pair.regions[1][a.name]), policy.distances[a.name]
            apart = number(_distance(policy, a.name, values))
            lines.append((raised(a.title), KINDS[of.kind], number(of.weight), *values, apart))
        key = pair.distance, entry.groups
        found.append(
            {
                "name": NAMES[pair.distance],
                "among": "all regions" if pair.least_people is None else enough,
                "entry": entry,
                "pair": pair,
                "measured": measured(entry, common_decimals([entry.value, *entry.range])),
                "lines": [] if any((a["pair"].distance, a["entry"].groups) == key for a in found) else lines,
            }
        )
    return found


def _distance(policy: IndividualPolicy, attribute: str, values: tuple[str, str]) -> float:
    """The distance of two values of an attribute, 0 to 1, whatever its weight."""
    alone = policy.distances[attribute].model_copy(update={"weight": 1.0})
    points = records({attribute: values}, policy.model_copy(update={"distances": {attribute: alone}}))
    return nearest(float(points.distances(0)[1]), 2)
