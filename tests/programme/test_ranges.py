"""Fidelity region by region: the file of ranges, and a whole run under it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr import ingest
from atr import pipeline as steps
from atr.errors import ProgrammeError, RefusedError, VerifyError
from atr.log_check import check
from atr.mechanisms.optimal.policy import FidelityPolicy
from atr.programme import load
from atr.programme.region_files import read_regions
from atr.schemas import schemas
from atr.verify import verify
from atr.warehouse import ledger
from atr.warehouse.connection import Warehouse
from tests.helpers import series

quick = pytest.mark.usefixtures("quick")

RANGES = FidelityPolicy(ranges="ranges.csv").file
Declared = dict[tuple[str, str], tuple[float, float]]

TEXT = "public,secret,lower,upper\na,x,0.1,0.4\na,y,0,1\n"


def _within(distance: float, times: int = 1) -> Declared:
    """Of every region of section 8, what lies within a distance from the true chance."""
    true = {key: approvals / people for key, (people, approvals) in series.card(2 * times).items()}
    return {key: (max(0.0, d - distance), min(1.0, d + distance)) for key, d in true.items()}


def _series(folder: Path, declared: Declared, *, times: int = 50, **policy: Any) -> Path:
    path = series.write_series(folder, series.card(times), fidelity={"ranges": "ranges.csv"}, **policy)
    series.write_ranges(folder / "ranges.csv", declared)
    return path


def _report(outcome: steps.Draft) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((outcome.documents / "report.json").read_text())
    return content


def _regions(report: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (group["public"]["public"], region["sensitive"]["secret"]): region
        for group in report["groups"]
        for region in group["regions"]
    }


# --- the file


FAULTS = [
    ("", None, "the file is empty"),
    ("\n\r\n", None, "the file is empty"),
    ("public,secret,lower\n", 1, "the column 'upper' is missing"),
    ("public,lower,upper\n", 1, "the column 'secret' is missing"),
    ("public,secret,lower,upper,other\n", 1, "unknown column 'other'"),
    ("public,secret,lower,Upper\n", 1, "unknown column 'Upper'"),
    ("public,secret,lower,upper,lower\n", 1, "the column 'lower' stands twice"),
    ("\n" + TEXT + "a,z,0.1\n", 5, "has 3 of the 4 fields"),
    (TEXT + "a,z,0.1,0.4,0.5\n", 4, "has 5 of the 4 fields"),
    (TEXT + "a,z,-0.1,0.4\n", 4, "lower must be a number from 0 to 1, not '-0.1'"),
    (TEXT + "a,z,0.1,1.5\n", 4, "upper must be a number from 0 to 1, not '1.5'"),
    (TEXT + 'a,z,"0,1",0.4\n', 4, "lower must be a number from 0 to 1, not '0,1'"),
    (TEXT + "a,z,0.1,\n", 4, "upper must be a number from 0 to 1, not ''"),
    (TEXT + "a,z,nan,1\n", 4, "not 'nan'"),
    (TEXT + "a,z,0.11,0.4\n", 4, "lower must be a multiple of 0.05, not '0.11'"),
    (TEXT + "a,z,0.1,0.319587628866\n", 4, "upper must be a multiple of 0.05"),
    (TEXT + "a,z,0,0_1\n", 4, "not '0_1'"),
    (TEXT + "a,z,0.5,0.4\n", 4, "lower, 0.5, is above upper, 0.4"),
    (TEXT + '"a","x",0,1\n', 4, "is about the same region as line 2"),
    (TEXT + '"several\nlines",x,0,1\n\na,z,2,3\n', 7, "not '2'"),
    (TEXT + '"a"b,z,0,1\n', 4, "is not valid CSV"),
    (TEXT + '"a,z,0,1\n', 4, "is not valid CSV"),
]


@pytest.mark.parametrize(("text", "line", "message"), FAULTS, ids=[repr(fault[0][-20:]) for fault in FAULTS])
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = series.write_series(tmp_path, series.card(2), fidelity={"ranges": "ranges.csv"})
    (tmp_path / "ranges.csv").write_bytes(text.encode())
    with pytest.raises(ProgrammeError) as caught:
        load(path)
    where = f"{tmp_path / 'ranges.csv'}" + ("" if line is None else f", line {line}")
    assert str(caught.value).startswith(f"{where}: ")
    assert message in str(caught.value)
    assert not (tmp_path / "var").exists()


@pytest.mark.parametrize("content", [TEXT.replace("x", "é").encode("latin-1"), TEXT.encode("utf-16")])
def test_a_file_in_another_encoding_says_how_to_save_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.csv").write_bytes(content)
    with pytest.raises(ProgrammeError, match="is not UTF-8 text: save it as UTF-8"):
        read_regions(tmp_path / "r.csv", ["public", "secret"], RANGES)


def test_a_missing_file_is_told_at_the_line_that_names_it(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2), fidelity={"ranges": "none.csv"})
    with pytest.raises(ProgrammeError, match=r"line \d+, policy.fidelity.ranges: there is no such file: .*none.csv"):
        load(path)
    (tmp_path / "none.csv").mkdir()
    with pytest.raises(ProgrammeError, match="there is no such file"):
        load(path)


def test_an_attribute_cannot_be_called_as_an_end_is(tmp_path: Path) -> None:
    content = series.programme(fidelity={"ranges": "ranges.csv"})
    content["attributes"]["lower"] = {"role": "public"}
    path = series.write_series(tmp_path, series.card(2), content=content)
    with pytest.raises(ProgrammeError, match=r"attributes.lower: 'lower' is a column of the file of ranges"):
        load(path)


def test_a_programme_that_was_not_loaded_says_so() -> None:
    from atr.programme import Programme

    programme = Programme.model_validate(series.programme(fidelity={"ranges": "ranges.csv"}))
    with pytest.raises(ValueError, match="load"):
        programme.policy.fidelity.model([])


@pytest.mark.parametrize(
    "text", [TEXT, "\ufeff" + TEXT, TEXT.replace("\n", "\r\n"), TEXT.replace("\n", "\n\n"), TEXT.rstrip("\n")]
)
def test_how_a_file_may_be_written(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.csv").write_bytes(text.encode())
    table = read_regions(tmp_path / "r.csv", ["public", "secret"], RANGES)
    assert table.rows == {("a", "x"): (0.1, 0.4), ("a", "y"): (0.0, 1.0)}


values = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
limit = st.integers(0, 20).map(lambda step: round(step * 0.05, 2))
ends = st.tuples(limit, limit).map(sorted)


@given(st.dictionaries(st.tuples(values, values), ends, min_size=1), st.data())
def test_ranges_follow_regions_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, declared: dict[tuple[str, str], list[float]], data: st.DataObject
) -> None:
    columns = data.draw(st.permutations(["public", "secret", "lower", "upper"]))
    rows = [dict(zip(("public", "secret", "lower", "upper"), (*key, *pair), strict=True))
            for key, pair in data.draw(st.permutations(list(declared.items())))]  # fmt: skip
    path = tmp_path_factory.getbasetemp() / "drawn.csv"
    series.write_rows(path, columns, [[row[name] for name in columns] for row in rows])
    wanted = data.draw(st.lists(st.sampled_from(list(declared)), min_size=1))
    found = read_regions(path, ["public", "secret"], RANGES).require(wanted, "that is wanted")
    assert found == [tuple(declared[key]) for key in wanted]


# --- the run


@pytest.mark.parametrize("objective", ["privacy", "fidelity"])
@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
@quick
def test_ranges_as_wide_as_delta_announce_what_delta_does(tmp_path: Path, rates: str, objective: str) -> None:
    policy = {"group_rates": rates, "objective": objective, "max_confidence": 0.95}
    delta = series.write_series(tmp_path / "delta", series.card(50), fidelity={"delta": 0.9}, **policy)
    expected = _report(series.publish(delta))
    outcome = series.publish(_series(tmp_path / "ranges", _within(0.1), **policy))
    report = _report(outcome)
    if objective == "privacy":
        assert {key: r["announced"] for key, r in _regions(report).items()} == {
            key: r["announced"] for key, r in _regions(expected).items()
        }
    for key, region in _regions(report).items():
        low, high = region["limits"]["approved"]
        assert (low, high) == _within(0.1)[key]
        assert low - 1e-9 <= region["announced"]["approved"] <= high + 1e-9
    assert not any(region["limits"] for region in _regions(expected).values())
    assert report["policy"]["fidelity"] == {"ranges": None}
    assert report["fidelity"] == {"kind": "ranges"}
    jsonschema.validate(report, json.loads(schemas()["report.schema.json"]))
    assert verify(outcome.documents / "report.json") == []
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    assert all(check["passed"] for check in dossier["checks"]), dossier["checks"]
    assert dossier["promised"] == "the declared ranges"
    assert dossier["policy"]["ranges"] == "ranges.csv"
    assert dossier["curves"] is None
    assert "no single level of fidelity" in (outcome.dossier / "dossier.html").read_text()


@quick
def test_what_a_reader_is_told(tmp_path: Path) -> None:
    outcome = series.publish(_series(tmp_path, _within(0.1) | {("nobody", "below 100k"): (0, 1)}))
    html = (outcome.documents / "report.html").read_text()
    for text in (
        "Figures may be altered within limits set beforehand",
        "Every number, true and printed, lies within limits that were set beforehand.",
        "who rely on the limits printed beside each rule",
        "The publisher declared limits for every decision region",
        "limits declared for each rule",
    ):
        assert text in html
    assert "ranges.csv" not in html
    with (outcome.documents / "announced_rules.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head[-2:] == ["lower", "upper"]
    assert [row[-2:] for row in rows] == [
        [f"{end:.3f}" for end in _within(0.1)[row[2], row[head.index("sensitive.secret")]]] for row in rows
    ]


@quick
def test_a_report_without_any_group_needs_no_range(tmp_path: Path) -> None:
    outcome = series.publish(_series(tmp_path, {("a", "b"): (0, 1)}, minimum_group_size=100_000))
    assert _report(outcome)["fidelity"]["kind"] == "ranges"
    assert verify(outcome.documents / "report.json") == []


@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
@quick
def test_ranges_between_two_printable_numbers_leave_the_nearest(tmp_path: Path, rates: str) -> None:
    counts = series.card(2) | {("men", "100k to 200k"): (1000, 350), ("men", "below 100k"): (900, 342)}
    declared = _within(0.0) | {("men", "100k to 200k"): (0.35, 0.35), ("men", "below 100k"): (0.35, 0.4)}
    path = series.write_series(
        tmp_path, counts, fidelity={"ranges": "ranges.csv"}, digits=1, group_rates=rates, max_confidence=1.0
    )
    series.write_ranges(tmp_path / "ranges.csv", declared)
    outcome = series.publish(path)
    chance = _regions(_report(outcome))["men", "100k to 200k"]["announced"]["approved"]
    assert abs(chance - 0.35) < 0.1
    assert verify(outcome.documents / "report.json") == []


@quick
def test_what_is_published_depends_on_announced_alone(tmp_path: Path) -> None:
    declared = {key: pair for key, pair in _within(0.1).items() if key[0] == "women"}
    published = []
    for approvals in ((0, 0, 150), (30, 5, 147)):
        people = {"below 100k": 600, "100k to 200k": 250, "above 200k": 150}
        counts = {("women", name): (n, k) for (name, n), k in zip(people.items(), approvals, strict=True)}
        folder = tmp_path / str(approvals[0])
        path = series.write_series(folder, counts, fidelity={"ranges": "ranges.csv"}, group_rates="free")
        series.write_ranges(folder / "ranges.csv", declared)
        outcome = series.publish(path)
        published.append(series.files(outcome.documents))
        chances = [r["announced"]["approved"] for r in _regions(_report(outcome)).values()]
        assert chances == [0.02, 0.9, 0.1], "the only announcement as private as these ranges allow"
    assert published[0] == published[1]


@quick
def test_the_first_region_without_a_range_is_named_privately(tmp_path: Path) -> None:
    declared = _within(0.1)
    del declared["women", "below 100k"], declared["men", "above 200k"]
    path = _series(tmp_path, declared)
    steps.load_log(str(path))
    run = steps.begin(str(path))
    with pytest.raises(ProgrammeError) as caught:
        steps.aggregate(run)
    assert "ranges.csv: has no row for 2 decision regions that the report announces" in str(caught.value)
    assert caught.value.private == "The first of them: public men, secret above 200k"
    for value in ("men", "200k", "100k"):
        assert value not in str(caught.value)
    del declared["women", "above 200k"]
    with pytest.raises(ProgrammeError, match="has no row for 2 decision regions") as caught:
        check(path)
    assert caught.value.private == "The first of them: public men, secret above 200k"
    series.write_ranges(tmp_path / "ranges.csv", _within(0.1))
    assert series.publish(path).release.id == "2024-v1"


def test_ranges_of_values_that_no_report_shows_are_remarked(tmp_path: Path) -> None:
    path = _series(tmp_path, {**_within(0.1), ("womn", "unknown"): (0.0, 1.0), ("women", "unknown"): (0.0, 1.0)})
    with Warehouse.in_memory() as warehouse:
        ingest.ingest(warehouse, load(path))
        (remark,) = ingest.remarks(warehouse, load(path))
    assert remark.startswith("policy.fidelity.ranges: no report can show 'womn' in 'public'; did you mean 'women'?")


@quick
def test_groups_that_are_withheld_need_no_range(tmp_path: Path) -> None:
    counts = series.card(50) | {("few", "below 100k"): (4, 2)}
    path = series.write_series(tmp_path, counts, fidelity={"ranges": "ranges.csv"})
    series.write_ranges(tmp_path / "ranges.csv", _within(0.1))
    outcome = series.publish(path)
    assert _report(outcome)["coverage"]["groups"]["withheld_for_size"] == 1
    assert verify(outcome.documents / "report.json") == []


@pytest.mark.parametrize("wrong", [(0.0, 0.45), (0.55, 1.0)])
@quick
def test_a_true_chance_outside_its_range_is_refused(tmp_path: Path, wrong: tuple[float, float]) -> None:
    path = _series(tmp_path, _within(0.1) | {("men", "100k to 200k"): wrong})
    steps.load_log(str(path))
    run = steps.begin(str(path))
    with pytest.raises(RefusedError) as caught:
        steps.aggregate(run)
    assert caught.value.exit_code == 3
    for value in ("men", "100k", "0.5", "0.45", "0.55", "1"):
        assert value not in str(caught.value)
    refusal = steps.refuse(run, caught.value)
    assert refusal.private == "Regions whose true chance lies outside its range:\n  men, 100k to 200k"
    folder = run.programme.store_path / "dossiers" / "2024-v1-refused"
    dossier = json.loads((folder / "dossier.json").read_text())
    assert dossier["refusal_detail"] == refusal.private
    assert "Widen the ranges" in (folder / "dossier.html").read_text()
    with Warehouse.open(run.programme) as warehouse:
        (release,) = ledger.Ledger(warehouse).releases("2024")
    assert (release.state, release.comment) == ("refused", caught.value.message)


@quick
def test_a_ceiling_that_the_ranges_do_not_reach_is_refused(tmp_path: Path) -> None:
    path = _series(tmp_path, _within(0.05), max_confidence=0.65)
    with pytest.raises(RefusedError, match="cannot be reached within the declared ranges with exact") as caught:
        series.publish(path)
    assert caught.value.hint.startswith("Widen the ranges, raise max_confidence")


@quick
def test_a_file_that_is_changed_under_way_is_noticed(tmp_path: Path) -> None:
    path = _series(tmp_path, _within(0.1))
    steps.load_log(str(path))
    run = steps.begin(str(path))
    steps.aggregate(run)
    series.write_ranges(tmp_path / "ranges.csv", _within(0.2))
    later = replace(run)
    with pytest.raises(ProgrammeError, match="or a file that it names, was changed while"):
        steps.solve(later, steps.Batch("women", 0))
    series.write_ranges(tmp_path / "ranges.csv", _within(0.1))
    path.write_text(path.read_text() + "# a remark\n")
    with pytest.raises(ProgrammeError, match="was changed while the run was under way"):
        steps.announce(replace(run))


# --- what an outsider can check


FORGERIES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "a chance outside its limits": (("groups", 0, "regions", 0, "announced"), {"approved": 0.799, "refused": 0.201}),
    "narrower limits": (("groups", 0, "regions", 0, "limits", "approved"), [0.0, 0.001]),
    "wider limits": (("groups", 0, "regions", 0, "limits", "approved"), [0.0, 1.0]),
    "limits the wrong way round": (("groups", 0, "regions", 0, "limits", "approved"), [1.0, 0.0]),
    "limits beyond 1": (("groups", 0, "regions", 0, "limits", "approved"), [0.0, 1.5]),
    "one limit": (("groups", 0, "regions", 0, "limits", "approved"), [0.0]),
    "no limits": (("groups", 0, "regions", 0, "limits"), None),
    "a level": (("fidelity", "level"), 0.9),
    "a largest change": (("fidelity", "largest_change"), 0.1),
    "another promise": (("fidelity",), {"kind": "delta", "level": 0.9, "largest_change": 0.1}),
    "another policy": (("policy", "fidelity"), {"delta": 0.9}),
    "a level in the policy": (("policy", "fidelity"), {"ranges": 0.9}),
    "no policy": (("policy", "fidelity"), {}),
    "a level that is none": (("policy", "fidelity"), {"delta": None}),
}


@pytest.mark.parametrize("rounding", [1, 5])
@quick
def test_a_forgery_is_found(tmp_path: Path, rounding: int) -> None:
    path = _series(tmp_path / "s", _within(0.1), times=34, group_rates="free", population_rounding=rounding)
    text = (series.publish(path).documents / "report.json").read_text()
    forged = tmp_path / "r.json"
    for name, (place, value) in FORGERIES.items():
        content = json.loads(text)
        part = content
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        forged.write_text(json.dumps(content))
        try:
            assert verify(forged), name
        except VerifyError:
            assert name in ("limits beyond 1", "one limit")


@quick
def test_limits_in_a_report_of_another_promise_are_found(tmp_path: Path) -> None:
    content = _report(series.publish(series.write_series(tmp_path, series.card(2))))
    for value, found in (({"approved": [0.0, 0.5], "refused": [0.5, 1.0]}, True), (None, False)):
        content["groups"][0]["regions"][0]["limits"] = value
        (tmp_path / "r.json").write_text(json.dumps(content))
        assert bool(verify(tmp_path / "r.json")) == found
