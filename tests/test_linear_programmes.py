"""Reports of the linear mechanism: what they announce and state, and what nobody can learn from them."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atr import announcement as announcing
from atr.programme import Programme
from atr.regions import Regions
from atr.report import build, model
from atr.report.html import report_html
from atr.report.verify import check, findings, verify
from tests import series, whole

quick = pytest.mark.usefixtures("quick")
Counts = dict[tuple[str, str], tuple[int, int]]
Content = dict[str, Any]

FACE_VALUE = {"reader": "face_value", "max_confidence": 0.675}
INFORMED = {"reader": "informed", "max_confidence": 0.8}
SOME_FLAT = {"reader": "informed", "max_confidence": 0.75}
BOTH_FLAT = {"reader": "informed", "max_confidence": 0.55, "unattainable": "flatten"}
POLICIES = {"face value": FACE_VALUE, "informed": INFORMED, "some flattened": SOME_FLAT, "all flattened": BOTH_FLAT}

TWO = ("approved", "refused")
THREE = ("approved", "deferred", "refused")


def _programme(outcomes: tuple[str, ...] = TWO, **policy: Any) -> Content:
    content = series.programme(**{"mechanism": "linear", "population_rounding": 1, **policy})
    content["log"]["outcomes"] = {name: [name] for name in outcomes}
    content["attributes"]["secret"]["protected"] = True
    return content


def _published(folder: Path, counts: dict[tuple[str, str], tuple[int, ...]], content: Content) -> tuple[Path, Content]:
    """The report of a log with so many people with each outcome."""
    names = list(content["log"]["outcomes"])
    path = series.write_series(folder, {}, content=content)
    rows = [
        (f"{key[0]}-{key[1]}-{name}-{i}", "2024-05-06", *key, name)
        for key, people in counts.items()
        for name, n in zip(names, people, strict=True)
        for i in range(n)
    ]
    series.write_rows(folder / "log.csv", ["id", "day", "public", "secret", "result"], rows)
    documents = series.publish(path).documents
    return documents, json.loads((documents / "report.json").read_text())


def _two(counts: Counts) -> dict[tuple[str, str], tuple[int, ...]]:
    return {key: (yes, people - yes) for key, (people, yes) in counts.items()}


def _of(report: Content, public: str) -> Content:
    group: Content = next(g for g in report["groups"] if g["public"]["public"] == public)
    return group


def _chances(report: Content, public: str, outcome: str = "approved") -> list[float]:
    by_value = {r["sensitive"]["secret"]: r["announced"][outcome] for r in _of(report, public)["regions"]}
    return [by_value[name] for name in ("below 100k", "100k to 200k", "above 200k")]


def _dossier(folder: Path) -> Content:
    (path,) = folder.rglob("dossier.json")
    content: Content = json.loads(path.read_text())
    return content


CARD = _two(series.card(50))
SPLIT = {key: (yes, rest - rest // 3, rest // 3) for key, (yes, rest) in CARD.items()}
"""The same with a third outcome, for a third of those who were refused."""


@quick
@pytest.mark.parametrize("rounding", [1, 5])
def test_the_papers_example_at_face_value(tmp_path: Path, rounding: int) -> None:
    documents, report = _published(tmp_path, CARD, _programme(**FACE_VALUE, population_rounding=rounding))
    assert _chances(report, "women") == pytest.approx([0.0574, 0.0574, 0.675], abs=0.0015)
    assert _chances(report, "men") == pytest.approx([0.0625, 0.4792, 0.8958], abs=0.0015)
    assert [(g["status"], g["pooled"]) for g in report["groups"]] == [("announced", True)] * 2
    assert report["privacy"]["max_confidence"] <= 0.675
    assert report["privacy"]["prior_confidence"] == 0.6
    assert [_of(report, who)["rate"]["approved"] for who in ("women", "men")] == [0.15, 0.38]
    by_public = [e["range"] for e in report["fairness"] if e["attribute"] == "public"]
    assert all(low == high for low, high in by_public), "rates are exact"
    assert report["policy"]["fidelity"] == {"linear": None}
    assert report["fidelity"] == {"kind": "linear", "level": None, "largest_change": None}
    assert verify(documents / "report.json") == []
    assert all(c["passed"] for c in _dossier(tmp_path)["checks"])
    with (documents / "announced_rules.csv").open(newline="", encoding="utf-8") as file:
        assert {row["pooled"] for row in csv.DictReader(file)} == {"true"}


@quick
def test_the_papers_example_before_an_informed_reader(tmp_path: Path) -> None:
    documents, report = _published(tmp_path / "80", CARD, _programme(**INFORMED))
    assert _chances(report, "women") == pytest.approx([0.0353, 0.0353, 0.8], abs=0.0015)
    assert _chances(report, "men") == [0, 0.5, 1], "as they are"
    assert [(g["public"]["public"], g["pooled"]) for g in report["groups"]] == [("men", False), ("women", True)]
    assert "finds it equally likely for a rule to lie anywhere" in report["privacy"]["holds_for"]
    assert verify(documents / "report.json") == []
    (women,) = (g for g in _dossier(tmp_path / "80")["groups"] if g["values"] == ["women"])
    assert women["reduction"] == {"r": pytest.approx(1), "safe_limit": pytest.approx(0.7647, abs=5e-5), "pooled": True}
    assert women["beta"] == pytest.approx(0.8)
    assert women["beta_other"] is None

    documents, report = _published(tmp_path / "75", CARD, _programme(**SOME_FLAT))
    assert _chances(report, "women") == [0.15] * 3
    assert (_of(report, "women")["status"], _of(report, "women")["flattened_for"]) == ("flattened", "reader")
    assert not _of(report, "men")["pooled"], "0.72 at most"
    assert report["privacy"]["prior_confidence"] == 0.6, "that of the flattened group, which is below the ceiling"
    assert "flattened_confidence" not in report["privacy"]
    assert verify(documents / "report.json") == []


@quick
@pytest.mark.parametrize("name", POLICIES)
def test_three_outcomes(tmp_path: Path, name: str) -> None:
    documents, report = _published(tmp_path, SPLIT, _programme(THREE, **POLICIES[name]))
    assert verify(documents / "report.json") == []
    assert all(c["passed"] for c in _dossier(tmp_path)["checks"])
    if name == "face value":
        assert _chances(report, "women") == pytest.approx([0.0574, 0.0574, 0.675], abs=0.0015)
        deferred, refused = (_chances(report, "women", outcome) for outcome in ("deferred", "refused"))
        assert deferred == pytest.approx([2 * x for x in refused], abs=0.005)


@quick
def test_a_reader_is_told_what_was_done_and_for_whom_the_guarantee_holds(tmp_path: Path) -> None:
    said = {}
    for name, policy in POLICIES.items():
        documents, report = _published(tmp_path / name, CARD, _programme(**policy))
        notes = {note["id"]: note["text"].replace("\u00a0", " ") for note in report["notes"]}
        html = (documents / "report.html").read_text().replace("\u00a0", " ").replace("&nbsp;", " ")
        said[name] = notes, html
        assert "Objective" not in html
        assert "nothing is promised of single chances" in html
        assert "arXiv 2101.09689" in html
        assert "δ" not in html
    notes, html = said["face value"]
    assert "drawn towards the group’s rate" in notes["altered"]
    assert "reverses it" in notes["limits"]
    assert "takes the announced chances as the chances" in notes["guarantee"]
    assert "(pooled)" in html
    notes, html = said["informed"]
    assert "half-way between the limit and the most extreme rule" in notes["altered"]
    assert "can be at most 80 % sure of anybody’s secret, the ceiling of the policy" in notes["guarantee"]
    assert "what this reader expects of them on average" in notes["guarantee"]
    assert "82 % instead of 80 %" in notes["limits"]
    assert "announced as they are" in notes["exact"]
    assert "A reader who knows how these rules were made" in html
    notes, _ = said["some flattened"]
    assert notes.keys() >= {"altered", "flattened-for-reader"}
    assert "flattened" not in notes
    assert "whatever its rules are" in notes["flattened-for-reader"]
    notes, html = said["all flattened"]
    assert notes.keys() >= {"flattened", "flattened-for-reader", "guarantee"}
    assert "altered" not in notes
    assert "for this reason" in notes["flattened"]
    assert "for another reason" in notes["flattened-for-reader"]
    page = next((tmp_path / "informed").rglob("dossier.html")).read_text()
    assert "Safe limit" in page
    assert "there is no curve to draw" in page


@quick
@pytest.mark.parametrize("name", ["face value", "informed"])
def test_rules_that_are_pooled_give_the_same_public_files(tmp_path: Path, name: str) -> None:
    """Women as extreme as can be, and at r = 0.867 and 0.733 in the same direction, all with 150 approvals."""
    published = []
    for i, approvals in enumerate([(0, 0, 150), (12, 5, 133), (24, 10, 116)]):
        people = dict(CARD)
        for value, yes in zip(("below 100k", "100k to 200k", "above 200k"), approvals, strict=True):
            people["women", value] = (yes, sum(CARD["women", value]) - yes)
        documents, report = _published(tmp_path / str(i), people, _programme(**POLICIES[name]))
        assert _of(report, "women")["pooled"]
        published.append(series.files(documents))
    assert published[0] == published[1] == published[2]


@quick
def test_a_group_flattened_for_the_reader_tells_its_rate_only(tmp_path: Path) -> None:
    published = []
    for i, approvals in enumerate([(0, 0, 150), (150, 0, 0), (90, 37, 22)]):
        people = dict(CARD)
        for value, yes in zip(("below 100k", "100k to 200k", "above 200k"), approvals, strict=True):
            people["women", value] = (yes, sum(CARD["women", value]) - yes)
        documents, report = _published(tmp_path / str(i), people, _programme(**SOME_FLAT))
        assert _of(report, "women")["flattened_for"] == "reader"
        published.append(series.files(documents))
    assert published[0] == published[1] == published[2]


# --- reports that were tampered with


@pytest.fixture(scope="module", params=[*((name, TWO) for name in POLICIES), ("informed", THREE)])
def honest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Content:
    """A report with exact populations."""
    name, outcomes = request.param
    with series.quick():
        counts = CARD if outcomes == TWO else SPLIT
        return _published(tmp_path_factory.mktemp("honest"), counts, _programme(outcomes, **POLICIES[name]))[1]


def _findings(content: Content) -> Iterator[str]:
    try:
        report = model.PublicReport.model_validate_json(json.dumps(content), strict=True)
    except ValueError as error:
        yield str(error)
    else:
        yield from map(str, findings(report))


def _numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _numbers(inner, (*path, key))


def test_a_number_changed_in_the_last_digit_is_found(honest: Content) -> None:
    assert list(_findings(honest)) == []
    without_notes = {**honest, "notes": []}
    usual = set(_findings(without_notes))
    recomputed = {name: honest[name] for name in ("privacy", "fidelity", "coverage", "groups", "fairness")}
    for *inside, last in _numbers(recomputed):
        for sign in (1, -1):
            forged = copy.deepcopy(without_notes)
            place = forged
            for key in inside:
                place = place[key]
            percent = {"rate", "rates", "announced_share"} & {*inside, last}
            step = 1 if isinstance(place[last], int) else 0.01 if percent else 0.001
            place[last] = round(place[last] + sign * step, 9)
            assert any(finding not in usual for finding in _findings(forged)), (inside, last, sign)


def _each(content: Content, what: Callable[[Content], Any], status: str) -> bool:
    groups = [group for group in content["groups"] if group["status"] == status]
    for group in groups:
        what(group)
    return bool(groups)


FORGERIES: dict[str, Callable[[Content], Any]] = {
    "the other reader": lambda r: r["policy"].update(
        reader="informed" if r["policy"]["reader"] == "face_value" else "face_value"
    ),
    "the other mechanism": lambda r: r["policy"].update(mechanism="optimal"),
    "no mechanism": lambda r: r["policy"].update(mechanism="none"),
    "free rates": lambda r: r["policy"].update(group_rates="free"),
    "an objective": lambda r: r["policy"].update(objective="fidelity"),
    "a promise": lambda r: r["fidelity"].update(kind="delta", level=0.9, largest_change=0.1),
    "a level": lambda r: r["fidelity"].update(level=0.9),
    "a largest change": lambda r: r["fidelity"].update(largest_change=0.1),
    "a promise of the policy": lambda r: r["policy"].update(fidelity={"delta": 0.9}),
    "not told what is pooled": lambda r: _each(r, lambda g: g.pop("pooled"), "announced") or r["groups"].clear(),
    "pooled if flattened": lambda r: _each(r, lambda g: g.update(pooled=True), "flattened") or r["groups"].clear(),
    "pooled the other way round": lambda r: (
        _each(r, lambda g: g.update(pooled=not g["pooled"]), "announced") or r["groups"].clear()
    ),
    "flattened for another reason": lambda r: (
        _each(r, lambda g: g.update(flattened_for=None if g.get("flattened_for") else "reader"), "flattened")
        or r["groups"].clear()
    ),
    "for a reader, but not flattened": lambda r: (
        _each(r, lambda g: g.update(flattened_for="reader"), "announced") or r["groups"].clear()
    ),
    "no note": lambda r: r["notes"].pop(0),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found(name: str, honest: Content) -> None:
    forged = copy.deepcopy(honest)
    FORGERIES[name](forged)
    assert list(_findings(forged))


@quick
def test_a_group_that_would_be_pooled_or_flattened_cannot_pass_for_another(tmp_path: Path) -> None:
    """The chances alone bear it out, whatever else is stated."""
    for rounding in (1, 5):
        _, report = _published(tmp_path / f"{rounding}", CARD, _programme(**INFORMED, population_rounding=rounding))
        _of(report, "women")["pooled"] = False
        assert any("more extreme than those" in finding for finding in _findings(report))
        lower = copy.deepcopy(report)
        lower["policy"]["max_confidence"] = 0.75
        assert any("must not be announced" in finding for finding in _findings(lower))
        _, flat = _published(tmp_path / f"flat-{rounding}", CARD, _programme(**SOME_FLAT, population_rounding=rounding))
        flat["policy"]["max_confidence"] = 0.82
        assert any("could be announced to this reader" in finding for finding in _findings(flat))


# --- over random logs


@st.composite
def _logs(draw: st.DrawFn) -> tuple[Programme, Regions]:
    outcomes = draw(st.sampled_from([TWO, THREE]))
    content = _programme(
        outcomes,
        reader=draw(st.sampled_from(["face_value", "informed"])),
        unattainable=draw(st.sampled_from(["withhold", "flatten"])),
        max_confidence=draw(st.sampled_from([0.6, 0.755, 0.8, 0.95, 1.0])),
        minimum_group_size=draw(st.sampled_from([1, 10, 50])),
        population_rounding=draw(st.sampled_from([1, 5, 10])),
        digits=draw(st.integers(1, 5)),
    )
    content["attributes"]["public"]["legitimate"] = draw(st.booleans())
    if draw(st.booleans()):
        content["attributes"]["secret"]["sets"] = {"some": ["s0", "s1"]}
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    most, spread = draw(st.sampled_from([8, 70, 1500])), draw(st.sampled_from([0.1, 1.0, 20.0]))
    counts = [
        seed.multinomial(seed.integers(1, most), seed.dirichlet(np.full(len(outcomes), spread)))
        for _ in range(sum(sizes))
    ]
    programme = Programme.model_validate(content)
    return programme, Regions(
        public=("public",),
        protection=programme.protection,
        outcomes=outcomes,
        group_values=tuple((f"g{i}",) for i in range(len(sizes))),
        region_values=tuple((f"s{i}",) for size in sizes for i in range(size)),
        counts=np.array(counts, dtype=np.int64),
        offsets=np.cumsum([0, *sizes], dtype=np.int64),
    )


def _made(
    programme: Programme, regions: Regions
) -> tuple[announcing.Solved, announcing.Announcement, model.PublicReport]:
    solved = whole.solved(programme, regions)
    announced = announcing.announce(regions, solved, programme.policy)
    return solved, announced, whole.report(programme, regions, announced)


SETTINGS = settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@given(_logs())
@SETTINGS
def test_what_is_stated_is_true_and_can_be_recomputed(made: tuple[Programme, Regions]) -> None:
    programme, regions = made
    solved, announced, report = _made(programme, regions)
    if not len(announced.groups):
        return
    members, _ = announcing.members_of(regions, announced.groups)
    true = regions.counts[members] / regions.population[members, None]
    held = build.cells(announced, policy=programme.policy)
    assert (held.lower - 1e-9 <= true).all()
    assert (true <= held.upper + 1e-9).all()
    starts = announced.offsets[:-1]
    for a in range(held.outcomes):
        with_outcome = np.add.reduceat(regions.counts[members, a], starts)
        totals = held.event(a).totals
        assert totals is not None
        assert (totals[:, 0] <= with_outcome).all()
        assert (with_outcome <= totals[:, 1]).all()
    whole.verifies(report, announced)
    assert whole.failed_checks(programme, regions, solved, announced, report) == []
    assert report_html(report, sha256="0" * 64)


@given(_logs(), st.integers(0, 2**32 - 1))
@SETTINGS
def test_who_is_flattened_follows_from_populations_and_rates(made: tuple[Programme, Regions], seed: int) -> None:
    programme, regions = made
    counts, drawn = regions.counts.copy(), np.random.default_rng(seed)
    for first, end in zip(regions.offsets[:-1], regions.offsets[1:], strict=True):
        people = regions.population[first:end]
        outcome = drawn.permutation(np.repeat(np.arange(counts.shape[1]), counts[first:end].sum(axis=0)))
        for region, got in zip(range(first, end), np.split(outcome, np.cumsum(people)[:-1]), strict=True):
            counts[region] = np.bincount(got, minlength=counts.shape[1])
    other = Regions(
        public=regions.public,
        protection=regions.protection,
        outcomes=regions.outcomes,
        group_values=regions.group_values,
        region_values=regions.region_values,
        counts=counts,
        offsets=regions.offsets,
    )
    told = [announcing.standing(log, programme.policy).tolist() for log in (regions, other)]
    assert told[0] == told[1]
    flat = [[g for g in _made(programme, log)[2].groups if g.status == "flattened"] for log in (regions, other)]
    assert flat[0] == flat[1]


def test_nobody_is_announced() -> None:
    programme = Programme.model_validate(_programme(**INFORMED, minimum_group_size=500))
    regions = Regions(
        public=("public",),
        protection=programme.protection,
        outcomes=TWO,
        group_values=(("one",),),
        region_values=(("a",), ("b",)),
        counts=np.array([[3, 4], [5, 6]]),
        offsets=np.array([0, 2]),
    )
    _, announced, report = _made(programme, regions)
    assert not len(announced.groups)
    assert check(report) == []
