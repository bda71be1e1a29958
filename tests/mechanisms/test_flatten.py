"""Flattening: a group that prior knowledge alone makes surer than the ceiling shows its rate and nothing more."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.confidence import privacy_limit
from atr.core.disclosure import decided
from atr.core.groups import Groups
from atr.core.publication import published_population
from atr.core.regions import DisclosureStatus, Regions
from atr.documents.html import ReportPage
from atr.errors import RefusedError
from atr.programme import Programme
from atr.verify import verify
from tests.helpers import forging, note_texts, series, whole

quick = pytest.mark.usefixtures("quick")
Counts = dict[tuple[str, str], tuple[int, int]]

LOPSIDED: Counts = {("lopsided", "a"): (391, 100), ("lopsided", "b"): (12, 12)}
EVEN: Counts = {("even", "a"): (63, 30), ("even", "b"): (57, 20)}
TINY: Counts = {("tiny", "a"): (5, 3)}


def _published(folder: Path, counts: Counts, **policy: Any) -> tuple[Path, dict[str, Any]]:
    documents = series.publish(series.write_series(folder, counts, **{"unattainable": "flatten", **policy})).documents
    return documents, json.loads((documents / "report.json").read_text())


def _dossier(folder: Path) -> dict[str, Any]:
    (path,) = folder.rglob("dossier.json")
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def _population(folder: Path, counts: Counts) -> Path:
    """The people of the regions that are announced, and of the flattened group in all."""
    flat = [key for key in counts if key[0] == "lopsided"]
    rows = [(*key, people) for key, (people, _) in counts.items() if key not in flat]
    rows += [("lopsided", "", sum(counts[key][0] for key in flat))]
    series.write_rows(folder / "population.csv", ["public", "secret", "population"], rows)
    return folder / "population.csv"


@quick
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
@pytest.mark.parametrize("rounding", [1, 5])
def test_one_group_above_the_ceiling_shows_its_rate(tmp_path: Path, rates: str, rounding: int) -> None:
    documents, report = _published(tmp_path, LOPSIDED | EVEN, group_rates=rates, population_rounding=rounding)
    statuses = [(g["public"]["public"], g["status"]) for g in report["groups"]]
    assert statuses == [("even", "announced"), ("lopsided", "flattened")]
    flat = report["groups"][1]
    assert flat["rate"]["approved"] == 0.28
    assert flat["regions"] == []
    assert report["coverage"]["groups"] == {"announced": 2, "withheld_for_size": 0, "withheld": 0}
    assert report["privacy"]["max_confidence"] <= 0.95
    assert report["privacy"]["binding_group"] == "g1"
    assert verify(documents / "report.json") == []
    assert verify(documents / "report.json", population=_population(tmp_path, LOPSIDED | EVEN)) == []
    content = _dossier(tmp_path)
    assert all(c["passed"] for c in content["checks"])
    assert [g["status"] for g in content["groups"]] == ["announced", "flattened"]
    notes = note_texts.by_id(report)
    assert "surer of somebody’s sensitive attributes (secret) than the ceiling allows (95%)" in notes["flattened"]
    assert "All of this holds outside flattened groups." in notes["guarantee"]
    assert "a reader can be surer than the ceiling allows (95%) from numbers of people alone" in notes["guarantee"]
    assert "outside this promise" in notes["altered"]


@quick
def test_a_group_of_too_few_people_is_never_flattened(tmp_path: Path) -> None:
    """It joins one that can be announced: its rate would tell of the decisions about a few people."""
    documents, report = _published(tmp_path, LOPSIDED | EVEN | TINY)
    flat, rest = report["groups"]
    assert (flat["public"], flat["status"], flat["population"]) == ({"public": "lopsided"}, "flattened", 405)
    assert (rest["public"], rest["status"], rest["joined"]) == ({}, "rest", 2)
    assert rest["mixed"] == {"public": ["even", "tiny"]}
    assert verify(documents / "report.json") == []


@pytest.mark.long
@quick
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_ranges_do_not_tell_a_flattened_groups_exact_size(tmp_path: Path, rates: str) -> None:
    """Of 97 to 100 people with a rate of 66 %, one whole number is possible; of 250, there are three."""
    widths = []
    for people, approved in ((100, 66), (99, 65), (98, 65), (250, 165)):
        flat: Counts = {("lopsided", "a"): (people - 2, approved - 1), ("lopsided", "b"): (2, 1)}
        documents, report = _published(tmp_path / str(people), flat | EVEN, group_rates=rates)
        (entry,) = [e for e in report["fairness"] if e["measure"] == "statistical_parity"]
        assert report["groups"][1]["rate"]["approved"] == 0.66
        widths.append(round(entry["range"][1] - entry["range"][0], 3))
        assert verify(documents / "report.json") == []
    assert len(set(widths)) == 1
    assert widths[0] == 0 if rates == "exact" else widths[0] >= 0.01


@quick
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_all_groups_above_the_ceiling(tmp_path: Path, rates: str) -> None:
    counts = LOPSIDED | {("alike", "a"): (60, 60)}
    documents, report = _published(tmp_path, counts, group_rates=rates, fidelity={"delta": 1.0})
    assert {g["status"] for g in report["groups"]} == {"flattened"}
    assert report["privacy"] == {
        "max_confidence": None, "prior_confidence": None, "min_uncertainty": None, "binding_group": None,
        "binding_set": None, "readers": {}, "leakage": None,
    }  # fmt: skip
    assert verify(documents / "report.json") == []
    assert all(c["passed"] for c in _dossier(tmp_path)["checks"])
    assert {note["id"] for note in report["notes"]}.isdisjoint({"altered", "guarantee", "not_covered", "exact"})
    html = (documents / "report.html").read_text()
    assert "Nothing is told within a group." in html
    assert "Every number here is the true one" not in html


@quick
def test_nothing_is_flattened_below_the_ceiling(tmp_path: Path) -> None:
    _, flattening = _published(tmp_path / "flatten", EVEN)
    _, withholding = _published(tmp_path / "withhold", EVEN, unattainable="withhold")
    for part in ("privacy", "groups", "coverage", "fairness", "notes"):
        assert flattening[part] == withholding[part]


@quick
def test_a_flattened_group_needs_no_range_and_has_none(tmp_path: Path) -> None:
    series.write_ranges(tmp_path / "ranges.csv", dict.fromkeys(EVEN, (0.2, 0.6)))
    policy = {"fidelity": {"ranges": "ranges.csv"}, "population_rounding": 1}
    before = {("a " + public, secret): pair for (public, secret), pair in LOPSIDED.items()}
    documents, report = _published(tmp_path, before | EVEN, **policy)
    assert verify(documents / "report.json") == []
    assert [[r["limits"] for r in g["regions"]] for g in report["groups"]] == [
        [],
        [{"approved": [0.2, 0.6], "refused": [0.4, 0.8]}] * 2,
    ]
    with (documents / "announced_rules.csv").open(newline="", encoding="utf-8") as file:
        rows = [(row["status"], row["lower"], row["upper"]) for row in csv.DictReader(file)]
    assert rows == [("flattened", "", "")] + [("announced", "0.200", "0.600")] * 2


@quick
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_only_the_rate_of_a_flattened_group_is_told(tmp_path: Path, rates: str) -> None:
    """The exact rate, and comparisons by it; where rates of groups are free, the printed one."""
    documents, _ = _published(tmp_path / "one", LOPSIDED | EVEN, group_rates=rates)
    for i, yes in enumerate([(112, 0), (100, 12)] if rates == "exact" else [(112, 0), (99, 12), (103, 11)]):
        people = {key: (n, k) for (key, (n, _)), k in zip(LOPSIDED.items(), yes, strict=True)}
        again, _ = _published(tmp_path / f"other-{i}", people | EVEN, group_rates=rates)
        assert series.files(documents) == series.files(again)


@quick
@pytest.mark.parametrize("rounding", [1, 5])
def test_no_document_tells_who_is_in_a_flattened_group(tmp_path: Path, rounding: int) -> None:
    """Neither what secrets its people have nor how many have each: groups of the same size give the same bytes."""
    hidden = {("lopsided", "first of its own"): (391, 100), ("lopsided", "second of its own"): (12, 12)}
    documents, _ = _published(tmp_path / "one", hidden | EVEN, population_rounding=rounding)
    for content in series.files(documents).values():
        assert b"of its own" not in content
    other = {("lopsided", "a"): (390, 109), ("lopsided", "third"): (13, 3)}
    again, _ = _published(tmp_path / "other", other | EVEN, population_rounding=rounding)
    assert series.files(documents) == series.files(again)


# --- reports that were tampered with


def _rate(group: dict[str, Any], rate: float) -> None:
    group["rate"] = {"approved": rate, "refused": round(1 - rate, 2)}


def _rows(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows that tell no more than the rate of the flattened group."""
    rate, people = report["groups"][1]["rate"], report["groups"][1]["population"]
    told = {"announced": rate, "limits": None}
    return [{"sensitive": {"secret": s}, "population": n, **told} for s, n in (("a", people - 10), ("b", 10))]


TAMPERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "rows of its own": lambda r: r["groups"][1].update(regions=_rows(r)),
    "digits of chances": lambda r: r["groups"][1].update(digits=3),
    "leakage": lambda r: r["groups"][1].update(leakage=r["groups"][0]["leakage"]),
    "another rate": lambda r: _rate(r["groups"][1], 0.29),
    "another rate by far": lambda r: _rate(r["groups"][1], 0.35),
    "flattened for no reason": lambda r: r["groups"][0].update(status="flattened"),
    "said to be announced": lambda r: r["groups"][1].update(status="announced"),
    "said to be withheld": lambda r: r["groups"][1].update(status="withheld"),
    "said to show its rate for want of limits": lambda r: r["groups"][1].update(status="rate_only"),
    "a policy that withholds": lambda r: r["policy"].update(unattainable="withhold"),
    "a policy that merges": lambda r: r["policy"].update(unattainable="coarsen"),
    "the flattened group binds": lambda r: r["privacy"].update(binding_group="g2"),
    "a confidence of its own": lambda r: r["privacy"].update(max_confidence=0.971),
    "a reader surer than the ceiling": lambda r: r["privacy"]["readers"].update(face_value=0.971),
    "a comparison that is not exact": lambda r: r["fairness"][2].update(range=[0.0, 0.9]),
    "no note": lambda r: r.update(notes=[n for n in r["notes"] if n["id"] != "flattened"]),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """A report with exact and one with rounded populations."""
    with series.quick():
        folder = tmp_path_factory.mktemp("honest")
        return [_published(folder / f"{n}", LOPSIDED | EVEN, population_rounding=n)[1] for n in (1, 5)]


def _found(folder: Path, content: dict[str, Any]) -> list[str]:
    (folder / "report.json").write_text(json.dumps(content), encoding="utf-8")
    return [str(finding) for finding in verify(folder / "report.json")]


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_report_is_found(name: str, honest: list[dict[str, Any]], tmp_path: Path) -> None:
    for content in honest:
        forged = copy.deepcopy(content)
        assert _found(tmp_path, forged) == []
        TAMPERED[name](forged)
        assert _found(tmp_path, forged)


# --- several outcomes, several sensitive attributes, named sets

OUTCOMES = ("approved", "deferred", "refused")
Several = dict[tuple[str, ...], tuple[int, int, int]]
"""For the public value and each sensitive one, people by outcome."""

THIRDS: Several = {
    ("lopsided", "a", "x"): (100, 50, 50),
    ("lopsided", "b", "x"): (25, 80, 75),
    ("lopsided", "a", "y"): (5, 0, 5),
    ("even", "a", "x"): (40, 20, 20),
    ("even", "b", "x"): (20, 30, 10),
    ("even", "a", "y"): (20, 20, 20),
    ("even", "b", "y"): (10, 20, 30),
}
"""In the first group each outcome has a third, and no single region is above the ceiling, but the value x is."""
THREE_VALUES: Several = {
    ("lopsided", "a"): (4, 8, 3),
    ("lopsided", "b"): (100, 50, 50),
    ("lopsided", "c"): (75, 60, 50),
    ("even", "a"): (40, 30, 30),
    ("even", "b"): (30, 30, 40),
}


def _several(
    folder: Path, counts: Several, sets: dict[str, list[str]] | None = None, **policy: Any
) -> tuple[Path, dict[str, Any]]:
    content = series.programme(unattainable="flatten", **policy)
    content["log"]["outcomes"] = {outcome: [outcome] for outcome in OUTCOMES}
    sensitive = ["secret", "other"][: len(next(iter(counts))) - 1]
    content["attributes"] |= {name: {"role": "sensitive", "protected": True} for name in sensitive}
    if sets:
        content["attributes"]["secret"]["sets"] = sets
    path = series.write_series(folder, {}, content=content)
    people = [(k, o) for k, n in counts.items() for o, times in zip(OUTCOMES, n, strict=True) for _ in range(times)]
    rows = [(i, "2024-12-06", *values, outcome) for i, (values, outcome) in enumerate(people)]
    series.write_rows(folder / "log.csv", ["id", "day", "public", *sensitive, "result"], rows)
    documents = series.publish(path).documents
    return documents, json.loads((documents / "report.json").read_text())


@quick
@pytest.mark.parametrize("digits", [1, 3])
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_it_shows_the_rates_of_all_outcomes(tmp_path: Path, rates: str, digits: int) -> None:
    policy = {"group_rates": rates, "population_rounding": 1, "digits": digits}
    documents, report = _several(tmp_path, THIRDS, **policy)
    thirds = dict(zip(OUTCOMES, (0.33, 0.33, 0.33) if rates == "exact" else (0.34, 0.33, 0.33), strict=True))
    even, flat = report["groups"]
    assert (even["status"], flat["status"]) == ("announced", "flattened"), "380 of 390 have the value x"
    assert (flat["rate"], flat["regions"]) == (thirds, [])
    assert report["privacy"]["binding_group"] == "g1"
    assert verify(documents / "report.json") == []
    assert all(c["passed"] for c in _dossier(tmp_path)["checks"])
    with (documents / "announced_rules.csv").open(newline="", encoding="utf-8") as file:
        (row,) = [row for row in csv.DictReader(file) if row["status"] == "flattened"]
    assert [float(row[f"rate.{o}"]) for o in OUTCOMES] == pytest.approx([*thirds.values()], abs=0.5 * 10**-digits)
    assert {row[name] for name in row if name.startswith(("announced.", "sensitive."))} == {""}
    notes = note_texts.by_id(report)
    assert "the overall rate of each outcome, to the nearest percent, and nothing else" in notes["flattened"]
    said = "surer of somebody’s sensitive attributes (secret or other) than the ceiling allows (95%)"
    assert said in notes["flattened"]


@quick
def test_a_set_that_is_known_too_well_is_enough(tmp_path: Path) -> None:
    _, single = _several(tmp_path / "single", THREE_VALUES, population_rounding=1)
    assert {g["status"] for g in single["groups"]} == {"announced"}
    _, together = _several(tmp_path / "sets", THREE_VALUES, {"b or c": ["b", "c"]}, population_rounding=1)
    assert [g["status"] for g in together["groups"]] == ["announced", "flattened"]
    assert together["groups"][1]["regions"] == [], "385 of 400 are in the set"


@pytest.mark.long
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
@quick
def test_no_number_changes_unnoticed(tmp_path: Path, rates: str) -> None:
    _, content = _several(tmp_path, THIRDS, group_rates=rates, population_rounding=1)
    for path in forging.leaves({key: content[key] for key in forging.RECOMPUTED}):
        for sign in (1, -1):
            step = forging.step_of(path, forging.value_at(content, path))
            if "rate" in path or "rates" in path:  # half a percent of a flattened group is open to either side
                step *= 2
            assert forging.is_false(forging.changed(content, path, sign * step)), (path, sign)


# --- over random logs

ANY = st.integers(0, 9) | st.integers(0, 70) | st.integers(0, 1500)
ALIKE = st.integers(40, 60)


@st.composite
def _logs(draw: st.DrawFn) -> tuple[Programme, Regions]:
    content = series.programme(
        unattainable="flatten",
        group_rates=draw(st.sampled_from(["exact", "free"])),
        objective=draw(st.sampled_from(["privacy", "fidelity"])),
        fidelity={draw(st.sampled_from(["delta", "alpha"])): draw(st.sampled_from([0.1, 0.5, 0.9]))},
        max_confidence=draw(st.sampled_from([0.6, 0.755, 0.95])),
        minimum_group_size=draw(st.sampled_from([1, 10, 50])),
        population_rounding=draw(st.sampled_from([1, 5, 10])),
        digits=draw(st.integers(1, 5)),
    )
    content["log"]["outcomes"] = None
    content["attributes"]["secret"]["protected"] = draw(st.booleans())
    content["attributes"]["public"]["legitimate"] = draw(st.booleans())
    if draw(st.booleans()):
        content["attributes"]["secret"]["sets"] = {"not s0": ["s1", "s2"]}
    sensitive = ("secret", "other")[: draw(st.integers(1, 2))]
    content["attributes"] |= {name: {"role": "sensitive"} for name in sensitive[1:]}
    outcomes = draw(st.sampled_from([("approved", "refused"), OUTCOMES]))
    kinds = list(product(("s0", "s1", "s2"), *[("x", "y")] * (len(sensitive) - 1)))
    groups: list[tuple[str, int]] = []
    rows: list[tuple[tuple[str, ...], list[int]]] = []
    for name in ("one", "two", "three", "four")[: draw(st.integers(1, 4))]:
        sizes = draw(st.sampled_from([ANY, ALIKE]))
        drawn = [(values, draw(_split(sizes, len(outcomes)))) for values in kinds[: draw(st.integers(1, len(kinds)))]]
        present = [(values, people) for values, people in drawn if sum(people)]
        groups += [(name, len(present))] if present else []
        rows += present
    if not rows:
        groups, rows = [("one", 1)], [(kinds[0], [3, 4, 0][: len(outcomes)])]
    programme = Programme.model_validate(content)
    return programme, Regions(
        public=("public",),
        protection=programme.protection,
        outcomes=outcomes,
        group_values=tuple((name,) for name, _ in groups),
        region_values=tuple(values for values, _ in rows),
        counts=np.array([people for _, people in rows], dtype=np.int64),
        offsets=np.cumsum([0, *(size for _, size in groups)], dtype=np.int64),
    )


@st.composite
def _split(draw: st.DrawFn, sizes: st.SearchStrategy[int], outcomes: int) -> list[int]:
    """The people of a region, by outcome."""
    people = draw(sizes)
    ends = sorted(draw(st.integers(0, people)) for _ in range(outcomes - 1))
    return [end - start for start, end in pairwise([0, *ends, people])]


@given(_logs())
def test_only_prior_knowledge_puts_a_group_above_the_ceiling(made: tuple[Programme, Regions]) -> None:
    programme, regions = made
    solved = whole.solved(programme, regions)
    try:
        announced = whole.announced(programme, regions, solved)
    except RefusedError:
        return
    report = whole.report(programme, regions, announced)
    whole.verifies(report, announced)
    ceiling = Fraction(str(programme.policy.ceiling))
    printed = regions.take(announced.groups)
    people = published_population(printed.population, printed.offsets, rounding=programme.policy.population_rounding)
    assert not any(group.regions for group in report.flattened_groups)
    if not len(printed):
        return
    prior = np.maximum(
        *(
            privacy_limit(Groups(of, printed.decision, printed.offsets, printed.sets))
            for of in (printed.population, people)
        )
    )
    for flattened, confidence, sure in zip(announced.flattened, announced.confidences(), prior, strict=True):
        assert (sure > ceiling, confidence) == (True, 0) if flattened else confidence <= ceiling
    assert whole.failed_checks(programme, regions, solved, announced, report) == []
    assert "flattened" in ReportPage(report, "0" * 64).screen or not report.flattened_groups


@given(_logs(), st.randoms(use_true_random=False))
def test_a_flattened_group_tells_its_rate_only(made: tuple[Programme, Regions], random: Any) -> None:
    programme, regions = made
    counts = regions.counts.copy()
    for group in decided(regions, programme.policy).with_status(DisclosureStatus.FLATTENED):
        inside = slice(int(regions.offsets[group]), int(regions.offsets[group + 1]))
        people = np.repeat(np.arange(counts.shape[1]), counts[inside].sum(axis=0)).tolist()
        random.shuffle(people)
        ends = np.cumsum([0, *counts[inside].sum(axis=1)])
        counts[inside] = [np.bincount(people[a:b], minlength=counts.shape[1]) for a, b in pairwise(ends.tolist())]
    told = []
    for log in (regions, replace(regions, counts=counts)):
        try:
            announced = whole.announced(programme, log)
        except RefusedError as error:
            told.append(str(error))
        else:
            told.append(whole.report(programme, log, announced).to_json())
    assert told[0] == told[1]
