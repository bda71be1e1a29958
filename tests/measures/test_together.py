"""Features that meet in one programme: whole runs, and what readers rely on whatever is combined."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from atr import cli, terminal
from atr.errors import ProgrammeError, RefusedError
from atr.programme import load
from atr.report import model
from atr.report import series as series_of
from atr.schemas import schemas
from atr.verify import verify
from tests.helpers import forging, series, together
from tests.helpers.together import LEVELS, Content, Mix, Published

# Each row has a word for each feature, in the order of LEVELS.
MIXES = (
    "2 free delta fidelity withhold no set 1 none highest public whole variation yes no 5 40 3",
    "3 exact alpha fidelity coarsen no one 2 none largest public whole variation no no 5 40 5",
    "2 exact delta privacy withhold yes values 1 public named none sample both no no 10 40 3",
    "3 free delta fidelity withhold no both 2 mixed named none whole none yes yes 1 10 3",
    "2 free ranges privacy flatten yes set 1 none highest sensitive sample none yes yes 1 10 2",
    "2 free ranges fidelity withhold yes values 2 public largest sensitive whole variation no no 5 10 2",
    "3 free alpha fidelity flatten yes one 1 public highest public sample both yes yes 10 10 5",
    "2 free ranges privacy coarsen no both 1 none largest none whole both no no 10 40 3",
    "2 free alpha privacy withhold no one 1 mixed named sensitive whole none no no 5 40 3",
    "2 exact delta privacy coarsen no both 2 none largest sensitive sample both yes no 1 10 2",
    "2 exact ranges privacy flatten yes set 1 mixed named none sample none yes no 5 40 5",
    "2 free alpha privacy flatten yes both 1 public highest none whole none yes no 1 40 2",
    "2 free delta privacy flatten yes one 1 none largest none whole none no no 5 10 5",
    "2 free ranges privacy flatten yes one 1 none named public whole none yes no 1 10 5",
    "2 exact alpha privacy flatten yes set 1 none highest public sample none no no 10 40 2",
    "2 free alpha privacy coarsen no values 1 none largest public whole none no no 10 10 5",
    "3 exact alpha privacy flatten no values 2 mixed highest sensitive whole variation yes yes 10 40 5",
    "3 exact delta fidelity coarsen no set 2 mixed largest public sample both no yes 5 40 2",
    "2 free ranges privacy coarsen no one 1 public named none sample variation no no 1 10 2",
    "2 exact ranges fidelity withhold yes both 1 none highest public whole variation no no 5 10 5",
    "2 exact alpha privacy coarsen no set 2 public highest sensitive sample none yes yes 1 40 2",
    "2 exact alpha privacy flatten yes values 1 public largest none sample none yes yes 1 10 3",
)
QUICK = [row for row in MIXES if row.startswith("2 ") and " privacy " in row and " no yes " not in row][3:9]
"""Rows that are part of a quick run: of those that take little time."""
NOISE = 1e-9


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with series.quick():
        yield


def test_every_two_features_that_go_together_meet() -> None:
    mixes = [Mix.of(row) for row in MIXES]
    assert all(together.refusal(mix) is None for mix in mixes)
    assert together.pairs() - set().union(*map(together.covered, mixes)) == set()


# --- what holds whatever is combined


def _ends_in_a_draft(published: Published) -> None:
    assert published.outcome is not None
    assert published.outcome.new
    assert published.outcome.release.state == "draft"
    assert ("changes" in published.report) == (published.previous is not None)


def _is_verified(published: Published, folder: Path) -> None:
    assert verify(published.documents) == []
    exact = together.exact_populations(published, folder / "population.csv")
    assert verify(published.documents, population=exact) == []
    if published.previous is not None:
        assert verify(published.documents, population=exact, previous=published.previous) == []


def _people_are_those_of_the_log(published: Published) -> None:
    truth, rounding = published.truth, published.mix.rounding
    people = truth.people.sum(axis=1)
    assert (people > 0).all()
    under = np.array([isinstance(region["population"], dict) for _, region in truth.regions])
    assert ((people < rounding) == under).all()
    assert (np.abs(truth.printed - people)[~under] < rounding).all()
    for group in dict.fromkeys(truth.group):
        inside = truth.group == group
        total = truth.regions[int(np.flatnonzero(inside)[0])][0]["population"]
        assert abs(total - people[inside].sum()) <= rounding / 2
        told = truth.printed[inside & ~under].sum()
        assert told <= total <= max(told + rounding * (inside & under).sum(), rounding)


def _no_reader_is_surer_than_the_ceiling(published: Published) -> None:
    report, truth, digit = published.report, published.truth, 10.0**-published.mix.digits
    privacy, policy = report["privacy"], report["policy"]
    exact = truth.people.sum(axis=1)
    if policy["side_information"] == "population":
        known = [exact, truth.printed]
    else:
        known = [np.array([region.get("known", 1) for _, region in truth.regions])]
    ceilings = {(a["name"], None): a.get("max_confidence", policy["max_confidence"]) for a in report["attributes"]}
    for a in report["attributes"]:
        own = a.get("sets_max_confidence", {})
        ceilings |= {(a["name"], of_set): own.get(of_set, policy["max_confidence"]) for of_set in a["sets"]}
    below = truth.below_ceiling()
    stated = privacy["max_confidence"]
    assert (stated is None) == (not below)
    if stated is None:
        return
    surest = dict.fromkeys(ceilings, 0.0)
    for people in known:
        of_groups = truth.confidences(people)
        for group in below:
            for label, sure in of_groups[group].items():
                assert sure <= ceilings[label] + NOISE, (group, label)
                assert sure <= stated + NOISE, (group, label)
                surest[label] = max(surest[label], sure)
    assert stated <= policy["max_confidence"]
    assert stated - digit < max(surest.values()) + NOISE
    for own in privacy.get("own_ceilings", ()):
        label = own["attribute"], own["set"]
        assert own["ceiling"] == ceilings[label]
        assert surest[label] - NOISE <= own["max_confidence"] < surest[label] + digit + NOISE
    if policy["side_information"] != "population":
        of_groups = truth.confidences(truth.printed)
        printed = max(max(of_groups[group].values()) for group in below)
        assert printed - NOISE <= privacy["printed_confidence"] < printed + digit + NOISE
        assert all(of_groups[group][label] <= ceilings[label] + NOISE for group in below for label in of_groups[group])


def _promises_are_kept(published: Published) -> None:
    truth, report, digit = published.truth, published.report, 10.0**-published.mix.digits
    flat = truth.flat
    apart = np.abs(truth.chance - truth.true)[~flat]
    if "largest_change" in report["fidelity"] and len(apart):
        assert apart.max() <= report["fidelity"]["largest_change"] + NOISE
    for row, (_, region) in enumerate(truth.regions):
        if region.get("limits"):
            low, high = region["limits"][report["positive"]]
            assert low - NOISE <= truth.true[row, 0] <= high + NOISE
            assert low - NOISE <= truth.chance[row, 0] <= high + NOISE
    for group in dict.fromkeys(truth.group):
        rows = truth.group == group
        told = truth.regions[int(np.flatnonzero(rows)[0])][0]["rate"]
        if published.mix.rates == "exact" or flat[rows].all():
            true = truth.rates(rows)
            off = 0.01 if flat[rows].all() else 0.005 + digit * (0.5 if published.mix.outcomes == 2 else 1)
            assert [told[o] for o in truth.outcomes] == pytest.approx(true.tolist(), abs=off + NOISE)


def _inside(value: float, inside: list[float | None], *, slack: float) -> bool:
    low, high = inside
    if low is None:
        return math.isinf(value)
    return low - slack - NOISE <= value <= (math.inf if high is None else high + slack + NOISE)


def _true_figures_lie_in_the_ranges(published: Published) -> None:
    truth, digit = published.truth, 10.0**-published.mix.digits
    assert published.report["fairness"]
    for entry in published.report["fairness"]:
        if entry["measure"] == "individual_fairness":
            true = truth.individual(entry["pair"]["distance"], entry["pair"].get("least_people") or 0)
        else:
            true = truth.overall(entry) if entry.get("summary") else truth.comparison(entry)
        exact = entry["range"] == [entry["value"]] * 2
        assert _inside(true, entry["range"], slack=digit if exact else 0.0), (true, entry)
        low, high = entry["range"]
        assert low is None or entry["value"] is None or low <= entry["value"]
        assert high is None or entry["value"] is None or entry["value"] <= high


def _true_rates_lie_in_the_ranges(published: Published) -> None:
    truth = published.truth
    release = series_of.release(model.read(published.documents / "report.json"), sha256=None, alpha=0.05)
    assert {by.attribute for by in release.attributes} >= {
        e["attribute"] for e in published.report["fairness"] if e["attribute"] == "area"
    }
    for by in release.attributes:
        for group in by.groups:
            people = truth.people[truth.inside([by.attribute], group.group, {})].sum(axis=0)
            low, high = group.range or (group.rate - 0.005, group.rate + 0.005)
            assert low - NOISE <= people[0] / people.sum() <= high + NOISE, (by.attribute, group)
            assert group.counts[2] <= people.sum()


def _what_is_measured_is_declared(published: Published) -> None:
    mix, report = published.mix, published.report
    assert {e["measure"] for e in report["fairness"]} >= {"statistical_parity", "p_percent_rule"}
    assert ("sampling" in report["fairness"][0]) == (mix.coverage == "sample")
    alike = [e["pair"] for e in report["fairness"] if e["measure"] == "individual_fairness"]
    of_all_regions = [pair["distance"] for pair in alike if not pair.get("least_people")]
    assert len(of_all_regions) == {"none": 0, "variation": 1, "both": 2}[mix.individual]
    assert {pair["distance"] for pair in alike} == {*of_all_regions}
    by = [entry["attribute"] for entry in report["compared"]]
    assert ("area and age" in by) == (mix.intersections != "none")
    assert ("secret and area" in by) == (mix.intersections == "mixed")
    conditional = {e["attribute"] for e in report["fairness"] if e["measure"] == "conditional_statistical_parity"}
    assert bool(conditional) == (mix.legitimate != "none")
    people: dict[str, int] = {}
    for who in dict.fromkeys(published.truth.labels("area")):
        inside = np.array([who == own for own in published.truth.labels("area")])
        people[who] = int(published.truth.people[inside].sum())
    area = report["compared"][0]
    if mix.reference == "named" and "a1" in people:
        assert (area["reference"], area["chosen"]) == ("a1", "named")
    if mix.reference == "largest":
        assert people[area["reference"]] >= max(people.values()) - published.mix.rounding
    for entry in report["fairness"]:
        if interval := entry.get("sampling", {}).get("interval"):
            assert entry["measure"] != "p_percent_rule" or entry["value"] is None or _inside(
                entry["value"], interval, slack=0.05
            )  # fmt: skip


def _influences_add_up(published: Published) -> None:
    truth, report = published.truth, published.report
    single = [e for e in report["influence"] if len(e["inputs"]) == 1]
    every = next(e for e in report["influence"] if len(e["inputs"]) == len(report["attributes"]))
    slack = (len(single) + 1) * 0.5 * 10.0**-published.mix.digits + NOISE
    assert sum(e["shapley"] for e in single) == pytest.approx(every["value"], abs=slack)
    printed = truth.printed * truth.complete
    rate = np.average(truth.chance[:, 0], weights=printed)
    for i, of_group in enumerate(single[0]["groups"]):
        inside = truth.values[of_group["attribute"]] == of_group["group"]
        apart = np.average(truth.chance[inside, 0], weights=printed[inside]) - rate
        assert sum(e["groups"][i]["shapley"] for e in single) == pytest.approx(apart, abs=slack)
    declared = report["policy"].get("influence_sets", [])
    assert bool(declared) == (published.mix.sets == "yes")
    assert [e["inputs"] for e in report["influence"]][len(single) :][: len(declared)] == declared


def _the_files_agree(published: Published) -> None:
    report, documents = published.report, published.documents
    jsonschema.validate(report, json.loads(schemas()["report.schema.json"]))
    rules = [row for row in together.rows(documents / "announced_rules.csv") if row["status"] != "withheld"]
    assert len(rules) == len(published.truth.regions)
    for row, (group, region), flat in zip(rules, published.truth.regions, published.truth.flat, strict=True):
        told = region["population"]
        people = "" if flat else str(told) if isinstance(told, int) else f"under {told['below']}"
        assert (row["group"], row["status"], row["population"]) == (group["id"], group["status"], people)
        chances = {o: float(row[f"announced.{o}"]) for o in report["outcomes"] if row[f"announced.{o}"]}
        assert chances == (region["announced"] or {})
        hidden = {name: value for name, value in row.items() if name.startswith("sensitive.") and value}
        assert hidden == {f"sensitive.{n}": value for n, value in region["sensitive"].items()}
        assert {n: row[f"public.{n}"] for n in group["public"]} == group["public"]
        assert int(row.get("known") or 0) == region.get("known", 0)
        limits = (region.get("limits") or {}).get(report["positive"], [])
        assert [float(row[end]) for end in ("lower", "upper") if row.get(end)] == limits

    def number(text: str) -> float | None:
        return float(text) if text else None

    for row, entry in zip(together.rows(documents / "fairness.csv"), report["fairness"], strict=True):
        assert number(row["value"]) == entry["value"]
        assert [number(row["range_low"]), number(row["range_high"])] == entry["range"]
        assert (row["measure"], row["attribute"], row["group_a"], row["group_b"]) == (
            entry["measure"], entry["attribute"], *entry["groups"]
        )  # fmt: skip
        assert {n: row[f"condition.{n}"] for n in entry["condition"]} == entry["condition"]
        assert row["verdict"] == (entry["verdict"] or "")
        assert number(row.get("p_value", "")) == entry.get("sampling", {}).get("p_value")
        if "pair" in entry:
            assert number(row["outcomes_apart"]) == entry["pair"]["outcomes_apart"]
    figures = [row for row in together.rows(documents / "influence.csv") if row["measure"] == "influence"]
    assert [(row["inputs"].split(" + "), float(row["figure"]), row["outcome"]) for row in figures] == [
        (e["inputs"], figure, outcome)
        for e in report["influence"]
        for outcome, figure in [(report["outcomes"][0], e["value"]), *e.get("outcomes", {}).items()]
    ]


BROKEN = re.compile(r"\bNone\b(?! of)|\bnan\b|\binf\b|\bNaN\b|\bInfinity\b|\{\{|\{%|Undefined|<object|\[\]|\{\}")


def _pages_are_whole(published: Published) -> None:
    html = (published.documents / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<b>.?high", html), "values are escaped"
    text = unescape(re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL))
    assert not (found := BROKEN.search(text)), text[max(0, found.start() - 150) : found.end() + 50]
    attributes = " ".join(re.findall(r'(?:aria-label|title|alt|d|x|y|width|height|cx|cy)="([^"]*)"', html))
    assert not (found := BROKEN.search(attributes)), attributes[max(0, found.start() - 150) : found.end() + 50]


def _who_is_too_few_has_no_figure_of_its_own(published: Published) -> None:
    """That nobody shown has a value, or who is shown together with those who have it, is told; nothing more."""
    report = published.report
    assert all(group["public"].get("area") != together.TINY for group in report["groups"])
    assert all(together.TINY not in entry["groups"] for entry in report["fairness"])


def _tampering_is_found(published: Published, folder: Path) -> None:
    content, step = published.report, 10.0**-published.mix.digits
    random = np.random.default_rng(published.mix.seed)
    leaves = {part: [*forging.leaves({part: content[part]})] for part in DERIVED_FIELDS if content.get(part)}
    leaves = {part: found for part, paths in leaves.items() if (found := [path for path in paths if _follows(path)])}
    for part in random.choice([*leaves], size=min(3, len(leaves)), replace=False).tolist():
        path = leaves[part][int(random.integers(len(leaves[part])))]
        old = forging.value_at(content, path)
        if isinstance(old, bool):
            new: Any = not old
        elif isinstance(old, int):
            new = old + 3 * published.mix.rounding + 7
        else:
            by = step if part in ("influence", "surrogate") else 0.05 if published.mix.rounding < 10 else 0.1
            by *= max(1.0, old**2)  # a ratio far above 1 moves that much more with its small denominator
            new = round(old + (by if old < 0.5 else -by), 6)
        forged = forging.write(folder / "forged.json", forging.with_value(content, path, new))
        assert forging.is_found(forged), (path, old, new)


DERIVED_FIELDS = ("fairness", "influence", "surrogate", "groups", "privacy", "changes")


def _follows(path: tuple[Any, ...]) -> bool:
    """Whether a number follows from others, to more than the rounding of people leaves open."""
    open_ = {"known", "people", "population", "joined", "limits", "version"}
    return not (open_ | {"previous_range", "previous", "previous_threshold"}) & {*path}


def _whole(published: Published, folder: Path) -> None:
    """What holds of the documents, however they were made."""
    _is_verified(published, folder)
    _people_are_those_of_the_log(published)
    _no_reader_is_surer_than_the_ceiling(published)
    _promises_are_kept(published)
    _true_figures_lie_in_the_ranges(published)
    _true_rates_lie_in_the_ranges(published)
    _what_is_measured_is_declared(published)
    _influences_add_up(published)
    _the_files_agree(published)
    _pages_are_whole(published)
    _who_is_too_few_has_no_figure_of_its_own(published)
    _tampering_is_found(published, folder)


@pytest.mark.parametrize("row", [pytest.param(row, marks=() if row in QUICK else pytest.mark.long) for row in MIXES])
def test_what_readers_rely_on_holds_whatever_is_combined(row: str, tmp_path: Path) -> None:
    published = together.publish(tmp_path / "series", Mix.of(row, seed=MIXES.index(row)))
    _ends_in_a_draft(published)
    _whole(published, tmp_path)


@pytest.mark.parametrize(
    "row", [MIXES[4], *(pytest.param(MIXES[i], marks=pytest.mark.long) for i in (12, 16, 19, 20))]
)  # elsewhere everybody is announced
def test_decisions_that_are_not_announced_leave_no_trace(row: str, tmp_path: Path) -> None:
    """Of withheld groups nothing follows from the decisions, of flattened ones nothing but from their rates."""
    mix = Mix.of(row, seed=MIXES.index(row))
    published = together.made(tmp_path / "a", mix)
    flattened = [place for place, status in published.truth.places.items() if status == "flattened"]
    withheld = sorted({key[:2] for key in published.counts} - published.truth.places.keys())
    assert flattened or withheld
    counts = together.otherwise_decided(published.counts, withheld, keep_rates=False, seed=1)
    counts = together.otherwise_decided(counts, flattened, keep_rates=True, seed=2)
    assert counts != published.counts
    assert series.files(together.made(tmp_path / "b", mix, counts).documents) == series.files(published.documents)


@pytest.mark.long
@given(st.fixed_dictionaries({name: st.sampled_from(levels) for name, levels in LEVELS.items()}), st.integers(0, 99))
def test_what_readers_rely_on_holds_of_any_combination(features: dict[str, Any], seed: int) -> None:
    mix = Mix(**features, seed=seed)
    assume(together.refusal(mix) is None)
    with TemporaryDirectory() as name:
        try:
            published = together.made(Path(name) / "series", mix)
        except RefusedError:
            return
        _whole(published, Path(name))


# --- what does not go together


def _said(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr("sys.argv", ["atr", "check", str(path)])
    assert terminal.run(cli.app) == ProgrammeError.exit_code == 1
    told = capsys.readouterr()
    assert told.out == ""
    return told.err


def _is_one_clear_message(said: str, path: Path, key: str, message: str) -> None:
    (line,) = said.splitlines()
    assert message in line
    found = re.match(rf"atr: {re.escape(str(path))}, line (\d+), ([^:]+): ", line)
    assert found, line
    assert found[2] == key
    assert key.split(".")[-1] in path.read_text(encoding="utf-8").splitlines()[int(found[1]) - 1]


@pytest.mark.parametrize("pair", together.REFUSED, ids=str)
def test_features_that_clash_are_refused_in_one_message(
    pair: tuple[tuple[str, Any], ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key, message = together.REFUSED[pair]  # type: ignore[index]
    full = {
        "outcomes": 2,
        "ceilings": "both",
        "secrets": 2,
        "intersections": "mixed",
        "individual": "both",
        "sets": "yes",
    }
    for others in ({}, full):
        mix = Mix(**{**others, **dict(pair)})
        path = together.write(tmp_path, mix, {2024: together.drawn(mix)})
        _is_one_clear_message(_said(path, monkeypatch, capsys), path, key, message)


def test_mistakes_that_meet_are_told_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mix = Mix(promise="ranges", census="yes", unattainable="coarsen", outcomes=3)
    path = together.write(tmp_path, mix, {2024: together.drawn(mix)})
    mended = {"census": "no", "promise": "delta"}
    for feature, level in mended.items():
        said = _said(path, monkeypatch, capsys)
        assert len(said.splitlines()) == 1
        assert "a file of side information" in said or "a file of ranges" in said
        mix = replace(mix, **{feature: level})
        together.write(tmp_path, mix, {2024: together.drawn(mix)})
    assert load(path).policy.unattainable == "coarsen"


ALONE: dict[str, tuple[Callable[[Content], Any], str, str]] = {
    "nothing to merge along": (
        lambda c: (c["policy"].update(unattainable="coarsen"), c["attributes"]["area"].pop("hierarchy")),
        "policy.unattainable", "needs a public attribute with a hierarchy",
    ),
    "a ceiling above that of the policy": (
        lambda c: c["attributes"]["secret"].update(max_confidence=0.95),
        "attributes.secret.max_confidence", "it can be lower only",
    ),
    "a set under a ceiling above that of the policy": (
        lambda c: c["attributes"]["secret"].update(sets={"some": {"values": ["low"], "max_confidence": 0.95}}),
        "attributes.secret.sets.some.max_confidence", "it can be lower only",
    ),
    "a set of a public attribute": (
        lambda c: c["attributes"]["area"].update(sets={"some": ["a1"]}), "attributes.area.sets", "sensitive attribute"
    ),
    "an intersection of nothing protected": (
        lambda c: c.update(fairness={"intersections": [["age", "secret"]]}), "fairness.intersections", "is protected"
    ),
    "a reference of an attribute that is not protected": (
        lambda c: c["attributes"]["age"].update(reference={"by": "largest"}), "attributes.age.reference", "protected"
    ),
    "a distance without places": (
        lambda c: c.update(fairness={"individual": {"distances": {"area": {"kind": "numeric"}}}}),
        "fairness.individual.distances.area.kind", "middles of bins",
    ),
    "a set of inputs with a stranger": (
        lambda c: c.update(influence={"sets": [["age", "stranger"]]}), "influence.sets", "is not one of the attributes"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_a_feature_without_its_need_is_refused_in_one_message(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change, key, message = ALONE[name]
    mix = Mix(secrets=2)
    content = together.programme(mix)
    change(content)
    path = together.write(tmp_path, mix, {2024: together.drawn(mix)}, content)
    _is_one_clear_message(_said(path, monkeypatch, capsys), path, key, message)
