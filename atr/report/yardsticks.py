"""The yardsticks of leakage as a report states them: of the printed chances with the printed numbers of people.

Whoever has the report can recompute them to the last digit, so they tell nothing that its rules do not.
"""

from __future__ import annotations

import math

from atr.announcement import Announcement
from atr.leakage import Leakage, leakage_of_values
from atr.report import model
from atr.report.rounding import down, up


def stated(announcement: Announcement) -> model.Leakage | None:
    """The worst group of each yardstick, rounded up; None where no group is announced.

    See :mod:`atr.leakage` for the definitions and where they come from.
    """
    if not len(announcement.groups):
        return None
    return model.Leakage(**_printed(_leakage(announcement).overall, announcement.digits))


def stated_of_groups(announcement: Announcement) -> list[model.GroupLeakage]:
    """(g,) the same of each announced group, with its minimum uncertainty, rounded down."""
    if not len(announcement.groups):
        return []
    found, digits = _leakage(announcement), announcement.digits
    names = found.overall
    each = [{name: float(getattr(found, name)[g]) for name in names} for g in range(len(announcement.groups))]
    return [
        model.GroupLeakage(min_uncertainty=down(of["minimum_uncertainty"], digits), **_printed(of, digits))
        for of in each
    ]


def _leakage(announcement: Announcement) -> Leakage:
    return leakage_of_values(
        announcement.published,
        announcement.chance / 10**announcement.digits,
        announcement.offsets,
        values=announcement.region_values,
        sets=announcement.sets,
    )


def _printed(found: dict[str, float], digits: int) -> dict[str, float | None]:
    names = {"ldp": "local_differential_privacy"} | {n: n for n in ("log_lift", "likeness_gain", "min_entropy_leakage")}
    return {name: up(found[of], digits) if math.isfinite(found[of]) else None for name, of in names.items()}
