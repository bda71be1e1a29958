"""Time of all group-fairness measures with their ranges: five protected attributes and their pairwise intersections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from atr.core.arrays import usable_cores
from atr.measures.cells import Cells, possible_totals, rates_of
from atr.measures.group_fairness import GroupingSpec, compare
from atr.programme import FairnessPolicy
from benchmarks.arrays import Arrays
from benchmarks.cases import Row, one_pass
from benchmarks.measure import in_turn

REGIONS, REGIONS_OF_A_GROUP, TARGET = 10**6, 5, 2.0
PUBLIC, SENSITIVE = {"race": 6, "sex": 2, "age": 5, "region": 12}, {"health": 5}


def drawn(regions: int) -> tuple[Cells, dict[str, tuple[str, ...]]]:
    """Draw announced groups and the values of five attributes, four public and one sensitive, the same on every run."""
    rng = np.random.default_rng(11)
    groups = regions // REGIONS_OF_A_GROUP
    people = rng.integers(5, 200, regions)
    positive = np.round(rng.beta(2, 2, regions), 3)
    chance = np.column_stack([positive, 1 - positive])
    lower, upper = np.clip(chance - 0.1, 0, 1), np.clip(chance + 0.1, 0, 1)
    offsets = np.arange(groups + 1) * REGIONS_OF_A_GROUP
    of_groups, rates = np.add.reduceat(people, offsets[:-1]), rates_of(people, chance, offsets)
    cells = Cells(people, chance, lower, upper, offsets, people, possible_totals(of_groups, rates, 0.001))
    values = {
        name: tuple(f"{name} {v}" for v in np.repeat(rng.integers(0, size, groups), REGIONS_OF_A_GROUP).tolist())
        for name, size in PUBLIC.items()
    }
    return cells, values | {
        name: tuple(f"{name} {i % size}" for i in range(regions)) for name, size in SENSITIVE.items()
    }


def fairness() -> Iterator[Row]:
    """Time it, with and without classes of people alike in an attribute, against one pass over the same arrays."""
    cells, values = drawn(REGIONS)
    names = [*PUBLIC, *SENSITIVE]
    compared = [*(GroupingSpec((name,)) for name in names), *(GroupingSpec(pair) for pair in combinations(names, 2))]
    measured = partial(
        compare,
        cells,
        values,
        compared=compared,
        outcomes=("approved", "refused"),
        lines=FairnessPolicy(),
    )
    what = f"fairness by 5 attributes and their 10 intersections, {REGIONS:,} regions"
    cases: dict[str, Callable[[], object]] = {
        "one pass": one_pass(Arrays(cells.people, cells.chance, cells.offsets)),
        what: partial(measured, legitimate=()),
        f"{what}, and within classes of one attribute": partial(measured, legitimate=("age",)),
    }
    found = in_turn(cases, rounds=3)
    for name in list(cases)[1:]:
        seconds, target = found[name].seconds, TARGET if name == what else None
        yield Row(
            name,
            f"{seconds:.2f} s",
            f"one pass, {found['one pass'].seconds * 1000:.0f} ms",
            found[name].ratio,
            found[name].processor_ratio / usable_cores(),
            target=f"≤ {target:g} s" if target else "",
            met=seconds <= target if target else None,
        )
    yield from _jointly()


def _jointly() -> Iterator[Row]:
    """Time the ranges of three outcomes that bound each other against those of free rates."""
    groups, values, outcomes = 200, 4, ("approved", "refused", "waiting")
    rng = np.random.default_rng(12)
    people = rng.integers(20, 200, groups * values)
    units = np.floor(rng.dirichlet(np.ones(len(outcomes)), len(people)) * 1000).astype(int)
    units[:, 0] += 1000 - units.sum(axis=1)
    chance = units / 1000
    lower, upper = np.clip(chance - 0.1, 0, 1), np.clip(chance + 0.1, 0, 1)
    offsets = np.arange(groups + 1) * values
    of_groups, rates = np.add.reduceat(people, offsets[:-1]), rates_of(people, chance, offsets)
    cells = Cells(people, chance, lower, upper, offsets, people, possible_totals(of_groups, rates, 0.001))
    measured = partial(
        compare,
        values={"health": tuple(f"health {i % values}" for i in range(len(people)))},
        compared=[GroupingSpec(("health",))],
        legitimate=(),
        outcomes=outcomes,
        lines=FairnessPolicy(),
    )
    free, jointly = (partial(measured, cells) for cells in (replace(cells, totals=None), cells))
    found = in_turn({"free": free, "jointly": jointly}, rounds=3)
    yield Row(
        f"fairness by a sensitive attribute of {values} values, {groups} groups, 3 outcomes that bound each other",
        f"{found['jointly'].seconds:.2f} s",
        f"free group rates, {found['free'].seconds * 1000:.1f} ms",
        found["jointly"].ratio,
    )
