"""What to announce in place of the true decision rules, so that a reader's confidence stays bounded."""

from atr.groups import Groups
from atr.mechanism.rounding import round_announcement
from atr.mechanism.solution import OptimalPrivacy, Solution
from atr.mechanism.solve import announce, optimal_privacy, solve

__all__ = [
    "Groups",
    "OptimalPrivacy",
    "Solution",
    "announce",
    "optimal_privacy",
    "round_announcement",
    "solve",
]
