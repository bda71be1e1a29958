"""Method and glossary: what of them depends on what was measured."""

from __future__ import annotations

from typing import Any

from atr.documents.text.sampling import level
from atr.documents.text.wording import points
from atr.documents.text.yardsticks import YARDSTICKS
from atr.measures.sampling import EXPECTED, FEW
from atr.mechanisms.calibrated.group import EXACT_PEOPLE
from atr.report.model import PublicReport
from atr.report.sampling import alpha_of, is_of_two_groups, tests


def context(report: PublicReport) -> dict[str, Any]:
    """The variables of the template; no ``tests`` where the decisions are not seen as a sample."""
    sampled = alpha_of(report) is not None and any(map(is_of_two_groups, report.fairness))
    return {
        "intersections": any(len(by.attributes) > 1 for by in report.compared) and report.fairness,
        "yardsticks": dict(YARDSTICKS),
        "level": level(report),
        "tests": tests(report) if sampled else 0,
        "expected": EXPECTED,
        "few": FEW,
        "steps": None if report.policy.step is None else round(1 / report.policy.step),
        "exact_people": EXACT_PEOPLE,
        "reader": lambda name: points(report.privacy.readers[name]) if name in report.privacy.readers else "",
    }
