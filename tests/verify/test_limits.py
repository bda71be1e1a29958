"""Verify of limits: what readers make of them is found again in a second way, and what was moved is found."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr.core.arrays import ExactPopulation, PublishedPopulation
from atr.errors import VerifyError
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.group import solve_group
from atr.report import model
from atr.verify import verify
from atr.verify.limits import PrintedGroup
from atr.verify.reader_confidence import MODELS, OpenGroup, chances, confidences, windows_within
from atr.verify.reader_tables import of_tables
from atr.verify.statements import findings
from tests.helpers import forging, series
from tests.helpers.paths import TESTS

KNOWN = [
    case
    for case in json.loads((TESTS / "vectors" / "calibrated.json").read_text())
    if case["announced"] and not case["earlier"] and sum(case["n"]) < 1500
]
PEOPLE = {
    ("a", "x"): (63, 51),
    ("a", "y"): (48, 22),
    ("a", "z"): (41, 6),
    ("b", "x"): (88, 30),
    ("b", "y"): (77, 41),
    ("b", "z"): (69, 49),
}
STEP = 0.05
WEIGHTS: dict[str, Callable[[int, int], float]] = {
    "uniform": lambda _, __: 1.0,
    "extreme": lambda k, others: math.comb(2 * k, k) * math.comb(2 * others, others),
    "alike": lambda k, others: math.comb(k + others, k),
}


@pytest.mark.parametrize("case", KNOWN[::4], ids=lambda case: "-".join(map(str, case["n"])))
def test_readers_are_found_in_a_second_way(case: dict[str, Any]) -> None:
    people, told = np.array(case["n"]), case["announced"]
    lower, upper = (np.array(told[end]) / case["steps"] for end in "ab")
    group = OpenGroup(people, people, np.array([sum(case["k"])]), windows_within(lower, upper))
    others = group.others(people.sum() - group.totals)
    sets = np.eye(len(people), dtype=bool)
    if case["sets"] is not None:
        sets = np.array([np.isin(np.arange(len(people)), of) for of in case["sets"]])
    surest = max(confidences(side, reader, sets).max() for side in (group, others) for reader in MODELS)
    assert surest == pytest.approx(float(Fraction(told["confidence"])), abs=1e-9)
    assert chances(group) * people[:, None] == pytest.approx(np.column_stack([np.array(told["expected"], float)] * 2))
    assert group.rules(most=True)[0] == pytest.approx(float(told["rules"]), rel=1e-9)


@pytest.mark.parametrize("reader", MODELS)
def test_open_people_leave_room_for_the_true_ones(reader: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(25):
        people = rng.integers(6, 60, 4)
        counts = rng.integers(0, people + 1)
        lower, upper = np.floor(counts / people * 10) / 10, np.minimum(np.floor(counts / people * 10) + 2, 10) / 10
        lower[rng.random(4) < 0.4], upper[rng.random(4) < 0.4] = 0.0, 1.0
        windows = windows_within(lower, upper)
        exact = OpenGroup(people, people, np.array([counts.sum()]), windows)
        totals = np.arange(max(counts.sum() - 2, 0), counts.sum() + 3)
        rounded = OpenGroup(np.maximum(people - rng.integers(0, 5, 4), 1), people + 3, totals, windows)
        alone = np.eye(4, dtype=bool)
        (true, _), found = confidences(exact, reader, alone).T, confidences(rounded, reader, alone)
        assert (found[:, 0] <= true + 1e-9).all()
        assert (true <= found[:, 1] + 1e-9).all()


@pytest.mark.parametrize("reader", MODELS)
def test_ends_are_those_of_all_open_people(reader: str) -> None:
    least, most, totals = np.array([4, 3, 5]), np.array([6, 5, 6]), np.array([5, 6])
    windows = windows_within(np.array([0.2, 0.0, 0.0]), np.array([0.8, 1.0, 0.9]))
    sets = np.array([[True, False, False], [False, True, True]])
    shares = []
    for people in product(*map(range, least, most + 1)):
        lowest, highest = windows(np.array(people))
        rules = np.array(list(product(*map(range, lowest, highest + 1))))
        weights = np.prod([[WEIGHTS[reader](k, n - k) for k, n in zip(rule, people, strict=True)] for rule in rules], 1)
        for total in totals:
            some = rules.sum(axis=1) == total
            shares.append(weights[some] @ (rules[some] @ sets.T) / weights[some].sum() / total)
    found = confidences(OpenGroup(least, most, totals, windows), reader, sets)
    beyond = [np.min(shares, axis=0), -np.max(shares, axis=0)] - found.T * [[1], [-1]]
    assert (beyond >= -1e-12).all()
    assert (beyond <= (0.2 if reader == "extreme" else 1e-12)).all()


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.long), 5])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report of limits with exact and with rounded people."""
    policy = {"mechanism": "calibrated", "max_confidence": 0.75, "population_rounding": request.param}
    with series.quick():
        path = series.write_series(tmp_path_factory.mktemp("told"), PEOPLE, **policy)
        content: dict[str, Any] = json.loads((series.publish(path).documents / "report.json").read_text())
    assert [group["status"] for group in content["groups"]] == ["announced"] * 2
    return content


def _found(content: dict[str, Any]) -> list[str]:
    """What is found false with exact people."""
    report = model.PublicReport.model_validate_json(json.dumps(content), strict=True)
    people = ExactPopulation(np.array([people for people, _ in PEOPLE.values()]))
    return [str(finding) for finding in findings(report, population=people)]


def _moved(told: dict[str, Any]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Reports with a chance, or a limit, moved by one in its last digit or by a step, of both outcomes alike."""
    forged = []
    for place in [(g, r) for g, group in enumerate(told["groups"]) for r in range(len(group["regions"]))]:
        region = told["groups"][place[0]]["regions"][place[1]]
        for sign in (1, -1):
            content, unit = copy.deepcopy(told), 10.0 ** -(told["groups"][place[0]]["digits"] or 2)
            chance = content["groups"][place[0]]["regions"][place[1]]["announced"]
            chance["approved"] = round(chance["approved"] + sign * unit, 6)
            chance["refused"] = round(1 - chance["approved"], 6)
            forged.append(((*place, "chance", sign), content))
            for end in (0, 1) if region["limits"] else ():
                content = copy.deepcopy(told)
                limits = content["groups"][place[0]]["regions"][place[1]]["limits"]
                limits["approved"][end] = round(limits["approved"][end] + sign * STEP, 6)
                limits["refused"] = [round(1 - x, 6) for x in reversed(limits["approved"])]
                if all(0 <= x <= 1 for x in limits["approved"]):
                    forged.append(((*place, "limit", end, sign), content))
    return forged


def test_a_moved_chance_or_limit_is_found(told: dict[str, Any]) -> None:
    assert _found(told) == []
    moved = _moved(told)
    assert len(moved) > 15
    for place, content in moved:
        assert _found(content), place


def test_every_figure_of_the_guarantee_is_found_when_moved(told: dict[str, Any]) -> None:
    for path in forging.leaves({"privacy": told["privacy"]}):
        for sign in (1, -1):
            step = sign * (1 if path[-1] == "rules_left" else 0.001)
            assert _found(forging.changed(told, path, step)), (path, sign)


def test_exact_people_may_be_those_of_the_log(tmp_path: Path) -> None:
    few = {("c", "x"): (12, 7), ("c", "y"): (10, 4), ("d", "x"): (11, 3), ("d", "y"): (9, 5), ("d", "z"): (12, 6)}
    policy = {"mechanism": "calibrated", "max_confidence": 0.75, "population_rounding": 5, "minimum_group_size": 40}
    with series.quick():
        made = series.publish(series.write_series(tmp_path / "s", PEOPLE | few, **policy)).documents / "report.json"
    assert [group["status"] for group in json.loads(made.read_text())["groups"]][-1] == "rest"
    rows = [[*key, people] for key, (people, _) in (PEOPLE | few).items()]
    people = tmp_path / "people.csv"
    series.write_rows(people, ["public", "secret", "population"], rows)
    assert verify(made, population=people) == []
    series.write_rows(people, ["public", "secret", "population"], [*rows[:-1], ["d", "z", 22]])
    assert verify(made, population=people)


FORGERIES: dict[str, Any] = {
    "no reader": lambda r: r["privacy"]["readers"].pop("extreme"),
    "a reader of whole numbers": lambda r: r["privacy"]["readers"].update(whole_numbers=0.6),
    "too much by rates": lambda r: r["privacy"].update(by_rates={"groups": 1, "max_confidence": 0.9}),
    "no rules left": lambda r: r["privacy"].pop("rules_left"),
    "another grid": lambda r: (r["policy"].update(step=0.1), r["fidelity"].update(step=0.1)),
    "no grid": lambda r: r["policy"].pop("step"),
    "more rules": lambda r: r["policy"].update(least=r["privacy"]["rules_left"]),
    "free rates": lambda r: r["policy"].update(group_rates="free"),
    "another mechanism": lambda r: r["policy"].update(mechanism="optimal"),
    "another promise": lambda r: r["fidelity"].update(kind="ranges"),
    "limits of one outcome": lambda r: _limited(r)["limits"].pop("refused"),
    "limits that do not mirror": lambda r: _limited(r)["limits"].update(refused=[0.0, 1.0]),
    "limits off the grid": lambda r: _limited(r)["limits"]["approved"].__setitem__(0, 0.01),
    "chances of some rows": lambda r: r["groups"][0]["regions"][0].update(announced=None),
    "more digits": lambda r: r["groups"][0].update(digits=3),
    "a rate only, with rows": lambda r: r["groups"][0].update(status="rate_only"),
    "no rows": lambda r: r["groups"][0].update(regions=[]),
    "a rest group of one": lambda r: r["groups"][0].update(status="rest", joined=1),
    "a ceiling that is exceeded": lambda r: r["policy"].update(max_confidence=0.6),
}


def _limited(content: dict[str, Any]) -> dict[str, Any]:
    return next(region for group in content["groups"] for region in group["regions"] if region["limits"])


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_report_of_limits_is_found(name: str, told: dict[str, Any], tmp_path: Path) -> None:
    forged = copy.deepcopy(told)
    FORGERIES[name](forged)
    assert forging.is_found(forging.write(tmp_path / "r.json", forged))


def test_rounded_people_leave_room_for_little(told: dict[str, Any], tmp_path: Path) -> None:
    for path, step in (
        (("privacy", "readers", "uniform"), -0.15),
        (("privacy", "readers", "face_value"), 0.15),
        (("privacy", "prior_confidence"), -0.15),
        (("privacy", "rules_left"), 10**6),
        (("groups", 0, "regions", 0, "announced", "approved"), 0.3),
        (("groups", 0, "rate", "approved"), 0.05),
    ):
        assert forging.is_found(forging.write(tmp_path / "r.json", forging.changed(told, path, step))), path


@pytest.mark.long
def test_a_hostile_report_of_limits_does_not_crash(told: dict[str, Any], tmp_path: Path) -> None:
    parts = {name: told[name] for name in ("policy", "privacy", "fidelity")} | {"groups": told["groups"][:1]}
    for path in forging.nodes(parts):
        for value in (0, -1, 10**18, 10**400, 0.5, 1e-320, None, "", [], {}):
            with suppress(VerifyError):
                assert isinstance(
                    verify(forging.write(tmp_path / "r.json", forging.with_value(told, path, value))), list
                )


def test_readers_of_three_outcomes_are_found_in_a_second_way() -> None:
    rng = np.random.default_rng(3)
    for _ in range(6):
        people = rng.integers(5, 30, 3)
        counts = np.array([rng.multinomial(n, rng.dirichlet([1, 1, 1])) for n in people])
        cell = solve_group(counts, Ceilings.of(people, 0.8), steps=20, least=3)
        if cell is None:
            continue
        group = PrintedGroup(
            least=people,
            most=people,
            published=PublishedPopulation(people),
            people=(people.sum(), people.sum()),
            limits=cell.limits / cell.steps,
            chance=None,
            rate=np.floor(100 * counts.sum(axis=0) / people.sum() + 0.5) / 100,
            digits=2,
            sets=np.eye(3, dtype=bool),
            ceilings=np.full(3, 0.8),
        )
        found = of_tables(group, cell.steps)
        assert found is not None
        assert np.isclose(found.rules, cell.rules).any()
        for reader, sure in cell.by_reader.items():
            low, high = found.sure[reader].max(axis=0)
            assert low - 1e-9 <= sure <= high + 1e-9
            assert len(found.rules) > 1 or low == pytest.approx(sure, abs=1e-9)
