"""A report that tells limits, made by hand from the sample of COMPAS 2013: no mechanism made it."""

from __future__ import annotations

import math
from typing import Any

from atr.report import derived
from atr.report.model import FidelityInfo, Group, PublicReport, Region
from atr.report.notes import fidelity_notes
from tests.helpers import sample

STEP = 0.05
READERS = {"uniform": 0.712, "extreme": 0.719, "alike": 0.701, "face_value": 0.715}


def compas(**changes: Any) -> PublicReport:
    """COMPAS 2013 with limits: half of them narrow, some wide, regions and groups of which nothing is told."""
    plain = sample.compas(**changes)
    announced = list(plain.announced_groups)
    groups = [_limited(group, i, plain.positive) for i, group in enumerate(announced)]
    rest = {name: value for name, value in announced[0].public.items() if name in ("sex", "race")}
    last = groups[-1]
    groups[-1] = last.model_copy(update={"status": "rest", "public": rest | {"race": "Hispanic"}, "joined": 7})
    groups[-2] = groups[-2].model_copy(update={"status": "rate_only", "regions": (), "digits": None})
    policy = plain.policy.model_copy(
        update={"mechanism": "calibrated", "fidelity": None, "objective": None, "step": STEP, "least": 3}
    )
    privacy = plain.privacy.model_copy(update={"max_confidence": 0.719, "readers": READERS, "rules_left": 6})
    made = plain.model_copy(
        update={
            "groups": (*groups, *plain.withheld_groups),
            "policy": policy,
            "privacy": privacy,
            "fidelity": FidelityInfo(kind="limits", step=STEP),
            "surrogate": None,
        }
    )
    for name in ("alike", "influence", "surrogate"):
        made = made.model_copy(update={name: derived.DERIVED_FIELDS[name](made)})
    return made.model_copy(update={"notes": fidelity_notes(made)})


def _limited(group: Group, place: int, positive: str) -> Group:
    return group.model_copy(
        update={"digits": 3, "regions": tuple(_region(r, place + i, positive) for i, r in enumerate(group.regions))}
    )


def _region(region: Region, place: int, positive: str) -> Region:
    """Limits of one step around the chance, of four, or none."""
    if region.announced is None or place % 3 == 2:
        return region.model_copy(update={"limits": None})
    chance, steps = region.announced[positive], round(1 / STEP)
    low = min(math.floor(round(chance / STEP, 6)), steps - 1)
    high = min(low + (1 if place % 3 else 4), steps)
    own, other = (round(low * STEP, 6), round(high * STEP, 6)), (round(1 - high * STEP, 6), round(1 - low * STEP, 6))
    return region.model_copy(update={"limits": {o: own if o == positive else other for o in region.announced}})
