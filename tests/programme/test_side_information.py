"""A census instead of the numbers of people in the log: what a reader is assumed to know, end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr.core.announcement import Announcement
from atr.core.regions import Regions
from atr.documents import csv as annex
from atr.errors import ProgrammeError
from atr.programme import Programme, load
from atr.report import model
from atr.verify.statements import findings
from atr.warehouse.coarsening import reported
from atr.warehouse.counting import regions_of_rows
from tests.helpers import note_texts, whole

PROGRAMME = """
programme: card
title: Card
publisher: {{name: P, contact: p@example.org}}
system: {{name: S}}
log: {{source: log.csv, outcome: decision, positive: approved}}
attributes:
  sex: {{role: public, protected: true, reference: men}}
  income: {{role: sensitive}}
policy:
  mechanism: optimal
  whole_numbers: state
  group_rates: {rates}
  fidelity: {{delta: {delta}}}
  max_confidence: {ceiling}
  minimum_group_size: 10
  population_rounding: 1
  unattainable: {unattainable}
  side_information: {{file: census.csv, title: the census of 2020}}
period: {{every: all}}
"""
PEOPLE = {("women", "low"): 12, ("women", "mid"): 5, ("women", "high"): 3, ("men", "low"): 9, ("men", "mid"): 7,
          ("men", "high"): 4}  # fmt: skip
CHANCE = {("women", "high"): 1.0, ("men", "mid"): 0.5, ("men", "high"): 1.0}
CENSUS = {("women", "low"): 931, ("women", "mid"): 57, ("women", "high"): 12, ("men", "low"): 842,
          ("men", "mid"): 123, ("men", "high"): 35}  # fmt: skip
Census = dict[tuple[str, str], int]


def programme(folder: Path, census: Census = CENSUS, **changes: Any) -> Programme:
    rows = [f"{sex},{income},{people}" for (sex, income), people in census.items()]
    (folder / "census.csv").write_text("\n".join(["sex,income,people", *rows]) + "\n")
    path = folder / "programme.yaml"
    path.write_text(
        PROGRAMME.format(**{"rates": "free", "delta": 0.9, "ceiling": 0.99, "unattainable": "withhold"} | changes)
    )
    return load(path)


def regions(of: Programme, times: int = 20) -> Regions:
    counts = [[round(n * times * (p := CHANCE.get(who, 0.0))), round(n * times * (1 - p))] for who, n in PEOPLE.items()]
    return regions_of_rows(list(PEOPLE), np.array(counts), programme=of, outcomes=("approved", "refused"))


def published(of: Programme) -> tuple[model.PublicReport, Announcement]:
    found = reported(regions(of), of)
    solved = whole.solved(of, found)
    made = whole.announced(of, found, solved)
    report = whole.report(of, found, made)
    whole.verifies(report, made)
    assert whole.failed_checks(of, found, solved, made, report) == []
    return report, made


def confidence(report: model.PublicReport, people: str) -> float:
    """The largest posterior an outsider finds in a report, with one of its numbers of people."""
    surest = 0.0
    for group in report.announced_groups:
        for outcome in report.outcomes:
            joint = [getattr(r, people) * r.announced[outcome] for r in group.regions]
            surest = max(surest, *(x / sum(joint) for x in joint if sum(joint)))
    return surest


@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_the_guarantee_is_for_a_reader_who_knows_the_census(tmp_path: Path, rates: str) -> None:
    report, _ = published(programme(tmp_path, rates=rates))
    assert report.policy.side_information == "the census of 2020"
    assert report.privacy.prior_confidence == 0.931
    assert confidence(report, "known") == pytest.approx(report.privacy.max_confidence, abs=0.00101)
    assert confidence(report, "population") == pytest.approx(report.privacy.printed_confidence, abs=0.00101)
    assert {(g.public["sex"], r.sensitive["income"]): r.known for g in report.groups for r in g.regions} == CENSUS
    text = note_texts.by_id(report)
    assert "the census of 2020" in text["side_information"]
    assert "a reader who knows the numbers of people from the census of 2020" in text["guarantee"]


def test_rates_stay_those_of_the_log(tmp_path: Path) -> None:
    report, _ = published(programme(tmp_path, rates="exact"))
    assert [group.rate["approved"] for group in report.groups if group.rate] == [0.38, 0.15]
    for group, true in zip(report.announced_groups, (0.375, 0.15), strict=True):
        rate = sum(r.population * r.announced["approved"] for r in group.regions) / sum(
            r.population for r in group.regions
        )
        assert rate == pytest.approx(true, abs=0.0005)
    (parity,) = [e for e in report.fairness if e.measure == "statistical_parity"]
    assert parity.value == 0.225
    assert parity.range == (0.225, 0.225)


@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_a_census_in_proportion_to_the_log_changes_no_rule(tmp_path: Path, rates: str) -> None:
    same = {who: 7 * people for who, people in PEOPLE.items()}
    with_census, _ = published(programme(tmp_path, same, rates=rates))
    text = (tmp_path / "programme.yaml").read_text()
    (tmp_path / "programme.yaml").write_text(
        text.replace("side_information: {file: census.csv, title: the census of 2020}", "side_information: population")
    )
    without, _ = published(load(tmp_path / "programme.yaml"))
    assert without.privacy.max_confidence == with_census.privacy.max_confidence == (0.675 if rates == "free" else 0.9)
    assert without.privacy.printed_confidence is None
    assert "known" not in json.loads(without.to_json())["groups"][0]["regions"][0]
    if rates == "free":
        assert [g.regions for g in without.groups] == [
            tuple(r.model_copy(update={"known": None}) for r in g.regions) for g in with_census.groups
        ]


def test_the_ceiling_holds_for_printed_numbers_too(tmp_path: Path) -> None:
    even = dict.fromkeys(PEOPLE, 100)
    report, _ = published(programme(tmp_path, even, ceiling=0.83, delta=0.9))
    assert report.privacy.max_confidence is not None
    assert report.privacy.printed_confidence is not None
    assert 0.8 < report.privacy.max_confidence <= 0.83
    assert 0.6 < report.privacy.printed_confidence <= 0.83


@pytest.mark.parametrize(("unattainable", "status"), [("withhold", "withheld"), ("flatten", "flattened")])
def test_prior_knowledge_is_that_of_the_census_or_of_the_report(tmp_path: Path, unattainable: str, status: str) -> None:
    report, _ = published(programme(tmp_path, ceiling=0.93, unattainable=unattainable))
    statuses = {group.public["sex"]: group.status for group in report.groups}
    assert statuses == {"women": status, "men": "announced"}  # 0.931 of the women in the census have a low income
    even = dict.fromkeys(PEOPLE, 100)
    report, _ = published(programme(tmp_path, even, ceiling=0.59, delta=0.7, unattainable=unattainable))
    statuses = {group.public["sex"]: group.status for group in report.groups}
    assert statuses == {"women": status, "men": "announced"}  # 0.6 of the women in the log have one


def test_changed_numbers_are_found(tmp_path: Path) -> None:
    report, made = published(programme(tmp_path))
    for group in range(2):
        groups = list(report.groups)
        region = groups[group].regions[0]
        forged = region.model_copy(update={"known": (region.known or 0) + 300})
        groups[group] = groups[group].model_copy(update={"regions": (forged, *groups[group].regions[1:])})
        assert list(findings(report.model_copy(update={"groups": tuple(groups)})))
    stated = report.privacy.printed_confidence or 0.0
    for value in (stated + 0.001, None):
        privacy = report.privacy.model_copy(update={"printed_confidence": value})
        assert list(findings(report.model_copy(update={"privacy": privacy})))
    policy = report.policy.model_copy(update={"side_information": "population"})
    assert list(findings(report.model_copy(update={"policy": policy})))
    assert made.known is not None


def test_the_numbers_are_in_the_csv(tmp_path: Path) -> None:
    report, _ = published(programme(tmp_path))
    head, *rows = annex.announced_rules(report).decode().splitlines()
    assert head.endswith(",known")
    assert [int(row.rsplit(",", 1)[1]) for row in rows] == [CENSUS[who] for who in _printed(report)]


def _printed(report: model.PublicReport) -> list[tuple[str, str]]:
    return [(g.public["sex"], r.sensitive["income"]) for g in report.groups for r in g.regions]


@pytest.mark.parametrize("people", [None, 0])
def test_every_announced_region_must_be_covered(tmp_path: Path, people: int | None) -> None:
    census = {who: n for who, n in CENSUS.items() if who != ("men", "mid")}
    if people is not None:
        census["men", "mid"] = people
    of = programme(tmp_path, census)
    with pytest.raises(ProgrammeError, match="nobody in a decision region that somebody was decided in") as caught:
        published(of)
    assert "men" not in str(caught.value)
    assert caught.value.private == "The first of them: sex men, income mid"
    withheld = programme(tmp_path, {who: n for who, n in CENSUS.items() if who[0] == "men"} | {("women", "low"): 1})
    with pytest.raises(ProgrammeError, match="nobody in 2 decision regions"):
        published(withheld)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "the file is empty"),
        ("sex,income\nmen,low\n", "the column 'people' is missing"),
        ("sex,income,people,share\nmen,low,1,1\n", "unknown column 'share'"),
        ("sex,income,people\nmen,low,0.5\n", "line 2: people must be a whole number"),
        ("sex,income,people\nmen,low,-5\n", "line 2: people must be a whole number"),
        ("sex,income,people\nmen,low\n", "line 2: has 2 of the 3 fields"),
        ("sex,income,people\nmen,low,5\nmen,low,6\n", "line 3: is about the same region as line 2"),
    ],
)
def test_a_fault_in_the_file_is_named_with_its_line(tmp_path: Path, content: str, named: str) -> None:
    programme(tmp_path)
    (tmp_path / "census.csv").write_text(content)
    with pytest.raises(ProgrammeError) as caught:
        load(tmp_path / "programme.yaml")
    assert named in str(caught.value)
    assert "census.csv" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("unattainable: withhold", "unattainable: coarsen", "unattainable: coarsen with"),
        ("income:", "people:", "is a column of the file of side information"),
    ],
)
def test_what_goes_together_is_checked(tmp_path: Path, old: str, new: str, named: str) -> None:
    programme(tmp_path, rates="exact")
    path = tmp_path / "programme.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new).replace("sex: {role: public,", "sex: {role: public,"))
    with pytest.raises(ProgrammeError, match=named):
        load(path)
