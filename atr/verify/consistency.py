"""Whether the printed rates, ratios and differences of some groups can all be true, whatever the exact people are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import linprog

from atr.core.publication import RATE_DIGITS
from atr.core.tolerances import RECOMPUTED
from atr.measures import MEASURES
from atr.report.model import Fairness, PublicReport
from atr.verify.finding import Finding

_INFEASIBLE = 2


def contradictions(report: PublicReport) -> Iterator[Finding]:
    """Comparisons by one attribute whose printed figures contradict each other, each rounded to the nearest digit."""
    together: dict[tuple[str, frozenset[tuple[str, str]]], list[Fairness]] = defaultdict(list)
    for entry in report.fairness:
        if entry.measure in MEASURES and entry.summary is None:
            together[entry.attribute, frozenset(entry.condition.items())].append(entry)
    for (attribute, given), entries in together.items():
        if not _possible(entries, report):
            where = "".join(f", {name} {value}" for name, value in sorted(given))
            yield Finding(f"fairness, {attribute}{where}", "its rates, ratios and differences cannot all be true")


def _possible(entries: Sequence[Fairness], report: PublicReport) -> bool:
    """Whether there are rates that give all these figures; of two outcomes, those of the other one are what is left."""
    half = 0.5 * 10.0**-report.policy.digits + RECOMPUTED
    half_rate = 0.5 * 10.0**-RATE_DIGITS + RECOMPUTED
    two = len(report.outcomes) == 2
    places: dict[tuple[str, str], int] = {}
    between: dict[int, tuple[float, float]] = {}
    sums: list[tuple[dict[int, float], float]] = []  # of rates, so often each: at most
    for e in entries:
        outcome = e.outcome or report.positive
        other = two and outcome != report.positive
        a, b = (places.setdefault((who, report.positive if two else outcome), len(places)) for who in e.groups)
        for at, rate in zip((a, b), e.rates, strict=True):
            stated, (low, high) = 1 - rate if other else rate, between.get(at, (0.0, 1.0))
            between[at] = max(low, stated - half_rate), min(high, stated + half_rate)
        bounds: list[tuple[float, float, float]] = []  # of the rates of both groups: how often each, at most
        if e.value is not None and e.is_ratio:
            bounds = [(1.0, -(e.value + half), RECOMPUTED), (-1.0, e.value - half, RECOMPUTED)]
        elif e.value is not None:
            bounds = [(1.0, -1.0, e.value + half), (-1.0, 1.0, e.value + half)]
            if two and e.rates[0] != e.rates[1]:
                more = 1.0 if e.rates[0] > e.rates[1] else -1.0
                bounds.append((-more, more, half - e.value))
        for one, of_other, most in bounds:
            if other:
                one, of_other, most = -one, -of_other, most - one - of_other
            sums.append(({a: one, b: of_other}, most))
    if any(low > high for low, high in between.values()):
        return False
    matrix = np.zeros((len(sums), len(places)))
    for i, (often, _) in enumerate(sums):
        matrix[i, list(often)] = list(often.values())
    ranges = [between[at] for at in range(len(places))]
    limits = [most for _, most in sums]
    found = linprog(np.zeros(len(places)), A_ub=matrix, b_ub=limits, bounds=ranges, method="highs")
    return int(found.status) != _INFEASIBLE
