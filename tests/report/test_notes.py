"""Which notes a report has."""

from __future__ import annotations

from atr.report.notes import fidelity_notes
from tests.helpers import limits_sample, sample


def test_notes_fit_what_a_report_tells() -> None:
    report = limits_sample.compas()
    ids = [note.id for note in report.notes]
    assert ids[:4] == ["limits", "rate_only", "rest", "rates"]
    assert {"earlier", "sizes", "not_covered"} <= set(ids)
    assert not {"altered", "exact", "side_information", "flattened"} & set(ids)
    assert not {"limits", "earlier", "sizes"} & {note.id for note in sample.compas().notes}
    groups = tuple(g for g in report.groups if g.status in ("announced", "withheld"))
    plain = report.model_copy(update={"groups": groups})
    assert not {"rate_only", "rest"} & {note.id for note in fidelity_notes(plain)}
