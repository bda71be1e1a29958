"""Time of the influence of inputs: each alone, every subset of them for the Shapley values, and the surrogate tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from atr.measures.influence import Rules, of_subsets, shapley
from atr.measures.influence import influence as of_inputs
from atr.measures.surrogate import fit
from benchmarks.cases import Row
from benchmarks.measure import in_turn

SIZES = (6, 5, 5, 5, 4, 4, 4, 3)


def announced(regions: int) -> Rules:
    """Make that many regions of 8 inputs, at random among the 144,000 combinations there are."""
    rng = np.random.default_rng(3)
    chosen = rng.choice(int(np.prod(SIZES)), regions, replace=False)
    values = np.column_stack(np.unravel_index(chosen, SIZES)).astype(np.int64)
    return Rules(values, rng.integers(1, 200, regions) * 5.0, rng.integers(0, 1001, regions).astype(np.float64))


def influence(regions: int = 100_000, rounds: int = 3) -> Iterator[Row]:
    """The influence of 8 inputs on everybody and by the groups of two of them."""
    rules, by = announced(regions), (0, 1)
    taken = in_turn(
        {
            "pass": lambda: float(rules.people.sum() + rules.chance.sum() + rules.values.sum()),
            "each": lambda: [of_inputs(rules, [i], by=by) for i in range(rules.inputs)],
            "all": lambda: shapley(of_subsets(rules, by=by)),
            "tree": lambda: fit(rules),
        },
        rounds=rounds,
    )
    size = f"{rules.inputs} inputs, {regions:,} regions"
    base = f"one pass, {taken['pass'].seconds * 1e6:.0f} µs"
    for name, what, limit in (
        ("each", "Influence of each input", 5),
        ("all", "Shapley values, all subsets", None),
        ("tree", "Surrogate tree", None),
    ):
        seconds = taken[name].seconds
        target = "" if limit is None else f"≤ {limit} s"
        met = None if limit is None else seconds <= limit
        yield Row(f"{what}, {size}", f"{seconds:.2f} s", base, taken[name].ratio, None, target, met)
