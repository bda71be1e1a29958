"""What to announce in place of the true decision rules, so that a reader's confidence stays bounded."""

from atr.mechanisms.optimal.rounding import round_announcement
from atr.mechanisms.optimal.solve import OptimalPrivacy, Solution, least_distorted, optimal_privacy, solve

__all__ = ["OptimalPrivacy", "Solution", "least_distorted", "optimal_privacy", "round_announcement", "solve"]
