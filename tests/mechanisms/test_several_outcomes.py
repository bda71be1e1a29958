"""Several outcomes, several sensitive attributes and named protected sets, through the whole pipeline."""

from __future__ import annotations

import copy
import csv
import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from atr.dossier.curves import FEW_LEVELS
from atr.errors import ProgrammeError
from atr.programme import load
from atr.verify import verify
from tests.helpers import series

pytestmark = pytest.mark.usefixtures("quick")

OUTCOMES = {"granted": ["yes"], "referred": ["maybe"], "refused": ["no"]}


def _series(folder: Path, *, outcomes: int = 3, attributes: int = 2, sets: bool = True, **policy: Any) -> Path:
    """A log of 4,000 people in four groups, by income and (if asked for) health, both sensitive."""
    drawn = random.Random(7)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "day", "sex", "area", "income", "health", "result"])
        for n in range(4000):
            income = drawn.choices(["low", "middle", "high"], [5, 4, 3])[0]
            health = drawn.choices(["well", "ill"], [3, 2])[0]
            weights = {"low": [1, 2, 5], "middle": [3, 3, 3], "high": [6, 2, 1]}[income]
            result = drawn.choices(["yes", "maybe", "no"], [w + (health == "ill") for w in weights])[0]
            sex, area = drawn.choice("fm"), drawn.choice(["town", "country"])
            writer.writerow([n, "2024-12-06", sex, area, income, health, result])
    content = series.programme(**{"max_confidence": 0.9, **policy})
    content["log"]["outcomes"] = OUTCOMES if outcomes == 3 else {"granted": ["yes"], "refused": ["maybe", "no"]}
    content["log"]["positive"] = "granted"
    content["attributes"] = {
        "sex": {"role": "public", "protected": True, "reference": "m"},
        "area": {"role": "public", "legitimate": True},
        "income": {"role": "sensitive", "title": "income"},
        "health": {"role": "sensitive", "title": "health", "protected": True},
    }
    if sets:
        content["attributes"]["income"]["sets"] = {"not low": ["middle", "high"]}
    if attributes == 1:
        del content["attributes"]["health"]
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def _confidence(report: dict[str, Any], named: dict[str, dict[str, list[str]]]) -> Fraction:
    """How sure a reader of the printed numbers can be, written down from the definition."""
    unit = 10 ** report["policy"]["digits"]
    surest = Fraction(0)
    for group in report["groups"]:
        if group["status"] != "announced":
            continue
        sets: list[list[dict[str, Any]]] = []
        for attribute in [a["name"] for a in report["attributes"] if a["role"] == "sensitive"]:
            values = {r["sensitive"][attribute] for r in group["regions"]}
            wanted = [{v} for v in values] + [set(v) for v in named.get(attribute, {}).values()]
            sets += [[r for r in group["regions"] if r["sensitive"][attribute] in w] for w in wanted]
        for outcome in report["outcomes"]:

            def people(regions: list[dict[str, Any]], outcome: str = outcome) -> int:
                return sum(r["population"] * round(r["announced"][outcome] * unit) for r in regions)

            total = people(group["regions"])
            surest = max([surest, *(Fraction(people(s), total) for s in sets if total)])
    return surest


def _yardsticks(report: dict[str, Any], group: dict[str, Any], named: dict[str, dict[str, list[str]]]) -> list[float]:
    """γ, LDP, log-lift, gain and min-entropy leakage of the printed numbers, written down from the definitions."""
    surest = ldp = lift = gain = leaked = 0.0

    def people(outcome: str | None, **having: str) -> float:
        inside = [r for r in group["regions"] if having.items() <= r["sensitive"].items()]
        return sum(r["population"] * (r["announced"][outcome] if outcome else 1) for r in inside)

    for attribute in [a["name"] for a in report["attributes"] if a["role"] == "sensitive"]:
        values = sorted({r["sensitive"][attribute] for r in group["regions"]})
        before = {v: people(None, **{attribute: v}) for v in values}
        after = 0.0
        for outcome in report["outcomes"]:
            got = {v: people(outcome, **{attribute: v}) for v in values}
            rate = people(outcome) / people(None)
            chances = [got[v] / before[v] for v in values]
            together = [set(members) & set(values) for members in named.get(attribute, {}).values()]
            for held in [{v} for v in values] + together:
                surest = max(surest, sum(got[v] for v in held) / people(outcome))
            ldp = max(ldp, math.log(max(chances) / min(chances)))
            lift = max(lift, *(abs(math.log(x / rate)) for x in chances))
            gain = max(gain, max(chances) / rate - 1)
            after += max(got.values())
        leaked = max(leaked, math.log2(after / max(before.values())))
    return [-math.log(surest), ldp, lift, gain, leaked]


YARDSTICKS = ("min_uncertainty", "ldp", "log_lift", "likeness_gain", "min_entropy_leakage")


@pytest.mark.parametrize(("outcomes", "attributes", "sets"), [(3, 1, False), (2, 2, False), (2, 1, True), (3, 2, True)])
def test_yardsticks_are_those_of_the_printed_numbers(
    tmp_path: Path, outcomes: int, attributes: int, sets: bool
) -> None:
    outcome = series.publish(_series(tmp_path, outcomes=outcomes, attributes=attributes, sets=sets))
    report = json.loads((outcome.documents / "report.json").read_text())
    named = {"income": {"not low": ["middle", "high"]}} if sets else {}
    each = [_yardsticks(report, group, named) for group in report["groups"]]
    for group, follow in zip(report["groups"], each, strict=True):
        stated = [group["leakage"][name] for name in YARDSTICKS]
        assert 0 <= follow[0] - stated[0] < 0.001 + 1e-9
        assert all(0 <= s - f < 0.001 + 1e-9 for s, f in zip(stated[1:], follow[1:], strict=True)), group["id"]
    worst = [max(column) for column in list(zip(*each, strict=True))[1:]]
    stated = [report["privacy"]["leakage"][name] for name in YARDSTICKS[1:]]
    assert all(0 <= s - w < 0.001 + 1e-9 for s, w in zip(stated, worst, strict=True))
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    for group in dossier["groups"]:
        assert math.exp(-group["true_leakage"]["minimum_uncertainty"]) == pytest.approx(
            group["true_confidence"], abs=1e-5
        )


def test_curves_of_programmes_meet_the_optimum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atr.dossier.curves.FEW_LEVELS", FEW_LEVELS)
    outcome = series.publish(_series(tmp_path, fidelity={"delta": 0.88}))
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    curves = dossier["curves"]
    assert len(curves["levels"]) == 10
    at, groups = curves["levels"].index(0.88), {tuple(g["values"]): g for g in dossier["groups"]}
    assert len(curves["groups"]) == 4
    for curve in curves["groups"]:
        group = groups[tuple(curve["values"])]
        assert curve["exact"][at] == pytest.approx(group["beta"], abs=1e-6)
    assert curves["overall"]["exact"][at] == max(g["exact"][at] for g in curves["groups"])


@pytest.mark.parametrize(("most", "drawn"), [(40, 2), (10, 0)])
def test_too_many_linear_programmes_are_not_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, drawn: int
) -> None:
    monkeypatch.setattr("atr.dossier.curves.MOST_REGIONS_TIMES_OUTCOMES", most)
    outcome = series.publish(_series(tmp_path))
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    html = (outcome.dossier / "dossier.html").read_text()
    assert html.count("<figure") == drawn
    if drawn:
        assert dossier["curves"]["overall"] is None
        least = sorted(dossier["groups"], key=lambda g: -g["beta"])[:drawn]
        assert [g["values"] for g in dossier["curves"]["groups"]] == [g["values"] for g in least]
        assert "2 of 4 groups were computed" in html
        assert "The ceiling of" not in html
    else:
        assert dossier["curves"] is None
        assert "too many regions here to draw one" in html


@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
@pytest.mark.parametrize(("outcomes", "attributes", "sets"), [(3, 1, False), (2, 2, False), (2, 1, True), (3, 2, True)])
def test_a_whole_run(tmp_path: Path, outcomes: int, attributes: int, sets: bool, rates: str) -> None:
    path = _series(tmp_path, outcomes=outcomes, attributes=attributes, sets=sets, group_rates=rates)
    outcome = series.publish(path)
    report = json.loads((outcome.documents / "report.json").read_text())
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    assert [c["name"] for c in dossier["checks"] if not c["passed"]] == []
    assert verify(outcome.documents / "report.json") == []
    assert report["coverage"]["groups"]["announced"] == 4
    assert all(len(r["announced"]) == outcomes for g in report["groups"] for r in g["regions"])
    named = {"income": {"not low": ["middle", "high"]}} if sets else {}
    by_print = _confidence(report, named)
    assert by_print <= Fraction(str(report["privacy"]["max_confidence"])) <= Fraction("0.9")
    ((attribute, value),) = report["privacy"]["binding_set"].items()
    assert value in named.get(attribute, {}) or value in {
        r["sensitive"][attribute] for r in report["groups"][0]["regions"]
    }
    html = (outcome.documents / "report.html").read_text()
    assert "What the reader is surest of there" in html
    if rates == "exact":
        exact = [f for f in report["fairness"] if f["attribute"] == "sex" and f["measure"] == "statistical_parity"]
        assert all(high - low <= (0.003 if outcomes == 3 else 0.001) for f in exact for low, high in [f["range"]])


def test_exact_populations_give_the_stated_confidence(tmp_path: Path) -> None:
    outcome = series.publish(_series(tmp_path, population_rounding=1))
    report = json.loads((outcome.documents / "report.json").read_text())
    surest = _confidence(report, {"income": {"not low": ["middle", "high"]}})
    stated = Fraction(str(report["privacy"]["max_confidence"]))
    assert 0 <= stated - surest < Fraction(1, 1000)


@pytest.mark.long
def test_verify_finds_what_was_changed(tmp_path: Path) -> None:
    outcome = series.publish(_series(tmp_path, population_rounding=1))
    report = json.loads((outcome.documents / "report.json").read_text())

    def findings(change: Any) -> list[str]:
        changed = copy.deepcopy(report)
        change(changed)
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        return [str(f) for f in verify(tmp_path / "changed.json")]

    def swap(changed: dict[str, Any]) -> None:
        announced = changed["groups"][0]["regions"][0]["announced"]
        announced["referred"], announced["refused"] = announced["refused"], announced["referred"]

    def parity(changed: dict[str, Any]) -> None:
        entry = next(f for f in changed["fairness"] if f["measure"] == "statistical_parity")
        entry["value"] = round(entry["value"] + 0.001, 3)

    assert findings(lambda r: None) == []
    for name in YARDSTICKS[1:]:
        for told, where in ((lambda r: r["privacy"], "privacy"), (lambda r: r["groups"][1], "g2")):

            def last_digit(changed: dict[str, Any], told: Any = told, name: str = name) -> None:
                leakage = told(changed)["leakage"]
                leakage[name] = round(leakage[name] + 0.001, 3)

            assert any(found.startswith(f"{where}.leakage.{name}") for found in findings(last_digit))
    assert findings(swap)
    assert findings(parity)
    assert findings(lambda r: r["privacy"].update(binding_set={"health": "well"}))
    assert findings(lambda r: r["attributes"][2].update(sets={}))
    assert findings(lambda r: r["groups"][0]["rate"].update(refused=round(r["groups"][0]["rate"]["refused"] + 0.02, 2)))


def test_more_outcomes_than_a_report_can_tell_of(tmp_path: Path) -> None:
    path = _series(tmp_path)
    content = yaml.safe_load(path.read_text())
    content["log"]["outcomes"] = {"granted": ["yes"], **{f"o{i}": [f"r{i}"] for i in range(8)}}
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ProgrammeError, match="8 at most"):
        load(path)
