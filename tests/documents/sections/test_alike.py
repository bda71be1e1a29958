"""The same situation: what is said of people alike is what was computed of them."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from atr.report.headline import compares_half
from atr.report.model import Alike, AlikeDifference, PublicReport
from tests.helpers import drawn_reports, limits_sample, sample
from tests.helpers.pages import has, view

LIMITS = limits_sample.compas()
BLACK, WHITE = "people of the group “African-American”", "people of the group “Caucasian”"
AMONG = "Among people alike in sex, age, charge and prior offences, "


def first(report: PublicReport) -> Alike:
    return next(of for of in report.alike if of.groups == ("African-American", "Caucasian"))


def changed(of: AlikeDifference | None, **changes: Any) -> AlikeDifference:
    assert of is not None
    return of.model_copy(update=changes)


def with_first(report: PublicReport, **changes: Any) -> PublicReport:
    """The report with its headline's differences changed."""
    mine = first(report)
    return report.model_copy(
        update={"alike": tuple(of.model_copy(update=changes) if of is mine else of for of in report.alike)}
    )


def finding(report: PublicReport) -> str:
    return str(view(report, "alike")["finding"])


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"finding": "lower", "difference": -0.124}, f"12 fewer in 100 {BLACK} than {WHITE} had the outcome “low”."),
        (
            {"finding": "higher", "difference": 0.125, "range": (0.11, 0.14)},
            f"13 more in 100 {BLACK} than {WHITE} had the outcome “low”.",
        ),
        (
            {"finding": "higher", "difference": 0.0042, "range": (0.004, 0.005)},
            f"0.4 more in 100 {BLACK} than {WHITE} had the outcome “low”.",
        ),
        (
            {"finding": "lower", "range": (-0.24, -0.02)},
            f"2 to 24 fewer in 100 {BLACK} than {WHITE} had the outcome “low”.",
        ),
        ({"finding": "none", "difference": 0.0}, f"{BLACK} and {WHITE} had the outcome “low” equally often."),
        ({"finding": "could_be_chance"}, f"no difference between {BLACK} and {WHITE} can be told from chance."),
        ({"finding": "cannot_be_told"}, f"whether {BLACK} and {WHITE} differ cannot be told."),
        ({"finding": "different_times"}, f"whether {BLACK} and {WHITE} differ cannot be told."),
    ],
)
def test_what_remains_is_the_finding(left: dict[str, Any], said: str) -> None:
    report = with_first(LIMITS, situation=changed(first(LIMITS).situation, **left))
    assert finding(report) == f"{AMONG}{said} Among everybody it is 28 fewer."


@pytest.mark.parametrize(
    ("everybody", "said"),
    [
        ("higher", "Among everybody it is 28 more."),
        ("none", "Among everybody there is no difference."),
        ("could_be_chance", "Among everybody the difference could be chance."),
        ("cannot_be_told", "Among everybody it cannot be told."),
        ("different_times", "Among everybody it cannot be told."),
    ],
)
def test_everybody_is_told_beside_people_alike(everybody: str, said: str) -> None:
    alone = LIMITS.model_copy(update={"alike": (first(LIMITS),)})
    report = with_first(alone, everybody=changed(first(LIMITS).everybody, finding=everybody))
    assert finding(report).endswith(said)


@pytest.mark.parametrize("kind", drawn_reports.KINDS)
def test_the_first_pair_is_that_of_the_finding(kind: str) -> None:
    report = drawn_reports.drawn(kind, 2)
    said, pairs = finding(report), view(report, "alike")["pairs"]["chart"].wide
    shown = [of for of in report.alike if " and ".join(of.groups) in pairs]
    mine = [of for of in shown if all(f"“{group}”" in said for group in of.groups)]
    assert mine
    left = mine[0].situation or mine[0].public
    assert left is not None
    number = re.search(r"(?:(\d+) to )?([\d.]+) (fewer|more) in 100", said)
    assert (number is not None) == (left.finding in ("higher", "lower") and compares_half(mine[0]))
    if number:
        low, high = sorted(100 * abs(end) for end in left.range)
        if number[1]:
            assert (int(number[1]), int(number[2])) == (math.floor(low), math.ceil(high))
        else:
            assert float(number[2]) == pytest.approx(100 * abs(left.difference), abs=0.5)
        assert (number[3] == "more") == (left.difference > 0)


def test_nothing_is_said_of_people_alike_who_are_few() -> None:
    everybody = changed(first(LIMITS).everybody, people=(2590, 1745))
    few = with_first(LIMITS, everybody=everybody, situation=changed(first(LIMITS).situation, people=(80, 1700)))
    assert "cannot be told: fewer than half of a group" in finding(few)


@pytest.mark.parametrize("report", [LIMITS, sample.compas(), drawn_reports.drawn("crossed", 2)])
def test_every_row_has_its_points_and_its_limits(report: PublicReport) -> None:
    said = str(view(report, "alike")["pairs"]["chart"].wide)
    alt = re.search('aria-label="([^"]*)"', said)
    assert alt is not None
    rows = dict(part.split(": ", 1) for part in alt[1].split(". "))
    pairs = {" and ".join(of.groups): of for of in report.alike}
    assert rows
    for label, told in rows.items():
        pair, _, compared = label.partition(" (")
        of = pairs[pair]
        left = of.situation or of.public
        assert left is not None
        assert told.startswith(f"{100 * abs(left.difference):.1f} {'fewer' if left.difference < 0 else 'more'}")
        limits = None if left.range[0] == left.range[1] else left.range
        for name, ends in (("limits", limits), ("with chance", left.interval)):
            assert (f"; {name}: {_ends(*ends)}" in told) if ends else (name not in told)
        covered = min(n / m for n, m in zip(left.people, of.everybody.people, strict=True))
        assert bool(compared) == (covered < 0.5)


def _ends(low: float, high: float) -> str:
    least, most = (f"{100 * abs(end):.1f}" for end in (low, high))
    if high <= 0:
        return f"{most} to {least} fewer"
    return f"{least} to {most} more" if low >= 0 else f"{least} fewer to {most} more"


def test_the_title_names_a_part_only_where_it_is_told() -> None:
    assert view(LIMITS, "alike")["pairs"]["title"].startswith("About half of the difference remains among")
    wide = sample.compas(spread=0.04)
    assert view(wide, "alike")["pairs"]["title"] == "Among people alike, and among everybody"


def test_those_with_nobody_alike_are_counted() -> None:
    of = first(LIMITS)
    assert of.situation is not None
    (a, b), (n, m) = of.situation.people, of.everybody.people
    assert (
        f"Alike are {a:,} {BLACK} and {b:,} {WHITE}; the other {n - a} and {m - b} have nobody alike"
        in (view(LIMITS, "alike")["counted"])
    )


def test_situations_with_most_people_are_shown() -> None:
    shown = view(LIMITS, "alike")
    classes = first(LIMITS).classes
    assert shown["classes"]["left"] == len(classes) - 4
    most = sorted(classes, key=lambda of: -min(of.public.people))[:4]
    for of in classes:
        label = ", ".join(of.condition.values())
        assert (f"{label}:" in shown["classes"]["chart"].wide) == (of in most)
    largest = most[0]
    assert largest.situation is not None
    n, m = (round(100 * abs(d.difference)) for d in (largest.public, largest.situation))
    who = f"People of the group “{', '.join(largest.condition.values())}”"
    assert shown["classes"]["title"] == f"{who}: {n} fewer; at the same prior offences, {m} fewer"


def test_intersections_come_after_single_attributes() -> None:
    report = drawn_reports.drawn("crossed", 2)
    crossed = [of for of in report.alike if of.attributes]
    assert crossed
    shown = view(report, "alike")
    assert shown["left"] == len(report.alike) - 4
    for of in report.alike:
        if not of.attributes:
            assert " and ".join(of.groups) in shown["pairs"]["chart"].wide


def test_chance_is_told_of_samples_alone() -> None:
    assert view(drawn_reports.drawn("calibrated", 2), "alike")["chance"]
    assert not view(drawn_reports.drawn("whole", 2), "alike")["chance"]


@pytest.mark.parametrize("report", [sample.none_announced(), sample.grid((1,), 3)])
def test_nobody_alike_has_no_page(report: PublicReport) -> None:
    assert not has(report, "alike")
