"""Which people are compared as one."""

from __future__ import annotations

from atr.documents.comparisons import same_people
from tests.helpers import limits_sample


def test_people_whose_value_is_not_told_are_no_group() -> None:
    report = limits_sample.compas()
    rest = report.rest_groups[0].model_copy(update={"public": {"race": "Hispanic"}})
    groups = tuple(rest if g.status == "rest" else g for g in report.groups)
    found = same_people(report.model_copy(update={"groups": groups}))
    assert {who for attribute, who in found if attribute == "sex"} == {"Female", "Male"}
