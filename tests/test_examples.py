"""The bundled programmes publish as they are, in all their periods."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from atr.records_pipeline import release_records
from atr.report import model
from atr.report.headline import headline
from atr.verify import verify
from tests.helpers import alike, records, series
from tests.helpers.paths import EXAMPLES

SHOWN = ("announced", "rate only")
QUARTERS = [f"{year}-Q{quarter}" for year in (2013, 2014) for quarter in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the bundled programmes whose logs are read once for all periods."""
    target = tmp_path_factory.mktemp("bundled") / "examples"
    shutil.copytree(EXAMPLES, target, ignore=shutil.ignore_patterns("var", "site"))
    return target


def _published(programme: Path, period: str) -> tuple[dict[str, Any], dict[str, Any], Path]:
    outcome = series.publish(programme, period)
    report = json.loads((outcome.documents / "report.json").read_text())
    dossier = json.loads((outcome.dossier / "dossier.json").read_text())
    assert all(check["passed"] for check in dossier["checks"])
    assert verify(outcome.documents / "report.json") == []
    alike.is_true(model.read(outcome.documents / "report.json"))
    return report, dossier, outcome.documents


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("period", [*(pytest.param(of, marks=pytest.mark.long) for of in QUARTERS[:-1]), QUARTERS[-1]])
def test_compas_publishes_every_quarter(example: Path, period: str) -> None:
    report, dossier, _ = _published(example / "compas" / "programme.yaml", period)
    known = max(group["beta"] for group in dossier["groups"] if group["beta"] is not None)
    assert known > 0.3
    assert all(0.3 < sure <= 0.75 for sure in report["privacy"]["readers"].values())
    assert report["coverage"]["announced_share"] > 0.9, "small groups are joined"


@pytest.mark.long
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("period", ["2013", "2014-Q2"])
def test_compas_publishes_all_three_outcomes(example: Path, period: str) -> None:
    """The document too: the ratio of each, and what the outcomes of two groups are apart in all."""
    report, _, documents = _published(example / "compas" / "three-outcomes.yaml", period)
    binary, _, _ = _published(example / "compas" / "programme.yaml", period)
    assert report["outcomes"] == ["low", "medium", "high"]
    rates = [
        {str(g["public"]): g["rate"]["low"] for g in of["groups"] if g["status"] != "rest"} for of in (report, binary)
    ]
    both = rates[0].keys() & rates[1].keys()
    assert both
    assert [rates[0][group] for group in both] == [rates[1][group] for group in both]
    document = (documents / "report.html").read_text(encoding="utf-8")
    against = [e for e in report["fairness"] if e["reference"] in e["groups"]]
    parities = [e for e in against if e["measure"] == "statistical_parity"]
    assert parities
    assert all(e["sampling"]["outcome"] == "low" for e in parities)
    for outcome in ("medium", "high"):
        of = [e for e in against if e["outcome"] == outcome and e["attribute"] == parities[0]["attribute"]]
        assert of
        assert all(f"{e['value']:.3f}" in document for e in of)


@pytest.mark.long
def test_compas_2013(tmp_path: Path) -> None:
    """In a folder of its own: no test before has left a draft whose PDF was not laid out."""
    example = shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("var", "site"))
    report, dossier, documents = _published(example / "compas" / "programme.yaml", "2013")
    assert report["coverage"]["groups"] == {"announced": 31, "withheld_for_size": 0, "withheld": 0}
    assert report["coverage"]["announced_share"] == 1
    log = pd.read_csv(example / "compas" / "compas_decisions.csv", dtype=str, keep_default_na=False)
    log = log[log.compas_screening_date.str.startswith("2013")]
    rates = log.groupby("race").score_text.agg(lambda scores: (scores == "Low").mean())
    (ratio,) = (
        entry
        for entry in report["fairness"]
        if entry["measure"] == "p_percent_rule"
        and entry["outcome"] == "low"
        and entry["groups"] == ["African-American", "Caucasian"]
    )
    assert ratio["value"] == pytest.approx(rates["African-American"] / rates["Caucasian"], abs=5e-4)
    assert ratio["range"] == [ratio["value"]] * 2
    assert ratio["verdict"] == "not_met"
    _speaks_of_everybody(report, log)
    said = headline(model.read(documents / "report.json"))
    assert (said.groups, said.in_hundred) == (("African-American", "Caucasian"), (41, 68))
    assert said.remains is not None
    assert (said.remains.id, said.remains.people) == ("half", (2300, 1490))
    (of,) = (of for of in report["alike"] if of["groups"] == ["African-American", "Caucasian"])
    assert of["everybody"]["difference"] == -0.263
    assert of["situation"]["difference"] == pytest.approx(-0.123, abs=0.005), "what it is in the log"
    assert of["situation"]["range"] == pytest.approx([-0.159, -0.092], abs=0.002)
    true = [gap for gap in dossier["true_alike"] if gap["true"] is not None]
    assert true[0]["true"] == pytest.approx(-0.123, abs=5e-4)
    assert all(gap["limits"][0] <= gap["true"] <= gap["limits"][1] for gap in true)
    assert (documents / "report.pdf").read_bytes().startswith(b"%PDF-1.7")
    assert sum(group["status"] in SHOWN for group in dossier["groups"]) == 31


def _speaks_of_everybody(report: dict[str, Any], log: pd.DataFrame) -> None:
    """Printed people add up to those of the log, and every row of a comparison is of whom it says."""
    step, groups = report["policy"]["population_rounding"], report["groups"]
    assert abs(sum(group["population"] for group in groups) - len(log)) <= len(groups) * step / 2
    for group in groups:
        told = [region["population"] for region in group["regions"]]
        few = sum(isinstance(people, dict) for people in told)
        exact = sum(people for people in told if isinstance(people, int))
        assert not told or exact <= group["population"] <= exact + few * step
    low = (log.score_text == "Low").to_numpy()
    for attribute, beside in (("race", 0), ("sex", 85)):
        (by,) = (by for by in report["compared"] if by["attribute"] == attribute)
        assert (by.get("left_out", 0), "absent" in by) == (beside, False)
        together = {row["label"]: row["values"] for row in by.get("rows", ())}
        rates = {
            who: (rate, people)
            for e in report["fairness"]
            if e["measure"] == "p_percent_rule" and e["outcome"] == "low" and e["attribute"] == attribute
            for who, rate, people in zip(e["groups"], e["rates"], e["people"], strict=True)
        }
        for who, (rate, people) in rates.items():
            inside = log[attribute].isin(together.get(who, [who])).to_numpy()
            if not beside:
                assert rate == pytest.approx(low[inside].mean(), abs=0.0051)
            assert -step <= inside.sum() - people <= beside + step
        assert {value for who in rates for value in together.get(who, [who])} == {*log[attribute]}


@pytest.mark.parametrize(
    ("name", "period", "altered"),
    [
        ("compas/programme.yaml", "2013", 0.2),
        ("compas/without-race.yaml", "2013", 0.2),
        ("mortgage/programme.yaml", None, 0.1),
    ],
)
def test_bundled_records_leave_most_values(name: str, period: str | None, altered: float, tmp_path: Path) -> None:
    """In all groups, for everybody, below their bounds; and an outsider finds nothing false."""
    draft = release_records(records.example(tmp_path, name), period)
    said = draft.records
    assert said.loss < altered
    assert said.after.log_lift is not None
    assert said.after.log_lift <= said.bounds["max_log_lift"]
    assert verify(draft.documents) == []


@pytest.mark.usefixtures("quick")
def test_card_gives_the_tables_of_the_paper(example: Path) -> None:
    report, dossier, _ = _published(example / "card" / "programme.yaml", "2021")
    people = {(*g["values"], *c["values"]): c["population"] for g in dossier["groups"] for c in g["cells"]}
    assert list(people.values()) == [139, 9, 2, 117, 18, 5]
    assert [c["true"] for g in dossier["groups"] for c in g["cells"]] == [0, 0, 1, 0, 0.5, 1]
    assert {g["public"]["sex"]: g["rate"]["approved"] for g in report["groups"]} == {"women": 0.01, "men": 0.1}
    by = {(f["measure"], f["outcome"], f["condition"].get("income")): f for f in report["fairness"]}
    assert by["statistical_parity", None, None]["value"] == 0.087
    assert by["p_percent_rule", "approved", None]["value"] == 0.133
    low, high = by["conditional_statistical_parity", None, "100k to 200k"]["range"]
    assert low <= 0.5 <= high
    individual, enough = report["fairness"][-2:]
    assert individual["measure"] == enough["measure"] == "individual_fairness"
    assert (individual["value"], individual["range"]) == (0.5, [0.355, 0.528])
    assert (individual["verdict"], individual["reason"], individual["people"]) == (
        "cannot_tell",
        "too_few_people",
        [9, 18],
    )
    assert enough["pair"]["regions"] == [{"sex": s, "income": "below 100k"} for s in ("women", "men")]
    assert individual["pair"]["regions"] == [{"sex": s, "income": "100k to 200k"} for s in ("women", "men")]
    assert individual["pair"]["people_involved"] == pytest.approx((9 + 18) / 290, abs=0.005)
    true = [m["true"] for m in dossier["measures"] if m["name"].startswith("individual fairness")]
    assert true == [0.5, 0]
    assert report["privacy"]["prior_confidence"] == 0.927
    true = {g["values"][0]: g["true_confidence"] for g in dossier["groups"]}
    assert true["women"] == 1


@pytest.mark.usefixtures("quick")
def test_mortgage_compares_races_within_debt_ratios(example: Path) -> None:
    report, dossier, _ = _published(example / "mortgage" / "programme.yaml", "all")
    log = pd.read_csv(example / "mortgage" / "applications.csv", dtype=str, keep_default_na=False)
    # Those whose sex is not known are shown together, whatever their race, and are in no row of races.
    log["row"] = log.race.where(log.sex != "")
    assert report["coverage"]["groups"] == {"announced": 7, "withheld_for_size": 0, "withheld": 0}
    assert sum(c["population"] for g in dossier["groups"] if g["status"] in SHOWN for c in g["cells"]) == len(log)
    assert 0.4 < report["privacy"]["max_confidence"] <= 0.65

    rates = (log.decision == "approved").groupby(log.row).mean()
    by = {
        (f["measure"], f["condition"].get("debt_ratio"), *f["groups"]): f
        for f in report["fairness"]
        if f["outcome"] in (None, "approved")
    }
    for race, verdict in (("Black", "not_met"), ("Hispanic", "met")):
        ratio = by["p_percent_rule", None, race, "white"]
        assert ratio["value"] == pytest.approx(rates[race] / rates["white"], abs=5e-4)
        assert ratio["range"] == [ratio["value"]] * 2
        assert ratio["verdict"] == verdict

    classes = pd.cut(log.debt_ratio.astype(float), [-1, 28, 33, 37, 41, 100], right=False)
    within = (log.decision == "approved").groupby([classes, log.row], observed=True).mean().unstack()
    (debt_ratio,) = (a for a in report["attributes"] if a["name"] == "debt_ratio")
    for name, row in zip(debt_ratio["values"], within.itertuples(), strict=True):
        for race in ("Black", "Hispanic"):
            low, high = by["conditional_statistical_parity", name, race, "white"]["range"]
            assert low <= abs(getattr(row, race) - row.white) <= high
        verdict = by["conditional_statistical_parity", name, "Black", "white"]["verdict"]
        assert verdict == ("cannot_tell" if name == "33 to 37%" else "not_met")
