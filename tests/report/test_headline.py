"""The headline of a report says what its published rules bear out, and nothing that range or chance leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from atr.report import model
from atr.report.headline import Headline, headline, remains
from tests.helpers import alike, sample

SEEDS = [seed if seed % 3 == 1 else pytest.param(seed, marks=pytest.mark.long) for seed in range(20)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_headline_of_a_drawn_log_is_true(seed: int) -> None:
    """And every difference among people alike is between its limits in the log."""
    made = alike.programme(population_rounding=(1, 5)[seed % 2])
    regions = alike.drawn(made, seed)
    report = alike.published(made, regions)
    alike.is_true(report)
    for of in report.alike:
        for mark in (of.public, of.situation) if ", " not in "".join(of.groups) else ():
            if mark is not None:
                true = alike.true(report, mark, of.groups, regions)
                assert mark.range[0] - 0.001 <= true <= mark.range[1] + 0.001, "but for the last digit"


def _counts(rates: dict[str, float], people: int = 400) -> dict[tuple[tuple[str, ...], str], tuple[int, float]]:
    return {((who,), level): (people, rate) for who, rate in rates.items() for level in ("low", "high")}


def _report(rates: dict[str, float], people: int = 400, **changes: Any) -> model.PublicReport:
    """Groups with these rates whatever their level, compared with the last."""
    group = sample.attribute("group", "group", rates, protected=True)
    level = sample.attribute("level", "level", ("low", "high"), role="sensitive")
    known = {"references": {"group": [*rates][-1]}, "ceiling": 1.0, **changes}
    return sample.report((group, level), _counts(rates, people), **known)


def _with(report: model.PublicReport, attribute: str, groups: tuple[str, str], **of: Any) -> model.PublicReport:
    """The report with another difference of everybody."""
    changed = [
        a.model_copy(update={"everybody": a.everybody.model_copy(update=of)})
        if (a.attribute, a.groups) == (attribute, groups)
        else a
        for a in report.alike
    ]
    return report.model_copy(update={"alike": tuple(changed)})


def test_the_largest_gap_is_told_in_natural_frequencies() -> None:
    said = headline(_report({"a": 0.3, "b": 0.5, "c": 0.6}))
    assert (said.id, said.attribute, said.groups) == ("gap", "group", ("a", "c"))
    assert (said.in_hundred, said.people) == ((30, 60), (800, 800))
    assert said.remains is not None
    assert (said.remains.id, said.remains.alike_in) == ("nearly_all", ("level",))


def test_a_gap_upwards_is_a_gap() -> None:
    said = headline(_report({"a": 0.6, "b": 0.3}))
    assert (said.id, said.groups, said.in_hundred) == ("gap", ("a", "b"), (60, 30))


def test_of_equal_gaps_the_first_of_most_people_is_told() -> None:
    report = _report({"a": 0.3, "b": 0.3, "c": 0.6})
    assert headline(report).groups == ("a", "c")
    fewer = _with(report, "group", ("a", "c"), people=(200, 800))
    assert headline(fewer).groups == ("b", "c")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"could_be_chance"}, "could_be_chance"),
        ({"cannot_be_told"}, "cannot_be_told"),
        ({"cannot_be_told", "could_be_chance"}, "could_be_chance"),
        ({"none"}, "none"),
        ({"different_times"}, "different_times"),
        ({"different_times", "cannot_be_told"}, "cannot_be_told"),
    ],
)
def test_without_a_gap_the_headline_says_why(found: set[str], said: str) -> None:
    report = _report({"a": 0.3, "b": 0.4, "c": 0.6})
    for who, finding in zip(("a", "b"), [*sorted(found), *sorted(found)], strict=False):
        report = _with(report, "group", (who, "c"), finding=finding)
    assert headline(report) == Headline(said, ("group",))  # type: ignore[arg-type]


def test_a_gap_of_too_few_people_is_not_told() -> None:
    report = _with(_report({"a": 0.3, "b": 0.5, "c": 0.6}), "group", ("a", "c"), people=(40, 800))
    assert headline(report).groups == ("b", "c")
    for who in ("a", "b"):
        report = _with(report, "group", (who, "c"), people=(40, 800))
    assert headline(report).id == "too_few"


def test_nobody_to_compare_is_said() -> None:
    assert headline(sample.none_announced()).id == "no_groups"
    assert headline(_report({"a": 0.3})).id == "one_group"


def test_a_gap_that_rounding_hides_is_about_equal() -> None:
    """0.301 and 0.304 of many people are told apart, and both are 30 in 100."""
    said = headline(_report({"a": 0.301, "b": 0.304}, people=400_000))
    assert (said.id, said.in_hundred, said.remains) == ("about_equal", (30, 30), None)


def test_people_with_an_unknown_value_make_no_headline() -> None:
    said = headline(_report({"unknown": 0.1, "b": 0.5, "c": 0.6}))
    assert said.groups == ("b", "c")


def _remaining(difference: float, ends: tuple[float, float], **of: Any) -> model.Alike:
    """A gap of 40 points less, and what remains of it among people alike."""
    known = {"people": (800, 800), "interval": None, "alike_in": (), "finding": "lower"}
    everybody = model.AlikeDifference(**known | {"difference": -0.4, "range": (-0.4, -0.4)})
    left = model.AlikeDifference(**known | {"difference": difference, "range": ends, "alike_in": ("level",)} | of)
    return model.Alike(attribute="group", groups=("a", "b"), everybody=everybody, situation=left)


@pytest.mark.parametrize(
    ("difference", "ends", "of", "said", "bounds"),
    [
        (-0.2, (-0.24, -0.16), {}, "half", (0.4, 0.6)),
        (-0.2, (-0.36, -0.04), {}, "not_told", (0.1, 0.9)),
        (-0.1, (-0.1, -0.1), {}, "quarter", (0.25, 0.25)),
        (-0.3, (-0.32, -0.28), {}, "three_quarters", (0.7, 0.8)),
        (-0.4, (-0.44, -0.36), {}, "nearly_all", (0.9, 1.1)),
        (-0.6, (-0.64, -0.56), {}, "larger", (1.4, 1.6)),
        (-0.02, (-0.04, -0.01), {}, "little", (0.02, 0.1)),
        (-0.02, (-0.04, 0.01), {"finding": "cannot_be_told"}, "none_told", (-0.03, 0.1)),
        (-0.2, (-0.2, -0.2), {"finding": "could_be_chance"}, "none_told", (0.5, 0.5)),
        (0.2, (0.16, 0.24), {"finding": "higher"}, "reversed", (-0.6, -0.4)),
        (-0.2, (-0.2, -0.2), {"finding": "different_times"}, "not_told", (0.5, 0.5)),
        (-0.2, (-0.2, -0.2), {"people": (300, 800)}, "not_told", (0.5, 0.5)),
    ],
)
def test_what_remains_has_a_name_only_within_its_bounds(
    difference: float, ends: tuple[float, float], of: dict[str, Any], said: str, bounds: tuple[float, float]
) -> None:
    left = remains(_remaining(difference, ends, **of))
    assert left is not None
    assert (left.id, left.few_people) == (said, False)
    assert left.bounds == pytest.approx(bounds, abs=0.011)
    assert left.bounds[0] <= difference / -0.4 <= left.bounds[1]


def test_few_people_behind_what_remains_are_said() -> None:
    everybody = _remaining(-0.2, (-0.2, -0.2), people=(20, 60))
    small = everybody.everybody.model_copy(update={"people": (30, 100)})
    left = remains(everybody.model_copy(update={"everybody": small}))
    assert left is not None
    assert (left.id, left.people, left.few_people) == ("half", (20, 60), True)
