"""A report in which nothing is announced."""

from __future__ import annotations

from atr.documents.html import ReportPage
from atr.documents.sections import nothing, numbered
from atr.documents.text.words import Words
from atr.report.notes import fidelity_notes
from tests.helpers import note_texts, page_text, sample


def test_it_says_why_and_has_its_files_and_hash() -> None:
    report = sample.none_announced()
    page, _ = page_text.read(report)
    said = note_texts.by_id(report)
    assert {*said} == {note.id for note in report.notes}
    assert "12 groups of fewer than 1,000 people" in said["missing"]
    assert f"{report.data_quality.rows_read:,} rows were read" in page
    assert "f" * 64 in page
    assert 'href="report.json"' in ReportPage(report, "").screen
    assert not any(section.annex for section in numbered(Words.of(report)))


def test_groups_known_too_well_are_named_some_of_many() -> None:
    lopsided = sample.grid((30,), 2, ceiling=0.4)
    report = lopsided.model_copy(update={"notes": fidelity_notes(lopsided)})
    assert len(report.withheld_groups) == 30
    page, _ = page_text.read(report)
    assert "value a 3" in page
    assert "10 more, which report.json names" in page


def test_a_report_with_groups_has_no_such_page() -> None:
    assert nothing.context(Words.of(sample.compas())) is None
