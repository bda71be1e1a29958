"""Annex C: individual fairness, what goes with the outcome, and the rules in short, as report.json has them."""

from __future__ import annotations

import re

from atr.documents.html import ReportPage
from atr.report.model import PublicReport, TreeNode
from tests.helpers import sample
from tests.helpers.tables import tables, text


def leaves(node: TreeNode) -> list[TreeNode]:
    return [node] if node.yes is None or node.no is None else [*leaves(node.yes), *leaves(node.no)]


def test_the_pair_furthest_beyond_its_distance_is_told() -> None:
    report = sample.alike(sample.compas(), measures=("total_variation", "relative"), tolerance=0.1)
    found = tables(report, "like_people")
    shown = [row for label, rows in found.items() if label.startswith("The pair by") for row in rows]
    pairs = [e.pair for e in report.fairness if e.pair]
    assert pairs
    for pair in pairs:
        for values in zip(*(of.values() for of in pair.regions), strict=True):
            assert any(row[3:5] == list(values) for row in shown)
    assert "no weight and must make no difference: sex and race." in text(report, "like_people")
    assert "Kept: at most 10 beyond the declared distance." in text(report, "like_people")


def test_individual_fairness_not_measured_is_left_out() -> None:
    assert "Like people alike" not in text(sample.compas(), "like_people")


def test_attributes_stand_by_what_goes_with_them(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    titles = {a.name: a.title for a in report.attributes}
    (_, *rows) = tables(report, "like_people")["What goes with the outcome"]
    single = sorted((e for e in report.influence if len(e.inputs) == 1), key=lambda e: -e.value)
    assert [row[:4] for row in rows] == [
        [titles[e.inputs[0]], "not stated", f"{100 * e.value:.1f}", f"{100 * (e.shapley or 0):.1f}"] for e in single
    ]
    whole = next(e for e in report.influence if len(e.inputs) > 1)
    assert f"the shares add up to {100 * whole.value:.1f} points" in text(report, "like_people")


def test_what_the_system_uses_is_as_the_programme_says(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    used = {"race": "no", "priors_count": "yes"}
    attributes = tuple(a.model_copy(update={"used_by_system": used.get(a.name, "unknown")}) for a in report.attributes)
    (_, *rows) = tables(report.model_copy(update={"attributes": attributes}), "like_people")[
        "What goes with the outcome"
    ]
    assert {row[0]: row[1] for row in rows} == {
        "race": "no", "prior offences": "yes", "sex": "not stated", "age": "not stated", "charge": "not stated"
    }  # fmt: skip


def test_rates_of_groups_have_influence_and_share(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    (head, *rows) = tables(report, "like_people")["What goes with the rates of groups"]
    race = head.index("race")
    of_race = next(e for e in report.influence if e.inputs == ("race",))
    for g in (g for g in of_race.groups if g.attribute == "race"):
        (row,) = (row for row in rows if row[0] == g.group)
        figures = [float(x.replace("−", "-")) for x in row[race].split()]
        assert figures == [round(100 * g.value, 1), round(100 * (g.shapley or 0), 1)]


def test_every_value_has_the_average_chance(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    rows = tables(report, "like_people")["If everybody had one value"]
    for e in report.influence:
        for d in e.dependence:
            assert any(row[0] == d.value and row[1] == f"{100 * d.chance:.1f}" for row in rows)


def test_the_rules_in_short_are_leaves_in_words_sorted(reports: dict[str, PublicReport]) -> None:
    for name in ("compas", "many", "places", "tall"):
        report = reports[name]
        assert report.surrogate is not None
        (_, *rows) = tables(report, "like_people")["The rules in short"]
        expected = sorted(leaves(report.surrogate.tree), key=lambda leaf: -leaf.chance)
        assert [(row[1], row[2]) for row in rows] == [(f"{n.people:,}", f"{100 * n.chance:.1f}") for n in expected]
        titles = [a.title for a in report.attributes]
        assert all(row[0] == "everybody" or any(f"{title}: " in row[0] for title in titles) for row in rows)


def test_even_chances_need_no_question() -> None:
    kinds = tuple("abcdefghi")
    kind = sample.attribute("kind", "kind", kinds)
    level = sample.attribute("level", "level", ("a", "b"), role="sensitive")
    report = sample.report((kind, level), {((k,), v): (60, 0.4) for k in kinds for v in level.values})
    told = text(report, "like_people")
    assert "All announced chances are the same." in told
    (_, row) = tables(report, "like_people")["The rules in short"]
    assert row[:3] == ["everybody", "1,080", "40.0"]


def test_groups_that_show_no_rules_are_said_to_be_left_out(reports: dict[str, PublicReport]) -> None:
    said = "those whose rules are told by every attribute"
    assert said in text(reports["limits"], "like_people")
    assert said not in text(reports["many"], "like_people")


def test_the_words_claim_no_cause(reports: dict[str, PublicReport]) -> None:
    for name in ("compas", "many", "one", "places"):
        told = text(reports[name], "like_people").lower()
        assert not re.search(r"\b(caus\w*|because|due to|leads? to a|effect\w*|matters?)\b", told)


def test_nothing_announced_has_no_annex_of_tables(reports: dict[str, PublicReport]) -> None:
    assert 'aria-labelledby="like_people"' not in ReportPage(reports["none"], "").screen
