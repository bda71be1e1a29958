"""What this is: what the programme states, and what is not stated is said to be so."""

from __future__ import annotations

from typing import Any

import pytest

from atr.report import sampling
from atr.report.model import PublicReport, System
from tests.helpers import drawn_reports, limits_sample, sample
from tests.helpers.pages import in_hundred, view, with_policy
from tests.helpers.tables import section


def facts(report: PublicReport, part: str = "facts") -> dict[str, str]:
    return dict(view(report, "about")[part])


def programmed(report: PublicReport, **changes: Any) -> PublicReport:
    return report.model_copy(update={"programme": report.programme.model_copy(update=changes)})


@pytest.mark.parametrize(
    ("place", "start", "said"),
    [
        ("Ghent", "2013-01-01", "by COMPAS in Ghent, 1 January to 31 December 2013."),
        ("Ghent", None, "by COMPAS in Ghent."),
        ("", "2013-01-01", "by COMPAS, 1 January to 31 December 2013."),
        ("", None, "by COMPAS."),
    ],
)
def test_it_says_what_is_decided_where_and_when(place: str, start: str | None, said: str) -> None:
    report = programmed(sample.compas(), place=place)
    report = report.model_copy(update={"period": report.period.model_copy(update={"start": start})})
    assert view(report, "about")["finding"] == f"This report is about {report.coverage.decisions:,} decisions {said}"


@pytest.mark.parametrize("kind", ["three", "calibrated"])
def test_outcomes_have_the_shares_of_everybody(kind: str) -> None:
    report = drawn_reports.drawn(kind, 2)
    said = facts(report)["The outcomes"]
    rate = report.coverage.rate
    assert rate is not None
    shares = [float(part.split(" in 100")[0].rpartition(", ")[2]) for part in said.split("counted: ")[1].split("“")[1:]
              if " in 100" in part]  # fmt: skip
    assert shares == [round(100 * rate[outcome], 6) for outcome in report.outcomes]
    assert said.endswith("“approved” is the favourable outcome here.")
    assert len(in_hundred(said)) == len(report.outcomes)


def test_nothing_announced_has_no_shares_of_outcomes() -> None:
    assert facts(sample.none_announced())["The outcomes"] == "“low” is the favourable outcome here."


def test_what_is_not_stated_is_called_so() -> None:
    bare = programmed(sample.compas(), system=System(name="COMPAS", purpose=""))
    for part in ("facts", "register"):
        for name, stated in view(bare, "about")[part]:
            row = f'<th scope="row">{name}</th><td class=missing>not stated</td>'
            assert (row in section(bare, "about")) == (not stated), name
    assert facts(bare, "register")["System"] == "COMPAS"
    assert facts(sample.compas(), "register")["System"] == "COMPAS, version 2013"


def test_the_register_is_as_the_publisher_wrote_it() -> None:
    keys = ("owner", "supplier", "legal_basis", "accuracy", "risks", "alternatives", "complaints")
    report = sample.compas()
    system = report.programme.system.model_copy(update={key: f"the {key}, iOS & more" for key in keys})
    told = facts(programmed(report, system=system), "register")
    assert list(told.values())[1:] == [f"the {key}, iOS & more" for key in keys]


def test_inputs_are_those_the_programme_says_are_read() -> None:
    report = sample.compas()
    used = {"sex": "no", "age_cat": "yes", "race": "no", "c_charge_degree": "yes", "priors_count": "unknown"}
    attributes = tuple(a.model_copy(update={"used_by_system": used[a.name]}) for a in report.attributes)
    system = report.programme.system.model_copy(update={"inputs": "A questionnaire."})
    said = facts(programmed(report.model_copy(update={"attributes": attributes}), system=system))
    assert said["What the system reads"] == (
        "A questionnaire. It reads age and charge. It does not read sex or race. Whether it reads prior offences is "
        "not stated."
    )


def test_how_the_log_was_drawn_is_said() -> None:
    report = sample.compas()
    assert facts(report)["How the log was drawn"] == ""
    whole = with_policy(report, sampling=sampling.sampling_info("whole", 0.05))
    assert facts(whole)["How the log was drawn"] == "The log holds all decisions of the period."
    some = with_policy(report, sampling=sampling.sampling_info("sample", 0.05))
    assert "is taken for a sample" in facts(some)["How the log was drawn"]


def test_words_of_limits_are_explained_where_there_are_some() -> None:
    terms = {
        name: facts(report, "terms") for name, report in (("no", sample.compas()), ("yes", limits_sample.compas()))
    }
    assert "Limits" not in terms["no"]
    assert "more than 72% sure of a person’s prior offences" in terms["yes"]["Not told"]


def test_who_is_missing_is_named_once_each() -> None:
    report = limits_sample.compas()
    race = next(by for by in report.compared if by.attribute == "race")
    rows = race.model_copy(update={"left_out": 85, "absent": ("Asian",)})
    compared = tuple(rows if by is race else by for by in report.compared)
    said = facts(report.model_copy(update={"compared": compared}))["Who is missing"]
    assert "Figures by race leave out 85 people." in said
    assert "By race, nobody is counted under “Asian”." in said
