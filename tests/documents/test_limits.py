"""What documents say of a report that tells limits."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest

from atr.documents import csv as annex
from atr.documents.comparisons import same_people
from atr.documents.sections import fairness
from atr.documents.sections import rules as table
from atr.documents.text import phrases, promise
from atr.documents.text.wording import points
from atr.report import model
from atr.report.model import PublicReport
from atr.report.notes import fidelity_notes
from tests.helpers import limits_sample, note_texts, page_text, sample


@pytest.fixture(scope="module")
def report() -> PublicReport:
    return limits_sample.compas()


@pytest.fixture(scope="module")
def page(report: PublicReport) -> str:
    return page_text.read(report)[0]


def test_cells_say_limits_or_that_nothing_is_told(report: PublicReport) -> None:
    view = table.context(report)
    rows = [row for block in view["blocks"] for row in block.rows]
    cells = [cell for row in rows for cell in row.cells if cell]
    shown = {region.limits and region.limits["low"] for group in report.announced_groups for region in group.regions}
    assert {cell.text for cell in cells} == {" to ".join(map(points, ends)) if ends else "not told" for ends in shown}
    assert all((cell.text == "not told") == (cell.expected == "") == (cell.shade is None) for cell in cells)
    assert [row.status for row in rows if not row.cells] == ["rate_only"]


def test_the_example_is_the_row_with_most_people(report: PublicReport) -> None:
    told = [(region.population, region) for group in report.groups for region in group.regions if region.limits]
    _, region = max(told, key=lambda pair: pair[0])
    assert region.limits is not None
    low, high = (round(100 * end) for end in region.limits["low"])
    assert f"between {low} and {high} had the outcome “low”" in table.context(report)["example"]


def test_a_rest_group_is_named_in_words(report: PublicReport, page: str) -> None:
    (rest,) = report.rest_groups
    name = "Female, Hispanic, of age and charge not shown on their own"
    assert phrases.group_name(rest, report) == name
    assert name in page
    nobody = rest.model_copy(update={"public": {}})
    assert phrases.group_name(nobody, report) == "People of sex, age, race and charge not shown on their own"
    plain = report.announced_groups[0]
    assert phrases.group_name(plain, report) == ", ".join(plain.public.values())


def test_shares_of_people_told_add_up(report: PublicReport) -> None:
    said = promise.fidelity(report)
    narrow, none = (int(n) for n in re.findall(r"about (\d+) in 100", said))
    people = {True: 0, False: 0}
    for group in report.announced_groups:
        for region, _ in group.told:
            people[region.limits is None] += region.population
    assert none == round(100 * people[True] / sum(people.values()))
    assert 0 < narrow < 100 - none


def test_every_reader_is_stated_with_its_confidence(report: PublicReport, page: str) -> None:
    text = note_texts.by_id(report)["guarantee"]
    assert re.findall(r"\((\d+\.\d) %\)", text) == ["71.2", "71.9", "70.1", "71.5"]
    assert promise.guarantee(report).replace("\N{NO-BREAK SPACE}", " ") in page
    assert "can be at most 71.9\N{NO-BREAK SPACE}% sure" in promise.guarantee(report)
    remembers = report.privacy.model_copy(update={"readers": report.privacy.readers | {"earlier": 0.719}})
    later = report.model_copy(update={"privacy": remembers})
    assert "remembers earlier reports" in note_texts.by_id(later)["guarantee"]
    assert "they were taken into account" in note_texts.by_id(later)["earlier"]
    assert "There was none" in note_texts.by_id(report)["earlier"]


def test_the_guarantee_says_whom_it_leaves_out(report: PublicReport) -> None:
    said = promise.guarantee(report).replace("\N{NO-BREAK SPACE}", " ")
    assert "thinks of the rules in one of three ways" in said
    ceiling = f"{points(report.policy.max_confidence)} %"
    assert f"where a rate alone is told, such a reader is not above the ceiling of {ceiling}." in said
    assert said.endswith("Who thinks of the rules in another way can be surer.")
    assert "subtract one from the other" in note_texts.by_id(report)["not_covered"]


def test_what_rates_alone_tell_is_said_at_a_glance(report: PublicReport) -> None:
    of = model.ByRates(groups=3, max_confidence=0.851)
    later = report.model_copy(update={"privacy": report.privacy.model_copy(update={"by_rates": of})})
    told = phrases.by_rates(later)
    assert "In 3 groups numbers of people and rates of several reports alone" in told
    assert "up to 85.1\N{NO-BREAK SPACE}% sure" in told
    assert promise.guarantee(later).endswith(told)
    notes = note_texts.by_id(later)
    for said in (notes["guarantee"], notes["earlier"]):
        assert told.replace("\N{NO-BREAK SPACE}", " ") in said
    assert "Limits bring none of them above the ceiling" in notes["guarantee"]
    nothing = later.privacy.model_copy(update={"max_confidence": None})
    assert promise.guarantee(later.model_copy(update={"privacy": nothing})).endswith(told)


def test_groups_are_counted_by_what_they_tell(report: PublicReport, page: str) -> None:
    groups = report.coverage.groups.announced
    assert f"in {groups} groups; {groups - 1} of these tell limits, 1 its overall rate only." in page
    assert "groups whose rules are announced" not in page


def test_where_no_reader_is_surer_it_is_said(report: PublicReport) -> None:
    assert "limits make no such reader surer" not in promise.guarantee(report)
    same = report.privacy.model_copy(update={"prior_confidence": report.privacy.max_confidence})
    assert "limits make no such reader surer" in promise.guarantee(report.model_copy(update={"privacy": same}))


def test_notes_fit_what_a_report_tells(report: PublicReport) -> None:
    ids = [note.id for note in report.notes]
    assert ids[:4] == ["limits", "rate_only", "rest", "rates"]
    assert {"earlier", "sizes", "not_covered"} <= set(ids)
    assert not {"altered", "exact", "side_information", "flattened"} & set(ids)
    assert not {"limits", "earlier", "sizes"} & {note.id for note in sample.compas().notes}
    groups = tuple(g for g in report.groups if g.status == "announced" or g.status == "withheld")
    plain = report.model_copy(update={"groups": groups})
    assert not {"rate_only", "rest"} & {note.id for note in fidelity_notes(plain)}
    for words in note_texts.titled(report).values():
        assert not re.search(r"['\"]|\bNone\b(?! of)", " ".join(words))


def test_the_expert_finds_weights_and_settings(page: str) -> None:
    for said in (
        "C(2k, k) · C(2(n − k), n − k)",
        "a scale of G = 20 steps",
        "more than 3 whole numbers of that region",
    ):
        assert said in page
    assert "Confidence from numbers of people and rates alone" in page
    assert "Rules in whole people that are left, where limits are told" in page
    assert "may be altered" not in page


def test_a_reader_of_whole_numbers_is_told_of() -> None:
    plain = sample.compas()
    whole = {"face_value": 0.6, "whole_numbers": 1.0, "whole_numbers_at_most": 1.0}
    report = plain.model_copy(update={"privacy": plain.privacy.model_copy(update={"readers": whole})})
    report = report.model_copy(update={"notes": fidelity_notes(report)})
    text = note_texts.by_id(report)["whole_numbers"]
    assert "can be up to 100 % sure of somebody’s prior offences" in text
    assert "above the ceiling: the publisher chose to state it" in text
    said = promise.guarantee(report).replace("\N{NO-BREAK SPACE}", " ")
    assert "One who counts in whole people can be up to 100 % sure." in said
    below = report.privacy.model_copy(update={"readers": {"whole_numbers": 0.7}})
    assert "above the ceiling" not in note_texts.by_id(report.model_copy(update={"privacy": below}))["whole_numbers"]


def test_the_csv_has_limits_as_columns(report: PublicReport) -> None:
    rows = list(csv.DictReader(io.StringIO(annex.announced_rules(report).decode(), newline="")))
    regions = [region for group in report.groups for region in group.regions or [None]]
    assert len(rows) == len(regions)
    for row, region in zip(rows, regions, strict=True):
        told = region.limits and region.limits["low"] if region else None
        assert [row["lower"], row["upper"]] == ([f"{end:.3f}" for end in told] if told else ["", ""])


def test_rows_say_whom_they_leave_out(report: PublicReport, page: str) -> None:
    def said(**changes: Any) -> str:
        sex, race, *more = report.compared
        compared = (sex, race.model_copy(update=changes), *more)
        return page_text.read(report.model_copy(update={"compared": compared}))[0]

    assert "shown together with others, whatever their race" not in page
    assert "85 people are in none of these rows: they are shown together with others, whatever their race." in said(
        left_out=85
    )
    joined = model.ComparedRow(label="Asian, Other", values=("Asian", "Other"), some=("Hispanic", "Caucasian"))
    assert (
        "“Asian, Other” is one row, for some people with these values are shown together only. It has some people with "
        "“Hispanic” and “Caucasian” as well, which have rows of their own."
    ) in said(rows=(joined,))
    alone = model.ComparedRow(label="Caucasian", values=("Caucasian",), left_out=85)
    assert "“Caucasian” is without some of 85 people, who are shown together with others." in said(rows=(alone,))


def test_people_whose_value_is_not_told_are_no_group(report: PublicReport) -> None:
    rest = report.rest_groups[0].model_copy(update={"public": {"race": "Hispanic"}})
    groups = tuple(rest if g.status == "rest" else g for g in report.groups)
    found = same_people(report.model_copy(update={"groups": groups}))
    assert {who for attribute, who in found if attribute == "sex"} == {"Female", "Male"}


def test_the_only_group_is_said_by_its_values(report: PublicReport) -> None:
    sex = report.compared[0]
    rest = tuple(e for e in report.fairness if e.attribute != "sex")

    def said(groups: tuple[model.Group, ...]) -> str:
        return page_text.read(report.model_copy(update={"groups": groups, "fairness": rest}))[0]

    mixed = report.rest_groups[0].model_copy(
        update={"public": {"race": "Hispanic"}, "mixed": {"sex": ("Female", "Male")}}
    )
    assert "Nobody is compared by sex: “Female” and “Male” are shown as one group." in _with_rows(report, sex, rest)
    women = tuple(g for g in report.announced_groups if g.public.get("sex") == "Female")
    assert "Nobody is compared by sex: only “Female” is announced." in said(women)
    untold = mixed.model_copy(update={"mixed": {}})
    assert "Nobody is compared by sex: only “Female” is shown on its own." in said((*women[:-1], untold))


def _with_rows(report: PublicReport, sex: model.ComparedBy, entries: tuple[model.Fairness, ...]) -> str:
    """The page where all groups are rest groups in which both sexes meet."""
    groups = tuple(
        g.model_copy(
            update={
                "status": "rest",
                "joined": 2,
                "public": {name: value for name, value in g.public.items() if name != "sex"},
                "mixed": {"sex": ("Female", "Male")},
            }
        )
        for g in report.announced_groups
    )
    row = model.ComparedRow(label="Female, Male", values=("Female", "Male"))
    compared = (sex.model_copy(update={"rows": (row,)}), *report.compared[1:])
    one = report.model_copy(
        update={"groups": groups, "fairness": entries, "compared": compared, "influence": (), "surrogate": None}
    )
    return page_text.read(one)[0]


def test_influence_says_of_whom_it_is(report: PublicReport, page: str) -> None:
    assert f"“All people” are here about {phrases.share_told(report)}: those in groups that tell limits" in page
    told = sum(group.population or 0 for group in report.announced_groups if group.status == "announced")
    assert phrases.share_told(report).startswith(f"{told:,} of ")
    men = tuple(g for g in report.groups if g.public.get("sex") != "Female" or g.status == "rest")
    influence = tuple(
        e.model_copy(update={"groups": tuple(g for g in e.groups if g.attribute != "sex")}) for e in report.influence
    )
    text = page_text.read(report.model_copy(update={"groups": men, "influence": influence}))[0]
    assert "The influence on rates by sex is not told: everybody in these figures has “Male”" in text
    assert "everybody in the announced rules" not in text


def test_groups_met_before_are_named_without_straight_quotes(report: PublicReport) -> None:
    names = [by.attribute for by in report.compared]
    people = {(names[0], "a, b"): frozenset({1}), (names[1], '"a, b", c'): frozenset({1})}
    assert fairness.met_before(report, report.compared[1], people) == "“a, b, c” (as “a, b”)"
