"""Influence in the report: from the printed rules alone, recomputed by an outsider, said in plain words."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from atr.influence import SHAPLEY_UP_TO
from atr.report import annex, charts, derived, importance, model, view
from atr.report.html import report_html
from atr.report.model import PublicReport, TreeNode
from atr.report.verify import verify
from tests import series
from tests.report import sample
from tests.report.test_html import read

EQUAL = Path(__file__).parents[1] / "vectors" / "equal_announcements.json"
Row = dict[str, str]


def rows(content: bytes) -> list[Row]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def without(report: PublicReport) -> PublicReport:
    """A report before its influences are computed."""
    content = json.loads(report.to_json())
    del content["influence"], content["surrogate"]
    return PublicReport.model_validate_json(json.dumps(content))


def test_influence_follows_from_the_rest_of_the_report(reports: dict[str, PublicReport]) -> None:
    for report in reports.values():
        for name in ("influence", "surrogate"):
            assert derived.PARTS[name](without(report)) == getattr(report, name)


def test_an_outsider_works_it_out_from_the_announced_rules(reports: dict[str, PublicReport]) -> None:
    """Every pair of rows of announced_rules.csv: who a person is, and from whom an input is drawn."""
    report = reports["compas"]
    names = [a.name for a in report.attributes]
    rules: dict[tuple[str, ...], tuple[int, float]] = {}
    for row in rows(annex.announced_rules(report)):
        if row["status"] == "announced":
            key = tuple(row.get(f"public.{n}") or row[f"sensitive.{n}"] for n in names)
            rules[key] = int(row["population"]), float(row["announced.low"])
    everybody = sum(people for people, _ in rules.values())
    published = rows(annex.influence(report))
    for i, name in enumerate(names):
        change, rate, people = 0.0, defaultdict(float), defaultdict(int)
        for one, (n, chance) in rules.items():
            drawn = [(m, rules.get((*one[:i], other[i], *one[i + 1 :]))) for other, (m, _) in rules.items()]
            known = [(m, rule[1]) for m, rule in drawn if rule]
            exist = sum(m for m, _ in known)
            change += n * sum(m * abs(chance - x) for m, x in known) / exist
            race = one[names.index("race")]
            rate[race] += n * (chance - sum(m * x for m, x in known) / exist)
            people[race] += n
        mine = [r for r in published if r["inputs"] == name]
        (stated,) = [r["figure"] for r in mine if r["measure"] == "influence"]
        assert float(stated) == pytest.approx(change / everybody, abs=0.00051)
        on_race = {r["value"]: r for r in mine if r["measure"] == "influence_on_rate" and r["attribute"] == "race"}
        assert on_race.keys() == people.keys()
        for race, row in on_race.items():
            assert float(row["figure"]) == pytest.approx(rate[race] / people[race], abs=0.00051)


def test_the_file_says_what_the_report_says(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    found = rows(annex.influence(report))
    dependence = {(r["attribute"], r["value"]): r["figure"] for r in found if r["measure"] == "partial_dependence"}
    shapley = {r["inputs"]: r["figure"] for r in found if r["measure"] == "shapley_value"}
    for e in report.influence:
        assert shapley.get(" + ".join(e.inputs)) == (None if e.shapley is None else f"{e.shapley:.3f}")
        for d in e.dependence:
            assert dependence[e.inputs[0], d.value] == f"{d.chance:.3f}"
    assert "-0.000" not in annex.influence(report).decode()


def test_shapley_values_share_out_the_whole(reports: dict[str, PublicReport]) -> None:
    for name in ("compas", "many", "hostile"):
        *single, whole = reports[name].influence
        assert sum(e.shapley or 0 for e in single) == pytest.approx(whole.value, abs=0.0006 * len(single))
        assert (whole.inputs, whole.covered) == (tuple(a.name for a in reports[name].attributes), 1)


def test_disparity_is_against_the_reference_of_the_fairness_section(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    race = next(e for e in report.influence if e.inputs == ("race",))
    measured = {g.group: g.disparity for g in race.groups if g.attribute == "race"}
    assert measured.pop("Caucasian") is None
    assert all(d is not None for d in measured.values())
    assert measured["African-American"] == pytest.approx(0.122, abs=0.001)


def _many_inputs(count: int) -> PublicReport:
    public = [sample.attribute(f"a{i}", f"Input {i}", ("x", "y"), protected=i == 0) for i in range(count - 1)]
    counts = {
        (tuple("xy"[(i + j) % 3 == 0] for j in range(count - 1)), level): (60 + i, (i + (level == "b")) / 5)
        for i in range(3)
        for level in ("a", "b")
    }
    return sample.report((*public, sample.attribute("level", "Level", ("a", "b"), role="sensitive")), counts)


def test_shapley_values_are_left_out_above_so_many_inputs() -> None:
    for count in (SHAPLEY_UP_TO - 3, SHAPLEY_UP_TO + 1):
        report = _many_inputs(count)
        single = [e for e in report.influence if len(e.inputs) == 1]
        few = count <= SHAPLEY_UP_TO
        assert all((e.shapley is not None) == few for e in single)
        assert all((g.shapley is not None) == few for e in single for g in e.groups)
        text, _ = read(report)
        assert (f"Shapley values are left out: they are computed of {SHAPLEY_UP_TO} inputs at most" in text) != few
        assert "The 6 inputs of most influence; all are in influence.csv" in text


def _leaves(node: TreeNode) -> list[TreeNode]:
    return [node] if node.yes is None or node.no is None else [*_leaves(node.yes), *_leaves(node.no)]


def test_the_tree_is_true_of_the_printed_rules(reports: dict[str, PublicReport]) -> None:
    """Every printed rule goes its way through the tree; people, chances and distances are what comes of it."""
    for name in ("compas", "many", "hostile", "one"):
        report = reports[name]
        assert report.surrogate is not None
        reached: dict[int, list[tuple[int, float]]] = defaultdict(list)
        apart: list[tuple[int, float]] = []
        for group in report.announced_groups:
            for region in group.regions:
                node, chance = report.surrogate.tree, region.announced[report.positive]
                while node.yes is not None and node.no is not None and node.attribute is not None:
                    here = (group.public | region.sensitive)[node.attribute] in node.values
                    node = node.yes if here else node.no
                reached[id(node)].append((region.population, chance))
                apart.append((region.population, abs(chance - node.chance)))
        leaves = _leaves(report.surrogate.tree)
        assert len(leaves) <= 8
        for leaf in leaves:
            inside = reached[id(leaf)]
            people = sum(n for n, _ in inside)
            assert leaf.people == people
            assert leaf.chance == pytest.approx(sum(n * x for n, x in inside) / people, abs=0.00051)
        everybody = sum(n for n, _ in apart)
        mean = sum(n * x for n, x in apart) / everybody
        assert report.surrogate.mean_difference == pytest.approx(mean, abs=0.00051)
        assert report.surrogate.largest_difference == pytest.approx(max(x for _, x in apart), abs=0.00051)


def test_verify_keeps_the_questions_of_another_version(reports: dict[str, PublicReport]) -> None:
    """Another tree than this library would fit is no false statement, if its numbers are true."""
    report = reports["compas"]
    assert report.surrogate is not None
    asked = TreeNode(people=0, chance=0, attribute="sex", values=("Female",), yes=_LEAF, no=_LEAF)
    other = report.model_copy(update={"surrogate": report.surrogate.model_copy(update={"tree": asked})})
    found = derived.PARTS["surrogate"](other)
    assert (found.tree.attribute, found.tree.values) == ("sex", ("Female",))
    assert found.tree.people == report.surrogate.tree.people
    assert found.mean_difference > report.surrogate.mean_difference


_LEAF = TreeNode(people=0, chance=0)


@pytest.mark.usefixtures("quick")
def test_declared_sets_are_measured_together(tmp_path: Path) -> None:
    content = series.programme() | {"influence": {"sets": [["secret", "public"]]}}
    outcome = series.publish(series.write_series(tmp_path, series.card(10), content=content))
    report = json.loads((outcome.documents / "report.json").read_text())
    assert [e["inputs"] for e in report["influence"]] == [["public"], ["secret"], ["secret", "public"]]
    assert report["policy"]["influence_sets"] == [["secret", "public"]]
    assert verify(outcome.documents / "report.json") == []


def _published(folder: Path, counts: dict[tuple[str, str], tuple[int, int]], **policy: Any) -> dict[str, Any]:
    outcome = series.publish(series.write_series(folder, counts, **policy))
    content: dict[str, Any] = json.loads((outcome.documents / "report.json").read_text())
    return content


@pytest.mark.usefixtures("quick")
def test_two_true_mappings_announced_alike_have_the_same_influence(tmp_path: Path) -> None:
    """What is published of the one is published of the other, so nobody learns from influence which it was."""
    pair = json.loads(EQUAL.read_text())[0]
    found = []
    for side, positives in enumerate(pair["positives"]):
        counts = {
            (f"group {g}", f"r{i}"): (people, approvals)
            for g, group in enumerate(zip(pair["population"], positives, strict=True))
            for i, (people, approvals) in enumerate(zip(*group, strict=True))
        }
        policy = {name: pair[name] for name in ("group_rates", "objective", "max_confidence")}
        found.append(_published(tmp_path / str(side), counts, fidelity={"delta": pair["delta"]}, **policy))
    assert pair["positives"][0] != pair["positives"][1]
    assert found[0]["groups"] == found[1]["groups"]
    assert found[0]["influence"] == found[1]["influence"]
    assert found[0]["surrogate"] == found[1]["surrogate"]
    assert any(e["value"] for e in found[0]["influence"])


@pytest.mark.usefixtures("quick")
def test_who_solves_for_the_rules_finds_the_announced_ones(tmp_path: Path) -> None:
    """In one group, partial dependence is the chance itself: the announced one, where that is not the true one."""
    counts = {("all", "a"): (100, 100), ("all", "b"): (100, 0), ("all", "c"): (100, 50)}
    report = _published(tmp_path, counts, fidelity={"delta": 0.7}, max_confidence=0.5)
    announced = [r["announced"]["approved"] for r in report["groups"][0]["regions"]]
    assert announced != [k / n for n, k in counts.values()]
    by_secret = next(e for e in report["influence"] if e["inputs"] == ["secret"])
    assert [d["chance"] for d in by_secret["dependence"]] == announced
    apart = sum(abs(x - y) for x in announced for y in announced) / 9
    assert by_secret["value"] == pytest.approx(apart, abs=0.00051)


def test_the_section_in_words(reports: dict[str, PublicReport]) -> None:
    text, tags = read(reports["compas"])
    report = reports["compas"]
    assert "4 Influence of each input" in text
    most = max((e for e in report.influence if len(e.inputs) == 1), key=lambda e: e.value)
    assert most.inputs == ("priors_count",)
    assert (
        f"Prior offences: drawn at random, it would change the chance of “low” by {100 * most.value:.1f} percentage "
        "points on average."
    ) in text
    assert (
        "African-American: race matters most to the rate of “low”; with it drawn at random, the rate would be" in text
    )
    assert "if everybody had “none”, and" in text
    assert "of the variance of the announced chances (R², weighted by people)" in text
    assert tags.count("svg") == 4
    for term in ("Influence of an input", "Shapley value", "Partial dependence", "Surrogate tree", "[DSZ]"):
        assert term in text


def test_every_figure_of_the_section_is_drawn_and_told(reports: dict[str, PublicReport]) -> None:
    for report in reports.values():
        found = importance.section(report)
        if found is None:
            assert not report.announced_groups
            continue
        assert [b.label for b in found.chart.bars] == [charts.wrap(r.label) for r in found.rows]
        for bar in found.chart.bars:
            assert charts.LEFT - 0.01 <= bar.start <= bar.end <= charts.RIGHT + 0.01
            assert bar.ring is None or charts.LEFT - 0.01 <= bar.ring <= charts.RIGHT + 0.01
        if found.tree is not None:
            assert len(found.tree.leaves) == len(found.tree.boxes) + 1
            assert len(found.tree.edges) == 2 * len(found.tree.boxes)
            assert all(b.x >= 0 and b.x + b.width <= found.tree.leaf_x for b in found.tree.boxes)
            assert all(0 < leaf.y < found.tree.height for leaf in found.tree.leaves)


def test_nothing_announced_nothing_measured(reports: dict[str, PublicReport]) -> None:
    report = reports["none"]
    assert (report.influence, report.surrogate) == ((), None)
    assert "Influence of each input" not in report_html(report, sha256="")
    assert rows(annex.influence(report)) == []


def test_the_number_of_a_section_that_a_text_names() -> None:
    report = sample.grid((2,), 2, notes=())
    method = next(s for s in view.context(report, sha256="")["sections"] if s.id == "method")
    text, _ = read(report)
    assert f"the method in section {method.number}." in text


def test_a_tree_in_json_leaves_out_what_a_leaf_has_not(reports: dict[str, PublicReport]) -> None:
    content = json.loads(reports["compas"].to_json())["surrogate"]["tree"]
    while "yes" in content:
        assert set(content) == {"people", "chance", "attribute", "values", "yes", "no"}
        content = content["yes"]
    assert set(content) == {"people", "chance"}
    assert model.TreeNode.model_validate(content).yes is None
