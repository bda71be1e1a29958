"""The linear reduction, and the smallest α for a bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from atr.sanitise import best, choose_alpha, leakage, linear_reduction, markov
from tests.helpers.joints import EXAMPLE, conditional, drawn

BOUNDS = ({"max_ldp": 0.5}, {"max_log_lift": 0.2}, {"max_ldp": 0.7, "max_log_lift": 0.4}, {"max_ldp": 1e-6})


def keeps(joint: np.ndarray, alpha: float, bounds: dict[str, float]) -> bool:
    told = leakage(linear_reduction(joint, alpha=alpha))
    return told.ldp <= bounds.get("max_ldp", math.inf) and told.log_lift <= bounds.get("max_log_lift", math.inf)


def test_marginals_stay_and_differences_shrink() -> None:
    for i, joint in enumerate(drawn(500)):
        alpha = (i % 11) / 10
        reduced = linear_reduction(joint, alpha=alpha)
        assert reduced.sum(axis=0) == pytest.approx(joint.sum(axis=0), abs=1e-12)
        assert reduced.sum(axis=1) == pytest.approx(joint.sum(axis=1), abs=1e-12)
        before, after = (conditional(of) - joint.sum(axis=0) for of in (joint, reduced))
        assert after == pytest.approx((1 - alpha) * before, abs=1e-12)


def test_marginals_stay_where_probabilities_miss_1_a_little() -> None:
    joint = EXAMPLE * (1 + 5e-10)
    assert linear_reduction(joint, alpha=0.5).sum(axis=0) == pytest.approx(joint.sum(axis=0), abs=1e-15)


def test_alpha_is_the_smallest_that_keeps_its_bounds() -> None:
    for i, joint in enumerate(drawn(500)):
        bounds = BOUNDS[i % len(BOUNDS)]
        alpha = choose_alpha(joint, **bounds)
        assert keeps(joint, alpha, bounds)
        assert alpha == 0 or not keeps(joint, alpha * (1 - 1e-7), bounds)


def test_alpha_of_the_papers_example() -> None:
    assert choose_alpha(EXAMPLE, max_ldp=math.log(2.25)) == pytest.approx(0.5)
    assert choose_alpha(EXAMPLE, max_log_lift=math.log(0.22 / 0.36) * -1) == pytest.approx(0.5)
    assert choose_alpha(EXAMPLE, max_ldp=1.61) == choose_alpha(EXAMPLE, max_ldp=math.inf) == 0
    # The paper's (1 - α) LDP(X) would say that half is enough for .8047.
    assert choose_alpha(EXAMPLE, max_ldp=leakage(EXAMPLE).ldp / 2) > 0.5


def test_only_alpha_1_tells_nothing() -> None:
    assert choose_alpha(EXAMPLE, max_ldp=0) == choose_alpha(EXAMPLE, max_log_lift=0) == 1
    assert choose_alpha([[0.25, 0.25], [0.25, 0.25]], max_ldp=0) == 0


def test_what_some_cannot_have_needs_some_alpha() -> None:
    joint = np.array([[0.5, 0.0], [0.25, 0.25]])
    assert math.isinf(leakage(joint).ldp)
    alpha = choose_alpha(joint, max_ldp=20)
    assert 0 < alpha < 1e-6
    assert leakage(linear_reduction(joint, alpha=alpha)).ldp <= 20


def test_a_bound_just_missed_takes_no_more_than_rounding() -> None:
    for i, joint in enumerate(drawn(300, seed=1)):
        name = ("ldp", "log_lift")[i % 2]
        told = getattr(leakage(joint), name)
        if math.isinf(told):
            continue
        assert choose_alpha(joint, **{f"max_{name}": told}) == 0
        bounds = {f"max_{name}": np.nextafter(told, 0)}
        alpha = choose_alpha(joint, **bounds)
        assert keeps(joint, alpha, bounds)
        assert alpha < 1e-14


def test_a_frame_keeps_its_labels() -> None:
    frame = pd.DataFrame(EXAMPLE, index=pd.Index(["few", "many"], name="offences"), columns=list("abcd"))
    reduced = linear_reduction(frame, alpha=0.5)
    pd.testing.assert_frame_equal(reduced, frame * 0 + linear_reduction(EXAMPLE, alpha=0.5))


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, "0.5", None, True, np.array([0.5, 0.5])])
def test_a_bad_alpha_gets_one_message(alpha: Any) -> None:
    for used in (linear_reduction, markov, best):
        with pytest.raises(ValueError) as raised:
            used(EXAMPLE, alpha=alpha)
        assert str(raised.value) == f"alpha must be a number from 0 to 1, not {alpha!r}"


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({}, "max_ldp or max_log_lift must be given"),
        ({"max_ldp": -1}, "max_ldp must be a number of nats from 0 up, not -1"),
        ({"max_ldp": "1"}, "max_ldp must be a number of nats from 0 up, not '1'"),
        ({"max_log_lift": math.nan}, "max_log_lift must be a number of nats from 0 up, not nan"),
    ],
)
def test_a_bad_bound_gets_one_message(bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        choose_alpha(EXAMPLE, **bounds)
    assert str(raised.value) == message
