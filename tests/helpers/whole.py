"""From the regions of a drawn log to what is published and what the reviewer sees, without files."""

from __future__ import annotations

import pandas as pd

from atr.core.announcement import Announcement
from atr.core.disclosure import Extent, decided
from atr.core.regions import Regions
from atr.dossier import build as dossier
from atr.ingest import Accounting
from atr.mechanisms import mechanism_of
from atr.programme import Programme, periods
from atr.report import build, model
from atr.verify.statements import findings
from atr.warehouse import coarsening
from tests.helpers import series


def reported(programme: Programme, regions: Regions) -> Regions:
    """What becomes of every group; with limits, small groups join first."""
    if programme.policy.mechanism == "calibrated":
        return coarsening.reported(regions, programme)
    return decided(regions, programme.policy)


def solved(programme: Programme, regions: Regions) -> pd.DataFrame:
    """Every group that is to be announced, solved."""
    regions = reported(programme, regions)
    return mechanism_of(programme.policy).solve(regions.take(regions.announced), programme.policy)


def announced(programme: Programme, regions: Regions, of: pd.DataFrame | None = None) -> Announcement:
    """What is announced of a period."""
    policy, mechanism, regions = programme.policy, mechanism_of(programme.policy), reported(programme, regions)
    to_announce = regions.take(regions.announced)
    mechanism.check_decisions(to_announce, policy)
    found = solved(programme, regions) if of is None else of
    return Announcement.of(regions, mechanism.announce(to_announce, found, policy), policy)


def report(programme: Programme, regions: Regions, announced: Announcement) -> model.PublicReport:
    """The public report."""
    return build.build(
        announced,
        build.measure(announced, programme),
        programme=programme,
        period=periods.ALL,
        extent=Extent.of(reported(programme, regions)),
        quality=Accounting(
            rows_read=9999, decisions=9999, duplicates=0, corrections=0, quarantined=0, files=1, reasons={}
        ),
        version=1,
        date="2024-05-06",
    )


def verifies(made: model.PublicReport, announced: Announcement) -> None:
    """No statement of a true report is found false, whether or not the exact populations are known."""
    found = list(findings(model.PublicReport.model_validate_json(made.to_json(), strict=True)))
    assert not found, "; ".join(map(str, found))
    found = list(findings(made, population=announced.people))
    assert not found, "; ".join(map(str, found))


@series.quick()
def failed_checks(
    programme: Programme, regions: Regions, of: pd.DataFrame, announced: Announcement, made: model.PublicReport
) -> list[dossier.Check]:
    """The checks of the dossier that failed."""
    rows = {"rows_read": 9, "decisions": 9, "duplicates": 0, "corrections": 0, "quarantined": 0, "reasons": {}}
    found = decided(regions, programme.policy)
    results = dossier.Results(programme, "all", 1, found, of, announced, made, beliefs=(), accounting=rows, unknown={})
    return [c for c in dossier.build(results).checks if not c.passed]
