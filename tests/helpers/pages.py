"""A section of a report as its template finds it, and the numbers of sentences."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from atr.documents.text.words import Words
from atr.report.model import Fairness, PublicReport
from atr.report.rounding import nearest


def view(report: PublicReport, name: str) -> dict[str, Any]:
    """What the template of a section finds."""
    found = import_module(f"atr.documents.sections.{name}").context(Words.of(report))
    assert found is not None
    return dict(found)


def has(report: PublicReport, name: str) -> bool:
    """Whether a report has a section."""
    return import_module(f"atr.documents.sections.{name}").context(Words.of(report)) is not None


def in_hundred(sentence: str) -> list[float]:
    """Its numbers before "in 100"."""
    return [float(n.replace(",", "")) for n in re.findall(r"(\d[\d,.]*) in 100", sentence)]


def whole(share: float) -> int:
    """A share as a number of 100 people."""
    return int(nearest(100 * share, 0))


def ratio(report: PublicReport, attribute: str, group: str) -> Fairness:
    """The ratio of the rate of a group to that of its reference."""
    return next(
        e
        for e in report.fairness
        if (e.measure, e.attribute, e.outcome) == ("p_percent_rule", attribute, report.positive)
        and group in e.groups
        and e.reference in e.groups
    )


def changed(report: PublicReport, of: Fairness, **changes: Any) -> PublicReport:
    """The report with one comparison changed."""
    fairness = tuple(e.model_copy(update=changes) if e is of else e for e in report.fairness)
    return report.model_copy(update={"fairness": fairness})


def with_policy(report: PublicReport, **changes: Any) -> PublicReport:
    """The report with another policy."""
    return report.model_copy(update={"policy": report.policy.model_copy(update=changes)})
