"""Announced chances of drawn groups, and comparisons of two sets of their regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from atr.core.fidelity import Delta
from atr.measures.cells import Cells, possible_totals, rates_of
from atr.measures.group_fairness import Comparison, GroupingSpec, compare
from atr.programme import FairnessPolicy


def compared(cells: Cells, values: dict[str, Sequence[str]], **changes: object) -> list[Comparison]:
    options = {
        "compared": [GroupingSpec(("sex",), "men")],
        "legitimate": ("income",),
        "outcomes": ("approved", "refused"),
        "lines": FairnessPolicy(),
    }
    return compare(cells, values, **(options | changes))  # type: ignore[arg-type]


def of_two(cells: Cells, labels: Sequence[str]) -> tuple[list[Comparison], Comparison]:
    """Of the people labelled “a” against those labelled “b”: the ratio of each outcome, and statistical parity."""
    found = compared(
        cells,
        {"set": labels},
        compared=[GroupingSpec(("set",), "b")],
        legitimate=(),
        outcomes=tuple("pqrstuvw"[: cells.outcomes]),
    )
    of_both = [c for c in found if c.groups == ("a", "b")]
    (parity,) = (c for c in of_both if c.measure == "statistical_parity")
    return [c for c in of_both if c.measure == "p_percent_rule"], parity


@st.composite
def announced(draw: st.DrawFn, *, fewest_outcomes: int = 2, most_outcomes: int = 5) -> tuple[Cells, np.ndarray]:
    """Announced cells on a grid of 0.01 and a truth they may have come from."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    n, outcomes = sum(sizes), draw(st.integers(fewest_outcomes, most_outcomes))
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    population = np.array(draw(st.lists(st.integers(1, 40), min_size=n, max_size=n)))
    cuts = [sorted(draw(st.integers(0, int(p))) for _ in range(outcomes - 1)) for p in population]
    counts = np.array([np.diff([0, *cut, p]) for cut, p in zip(cuts, population, strict=True)])
    truth = counts / population[:, None]
    level = draw(st.sampled_from([0.8, 0.9, 1.0]))
    exact = draw(st.booleans())
    units = np.floor(truth * 100 + 1e-9).astype(np.int64)
    for row, part in zip(units, truth * 100 - units, strict=True):
        row[np.argsort(-part, kind="stable")[: 100 - row.sum()]] += 1
    low, high = Delta(level).allowed_on_grid(truth, digits=2)
    if not exact and outcomes == 2:
        first = [draw(st.integers(int(a), int(b))) for a, b in zip(low[:, 0], high[:, 0], strict=True)]
        units = np.array([[x, 100 - x] for x in first])
    assert ((low <= units) & (units <= high)).all()
    lower, upper = Delta(level).believed(units / 100, digits=2)
    totals = implied_totals(population, units / 100, offsets, 2) if exact else None
    half = np.full(len(sizes), 0.005 * (1 if outcomes == 2 else 2))
    return Cells(population, units / 100, lower, upper, offsets, population, totals, half), truth


def implied_totals(people: np.ndarray, chance: np.ndarray, offsets: np.ndarray, digits: int) -> np.ndarray:
    """The people of every group with each outcome, where its rate is that of its chances, up to their rounding."""
    of_groups, rates = np.add.reduceat(people, offsets[:-1]), rates_of(people, chance, offsets)
    return possible_totals(of_groups, rates, 0.5 * 10.0**-digits * (1 if chance.shape[1] == 2 else 2))


def two_sets(data: st.DataObject, n: int) -> np.ndarray:
    """Two sets of regions that are compared, and the rest."""
    labels = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))
    places = data.draw(st.permutations(range(n)))
    labels[places[0]], labels[places[1]] = "a", "b"
    return labels


def with_its_own(cells: Cells) -> Cells:
    """Cells whose totals allow the announced mapping as well: it is one of those that a range is of."""
    if cells.totals is None:
        return cells
    low, high = np.moveaxis(cells.totals, 2, 0)
    own = np.add.reduceat(cells.people[:, None] * cells.chance, cells.offsets[:-1]).T
    return replace(cells, totals=np.stack([np.minimum(low, own), np.maximum(high, own)], axis=2))
