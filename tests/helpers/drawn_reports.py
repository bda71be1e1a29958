"""Public reports of drawn logs under different policies, made as the pipeline makes them but without files."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from atr.core.regions import Regions
from atr.programme import Programme
from atr.report.model import PublicReport
from tests.helpers import series, whole

GROUPS, PLACES, SECRETS = ("a", "b", "c"), ("here", "there"), ("low", "mid", "high")
CALIBRATED: dict[str, Any] = {"mechanism": "calibrated", "max_confidence": 0.8}
POLICIES: dict[str, dict[str, Any]] = {
    "calibrated": CALIBRATED,
    "crossed": CALIBRATED,
    "whole": CALIBRATED,
    "three": CALIBRATED,
    "optimal": {"fidelity": {"delta": 0.8}, "max_confidence": 0.95},
    "free": {"fidelity": {"delta": 0.8}, "max_confidence": 0.95, "group_rates": "free"},
    "alpha": {"fidelity": {"alpha": 0.5}, "max_confidence": 0.95},
    "exact": {"fidelity": {"delta": 1.0}, "max_confidence": 1.0},
    "flattened": {"fidelity": {"delta": 0.8}, "max_confidence": 0.6, "unattainable": "flatten"},
}
"""What a report is made under, by a name."""
KINDS = tuple(POLICIES)


def programme(kind: str) -> Programme:
    """People of groups, in places, with a secret; groups are protected, and places where they are crossed with."""
    content = series.programme(**{"minimum_group_size": 20, **POLICIES[kind]})
    known = content["attributes"]
    place: dict[str, Any] = {"role": "public"}
    content["attributes"] = {"public": known["public"] | {"protected": True}, "place": place, "secret": known["secret"]}
    content["log"]["coverage"] = "whole" if kind == "whole" else "sample"
    if kind == "crossed":
        place["protected"] = True
        content["fairness"] = {"intersections": [["public", "place"]]}
    if kind == "three":
        content["log"]["outcomes"] = {"approved": ["yes"], "deferred": ["later"], "refused": ["no"]}
    return Programme.model_validate(content)


@cache
def drawn(kind: str, seed: int) -> PublicReport:
    """The public report of a drawn log, some of whose groups fare alike and some not; it verifies."""
    made, draw = programme(kind), np.random.default_rng(seed)
    groups = [(group, place) for group in GROUPS[: draw.integers(2, 4)] for place in PLACES]
    chance = draw.uniform(0.2, 0.9, (len(PLACES), len(SECRETS)))
    apart = dict(zip(GROUPS, draw.choice([0.0, 0.1, 0.2], len(GROUPS)), strict=True))
    people = draw.integers(3, draw.choice([20, 60, 200]), (len(groups), len(SECRETS)))
    chances = np.array([np.clip(chance[PLACES.index(place)] - apart[group], 0.0, 1.0) for group, place in groups])
    approved = draw.binomial(people, chances)
    others = [people - approved]
    if kind == "three":
        deferred = draw.binomial(people - approved, 0.4)
        others = [deferred, people - approved - deferred]
    regions = Regions(
        public=("public", "place"),
        protection=made.protection,
        outcomes=tuple(made.log.outcomes),
        group_values=tuple(groups),
        region_values=tuple((value,) for _ in groups for value in SECRETS),
        counts=np.stack([approved, *others], axis=2).reshape(-1, 1 + len(others)),
        offsets=np.arange(len(groups) + 1) * len(SECRETS),
    )
    announced = whole.announced(made, regions)
    report = whole.report(made, regions, announced)
    whole.verifies(report, announced)
    return report
