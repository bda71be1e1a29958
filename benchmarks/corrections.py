"""Two versions of one period: what somebody with both learns of the people who were added or corrected in between.

python -m benchmarks.corrections     simulates, which takes some minutes, and writes benchmarks/corrections.json

Groups of three or four regions of 6 to 27 people are drawn, and ten to fifteen more people, as mixed as a new version
has them; or ten to thirteen people who did not have the positive outcome get it. The reader knows exact numbers of
people and rates of both versions, that nothing else was changed, and the limits of both. docs/mechanism.md says what
comes of it.
"""

from __future__ import annotations

import json
from math import comb
from pathlib import Path

import numpy as np
from scipy.signal import convolve2d

from atr.core.arrays import FloatArray, IntArray
from atr.mechanisms.calibrated import Ceilings, Cell, announce, announceable
from atr.mechanisms.calibrated.readers import MODELS, Model

RESULTS = Path(__file__).parent / "corrections.json"
SEED, GROUPS, STEPS = 20130101, 500, 20
CEILINGS = (0.6, 0.68, 0.75)


def _counts(cell: Cell, people: IntArray) -> tuple[IntArray, IntArray]:
    """Give lowest and highest counts of the rules of a cell."""
    first = -(-np.outer(people, np.arange(STEPS + 1)) // STEPS)
    rows = np.arange(len(people))
    return first[rows, cell.lower], np.where(cell.upper == STEPS, people, first[rows, cell.upper] - 1)


def _weight(model: Model, people: int, k: int) -> float:
    return {"uniform": 1.0, "extreme": float(comb(2 * k, k) * comb(2 * (people - k), people - k))}.get(
        model, float(comb(people, k))
    )


def confidence(
    model: Model, people: IntArray, added: IntArray, totals: tuple[int, int], cells: tuple[Cell, Cell]
) -> float:
    """Give how sure a reader is of the secret of somebody who was added, or where nobody was, corrected.

    Parameters
    ----------
    model
        What he believes of rules, of the people before and of those added alike.
    people, added
        (m,) people of the first version, and those who came.
    totals
        People with the positive outcome in the first version, and how many more in the second.
    cells
        What both tell.
    """
    (low, high), (later_low, later_high) = _counts(cells[0], people), _counts(cells[1], people + added)
    total, more = totals
    corrected = not added.any()
    tables = []
    for s, n in enumerate(people.tolist()):
        table = np.zeros((n + 1, more + 1))
        for k in range(low[s], high[s] + 1):
            most = n - k if corrected else int(added[s])
            for d in range(max(0, later_low[s] - k), min(more, most, later_high[s] - k) + 1):
                change = float(comb(most, d)) if corrected else _weight(model, most, d)
                table[k, d] = _weight(model, n, k) * change
        tables.append(table / table.max())

    def together(others: list[FloatArray]) -> FloatArray:
        product = np.ones((1, 1))
        for table in others:
            product = convolve2d(product, table)[: total + 1, : more + 1]
        return np.pad(product, [(0, total + 1 - product.shape[0]), (0, more + 1 - product.shape[1])])

    whole = together(tables)[total, more]
    counted = [[*tables[:s], tables[s] * np.arange(more + 1), *tables[s + 1 :]] for s in range(len(tables))]
    expected = np.array([together(of)[total, more] for of in counted]) / whole
    shares = [expected / more] if more else []
    if added.sum() > more:
        shares.append((added - expected) / (added.sum() - more))
    return float(np.max(shares))


def simulate(*, corrected: bool) -> dict[str, float]:
    """Give the share of groups where a reader is above the ceiling, or certain, and how far above he is at most."""
    rng, certain = np.random.default_rng(SEED), 0
    excess: list[float] = []
    while len(excess) < GROUPS:
        people, ceiling = rng.integers(6, 28, size=int(rng.integers(3, 5))), float(rng.choice(CEILINGS))
        favourable = rng.binomial(people, rng.beta(1, 1, size=len(people)))
        added = np.zeros_like(people)
        if corrected:
            number = int(rng.integers(10, 14))
            if (people - favourable).sum() < number:
                continue
            more = rng.multivariate_hypergeometric(people - favourable, number)
        else:
            added = rng.multinomial(int(rng.integers(10, 16)), rng.dirichlet(np.full(len(people), 3)))
            more = rng.binomial(added, favourable / people)
        some = (people, people + added, added[added > 0])
        if not all(announceable(Ceilings.of(of, ceiling)) for of in some if of.size):
            continue
        first = announce(people, favourable, max_confidence=ceiling)
        assert first is not None
        now, limits = people + added, (first.lower, first.upper)
        earlier = [(-(-first.lower * now // STEPS), first.upper * now // STEPS)] if first.told else None
        second = announce(
            now, favourable + more, max_confidence=ceiling, earlier=earlier, previous=limits if first.told else None
        )
        assert second is not None
        totals = int(favourable.sum()), int(more.sum())
        sure = max(confidence(model, people, added, totals, (first, second)) for model in MODELS)
        excess.append(sure - ceiling)
        certain += sure > 1 - 1e-9
    above = np.array(excess) > 1e-9
    return {"groups": GROUPS, "above": float(above.mean()), "certain": certain / GROUPS, "most": max(excess)}


if __name__ == "__main__":
    found = {"added": simulate(corrected=False), "corrected": simulate(corrected=True)}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
