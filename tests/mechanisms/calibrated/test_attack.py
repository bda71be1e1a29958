"""Whoever has the code, exact people and rates and every earlier report is at most as sure as is stated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atr.core.protected import Protection
from atr.mechanisms.calibrated.policy import CalibratedPolicy
from tests.helpers.attacker import Attacker
from tests.helpers.calibrated_oracle import READERS

EXACTLY = 1e-8
MOST = {2: 200, 3: 60}
"""Rules of so many outcomes that are written down."""
TWICE = 25
"""People that are no longer doubled."""
STEPS, LEAST = st.sampled_from([0.05, 0.1, 0.02, 0.25]), st.sampled_from([1, 2, 3, 5])


@st.composite
def programmes(draw: st.DrawFn, ceiling: float) -> CalibratedPolicy:
    """The policy of one report: whoever publishes may change everything but the ceiling from one to the next."""
    return CalibratedPolicy(
        max_confidence=ceiling,
        minimum_group_size=1,
        step=draw(STEPS),
        least=draw(LEAST),
        population_rounding=draw(st.sampled_from([1, 5])),
    )


@st.composite
def protections(draw: st.DrawFn, ceiling: float) -> Protection:
    named, own = [], []
    if draw(st.booleans()):
        named.append(("secret", "either", ("r0", "r1")))
        if draw(st.booleans()):
            own.append(("secret", "either", round(ceiling * 0.95, 3)))
    if draw(st.booleans()):
        own.append(("secret", None, round(ceiling * 0.9, 3)))
    return Protection.of(["secret"], named, own, max_confidence=ceiling, digits=3)


def rules(data: st.DataObject, outcomes: int) -> np.ndarray:
    """(m, outcomes) people of a small group, now and then a lopsided one."""
    sizes = st.integers(4, 12) if outcomes == 2 else st.integers(4, 8)
    people = data.draw(st.lists(sizes, min_size=3, max_size=6 - outcomes))
    people[0] *= data.draw(st.sampled_from([1, 1, 1, 3])) if outcomes == 2 else 1
    cuts = [sorted(data.draw(st.integers(0, n)) for _ in range(outcomes - 1)) for n in people]
    return np.array([np.diff([0, *cut, n]) for cut, n in zip(cuts, people, strict=True)])


def later(data: st.DataObject, counts: np.ndarray) -> np.ndarray:
    """A rule much like an earlier one: the same, of twice the people, or with a few more or fewer people."""
    times = data.draw(st.sampled_from([1, 1, 2])) if counts.sum() < TWICE else 1
    if data.draw(st.booleans()) or times > 1:
        return counts * times
    changed = [data.draw(st.integers(-1, 1)) for _ in range(counts.size)]
    after = np.maximum(counts + np.reshape(changed, counts.shape), 0)
    return np.where(after.sum(axis=1, keepdims=True) > 0, after, counts)


def holds(data: st.DataObject, outcomes: int, releases: int) -> None:
    ceiling = data.draw(st.sampled_from([0.6, 0.68, 0.75, 0.9]))
    attacker = Attacker(data.draw(programmes(ceiling)), data.draw(protections(ceiling)))
    counts = rules(data, outcomes)
    for _ in range(releases):
        if attacker.announceable(counts.sum(axis=1), outcomes):
            release = attacker.release(counts)
            if release.cut and release.told["rules"] < MOST[outcomes]:
                found = attacker.rules_left(counts, release)
                assert (found == counts).all(axis=(1, 2)).any()
                assert len(found) > attacker.policy.least
                assert len(found) == pytest.approx(release.told["rules"], rel=1e-9)
                for left in attacker.views(found):
                    sure = np.array([attacker.confidences(left, reader) for reader in READERS])
                    assert (sure <= attacker.ceilings(len(counts)) + EXACTLY).all()
                    assert sure.max() <= release.stated + EXACTLY
            attacker = Attacker(data.draw(programmes(ceiling)), attacker.protection, [*attacker.earlier, release])
        counts = later(data, counts)


@given(data=st.data())
def test_a_report_alone(data: st.DataObject) -> None:
    holds(data, 2, 1)


@pytest.mark.long
@given(data=st.data())
def test_a_report_after_others(data: st.DataObject) -> None:
    holds(data, 2, 3)


@settings(max_examples=20)
@given(data=st.data())
def test_a_report_on_three_outcomes(data: st.DataObject) -> None:
    holds(data, 3, 2)


@pytest.mark.long
@settings(max_examples=100)
@given(data=st.data())
def test_many_reports(data: st.DataObject) -> None:
    holds(data, data.draw(st.sampled_from([2, 2, 3])), 4)
