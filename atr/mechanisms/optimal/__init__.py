"""What to announce in place of the true decision rules, so that a reader's confidence stays bounded.

Where the terms of Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137) live:

- optimal privacy β*(T) of a QID group: :func:`~atr.mechanisms.optimal.solve.optimal_privacy`
- its closed form for two outcomes, group rates free (Theorem 1, with β_min) or exact (not in the paper):
  :mod:`atr.mechanisms.optimal.closed_form`, compiled in :mod:`atr.mechanisms.optimal.kernels`
- (OPT) with several outcomes or protected sets, by linear programmes: :mod:`atr.mechanisms.optimal.several`
- least distorted announcement, in place of Algorithm 1: :func:`~atr.mechanisms.optimal.solve.least_distorted`; of
  equally near ones the most even: :mod:`atr.mechanisms.optimal.tie_break`
- printed numbers that keep fidelity and ceiling: :mod:`atr.mechanisms.optimal.rounding`
- what fidelity and group rates a programme asks for: :mod:`atr.mechanisms.optimal.policy`

Maximum confidence, privacy limit, fidelity, protected sets: :mod:`atr.core`.
"""

from atr.mechanisms.optimal.rounding import round_announcement
from atr.mechanisms.optimal.solve import OptimalPrivacy, Solution, least_distorted, optimal_privacy, solve

__all__ = ["OptimalPrivacy", "Solution", "least_distorted", "optimal_privacy", "round_announcement", "solve"]
