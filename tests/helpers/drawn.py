"""Groups of several outcomes and protected sets for property tests, and programmes to hold results against."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from atr.core.fidelity import Alpha, Delta
from atr.core.groups import Groups

RATES = ("exact", "free")

_LEVELS = st.sampled_from([1.0, 0.99, 0.95, 0.9, 0.8, 0.5, 0.05])


@st.composite
def fidelities(draw):
    if draw(st.booleans()):
        return Delta(draw(_LEVELS | st.just(0.0) | st.integers(0, 1000).map(lambda level: level / 1000)))
    return Alpha(draw(_LEVELS | st.integers(50, 1000).map(lambda level: level / 1000)))


@st.composite
def protected(draw, size):
    """Draw sets of one group: a few of any kind, the values of two attributes, or almost everybody."""
    regions = list(range(size))
    kind = draw(st.sampled_from(["any", "two attributes", "almost everybody"]))
    if kind == "two attributes":
        one, two = (np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))) for _ in range(2))
        return [np.flatnonzero(values == v).tolist() for values in (one, two) for v in sorted(set(values.tolist()))]
    if kind == "almost everybody":
        return [regions[: max(1, size - 1)]]
    chosen = st.sets(st.sampled_from(regions), min_size=1).map(sorted)
    return draw(st.lists(chosen, min_size=1, max_size=4))


@st.composite
def several(draw, most=1, outcomes=(2, 3, 4), sets=(False, True), factors=True, largest=400):
    """Draw groups of counted decisions, degenerate ones included."""
    A = draw(st.sampled_from(outcomes))
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=most))
    population, decision = [], []
    for size in sizes:
        p = draw(st.lists(st.integers(1, largest), min_size=size, max_size=size))
        if draw(st.integers(0, 5)) == 0:
            p = [p[0]] * size
        kind = draw(st.sampled_from(["any", "any", "extreme", "same"]))
        for people in p:
            if kind == "extreme":
                counts = np.zeros(A)
                counts[draw(st.integers(0, A - 1))] = people
            elif kind == "same" and decision:
                decision.append(decision[-1])
                continue
            else:
                cuts = sorted(draw(st.lists(st.integers(0, people), min_size=A - 1, max_size=A - 1)))
                counts = np.diff([0, *cuts, people])
            decision.append(counts / people)
        population += p
    nested = [draw(protected(size)) for size in sizes] if draw(st.sampled_from(sets)) else None
    scale = None
    if nested is not None and factors and draw(st.booleans()):
        scale = [[draw(st.sampled_from([1.0, 0.8, 0.5, 1.25])) for _ in group] for group in nested]
    return Groups(np.array(population), np.array(decision), np.append(0, np.cumsum(sizes)), nested, scale)


def nested_sets(groups):
    """For each group its protected sets, each a list of positions of regions within the group."""
    sets, first = groups.sets, groups.offsets
    lists = [sets.members[a:b] for a, b in pairwise(sets.offsets)]
    return [
        [(members - first[i]).tolist() for members in lists[a:b]]
        for i, (a, b) in enumerate(pairwise(sets.group_offsets))
    ]


class Oracle:
    """One group's programmes in announced chances, written down cell by cell."""

    def __init__(self, groups, fidelity):
        self.p, self.D = groups.population / groups.population.sum(), groups.decision
        self.m, self.A = self.D.shape
        self.lower, self.upper = fidelity.allowed(self.D)
        self.sets = [[x] for x in range(self.m)] if groups.sets is None else nested_sets(groups)[0]
        self.factors = np.ones(len(self.sets)) if groups.sets is None else groups.sets.factors
        self.totals = self.p @ self.D

    def cell(self, x, a):
        return x * self.A + a

    def sums_to_one(self):
        return [[1.0 if i // self.A == x else 0.0 for i in range(self.m * self.A)] for x in range(self.m)]

    def rates(self):
        return [[self.p[i // self.A] * (i % self.A == a) for i in range(self.m * self.A)] for a in range(self.A)]

    def held(self, beta):
        """Rows of Σ_V p D̃_a - β c_V Σ_T p D̃_a."""
        rows = []
        for members, factor in zip(self.sets, self.factors, strict=True):
            for a in range(self.A):
                row = np.zeros(self.m * self.A)
                for x in range(self.m):
                    row[self.cell(x, a)] = self.p[x] * ((x in members) - beta * factor)
                rows.append(row)
        return rows

    def distortion(self, beta, *, exact):
        """Smallest Σ p·½Σ|D̃ - D| at confidence β; None where there is none."""
        n = self.m * self.A
        eye, d = np.eye(n), self.D.ravel()
        equal = [*self.sums_to_one(), *(self.rates() if exact else [])]
        result = linprog(
            np.append(np.zeros(n), np.repeat(self.p, self.A) / 2),
            A_ub=np.vstack(
                [
                    np.hstack([self.held(beta), np.zeros((len(self.sets) * self.A, n))]),
                    np.block([[eye, -eye], [-eye, -eye]]),
                ]
            ),
            b_ub=np.concatenate([np.zeros(len(self.sets) * self.A), d, -d]),
            A_eq=np.hstack([equal, np.zeros((len(equal), n))]),
            b_eq=np.append(np.ones(self.m), self.totals if exact else []),
            bounds=[*zip(self.lower.ravel(), self.upper.ravel(), strict=True), *[(0, None)] * n],
            method="highs",
        )
        return result.fun if result.status == 0 else None

    def excess(self, beta, *, exact):
        """Smallest e with every Σ_V p D̃_a at most e above its ceiling."""
        n = self.m * self.A
        equal = [*self.sums_to_one(), *(self.rates() if exact else [])]
        held = self.held(beta)
        for method in ("highs", "highs-ipm"):  # at so small a tolerance the first sometimes gives up
            found = linprog(
                np.append(np.zeros(n), 1),
                A_ub=np.column_stack([held, -np.ones(len(held))]),
                b_ub=np.zeros(len(held)),
                A_eq=np.column_stack([equal, np.zeros(len(equal))]),
                b_eq=np.append(np.ones(self.m), self.totals if exact else []),
                bounds=[*zip(self.lower.ravel(), self.upper.ravel(), strict=True), (None, None)],
                method=method,
                options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
            )
            if found.status == 0:
                return found.fun
        raise AssertionError(found.message)


def to_fives(population):
    """People as they are printed to the nearest 5, never 0; worked out without the library."""
    return np.maximum((2 * population.astype(np.int64) + 5) // 10 * 5, 5)
