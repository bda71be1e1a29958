"""Verify: a true report passes, and no number in it can be changed by one in its last digit unnoticed."""

from __future__ import annotations

import copy
import csv
import hashlib
import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from atr.core.announcement import Announcement
from atr.core.regions import Regions
from atr.errors import RefusedError, VerifyError
from atr.programme import Programme, load
from atr.report import model
from atr.report.comparisons import ComparisonFormatter
from atr.verify import verify
from atr.verify.statements import findings
from tests.helpers import forging, series, whole
from tests.helpers.paths import TESTS


def _publish(folder: Path, counts: dict[tuple[str, str], tuple[int, int]], **policy: Any) -> dict[str, Any]:
    outcome = series.publish(series.write_series(folder, counts, **policy))
    content: dict[str, Any] = json.loads((outcome.documents / "report.json").read_text())
    return content


def _rounded(times: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Section 8 with numbers of people that printing rounds."""
    return {key: (people + 3, approvals + 1) for key, (people, approvals) in series.card(times).items()}


WITHHOLDING = _rounded(10) | {("few", "below 100k"): (4, 2), ("alike", "below 100k"): (60, 30)}


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with series.quick():
        yield


@pytest.fixture(scope="module", params=["exact", pytest.param("free", marks=pytest.mark.long)])
def published(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report with exact populations."""
    folder = tmp_path_factory.mktemp("published")
    return _publish(folder, series.card(10), group_rates=request.param, population_rounding=1)


@pytest.fixture(scope="module")
def withholding(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A report with rounded populations, and small groups that are withheld together for what is known before."""
    content = _publish(tmp_path_factory.mktemp("withholding"), WITHHOLDING)
    assert content["coverage"]["groups"] == {"announced": 2, "withheld_for_size": 0, "withheld": 1}
    return content


def test_a_true_report_passes(published: dict[str, Any], tmp_path: Path) -> None:
    assert verify(forging.write(tmp_path / "r.json", published)) == []


def test_a_file_that_its_manifest_does_not_name_is_found(published: dict[str, Any], tmp_path: Path) -> None:
    path = forging.write(tmp_path / "report.json", published)
    entry = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    (tmp_path / "manifest.json").write_text(json.dumps({"files": {"report.json": entry}}))
    assert verify(tmp_path) == []
    forging.write(path, published | {"date": "2001-01-01"})
    assert [str(found) for found in verify(path)] == ["report.json: was changed since its manifest.json was written"]


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"files": 1}', '{"files": {"report.json": 1}}'])
def test_a_manifest_that_is_none_is_an_error(content: str, published: dict[str, Any], tmp_path: Path) -> None:
    path = forging.write(tmp_path / "report.json", published)
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(VerifyError, match=r"manifest\.json: is no manifest"):
        verify(path)


@pytest.mark.long
def test_a_forged_number_that_follows_from_others_is_found(published: dict[str, Any], tmp_path: Path) -> None:
    for path in forging.leaves({key: published[key] for key in forging.RECOMPUTED}):
        for sign in (1, -1):
            changed = forging.changed(published, path, sign * forging.step_of(path, forging.value_at(published, path)))
            assert forging.is_false(changed), (path, sign)


@pytest.mark.parametrize(
    ("figure", "value"), [("printed_confidence", 0.5), ("by_rates", {"groups": 1, "max_confidence": 0.9})]
)
def test_nothing_announced_has_no_figures(figure: str, value: Any, tmp_path: Path) -> None:
    nothing = _publish(tmp_path / "small", series.card(10), minimum_group_size=1000)
    assert nothing["groups"] == []
    assert verify(forging.write(tmp_path / "r.json", nothing)) == []
    assert verify(forging.write(tmp_path / "r.json", forging.with_value(nothing, ("privacy", figure), value)))


def test_a_changed_verdict_is_found(published: dict[str, Any], tmp_path: Path) -> None:
    verdict = "not_met" if published["fairness"][0]["verdict"] == "met" else "met"
    assert verify(
        forging.write(tmp_path / "r.json", forging.with_value(published, ("fairness", 0, "verdict"), verdict))
    )


def test_a_figure_that_does_not_follow_is_named(published: dict[str, Any], tmp_path: Path) -> None:
    value = published["influence"][0]["value"]
    changed = forging.with_value(published, ("influence", 0, "value"), round(value + 0.1, 3))
    (found,) = (f for f in verify(forging.write(tmp_path / "r.json", changed)) if f.where.startswith("influence"))
    assert str(found) == f"influence[0].value: is stated as {round(value + 0.1, 3)}, {value} follows"
    shorter = {**published, "influence": published["influence"][1:]}
    assert any("entries" in str(f) for f in verify(forging.write(tmp_path / "r.json", shorter)))


FORGERIES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no comparison": lambda r: r["fairness"].clear(),
    "a comparison less": lambda r: r["fairness"].pop(),
    "a comparison twice": lambda r: r["fairness"].append(r["fairness"][0]),
    "another reference": lambda r: r["fairness"][0].update(reference=r["fairness"][0]["groups"][0]),
    "a line of its own": lambda r: r["fairness"][0].update(threshold=0.1),
    "no line": lambda r: r["fairness"][0].update(threshold=None, verdict=None),
    "a protected attribute less": lambda r: (r["fairness"].clear(), r["attributes"][0].update(protected=True)),
    "a region in two rows": lambda r: r["groups"][0]["regions"].append(r["groups"][0]["regions"][0]),
    "a group twice": lambda r: (r["groups"].insert(0, {**r["groups"][0], "id": "g9"}), _announces(r, 3)),
    "an id twice": lambda r: r["groups"][1].update(id="g1"),
    "no public value": lambda r: r["groups"][0]["public"].clear(),
    "no sensitive value": lambda r: r["groups"][0]["regions"][0]["sensitive"].clear(),
    "a value not listed": lambda r: r["attributes"][1]["values"].pop(),
    "one outcome": lambda r: r.update(outcomes=[r["positive"]] * 2),
    "a lower ceiling": lambda r: r["policy"].update(max_confidence=r["privacy"]["max_confidence"] - 0.001),
    "another promise": lambda r: r["policy"]["fidelity"].update(delta=0.5),
    "two promises": lambda r: r["policy"]["fidelity"].update(alpha=0.5),
    "more decisions": lambda r: r["coverage"].update(decisions=100_000),
    "fewer decisions": lambda r: r["coverage"].update(decisions=100),
    "a smaller share": lambda r: r["coverage"].update(announced_share=0.5),
    "a group of another status": lambda r: r["groups"][0].update(status="flattened"),
    "no influence": lambda r: r["influence"].clear(),
    "an influence less": lambda r: r["influence"].pop(),
    "an influence twice": lambda r: r["influence"].append(r["influence"][0]),
    "the influence of another input": lambda r: r["influence"][0].update(inputs=["secret"]),
    "no Shapley value": lambda r: r["influence"][0].pop("shapley"),
    "no influence on groups": lambda r: r["influence"][0].pop("groups"),
    "a set of inputs that is none": lambda r: r["policy"].update(influence_sets=[["public"]]),
    "a set of strangers": lambda r: r["policy"].update(influence_sets=[["public", "stranger"]]),
    "a set that was not declared": lambda r: r["policy"].update(influence_sets=[["secret", "public"]]),
    "no tree": lambda r: r.update(surrogate=None),
    "a question without values": lambda r: r["surrogate"]["tree"].update(values=[]),
    "no question": lambda r: [r["surrogate"]["tree"].pop(key) for key in ("attribute", "values", "yes", "no")],
    "half a question": lambda r: r["surrogate"]["tree"].pop("no"),
    "another question": lambda r: r["surrogate"]["tree"].update(
        attribute="public", values=[r["attributes"][0]["values"][0]]
    ),
    "a question that parts nobody": lambda r: r["surrogate"]["tree"].update(values=["nowhere"]),
    "a question on nothing": lambda r: r["surrogate"]["tree"].update(attribute="stranger"),
    "questions without end": lambda r: _leaf(r["surrogate"]["tree"]).update(
        copy.deepcopy({key: r["surrogate"]["tree"][key] for key in ("attribute", "values", "yes", "no")})
    ),
    "no yardsticks": lambda r: r["privacy"].update(leakage=None),
    "a bound where there is none": lambda r: r["privacy"]["leakage"].update(ldp=1.0, log_lift=1.0),
    "no bound where there is one": lambda r: r["privacy"]["leakage"].update(likeness_gain=None),
    "a smaller gain": lambda r: r["privacy"]["leakage"].update(
        likeness_gain=round(r["privacy"]["leakage"]["likeness_gain"] - 0.001, 3)
    ),
    "no yardsticks of a group": lambda r: r["groups"][0].update(leakage=None),
    "a bound where a group has none": lambda r: r["groups"][0]["leakage"].update(ldp=1.0),
    "more digits": lambda r: r["privacy"].update(max_confidence=r["privacy"]["max_confidence"] + 1e-7),
}


def _leaf(node: dict[str, Any]) -> dict[str, Any]:
    return _leaf(node["yes"]) if "yes" in node else node


def _announces(content: dict[str, Any], groups: int) -> None:
    content["coverage"]["groups"]["announced"] = groups


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found(name: str, published: dict[str, Any], withholding: dict[str, Any], tmp_path: Path) -> None:
    for content in (published, withholding):
        assert verify(forging.write(tmp_path / "r.json", content)) == []
        forged = copy.deepcopy(content)
        FORGERIES[name](forged)
        assert verify(forging.write(tmp_path / "r.json", forged))


@pytest.mark.parametrize(
    "numbers",
    [{"population": 60}, {"rate": {"approved": 0.5, "refused": 0.5}}, {"regions": "those of the first group"}],
)
def test_a_withheld_group_has_no_numbers(numbers: dict[str, Any], withholding: dict[str, Any], tmp_path: Path) -> None:
    content = copy.deepcopy(withholding)
    if "regions" in numbers:
        numbers = {"regions": content["groups"][0]["regions"]}
    content["groups"][-1].update(numbers)
    content["provenance"]["atr"] = "9.9"
    assert verify(forging.write(tmp_path / "r.json", content))


@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_rounded_populations_leave_room_for_little(tmp_path: Path, rates: str) -> None:
    content = _publish(tmp_path / "s", _rounded(34), group_rates=rates)
    assert verify(forging.write(tmp_path / "r.json", content)) == []
    for path, step in (
        (("privacy", "max_confidence"), -0.01),
        (("privacy", "max_confidence"), 0.02),
        (("privacy", "prior_confidence"), 0.02),
        (("groups", 0, "rate", "approved"), 0.03),
        (("fairness", 0, "value"), 0.1),
        (("fairness", 2, "value"), 0.05),
        (("groups", 0, "regions", 0, "population"), 5),
        (("groups", 0, "population"), 5),
        (("fairness", 0, "people", 0), 5),
        (("coverage", "decisions"), 5),
    ):
        assert verify(forging.write(tmp_path / "r.json", forging.changed(content, path, step))), path
    value = content["fairness"][2]["value"]
    changed = forging.with_value(content, ("fairness", 2, "range"), [0.0, 1.0] if rates == "exact" else [value, value])
    assert any("range" in str(f) for f in verify(forging.write(tmp_path / "r.json", changed)))


SEVERAL = ("approved", "refused", "waiting", "none", "returned")


def _of_several(outcomes: tuple[str, ...], rounding: int) -> tuple[model.PublicReport, Announcement]:
    """A report of several outcomes, by a sensitive attribute too."""
    content = series.programme(fidelity={"delta": 0.8}, population_rounding=rounding)
    content["attributes"]["secret"] |= {"protected": True, "legitimate": False}
    content["log"]["outcomes"] = {outcome: [outcome] for outcome in outcomes}
    programme = Programme.model_validate(content)
    counts = np.array([[90, 60, 51], [20, 120, 62], [70, 11, 120], [101, 30, 72], [44, 90, 70], [12, 60, 131]])
    regions = Regions(
        public=("public",),
        protection=programme.protection,
        outcomes=outcomes,
        group_values=(("a",), ("b",)),
        region_values=(("x",), ("y",), ("z",)) * 2,
        counts=np.column_stack([counts, [33, 51, 20, 17, 29, 40], [12, 35, 60, 41, 8, 22]])[:, : len(outcomes)],
        offsets=np.array([0, 3, 6]),
    )
    announced = whole.announced(programme, regions)
    return whole.report(programme, regions, announced), announced


@pytest.mark.parametrize("rounding", [1, 5])
@pytest.mark.parametrize("outcomes", [SEVERAL[:3], SEVERAL[:4], pytest.param(SEVERAL, marks=pytest.mark.long)])
def test_a_range_of_several_outcomes_made_narrower_is_found(outcomes: tuple[str, ...], rounding: int) -> None:
    report, announced = _of_several(outcomes, rounding)
    whole.verifies(report, announced)
    how = ComparisonFormatter(report.policy)
    wide = [i for i, e in enumerate(report.fairness) if e.attribute == "secret" and e.summary is None]
    assert {report.fairness[i].measure for i in wide} == {"statistical_parity", "p_percent_rule"}
    narrower: dict[str, Callable[[model.Fairness], tuple[Any, Any]]] = {
        "both": lambda e: (e.value, e.value),
        "upper": lambda e: (e.range[0], e.value),
        "upper, by a twentieth": lambda e: (e.range[0], round(0.95 * (e.range[1] or 100), 3)),
        "lower": lambda e: (e.value, e.range[1]),
    }
    for end, inside in narrower.items():
        forged = list(report.fairness)
        for i in wide:
            forged[i] = how.judged(forged[i].model_copy(update={"range": inside(forged[i])}))
        found = "\n".join(
            str(f) for f in list(findings(report.model_copy(update={"fairness": tuple(forged)}))) if "range" in str(f)
        )
        for e in (report.fairness[i] for i in wide):
            name = f"{e.measure}, {e.attribute}: {e.groups[0]} against {e.groups[1]}" + (
                f", {e.outcome}:" if e.outcome else ":"
            )
            assert name in found, (end, name)


def test_with_exact_populations_every_digit_is_checked(tmp_path: Path) -> None:
    counts = _rounded(34)
    content = _publish(tmp_path / "s", counts)
    population = tmp_path / "population.csv"

    def supply(rows: list[list[Any]]) -> Path:
        with population.open("w", newline="") as file:
            csv.writer(file).writerows([["public", "secret", "population"], *rows])
        return population

    rows: list[list[Any]] = [[*key, people] for key, (people, _) in counts.items()]
    report = forging.write(tmp_path / "r.json", content)
    assert verify(report, population=supply(rows)) == []
    for i in range(len(content["fairness"])):
        for path in forging.leaves(content["fairness"][i], ("fairness", i)):
            changed = forging.changed(content, path, forging.step_of(path, forging.value_at(content, path)))
            assert verify(forging.write(tmp_path / "c.json", changed), population=population), path
    assert verify(report, population=supply([[*rows[0][:2], rows[0][2] + 10], *rows[1:]]))
    for wrong, message in (
        ([], "no row for the region"),
        ([*rows, [*rows[0][:2], 1]], "two populations"),
        ([[*rows[0][:2], 0], *rows[1:]], "nobody in"),
        ([[*rows[0][:2], -1], *rows[1:]], "no whole number"),
        ([[*rows[0][:2], 10**30], *rows[1:]], "more people"),
    ):
        with pytest.raises(VerifyError, match=message):
            verify(report, population=supply(wrong))


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"schema": "atr-report/2"}', "\x00", '{"a": NaN}', "[" * 100_000, "1" * 5000]
)
def test_what_is_no_report_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(VerifyError) as caught:
        verify(path)
    assert caught.value.exit_code == 1


def test_a_key_that_stands_twice_is_refused(published: dict[str, Any], tmp_path: Path) -> None:
    path = forging.write(tmp_path / "r.json", published)
    path.write_text(path.read_text().replace('"version": 1', '"version": 1, "version": 1', 1))
    with pytest.raises(VerifyError, match="twice"):
        verify(path)


@pytest.mark.long  # that of limits is part of a quick run
@pytest.mark.parametrize("rounding", [1, 5])
def test_a_hostile_report_does_not_crash(tmp_path: Path, rounding: int) -> None:
    content = _publish(tmp_path / "s", WITHHOLDING, population_rounding=rounding)
    assert verify(forging.write(tmp_path / "r.json", content)) == []
    numbers = 0, -1, 10**18, 0.5, 1e-320, 1e308, True
    others = "", "g1", "\ud800", None, [], {}, ["a", "a"], {"a": "b"}
    alike = {("groups", 1), *(("fairness", i) for i in range(3, len(content["fairness"])))}
    alike |= {(name, i) for name in ("influence", "notes") for i in range(1, len(content[name]))}
    for path in (path for path in forging.nodes(content) if path[:2] not in alike):
        values = (*numbers, *others) if isinstance(forging.value_at(content, path), int | float) else others
        for changed in (
            *(forging.with_value(content, path, value) for value in values),
            forging.without(content, path),
        ):
            with suppress(VerifyError):
                assert isinstance(verify(forging.write(tmp_path / "r.json", changed)), list)


SMALL = st.integers(0, 12) | st.integers(0, 60) | st.just(1200)


def _shared_out(draw: st.DrawFn, people: int, outcomes: int) -> list[int]:
    """People by outcome: some share of those who are left, then the rest."""
    shared = []
    for _ in range(outcomes - 1):
        shared.append(round((people - sum(shared)) * draw(st.sampled_from([0, 1, 0.25, 0.5]))))
    return [*shared, people - sum(shared)]


def _optimal(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    return {
        "group_rates": draw(st.sampled_from(["exact", "free"])),
        "objective": draw(st.sampled_from(["privacy", "fidelity"])),
        "fidelity": {kind: "ranges.csv" if kind == "ranges" else draw(st.sampled_from([0.5, 0.8, 0.9, 1.0]))},
    }


def _calibrated(draw: st.DrawFn) -> dict[str, Any]:
    step, least = draw(st.sampled_from([0.05, 0.1, 0.25, 1 / 3])), draw(st.sampled_from([1, 3]))
    return {"mechanism": "calibrated", "step": step, "least": least}


@st.composite
def _series(draw: st.DrawFn, *, mechanism: str) -> tuple[Programme, Regions]:
    public = {f"p{i}": draw(st.integers(1, 3)) for i in range(draw(st.integers(1, 2)))}
    kind = draw(st.sampled_from(["delta", "alpha", "ranges"])) if mechanism == "optimal" else "limits"
    content = series.programme(
        **(_calibrated(draw) if mechanism == "calibrated" else _optimal(draw, kind)),
        max_confidence=draw(st.sampled_from([0.75, 0.877, 0.95, 1.0])),
        minimum_group_size=draw(st.sampled_from([1, 12, 50])),
        unattainable=draw(st.sampled_from(["withhold", "flatten"])),
        population_rounding=draw(st.sampled_from([1, 5, 7, 10, 100])),
        digits=draw(st.integers(1, 6)),
    )
    content["attributes"] = {
        name: {"role": role, "protected": draw(st.booleans()), "legitimate": draw(st.booleans())}
        for name, role in [*((name, "public") for name in public), ("secret", "sensitive")]
    }
    content["fairness"] = {}
    if draw(st.booleans()):
        distances = {"secret": {"kind": "nominal", "weight": draw(st.sampled_from([0, 1, 0.3]))}}
        measures = draw(st.sampled_from([["total_variation"], ["relative", "total_variation"]]))
        tolerance = draw(st.sampled_from([0.0, 0.2]))
        individual = {"distances": distances, "measures": measures, "tolerance": tolerance}
        content["fairness"]["individual"] = individual
    protected = [name for name, a in content["attributes"].items() if a["protected"]]
    for name in protected:
        content["attributes"][name]["reference"] = draw(st.sampled_from([{"by": "highest"}, {"by": "largest"}, "b"]))
    if protected and draw(st.booleans()):
        other = draw(st.sampled_from([name for name in content["attributes"] if name != protected[0]]))
        content["fairness"]["intersections"] = [[protected[0], other]]
    most = 2 if kind == "ranges" else 4
    outcomes = ("approved", "refused", "waiting", "passed on")[: draw(st.integers(2, most))]
    content["log"]["outcomes"] = {outcome: [outcome] for outcome in outcomes}
    sensitive = draw(st.integers(2, 4))
    groups, rows = [], []
    ranges: dict[tuple[str, ...], tuple[float, float]] = {}
    for values in product(*(["unknown", "b", "c"][:size] for size in public.values())):
        cells = [(f"s{i}", draw(SMALL), draw(st.sampled_from([0, 0, 1, 0.37, 0.5]))) for i in range(sensitive)]
        present = [(value, people, round(people * rate)) for value, people, rate in cells if people]
        groups += [(values, len(present))] if present else []
        rows += present
        for value, people, yes in present:
            apart = st.sampled_from([0.0, 0.0004, 0.1, 0.3, 1.0]) | st.floats(0, 1)
            low, high = max(0.0, yes / people - draw(apart)), min(1.0, yes / people + draw(apart))
            ranges[*values, value] = math.floor(20 * low) / 20, math.ceil(20 * high) / 20
    assume(rows)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "programme.yaml"
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
        head = [*public, "secret", "lower", "upper"]
        series.write_rows(path.with_name("ranges.csv"), head, [(*key, *ends) for key, ends in ranges.items()])
        programme = load(path)
    return programme, Regions(
        public=tuple(public),
        protection=programme.protection,
        outcomes=outcomes,
        group_values=tuple(values for values, _ in groups),
        region_values=tuple((value,) for value, _, _ in rows),
        counts=np.array(
            [(yes, *_shared_out(draw, people - yes, len(outcomes) - 1)) for _, people, yes in rows], dtype=np.int64
        ),
        offsets=np.cumsum([0, *(size for _, size in groups)], dtype=np.int64),
    )


@pytest.mark.parametrize("mechanism", ["optimal", pytest.param("calibrated", marks=pytest.mark.long)])
@given(data=st.data())
def test_no_true_report_is_ever_found_false(mechanism: str, data: st.DataObject) -> None:
    programme, regions = data.draw(_series(mechanism=mechanism))
    try:
        announced = whole.announced(programme, regions)
    except RefusedError:
        return
    report = whole.report(programme, regions, announced)
    whole.verifies(report, announced)


@pytest.mark.parametrize("path", sorted((TESTS / "vectors" / "reports").iterdir()), ids=lambda path: path.stem)
def test_a_report_of_the_first_format_names_who_verifies_it(path: Path) -> None:
    with pytest.raises(VerifyError, match=r"Release 0\.2\.0 of atr verifies it") as caught:
        verify(path)
    assert caught.value.exit_code == 2
