"""The yardsticks of leakage as a report states them: of the printed chances with the printed numbers of people.

Whoever has the report can recompute them to the last digit, so they tell nothing that its rules do not.
"""

from __future__ import annotations

import math

from atr.core.announcement import Announcement
from atr.core.leakage import leakage_of_values
from atr.report import model
from atr.report.rounding import down, up


def stated(announcement: Announcement) -> tuple[model.Leakage | None, list[model.GroupLeakage]]:
    """The worst group of each yardstick, rounded up; and (g,) those of each group, with its minimum uncertainty,
    rounded down. None, and none, where no group is announced.

    See :mod:`atr.core.leakage` for the definitions and where they come from.
    """
    if not len(announcement.groups):
        return None, []
    digits = announcement.digits
    found = leakage_of_values(
        announcement.assumed,
        announcement.chance / 10**digits,
        announcement.offsets,
        values=announcement.region_values,
        sets=announcement.sets,
    )
    worst = found.overall
    each = [{name: float(getattr(found, name)[g]) for name in worst} for g in range(len(announcement.groups))]
    return model.Leakage(**_printed(worst, digits)), [
        model.GroupLeakage(min_uncertainty=down(of["minimum_uncertainty"], digits), **_printed(of, digits))
        for of in each
    ]


def _printed(found: dict[str, float], digits: int) -> dict[str, float | None]:
    names = {"ldp": "local_differential_privacy"} | {n: n for n in ("log_lift", "likeness_gain", "min_entropy_leakage")}
    return {name: up(found[of], digits) if math.isfinite(found[of]) else None for name, of in names.items()}
