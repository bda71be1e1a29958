"""How far to trust it: the guarantee, for whom, how close numbers are, and every note of a report in words."""

from __future__ import annotations

import io
import re
from typing import Any

import pypdf
import pytest

from atr.documents.html import ReportPage
from atr.documents.pdf import pdf
from atr.documents.sections import trust
from atr.documents.text.words import Words
from atr.report import model, sampling
from atr.report.model import FidelityInfo, PublicReport
from atr.report.notes import fidelity_notes
from tests.helpers import limits_sample, note_texts, sample


@pytest.fixture(scope="module")
def report() -> PublicReport:
    return limits_sample.compas()


def noted(report: PublicReport, **changes: Any) -> PublicReport:
    """The report with these fields, and the notes that go with them."""
    made = report.model_copy(update=changes)
    return made.model_copy(update={"notes": fidelity_notes(made)})


def view(report: PublicReport) -> dict[str, Any]:
    found = trust.context(Words.of(report))
    assert found is not None
    return dict(found)


def with_privacy(report: PublicReport, **changes: Any) -> PublicReport:
    return noted(report, privacy=report.privacy.model_copy(update=changes))


def with_policy(report: PublicReport, **changes: Any) -> PublicReport:
    return noted(report, policy=report.policy.model_copy(update=changes))


def waiting(report: PublicReport) -> PublicReport:
    return noted(report, data_quality=report.data_quality.model_copy(update={"corrections_wait": True}))


def with_status(report: PublicReport, status: str, **changes: Any) -> PublicReport:
    """The report with its first group of this status."""
    first, *others = report.groups
    return noted(report, groups=(first.model_copy(update={"status": status, **changes}), *others))


def coarsened(report: PublicReport) -> PublicReport:
    attributes = [
        a.model_copy(update={"coarse": ("any age",)} if a.name == "age_cat" else {}) for a in report.attributes
    ]
    return with_status(noted(report, attributes=tuple(attributes)), "coarsened", joined=2)


WHOLE = {"face_value": 0.6, "whole_numbers": 0.9, "whole_numbers_at_most": 1.0}


def test_every_note_has_its_words(reports: dict[str, PublicReport]) -> None:
    plain = reports["compas"]
    shapes = [
        *reports.values(),
        waiting(plain),
        waiting(reports["limits"]),
        with_policy(plain, group_rates="free", population_rounding=1),
        with_privacy(plain, readers=WHOLE),
        with_policy(plain, side_information="the census of 2020"),
        with_status(plain, "flattened", regions=()),
        coarsened(plain),
    ]
    told = set[str]()
    for report in shapes:
        ids = [note.id for note in report.notes]
        words = note_texts.said(report)
        assert sorted(id for id, _ in words) == sorted(ids)
        assert all(text for _, text in words)
        assert not re.search(r"['\"]|\bNone\b", " ".join(text for _, text in words)) or report is reports["hostile"]
        told |= {*ids}
    assert told >= {
        "whole_numbers",
        "flattened",
        "coarsened",
        "corrections_wait",
        "side_information",
        "rest",
        "earlier",
    }


def test_the_guarantee_says_how_sure_and_who(report: PublicReport) -> None:
    said = note_texts.by_id(report)["guarantee"]
    assert "public attributes (sex, age, race and charge) and outcome" in said
    assert "can be at most 71.9% sure of a sensitive attribute (prior offences)" in said
    assert "take the printed numbers at face value" in said
    assert "remember earlier reports" not in said
    remembers = with_privacy(report, readers=report.privacy.readers | {"earlier": 0.719})
    assert "remember earlier reports" in note_texts.by_id(remembers)["guarantee"]
    assert "No limit and no rate brings such a reader above the ceiling, 72%." in said


def test_where_limits_add_nothing_it_is_said(report: PublicReport) -> None:
    assert "add nothing" not in note_texts.by_id(report)["guarantee"]
    same = with_privacy(report, prior_confidence=report.privacy.max_confidence)
    assert "71.9% sure, so limits add nothing there." in note_texts.by_id(same)["guarantee"]


def test_rates_over_time_that_tell_more_are_said(report: PublicReport) -> None:
    later = with_privacy(report, by_rates=model.ByRates(groups=3, max_confidence=0.851))
    said = note_texts.by_id(later)["guarantee"]
    assert "In 3 groups the numbers of people and rates of several reports alone" in said
    assert "up to 85.1% sure" in said
    assert "No limit brings such a reader" in said
    assert "no rate brings" not in said


def test_own_ceilings_are_said() -> None:
    plain = sample.compas()
    attributes = [
        a.model_copy(update={"max_confidence": 0.6} if a.role == "sensitive" else {}) for a in plain.attributes
    ]
    own = model.OwnCeiling(
        attribute="priors_count", set=None, ceiling=0.6, max_confidence=0.588, prior_confidence=0.583
    )
    stricter = noted(with_privacy(plain, own_ceilings=(own,)), attributes=tuple(attributes))
    said = note_texts.by_id(stricter)["guarantee"]
    assert "The ceiling is 72% and for prior offences 60%." in said
    assert "prior offences: at most 58.8% sure; without this report, 58.3%." in said


def test_whom_the_guarantee_leaves_out(report: PublicReport) -> None:
    said = note_texts.by_id(report)["not_covered"]
    for who in ("in another way", "outcomes of other people", "finer group", "many periods", "subtract another report"):
        assert who in said
    plain = sample.compas()
    said = note_texts.by_id(plain)["not_covered"]
    assert "work out how numbers were altered" in said
    assert "whole people" not in said
    counting = note_texts.by_id(with_privacy(plain, readers=WHOLE))
    assert "up to 90% sure, above the ceiling, which the publisher chose to state" in counting["not_covered"]
    assert "The one rule that tells most would make it 100%." in counting["whole_numbers"]
    below = with_privacy(plain, readers={"whole_numbers": 0.7})
    assert "up to 70% sure" in note_texts.by_id(below)["not_covered"]
    assert "above the ceiling" not in note_texts.by_id(below)["not_covered"]


def test_shares_of_people_told_are_those_of_the_rules(report: PublicReport) -> None:
    said = note_texts.by_id(report)["limits"]
    narrow, none = (int(n) for n in re.findall(r"For about (\d+) in 100", said))
    people = {True: 0, False: 0}
    for group in report.announced_groups:
        for region, _ in group.told:
            people[region.limits is None] += region.people
    assert none == round(100 * people[True] / sum(people.values()))
    assert 0 < narrow < 100 - none


@pytest.mark.parametrize(
    ("kind", "level", "change", "part"),
    [
        ("delta", 0.9, 0.1, "in 100 differs from the true one by more than 10."),
        ("delta", 0.9, 0.1005, "by more than 10.05."),
        ("delta", 1.0, 0.0, "to its last printed digit"),
        ("alpha", 0.8, None, "0.8 to 1.25 times the true one"),
        ("alpha", 1.0, None, "to its last printed digit"),
        ("ranges", None, None, "within limits that were set beforehand"),
    ],
)
def test_the_promise(kind: str, level: float | None, change: float | None, part: str) -> None:
    info = FidelityInfo(kind=kind, level=level, largest_change=change)  # type: ignore[arg-type]
    assert part in note_texts.by_id(noted(sample.compas(), fidelity=info))["altered"]


def test_whether_rates_are_true_is_said(report: PublicReport) -> None:
    assert "are true up to rounding." in note_texts.by_id(report)["rates"]
    assert "where both groups are of one version" in note_texts.by_id(waiting(report))["rates"]
    free = with_policy(sample.compas(), group_rates="free")
    assert "could move with them" in note_texts.by_id(free)["rates"]
    assert view(free)["finding"] == "Rates of groups and the numbers within them were altered, to protect people."


def test_a_report_of_rates_alone_has_no_guarantee(report: PublicReport) -> None:
    bare = [g.model_copy(update={"status": "rate_only", "regions": ()}) for g in report.announced_groups]
    rates = with_privacy(noted(report, groups=tuple(bare)), max_confidence=None)
    assert {"guarantee", "limits", "not_covered"}.isdisjoint(note_texts.by_id(rates))
    assert view(rates)["finding"].endswith("Nothing is told within a group.")
    assert view(rates)["privacy"] == ["No limits are told, so there is nothing to infer from them."]


def test_chance_is_luck_and_told_of_samples_alone(report: PublicReport) -> None:
    assert view(report)["chance"] == []
    seen = with_policy(report, sampling=sampling.sampling_info("sample", 0.1))
    assert "in 90% of such samples" in " ".join(view(seen)["chance"])
    whole = with_policy(report, sampling=sampling.sampling_info("whole", 0.1))
    assert "is no sample" in " ".join(view(whole)["chance"])


def test_who_is_shown_less_finely(report: PublicReport) -> None:
    said = note_texts.by_id(report)["missing"]
    assert "7 groups too small to be shown, or too telling, are shown together, as 1 group." in said
    assert "1 group shows its rate alone." in said
    assert "to the nearest 50 so that nobody can be found by subtraction" in said
    assert note_texts.by_id(sample.grid((1,), 3))["missing"] == "Everybody is in a group that is shown on its own."


def test_nothing_announced_has_no_such_page() -> None:
    assert trust.context(Words.of(sample.none_announced())) is None


@pytest.mark.long
def test_it_ends_on_the_next_page_at_latest(report: PublicReport) -> None:
    fullest = waiting(with_policy(report, sampling=sampling.sampling_info("sample", 0.05)))
    fullest = with_privacy(
        fullest, by_rates=model.ByRates(groups=3, max_confidence=0.9), readers=report.privacy.readers | {"earlier": 0.7}
    )
    others = tuple(model.Beside(kind="records", programme=name, period="2013") for name in ("compas", "b", "c"))
    fullest = fullest.model_copy(update={"beside": others})
    for shape in (fullest, coarsened(sample.compas())):
        made = pdf(ReportPage(shape, "").paper, date=shape.date, identifier="0" * 32, attachments={})
        pages = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(made)).pages]
        (first,) = [i for i, text in enumerate(pages) if "How far to trust it" in text]
        assert "What was set, and by whom" in "".join(pages[first : first + 2])
