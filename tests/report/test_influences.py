"""Influence in the report: from the printed rules alone, recomputed by an outsider, said in plain words."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr.documents import csv as annex
from atr.measures.influence import SHAPLEY_UP_TO
from atr.report import derived, model
from atr.report.model import PublicReport, TreeNode
from atr.verify import verify
from tests.helpers import sample, series
from tests.helpers.paths import TESTS
from tests.helpers.tables import tables, text

EQUAL = TESTS / "vectors" / "equal_announcements.json"
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
            assert derived.DERIVED_FIELDS[name](without(report)) == getattr(report, name)


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
        assert sum(e.rate_shapley or 0 for e in single) == pytest.approx(0, abs=0.0006 * len(single))
        assert whole.groups
        for place, g in enumerate(whole.groups):
            of_group = [e.groups[place] for e in single]
            assert {(o.attribute, o.group) for o in of_group} == {(g.attribute, g.group)}
            assert sum(o.shapley or 0 for o in of_group) == pytest.approx(g.value, abs=0.0006 * len(single))
        assert (whole.inputs, whole.covered) == (tuple(a.name for a in reports[name].attributes), 1)


def test_disparity_is_against_the_reference_of_fairness(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    race = next(e for e in report.influence if e.inputs == ("race",))
    measured = {g.group: g.disparity for g in race.groups if g.attribute == "race"}
    assert measured.pop("Caucasian") is None
    assert all(d is not None for d in measured.values())
    assert measured["African-American"] == pytest.approx(0.122, abs=0.001)


def _many_inputs(count: int) -> PublicReport:
    public = [sample.attribute(f"a{i}", f"input {i}", ("x", "y"), protected=i == 0) for i in range(count - 1)]
    counts = {
        (tuple("xy"[(i + j) % 3 == 0] for j in range(count - 1)), level): (60 + i, (i + (level == "b")) / 5)
        for i in range(3)
        for level in ("a", "b")
    }
    return sample.report((*public, sample.attribute("level", "level", ("a", "b"), role="sensitive")), counts)


def test_shapley_values_are_left_out_above_so_many_inputs() -> None:
    for count in (SHAPLEY_UP_TO - 3, SHAPLEY_UP_TO + 1):
        report = _many_inputs(count)
        single = [e for e in report.influence if len(e.inputs) == 1]
        few = count <= SHAPLEY_UP_TO
        assert all((e.shapley is not None) == few for e in single)
        assert all((g.shapley is not None) == few for e in single for g in e.groups)
        assert (f"are computed of {SHAPLEY_UP_TO} attributes at most" in text(report, "like_people")) != few


def _leaves(node: TreeNode) -> list[TreeNode]:
    return [node] if node.yes is None or node.no is None else [*_leaves(node.yes), *_leaves(node.no)]


def test_the_tree_is_true_of_the_printed_rules(
    reports: dict[str, PublicReport], three: tuple[PublicReport, Path]
) -> None:
    """Every printed rule goes its way through the tree; people, chances and distances are what comes of it."""
    for report in (*(reports[name] for name in ("compas", "many", "hostile", "one")), three[0]):
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
    found = derived.DERIVED_FIELDS["surrogate"](other)
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
def test_mappings_announced_alike_have_the_same_influence(tmp_path: Path) -> None:
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


SOLVED = {
    ("here", "a"): (100, 96), ("here", "b"): (50, 3), ("here", "c"): (70, 35),
    ("there", "a"): (60, 2), ("there", "b"): (120, 118), ("there", "c"): (90, 30),
}  # fmt: skip


def _solved(report: PublicReport) -> dict[tuple[str, ...], float]:
    """The rules as whoever has the published influences and numbers of people solves for them.

    Every partial dependence, and every influence on a rate, is a weighted sum of the chances, by weights that follow
    from the numbers of people: linear equations with one unknown for each rule.
    """
    names = [a.name for a in report.attributes]
    people = {tuple((g.public | r.sensitive)[n] for n in names): r.population for g in report.groups for r in g.regions}
    keys, everybody = list(people), sum(people.values())
    weights, figures = [], []

    def as_they_are(of: dict[tuple[str, ...], float]) -> list[float]:
        return [of.get(key, 0.0) / sum(of.values()) for key in keys]

    for e in report.influence:
        inside = [names.index(n) for n in e.inputs]
        for d in e.dependence:
            weights.append(
                [sum(n for k, n in people.items() if k[1 - inside[0]] == key[1 - inside[0]]) / everybody
                 if key[inside[0]] == d.value else 0.0 for key in keys]
            )  # fmt: skip
            figures.append(d.chance)
        for g in e.groups:
            group = {k: float(n) for k, n in people.items() if k[names.index(g.attribute)] == g.group}
            drawn: dict[tuple[str, ...], float] = defaultdict(float)
            for one, n in group.items():
                for other, m in people.items():
                    drawn[tuple((other if i in inside else one)[i] for i in range(len(names)))] += n * m
            weights.append([a - b for a, b in zip(as_they_are(group), as_they_are(drawn), strict=True)])
            figures.append(g.value)
    found, _, rank, _ = np.linalg.lstsq(np.array(weights), np.array(figures), rcond=None)
    assert rank == len(keys), "the influences tell every rule"
    return dict(zip(keys, found.tolist(), strict=True))


@pytest.mark.usefixtures("quick")
def test_who_solves_for_the_rules_finds_the_announced_ones(tmp_path: Path) -> None:
    """All published influences together give back the announced rules; influences of the true ones would give those."""
    content = series.programme(fidelity={"delta": 0.7}, max_confidence=0.6, digits=4)
    content["attributes"]["secret"]["protected"] = True
    outcome = series.publish(series.write_series(tmp_path, SOLVED, content=content))
    report = PublicReport.model_validate_json((outcome.documents / "report.json").read_text())
    announced = {
        (g.public["public"], r.sensitive["secret"]): r.announced["approved"] for g in report.groups for r in g.regions
    }
    true = {key: k / n for key, (n, k) in SOLVED.items()}
    assert announced.keys() == true.keys()
    assert max(abs(announced[key] - true[key]) for key in true) > 0.1
    assert _solved(report) == pytest.approx(announced, abs=0.002)
    of_the_true = report.model_copy(
        update={
            "groups": tuple(
                g.model_copy(
                    update={
                        "regions": tuple(
                            r.model_copy(update={"announced": {"approved": x, "refused": 1 - x}})
                            for r in g.regions
                            for x in [true[g.public["public"], r.sensitive["secret"]]]
                        )
                    }
                )
                for g in report.groups
            )
        }
    )
    leaking = report.model_copy(update={"influence": derived.DERIVED_FIELDS["influence"](of_the_true)})
    assert _solved(leaking) == pytest.approx(true, abs=0.002)


@pytest.mark.usefixtures("quick")
def test_partial_dependence_in_one_group_is_the_chance(tmp_path: Path) -> None:
    """The announced one, where that is not the true one."""
    counts = {("all", "a"): (100, 100), ("all", "b"): (100, 0), ("all", "c"): (100, 50)}
    report = _published(tmp_path, counts, fidelity={"delta": 0.7}, max_confidence=0.5)
    announced = [r["announced"]["approved"] for r in report["groups"][0]["regions"]]
    assert announced != [k / n for n, k in counts.values()]
    by_secret = next(e for e in report["influence"] if e["inputs"] == ["secret"])
    assert [d["chance"] for d in by_secret["dependence"]] == announced
    apart = sum(abs(x - y) for x in announced for y in announced) / 9
    assert by_secret["value"] == pytest.approx(apart, abs=0.00051)


def test_nothing_announced_nothing_measured(reports: dict[str, PublicReport]) -> None:
    report = reports["none"]
    assert (report.influence, report.surrogate) == ((), None)
    assert rows(annex.influence(report)) == []


def test_a_tree_in_json_leaves_out_what_a_leaf_has_not(reports: dict[str, PublicReport]) -> None:
    content = json.loads(reports["compas"].to_json())["surrogate"]["tree"]
    while "yes" in content:
        assert set(content) == {"people", "chance", "attribute", "values", "yes", "no"}
        content = content["yes"]
    assert set(content) == {"people", "chance"}
    assert model.TreeNode.model_validate(content).yes is None


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[PublicReport, Path]:
    """A published report on three outcomes; the place moves people between the two that are not favourable alone."""
    folder = tmp_path_factory.mktemp("three")
    content = series.programme(digits=4, max_confidence=0.9)
    content["log"]["outcomes"] = {"approved": ["yes"], "refused": ["no"], "deferred": ["later"]}
    people = {
        ("here", "low"): (20, 60, 20), ("here", "high"): (60, 30, 10),
        ("there", "low"): (20, 20, 60), ("there", "high"): (60, 10, 30),
    }  # fmt: skip
    rows, path = [], series.write_series(folder, series.card(2), content=content)
    for (public, secret), amounts in people.items():
        for result, amount in zip(("yes", "no", "later"), amounts, strict=True):
            rows += [(public, secret, result)] * amount
    head = ["id", "day", "public", "secret", "result"]
    series.write_rows(folder / "log.csv", head, ((i, "2024-12-06", *row) for i, row in enumerate(rows)))
    with series.quick():
        documents = series.publish(path).documents
    return PublicReport.model_validate_json((documents / "report.json").read_text()), documents


def test_several_outcomes(three: tuple[PublicReport, Path]) -> None:
    report, documents = three
    assert verify(documents / "report.json") == []
    regions = [
        (g.public["public"], r.sensitive["secret"], r.announced) for g in report.groups for r in g.regions
    ]  # all of the same number of people
    by_public, by_secret, whole = report.influence
    for e, column in ((by_public, 0), (by_secret, 1)):
        for outcome in report.outcomes:
            apart = [
                abs(a[2][outcome] - b[2][outcome]) for a in regions for b in regions if a[1 - column] == b[1 - column]
            ]
            stated = e.value if outcome == report.positive else e.outcomes[outcome]
            assert stated == pytest.approx(sum(apart) / len(apart), abs=1e-4)
    assert by_public.value < 0.01 < by_public.outcomes["refused"]
    assert set(whole.outcomes) == {"refused", "deferred"}
    for d in by_secret.dependence:
        chances = [c["approved"] for _, secret, c in regions if secret == d.value]
        assert d.chance == pytest.approx(sum(chances) / 2, abs=1e-4)
    assert report.surrogate is not None
    assert report.surrogate.tree.attribute == "secret"
    found = [r for r in rows(annex.influence(report)) if (r["measure"], r["inputs"]) == ("influence", "public")]
    assert {r["outcome"]: float(r["figure"]) for r in found} == {"approved": by_public.value, **by_public.outcomes}


def test_verify_recomputes_each_figure_of_several_outcomes(three: tuple[PublicReport, Path], tmp_path: Path) -> None:
    report, _ = three
    _, of, whole = report.influence
    last = of.dependence[-1]
    assert (of.against, last.value, last.shared) == ("high", "low", 1)
    forged = (
        {"outcomes": of.outcomes | {"refused": 0.0}},
        {"outcomes": {}},
        {"rate": 0.5},
        {"rate_shapley": 0.5},
        {"rate_shapley": None},
        {"against": last.value},
        {"dependence": (of.dependence[0], last.model_copy(update={"difference": 0.0}))},
        {"dependence": (of.dependence[0], last.model_copy(update={"shared": 0.5}))},
        {"dependence": (of.dependence[0], last.model_copy(update={"difference": None, "shared": None}))},
    )
    for change in forged:
        changed = report.model_copy(update={"influence": (report.influence[0], of.model_copy(update=change), whole)})
        path = tmp_path / "report.json"
        path.write_text(changed.to_json(), encoding="utf-8")
        assert verify(path), change


def test_two_outcomes_are_told_of_once(reports: dict[str, PublicReport]) -> None:
    assert "outcomes" not in json.loads(reports["compas"].to_json())["influence"][0]
    assert "Alone, for each outcome" not in text(reports["compas"], "like_people")


def test_several_outcomes_have_a_table(three: tuple[PublicReport, Path]) -> None:
    report, _ = three
    _, *rows = tables(report, "like_people")["Alone, for each outcome"]
    by_public = report.influence[0]
    (row,) = (row for row in rows if row[0] == "public")
    assert row[1:] == [f"{100 * x:.2f}" for x in (by_public.value, *by_public.outcomes.values())]
    for e in report.influence:
        assert set(e.outcomes) == {"refused", "deferred"}
