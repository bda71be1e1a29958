"""A report is frozen, and what follows from its parts is computed once; a copy with other parts has its own."""

from __future__ import annotations

from tests.helpers import sample


def test_a_changed_copy_tells_of_its_own_groups() -> None:
    report = sample.grid((2,), 3)
    told, content = report.announced_regions, report.to_json()
    fewer = report.model_copy(update={"groups": report.groups[:1]})
    assert fewer.announced_groups == report.groups[:1]
    assert fewer.announced_regions == told[: len(report.groups[0].regions)] != told
    group = report.groups[0].model_copy(update={"regions": report.groups[0].regions[:1]})
    assert group.told == report.groups[0].told[:1] != report.groups[0].told
    assert report.model_copy() == report == sample.grid((2,), 3)
    assert (report.announced_regions, report.to_json()) == (told, content)
