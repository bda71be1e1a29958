"""Ceilings of their own: of sensitive attributes and of named sets, from the programme to the verified report."""

from __future__ import annotations

import copy
import csv
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from atr.core.announcement import Announcement
from atr.core.protected import Label, OwnCeiling, Protection
from atr.core.regions import Regions
from atr.documents.html import ReportPage
from atr.errors import ProgrammeError, RefusedError
from atr.programme import Programme, load
from atr.verify import verify
from tests.helpers import series, whole

quick = pytest.mark.usefixtures("quick")

OUTCOMES = {"granted": ["yes"], "referred": ["maybe"], "refused": ["no"]}
HEALTH, WEALTH = 0.72, 0.7


def _series(folder: Path, *, outcomes: int = 3, own: bool = True, **policy: Any) -> Path:
    """A log of 3,000 people by income and health; health and a set of incomes have ceilings of their own."""
    drawn = random.Random(5)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "day", "sex", "income", "health", "result"])
        for n in range(3000):
            income = drawn.choices(["low", "middle", "high"], [5, 4, 3])[0]
            health = drawn.choices(["well", "ill"], [3, 2])[0]
            weights = {"low": [1, 2, 7], "middle": [3, 3, 3], "high": [7, 2, 1]}[income]
            result = drawn.choices(["yes", "maybe", "no"], [w + 3 * (health == "ill") for w in weights])[0]
            writer.writerow([n, "2024-12-06", drawn.choice("fm"), income, health, result])
    content = series.programme(**{"max_confidence": 0.9, "population_rounding": 1, **policy})
    content["log"]["outcomes"] = OUTCOMES if outcomes == 3 else {"granted": ["yes"], "refused": ["maybe", "no"]}
    content["log"]["positive"] = "granted"
    content["attributes"] = {
        "sex": {"role": "public", "protected": True, "reference": "m"},
        "income": {"role": "sensitive", "title": "income", "sets": {"not low": ["middle", "high"]}},
        "health": {"role": "sensitive", "title": "health"},
    }
    if own:
        content["attributes"]["income"]["sets"] = {"not low": {"values": ["middle", "high"], "max_confidence": WEALTH}}
        content["attributes"]["health"]["max_confidence"] = HEALTH
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def _published(path: Path) -> tuple[dict[str, Any], dict[str, Any], Path]:
    outcome = series.publish(path)
    report, page = ((outcome.documents / "report.json"), (outcome.dossier / "dossier.json"))
    html = {"html": page.with_suffix(".html").read_text()}
    return json.loads(report.read_text()), json.loads(page.read_text()) | html, outcome.documents


def _sure(report: dict[str, Any], attribute: str, values: set[str], *, prior: bool = False) -> Fraction:
    """How sure a reader of the printed numbers can be that a person has one of some values, by the definition."""
    unit, surest = 10 ** report["policy"]["digits"], Fraction(0)
    for group in report["groups"]:
        for outcome in report["outcomes"]:
            got = [
                (r, r["population"] * (1 if prior else round(r["announced"][outcome] * unit))) for r in group["regions"]
            ]
            total = sum(n for _, n in got)
            inside = sum(n for r, n in got if r["sensitive"][attribute] in values)
            surest = max(surest, Fraction(inside, total) if total else Fraction(0))
    return surest


@quick
@pytest.mark.parametrize("outcomes", [2, 3])
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_a_whole_run(tmp_path: Path, outcomes: int, rates: str) -> None:
    path = _series(tmp_path / "own", outcomes=outcomes, group_rates=rates, fidelity={"delta": 0.8})
    report, page, documents = _published(path)
    assert verify(documents / "report.json") == []
    privacy, unit = report["privacy"], 10 ** report["policy"]["digits"]
    assert [(o["attribute"], o["set"], o["ceiling"]) for o in privacy["own_ceilings"]] == [
        ("income", "not low", WEALTH),
        ("health", None, HEALTH),
    ]
    health = [{"well"}, {"ill"}]
    for own, attribute, sets in zip(
        privacy["own_ceilings"], ("income", "health"), ([{"middle", "high"}], health), strict=True
    ):
        for name, prior in (("max_confidence", False), ("prior_confidence", True)):
            surest = max(_sure(report, attribute, values, prior=prior) for values in sets)
            assert Fraction(str(own[name])) == Fraction(-(-surest * unit // 1), unit)
        assert own["prior_confidence"] <= own["max_confidence"] <= own["ceiling"]
    incomes = [{"low"}, {"middle"}, {"high"}, {"middle", "high"}]
    surest = max([_sure(report, "income", v) for v in incomes] + [_sure(report, "health", v) for v in health])
    assert Fraction(str(privacy["max_confidence"])) == Fraction(-(-surest * unit // 1), unit)
    infos = {a["name"]: a for a in report["attributes"]}
    assert infos["health"]["max_confidence"] == HEALTH
    assert "max_confidence" not in infos["income"]
    assert infos["income"]["sets_max_confidence"] == {"not low": WEALTH}
    assert page["factors"] == {"income, not low": 0.777777, "health": 0.8}
    assert [c for c in page["checks"] if not c["passed"]] == []
    assert all(g["announced_confidence"] <= 0.9 for g in page["groups"])
    html = (documents / "report.html").read_text()
    assert "for “not low” in income 70%" in html
    assert "“not low” in income: at most " in html
    assert "Some ceilings are stricter than that of the policy, 0.9." in page["html"]
    assert "Its ceiling for health" in html
    assert "measured against its ceiling" in html


@quick
def test_own_ceilings_change_what_is_announced(tmp_path: Path) -> None:
    policy: dict[str, Any] = {"objective": "fidelity", "fidelity": {"delta": 0.5}}
    kept = [_published(_series(tmp_path / str(own), own=own, **policy))[0] for own in (False, True)]
    before, after = (_sure(report, "income", {"middle", "high"}) for report in kept)
    assert before > Fraction(str(WEALTH)) >= after
    assert "own_ceilings" not in kept[0]["privacy"]


@quick
def test_a_ceiling_that_is_the_policys_changes_no_byte(tmp_path: Path) -> None:
    """In the printed digits: 0.9004 is 0.900."""
    made = []
    for own in (False, True):
        path = _series(tmp_path / str(own), own=False, max_confidence=0.9004)
        if own:
            content = yaml.safe_load(path.read_text())
            content["attributes"]["health"]["max_confidence"] = 0.9001
            content["attributes"]["income"]["sets"]["not low"] = {
                "values": ["middle", "high"],
                "max_confidence": 0.9004,
            }
            path.write_text(yaml.safe_dump(content, sort_keys=False))
        outcome = series.publish(path)
        made.append(series.files(outcome.documents) | series.files(outcome.dossier))
    assert made[0] == made[1]


@quick
def test_a_refusal_names_the_set_that_binds(tmp_path: Path) -> None:
    path = _series(tmp_path, own=True, fidelity={"delta": 0.97}, minimum_group_size=1)
    with pytest.raises(RefusedError, match=r"0\.9 or a ceiling of its own cannot be reached") as caught:
        series.publish(path)
    assert "\n  m: needs 0.80 for income: not low" in caught.value.private
    assert "income: not low" not in str(caught.value)


@quick
@pytest.mark.parametrize("outcomes", [2, 3])
def test_groups_above_an_own_ceiling_flattened_or_withheld(tmp_path: Path, outcomes: int) -> None:
    for answer, status in (("flatten", "flattened"), ("withhold", "withheld")):
        path = _series(tmp_path / answer, outcomes=outcomes, unattainable=answer)
        content = yaml.safe_load(path.read_text())
        content["attributes"]["health"]["max_confidence"] = 0.55
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        report, _, documents = _published(path)
        assert {g["status"] for g in report["groups"]} == {status}
        assert verify(documents / "report.json") == []
        assert "own_ceilings" not in report["privacy"]
        html = (documents / "report.html").read_text()
        assert "for health 55%" in html
        assert [g for g in report["groups"] if g.get("regions")] == []


# --- reports that were tampered with

TAMPERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a smaller confidence": lambda r: _step(r["privacy"]["own_ceilings"][0], "max_confidence", -1),
    "a larger confidence": lambda r: _step(r["privacy"]["own_ceilings"][1], "max_confidence", 1),
    "a smaller prior": lambda r: _step(r["privacy"]["own_ceilings"][1], "prior_confidence", -1),
    "a larger prior": lambda r: _step(r["privacy"]["own_ceilings"][0], "prior_confidence", 1),
    "another ceiling": lambda r: _step(r["privacy"]["own_ceilings"][0], "ceiling", 1),
    "another set": lambda r: r["privacy"]["own_ceilings"][0].update(set=None),
    "one left out": lambda r: r["privacy"]["own_ceilings"].pop(),
    "all left out": lambda r: r["privacy"].pop("own_ceilings"),
    "another order": lambda r: r["privacy"]["own_ceilings"].reverse(),
    "no ceiling of the attribute": lambda r: r["attributes"][2].pop("max_confidence"),
    "a ceiling of a public attribute": lambda r: r["attributes"][0].update(max_confidence=0.5),
    "a ceiling of no set": lambda r: r["attributes"][1]["sets_max_confidence"].update(none=0.5),
    "a laxer ceiling": lambda r: _ceiling(r, 0.95),
    "a ceiling of nothing": lambda r: _ceiling(r, 0.0004),
    "a ceiling that is not kept": lambda r: _ceiling(r, 0.61),
    "another note": lambda r: r["notes"][0].update(id="flattened"),
}


def _step(of: dict[str, Any], name: str, by: int) -> None:
    of[name] = round(of[name] + by / 1000, 3)


def _ceiling(report: dict[str, Any], ceiling: float) -> None:
    report["attributes"][2]["max_confidence"] = ceiling
    report["privacy"]["own_ceilings"][1]["ceiling"] = ceiling


def _found(folder: Path, content: dict[str, Any]) -> list[str]:
    (folder / "report.json").write_text(json.dumps(content), encoding="utf-8")
    return [str(finding) for finding in verify(folder / "report.json")]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report with exact populations."""
    with series.quick():
        return _published(_series(tmp_path_factory.mktemp("honest"), fidelity={"delta": 0.8}))[0]


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_report_is_found(name: str, honest: dict[str, Any], tmp_path: Path) -> None:
    forged = copy.deepcopy(honest)
    assert _found(tmp_path, forged) == []
    TAMPERED[name](forged)
    assert _found(tmp_path, forged)


# --- faults of a programme

FAULTS = [
    ({"health": {"max_confidence": 0.95}}, "health.max_confidence", "0.95 is above policy.max_confidence, 0.9"),
    ({"health": {"max_confidence": 0.0004}}, "health.max_confidence", "0.0004 is 0 in the 3 printed digits"),
    ({"health": {"max_confidence": 0}}, "health.max_confidence", "must be above 0, not 0"),
    ({"health": {"max_confidence": "half"}}, "health.max_confidence", "must be a number, not 'half'"),
    ({"sex": {"max_confidence": 0.5}}, "sex.max_confidence", "of a sensitive attribute"),
    (
        {"income": {"sets": {"rich": {"values": ["high"], "max_confidence": 0.95}}}},
        "income.sets.rich.max_confidence",
        "0.95 is above policy.max_confidence, 0.9",
    ),
    ({"income": {"sets": {"rich": {"max_confidence": 0.5}}}}, "income.sets.rich.values", "this key is missing"),
    ({"income": {"sets": {"rich": {"values": []}}}}, "income.sets.rich.values", "has no value"),
    (
        {"income": {"sets": {"rich": {"values": ["high"], "ceiling": 0.5}}}},
        "income.sets.rich.ceiling",
        "unknown key; the keys here are values, max_confidence",
    ),
    (
        {"income": {"sets": {"rich": {"values": ["high"], "max_confidense": 0.5}}}},
        "income.sets.rich.max_confidense",
        "did you mean 'max_confidence'?",
    ),
    ({"income": {"sets": {"rich": 3}}}, "income.sets.rich", "must be a list, as in [a, b], not 3"),
]


@pytest.mark.parametrize(("change", "where", "message"), FAULTS)
def test_a_fault_is_one_clear_message(tmp_path: Path, change: dict[str, Any], where: str, message: str) -> None:
    path = _series(tmp_path, own=False)
    content = yaml.safe_load(path.read_text())
    for name, keys in change.items():
        content["attributes"][name] |= keys
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    with pytest.raises(ProgrammeError) as caught:
        load(path)
    text = str(caught.value)
    assert f", attributes.{where}: " in text
    assert message in text
    assert "mistakes" not in text
    line = path.read_text().splitlines()[int(text.split(", line ")[1].split(",")[0]) - 1]
    assert line.strip().startswith("rich:" if message == "this key is missing" else where.split(".")[-1])


def test_named_sets_have_the_ceiling_of_the_values(tmp_path: Path) -> None:
    path = _series(tmp_path, own=False)
    content = yaml.safe_load(path.read_text())
    content["attributes"]["income"] |= {
        "max_confidence": 0.6,
        "sets": {
            "as the values": ["low", "middle"],
            "laxer": {"values": ["middle", "high"], "max_confidence": 0.8},
            "the policy's": {"values": ["low", "high"], "max_confidence": 0.9},
        },
    }
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    protection = load(path).protection
    assert protection.own_ceilings == (
        OwnCeiling("income", None, 0.6, 0.666666),
        OwnCeiling("income", "as the values", 0.6, 0.666666),
        OwnCeiling("income", "laxer", 0.8, 0.888888),
    )
    labels = [("low", False), ("as the values", True), ("laxer", True), ("the policy's", True)]
    assert [protection.factor(Label("income", *label)) for label in labels] == [0.666666, 0.666666, 0.888888, 1]
    assert protection.factor(Label("health", "low")) == 1


def test_a_set_named_like_a_value_does_not_replace_it() -> None:
    protection = Protection(("income",), (("income", "low", ("middle", "high")),))
    assert protection.sets([("low",), ("middle",), ("high",)], [0, 3]).members.tolist() == [0, 1, 2, 1, 2]


# --- over random logs

SETS = {"first two": ("s0", "s1"), "last": ("s2",)}


@st.composite
def _logs(draw: st.DrawFn) -> tuple[Programme, Regions]:
    outcomes = draw(st.sampled_from([2, 3]))
    ceiling = draw(st.sampled_from([0.8, 0.955, 1.0]))
    content = series.programme(
        unattainable=draw(st.sampled_from(["flatten", "withhold"])),
        group_rates=draw(st.sampled_from(["exact", "free"])),
        objective=draw(st.sampled_from(["privacy", "fidelity"])),
        fidelity={"delta": draw(st.sampled_from([0.3, 0.7, 0.9]))},
        max_confidence=ceiling,
        minimum_group_size=draw(st.sampled_from([1, 10])),
        population_rounding=draw(st.sampled_from([1, 5])),
        digits=draw(st.integers(2, 4)),
    )
    own = st.none() | st.sampled_from([0.6, 0.6667, 0.75, 0.7777, ceiling])
    names = ["secret", "other"][: draw(st.integers(1, 2))]
    content["attributes"] = {"public": {"role": "public"}}
    for name in names:
        content["attributes"][name] = {"role": "sensitive", "max_confidence": draw(own)}
    chosen = draw(st.sets(st.sampled_from(sorted(SETS))))
    if not chosen and all(a.get("max_confidence") is None for a in content["attributes"].values()):
        content["attributes"]["secret"]["max_confidence"] = 0.7
    content["attributes"]["secret"]["sets"] = {
        name: {"values": SETS[name], "max_confidence": draw(own)} for name in sorted(chosen)
    }
    groups, rows = [], []
    for group in ("one", "two", "three")[: draw(st.integers(1, 3))]:
        cells = [(f"s{i}", f"o{k}")[: len(names)] for i in range(3) for k in range(len(names))]
        people = draw(st.sampled_from([st.integers(0, 60), st.integers(20, 60), st.integers(10, 300)]))
        counts = [[draw(people) for _ in range(outcomes)] for _ in cells]
        present = [(cell, count) for cell, count in zip(cells, counts, strict=True) if sum(count)]
        groups += [(group, len(present))] if present else []
        rows += present
    if not rows:
        groups, rows = [("one", 1)], [(("s0", "o0")[: len(names)], [3] * outcomes)]
    programme = Programme.model_validate(content)
    return programme, Regions(
        public=("public",),
        protection=programme.protection,
        outcomes=("approved", "refused", "referred")[:outcomes],
        group_values=tuple((name,) for name, _ in groups),
        region_values=tuple(cell for cell, _ in rows),
        counts=np.array([count for _, count in rows], dtype=np.int64),
        offsets=np.cumsum([0, *(size for _, size in groups)], dtype=np.int64),
    )


def _ceiling_of(programme: Programme, attribute: str, name: str | None) -> Fraction:
    """The ceiling of a named set, or of a value (None), as the programme says."""
    of = programme.attributes[attribute]
    own = (of.named[name].max_confidence if name is not None else None) or of.max_confidence
    return Fraction(str(own or programme.policy.max_confidence))


def _each_set(announced: Announcement, programme: Programme) -> list[tuple[int, str, str | None, Fraction, Fraction]]:
    """For each group and protected set: its confidence and prior, by the definition, the larger of both populations."""
    found = []
    for g in range(len(announced.groups)):
        cells = range(int(announced.offsets[g]), int(announced.offsets[g + 1]))
        for place, attribute in enumerate(programme.names(role="sensitive")):
            column = {i: announced.region_values[i][place] for i in cells}
            sets: list[tuple[str | None, set[str]]] = [(None, {value}) for value in column.values()]
            sets += [(name, set(s.values)) for name, s in programme.attributes[attribute].named.items()]
            for name, values in sets:
                sure = prior = Fraction(0)
                for people in (announced.people.tolist(), announced.published.tolist()):
                    inside = [i for i in cells if column[i] in values]
                    prior = max(prior, Fraction(sum(people[i] for i in inside), sum(people[i] for i in cells)))
                    for chance in announced.chance.T.tolist():
                        total = sum(people[i] * chance[i] for i in cells)
                        got = sum(people[i] * chance[i] for i in inside)
                        sure = max(sure, Fraction(got, total) if total else sure)
                found.append((g, attribute, name, sure, prior))
    return found


@given(_logs())
def test_every_set_keeps_to_its_own_ceiling(made: tuple[Programme, Regions]) -> None:
    programme, regions = made
    try:
        solved = whole.solved(programme, regions)
        announced = whole.announced(programme, regions, solved)
    except RefusedError:
        return
    report = whole.report(programme, regions, announced)
    whole.verifies(report, announced)
    kept = [of for of in _each_set(announced, programme) if not announced.flattened[of[0]]]
    for _, attribute, name, sure, prior in kept:
        assert prior <= sure <= _ceiling_of(programme, attribute, name)
    unit, privacy = 10**announced.digits, report.privacy

    def stated(confidences: list[Fraction]) -> float:
        return float(-(-max(confidences) * unit // 1) / unit)

    if kept:
        assert privacy.max_confidence == stated([sure for *_, sure, _ in kept])
        assert privacy.prior_confidence == stated([prior for *_, prior in kept])
    for own in privacy.own_ceilings:
        of_it = [of for of in kept if of[1:3] == (own.attribute, own.set)]
        assert own.max_confidence == stated([sure for *_, sure, _ in of_it])
        assert own.prior_confidence == stated([prior for *_, prior in of_it])
        assert own.max_confidence <= own.ceiling
    assert whole.failed_checks(programme, regions, solved, announced, report) == []
    assert ReportPage(report, "0" * 64).screen
