"""What to announce in place of the true decision rules, so that a reader's confidence stays bounded."""

from atr.core.groups import Groups
from atr.mechanisms.optimal.rounding import round_announcement
from atr.mechanisms.optimal.solution import OptimalPrivacy, Solution
from atr.mechanisms.optimal.solve import announce, optimal_privacy, solve

__all__ = [
    "Groups",
    "OptimalPrivacy",
    "Solution",
    "announce",
    "optimal_privacy",
    "round_announcement",
    "solve",
]
