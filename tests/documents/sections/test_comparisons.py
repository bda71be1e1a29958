"""Annex B: every comparison with its range, interval, test and verdict, as report.json has them."""

from __future__ import annotations

from typing import Any

import pytest

from atr.report import changes, derived, model, sampling
from atr.report.model import ComparedRow, PublicReport
from tests.helpers import limits_sample, sample
from tests.helpers.tables import Row, tables, text

BY_RACE = "By race, compared with Caucasian"
HEAD = ["Group", "People", "In 100", "Figure", "Range"]


def with_sampling(report: PublicReport, coverage: Any = "sample") -> PublicReport:
    policy = report.policy.model_copy(update={"sampling": sampling.sampling_info(coverage, 0.05)})
    seen = report.model_copy(update={"policy": policy})
    return seen.model_copy(update={"fairness": sampling.with_sampling(seen)})


def parts(report: PublicReport, label: str) -> dict[str, list[Row]]:
    """The rows of a table below each of its headings."""
    found: dict[str, list[Row]] = {}
    for row in tables(report, "comparisons")[label][1:]:
        if len(row) == 1:
            found[row[0]] = last = []
        else:
            last.append(row)
    return found


def entry(report: PublicReport, **known: Any) -> model.Fairness:
    (found,) = (e for e in report.fairness if all(getattr(e, name) == value for name, value in known.items()))
    return found


def test_every_figure_stands_with_range_interval_and_test() -> None:
    report = with_sampling(sample.compas(spread=0.04))
    found = parts(report, BY_RACE)
    ratios = {row[0]: row[1:] for row in found["Ratio of rates: met from 0.8 to 1.25"]}
    differences = {row[0]: row[1:] for row in found["Difference in points: met up to 5"]}
    for e in (e for e in report.fairness if e.attribute == "race" and e.reference == e.groups[1] and not e.condition):
        sampled = e.sampling
        if e.outcome == "raised" or sampled is None:
            continue
        p = "< 0.001" if sampled.adjusted_p_value < 0.001 else f"{sampled.adjusted_p_value:g}"
        if e.measure == "p_percent_rule":
            people, rate, value, inside, interval, adjusted, _ = ratios[e.groups[0]]
            assert (people, rate) == (f"{e.people[0]:,}", f"{100 * e.rates[0]:.0f}")
            assert (value, inside) == (f"{e.value:.3f}", f"{e.range[0]:.3f} to {e.range[1]:.3f}")
            assert interval == f"{sampled.interval[0]:.3f} to {sampled.interval[1]:.3f}"
        else:
            _, _, value, inside, _, adjusted, _ = differences[e.groups[0]]
            low, high = (100 * (x or 0) for x in e.range)
            assert (value, inside) == (f"{100 * (e.value or 0):.1f}", f"{low:.1f} to {high:.1f}")
        assert adjusted == p
    told = text(report, "comparisons")
    assert "Interval: 95 %" in told
    assert "if the decisions are seen as a sample" in told


def test_what_is_exact_is_called_exact() -> None:
    (table, *_) = parts(sample.compas(spread=0.0), BY_RACE).values()
    assert {row[4] for row in table if row[-1] != "compared with"} == {"exact"}
    (table, *_) = parts(sample.compas(spread=0.04), BY_RACE).values()
    assert "exact" not in {row[4] for row in table}


def test_verdicts_say_why_none_can_be_told(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    ratio = entry(report, measure="p_percent_rule", groups=("Hispanic", "Caucasian"), outcome="low")

    def told(**changes: Any) -> str:
        changed = tuple(e.model_copy(update=changes) if e is ratio else e for e in report.fairness)
        found = parts(report.model_copy(update={"fairness": changed}), BY_RACE)
        (row,) = (row for row in found["Ratio of rates: met from 0.8 to 1.25"] if row[0] == "Hispanic")
        return row[-1]

    assert told(verdict="met") == "met"
    assert told(verdict="not_met") == "not met"
    undecided = {"verdict": "cannot_tell", "reason": "line_in_range"}
    assert told(**undecided, range=(0.7, 1.1)) == "cannot be told: 0.8 in the range"
    assert told(**undecided, range=(0.7, None)) == "cannot be told: 0.8 and 1.25 in the range"
    assert told(verdict="cannot_tell", reason="too_few_people") == "too few people"
    assert told(verdict="cannot_tell", reason="different_times") == "numbers of different times"


def test_ranges_that_nothing_bounds_are_said(reports: dict[str, PublicReport]) -> None:
    cells = [row[4] for rows in parts(reports["unbounded"], BY_RACE).values() for row in rows]
    assert any(cell.endswith(" or more") for cell in cells)


def test_groups_stand_in_the_order_of_their_values(reports: dict[str, PublicReport]) -> None:
    races = next(a.values for a in reports["compas"].attributes if a.name == "race")
    for heading, rows in parts(reports["compas"], BY_RACE).items():
        labels = [row[0] for row in rows]
        if not heading.startswith("Other pairs"):
            assert labels == [race for race in races if race in labels]


def test_people_alike_in_what_may_count_are_compared(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    found = parts(report, BY_RACE)
    for charge in ("felony", "misdemeanour"):
        rows = {row[0]: row for row in found[f"charge: {charge} (difference in points)"]}
        inside = [e for e in report.fairness if e.attribute == "race" and e.condition.get("c_charge_degree") == charge]
        assert {e.groups[0]: f"{100 * (e.value or 0):.1f}" for e in inside} == {
            label: row[3] for label, row in rows.items() if row[-1] != "compared with"
        }
    assert "A class is everybody alike in what may count, as the publisher states: charge." in text(
        report, "comparisons"
    )


def test_pairs_are_those_without_the_reference(reports: dict[str, PublicReport]) -> None:
    rows = parts(reports["compas"], BY_RACE)["Other pairs: ratio of rates"]
    assert rows
    assert not any("Caucasian" in row[0] for row in rows)


def test_many_groups_are_those_with_most_people(reports: dict[str, PublicReport]) -> None:
    table, *_ = tables(reports["places"], "comparisons").values()
    assert len([row for row in table if row[0].startswith("a place")]) >= 60
    assert any(row[0].endswith("in fairness.csv)") for row in table), "pairs of 60 places are in the file"


def test_a_whole_log_has_no_intervals() -> None:
    report = with_sampling(sample.compas(), "whole")
    assert "no sample of them, as the publisher states" in text(report, "comparisons")
    assert tables(report, "comparisons")[BY_RACE][0][: len(HEAD)] == HEAD
    assert "Interval" not in tables(report, "comparisons")[BY_RACE][0]


@pytest.fixture
def limited() -> PublicReport:
    return limits_sample.compas()


def test_rows_say_whom_they_leave_out(limited: PublicReport) -> None:
    def said(**changes: Any) -> str:
        sex, race, *more = limited.compared
        compared = (sex, race.model_copy(update=changes), *more)
        return text(limited.model_copy(update={"compared": compared}), "comparisons")

    assert "shown together with others" not in said()
    assert "85 people are in no row, shown together with others whatever their value." in said(left_out=85)
    joined = ComparedRow(label="Asian, Other", values=("Asian", "Other"), some=("Hispanic", "Caucasian"))
    assert (
        "“Asian, Other” is one row: some of its people are shown together only. “Asian, Other” has some people of "
        "these rows too: “Hispanic” and “Caucasian”."
    ) in said(rows=(joined,))
    alone = ComparedRow(label="Caucasian", values=("Caucasian",), left_out=85)
    assert "“Caucasian” is without some of 85 people shown together with others." in said(rows=(alone,))


def test_values_that_nobody_announced_has_are_named(limited: PublicReport) -> None:
    sex, race, *more = limited.compared
    named = race.model_copy(update={"absent": ("Martian",)})
    changed = limited.model_copy(update={"compared": (sex, named, *more)})
    assert "Nobody announced has these: “Martian”." in text(changed, "comparisons")


def test_an_attribute_without_a_comparison_is_said(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    females = tuple(g for g in report.groups if g.public["sex"] == "Female")
    rest = tuple(e for e in report.fairness if e.attribute != "sex" and e.pair is None)
    one = report.model_copy(update={"groups": females, "fairness": rest, "alike": ()})
    assert "Nobody is compared by this: sex. Only “Female” is announced." in text(one, "comparisons")
    neither = text(one.model_copy(update={"fairness": ()}), "comparisons")
    assert "No groups of people are compared. Nobody is compared by this: sex." in neither
    assert "no attribute to compare them by" not in neither
    assert "no attribute to compare them by" in text(
        one.model_copy(update={"fairness": (), "compared": ()}), "comparisons"
    )


def test_people_alike_are_told_with_what_remains() -> None:
    report = sample.compas()
    report = report.model_copy(update={"alike": derived.DERIVED_FIELDS["alike"](report)})
    found = parts(report, "People alike")
    for of in report.alike:
        rows = found[f"{of.groups[0]} against {of.groups[1]}, by {of.attribute}"]
        assert [row[2].lstrip("+").replace("−", "-") for row in rows[:2]] == [
            f"{100 * d.difference:.1f}" for d in (of.everybody, of.public) if d is not None
        ]
        assert rows[0][1] == " · ".join(f"{n:,}" for n in of.everybody.people)
    assert report.alike


def _since(spread: float = 0.0) -> PublicReport:
    period = model.PeriodInfo(label="2012", start="2012-01-01", end="2013-01-01", timezone=None)
    now, before = sample.grid((30, 2), 2, people=400), sample.grid((30, 2), 2, people=400, period=period)
    found = changes.since(now, before, sha256="a" * 64)
    last = found.entries[-1].model_copy(update={"flagged": True})
    return now.model_copy(update={"changes": found.model_copy(update={"entries": (*found.entries[:-1], last)})})


def test_figures_stand_beside_those_of_the_report_before() -> None:
    report = _since()
    assert report.changes is not None
    rows = tables(report, "comparisons")["Beside the report on 2012, version 1"][1:]
    assert len(rows) == len(report.changes.entries)
    assert [row[-1] for row in rows[:2]] == ["lower", "no change can be told"]
    assert rows[0][0] == " against ".join(report.changes.entries[-1].groups)
    assert "Beside the report" not in text(sample.compas(), "comparisons")
