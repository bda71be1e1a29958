"""Whether the printed rates, ratios and differences of some groups can all be true, whatever the exact people are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product

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
    """Tell whether there are rates of all groups and outcomes that give all these figures.

    Of two outcomes they sum to 1; of more, each was rounded to whole people on its own.
    """
    half, half_rate = (0.5 * 10.0**-digits + RECOMPUTED for digits in (report.policy.digits, RATE_DIGITS))
    groups, two = dict.fromkeys(who for e in entries for who in e.groups), len(report.outcomes) == 2
    place = {key: i for i, key in enumerate(product(groups, report.outcomes))}
    lower, upper = np.zeros(len(place)), np.ones(len(place))
    rows: list[tuple[int, int, float, float, float]] = []  # two rates, how often each counts, and their sum at most
    for e in entries:
        a, b = rates = [place[who, e.outcome or report.positive] for who in e.groups]
        lower[rates] = np.maximum(lower[rates], np.array(e.rates) - half_rate)
        upper[rates] = np.minimum(upper[rates], np.array(e.rates) + half_rate)
        if e.value is not None and e.is_ratio:
            rows += [(a, b, 1.0, -(e.value + half), RECOMPUTED), (a, b, -1.0, e.value - half, RECOMPUTED)]
        elif e.value is not None:
            rows += [(a, b, 1.0, -1.0, e.value + half), (a, b, -1.0, 1.0, e.value + half)]
            if two and e.rates[0] != e.rates[1]:
                more = 1.0 if e.rates[0] > e.rates[1] else -1.0
                rows.append((a, b, -more, more, half - e.value))
    if (lower > upper).any():
        return False
    sums = np.zeros((len(rows), len(place)))
    for row, (a, b, often_a, often_b, _) in zip(sums, rows, strict=True):
        row[[a, b]] = often_a, often_b
    found = linprog(
        np.zeros(len(place)),
        A_ub=sums,
        b_ub=[most for *_, most in rows],
        A_eq=np.kron(np.eye(len(groups)), np.ones(2)) if two else None,
        b_eq=np.ones(len(groups)) if two else None,
        bounds=list(zip(lower.tolist(), upper.tolist(), strict=True)),
        method="highs",
    )
    return int(found.status) != _INFEASIBLE
