"""From the regions of a drawn log to what is published and what the reviewer sees, without files."""

from __future__ import annotations

import numpy as np

from atr.core.announcement import Announcement
from atr.core.disclosure import DisclosureStatus, Extent, disclosure_status
from atr.core.regions import Regions
from atr.dossier import build as dossier
from atr.mechanisms.optimal import mechanism as announcing
from atr.mechanisms.optimal.mechanism import Solved
from atr.programme import Programme, periods
from atr.report import build, model
from atr.verify.statements import check
from tests.helpers import series


def solved(programme: Programme, regions: Regions) -> Solved:
    """Every group that is to be announced, solved."""
    which = np.flatnonzero(disclosure_status(regions, programme.policy) == DisclosureStatus.ANNOUNCED)
    return announcing.solve(regions, which, programme.policy)


def report(programme: Programme, regions: Regions, announced: Announcement) -> model.PublicReport:
    """The public report."""
    return build.build(
        announced,
        build.measure(announced, programme),
        programme=programme,
        period=periods.ALL,
        extent=Extent.of(regions, disclosure_status(regions, programme.policy)),
        quality=build.LogQuality(rows_read=9999, decisions=9999, duplicates=0, corrections=0, quarantined=0),
        version=1,
        date="2024-05-06",
    )


def verifies(made: model.PublicReport, announced: Announcement) -> None:
    """No statement of a true report is found false, whether or not the exact populations are known."""
    assert check(model.PublicReport.model_validate_json(made.to_json(), strict=True)) == []
    assert check(made, population=announced.population) == []


@series.quick()
def failed_checks(
    programme: Programme, regions: Regions, of: Solved, announced: Announcement, made: model.PublicReport
) -> list[dossier.Check]:
    """The checks of the dossier that failed."""
    page = dossier.build(
        programme=programme,
        release_id="all-v1",
        regions=regions,
        solved=of,
        announcement=announced,
        report=made,
        previous=None,
        accounting={"rows_read": 9, "decisions": 9, "duplicates": 0, "corrections": 0, "quarantined": 0, "reasons": {}},
        unknown={},
        related=dossier.Related(),
        refusal=None,
    )
    return [c for c in page.checks if not c.passed]
