"""Comparisons with their verdicts, as a report has them."""

from __future__ import annotations

from typing import Any

from atr.programme import Policy
from atr.report.comparisons import ComparisonFormatter
from atr.report.model import Fairness


def judged(minimum: int = 50, **changes: Any) -> Fairness:
    """A comparison with its verdict, reason and shortfall."""
    known: dict[str, Any] = {
        "measure": "p_percent_rule", "attribute": "race", "groups": ("Other", "Caucasian"), "reference": "Caucasian",
        "outcome": "low", "value": 1.205, "range": (1.205, 1.205), "threshold": 0.8, "verdict": "met",
        "people": (135, 1685), "rates": (0.83, 0.69),
    }  # fmt: skip
    policy = Policy(minimum_group_size=minimum, population_rounding=5)
    return ComparisonFormatter(policy).judged(Fairness(**{**known, **changes}))


def judged_class(charge: str, value: float, people: tuple[int, int], spread: float = 0.0) -> Fairness:
    """A difference within one class of people alike."""
    return judged(
        measure="conditional_statistical_parity", outcome=None, condition={"charge": charge}, value=value,
        range=(value - spread, value + spread), threshold=0.05, people=people,
    )  # fmt: skip
