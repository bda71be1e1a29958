"""Settings and whose choice they are, the rows of the log, and the files beside a report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from atr.documents import render
from atr.documents.html import ReportPage
from atr.documents.sections import settings
from atr.documents.text.words import Words
from atr.report import model, sampling
from atr.report.model import PublicReport
from tests.helpers import limits_sample, page_text, sample

OURS, KEPT = "the publisher’s choice", "the software’s default, kept"


def view(report: PublicReport) -> dict[str, Any]:
    found = settings.context(Words.of(report))
    assert found is not None
    return dict(found)


def stated(report: PublicReport) -> dict[str, list[str]]:
    return {what: [*of] for _, rows in view(report)["settings"] for what, *of in rows}


def with_policy(report: PublicReport, **changes: Any) -> PublicReport:
    return report.model_copy(update={"policy": report.policy.model_copy(update=changes)})


def test_who_chose_each_setting_is_printed(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    seen = with_policy(
        report,
        sampling=sampling.sampling_info("sample", 0.1),
        four_fifths_origin="a {law}",
        parity_tolerance_origin="us",
    )
    told = stated(seen)
    assert told["Ceiling of the confidence"] == ["72%", OURS]
    assert told["Fidelity"] == ["δ = 0.9", KEPT]
    assert told["What may count"] == ["charge", OURS]
    assert told["Line of ratios"] == ["0.8 to 1.25", "a {law}"]
    assert told["Line of parity"] == ["at most 0.05", "us"]
    assert told["Level of intervals and tests"] == ["90%", OURS]
    assert told["The log is taken for"] == ["a sample of more such cases", KEPT]
    assert told["Tolerance"] == ["at most 0 beyond the distance", KEPT]
    assert told["Distance: prior offences"] == ["steps of its order, weight 1", OURS]
    assert told["Distance: race"] == ["alike or not, weight 0", KEPT]
    text, _ = page_text.read(seen)
    assert all(f"{what} {setting}".replace(" ", "") in text.replace(" ", "") for what, (setting, _) in told.items())


def test_the_mechanism_states_its_own_settings() -> None:
    told = stated(limits_sample.compas())
    assert told["Mechanism"][1] == KEPT
    assert told["Steps of limits"] == ["5 in 100 apart", KEPT]
    assert told["Rules that a cut leaves on each side"] == ["more than 3", KEPT]
    assert "Fidelity" not in told
    optimal = stated(sample.compas())
    assert optimal["Mechanism"][1] == OURS
    assert optimal["Objective"] == ["privacy", KEPT]
    assert optimal["Numbers of people a reader knows"] == ["the people in this report", KEPT]


def test_privacy_figures_are_those_of_the_report() -> None:
    report = sample.compas()
    told = dict(view(report)["privacy"])
    assert told["Maximum confidence β"] == "62.3%"
    assert told["Without this report"] == "58.3%"
    assert told["Local differential privacy, worst group"] == "infinite"
    assert told["Min-entropy leakage, worst group"] == "0.5 bits"
    assert told["What the reader is surest of there"] == "prior offences: none"
    own = model.OwnCeiling(attribute="priors_count", set="many", ceiling=0.6, max_confidence=0.59, prior_confidence=0.5)
    stricter = report.privacy.model_copy(update={"own_ceilings": (own,), "printed_confidence": 0.61})
    told = dict(view(report.model_copy(update={"privacy": stricter}))["privacy"])
    assert told["Maximum confidence: “many” in prior offences"] == "59%"
    assert told["By the printed numbers of people"] == "61%"


@pytest.mark.parametrize(
    ("minimum", "rounding", "text"),
    [
        (1, 1, ""),
        (50, 1, "The number used is rounded to the nearest 50, the others are exact. The number read is what the "
         "others as printed add up to."),
        (50, 5, "The number used is rounded to the nearest 50, the others to the nearest 5. The number read is what "
         "the others as printed add up to. Where there is a row at all, at least 5 are printed."),
        (5, 10, "Every number is rounded to the nearest 10. The number read is what the others as printed add up to. "
         "Where there is a row at all, at least 10 are printed."),
    ],
)  # fmt: skip
def test_rounding_of_rows(minimum: int, rounding: int, text: str) -> None:
    report = with_policy(sample.grid((1,), 3), minimum_group_size=minimum, population_rounding=rounding)
    assert " ".join(view(report)["rounding"]) == text


def test_the_account_of_rows_is_that_of_the_whole_log() -> None:
    report = sample.compas()
    about = "What became of the rows of the decision log, all periods together"
    assert about in page_text.read(report)[0]
    whole = report.model_copy(update={"period": report.period.model_copy(update={"start": None, "end": None})})
    assert about not in page_text.read(whole)[0]
    assert dict(view(report)["rows"])["Set aside because they could not be read"] == ("10",)


def test_rows_stand_beside_those_of_the_release_before() -> None:
    report = sample.compas()
    before = model.RowsBefore(
        period="2012", version=3, rows_read=900, decisions=850, duplicates=20, corrections=20, quarantined=10
    )
    later = report.model_copy(update={"data_quality": report.data_quality.model_copy(update={"before": before})})
    assert dict(view(later)["rows"])["Read"] == (f"{report.data_quality.rows_read:,}", "900")
    assert "2012, version 3" in page_text.read(later)[0]


def test_a_share_that_was_rounded_to_nothing() -> None:
    report = sample.compas()
    quality = report.data_quality.model_copy(update={"unknown": {"race": 0.0, "sex": 0.02}})
    assert view(report.model_copy(update={"data_quality": quality}))["unknown"] == ["race, less than 0.5%", "sex, 2%"]


def test_every_file_is_linked_and_the_hash_is_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(render, "pdf", lambda *_, **__: b"%PDF")
    render.render(sample.grid((1,), 3), tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'<a href="([\w.]+)"', page))
    assert linked == {file.name for file in tmp_path.iterdir()} - {"report.html", "manifest.json"}
    (hashed,) = re.findall('<p class="hash">([0-9a-f]{64})</p>', page)
    assert hashed in (tmp_path / "manifest.json").read_text(encoding="utf-8")


def test_who_answers_is_named_with_a_link() -> None:
    page = ReportPage(sample.compas(), "").screen
    about = page[page.index("Who answers for this report") :]
    assert 'href="mailto:transparency@example.org"' in about


def test_nothing_announced_has_no_settings() -> None:
    assert settings.context(Words.of(sample.none_announced())) is None
