"""What a mechanism is to the rest: batches change nothing, promises are made again, refusals say what binds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

from atr.core.announcement import Announcement
from atr.core.disclosure import decided
from atr.core.fidelity import Alpha, Delta, Ranges
from atr.core.policy import Policy
from atr.core.protected import Protection
from atr.core.publication import CHANCE_DIGITS
from atr.core.regions import DisclosureStatus, Regions
from atr.errors import RefusedError
from atr.mechanisms import MECHANISMS, mechanism_of
from atr.mechanisms.optimal.policy import FidelityPolicy, OptimalPolicy

EXACT = {"minimum_group_size": 10, "population_rounding": 1}


def _regions(groups: int = 6) -> Regions:
    """Groups of three regions; the last one is too small."""
    people = np.array([[60, 30, 10]] * (groups - 1) + [[3, 2, 1]]).ravel()
    chance = np.tile([0.1, 0.3, 0.9], groups)
    first = np.round(people * chance).astype(np.int64)
    return Regions(
        public=("area",),
        protection=Protection(("income",)),
        outcomes=("granted", "refused"),
        group_values=tuple((f"a{i}",) for i in range(groups)),
        region_values=(("low",), ("middle",), ("high",)) * groups,
        counts=np.column_stack([first, people - first]),
        offsets=np.arange(0, 3 * groups + 1, 3),
    )


@pytest.mark.parametrize("objective", ["privacy", "fidelity"])
def test_batches_change_nothing(objective: str) -> None:
    policy = OptimalPolicy(objective=objective, fidelity=FidelityPolicy(delta=0.5), **EXACT)
    mechanism, regions = mechanism_of(policy), decided(_regions(), policy)
    told = regions.take(regions.announced)
    assert len(told) == 5
    batches = [mechanism.solve(told.take(np.array(which)), policy) for which in ([0, 1], [2], [3, 4])]
    whole = mechanism.solve(told, policy)
    assert whole.equals(pd.concat(batches, ignore_index=True))
    assert len(mechanism.solve(told.take(np.zeros(0, dtype=np.int64)), policy).columns) == len(whole.columns)
    announced = mechanism.announce(told, whole, policy)
    assert (announced.chance.sum(axis=1) == 10**CHANCE_DIGITS).all()
    assert mechanism.columns(whole, announced.promise, policy)["beta"].max() <= policy.ceiling
    made = Announcement.of(regions, announced, policy)
    assert made.groups.tolist() == [0, 1, 2, 3, 4]
    assert float(max(made.confidences())) <= policy.ceiling


def test_flattened_groups_show_their_rates() -> None:
    policy = OptimalPolicy(
        unattainable="flatten",
        max_confidence=0.61,
        fidelity=FidelityPolicy(delta=0.1),
        whole_numbers="state",
        **EXACT,
    )
    regions = decided(_regions(3), policy)
    regions = replace(regions, status=np.array([0, DisclosureStatus.FLATTENED, DisclosureStatus.TOO_SMALL]))
    mechanism, told = mechanism_of(policy), regions.take(regions.announced)
    made = Announcement.of(regions, mechanism.announce(told, mechanism.solve(told, policy), policy), policy)
    assert made.flattened.tolist() == [False, True]
    assert made.chance[made.flat].tolist() == [[240_000, 760_000]]


def test_no_group_at_all_is_announced() -> None:
    policy = OptimalPolicy(minimum_group_size=1000)
    mechanism, regions = mechanism_of(policy), decided(_regions(), policy)
    told = regions.take(regions.announced)
    made = Announcement.of(regions, mechanism.announce(told, mechanism.solve(told, policy), policy), policy)
    assert (len(made.groups), made.fidelity, made.confidences()) == (0, Delta(0.9), [])


def test_a_refusal_names_the_groups_that_bind() -> None:
    policy = OptimalPolicy(max_confidence=0.62, fidelity=FidelityPolicy(delta=1.0), **EXACT)
    mechanism, regions = mechanism_of(policy), decided(_regions(), policy)
    told = regions.take(regions.announced)
    with pytest.raises(RefusedError) as refusal:
        mechanism.announce(told, mechanism.solve(told, policy), policy)
    need = math.ceil(20 * 54 / 76) / 20  # of 76 people refused, 54 are of the first region
    assert f"  a0: needs {need:.2f}" in refusal.value.private
    assert "a5" not in refusal.value.private
    assert "a0" not in str(refusal.value)


@pytest.mark.parametrize("promise", [Delta(0.9), Alpha(0.8), Ranges([0.1, 0.05], [0.4, 0.7])])
def test_a_promise_is_made_again_from_what_is_told(promise: Delta | Alpha | Ranges) -> None:
    again = MECHANISMS["optimal"].promise(promise.kind, promise.level, promise.limits)
    assert again is not None
    assert (again.kind, again.level) == (promise.kind, promise.level)
    assert np.array_equal(again.limits, promise.limits)


@pytest.mark.parametrize(("kind", "level"), [("delta", 1.1), ("alpha", 0.0), ("delta", None), ("step", 0.05)])
def test_what_is_no_promise_is_none(kind: str, level: float | None) -> None:
    assert MECHANISMS["optimal"].promise(kind, level) is None


@pytest.mark.parametrize(
    ("declared", "promise", "level"),
    [
        ({"delta": 0.8}, None, ("delta", 0.8)),
        ({"delta": 0.8}, Delta(0.95), ("delta", 0.95)),
        ({"alpha": 0.7}, Alpha(0.9), ("alpha", 0.9)),
        ({"ranges": "ranges.csv"}, None, None),
    ],
)
def test_a_policy_is_stated_and_has_a_level_to_draw(declared: dict[str, Any], promise: Any, level: Any) -> None:
    policy = OptimalPolicy(fidelity=FidelityPolicy(**declared), group_rates="free")
    mechanism = mechanism_of(policy)
    (stated,) = mechanism.terms(policy).fidelity.items()
    assert stated == next((kind, None if kind == "ranges" else demanded) for kind, demanded in declared.items())
    assert (mechanism.terms(policy).group_rates, mechanism.terms(policy).objective) == ("free", "privacy")
    assert mechanism.trade_off(promise, policy) == level


class _WithoutKeys(Policy):
    mechanism: Literal["without keys"] = "without keys"


def test_a_policy_names_the_files_of_its_mechanism_first() -> None:
    side = {"side_information": "census.csv"}
    both = OptimalPolicy(fidelity=FidelityPolicy(ranges="ranges.csv"), **side)
    assert [(file.path, file.keys) for file in both.files] == [
        ("ranges.csv", ("fidelity", "ranges")),
        ("census.csv", ("side_information",)),
    ]
    assert [file.path for file in OptimalPolicy(**side).files] == ["census.csv"]
    assert _WithoutKeys().files == ()
