"""What the section on individual fairness prints: each measure, and the pair that attains it, by attribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from atr.documents.fairness import Measured, measured
from atr.report import wording
from atr.report.individual import people_for_verdict, records
from atr.report.model import Fairness, IndividualPolicy, OutcomeDistance, Pair, PublicReport
from atr.report.rounding import nearest

NAMES: dict[OutcomeDistance, str] = {"total_variation": "total variation", "relative": "relative distance"}
KINDS = {"nominal": "alike or not", "ordinal": "steps of its order", "numeric": "middles of its bins"}


@dataclass(frozen=True, slots=True)
class Line:
    """One attribute of the two regions of a pair, and how far they are apart in it."""

    title: str
    kind: str
    weight: str
    values: tuple[str, str]
    distance: str


@dataclass(frozen=True, slots=True)
class Alike:
    """One measure of individual fairness, of all regions or of ``among`` some, and the pair that attains it.

    ``lines`` are left out where the pair is that of the measure before; ``chances`` are the two announced ones of every
    outcome, in percent.
    """

    name: str
    among: str
    measured: Measured
    entry: Fairness
    pair: Pair
    lines: tuple[Line, ...]
    chances: tuple[tuple[str, tuple[str, ...]], ...]


def alike(report: PublicReport) -> tuple[Alike, ...]:
    """The measures of individual fairness."""
    policy = report.policy.individual
    found: list[Alike] = []
    for entry in report.fairness:
        if policy is None or entry.pair is None:
            continue
        pair = entry.pair
        shown = any((a.pair.distance, a.entry.groups) == (pair.distance, entry.groups) for a in found)
        decimals = wording.percent_decimals(report.policy.digits)
        percents = {o: tuple(wording.points(x[o], decimals=decimals) for x in pair.chances) for o in report.outcomes}
        found.append(
            Alike(
                NAMES[pair.distance],
                "all regions" if pair.least_people is None else f"regions of {people_for_verdict(report)} or more",
                _measured(entry),
                entry,
                pair,
                () if shown else tuple(_lines(report, policy, pair)),
                tuple(percents.items()),
            )
        )
    return tuple(found)


def without_weight(report: PublicReport) -> tuple[str, ...]:
    """The titles of the attributes that must make no difference, within a sentence."""
    policy = report.policy.individual
    return tuple(a.title for a in report.attributes if policy and not policy.distances[a.name].weight)


def _lines(report: PublicReport, policy: IndividualPolicy, pair: Pair) -> Iterator[Line]:
    for a in report.attributes:
        stated = policy.distances[a.name]
        alone = policy.model_copy(update={"distances": {a.name: stated.model_copy(update={"weight": 1.0})}})
        values = pair.regions[0][a.name], pair.regions[1][a.name]
        apart = nearest(float(records({a.name: values}, alone).distances(0)[1]), 2)
        title, weight = wording.raised(a.title), wording.number(stated.weight)
        yield Line(title, KINDS[stated.kind], weight, values, wording.number(apart))


def _measured(entry: Fairness) -> Measured:
    """The largest excess as it is printed."""
    found = measured(entry, wording.common_decimals([entry.value, *entry.range]))
    return found if entry.value is not None else replace(found, value="infinite", range=found.range or "exact")
