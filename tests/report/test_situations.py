"""How the rules of two groups lie in the same situation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atr.report import model
from atr.report.situations import situations
from tests.helpers import sample

LEVELS = ("low", "mid", "high", "top")
LIMITS: dict[str, tuple[tuple[float, float] | None, ...]] = {
    "a": ((0.2, 0.25), (0.4, 0.6), (0.3, 0.35), None),
    "b": ((0.25, 0.3), (0.5, 0.55), (0.1, 0.3), (0.0, 0.05)),
}
"""First the two touch, then they overlap, then the group lies above, in the end one is open."""


def _report(people: dict[tuple[str, str], int], **changes: Any) -> model.PublicReport:
    """Two groups in one place whose rules have limits."""
    group = sample.attribute("group", "group", ("a", "b"), protected=True)
    place = sample.attribute("place", "place", ("here",))
    level = sample.attribute("level", "level", LEVELS, role="sensitive")
    counts = {
        ((who, "here"), of): (people.get((who, of), 100), 0.25 if who == "a" else 0.5) for who in "ab" for of in LEVELS
    }
    made = sample.report((group, place, level), counts, references={"group": "b"}, ceiling=1.0)
    groups = [of.model_copy(update=changes | {"regions": tuple(_limited(of))}) for of in made.groups]
    policy = made.policy.model_copy(update={"mechanism": "calibrated"})
    limits = model.FidelityInfo(kind="limits", step=0.05)
    return made.model_copy(update={"groups": tuple(groups), "policy": policy, "fidelity": limits})


def _limited(group: model.Group) -> Iterator[model.Region]:
    for region, limits in zip(group.regions, LIMITS[group.public["group"]], strict=True):
        told = limits and {"low": limits, "raised": (1 - limits[1], 1 - limits[0])}
        yield region.model_copy(update={"limits": told})


def test_limits_that_touch_do_not_overlap() -> None:
    (found,) = situations(_report({}))
    assert (found.attribute, found.groups) == ("group", ("a", "b"))
    assert (found.below, found.above, found.overlap, found.told) == (1, 1, 1, 3)
    report = _report({})
    policy = report.policy.model_copy(update={"mechanism": "optimal"})
    closed = report.model_copy(update={"fidelity": model.FidelityInfo(kind="ranges"), "policy": policy})
    assert [(of.below, of.above, of.overlap) for of in situations(closed)] == [(0, 0, 3)]


def test_the_pair_about_most_people_is_named() -> None:
    (found,) = situations(_report({("a", "high"): 300, ("b", "top"): 200}))
    assert found.most_people is not None
    assert found.most_people.situation == {"place": "here", "level": "high"}
    assert (found.most_people.people, found.most_people.limits) == ((300, 100), ((0.3, 0.35), (0.1, 0.3)))
    assert found.most_people.largest


def test_another_rule_about_as_many_people_is_not_hidden() -> None:
    (found,) = situations(_report({("a", "high"): 300, ("b", "top"): 300}))
    assert found.most_people is not None
    assert not found.most_people.largest


def test_rules_of_different_versions_are_not_compared() -> None:
    report = _report({})
    groups = [of.model_copy(update={"as_of": i + 1}) for i, of in enumerate(report.groups)]
    (found,) = situations(report.model_copy(update={"groups": tuple(groups)}))
    assert (found.told, found.most_people) == (0, None)


def test_no_rule_is_told_of_a_row_of_several_values() -> None:
    report = _report({})
    row = model.ComparedRow(label="a", values=("a", "c"))
    (by,) = (by.model_copy(update={"rows": (row,)}) for by in report.compared)
    assert situations(report.model_copy(update={"compared": (by,)})) == ()


def test_coarser_values_are_no_same_situation() -> None:
    (found,) = situations(_report({}, status="coarsened"))
    assert found.told == 0
    assert situations(sample.none_announced()) == ()
