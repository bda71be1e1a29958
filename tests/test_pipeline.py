"""The whole pipeline: known answers, what an outsider can recompute, what a gate refuses, what a killed run leaves."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from atr import pipeline as steps
from atr.errors import PeriodError, ProgrammeError, RefusedError
from atr.mechanisms import mechanism_of
from atr.report.model import PublicReport
from atr.verify import verify
from tests.helpers import series
from tests.helpers.paths import TESTS
from tests.helpers.small_fonts import write_font

quick = pytest.mark.usefixtures("quick")

EQUAL = json.loads((TESTS / "vectors" / "equal_announcements.json").read_text())


def _report(outcome: steps.Draft) -> dict[str, Any]:
    return json.loads((outcome.documents / "report.json").read_text())


def _dossier(outcome: steps.Draft) -> dict[str, Any]:
    return json.loads((outcome.dossier / "dossier.json").read_text())


def _confidence(report: dict[str, Any]) -> float:
    """The maximum confidence as an outsider works it out from the printed numbers."""
    best = Fraction(0)
    for group in report["groups"]:
        for outcome in report["outcomes"]:
            people = [Fraction(str(r["announced"][outcome])) * r["population"] for r in group["regions"]]
            if sum(people):
                best = max(best, max(people) / sum(people))
    return float(best)


@pytest.mark.parametrize(
    ("rates", "stated", "women", "men"), [("free", 0.675, 0.675, 0.6378), ("exact", 0.9, 0.9, 0.648)]
)
@quick
def test_section_8_of_the_paper(tmp_path: Path, rates: str, stated: float, women: float, men: float) -> None:
    path = series.write_series(tmp_path, series.card(50), group_rates=rates)
    outcome = series.publish(path)
    report = _report(outcome)
    assert report["privacy"]["max_confidence"] == stated
    assert report["privacy"]["prior_confidence"] == 0.6
    assert round(_confidence(report) + 0.00049, 3) == stated
    groups = {g["values"][0]: g for g in _dossier(outcome)["groups"]}
    assert round(groups["women"]["beta"], 4) == women
    assert round(groups["men"]["beta"], 4) == men
    for group in report["groups"]:
        for region in group["regions"]:
            people, approvals = series.card(50)[group["public"]["public"], region["sensitive"]["secret"]]
            assert abs(region["announced"]["approved"] - approvals / people) <= 0.1 + 1e-9
    if rates == "exact":
        assert {g["public"]["public"]: g["rate"]["approved"] for g in report["groups"]} == {"women": 0.15, "men": 0.38}
        (parity,) = [f for f in report["fairness"] if f["measure"] == "statistical_parity"]
        assert parity["value"] == 0.225
        assert parity["range"] == [0.225, 0.225]


@pytest.mark.parametrize("pair", EQUAL, ids=[f"{p['objective']}-{p['group_rates']}-{i}" for i, p in enumerate(EQUAL)])
def test_documents_depend_on_the_announced_mapping_alone(
    tmp_path: Path, pair: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    if pair is not EQUAL[0]:  # a PDF is laid out from the other documents, and one pair shows that it is
        request.getfixturevalue("quick")
    published = []
    for side, positives in enumerate(pair["positives"]):
        counts = {
            (f"group {g}", f"r{i}"): (people, approvals)
            for g, group in enumerate(zip(pair["population"], positives, strict=True))
            for i, (people, approvals) in enumerate(zip(*group, strict=True))
        }
        path = series.write_series(
            tmp_path / str(side),
            counts,
            group_rates=pair["group_rates"],
            objective=pair["objective"],
            fidelity={"delta": pair["delta"]},
            max_confidence=pair["max_confidence"],
        )
        outcome = series.publish(path)
        published.append(series.files(outcome.documents))
        published[-1]["dossier"] = (outcome.dossier / "dossier.json").read_bytes()
    dossiers = [files.pop("dossier") for files in published]
    assert dossiers[0] != dossiers[1], "the true rules do differ"
    assert published[0].keys() == published[1].keys()
    for name in published[0]:
        assert published[0][name] == published[1][name], name


@quick
def test_a_refusal_names_what_binds_to_the_reviewer_only(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(10), max_confidence=0.65, fidelity={"delta": 0.95})
    steps.load_log(str(path))
    run = steps.begin(str(path))
    for batch in steps.aggregate(run):
        steps.solve(run, batch)
    with pytest.raises(RefusedError) as caught:
        steps.announce(run)
    assert "women" not in str(caught.value)
    refusal = steps.refuse(run, caught.value)
    assert refusal.exit_code == 3
    assert "women" in refusal.private
    dossier = json.loads((run.programme.store_path / "dossiers" / "2024-v1-refused" / "dossier.json").read_text())
    assert "cannot be reached" in dossier["refusal"]
    assert not (run.programme.store_path / "drafts").exists()
    assert not run.programme.site_path.exists()


@quick
def test_a_refused_period_is_published_once_the_policy_moved(tmp_path: Path) -> None:
    test_a_refusal_names_what_binds_to_the_reviewer_only(tmp_path)
    path = series.write_series(tmp_path, series.card(10))
    assert series.publish(path).release.id == "2024-v1"


@quick
def test_objective_fidelity_takes_the_largest_possible_step(tmp_path: Path) -> None:
    policy = {"objective": "fidelity", "group_rates": "free", "fidelity": {"delta": 0.5}}
    path = series.write_series(tmp_path, series.card(50), max_confidence=0.675, **policy)
    report = _report(series.publish(path))
    assert report["fidelity"] == {"kind": "delta", "level": 0.9, "largest_change": 0.1}
    assert report["policy"]["fidelity"] == {"delta": 0.5}


@quick
def test_small_groups_join_others_may_be_withheld(tmp_path: Path) -> None:
    counts = {
        ("large", "a"): (60, 30), ("large", "b"): (60, 20),
        ("tinies", "a"): (5, 3), ("tinies", "b"): (4, 1),
        ("lopsided", "a"): (990, 100), ("lopsided", "b"): (10, 10),
    }  # fmt: skip
    outcome = series.publish(series.write_series(tmp_path, counts, minimum_group_size=10, population_rounding=1))
    text = (outcome.documents / "report.json").read_text()
    report = json.loads(text)
    joined, withheld = report["groups"]
    assert (joined["status"], joined["public"], joined["joined"], joined["population"]) == ("rest", {}, 2, 129)
    assert (withheld["status"], withheld["public"]) == ("withheld", {"public": "lopsided"})
    assert withheld["population"] is None
    assert report["coverage"]["groups"] == {"announced": 1, "withheld_for_size": 0, "withheld": 1}
    assert report["coverage"]["decisions"] == 1130, (
        "rounded to the minimum size, so that nobody is found by subtraction"
    )
    assert verify(outcome.documents / "report.json") == []


def test_a_report_without_any_group_is_honest(tmp_path: Path) -> None:
    outcome = series.publish(series.write_series(tmp_path, series.card(2), minimum_group_size=1000))
    report = PublicReport.model_validate_json((outcome.documents / "report.json").read_text())
    assert report.coverage.announced_share == 0
    assert report.privacy.max_confidence is None
    assert verify(outcome.documents / "report.json") == []
    assert sorted(series.files(outcome.documents)) == [
        "announced_rules.csv", "fairness.csv", "influence.csv", "manifest.json", "report.html", "report.json",
        "report.pdf",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "policy"),
    [
        ({("one", "a"): (1, 1), ("other", "a"): (1, 0)}, {"minimum_group_size": 1, "population_rounding": 1}),
        ({("one", "a"): (1, 1), ("other", "a"): (1, 0)}, {}),
        (series.one_group([60, 60], [30, 20]), {"digits": 1, "fidelity": {"delta": 0.99}, "max_confidence": 1.0}),
        (series.one_group([60, 60], [30, 20]), {"digits": 2, "fidelity": {"delta": 0.99}, "max_confidence": 1.0}),
    ],
)
@quick
def test_one_is_counted_as_one(tmp_path: Path, counts: dict[tuple[str, str], tuple[int, int]], policy: Any) -> None:
    outcome = series.publish(series.write_series(tmp_path, counts, **policy))
    for path in (
        outcome.documents / "report.html",
        outcome.documents / "report.json",
        outcome.dossier / "dossier.html",
    ):
        text = re.sub(r"<[^>]*>", "", path.read_text())
        assert not re.findall(r"(?<![\d.,−–-])1 (?!was\b|is\b|unless\b)[a-z]+s\b[^.]*", text), path.name


@quick
def test_documents_have_the_fonts_of_the_programme(tmp_path: Path) -> None:
    write_font(tmp_path / "s" / "fonts" / "kanji.ttf", "性別")
    content = series.programme() | {"fonts": "fonts", "title": "性別"}
    draft = steps.publish(series.write_series(tmp_path / "s", series.card(2), content=content))
    for page in (draft.documents / "report.html", draft.dossier / "dossier.html"):
        assert page.read_text(encoding="utf-8").count('font-family:"Supplied') == 1


@quick
def test_the_same_log_says_nothing_new(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    first = series.publish(path)
    before = series.files(first.documents)
    second = series.publish(path)
    assert (first.new, second.new) == (True, False)
    assert second.release == first.release
    assert series.files(second.documents) == before


@quick
def test_a_corrected_log_replaces_the_draft(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    first = series.publish(path)
    series.write_log(tmp_path / "log.csv", {**series.card(2), ("women", "above 200k"): (6, 4)})
    second = series.publish(path)
    assert second.new
    assert second.release.version == 1
    assert second.release.report_sha256 != first.release.report_sha256
    quality = _report(second)["data_quality"]
    assert (quality["decisions"], quality["corrections"]) == (80, 0)


@pytest.mark.long
@quick
def test_a_run_stopped_anywhere_starts_anew_to_the_same_end(tmp_path: Path) -> None:
    path = series.write_series(tmp_path / "a", series.card(50))
    expected = series.files(series.publish(path).documents)
    for stop in range(6):
        again = series.write_series(tmp_path / f"b{stop}", series.card(50))
        steps.load_log(str(again))
        run = steps.begin(str(again))
        batches = steps.aggregate(run)
        rest = [lambda: [steps.solve(run, b) for b in batches], steps.announce, steps.measure, steps.render]  # noqa: B023
        for step in rest[:stop]:
            step(run) if step is not rest[0] else step()
        outcome = series.publish(again)
        assert series.files(outcome.documents) == expected
        assert list((tmp_path / f"b{stop}" / "var" / "test-series" / "runs").iterdir()) == []


@quick
def test_a_period_without_decisions_says_what_the_log_covers(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    steps.load_log(str(path))
    with pytest.raises(PeriodError, match="2024-12-06"):
        steps.begin(str(path), "2023")


@quick
def test_the_last_complete_period_is_the_default(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    rows = [(f"x{i}", day, "women", "above 200k", "yes") for i, day in enumerate(["2024-12-31", "2025-03-01"])]
    with (tmp_path / "log.csv").open("a") as file:
        file.writelines(",".join(row) + "\r\n" for row in rows)
    steps.load_log(str(path))
    assert steps.begin(str(path)).period_label == "2024"


@quick
def test_batches_cover_every_announced_group_once(tmp_path: Path) -> None:
    counts = {(f"g{g:03d}", f"s{s}"): (20 + s, 5 * s) for g in range(150) for s in range(3)}
    path = series.write_series(tmp_path, counts)
    steps.load_log(str(path))
    run = steps.begin(str(path))
    batches = steps.aggregate(run)
    assert len(batches) == 64
    for batch in batches:
        steps.solve(run, batch)
    whole = mechanism_of(run.programme.policy).solve(run.regions.take(run.regions.announced), run.programme.policy)
    pd.testing.assert_frame_equal(whole, run.solved, check_exact=True, check_like=True)


@pytest.mark.parametrize("kind", ["delta", "alpha"])
@quick
def test_the_dossier_has_the_trade_off_of_privacy_and_fidelity(tmp_path: Path, kind: str) -> None:
    outcome = series.publish(series.write_series(tmp_path, series.card(50), max_confidence=1.0, fidelity={kind: 0.88}))
    dossier = _dossier(outcome)
    curves = dossier["curves"]
    assert (curves["kind"], curves["level"]) == (kind, 0.88)
    assert curves["levels"] == sorted(curves["levels"])
    at = curves["levels"].index(0.88)
    of_groups = {tuple(curve["values"]): curve for curve in curves["groups"]}
    for group in dossier["groups"]:
        curve = of_groups[tuple(group["values"])]
        assert curve["limits"] == pytest.approx([group["prior"], group["true_confidence"]])
        assert curve["exact"][at] == pytest.approx(group["beta"], abs=1e-6)
        assert curve["free"][at] <= curve["exact"][at]
    women, men = (curve["exact"] for curve in curves["groups"])
    assert curves["overall"]["exact"] == [max(pair) for pair in zip(women, men, strict=True)]
    html = (outcome.dossier / "dossier.html").read_text()
    assert html.count("<figure") == html.count("<circle") == 3
    assert "which is promised" in html


@quick
def test_a_refused_runs_dossier_shows_how_far_to_move(tmp_path: Path) -> None:
    test_a_refusal_names_what_binds_to_the_reviewer_only(tmp_path)
    folder = tmp_path / "var" / "test-series" / "dossiers" / "2024-v1-refused"
    curves = json.loads((folder / "dossier.json").read_text())["curves"]
    assert curves["level"] == 0.95
    for name in ("exact", "free"):
        reached = [x for x, beta in zip(curves["levels"], curves["overall"][name], strict=True) if beta <= 0.65]
        assert curves[f"reach_{name}"] == reached[-1] < 0.95
    html = (folder / "dossier.html").read_text()
    assert f"can be kept up to δ\u00a0{curves['reach_exact']:g} with exact group rates" in html
    assert "which the policy demands" in html
    moved = tmp_path / "moved"
    policy = {"max_confidence": 0.65, "fidelity": {"delta": curves["reach_exact"]}}
    assert series.publish(series.write_series(moved, series.card(10), **policy)).new


@quick
@pytest.mark.long
def test_a_dossier_of_200_groups_is_no_burden(tmp_path: Path) -> None:
    counts = {
        (f"group {g}", f"r{i}"): (20 + (7 * g + 3 * i) % 9, (5 * g + 11 * i) % 20)
        for g in range(200)
        for i in range(5)
    }  # fmt: skip
    outcome = series.publish(series.write_series(tmp_path, counts, fidelity={"delta": 0.7}))
    html = outcome.dossier / "dossier.html"
    assert html.stat().st_size < 2_000_000
    assert html.read_text().count("<figure") == 7
    assert "The 6 groups that can be protected least" in html.read_text()
    assert len(_dossier(outcome)["curves"]["groups"]) == 200


@quick
def test_the_dossier_has_the_other_yardsticks(tmp_path: Path) -> None:
    outcome = series.publish(series.write_series(tmp_path, series.card(50), group_rates="free"))
    text = (outcome.dossier / "dossier.json").read_text()
    assert not re.search(r"\b(Infinity|NaN)\b", text), "valid JSON"
    women = next(g for g in json.loads(text)["groups"] if g["values"] == ["women"])
    assert women["true_leakage"]["local_differential_privacy"] == "inf"
    assert women["true_leakage"]["likeness_gain"] == pytest.approx(20 / 3 - 1, abs=1e-6)
    assert women["true_leakage"]["minimum_uncertainty"] == 0
    assert women["announced_leakage"]["minimum_uncertainty"] == pytest.approx(
        -np.log(women["announced_confidence"]), abs=1e-6
    )
    assert women["announced_leakage"]["likeness_gain"] < 20 / 3 - 1
    html = (outcome.dossier / "dossier.html").read_text()
    assert '<td class="num">∞</td>' in html


@quick
def test_yardsticks_are_those_an_outsider_works_out(tmp_path: Path) -> None:
    counts = {
        ("a", "r0"): (113, 40), ("a", "r1"): (58, 35), ("a", "r2"): (31, 20),
        ("b", "r0"): (77, 30), ("b", "r1"): (84, 42),
    }  # fmt: skip
    outcome = series.publish(series.write_series(tmp_path, counts, population_rounding=5))
    report = _report(outcome)
    ldp = lift = gain = leaked = 0.0
    for group in report["groups"]:
        total, before, after = group["population"], max(r["population"] for r in group["regions"]), 0.0
        for name in report["outcomes"]:
            chances = [r["announced"][name] for r in group["regions"]]
            people = [r["population"] * r["announced"][name] for r in group["regions"]]
            rate = sum(people) / total
            ldp = max(ldp, np.log(max(chances) / min(chances)))
            lift = max(lift, *(abs(np.log(x / rate)) for x in chances))
            gain = max(gain, max(chances) / rate - 1)
            after += max(people)
        leaked = max(leaked, np.log2(after / before))
    stated = report["privacy"]["leakage"]
    follows = {"ldp": ldp, "log_lift": lift, "likeness_gain": gain, "min_entropy_leakage": leaked}
    assert stated.keys() == follows.keys()
    for name, value in follows.items():
        assert 0 <= stated[name] - value < 0.001 + 1e-9, name
    html = (outcome.documents / "report.html").read_text()
    for row in ("Local differential privacy", "Log-lift", "Likeness gain", "Min-entropy leakage"):
        assert f'<th scope="row">{row}, worst group</th>' in html
    assert verify(outcome.documents / "report.json") == []
    population = tmp_path / "exact.csv"
    series.write_rows(population, ["public", "secret", "population"], [(*k, n) for k, (n, _) in counts.items()])
    assert verify(outcome.documents / "report.json", population=population) == []


@quick
def test_what_is_not_bounded_is_said_to_be(tmp_path: Path) -> None:
    outcome = series.publish(series.write_series(tmp_path, series.card(50)))
    assert _report(outcome)["privacy"]["leakage"]["ldp"] is None
    html = (outcome.documents / "report.html").read_text()
    assert '<th scope="row">Local differential privacy, worst group</th><td>infinite</td>' in html


def test_a_log_that_does_not_fit_leaves_no_new_store(tmp_path: Path, example: Path) -> None:
    programme = example / "card" / "programme.yaml"
    text = programme.read_text()
    programme.write_text(text.replace("positive: ", "positive: un"))
    with pytest.raises(ProgrammeError):
        steps.publish(programme)
    assert not (example / "card" / "var" / "card").exists()
    programme.write_text(text)
    steps.load_log(str(programme))
    programme.write_text(text.replace("positive: ", "positive: un"))
    with pytest.raises(ProgrammeError):
        steps.publish(programme)
    assert (example / "card" / "var" / "card" / "warehouse.duckdb").exists()
