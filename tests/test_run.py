"""The whole pipeline: known answers, what an outsider can recompute, what a gate refuses, what a killed run leaves."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr import run as steps
from atr.errors import PeriodError, RefusedError
from atr.report.model import PublicReport
from atr.report.verify import verify
from tests import series

quick = pytest.mark.usefixtures("quick")

EQUAL = json.loads((Path(__file__).parent / "vectors" / "equal_announcements.json").read_text())


def _report(outcome: steps.Outcome) -> dict[str, Any]:
    return json.loads((outcome.documents / "report.json").read_text())


def _dossier(outcome: steps.Outcome) -> dict[str, Any]:
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
def test_what_is_published_depends_on_the_announced_mapping_alone(tmp_path: Path, pair: dict[str, Any]) -> None:
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
def test_a_refused_period_can_be_published_after_the_policy_moved(tmp_path: Path) -> None:
    test_a_refusal_names_what_binds_to_the_reviewer_only(tmp_path)
    path = series.write_series(tmp_path, series.card(10))
    assert series.publish(path).release.id == "2024-v1"


@quick
def test_objective_fidelity_takes_the_largest_step_of_the_ladder(tmp_path: Path) -> None:
    policy = {"objective": "fidelity", "group_rates": "free", "fidelity": {"delta": 0.5}}
    path = series.write_series(tmp_path, series.card(50), max_confidence=0.675, **policy)
    report = _report(series.publish(path))
    assert report["fidelity"] == {"kind": "delta", "level": 0.9, "largest_change": 0.1}
    assert report["policy"]["fidelity"] == {"delta": 0.5}


@quick
def test_groups_are_withheld_for_size_and_for_what_is_known_before(tmp_path: Path) -> None:
    counts = {
        ("large", "a"): (60, 30), ("large", "b"): (60, 20),
        ("tinies", "a"): (5, 3), ("tinies", "b"): (4, 1),
        ("lopsided", "a"): (990, 100), ("lopsided", "b"): (10, 10),
    }  # fmt: skip
    outcome = series.publish(series.write_series(tmp_path, counts, minimum_group_size=10, population_rounding=1))
    text = (outcome.documents / "report.json").read_text()
    report = json.loads(text)
    assert [(g["public"]["public"], g["status"]) for g in report["groups"]] == [
        ("large", "announced"),
        ("lopsided", "withheld"),
    ]
    assert report["groups"][1]["population"] is None
    assert report["coverage"]["groups"] == {"announced": 1, "withheld_for_size": 1, "withheld": 1}
    assert report["coverage"]["decisions"] == 1130, (
        "rounded to the minimum size, so that nobody is found by subtraction"
    )
    assert "tinies" not in text
    for name in ("report.html", "fairness.csv", "announced_rules.csv"):
        assert b"tinies" not in (outcome.documents / name).read_bytes()
    assert verify(outcome.documents / "report.json") == []


def test_a_report_without_any_group_is_honest(tmp_path: Path) -> None:
    outcome = series.publish(series.write_series(tmp_path, series.card(2), minimum_group_size=1000))
    report = PublicReport.model_validate_json((outcome.documents / "report.json").read_text())
    assert report.coverage.announced_share == 0
    assert report.privacy.max_confidence is None
    assert verify(outcome.documents / "report.json") == []
    assert sorted(series.files(outcome.documents)) == [
        "announced_rules.csv", "fairness.csv", "manifest.json", "report.html", "report.json", "report.pdf",
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
    assert _report(second)["data_quality"]["corrections"] == 5


@quick
def test_a_run_that_stopped_anywhere_and_was_started_anew_ends_with_the_same_bytes(tmp_path: Path) -> None:
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
    run = steps.begin(str(path), "2023")
    with pytest.raises(PeriodError, match="2024-05-06"):
        steps.aggregate(run)


@quick
def test_by_default_the_last_period_that_the_log_covers_to_its_end(tmp_path: Path) -> None:
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
    assert steps.load_solved(run).group.tolist() == list(range(150))
    whole = steps.announcing.solve(steps.load_regions(run), np.arange(150), run.programme.policy)
    assert np.array_equal(whole.beta, steps.load_solved(run).beta), "batches change nothing, to the last bit"
