"""Features that meet in one programme: whole runs, and what readers rely on whatever is combined."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from atr.report import model
from atr.report.verify import verify
from atr.schemas import schemas
from tests import series, together
from tests import test_verify as forging
from tests.together import LEVELS, Content, Mix, Published

# Each row has a word for each feature, in the order of LEVELS.
MIXES = (
    "3 free delta fidelity flatten no set 1 none named public whole variation yes yes 5 40 5",
    "2 exact linear privacy withhold no one 2 public largest sensitive sample none no no 1 10 2",
    "2 exact ranges fidelity flatten yes both 2 mixed highest none whole both yes yes 10 10 3",
    "3 free alpha privacy withhold yes values 1 mixed largest none sample variation no no 5 40 3",
    "2 exact informed privacy coarsen no set 1 none highest public sample both no no 10 40 5",
    "3 free alpha fidelity coarsen no values 2 public named sensitive whole none yes yes 1 10 2",
    "2 free ranges privacy flatten yes both 1 public named public sample none no no 1 40 2",
    "3 exact delta fidelity withhold yes one 2 none largest sensitive whole both no yes 5 10 5",
    "3 exact linear privacy coarsen no one 1 mixed named none sample variation yes yes 10 40 3",
    "3 exact informed privacy withhold no both 2 public highest sensitive whole variation yes no 5 40 3",
    "2 free delta fidelity withhold yes set 2 public highest none sample none no no 10 40 2",
    "2 exact informed privacy flatten no values 1 mixed largest public whole none yes yes 1 10 5",
    "2 exact ranges fidelity coarsen no set 1 mixed largest sensitive sample variation no yes 5 10 2",
    "2 free alpha fidelity flatten yes one 2 none highest public whole both no no 1 40 3",
    "2 exact linear privacy flatten no values 1 none highest none whole both no yes 1 10 2",
    "2 exact alpha privacy coarsen no both 2 none largest sensitive whole none yes yes 10 40 5",
    "2 exact delta privacy withhold no set 2 public named public whole both no no 1 10 3",
    "3 exact linear privacy withhold no set 2 public highest none whole none yes no 5 10 5",
    "2 free ranges privacy withhold no values 1 none highest public sample none yes yes 10 40 5",
    "2 exact informed privacy withhold no one 2 mixed named none whole variation yes yes 1 40 2",
    "3 free delta privacy coarsen no both 1 mixed named none whole none yes yes 10 40 3",
    "3 free delta fidelity flatten no values 2 public named sensitive sample none yes no 5 40 2",
    "3 exact linear privacy flatten no both 2 public named public sample variation yes yes 10 40 5",
    "2 exact alpha privacy flatten no set 2 public highest sensitive whole none no yes 10 40 2",
    "2 exact ranges privacy coarsen no one 2 public largest public whole both yes yes 10 40 5",
)
NOISE = 1e-9


@pytest.fixture(scope="module", autouse=True)
def _no_pdf() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("atr.report.documents.pdf", lambda html, **_: b"%PDF of " + str(len(html)).encode())
        yield


def test_every_two_features_that_go_together_meet() -> None:
    mixes = [Mix.of(row) for row in MIXES]
    assert all(together.refusal(mix) is None for mix in mixes)
    assert together.pairs() - set().union(*map(together.covered, mixes)) == set()


# --- what holds whatever is combined


def _ends_in_a_draft(published: Published) -> None:
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
    off = np.abs(truth.printed - people)
    assert ((off <= rounding / 2) | (truth.printed == rounding)).all()
    assert (people[truth.printed == rounding] < 1.5 * rounding).all()


def _no_reader_is_surer_than_the_ceiling(published: Published) -> None:
    report, truth, digit = published.report, published.truth, 10.0**-published.mix.digits
    privacy, policy = report["privacy"], report["policy"]
    exact = truth.people.sum(axis=1)
    if policy["side_information"] == "population":
        known = [exact, truth.printed]
    else:
        known = [np.array([region["known"] for _, region in truth.regions])]
    ceilings = {(a["name"], None): a.get("max_confidence", policy["max_confidence"]) for a in report["attributes"]}
    for a in report["attributes"]:
        own = a.get("sets_max_confidence", {})
        ceilings |= {(a["name"], of_set): own.get(of_set, policy["max_confidence"]) for of_set in a["sets"]}
    below = truth.below_ceiling()
    assert below
    stated = privacy["max_confidence"]
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
    flat = np.array([group["status"] == "flattened" for group, _ in truth.regions])
    apart = np.abs(truth.chance - truth.true)[~flat]
    if report["fidelity"]["largest_change"] is not None:
        assert apart.max() <= report["fidelity"]["largest_change"] + NOISE
    for row, (_, region) in enumerate(truth.regions):
        if "allowed" in region:
            low, high = region["allowed"]
            assert low - NOISE <= truth.true[row, 0] <= high + NOISE
            assert low - NOISE <= truth.chance[row, 0] <= high + NOISE
    if published.mix.linear:
        assert (apart[[group["pooled"] is False for group, _ in truth.regions if group["status"] != "flattened"]] <= (
            digit + NOISE)).all()  # fmt: skip
    for group in dict.fromkeys(truth.group):
        rows = truth.group == group
        told = truth.regions[int(np.flatnonzero(rows)[0])][0]["rate"]
        if published.mix.rates == "exact" or flat[rows].all():
            true = truth.rates(rows)
            assert [told[o] for o in truth.outcomes] == pytest.approx(true.tolist(), abs=0.01 + NOISE)


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
            true = truth.individual(entry["pair"]["distance"])
        else:
            true = truth.overall(entry) if entry.get("summary") else truth.comparison(entry)
        exact = entry["range"] == [entry["value"]] * 2
        assert _inside(true, entry["range"], slack=digit if exact else 0.0), (true, entry)
        low, high = entry["range"]
        assert low is None or entry["value"] is None or low <= entry["value"]
        assert high is None or entry["value"] is None or entry["value"] <= high


def _what_is_measured_is_declared(published: Published) -> None:
    mix, report = published.mix, published.report
    assert {e["measure"] for e in report["fairness"]} >= {"statistical_parity", "p_percent_rule"}
    assert ("sampling" in report["fairness"][0]) == (mix.coverage == "sample")
    assert sum(e["measure"] == "individual_fairness" for e in report["fairness"]) == (
        {"none": 0, "variation": 1, "both": 2}[mix.individual]
    )
    by = [entry["attribute"] for entry in report["compared"]]
    assert ("area and age" in by) == (mix.intersections != "none")
    assert ("secret and area" in by) == (mix.intersections == "mixed")
    conditional = {e["attribute"] for e in report["fairness"] if e["measure"] == "conditional_statistical_parity"}
    assert bool(conditional) == (mix.legitimate != "none")
    people: dict[str, int] = {}
    for (group, _), n in zip(published.truth.regions, published.truth.printed.tolist(), strict=True):
        people[group["public"]["area"]] = people.get(group["public"]["area"], 0) + n
    area = report["compared"][0]
    if mix.reference == "named" and "a1" in people:
        assert (area["reference"], area["chosen"]) == ("a1", "named")
    if mix.reference == "largest":
        assert people[area["reference"]] == max(people.values())
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
    rate = np.average(truth.chance[:, 0], weights=truth.printed)
    for i, of_group in enumerate(single[0]["groups"]):
        inside = truth.values[of_group["attribute"]] == of_group["group"]
        apart = np.average(truth.chance[inside, 0], weights=truth.printed[inside]) - rate
        assert sum(e["groups"][i]["shapley"] for e in single) == pytest.approx(apart, abs=slack)
    declared = report["policy"].get("influence_sets", [])
    assert bool(declared) == (published.mix.sets == "yes")
    assert [e["inputs"] for e in report["influence"]][len(single) :][: len(declared)] == declared


def _the_files_agree(published: Published) -> None:
    report, documents = published.report, published.documents
    jsonschema.validate(report, json.loads(schemas()["report.schema.json"]))
    rules = [row for row in together.rows(documents / "announced_rules.csv") if row["status"] != "withheld"]
    assert len(rules) == len(published.truth.regions)
    for row, (group, region) in zip(rules, published.truth.regions, strict=True):
        assert (row["group"], row["status"], int(row["population"])) == (group["id"], group["status"], region["population"])
        assert {o: float(row[f"announced.{o}"]) for o in report["outcomes"]} == region["announced"]
        assert {n: row[f"sensitive.{n}"] for n in region["sensitive"]} == region["sensitive"]
        assert {n: row[f"public.{n}"] for n in group["public"]} == group["public"]
        assert int(row.get("known", 0)) == region.get("known", 0)
        assert [float(row[end]) for end in ("lower", "upper") if row.get(end)] == region.get("allowed", [])
        assert row.get("pooled", "") == ("" if "pooled" not in group else str(group["pooled"]).lower())

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
    assert [(row["inputs"].split(" + "), float(row["figure"])) for row in figures] == [
        (e["inputs"], e["value"]) for e in report["influence"]
    ]


BROKEN = re.compile(r"\bNone\b(?! of)|\bnan\b|\binf\b|\bNaN\b|\bInfinity\b|\{\{|\{%|Undefined|<object|\[\]|\{\}")


def _pages_are_whole(published: Published) -> None:
    html = (published.documents / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<b>.?high", html), "values are escaped"
    text = unescape(re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL))
    assert not (found := BROKEN.search(text)), text[max(0, found.start() - 150) : found.end() + 50]
    attributes = " ".join(re.findall(r'(?:aria-label|title|alt|d|x|y|width|height|cx|cy)="([^"]*)"', html))
    assert not (found := BROKEN.search(attributes)), attributes[max(0, found.start() - 150) : found.end() + 50]
    sentences = json.dumps(published.report, ensure_ascii=False)
    assert not re.search(r"\bNone\b(?! of)|\bnan\b|\binf\b|\{\}[^,\]}\n]", sentences)


def _who_is_not_announced_is_not_named(published: Published) -> None:
    for path in published.documents.iterdir():
        if path.suffix in (".json", ".csv", ".html"):
            assert not re.search(rf"\b{together.TINY}\b", path.read_text(encoding="utf-8")), path.name


def _tampering_is_found(published: Published, folder: Path) -> None:
    content, step = published.report, 10.0**-published.mix.digits
    random = np.random.default_rng(published.mix.seed)
    parts = ("fairness", "influence", "surrogate", "groups", "privacy", "changes")
    for part in [part for part in parts if part in content]:
        leaves = [path for path in forging._leaves({part: content[part]}) if _follows(path)]
        path = leaves[int(random.integers(len(leaves)))]
        old = forging._value(content, path)
        if isinstance(old, bool):
            new: Any = not old
        elif isinstance(old, int):
            new = old + 3 * published.mix.rounding + 7
        else:
            new = round(old + 0.05, 6) if old < 0.5 else round(old - 0.05, 6)
            if part in ("influence", "surrogate"):
                new = round(old + step, 6)
        forged = forging._write(folder / "forged.json", forging._set(content, path, new), forged=True)
        assert forging._found(forged), (path, old, new)
    for part in ("fairness", "notes", "changes"):
        entries = content.get("changes", {}).get("entries", []) if part == "changes" else content[part]
        if entries:
            changed = copy.deepcopy(content)
            of = changed["changes"]["entries"] if part == "changes" else changed[part]
            of[-1]["text" if part == "notes" else "sentence"] = "All is well."
            assert forging._found(forging._write(folder / "forged.json", changed, forged=True)), part


def _follows(path: tuple[Any, ...]) -> bool:
    """Whether a number follows from others, to more than the rounding of people leaves open."""
    return not (
        {"known", "people", "population", "allowed", "version", "previous_range", "previous", "previous_threshold"} & {*path}
    )


def _whole(published: Published, folder: Path) -> None:
    """All of the above."""
    _ends_in_a_draft(published)
    _is_verified(published, folder)
    _people_are_those_of_the_log(published)
    _no_reader_is_surer_than_the_ceiling(published)
    _promises_are_kept(published)
    _true_figures_lie_in_the_ranges(published)
    _what_is_measured_is_declared(published)
    _influences_add_up(published)
    _the_files_agree(published)
    _pages_are_whole(published)
    _who_is_not_announced_is_not_named(published)
    _tampering_is_found(published, folder)


@pytest.mark.parametrize("row", MIXES)
def test_what_readers_rely_on_holds_whatever_is_combined(row: str, tmp_path: Path) -> None:
    _whole(together.publish(tmp_path / "series", Mix.of(row, seed=MIXES.index(row))), tmp_path)
