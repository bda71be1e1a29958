"""The fields of a report that anybody can compute from its other fields, and that therefore reveal nothing more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from atr.report import empty_categories
from atr.report.alike import alike
from atr.report.individual import with_individual
from atr.report.influence import influence, surrogate
from atr.report.model import Fairness, PublicReport
from atr.report.notes import fidelity_notes
from atr.report.sampling import with_sampling
from atr.report.times import with_times


def _fairness(report: PublicReport) -> tuple[Fairness, ...]:
    """The comparisons with what sampling could make of them, then individual fairness; none judged across versions."""
    report = report.model_copy(update={"fairness": with_sampling(report)})
    return with_times(report.model_copy(update={"fairness": with_individual(report)}))


DERIVED_FIELDS: dict[str, Callable[[PublicReport], Any]] = {
    "compared": empty_categories.compared,
    "fairness": _fairness,
    "alike": alike,
    "influence": influence,
    "surrogate": surrogate,
    "notes": fidelity_notes,
}
"""Each field and how it follows from the printed numbers; a later one may look at an earlier one, the notes at all."""


def complete(report: PublicReport) -> PublicReport:
    """Compute the fields of a report that follow from its printed numbers: :data:`DERIVED_FIELDS`, in their order."""
    for name, part in DERIVED_FIELDS.items():
        report = report.model_copy(update={name: part(report)})
    return report
