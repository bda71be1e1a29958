"""Two versions of one period: how sure somebody with both would be, were he no reader of the mechanism, and the price.

python -m benchmarks.corrections     simulates, some minutes, and writes benchmarks/corrections.json

Groups of three or four regions of 6 to 27 people are drawn, and ten to fifteen more people, as mixed as a new version
has them; or ten to thirteen people who did not have the positive outcome get it. docs/mechanism.md says what comes of
it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from atr.core.arrays import IntArray
from atr.core.regions import ToldBefore
from atr.mechanisms.calibrated import Ceilings, announceable
from atr.mechanisms.calibrated.group import Cell, solve_group
from atr.mechanisms.calibrated.readers import MODELS
from atr.mechanisms.calibrated.two_versions import EarlierVersion

RESULTS = Path(__file__).parent / "corrections.json"
SEED, GROUPS, STEPS = 20130101, 500, 20
CEILINGS = (0.6, 0.68, 0.75)


def by_outcome(people: IntArray, favourable: IntArray) -> IntArray:
    """Lay out (m, 2) people with either outcome."""
    return np.column_stack([favourable, people - favourable])


def drawn(rng: np.random.Generator, ceiling: float, *, corrected: bool) -> tuple[IntArray, IntArray] | None:
    """Draw (m, 2) people by outcome in both versions; None where numbers of people do not allow it."""
    people = rng.integers(6, 28, size=int(rng.integers(3, 5)))
    favourable = rng.binomial(people, rng.beta(1, 1, size=len(people)))
    added, number = np.zeros_like(people), int(rng.integers(10, 14))
    if not corrected:
        added = rng.multinomial(int(rng.integers(10, 16)), rng.dirichlet(np.full(len(people), 3)))
        more = rng.binomial(added, favourable / people)
    elif (people - favourable).sum() < number:
        return None
    else:
        more = rng.multivariate_hypergeometric(people - favourable, number)
    some = (people, people + added, added[added > 0])
    if not all(announceable(Ceilings.of(of, ceiling)) for of in some if of.size):
        return None
    return by_outcome(people, favourable), by_outcome(people + added, favourable + more)


def counts_in(cell: Cell, people: IntArray) -> tuple[IntArray, IntArray]:
    """Give (m,) lowest and highest people with the positive outcome of the rules of a cell."""
    low, high = (-(-of[:, 0] * people // STEPS) for of in (cell.lower, cell.upper))
    return low, np.where(cell.upper[:, 0] == STEPS, people, high - 1)


def simulate(*, corrected: bool) -> dict[str, float]:
    """Give shares of groups in which a reader of both would be above the ceiling, and of which limits are told."""
    rng = np.random.default_rng(SEED)
    above: list[bool] = []
    told: list[tuple[bool, bool]] = []
    while len(above) < GROUPS:
        ceiling = float(rng.choice(CEILINGS))
        if (both := drawn(rng, ceiling, corrected=corrected)) is None:
            continue
        before, now = both
        (people, then), ceilings = (of.sum(axis=1) for of in (now, before)), Ceilings.of(now.sum(axis=1), ceiling)
        first = solve_group(before, Ceilings.of(then, ceiling))
        assert first is not None
        limits, totals = first.limits / STEPS, np.broadcast_to(before.sum(axis=0), before.shape)
        version = ToldBefore(limits, then, totals, np.zeros(len(then), dtype=np.bool_))
        known = {"earlier": [limits], "previous": first.limits} if first.told else {}
        alone, heeding = (solve_group(now, ceilings, versions=of, **known) for of in ([], [version]))
        assert alone is not None
        assert heeding is not None
        told.append((alone.told, heeding.told))
        low, high = counts_in(first, then)
        exactly = np.stack([low, high], axis=1) / then[:, None]
        version = version._replace(limits=np.stack([exactly, 1 - exactly[:, ::-1]], axis=1))
        reader = EarlierVersion(version, int(now[:, 0].sum()), ceilings)
        beliefs = (reader.belief(model, *counts_in(alone, people)) for model in MODELS)
        above.append(any(bool(reader.exceeded(of.expected)) for of in beliefs if of is not None))
    without, with_him = np.mean(told, axis=0).tolist()
    return {"groups": GROUPS, "above": float(np.mean(above)), "told_without": without, "told": with_him}


if __name__ == "__main__":
    found = {"added": simulate(corrected=False), "corrected": simulate(corrected=True)}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
