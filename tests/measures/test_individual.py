"""Individual fairness: against a double loop, known answers, and ranges that hold for every allowed truth."""

from __future__ import annotations

import csv
import doctest
import io
import json
import math
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from atr.documents import csv as annex
from atr.documents.html import ReportPage
from atr.errors import VerifyError
from atr.measures import individual as module
from atr.measures.cells import Cells
from atr.measures.individual import Attribute, Excess, OutcomeDistance, Records, largest_excess, outcome_distance
from atr.programme import Programme
from atr.report import individual, model
from atr.verify import verify
from atr.verify.statements import findings
from tests.helpers import sample, series
from tests.helpers.tables import tables

DISTANCES: tuple[OutcomeDistance, ...] = ("total_variation", "relative")
VALUES = ("a", "b", "c", "unknown")
DECLARED = {
    "sex": {"kind": "nominal", "weight": 0},
    "priors": {"kind": "ordinal", "weight": 2, "scale": ("a", "b", "c")},
    "age": {"kind": "numeric", "weight": 0.5, "scale": {"a": 20, "b": 30, "c": 60}},
}
"""A naive reading of a declared distance, and below the same as the library takes it."""
ATTRIBUTES = {
    "sex": Attribute(0, {}),
    "priors": Attribute(2, {"a": 0, "b": 1, "c": 2}),
    "age": Attribute(0.5, {"a": 20, "b": 30, "c": 60}),
}


def naive_distance(x: dict[str, str], y: dict[str, str]) -> float:
    """The declared distance by its definition."""
    total = 0.0
    for name, declared in DECLARED.items():
        scale: Any = declared.get("scale", ())
        a, b = x[name], y[name]
        apart = 0.0 if a == b else 1.0
        if a in scale and b in scale:
            if declared["kind"] == "ordinal":
                apart = abs(scale.index(a) - scale.index(b)) / (len(scale) - 1)
            else:
                apart = abs(scale[a] - scale[b]) / (max(scale.values()) - min(scale.values()))
        total += declared["weight"] * apart  # type: ignore[operator]
    return total / 2.5


def naive_outcomes(z: np.ndarray[Any, Any], w: np.ndarray[Any, Any], distance: OutcomeDistance) -> float:
    """The distance of two outcome distributions by its definition."""
    if distance == "total_variation":
        return float(np.abs(z - w).sum() / 2)
    ratios = [(x, y) for x, y in zip(z.tolist(), w.tolist(), strict=True) if x or y]
    return max(math.log(max(x, y) / min(x, y)) if min(x, y) else math.inf for x, y in ratios)


def naive(
    rows: list[dict[str, str]], D: np.ndarray[Any, Any], distance: OutcomeDistance, tolerance: float
) -> tuple[dict[tuple[int, int], float], set[int]]:
    """The excess of every pair, and who is in one above the tolerance."""
    excess = {
        (i, j): naive_outcomes(D[i], D[j], distance) - naive_distance(rows[i], rows[j])
        for i, j in combinations(range(len(rows)), 2)
    }
    return excess, {i for pair, e in excess.items() if e > tolerance + 1e-9 for i in pair}


def columns(rows: list[dict[str, str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(row[name] for row in rows) for name in DECLARED}


def cells_of(D: np.ndarray[Any, Any], people: list[int], *, within: float = 0.0) -> Cells:
    """Regions whose true chances may be so far from the announced ones."""
    n = np.array(people)
    lower, upper = np.maximum(D - within, 0), np.minimum(D + within, 1)
    return Cells(n, D, lower, upper, np.array([0, len(D)]), n)


def measured(rows: list[dict[str, str]], cells: Cells, distance: OutcomeDistance, tolerance: float = 0.0) -> Excess:
    return largest_excess(cells, Records.of(columns(rows), ATTRIBUTES), distance=distance, tolerance=tolerance)


@st.composite
def _regions(draw: st.DrawFn) -> tuple[list[dict[str, str]], np.ndarray[Any, Any], list[int]]:
    n, outcomes = draw(st.integers(2, 12)), draw(st.integers(2, 4))
    rows = [{name: draw(st.sampled_from(VALUES)) for name in DECLARED} for _ in range(n)]
    steps = draw(st.sampled_from([4, 10, 1000]))
    parts = st.lists(st.integers(0, steps), min_size=outcomes - 1, max_size=outcomes - 1)
    cuts = [sorted([0, *draw(parts), steps]) for _ in range(n)]
    D = np.diff(np.array(cuts, dtype=np.float64), axis=1) / steps
    return rows, D, draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))


@given(_regions(), st.sampled_from(DISTANCES), st.sampled_from([0.0, 0.1, 0.3]))
def test_it_is_that_of_a_double_loop(
    made: tuple[list[dict[str, str]], np.ndarray[Any, Any], list[int]], distance: OutcomeDistance, tolerance: float
) -> None:
    rows, D, people = made
    excess, involved = naive(rows, D, distance, tolerance)
    found = measured(rows, cells_of(D, people), distance, tolerance)
    most = max(excess.values())
    assert found.value == pytest.approx(max(0.0, most))
    assert set(np.flatnonzero(found.involved).tolist()) == involved
    tied = [pair for pair, e in excess.items() if e >= most - 1e-9]
    assert found.pair == min(tied, key=lambda p: (-min(people[p[0]], people[p[1]]), p))
    apart = outcome_distance(cells_of(D, people), found.pair, distance)
    assert apart == pytest.approx(naive_outcomes(D[found.pair[0]], D[found.pair[1]], distance))
    assert found.range == (pytest.approx(found.value), pytest.approx(found.value))


@given(_regions(), st.sampled_from(DISTANCES), st.integers(1, 9))
def test_among_some_regions_it_is_as_if_there_were_no_others(
    made: tuple[list[dict[str, str]], np.ndarray[Any, Any], list[int]], distance: OutcomeDistance, least: int
) -> None:
    rows, D, people = made
    among = np.array(people) >= least
    which = np.flatnonzero(among).tolist()
    assume(len(which) > 1)
    records = Records.of(columns(rows), ATTRIBUTES)
    found = largest_excess(cells_of(D, people, within=0.1), records, distance=distance, tolerance=0.1, among=among)
    alone = measured(
        [rows[i] for i in which], cells_of(D[which], [people[i] for i in which], within=0.1), distance, 0.1
    )
    assert (found.value, found.range) == (pytest.approx(alone.value), pytest.approx(alone.range))
    assert found.pair == tuple(which[i] for i in alone.pair)
    assert np.flatnonzero(found.involved).tolist() == [which[i] for i in np.flatnonzero(alone.involved)]


@given(_regions(), st.sampled_from(DISTANCES), st.sampled_from([0.02, 0.1, 0.5]), st.integers(0, 2**32 - 1))
def test_the_true_excess_lies_in_its_range(
    made: tuple[list[dict[str, str]], np.ndarray[Any, Any], list[int]],
    distance: OutcomeDistance,
    within: float,
    seed: int,
) -> None:
    """Also of truths at the ends of what is allowed: announced ones drawn towards single outcomes as far as it goes."""
    rows, D, people = made
    low, high = measured(rows, cells_of(D, people, within=within), distance).range
    rng = np.random.default_rng(seed)
    for _ in range(20):
        towards = np.eye(D.shape[1])[rng.integers(0, D.shape[1], len(D))]
        step = np.abs(towards - D).max(axis=1)
        far = np.minimum(1.0, within / np.maximum(step, 1e-12)) * rng.choice([1.0, 1.0, rng.random()])
        true = D + far[:, None] * (towards - D)
        excess, _ = naive(rows, true, distance, 0.0)
        assert low - 1e-9 <= max(0.0, *excess.values()) <= high + 1e-9


@given(st.integers(2, 4), st.sampled_from([0.05, 0.2]), st.integers(0, 2**32 - 1))
def test_ends_for_two_regions_are_those_of_linear_programmes(outcomes: int, within: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    D = rng.multinomial(20, rng.dirichlet(np.ones(outcomes)), 2) / 20
    cells = cells_of(D, [1, 1], within=within)
    low, high = measured([dict.fromkeys(DECLARED, "a")] * 2, cells, "total_variation").range
    box = [*zip(cells.lower.ravel(), cells.upper.ravel(), strict=True)]
    sums = np.kron(np.eye(2), np.ones(outcomes))
    # Least: z − w = plus − minus; largest: of every event, how much likelier it can be for one than for the other.
    unit = np.eye(outcomes)
    least = linprog(
        [0] * (2 * outcomes) + [0.5] * (2 * outcomes),
        A_eq=np.vstack([np.hstack([sums, np.zeros((2, 2 * outcomes))]), np.hstack([unit, -unit, -unit, unit])]),
        b_eq=[1, 1, *[0] * outcomes],
        bounds=[*box, *[(0, None)] * (2 * outcomes)],
    )
    most = 0.0
    for size in range(1, outcomes):
        for event in combinations(range(outcomes), size):
            inside = np.isin(range(outcomes), event).astype(float)
            most = max(most, -linprog([*-inside, *inside], A_eq=sums, b_eq=[1, 1], bounds=box).fun)
    assert (low, high) == (pytest.approx(least.fun, abs=1e-8), pytest.approx(most, abs=1e-8))


@given(_regions(), st.sampled_from(DISTANCES), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(
    made: tuple[list[dict[str, str]], np.ndarray[Any, Any], list[int]], distance: OutcomeDistance, random: Any
) -> None:
    rows, D, people = made
    order = list(range(len(rows)))
    random.shuffle(order)
    found = measured(rows, cells_of(D, people, within=0.1), distance)
    again = measured([rows[i] for i in order], cells_of(D[order], [people[i] for i in order], within=0.1), distance)
    assert (again.value, again.range) == (pytest.approx(found.value), pytest.approx(found.range))
    assert again.involved.tolist() == found.involved[order].tolist()
    smaller = [min(p[i] for i in f.pair) for f, p in ((found, people), (again, [people[i] for i in order]))]
    assert smaller[0] == smaller[1]


@given(_regions())
def test_declared_distances_are_scaled_symmetric_and_as_defined(
    made: tuple[list[dict[str, str]], np.ndarray[Any, Any], list[int]],
) -> None:
    rows = made[0]
    d = np.array([Records.of(columns(rows), ATTRIBUTES).distances(i) for i in range(len(rows))])
    assert ((d >= 0) & (d <= 1)).all()
    assert (d == d.T).all()
    assert d == pytest.approx(np.array([[naive_distance(x, y) for y in rows] for x in rows]))


def test_no_pair_is_missed_among_many() -> None:
    """As many regions as make pruning matter, against every pair by NumPy."""
    rng = np.random.default_rng(5)
    rows = [{name: str(v) for name, v in zip(DECLARED, rng.choice(VALUES, 3), strict=True)} for _ in range(700)]
    records = Records.of(columns(rows), ATTRIBUTES)
    d = np.array([records.distances(i) for i in range(len(rows))])
    for p in (rng.random(len(rows)), records.places.clip(0, 1) @ records.weights * 0.7):
        cells = cells_of(np.column_stack([p, 1 - p]).round(3), [1] * len(rows), within=0.1)
        chance, low, high = cells.chance[:, 0], cells.lower[:, 0], cells.upper[:, 0]
        apart = np.abs(chance[:, None] - chance) - d
        least = np.maximum(low[:, None] - high, low - high[:, None]) - d
        most = np.maximum(high[:, None] - low, high - low[:, None]) - d
        np.fill_diagonal(most, 0)
        found = largest_excess(cells, records, distance="total_variation", tolerance=0.2)
        assert found.value == pytest.approx(max(0, apart.max()))
        assert found.range == (pytest.approx(max(0, least.max())), pytest.approx(max(0, most.max())))
        assert found.involved.tolist() == (apart > 0.2 + 1e-9).any(axis=1).tolist()


def test_the_example_of_the_paper() -> None:
    """Table 1: women of middle income never get the card, men of middle income in half of all cases."""
    D = np.array([[x, 1 - x] for x in (0, 0, 1, 0, 0.5, 1)])
    income = ("below 100k", "100k to 200k", "above 200k")
    records = Records.of({"sex": ["f"] * 3 + ["m"] * 3, "income": income * 2}, {"income": Attribute(1, {})})
    cells = cells_of(D, [139, 9, 2, 117, 18, 5])
    found = largest_excess(cells, records, distance="total_variation", tolerance=0.0)
    assert (found.value, found.pair, found.range) == (0.5, (1, 4), (0.5, 0.5))
    assert np.flatnonzero(found.involved).tolist() == [1, 4]
    assert largest_excess(cells, records, distance="relative", tolerance=0.0).value == math.inf


def test_where_nothing_may_count_all_must_be_alike() -> None:
    records = Records.of({"sex": ["f", "m"]}, {"sex": Attribute(0, {})})
    found = largest_excess(
        cells_of(np.array([[0.2, 0.8], [0.5, 0.5]]), [1, 1]), records, distance="relative", tolerance=1
    )
    assert found.value == pytest.approx(math.log(2.5))
    assert not found.involved.any()
    with pytest.raises(ValueError, match="no pair"):
        largest_excess(cells_of(np.ones((1, 2)) / 2, [1]), records, distance="relative", tolerance=1)


def test_the_examples_in_the_text_run() -> None:
    assert doctest.testmod(module).failed == 0


# --- in a report


def _programme(**individual: Any) -> dict[str, Any]:
    content = series.programme(population_rounding=1)
    content["attributes"]["secret"]["values"] = {v: v for v in ("below 100k", "100k to 200k", "above 200k")}
    return content | {"fairness": {"individual": individual}}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Section 8 of the paper, measured in both ways."""
    with series.quick():
        folder = tmp_path_factory.mktemp("published")
        content = _programme(measures=list(DISTANCES), distances={"secret": {"kind": "ordinal"}})
        outcome = series.publish(series.write_series(folder, series.card(10), content=content))
        return outcome.documents / "report.json"


def test_a_report_states_it_and_verifies(published: Path) -> None:
    report = model.read(published)
    assert verify(published) == []
    assert individual.with_individual(report) == report.fairness
    variation, relative = report.fairness[-2:]
    (sex, income), policy = report.attributes, report.policy.individual
    assert policy is not None
    assert (policy.distances[sex.name].weight, policy.distances[income.name].weight) == (0, 1)
    assert policy.distances[income.name].positions == {"below 100k": 0, "100k to 200k": 1, "above 200k": 2}
    chances = {
        (g.public["public"], r.sensitive["secret"]): (
            r.announced["approved"],
            income.values.index(r.sensitive["secret"]),
        )
        for g in report.groups
        for r in g.regions
    }
    excess = {
        (a, b): abs(chances[a][0] - chances[b][0]) - abs(chances[a][1] - chances[b][1]) / 2
        for a, b in combinations(chances, 2)
    }
    assert variation.value == pytest.approx(max(excess.values()))
    assert variation.pair is not None
    words = tuple((x["public"], x["secret"]) for x in variation.pair.regions)
    assert excess[words] == pytest.approx(variation.value)  # type: ignore[index]
    assert variation.groups == tuple(", ".join(of) for of in words)
    assert relative.pair is not None
    assert (relative.value is None) == (relative.pair.outcomes_apart is None)


def test_any_changed_number_or_text_is_found(published: Path, tmp_path: Path) -> None:
    content = json.loads(published.read_text())

    def found(changed: dict[str, Any]) -> bool:
        path = tmp_path / "report.json"
        path.write_text(json.dumps(changed))
        try:
            return bool(verify(path))
        except VerifyError:
            return True

    def leaves(value: Any, path: tuple[Any, ...]) -> Any:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in items:
            yield from leaves(inner, (*path, key))
        if not isinstance(value, dict | list):
            yield path, value

    assert not found(json.loads(published.read_text()))
    changed = 0
    for place in (-1, -2):
        for path, value in leaves(content["fairness"][place], ("fairness", place)):
            other = "x" if not isinstance(value, int | float) else value + (1 if isinstance(value, int) else 0.001)
            forged = json.loads(published.read_text())
            inner = forged
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = other
            assert found(forged), path
            changed += 1
    assert changed > 40
    for forge in (
        lambda c: c["fairness"].pop(),
        lambda c: c["fairness"].append(c["fairness"][-1]),
        lambda c: c["fairness"].insert(0, c["fairness"].pop()),
        lambda c: c["fairness"][-1].pop("pair"),
        lambda c: c["policy"].pop("individual"),
        lambda c: c["policy"]["individual"]["measures"].pop(),
        lambda c: c["policy"]["individual"]["distances"].pop("secret"),
        lambda c: c["policy"]["individual"]["distances"]["secret"].update(kind="nominal"),
        lambda c: c["policy"]["individual"]["distances"]["secret"].pop("positions"),
        lambda c: c["policy"]["individual"]["distances"]["secret"]["positions"].update({"above 200k": 3}),
        lambda c: c["policy"]["individual"]["distances"]["secret"]["positions"].update({"above 300k": 3}),
        lambda c: c["policy"]["individual"]["distances"]["secret"].update(weight=0),
    ):
        forged = json.loads(published.read_text())
        forge(forged)
        assert found(forged)


@pytest.mark.usefixtures("quick")
def test_verify_finds_a_verdict_that_rests_on_too_few_people(tmp_path: Path) -> None:
    content = _programme(distances={"secret": {"kind": "ordinal"}})
    content["policy"]["minimum_group_size"] = 45
    path = series.publish(series.write_series(tmp_path / "s", series.card(10), content=content)).documents
    assert verify(path) == []
    report = model.read(path / "report.json")
    everyone, enough = report.fairness[-2:]
    assert (everyone.reason, enough.pair and enough.pair.least_people) == ("too_few_people", 45)
    assert everyone.groups == enough.groups, "the worst pair has people enough, and is shown once"
    assert min(enough.people) >= 45
    assert sum(label.startswith("The pair by") for label in tables(report, "like_people")) == 1
    pair = enough.pair
    assert pair is not None
    for forged in (
        (everyone,),
        (enough,),
        (everyone.model_copy(update={"verdict": "not_met", "reason": None}), enough),
        (everyone.model_copy(update={"reason": "line_in_range"}), enough),
        (everyone, enough.model_copy(update={"pair": pair.model_copy(update={"least_people": 44})})),
        (everyone, enough.model_copy(update={"pair": pair.model_copy(update={"least_people": None})})),
        (enough, everyone),
    ):
        assert list(findings(report.model_copy(update={"fairness": (*report.fairness[:-2], *forged)})))


def test_a_hostile_distance_does_not_crash(published: Path, tmp_path: Path) -> None:
    content = json.loads(published.read_text())
    places: list[tuple[Any, ...]] = [("policy", "individual"), ("fairness", -1)]
    for place in places:
        value = content
        for key in place:
            value = value[key]
        inside = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        places += [(*place, key) for key in inside]
    for place in places:
        for wrong in (0, -1, 1e308, "", None, {}, ["a", "a"], {"a": 1}):
            changed = json.loads(published.read_text())
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = wrong
            path = tmp_path / "report.json"
            path.write_text(json.dumps(changed))
            with suppress(VerifyError):
                assert isinstance(verify(path), list)


def test_where_it_is_not_measured_nothing_tells_of_it() -> None:
    report = sample.grid((2, 2), 2)
    assert individual.with_individual(report) == report.fairness
    assert '"individual"' not in report.to_json()
    assert '"pair"' not in report.to_json()
    assert "Like people alike" not in ReportPage(report, "0" * 64).screen


def test_one_region_makes_no_comparison() -> None:
    report = sample.alike(sample.none_announced())
    assert report.fairness == ()
    assert "Like people alike" not in ReportPage(report, "0" * 64).screen


def test_the_report_shows_the_pair_the_distance_and_the_verdict() -> None:
    report = sample.alike(sample.compas(), measures=DISTANCES, tolerance=0.1)
    (_, *rows) = tables(report, "like_people")["Like people alike"]
    assert [row[-1] for row in rows] == ["too few people", "not kept"] * 2


def test_no_verdict_rests_on_regions_of_too_few_people() -> None:
    """One small region is far from all others, which are near each other: beyond the tolerance only with the small."""
    report = sample.grid((2,), 3, people=300)
    chances, people = iter([1.0, 0.5, 0.5, 0.5, 0.5, 0.5]), iter([10, 100, 100, 100, 100, 100])
    groups = tuple(
        g.model_copy(
            update={
                "regions": tuple(
                    r.model_copy(
                        update={"announced": {"low": c, "raised": round(1 - c, 3)}, "population": next(people)}
                    )
                    for r, c in zip(g.regions, chances, strict=False)
                )
            }
        )
        for g in report.groups
    )
    totals = (sum(region.people for region in g.regions) for g in groups)
    groups = tuple(g.model_copy(update={"population": total}) for g, total in zip(groups, totals, strict=True))
    made = sample.alike(report.model_copy(update={"groups": groups}), tolerance=0.25)
    everyone, enough = (e for e in made.fairness if e.pair)
    assert (everyone.value, everyone.verdict, everyone.reason) == (0.5, "cannot_tell", "too_few_people")
    assert everyone.pair is not None
    assert enough.pair is not None
    assert (everyone.pair.least_people, enough.pair.least_people) == (None, 50)
    # The group of the small region has a known total, so the other one is at most 0.5 + (0.1 · 14 + 0.5) / 96.
    assert (enough.value, enough.range[1], enough.verdict, enough.reason) == (0.0, 0.121, "met", None)
    assert min(everyone.people) == 10
    assert min(enough.people) >= 50
    assert (everyone.pair.people_involved, enough.pair.people_involved) == (0.27, 0.0)
    (_, *rows) = tables(made, "like_people")["Like people alike"]
    assert [row[-1] for row in rows] == ["too few people", "kept"]
    assert "rules of at least 50 people" in rows[1][0]
    column = [row["least_people"] for row in csv.DictReader(io.StringIO(annex.fairness(made).decode(), newline=""))]
    assert column[-2:] == ["", "50"]
    policy = made.policy.model_copy(update={"minimum_group_size": 1000})
    (only,) = (e for e in individual.with_individual(made.model_copy(update={"policy": policy})) if e.pair)
    assert (only.verdict, only.reason) == ("cannot_tell", "too_few_people")


def _declared(programme: dict[str, Any]) -> model.IndividualPolicy:
    found = individual.individual_policy(Programme.model_validate(programme))
    assert found is not None
    return found


def test_numbers_are_compared_by_the_middles_of_their_bins() -> None:
    content = _programme(distances={"age": {"kind": "numeric", "weight": 3}, "secret": {"kind": "ordinal"}})
    content["attributes"]["age"] = {"role": "public", "bins": [20, 30, 60], "labels": ["a", "b", "unknown", "d"]}
    content["attributes"]["one"] = {"role": "public", "bins": [5]}
    content["fairness"]["individual"]["distances"]["one"] = {"kind": "numeric"}
    found = _declared(content).distances
    assert found["age"] == model.AttributeDistance(kind="numeric", weight=3, positions={"a": 15, "b": 25, "d": 75})
    assert found["one"].positions == {"below 5": 4.5, "5 and more": 5.5}
    assert found["public"] == model.AttributeDistance(kind="nominal", weight=0)
    assert found["secret"].weight == 1


@pytest.mark.parametrize(
    ("first", "measure", "told"),
    [
        (0.5, "total_variation", ["0.0", "0.0", "cannot be told"]),
        (0.7, "total_variation", ["20.0", "20.0", "cannot be told"]),
        (0.7, "relative", ["0.511", "0.511", "cannot be told"]),
        (1.0, "relative", ["infinite", "infinite", "not kept"]),
    ],
)
def test_the_excess_is_told_as_it_is(first: float, measure: OutcomeDistance, told: list[str]) -> None:
    """Everybody gets “low” half of the time, but for one region; its group is not protected against."""
    report = sample.grid((2,), 3)
    chances = iter([first] + [0.5] * 10)
    groups = []
    for g in report.groups:
        regions = [
            r.model_copy(update={"announced": {"low": c, "raised": round(1 - c, 3)}})
            for r, c in zip(g.regions, chances, strict=False)
        ]
        groups.append(g.model_copy(update={"regions": tuple(regions)}))
    made = sample.alike(report.model_copy(update={"groups": tuple(groups)}), measures=(measure,))
    (_, row) = tables(made, "like_people")["Like people alike"]
    assert [row[1], row[3], row[-1]] == told
