"""Group fairness of the bundled COMPAS programme, with ranges, against Fairlearn with bootstrap intervals."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame, count, selection_rate

from atr import ingest
from atr.core.announcement import Announcement
from atr.core.disclosure import decided
from atr.mechanisms import mechanism_of
from atr.programme import Programme, load, periods
from atr.report import build
from atr.warehouse import counting as regions
from atr.warehouse.connection import Warehouse
from benchmarks.cases import Row
from benchmarks.measure import in_turn

EXAMPLES = Path(__file__).parents[1] / "examples"
RESAMPLES = 100
INTERVAL = [0.025, 0.975]


def announced(name: str, period: str) -> tuple[Programme, Announcement, pd.DataFrame]:
    """What a bundled programme announces of a period, and the decisions of those people, one in a row."""
    programme = load(EXAMPLES / name)
    with Warehouse.in_memory() as warehouse:
        ingest.ingest(warehouse, programme)
        found = decided(regions.aggregate(warehouse, programme, periods.parse(period)), programme.policy)
    policy, mechanism, told = programme.policy, mechanism_of(programme.policy), found.take(found.announced)
    made = Announcement.of(found, mechanism.announce(told, mechanism.solve(told, policy), policy), policy)
    counts, of = told.counts, told.group_of
    split = np.diff(made.offsets)[of] > 1  # else the group is told as a whole
    place = made.offsets[of] + np.where(split, np.arange(len(counts)) - told.offsets[of], 0)
    decisions = pd.DataFrame(build.columns(made, programme)).iloc[np.repeat(place, counts.sum(axis=1))]
    decisions = decisions.reset_index(drop=True)
    decisions["favourable"] = np.concatenate([np.repeat([1, 0], [n[0], n[1:].sum()]) for n in counts])
    return programme, made, decisions


def frames(programme: Programme, decisions: pd.DataFrame, *, resamples: int | None) -> dict[str, MetricFrame]:
    """What Fairlearn makes of the same decisions: by every protected attribute, and within the legitimate ones."""
    legitimate = list(programme.names(legitimate=True))
    intervals = {"n_boot": resamples, "ci_quantiles": INTERVAL, "random_state": 1} if resamples else {}
    made = {}
    for name in programme.names(protected=True):
        for within in (None, decisions[legitimate]):
            frame = MetricFrame(
                metrics={"rate": selection_rate, "people": count},
                y_true=decisions.favourable,
                y_pred=decisions.favourable,
                sensitive_features=decisions[[name]],
                control_features=within,
                **intervals,
            )
            frame.ratio()
            frame.difference()
            if resamples:
                frame.ratio_ci()
                frame.difference_ci()
            made[name if within is None else f"{name}, alike"] = frame
    return made


def fairness(rounds: int = 1) -> Iterator[Row]:
    """All comparisons of a report, with the ranges of their true values, against as many with sampling intervals."""
    many = 20
    programme, made, decisions = announced("compas", "2013")
    comparisons = build.measure(made, programme)
    parity = [c for c in comparisons if c.measure == "statistical_parity"]
    rates = {who: rate for c in parity for who, rate in zip(c.groups, c.rates, strict=True)}
    of_fairlearn = frames(programme, decisions, resamples=None)
    found = [of_fairlearn[attribute].by_group.rate for attribute in programme.names(protected=True)]
    alike = [(rate, rates[who]) for of_attribute in found for who, rate in of_attribute.items() if who in rates]
    apart = max(abs(one - other) for one, other in alike)  # who is in a row with others is in no frame's row
    taken = in_turn(
        {
            "atr": lambda: [build.measure(made, programme) for _ in range(many)],
            "Fairlearn": lambda: frames(programme, decisions, resamples=RESAMPLES),
        },
        rounds=rounds,
    )
    faster = taken["Fairlearn"].ratio * many
    version = importlib.metadata.version("fairlearn")
    yield Row(
        f"Fairness of COMPAS 2013, {len(comparisons)} comparisons of {len(decisions):,}, rates apart by {apart:.0e}",
        f"{taken['atr'].seconds / many * 1e3:.1f} ms",
        f"Fairlearn {version}, {len(of_fairlearn)} frames, {RESAMPLES} resamples, {taken['Fairlearn'].seconds:.1f} s",
        1 / faster,
        None,
        "≤ 1/100",
        faster >= 100 and apart <= 1e-9,
    )
