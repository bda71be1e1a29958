"""What a manager signs on: quotes, who is told of how closely, what is true, what changed, what tells more."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr.documents.text.words import Words
from atr.dossier import review, summary
from atr.dossier.everybody import Everybody, Told
from atr.dossier.groups import Cell, DossierGroup
from atr.dossier.other_choices import OtherChoice
from atr.dossier.sign_off import POINTS
from atr.pipeline import Draft
from atr.programme import load
from tests.helpers import sample, series

PEOPLE = {
    ("women", "low"): (60, 20), ("women", "high"): (50, 30), ("men", "low"): (70, 20), ("men", "high"): (60, 40),
    ("known", "low"): (80, 20), ("few", "low"): (2, 1), ("few", "high"): (2, 0),
}  # fmt: skip


def _dossier(draft: Draft) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((draft.dossier / "dossier.json").read_text())
    return found


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> Draft:
    with series.quick():
        path = series.write_series(tmp_path_factory.mktemp("s"), PEOPLE, mechanism="calibrated", max_confidence=0.8)
        return series.publish(path)


def test_everybody_is_counted_once_whatever_the_report_tells(draft: Draft) -> None:
    dossier = _dossier(draft)
    everybody = sum(people for people, _ in PEOPLE.values())
    (of,) = dossier["left_out"]
    assert sum(n for _, told in of["rows"] for n in told.values()) == everybody
    assert {value: sum(told.values()) for value, told in of["rows"]} == {
        "women": 110, "men": 130, "known": 80, "few": 4,
    }  # fmt: skip
    assert sum(row["people"] for row in dossier["closeness"]) == everybody


def test_the_dossier_opens_with_the_sentences_of_the_report(draft: Draft) -> None:
    page = (draft.dossier / "dossier.html").read_text()
    quotes = summary.quotes(Words.of(draft.report))
    assert quotes
    places = [page.index(text) for _, text in quotes]
    assert places == sorted(places)
    assert places[-1] < page.index("Sign-off") < page.index("Cell by cell")
    assert all(point in page for point in POINTS["report"].values())


def test_regions_are_told_apart_by_the_width_of_their_limits() -> None:
    limits = [(0.2, 0.25), (0.2, 0.3), (0.2, 0.7), None]
    cells = [Cell((f"{i}",), 10 + i, 5, 0.5, 0.5, 0.0, ends) for i, ends in enumerate(limits)]
    groups = [_group("announced", "", cells), _group("withheld", "fewer people than the minimum", cells[:1])]
    found = summary.closeness(groups, 0.05)
    assert [(of.how, of.people, of.regions) for of in found] == [
        ("limits up to 5 points apart", 10, 1),
        ("limits up to 10 points apart", 11, 1),
        ("limits more than 20 points apart", 12, 1),
        ("no limits", 13, 1),
        ("left out", 10, 1),
    ]
    assert [(of.people, of.told) for of in summary.widest(groups, 0.05)] == [(13, "not told"), (12, "20 to 70")]


def _group(status: str, reason: str, cells: list[Cell]) -> DossierGroup:
    people = sum(cell.population for cell in cells)
    return DossierGroup(("g",), status, reason, 0, people, 0.5, 0.6, 0.6, 0.6, None, None, False, False, tuple(cells))


@pytest.mark.parametrize(("approved", "verdict", "differs"), [(10, "not met", False), (95, "met", True)])
def test_a_verdict_that_is_another_with_everybody_is_marked(approved: int, verdict: str, differs: bool) -> None:
    report, reference = sample.compas(), "Caucasian"
    by = next(by for by in report.compared if by.attribute == "race").model_copy(update={"reference": reference})
    told: tuple[Told, ...] = ("own", "left out", "own")
    values = (("African-American",), ("African-American",), (reference,))
    counts = np.array([[approved, 0], [0, 100 - approved], [90, 10]])
    everybody = Everybody(("race",), values, counts, told)
    of_race = report.model_copy(update={"compared": (by,)})
    found = {of.group: of for of in summary.true_rates(everybody, Words.of(of_race))}
    of = found["African-American"]
    assert (of.people[1], of.rates[1], of.verdicts[1], of.differs) == (100, approved / 100, verdict, differs)
    assert found[reference].verdicts[1] == ""


def test_true_differences_among_people_alike() -> None:
    report = sample.compas(ceiling=1.0)
    log = [(("Male", "25 to 45", race, "felony", prior), n, k)
           for race, prior, n, k in (("African-American", "none", 100, 40), ("Caucasian", "none", 50, 30),
                                     ("African-American", "1 to 3", 20, 5), ("Caucasian", "1 to 3", 50, 25),
                                     ("African-American", "over 10", 30, 0))]  # fmt: skip
    names = ("sex", "age_cat", "race", "c_charge_degree", "priors_count")
    counts = np.array([[k, n - k] for _, n, k in log])
    everybody = Everybody(names, tuple(values for values, _, _ in log), counts, ("own",) * len(log))
    pair = ("African-American", "Caucasian")
    (of,) = (of for of in summary.true_alike(everybody, Words.of(report)) if of.groups == pair)
    assert of.true == pytest.approx((50 * (0.4 - 0.6) + 20 * (0.25 - 0.5)) / 70)
    (stated,) = (a.situation for a in report.alike if a.groups == pair)
    assert stated is not None
    assert (of.published, of.limits) == (stated.difference, stated.range)


def test_only_what_decides_more_is_a_lever() -> None:
    drafted = OtherChoice("", "90 %", 9, 0, 20, 30)
    others = [
        OtherChoice("step 0.1", "90 %", 9, 0, 21, 30),
        OtherChoice("max_confidence 0.7", "80 %", 7, 0, 20, 25),
        OtherChoice("max_confidence 0.8", "95 %", 9, 0, 29, 30),
    ]
    assert summary.levers((drafted, *others)) == (
        "ceiling 0.8 would decide 9 more comparisons, and announce 95 % of the people",
        "step 0.1 would decide 1 more comparison",
    )
    assert summary.levers(()) == ()


@pytest.mark.usefixtures("quick")
def test_a_new_version_stands_beside_the_one_before(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    series.publish(path)
    review.review(load(path), "2024", approve=True, name="R. Viewer", comment="read it")
    series.write_log(tmp_path / "log.csv", series.card(4))
    second = series.publish(path)
    dossier = _dossier(second)
    rows = next(of for of in dossier["differences"] if of["name"] == "Rows of the whole log read")
    assert (rows["period_before"], rows["version_before"], rows["now"]) == ("", "80", "160")
    assert dossier["log_changes"].startswith("Since version 1 of 2024 was drafted, 80 decisions are new,")
    page = (second.dossier / "dossier.html").read_text()
    assert page.index("Version before") < page.index("Sign-off")


@pytest.mark.usefixtures("quick")
def test_groups_left_out_are_summed_up(tmp_path: Path) -> None:
    known = {(f"known {i:03}", "low"): (40 + i, 20) for i in range(60)}
    some = {key: of for key, of in PEOPLE.items() if key[0] in ("women", "men")}
    path = series.write_series(tmp_path, some | known, mechanism="optimal", max_confidence=0.9, fidelity={"delta": 0.5})
    draft = series.publish(path)
    withheld = [group for group in _dossier(draft)["groups"] if group["status"] == "withheld"]
    page = (draft.dossier / "dossier.html").read_text()
    told = page[page.index("Groups that are left out") :].split("</details>")[0]
    assert len(withheld) == 60
    assert told.count("known 0") <= 10
    assert f'<td class="num">{sum(group["population"] for group in withheld):,}</td>' in told


def test_examples_in_docstrings() -> None:
    assert not doctest.testmod(summary).failed
