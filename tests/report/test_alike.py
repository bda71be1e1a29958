"""Who is compared among people alike, and what can be told of their difference."""

from __future__ import annotations

from typing import Any

import pytest

from atr.report import derived, model
from atr.verify.alike import people_alike
from tests.helpers import alike, limits_sample, sample


def _found(report: model.PublicReport) -> tuple[model.Alike, ...]:
    found: tuple[model.Alike, ...] = derived.DERIVED_FIELDS["alike"](report)
    return found


def _report(**changes: Any) -> model.PublicReport:
    """Two groups in two places, half as often approved in one place whatever the group; another share is there."""
    group = sample.attribute("group", "group", ("a", "b"), protected=True)
    place = sample.attribute("place", "place", ("here", "there"))
    level = sample.attribute("level", "level", ("low", "high"), role="sensitive")
    people = {("a", "here"): 600, ("a", "there"): 200, ("b", "here"): 100, ("b", "there"): 300}
    counts = {
        (key, of): (n // 2, (0.3 if key[1] == "here" else 0.6) + (0.1 if of == "high" else 0.0))
        for key, n in people.items()
        for of in level.values
    }
    return sample.report((group, place, level), counts, references={"group": "b"}, ceiling=1.0, **changes)


def test_a_gap_that_the_place_makes_does_not_remain() -> None:
    (found,) = _found(_report())
    assert (found.groups, found.everybody.alike_in) == (("a", "b"), ())
    assert (found.everybody.difference, found.everybody.finding) == (-0.15, "lower")
    assert found.public is not None
    assert found.situation is not None
    assert (found.public.alike_in, found.public.difference) == (("place",), 0)
    assert (found.situation.alike_in, found.situation.difference) == (("place", "level"), 0)
    assert found.situation.people == (800, 400)
    assert [(c.condition["place"], c.public.people, c.public.difference) for c in found.classes] == [
        ("here", (600, 100), 0),
        ("there", (200, 300), 0),
    ]


@pytest.mark.parametrize("changes", [{"status": "coarsened"}, {"public": {"group": "a"}, "status": "rest"}])
def test_people_whose_class_is_not_known_are_left_out(changes: dict[str, Any]) -> None:
    report = _report()
    first = report.groups[0]
    assert first.public == {"group": "a", "place": "here"}
    (found,) = _found(report.model_copy(update={"groups": (first.model_copy(update=changes), *report.groups[1:])}))
    assert found.everybody.people == (800, 400)
    assert found.public is not None
    assert found.situation is not None
    assert found.public.people == found.situation.people == (200, 300)


def test_a_group_that_shows_its_rate_is_in_no_situation() -> None:
    report = _report()
    bare = report.groups[0].model_copy(update={"status": "rate_only", "regions": (), "digits": None})
    (found,) = _found(report.model_copy(update={"groups": (bare, *report.groups[1:])}))
    assert found.public is not None
    assert found.situation is not None
    assert (found.public.people, found.situation.people) == ((800, 400), (200, 300))
    assert [of.situation is None for of in found.classes] == [True, False]


def test_what_is_unknown_makes_nobody_alike() -> None:
    report = _report()
    groups = tuple(
        of.model_copy(update={"public": of.public | {"place": "unknown"}}) if of.public["place"] == "there" else of
        for of in report.groups
    )
    (found,) = _found(report.model_copy(update={"groups": groups}))
    assert found.public is not None
    assert found.public.people == (600, 100)


def test_numbers_of_different_times_tell_nothing() -> None:
    report = _report()
    groups = tuple(of.model_copy(update={"as_of": 1 + (of.public["place"] == "here")}) for of in report.groups)
    (found,) = _found(report.model_copy(update={"groups": groups}))
    assert (found.everybody.finding, found.everybody.interval) == ("different_times", None)
    assert {of.public.finding for of in found.classes} != {"different_times"}


def test_a_whole_log_has_no_chance() -> None:
    made = alike.programme()
    made = made.model_copy(update={"log": made.log.model_copy(update={"coverage": "whole"})})
    for seed in (3, 4):
        report = alike.published(made, alike.drawn(made, seed))
        for of in report.alike:
            for mark in (of.everybody, of.public, of.situation):
                assert mark is not None
                assert (mark.interval, mark.finding == "could_be_chance") == (None, False)


@pytest.mark.parametrize("made", [limits_sample.compas, sample.compas], ids=["limits", "chances"])
def test_everybody_is_as_statistical_parity_has_it(made: Any) -> None:
    report = made()
    parity = {
        (e.attribute, e.groups): e
        for e in report.fairness
        if e.measure == "statistical_parity" and e.reference == e.groups[1]
    }
    assert parity.keys() == {(of.attribute, of.groups) for of in report.alike}
    for of in report.alike:
        entry, mark = parity[of.attribute, of.groups], of.everybody
        assert (abs(mark.difference), mark.people) == (entry.value, entry.people)
        assert (mark.difference < 0) == (entry.rates[0] < entry.rates[1])
        for inside in (of.public, of.situation):
            if inside is not None:
                assert inside.range[0] <= inside.difference <= inside.range[1]
                assert all(some <= every for some, every in zip(inside.people, mark.people, strict=True))


def test_a_sensitive_attribute_is_compared_within_groups() -> None:
    report = _report()
    attributes = [a.model_copy(update={"protected": a.name == "level"}) for a in report.attributes]
    parity = next(e for e in report.fairness if e.measure == "statistical_parity")
    entry = parity.model_copy(
        update={"attribute": "level", "groups": ("high", "low"), "reference": "low", "sampling": None}
    )
    (found,) = _found(report.model_copy(update={"attributes": tuple(attributes), "fairness": (entry,)}))
    assert found.public is not None
    assert (found.public.alike_in, found.public.difference) == (("group", "place"), 0.1)
    assert found.public.range[0] < 0.1 < found.public.range[1]
    assert found.situation is None


def test_differences_of_millions_of_people_are_checked() -> None:
    report = limits_sample.compas()
    many = [
        group.model_copy(
            update={
                "population": group.population and group.population * 10**5,
                "regions": tuple(
                    region.model_copy(update={"population": region.people * 10**5}) for region in group.regions
                ),
            }
        )
        for group in report.groups
    ]
    report = report.model_copy(update={"groups": tuple(many)})
    assert list(people_alike(report.model_copy(update={"alike": _found(report)}))) == []
