"""Coarsening: groups that cannot be announced on their own are merged along declared hierarchies until they can."""

from __future__ import annotations

import copy
import csv
import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from atr import ingest
from atr import pipeline as steps
from atr.core.disclosure import decided
from atr.core.publication import published_population, rounded_total
from atr.core.regions import DisclosureStatus, Regions
from atr.documents.html import ReportPage
from atr.errors import ProgrammeError, RefusedError
from atr.log_check import check
from atr.programme import Programme, load
from atr.programme.hierarchies import read_hierarchy
from atr.verify import verify
from atr.warehouse.coarsening import coarsen
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import regions_of_rows
from tests.helpers import note_texts, series, whole

quick = pytest.mark.usefixtures("quick")

Counts = Mapping[tuple[str, str, str], tuple[int, ...]]
"""For an area, an age and a secret: people with each outcome."""

AREAS = "a1,A,all\na2,A,all\nb1,B,all\nb2,B,all\nc1,C,all\n"
AGES = "young,any age\nold,any age\n"

# Of the young: a1 can be announced. a2 is too small, and nobody else of A is in the pool. b1 is lopsided and b2 too
# small; together they are B. a2 and c1 meet at the top, and can be announced there. Of the old: b2 is lopsided and
# meets nobody, so that it is withheld under its coarsest name.
SMALL: Counts = {
    ("a1", "young", "x"): (20, 30), ("a1", "young", "y"): (25, 25),
    ("a2", "young", "x"): (2, 2), ("a2", "young", "y"): (2, 2),
    ("b1", "young", "x"): (0, 1), ("b1", "young", "y"): (20, 19),
    ("b2", "young", "x"): (4, 4),
    ("c1", "young", "x"): (2, 3), ("c1", "young", "y"): (3, 1),
    ("b2", "old", "x"): (60, 40),
}  # fmt: skip


def _content(*, outcomes: int = 2, **policy: Any) -> dict[str, Any]:
    content = series.programme(
        **{"unattainable": "coarsen", "max_confidence": 0.85, "fidelity": {"delta": 0.5}, **policy}
    )
    content["attributes"] = {
        "area": {"role": "public", "protected": True, "title": "Area", "hierarchy": "areas.csv"},
        "age": {"role": "public", "protected": True, "values": {"young": "young", "old": "old"}},
        "secret": {"role": "sensitive", "title": "Secret", "legitimate": True},
    }
    if outcomes == 3:
        content["log"]["outcomes"] = {"approved": ["0"], "refused": ["1"], "later": ["2"]}
    else:
        content["log"]["outcomes"] = {"approved": ["0"], "refused": ["1"]}
    return content


def _series(folder: Path, counts: Counts = SMALL, *, content: dict[str, Any] | None = None, **policy: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        (area, age, secret, outcome)
        for (area, age, secret), people in counts.items()
        for outcome, n in enumerate(people)
        for _ in range(n)
    ]
    series.write_rows(
        folder / "log.csv",
        ["id", "day", "area", "age", "secret", "result"],
        [(f"{i:06d}", "2024-12-06", *row) for i, row in enumerate(rows)],
    )
    (folder / "areas.csv").write_text(AREAS, encoding="utf-8")
    (folder / "ages.csv").write_text(AGES, encoding="utf-8")
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(content or _content(**policy), sort_keys=False), encoding="utf-8")
    return path


def _published(folder: Path, *args: Any, **policy: Any) -> tuple[Path, dict[str, Any]]:
    documents = series.publish(_series(folder, *args, **policy)).documents
    return documents, json.loads((documents / "report.json").read_text())


# --- the algorithm on a small example


@quick
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
@pytest.mark.parametrize("rounding", [1, 5])
def test_groups_that_fail_alone_are_merged_step_by_step(tmp_path: Path, rates: str, rounding: int) -> None:
    documents, report = _published(tmp_path, group_rates=rates, population_rounding=rounding)
    found = [(g["public"]["area"], g["public"]["age"], g["status"], g["population"]) for g in report["groups"]]
    top = 17 if rounding == 1 else 15
    assert found == [
        ("a1", "young", "announced", 100),
        ("B", "young", "coarsened", 48 if rounding == 1 else 50),
        ("all", "young", "coarsened", top),
        ("all", "old", "withheld", None),
    ]
    assert [g["id"] for g in report["groups"]] == ["g1", "g2", "g3", "g4"]
    counted = {"announced": 3, "withheld_for_size": 0, "withheld": 1, "coarsened": 2, "merged": 4}
    assert report["coverage"]["groups"] == counted
    area, age, _ = report["attributes"]
    assert (area["values"], area["coarse"]) == (["a1", "B", "all"], ["B", "all"])
    assert "coarse" not in age
    assert verify(documents / "report.json") == []
    (path,) = tmp_path.rglob("dossier.json")
    dossier = json.loads(path.read_text())
    assert all(c["passed"] for c in dossier["checks"])
    assert [(g["status"], g["merged"]) for g in dossier["groups"]] == [
        ("announced", 0), ("announced", 2), ("announced", 2), ("withheld", 1),
    ]  # fmt: skip
    assert "merged from 2 groups" in path.with_name("dossier.html").read_text()


@quick
def test_the_report_says_what_was_merged_and_why(tmp_path: Path) -> None:
    documents, report = _published(tmp_path)
    notes = note_texts.by_id(report)
    assert "“B” means people whose own group could not be announced" in notes["coarsened"]
    assert "finer values" in notes["not_covered"]
    assert "2 groups are coarsened: merged from 4 that could not be shown on their own" in notes["missing"]
    assert "did not help" in notes["missing"]
    html = (documents / "report.html").read_text()
    assert "Coarsened: merged from groups" in html
    assert "coarsened, or else withheld" in html
    assert "(coarsened)" in html
    told = json.dumps([report[part] for part in ("groups", "attributes", "fairness", "notes")], ensure_ascii=False)
    assert not any(name in told for name in ("a2", "b1", "b2", "c1")), "no group is named that is not announced"
    with (documents / "announced_rules.csv").open(newline="", encoding="utf-8") as file:
        assert {row["status"] for row in csv.DictReader(file)} == {"announced", "coarsened", "withheld"}


@quick
def test_a_second_hierarchy_goes_on_where_the_first_ends(tmp_path: Path) -> None:
    content = _content(population_rounding=1)
    content["attributes"]["age"]["hierarchy"] = "ages.csv"
    counts = SMALL | {("c1", "old", "y"): (3, 3), ("b2", "old", "x"): (4, 3)}
    _, report = _published(tmp_path, counts, content=content, population_rounding=1)
    found = [(g["public"]["area"], g["public"]["age"], g["status"]) for g in report["groups"]]
    assert found[-1] == ("all", "old", "coarsened"), "the old of b2 and c1 pass under the top of the first"
    counts = counts | {("c1", "old", "y"): (0, 1), ("c1", "young", "x"): (0, 0), ("c1", "young", "y"): (0, 0)}
    documents, report = _published(tmp_path / "b", counts, content=content)
    found = [(g["public"]["area"], g["public"]["age"], g["status"]) for g in report["groups"]]
    assert found[-1] == ("all", "any age", "coarsened")
    assert report["attributes"][1]["coarse"] == ["any age"]
    assert verify(documents / "report.json") == []


@quick
def test_where_nothing_fails_nothing_is_merged(tmp_path: Path) -> None:
    counts = {key: n for key, n in SMALL.items() if key[0] == "a1"}
    coarse = _published(tmp_path / "coarsen", counts)[1]
    plain = _published(tmp_path / "withhold", counts, unattainable="withhold")[1]
    for part in ("privacy", "groups", "coverage", "fairness", "attributes", "notes"):
        assert coarse[part] == plain[part]


@quick
def test_a_group_that_can_be_announced_is_not_touched(tmp_path: Path) -> None:
    policy = {"fidelity": {"delta": 1.0}, "max_confidence": 0.9}
    coarse = _published(tmp_path / "coarsen", **policy)[1]
    plain = _published(tmp_path / "withhold", unattainable="withhold", **policy)[1]
    assert [g for g in coarse["groups"] if g["status"] == "announced"] == plain["groups"][:1]
    assert len(coarse["groups"]) == 4


@quick
def test_three_outcomes(tmp_path: Path) -> None:
    counts = {key: (*people, 3 * (sum(people) > 30)) for key, people in SMALL.items()}
    documents, report = _published(tmp_path, counts, content=_content(outcomes=3))
    assert [g["status"] for g in report["groups"]].count("coarsened") == 2
    assert verify(documents / "report.json") == []


@quick
def test_a_fairness_category_of_its_own(tmp_path: Path) -> None:
    content = _content()
    content["attributes"]["area"]["reference"] = "b1"
    _, report = _published(tmp_path, content=content)
    ratios = [e for e in report["fairness"] if e["attribute"] == "area" and e["measure"] == "p_percent_rule"]
    assert {value for e in ratios for value in e["groups"]} == {"a1", "B", "all"}
    assert {e["reference"] for e in ratios} <= {"a1", "B", "all"}, "the named one is announced under no name of its own"


@quick
def test_ranges_are_of_the_coarser_regions(tmp_path: Path) -> None:
    path = _series(tmp_path, fidelity={"ranges": "ranges.csv"})
    announced = [("a1", "young"), ("B", "young"), ("all", "young")]
    rows = [(*group, secret, 0.0, 1.0) for group in announced for secret in "xy"]
    series.write_rows(tmp_path / "ranges.csv", ["area", "age", "secret", "lower", "upper"], rows)
    assert verify(series.publish(path).documents / "report.json") == []
    with Warehouse.in_memory() as warehouse:
        ingest.ingest(warehouse, load(path))
        assert ingest.remarks(warehouse, load(path)) == []
    series.write_rows(tmp_path / "ranges.csv", ["area", "age", "secret", "lower", "upper"], rows[:2])
    with pytest.raises(ProgrammeError, match="has no row for 4 decision regions"):
        steps.publish(str(path))


@quick
def test_a_hierarchy_that_changes_during_a_run_ends_it(tmp_path: Path) -> None:
    path = _series(tmp_path)
    before = load(path).sha256
    steps.load_log(str(path))
    run = steps.begin(str(path))
    steps.aggregate(run)
    (tmp_path / "areas.csv").write_text(AREAS.replace("all", "All"), encoding="utf-8")
    assert load(path).sha256 != before
    later = replace(run)
    with pytest.raises(ProgrammeError, match="or a file that it names, was changed while"):
        steps.announce(later)


# --- the file


FAULTS = [
    ("", None, "the file is empty"),
    ("\n\n", None, "the file is empty"),
    ("a1\n", 1, "has one column: beside each value there must be a coarser one"),
    ("a1,A\na2\n", 2, "has one column"),
    ("a1,A,all\na2,A\n", 2, "has 2 columns, the rows above have 3"),
    ("a1,A\na2,A,all\n", 2, "has 3 columns, the rows above have 2"),
    ("a1,A,all\n\na2,,all\n", 3, "column 2 is empty"),
    ("a1,A,all\n ,A,all\n", 2, "column 1 is empty"),
    ("a1,A,all\na2, A,all\n", 2, "column 2 has spaces before or after the name"),
    ("a1,A\u202e,all\n", 1, "column 2 has characters that cannot be printed"),
    ("a1,A,all\na2,A,all\na1,A,all\n", 3, "is about the same value as line 1"),
    ("a1,A,all\na2,A,most\n", 2, "column 3 differs from line 1, though column 2 is the same"),
    ("a1,A,all\na2,a1,all\n", 2, "the name in column 2 is taken: line 1 has it in column 1 for other values"),
    ("a1,A,all\na2,A,all\nb1,B,A\n", 3, "the name in column 3 is taken: line 1 has it in column 2 for other values"),
    ("a1,a1,all\na2,a1,all\n", 1, "the name in column 2 is taken: line 1 has it in column 1"),
    ("a1,unknown\na2,unknown\n", 1, "the name in column 2 is taken: a missing value has it"),
    ('a1,"A\n', 1, "is not valid CSV"),
]


@pytest.mark.parametrize(("text", "line", "message"), FAULTS, ids=[repr(fault[2][:40]) for fault in FAULTS])
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = _series(tmp_path)
    (tmp_path / "areas.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ProgrammeError) as caught:
        load(path)
    where = f"{tmp_path / 'areas.csv'}" + ("" if line is None else f", line {line}")
    assert str(caught.value).startswith(f"{where}: {message}")


@pytest.mark.parametrize("text", [AREAS, "\ufeff" + AREAS, AREAS.replace("\n", "\r\n"), AREAS.replace("\n", "\n\n")])
def test_how_a_file_may_be_written(tmp_path: Path, text: str) -> None:
    (tmp_path / "areas.csv").write_bytes(text.encode())
    found = read_hierarchy(tmp_path / "areas.csv")
    assert found.coarser["b2"] == ("B", "all")
    assert found.coarse == ("A", "B", "C", "all")
    assert found.parents(1)["a2"] == "A"
    assert found.parents(2) == {"A": "all", "B": "all", "C": "all"}


def test_a_name_may_stay_where_it_stands_for_the_same_values(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("berlin,berlin,city\nessen,nrw,land\nbonn,nrw,land\nunknown,unknown,unknown\n")
    assert read_hierarchy(tmp_path / "h.csv").coarse == ("nrw", "city", "land")
    (tmp_path / "h.csv").write_bytes("é,a\n".encode("latin-1"))
    with pytest.raises(ProgrammeError, match="is not UTF-8 text"):
        read_hierarchy(tmp_path / "h.csv")


def test_a_value_of_the_log_without_a_row_is_named_privately(tmp_path: Path) -> None:
    path = _series(tmp_path)
    (tmp_path / "areas.csv").write_text(AREAS.replace("c1,C,all\n", ""), encoding="utf-8")
    with pytest.raises(ProgrammeError) as caught:
        steps.publish(str(path))
    assert str(caught.value).startswith(f"{tmp_path / 'areas.csv'}: has no row for a value of the log")
    assert "c1" not in str(caught.value)
    assert "c1" in caught.value.private


def test_a_declared_value_needs_a_row(tmp_path: Path) -> None:
    content = _content()
    content["attributes"]["age"]["hierarchy"] = "ages.csv"
    path = _series(tmp_path, content=content)
    (tmp_path / "ages.csv").write_text("young,any age\n", encoding="utf-8")
    with pytest.raises(ProgrammeError, match=r"ages.csv: has no row for the declared value 'old'"):
        load(path)


def test_what_is_likely_not_meant_is_remarked(tmp_path: Path) -> None:
    path = _series(tmp_path, unattainable="withhold")
    (tmp_path / "areas.csv").write_text("value,part,whole\n" + AREAS, encoding="utf-8")
    unused, stranger, *_ = check(path).remarks
    assert unused == "attributes.area.hierarchy: is used only with policy.unattainable: coarsen"
    assert stranger.startswith("attributes.area.hierarchy: no report can show 'value'")
    path = _series(tmp_path)
    (period,) = check(path).periods.to_dict("records")
    assert (period["announced"], period["too_small"], period["prior_too_sure"]) == (3, 0, 1)


# --- reports that were tampered with


TAMPERED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a coarsened group said to be announced": lambda r: r["groups"][1].update(status="announced"),
    "an announced group said to be coarsened": lambda r: r["groups"][0].update(status="coarsened"),
    "a coarsened group said to be flattened": lambda r: r["groups"][1].update(status="flattened"),
    "a policy that withholds": lambda r: r["policy"].update(unattainable="withhold"),
    "a policy that flattens": lambda r: r["policy"].update(unattainable="flatten"),
    "fewer coarsened": lambda r: r["coverage"]["groups"].update(coarsened=1),
    "none coarsened": lambda r: r["coverage"]["groups"].pop("coarsened"),
    "too few merged": lambda r: r["coverage"]["groups"].update(merged=3),
    "no coarse values": lambda r: r["attributes"][0].pop("coarse"),
    "more coarse values": lambda r: r["attributes"][0].update(coarse=["a1", "B", "all"]),
    "coarse values nobody has": lambda r: r["attributes"][0].update(coarse=["B", "all", "C"]),
    "a coarse value twice": lambda r: r["attributes"][0].update(coarse=["B", "B", "all"]),
    "a coarse sensitive value": lambda r: r["attributes"][2].update(coarse=["x"]),
    "two groups alike": lambda r: r["groups"][2]["public"].update(area="B"),
    "no note": lambda r: r.update(notes=[n for n in r["notes"] if n["id"] != "coarsened"]),
    "a higher minimum": lambda r: r["policy"].update(minimum_group_size=25),
    "a lower ceiling": lambda r: r["policy"].update(max_confidence=0.7),
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """A report with exact and one with rounded populations."""
    with series.quick():
        folder = tmp_path_factory.mktemp("honest")
        return [_published(folder / f"{n}", population_rounding=n)[1] for n in (1, 5)]


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_report_is_found(name: str, honest: list[dict[str, Any]], tmp_path: Path) -> None:
    for content in honest:
        forged = copy.deepcopy(content)
        for tamper, found in ((lambda _: None, False), (TAMPERED[name], True)):
            tamper(forged)
            (tmp_path / "report.json").write_text(json.dumps(forged), encoding="utf-8")
            assert bool(verify(tmp_path / "report.json")) == found


# --- over random logs and hierarchies


@st.composite
def _trees(draw: st.DrawFn, values: str) -> dict[str, tuple[str, ...]]:
    """For each value its coarser names: one or two levels, with names that stay where they may."""
    parts = draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))
    wholes = draw(st.lists(st.integers(0, 1), min_size=3, max_size=3))
    levels = draw(st.integers(1, 2))
    keep = draw(st.booleans())
    rows = {}
    for value, part in zip(values, parts, strict=True):
        alone = parts.count(part) == 1 and keep
        name = value if alone else f"{values[0]}-part-{part}"
        whole = [p for p in set(parts) if wholes[p] == wholes[part]]
        top = name if len(whole) == 1 and keep else f"{values[0]}-whole-{wholes[part]}"
        rows[value] = (name, top)[:levels]
    return rows


@st.composite
def _logs(draw: st.DrawFn) -> tuple[Programme, Regions]:
    outcomes = draw(st.sampled_from([2, 2, 3]))
    content = _content(
        outcomes=outcomes,
        group_rates=draw(st.sampled_from(["exact", "free"])) if outcomes == 2 else "exact",
        objective=draw(st.sampled_from(["privacy", "fidelity"])),
        fidelity={"delta": draw(st.sampled_from([0.1, 0.5]))},
        max_confidence=draw(st.sampled_from([0.6, 0.755, 0.95])),
        minimum_group_size=draw(st.sampled_from([1, 10, 50])),
        population_rounding=draw(st.sampled_from([1, 5, 10])),
    )
    trees = {"area": draw(_trees("abcd"))} | ({"age": draw(_trees("uvw"))} if draw(st.booleans()) else {})
    if draw(st.booleans()):
        trees["area"]["unknown"] = ("unknown",) * len(trees["area"]["a"])
    content["attributes"]["age"] = {"role": "public"}
    with TemporaryDirectory() as folder:
        for name, tree in trees.items():
            content["attributes"][name]["hierarchy"] = f"{name}s.csv"
            rows = "".join(",".join((value, *row)) + "\n" for value, row in tree.items())
            Path(folder, f"{name}s.csv").write_text(rows)
        Path(folder, "programme.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        programme = load(folder)
    size = st.integers(0, 3) | st.integers(0, 15) | st.integers(0, 120)
    values, counts = [], []
    for area in trees["area"]:
        for age in "uvw"[: draw(st.integers(1, 3))]:
            for secret in "xyz"[: draw(st.integers(1, 3))]:
                people = [draw(size) for _ in range(outcomes)]
                if sum(people):
                    values.append((area, age, secret))
                    counts.append(people)
    if not values:
        values, counts = [("a", "u", "x")], [[7] * outcomes]
    names = ("approved", "refused", "later")[:outcomes]
    return programme, regions_of_rows(values, np.array(counts, dtype=np.int64), programme=programme, outcomes=names)


def _rows(regions: Regions, which: Any = None) -> dict[tuple[str, ...], tuple[int, ...]]:
    taken = regions if which is None else regions.take(which)
    return dict(zip(taken.values, map(tuple, taken.counts.tolist()), strict=True))


@given(_logs())
def test_who_is_merged_and_who_is_not(made: tuple[Programme, Regions]) -> None:
    programme, regions = made
    policy, found = programme.policy, decided(coarsen(regions, programme), programme.policy)
    alone, after = decided(regions, policy).status, found.status
    assert len(set(found.group_values)) == len(found.group_values), "all public values are distinct"
    assert (np.diff(found.offsets) > 0).all()
    assert found.counts.sum(axis=0).tolist() == regions.counts.sum(axis=0).tolist(), "nobody is lost"
    untouched = _rows(regions, np.flatnonzero(alone == DisclosureStatus.ANNOUNCED))
    kept = [g for g, values in enumerate(found.group_values) if values not in found.merged]
    assert _rows(found, np.array(kept, dtype=np.int64)) == untouched
    assert sum(found.merged.values()) == (alone != DisclosureStatus.ANNOUNCED).sum()
    ceiling = Fraction(str(policy.ceiling))
    for g in found.printed:
        coarse = found.group_values[g] in found.merged
        people = found.population[found.offsets[g] : found.offsets[g + 1]]
        rounding = policy.population_rounding
        published = published_population(people, np.array([0, len(people)]), rounding=rounding)
        assert min(people.sum(), rounded_total(people.sum(), rounding=rounding)) >= policy.minimum_group_size
        for sizes in (people, published):
            assert Fraction(int(sizes.max()), int(sizes.sum())) <= ceiling
        assert not coarse or found.merged[found.group_values[g]] >= 2, "one group alone fails under any name"
    rest = [found.group_values[g] for g in np.flatnonzero(after != DisclosureStatus.ANNOUNCED)]
    for place, name in enumerate(found.public):
        tree = programme.attributes[name].coarser
        if tree is not None:
            assert {values[place] for values in rest} <= {row[-1] for row in tree.coarser.values()}


@given(_logs(), st.randoms(use_true_random=False))
def test_neither_order_nor_outcomes_matter(made: tuple[Programme, Regions], random: Any) -> None:
    programme, regions = made
    found = coarsen(regions, programme)
    rows = list(_rows(regions).items())
    random.shuffle(rows)
    again = coarsen(
        regions_of_rows(
            [values for values, _ in rows],
            np.array([counts for _, counts in rows], dtype=np.int64),
            programme=programme,
            outcomes=regions.outcomes,
        ),
        programme,
    )
    assert (again.group_values, again.region_values) == (found.group_values, found.region_values)
    assert again.counts.tolist() == found.counts.tolist()
    assert again.merged == found.merged
    other = regions.counts.copy()
    for counts in other:
        people, counts[:] = int(counts.sum()), 0
        for _ in range(people):
            counts[random.randrange(len(counts))] += 1
    changed = coarsen(dataclasses.replace(regions, counts=other), programme)
    assert (changed.group_values, changed.region_values) == (found.group_values, found.region_values)
    assert changed.population.tolist() == found.population.tolist()
    assert changed.merged == found.merged


@given(_logs())
def test_every_report_verifies(made: tuple[Programme, Regions]) -> None:
    programme, log = made
    regions, policy = coarsen(log, programme), programme.policy
    try:
        announced = whole.announced(programme, regions)
    except RefusedError:
        return
    report = whole.report(programme, regions, announced)
    whole.verifies(report, announced)
    ceiling = Fraction(str(policy.ceiling))
    assert all(confidence <= ceiling for confidence in announced.confidences())
    named = any(group.status == "coarsened" for group in report.groups)
    marked = re.search(r"\(coarsened[,)]", ReportPage(report, "0" * 64).screen)
    assert bool(marked) == named
