"""The yardsticks of leakage as a report states them: of the printed chances with the printed numbers of people.

Whoever has the report can recompute them to the last digit, so they tell nothing that its rules do not.
"""

from __future__ import annotations

import math

import numpy as np

from atr.announcement import Announcement
from atr.leakage import leakage
from atr.report import model
from atr.report.rounding import up


def stated(announcement: Announcement) -> model.Leakage | None:
    """The worst group of each yardstick, rounded up; None where no group is announced.

    See :mod:`atr.leakage` for the definitions and where they come from.
    """
    if not len(announcement.groups):
        return None
    positive = announcement.chance / 10**announcement.digits
    mapping = np.column_stack([1 - positive, positive])
    worst = leakage(announcement.published, mapping, announcement.offsets).overall

    def printed(name: str) -> float | None:
        return up(worst[name], announcement.digits) if math.isfinite(worst[name]) else None

    return model.Leakage(
        ldp=printed("local_differential_privacy"),
        log_lift=printed("log_lift"),
        likeness_gain=printed("likeness_gain"),
        min_entropy_leakage=printed("min_entropy_leakage"),
    )
