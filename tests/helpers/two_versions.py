"""Whoever has two versions of a period, exact people and rates of both, and writes down all pairs of rules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import comb, prod

import numpy as np

from atr.core.regions import ToldBefore

STEPS = 20
EXACTLY = 1e-9
Pair = tuple[int, int]
"""People of one region with the positive outcome before, and now."""


def told(limits: np.ndarray, counts: np.ndarray, *, lost: bool = False) -> ToldBefore:
    """What a version tells of a group: (m, outcomes, 2) chances, of (m, outcomes) people."""
    totals = np.broadcast_to(counts.sum(axis=0), counts.shape)
    return ToldBefore(limits, counts.sum(axis=1), totals, np.full(len(counts), lost))


def within(k: int, n: int, limits: np.ndarray) -> bool:
    """Whether k of n people lie in a cell: the upper limit is no more in it, but for that at the end."""
    low, high = limits.tolist()
    return bool(k * STEPS >= low * n and (k * STEPS < high * n or high == STEPS))


class Reader:
    """He knows (m,) people of both versions, and (2,) totals with the positive outcome."""

    def __init__(self, name: str, before: np.ndarray, now: np.ndarray, totals: Pair) -> None:
        self.name, self.before, self.now, self.totals = name, before, now, totals
        self.flips = 0 if (before != now).any() else totals[1] - totals[0]

    def weight(self, k: int, n: int) -> int:
        if not 0 <= k <= n:
            return 0
        return {"uniform": 1, "extreme": comb(2 * k, k) * comb(2 * (n - k), n - k), "alike": comb(n, k)}[self.name]

    def of_region(self, s: int, then: int, now: int) -> int:
        n, more = int(self.before[s]), int(self.now[s] - self.before[s])
        if more < 0:
            return self.weight(now, n + more) * self.weight(then - now, -more)
        if self.flips > 0:
            return self.weight(then, n) * (comb(n - then, now - then) if now >= then else 0)
        if self.flips < 0:
            return self.weight(then, n) * (comb(then, then - now) if then >= now else 0)
        return self.weight(then, n) * self.weight(now - then, more)

    def pairs(self, limits: tuple[np.ndarray, np.ndarray]) -> Iterator[tuple[float, np.ndarray]]:
        possible = []
        for s, (n, m) in enumerate(zip(self.before.tolist(), self.now.tolist(), strict=True)):
            all_pairs = product(range(n + 1), range(m + 1))
            inside = [p for p in all_pairs if within(p[0], n, limits[0][s]) and within(p[1], m, limits[1][s])]
            possible.append([(w, pair) for pair in inside if (w := self.of_region(s, *pair))])
        for rows in product(*possible):
            rules = np.array([pair for _, pair in rows])
            if tuple(rules.sum(axis=0).tolist()) == self.totals:
                yield float(prod(w for w, _ in rows)), rules

    def expected(self, limits: tuple[np.ndarray, np.ndarray]) -> np.ndarray | None:
        """(m, 2) people with the positive outcome before and now, by (m, 2) limits of both; None if nothing fits."""
        found = [*self.pairs(limits)]
        if not found:
            return None
        weights, rules = np.array([w for w, _ in found]), np.array([rule for _, rule in found])
        return np.asarray(np.tensordot(weights / weights.sum(), rules, 1))

    def surest(self, expected: np.ndarray, sets: list[list[int]] | None = None) -> np.ndarray:
        """(sets,) how sure of each set, or region: of anybody before, now, who stayed, came, went, was corrected."""
        then, now = expected.T
        stayed = np.minimum(self.before, self.now)
        went = self.before > self.now
        of_stayed = np.where(went, now, then)
        some = [
            (then, self.before), (now, self.now), (of_stayed, stayed),
            (now - of_stayed, self.now - stayed), (then - of_stayed, self.before - stayed),
        ]  # fmt: skip
        if self.flips:
            some = [*some[:2], (abs(now - then), abs(now - then))]
        surest = np.zeros(len(sets or then))
        for positive, people in some:
            for of in (positive, people - positive):
                if of.sum() > EXACTLY:
                    shares = of / of.sum()
                    surest = np.maximum(surest, [shares[v].sum() for v in sets] if sets else shares)
        return surest
