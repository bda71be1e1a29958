"""The method: what a report says of how it was made fits what it holds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from atr.documents.html import ReportPage
from atr.documents.sections import method, trust
from atr.documents.text.words import Words
from atr.report import sampling
from atr.report.model import PublicReport
from tests.helpers import limits_sample, note_texts, page_text, sample


def view(report: PublicReport) -> dict[str, Any]:
    found = method.context(Words.of(report))
    assert found is not None
    return dict(found)


def seen_as_a_sample(report: PublicReport) -> PublicReport:
    policy = report.policy.model_copy(update={"sampling": sampling.sampling_info("sample", 0.05)})
    seen = report.model_copy(update={"policy": policy})
    return seen.model_copy(update={"fairness": sampling.with_sampling(seen)})


def test_the_expert_finds_weights_and_settings() -> None:
    report = limits_sample.compas()
    page, _ = page_text.read(report)
    for said in (
        "C(2k, k) · C(2(n − k), n − k)",
        "a scale of G = 20 steps",
        "more than 3 whole numbers of that region",
        "on a scale fixed beforehand, 5 in 100 apart",
        "at least 6 different rules in whole people are left",
        "at least 50 people and the cell of all rules is safe",
    ):
        assert said in page
    found = re.findall(r'<td class="num">(\d\d\.\d)%</td>', ReportPage(report, "").screen)
    assert found[:4] == ["71.2", "71.9", "70.1", "71.5"]


def test_the_optimal_mechanism_states_its_promise(reports: dict[str, PublicReport]) -> None:
    page, _ = page_text.read(reports["compas"])
    assert "δ-fidelity, with δ = 0.9" in page
    assert "once with the printed and once with the exact numbers of people" in page
    assert "C(n, k)" not in page


@pytest.mark.parametrize("name", ["compas", "limits"])
def test_notes_are_on_the_page_or_in_the_method(reports: dict[str, PublicReport], name: str) -> None:
    report = reports[name]
    ids = {note.id for note in report.notes}
    assert {*view(report)["notes"]} == ids - trust.NOTES
    assert {"ranges", "rounding"} <= {*view(report)["notes"]}


def test_earlier_reports_are_told_of(reports: dict[str, PublicReport]) -> None:
    report = reports["limits"]
    assert "There was none to take into account" in note_texts.by_id(report)["earlier"]
    readers = report.privacy.readers | {"earlier": 0.7}
    later = report.model_copy(update={"privacy": report.privacy.model_copy(update={"readers": readers}), "version": 2})
    said = note_texts.by_id(later)["earlier"]
    assert "they were taken into account" in said
    assert "This is version 2 for its period." in said


def test_rounding_is_told_as_it_was_done(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    said = note_texts.by_id(report)["rounding"]
    assert "those of a group’s rules down or up, so that they add up to it" in said
    assert "“under 5”" in said
    assert "Computed from what is printed: people alike, yardsticks of leakage, influence" in said
    policy = report.policy.model_copy(update={"population_rounding": 1})
    exact = note_texts.by_id(report.model_copy(update={"policy": policy}))["rounding"]
    assert exact.startswith("Numbers of people in announced groups are exact.")


def test_few_rules_have_no_tree() -> None:
    few = sample.grid((2, 2), 2, people=32, minimum=10)
    assert few.surrogate is not None
    assert "BFOS" not in view(few)["references"]
    assert "The rules in short" not in page_text.read(few)[0]


def test_references_are_those_used() -> None:
    report = sample.compas()
    assert {*view(report)["references"]} == {"CGP", "DSZ", "S", "F", "BFOS"}
    bare = report.model_copy(update={"influence": (), "surrogate": None})
    assert [*view(bare)["references"]] == ["CGP"]
    assert "How influence is measured" not in page_text.read(bare)[0]


def test_tests_are_counted_where_there_are_some() -> None:
    report = sample.compas()
    assert view(report)["tests"] == 0
    assert "How chance is measured" not in page_text.read(report)[0]
    page, _ = page_text.read(seen_as_a_sample(report))
    assert re.search(r"Holm’s method for the [0-9]+ tests of this report", page)


def test_nothing_announced_has_no_method() -> None:
    assert method.context(Words.of(sample.none_announced())) is None
