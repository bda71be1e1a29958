"""Numbers of the bundled COMPAS report, counted from its CSV, are the same wherever they are printed."""

from __future__ import annotations

import csv
import io
import shutil
from collections import Counter
from pathlib import Path

import pypdf
import pytest

from atr.report.model import PublicReport
from tests.helpers import sample, series
from tests.helpers.pages import in_hundred, view, whole
from tests.helpers.tables import tables

pytestmark = pytest.mark.long
ROWS = {"Asian": "others", "Native American": "others", "Other": "others"}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compas")
    shutil.copytree(sample.COMPAS.parent, folder / "compas", ignore=shutil.ignore_patterns("var", "site"))
    return series.publish(folder / "compas" / "programme.yaml", "2013").documents


@pytest.fixture(scope="module")
def report(documents: Path) -> PublicReport:
    return PublicReport.model_validate_json((documents / "report.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def counted() -> tuple[Counter[str], Counter[str]]:
    """People by race, and those scored low."""
    people, low = Counter[str](), Counter[str]()
    with sample.COMPAS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["compas_screening_date"].startswith("2013"):
                race = ROWS.get(row["race"], row["race"])
                people[race] += 1
                low[race] += row["score_text"] == "Low"
    return people, low


def named(label: str) -> str:
    return "others" if "Native American" in label else label


def test_rates_by_race_are_those_of_the_log(
    report: PublicReport, documents: Path, counted: tuple[Counter[str], Counter[str]]
) -> None:
    people, low = counted
    paper = " ".join(" ".join(page.extract_text() for page in pypdf.PdfReader(documents / "report.pdf").pages).split())
    race = view(report, "groups")["tables"][0]["rows"]
    assert {named(row["label"]) for row in race} == {*people}
    for row in race:
        name = named(row["label"])
        rate = whole(low[name] / people[name])
        assert float(row["rate"]) == rate
        assert abs(int(row["people"].replace(",", "")) - people[name]) <= 2.5
        assert f"{row['people']} {rate}" in paper, "annex B has both side by side"
        assert any(cells[:3] == [row["label"], row["people"], str(rate)]
                   for table in tables(report, "comparisons").values() for cells in table)  # fmt: skip
    total = whole(sum(low.values()) / sum(people.values()))
    assert f"“low”, {total} in 100" in dict(view(report, "about")["facts"])["The outcomes"]
    assert abs(report.coverage.decisions - sum(people.values())) <= 50


def test_the_headline_is_the_largest_gap_of_the_log(
    report: PublicReport, counted: tuple[Counter[str], Counter[str]]
) -> None:
    people, low = counted
    rate = {name: low[name] / people[name] for name in people}
    furthest = max((name for name in rate if name != "Caucasian"), key=lambda name: abs(rate[name] - rate["Caucasian"]))
    assert furthest == "African-American"
    numbers = [whole(rate[name]) for name in (furthest, "Caucasian")]
    assert in_hundred(view(report, "found")["finding"]) == numbers
    assert in_hundred(view(report, "groups")["adverse"]) == [100 - n for n in numbers]
    gap = next(of for of in report.alike if of.groups == (furthest, "Caucasian")).everybody
    low_end, high_end = gap.range
    assert low_end - 0.0005 <= rate[furthest] - rate["Caucasian"] <= high_end + 0.0005
    assert f"{100 * abs(gap.difference):.1f} fewer" in view(report, "alike")["everybody"]


def test_ratios_and_ranges_hold_those_of_the_log(
    report: PublicReport, documents: Path, counted: tuple[Counter[str], Counter[str]]
) -> None:
    people, low = counted
    content = (documents / "fairness.csv").read_text(encoding="utf-8")
    found = [row for row in csv.DictReader(io.StringIO(content, newline="")) if row["measure"] == "p_percent_rule"]
    compared = {
        tuple(map(named, e.groups)): e
        for e in report.fairness
        if (e.measure, e.attribute, e.outcome) == ("p_percent_rule", "race", "low")
    }
    assert len(compared) == 6
    for (one, other), e in compared.items():
        true = low[one] / people[one] / (low[other] / people[other])
        assert e.range[0] is not None
        assert e.range[1] is not None
        assert e.range[0] - 0.001 <= true <= e.range[1] + 0.001
        assert e.value == pytest.approx(true, abs=0.002)
        assert any(f"{e.value:.3f}" in row.values() for row in found)
