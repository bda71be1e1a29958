"""By group: rates and verdicts are those of the report, and the fewest and the most are so."""

from __future__ import annotations

import re

import pytest

from atr.documents.groups import rows
from atr.documents.sections import groups
from atr.documents.text.words import Words
from atr.report.model import PublicReport
from tests.helpers import drawn_reports, sample
from tests.helpers.pages import changed, has, in_hundred, ratio, view
from tests.helpers.tables import section

SEEDS = [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)]
COMPAS = sample.compas(spread=0.04)


def printed(report: PublicReport) -> list[tuple[str, str, bool]]:
    """The group, the number in 100 and whether it is told, of every row of the page."""
    return [
        (row["label"], row["rate"], "to" not in row["rate"])
        for table in view(report, "groups")["tables"]
        for row in table["rows"]
    ]


@pytest.mark.parametrize("kind", drawn_reports.KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_fewest_and_the_most_are_so(kind: str, seed: int) -> None:
    report = drawn_reports.drawn(kind, seed)
    if not has(report, "groups"):
        return
    said = view(report, "groups")["finding"]
    told = [float(rate) for _, rate, is_told in printed(report) if is_told]
    if said.startswith("The groups have too few"):
        return
    low, high = (in_hundred(said) * 2)[:2]
    people = {row.label: row for by in report.compared for row in rows(Words.of(report), by)}
    enough = [float(rate) for label, rate, is_told in printed(report)
              if is_told and people[label].people >= report.policy.minimum_group_size]  # fmt: skip
    assert (low, high) == (min(enough), max(enough))
    if "with enough" not in said:
        assert (low, high) == (min(told), max(told))


@pytest.mark.parametrize("kind", drawn_reports.KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_rates_people_and_ratios_are_those_of_the_report(kind: str, seed: int) -> None:
    report = drawn_reports.drawn(kind, seed)
    words = Words.of(report)
    if not has(report, "groups"):
        return
    for by, table in zip(report.compared, view(report, "groups")["tables"], strict=False):
        for row in table["rows"]:
            e = ratio(report, by.attribute, row["label"])
            i = e.groups.index(row["label"])
            assert row["people"] == f"{e.people[i]:,}"
            span = words.rate_ranges.get((by.attribute, row["label"]))
            if span is None:
                assert float(row["rate"]) == round(100 * e.rates[i], 6)
            else:
                low, high = map(float, row["rate"].split(" to "))
                assert low <= 100 * span[0] <= 100 * span[1] <= high
            if row["label"] != by.reference:
                assert e.value is None or row["ratio"] == str(e.value) or float(row["ratio"]) == e.value


def test_a_group_of_too_few_people_is_no_fewest() -> None:
    few = ratio(COMPAS, "race", "Other")
    report = changed(COMPAS, few, people=(40, few.people[1]), rates=(0.05, few.rates[1]), reason="too_few_people")
    said = view(report, "groups")["finding"]
    assert in_hundred(said) == [41, 69]
    assert "the fewest of the groups below with enough people and a rate that is told" in said


def test_equal_rates_are_said_to_be_equal() -> None:
    report = COMPAS.model_copy(
        update={"fairness": tuple(e.model_copy(update={"rates": (0.5, 0.5)}) for e in COMPAS.fairness)}
    )
    assert view(report, "groups")["finding"] == "50 in 100 had the outcome “low” in every group with enough people."


def test_the_others_are_told_of_the_largest_group() -> None:
    assert view(COMPAS, "groups")["adverse"] == (
        "The others had the outcome “raised”: 41 in 100 people of the group “Female”, 46 in 100 people of the group "
        "“Male”."
    )
    three = drawn_reports.drawn("three", 2)
    assert view(three, "groups")["adverse"].startswith(
        "The others had the outcome “deferred” or had the outcome “refused”: "
    )


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"verdict": "met"}, "met"),
        ({"verdict": "not_met"}, "not met"),
        ({"verdict": "cannot_tell"}, "cannot be told"),
        ({"verdict": "cannot_tell", "reason": "too_few_people"}, "too few people"),
        ({"verdict": "cannot_tell", "reason": "different_times"}, "other times"),
    ],
)
def test_each_verdict_has_its_words(changes: dict[str, str], verdict: str) -> None:
    report = changed(COMPAS, ratio(COMPAS, "race", "African-American"), **changes)
    _, race = view(report, "groups")["tables"]
    found = {row["label"]: row for row in race["rows"]}
    assert found["African-American"]["verdict"] == verdict
    assert found["African-American"]["bad"] == (verdict == "not met")
    assert (found["Caucasian"]["verdict"], found["Caucasian"]["ratio"]) == ("compared with", "1")


@pytest.mark.parametrize("kind", ["calibrated", "free"])
def test_a_verdict_is_close_where_its_interval_reaches_a_line(kind: str) -> None:
    for seed in range(3):
        report = drawn_reports.drawn(kind, seed)
        for table, by in zip(view(report, "groups")["tables"], report.compared, strict=False):
            for row in (row for row in table["rows"] if row["label"] != by.reference):
                e = ratio(report, by.attribute, row["label"])
                if e.verdict not in ("met", "not_met") or e.sampling is None:
                    assert "close" not in row["verdict"]
                    continue
                low, high = e.sampling.interval
                reaches = low <= 0.8 <= (high or 9) or low <= 1.25 <= (high or 9)
                other_side = (e.verdict == "not_met") == (low > 0.8 and (high or 9) < 1.25)
                assert ("close" in row["verdict"]) == (reaches or other_side)


def test_a_whole_log_has_no_column_of_intervals() -> None:
    assert "% interval" in section(drawn_reports.drawn("calibrated", 2), "groups")
    for report in (drawn_reports.drawn("whole", 2), COMPAS):
        page = section(report, "groups")
        assert "% interval" not in page
        heads = [len(re.findall("<t[hd]", row)) for row in re.findall("<tr.*?</tr>", page, re.DOTALL)]
        assert {*heads} == {6}


def test_many_groups_are_those_of_most_people() -> None:
    report = sample.grid((60,), 2, people=400, name="place {i}")
    (table,) = view(report, "groups")["tables"]
    assert len(table["rows"]) == groups.ROOM
    assert table["left"] == len(report.announced_groups) - groups.ROOM
    by = report.compared[0]
    every = rows(Words.of(report), by)
    shown = {row["label"] for row in table["rows"]}
    least = min(row.people for row in every if row.label in shown and row.label != by.reference)
    assert all(row.people <= least for row in every if row.label not in shown)
    assert by.reference in shown
    told = [row.rate for row in every if row.label in shown]
    assert in_hundred(view(report, "groups")["finding"]) == [round(100 * end, 6) for end in (min(told), max(told))]


@pytest.mark.parametrize("report", [sample.none_announced(), sample.grid((1,), 3)])
def test_nobody_to_compare_has_no_page(report: PublicReport) -> None:
    assert not has(report, "groups")
