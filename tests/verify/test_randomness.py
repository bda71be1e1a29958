"""Rows against their channel: true draws pass, and what chance does not bring is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from atr import sanitise
from atr.records.model import GroupChannel, PublicRecords
from atr.verify.randomness import FALSE_ALARM, findings
from tests.helpers.released import records


def _records(totals: Any, alpha: Any, **changes: Any) -> PublicRecords:
    """Groups with so many rows of each value, and their α."""
    totals, alpha = np.asarray(totals).tolist(), np.asarray(alpha).tolist()
    groups = tuple(
        GroupChannel(values={"sex": str(g % 2), "age": str(g)}, pooled=False, people=sum(t), alpha=a, totals=(*t,))
        for g, (t, a) in enumerate(zip(totals, alpha, strict=True))
    )
    values = tuple(f"v{y}" for y in range(len(groups[0].totals)))
    return records(groups=1, values=values, people=int(np.sum(totals)), **changes).model_copy(update={"groups": groups})


def _drawn(of: PublicRecords, rng: np.random.Generator) -> np.ndarray:
    """(g, y) rows as a Markov channel makes them."""
    stay = [rng.binomial(group.totals, 1 - group.alpha) for group in of.groups]
    return np.array([s + rng.multinomial(g.people - s.sum(), g.shares) for s, g in zip(stay, of.groups, strict=True)])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_true_draws_are_never_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        g, y = int(rng.integers(1, 20)), int(rng.integers(2, 6))
        totals = rng.multinomial(int(rng.integers(50, 3000)), rng.dirichlet(np.full(y, 0.4)), size=g)
        of = _records(totals, np.clip(rng.uniform(-0.1, 1.1, g), 0, 1))
        assert list(findings(_drawn(of, rng), of)) == []


def test_true_draws_of_the_best_channel_are_not_found() -> None:
    rng = np.random.default_rng(5)
    people = np.array([[300, 20, 60], [30, 200, 40], [5, 60, 90]])
    of = _records([people.sum(axis=0)], [0.6], channel="best")
    table = sanitise.best(people / people.sum(), 0.6)
    for _ in range(100):
        rows = np.sum([rng.multinomial(people[s, x], table[s, x]) for s in range(3) for x in range(3)], axis=0)
        assert list(findings(rows[None], of)) == []


@pytest.mark.parametrize(("people", "total", "alpha"), [(60, 4, 0.1), (400, 150, 0.5), (2000, 1, 0.9), (50, 49, 0.02)])
def test_chance_is_used_up_and_not_exceeded(people: int, total: int, alpha: float) -> None:
    of = _records([[total, people - total]], [alpha])
    drawn = alpha * total / people
    chance = np.convolve(
        stats.binom.pmf(np.arange(total + 1), total, 1 - alpha + drawn),
        stats.binom.pmf(np.arange(people - total + 1), people - total, drawn),
    )
    found = np.array([bool(list(findings(np.array([[n, people - n]]), of))) for n in range(people + 1)])
    assert found.any()
    assert chance[found].sum() < FALSE_ALARM
    first = np.flatnonzero(found & (np.arange(people + 1) > total))[:1] - 1
    assert chance[first[0] :].sum() * 2 > FALSE_ALARM / 4 if len(first) else total > people - 5


def test_a_little_in_every_group_is_found_in_their_sum() -> None:
    of = _records([[300, 200]] * 30, [0.5] * 30)
    rows = np.array([group.totals for group in of.groups])
    off = np.sqrt(of.groups[0].markov_variance[0])
    same, turned = np.array([-1, 1]) * round(1.6 * off), np.array([[-1, 1], [1, -1]] * 15) * round(2.2 * off)
    assert {finding.problem.split(":")[0] for finding in findings(rows + same, of)} == {"all groups"}
    assert any("together" in finding.problem for finding in findings(rows + turned, of))
    assert any("more exactly" in finding.problem for finding in findings(rows, of))
