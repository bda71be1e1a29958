"""Page 1: its headline, its chart and its three short texts are true of the report's numbers."""

from __future__ import annotations

from typing import Any

import pytest

from atr.documents.groups import ratios, rows, verdict
from atr.documents.sections.found import MOST
from atr.documents.text.words import Words
from atr.report.headline import headline
from atr.report.model import FidelityInfo, PublicReport
from tests.helpers import drawn_reports, limits_sample, sample
from tests.helpers.pages import changed, in_hundred, ratio, view, whole, with_policy

COMPAS = sample.compas(spread=0.04)
BLACK = "people of the group “African-American”"
WHITE = "people of the group “Caucasian”"
LOW = "had the outcome “low”"


@pytest.mark.parametrize("kind", drawn_reports.KINDS)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_numbers_of_the_headline_are_rates(kind: str, seed: int) -> None:
    report = drawn_reports.drawn(kind, seed)
    found, said = headline(report), view(report, "found")["finding"]
    if found.groups is None:
        assert not in_hundred(said)
        return
    entry = next(
        e for e in report.fairness if e.groups == found.groups and e.attribute == found.attribute and not e.condition
    )
    assert in_hundred(said)[:2] == [whole(rate) for rate in entry.rates][: len(in_hundred(said))]


@pytest.mark.parametrize("kind", drawn_reports.KINDS)
def test_the_chart_is_entitled_by_what_its_rates_show(kind: str) -> None:
    report = drawn_reports.drawn(kind, 2)
    words = Words.of(report)
    by = next(by for by in report.compared if by.attribute == (headline(report).attribute or "public"))
    title = view(report, "found")["figure"]["title"]
    judged = [row for row in rows(words, by) if row.entry and row.entry.verdict]
    if not judged:
        return
    most = max(judged, key=lambda row: row.people)
    reference = next(row for row in rows(words, by) if row.label == by.reference)
    low, high = most.range or (most.rate, most.rate)
    half = 0.005
    assert most.who[1:] in title
    if "less than four fifths" in title:
        assert low - half < 0.8 * (reference.rate + half)
    if "at least four fifths" in title:
        assert high + half >= 0.8 * (reference.rate - half)
        assert 0.8 * (low - half) <= reference.rate + half
    assert ("chance could" in title) == ("close" in verdict(words, most, by))


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({"verdict": "not_met"}, f"{BLACK} {LOW} less than four fifths as often as {WHITE}"),
        ({"verdict": "not_met", "value": 1.4}, f"{BLACK} {LOW} more than 1.25 times as often as {WHITE}"),
        ({"verdict": "not_met", "value": None}, f"{BLACK} {LOW} more than 1.25 times as often as {WHITE}"),
        ({"verdict": "met"}, f"{BLACK} {LOW} at least four fifths as often as {WHITE}, and at most five fourths"),
        ({"verdict": "cannot_tell"}, f"Whether {BLACK} and {WHITE} {LOW} about equally often cannot be told"),
        ({"verdict": "cannot_tell", "reason": "too_few_people"}, f"Too few {BLACK} for a verdict"),
        ({"verdict": "not_met", "threshold": 0.85}, f"{BLACK} {LOW} less than 0.85 times as often as {WHITE}"),
        ({"verdict": "not_met", "threshold": 0.85, "value": 1.18}, f"{BLACK} {LOW} more than 1/0.85 times as often as "
         f"{WHITE}"),
        ({"verdict": "met", "threshold": 0.85}, f"{BLACK} {LOW} between 0.85 and 1/0.85 times as often as {WHITE}"),
    ],
)  # fmt: skip
def test_the_verdict_of_most_people_is_the_title(changes: dict[str, Any], title: str) -> None:
    report = changed(COMPAS, ratio(COMPAS, "race", "African-American"), **changes)
    assert view(report, "found")["figure"]["title"] == title[0].upper() + title[1:]


def test_without_a_line_there_is_no_verdict() -> None:
    bare = tuple(e.model_copy(update={"threshold": None, "verdict": None}) for e in COMPAS.fairness)
    report = COMPAS.model_copy(update={"fairness": bare})
    figure = view(report, "found")["figure"]
    assert (figure["title"], figure["line"]) == ("Decisions by race", "")
    assert "Verdict" not in figure["chart"].wide


def test_the_lines_lie_around_the_reference() -> None:
    reference = ratio(COMPAS, "race", "Hispanic").rates[1]
    low, high = round(80 * reference), round(125 * reference)
    figure = view(COMPAS, "found")["figure"]
    assert f"four fifths of the rate of {WHITE}, {low} in 100." in figure["line"]
    assert figure["line"].endswith(f"1.25 times that rate, {high} in 100.")
    assert f"four-fifths lines: {low} and {high}" in figure["chart"].wide


def test_a_line_that_no_rate_can_be_above_is_not_drawn() -> None:
    held = ratios(COMPAS)
    high = tuple(e.model_copy(update={"rates": (e.rates[0], 0.81)}) if e in held else e for e in COMPAS.fairness)
    figure = view(COMPAS.model_copy(update={"fairness": high}), "found")["figure"]
    assert "The second line" not in figure["line"]
    assert "four-fifths line: 65" in figure["chart"].wide


def test_a_line_at_the_rate_of_the_reference_is_one() -> None:
    held = ratios(COMPAS)
    same = tuple(
        e.model_copy(update={"threshold": 1.0, "rates": (e.rates[0], 1.0)}) if e in held else e for e in COMPAS.fairness
    )
    figure = view(COMPAS.model_copy(update={"fairness": same}), "found")["figure"]
    assert "The second line" not in figure["line"]
    assert "line at 1: 100" in figure["chart"].wide


def test_of_many_groups_those_of_the_headline_are_drawn() -> None:
    report = sample.grid((60,), 2, people=400, name="place {i}")
    found = headline(report)
    figure = view(report, "found")["figure"]
    assert figure["more"] == len(report.announced_groups) - MOST
    assert found.groups is not None
    for group in found.groups:
        assert f">{group}</text>" in figure["chart"].wide


@pytest.mark.parametrize(
    ("policy", "fidelity", "said"),
    [
        ({}, ("delta", 0.9, 0.1), "Rates are true. Figures by prior offences may be off by at most 10 in 100."),
        ({"group_rates": "free"}, ("delta", 0.9, 0.1), "Figures may be off by at most 10 in 100, to protect people."),
        ({}, ("delta", 1.0, 0.0), "Nothing: numbers are shown as they are."),
        ({}, ("alpha", 0.8, None), "Figures may be altered within limits set beforehand, to protect people."),
    ],
)
def test_what_was_altered_is_what_is_promised(policy: dict[str, Any], fidelity: tuple[Any, ...], said: str) -> None:
    kind, level, change = fidelity
    report = with_policy(COMPAS, **policy)
    altered = report.model_copy(update={"fidelity": FidelityInfo(kind=kind, level=level, largest_change=change)})
    assert view(altered, "found")["altered"] == said


def test_limits_say_between_what_the_remaining_part_lies() -> None:
    report = limits_sample.compas()
    remains = headline(report).remains
    assert remains is not None
    low, high = (round(100 * end) for end in remains.bounds)
    altered = view(report, "found")["altered"]
    assert altered.startswith("Rates are true. Figures by prior offences are told as limits, to protect people.")
    assert altered.endswith(f"What remains is between {low} and {high} % of the difference.")


def test_where_no_rule_is_told_none_is_called_altered() -> None:
    flat = [g.model_copy(update={"status": "flattened", "regions": ()}) for g in COMPAS.announced_groups]
    rates = COMPAS.model_copy(update={"groups": tuple(flat)})
    assert view(rates, "found")["altered"] == "Rates are true. No rules are told."
    assert view(with_policy(rates, group_rates="free"), "found")["altered"] == "No rules are told."
    nothing = view(sample.none_announced(), "found")
    assert nothing["altered"] == "No rules are told."
    assert nothing["finding"].startswith("No rule is announced for this period")
    assert nothing["figure"] is None


def test_who_is_missing_is_counted() -> None:
    assert view(COMPAS, "found")["missing"] == (
        "About 91% of the decisions are counted. 36 groups of fewer than 50 people each are left out."
    )
    assert view(sample.grid((1,), 3), "found")["missing"] == "Everybody in the log is counted."
    assert view(sample.none_announced(), "found")["missing"].startswith("Nobody in the log is counted. 12 groups")
    lopsided = sample.grid((3,), 2, ceiling=0.4)
    assert "3 groups are left out: numbers of people alone tell level" in view(lopsided, "found")["missing"]


def test_nobody_to_compare_has_no_chart() -> None:
    one: PublicReport = sample.grid((1,), 3)
    assert view(one, "found")["figure"] is None
    assert view(one, "found")["finding"].startswith("Only one group by attribute 1 is counted")
