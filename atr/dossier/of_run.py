"""The dossier of a run."""

from __future__ import annotations

import shutil

from atr.dossier.build import Results, build, render
from atr.dossier.other_beliefs import OtherBelief, other_beliefs
from atr.dossier.other_choices import OtherChoice, other_choices
from atr.dossier.related import related
from atr.errors import RefusedError
from atr.report import earlier, model
from atr.warehouse import versions
from atr.warehouse.connection import Warehouse
from atr.warehouse.kept_releases import Kept
from atr.warehouse.ledger import Ledger
from atr.warehouse.run import Run


def write(run: Run, report: model.PublicReport | None, *, refusal: RefusedError | None = None) -> None:
    """Write the dossier of a run into its folder.

    Parameters
    ----------
    run
        What its steps left.
    report, refusal
        The report, or why there is none.

    Raises
    ------
    RefusedError
        If the report fails its own checks.
    """
    folder, kept = run.folder / "dossier", Kept.left(run)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    with Warehouse.open(run.programme, read_only=True) as warehouse:
        others = related(run.programme, Ledger(warehouse), run.period_label, report, kept)
    programme, regions, announcement = run.programme, run.regions, None if report is None else run.announcement
    choices, beliefs = tuple[OtherChoice, ...](), tuple[OtherBelief, ...]()
    if announcement is not None:
        beliefs = other_beliefs(regions.take(regions.announced), run.announced, programme.policy)
        choices = other_choices(programme, regions, announcement, kept.counted, versions.memory(kept, programme))
    results = Results(
        programme=programme,
        period=run.period_label,
        version=run.version,
        regions=regions,
        solved=run.solved,
        announcement=announcement,
        report=report,
        beliefs=beliefs,
        choices=choices,
        counted=kept.counted,
        log_changes=earlier.log_changes(programme, kept.log_changes),
        waits=kept.waits,
        **run.log,
    )
    before = earlier.of_period_before(run.programme, run.period)
    version = earlier.version_before(run.programme, run.period)
    dossier = build(results, previous=before, version_before=version, related=others, refusal=refusal)
    render(dossier, folder, fonts=programme.font_files)
    failed = [f"{check.name} ({check.detail})" for check in dossier.checks if not check.passed]
    if failed and refusal is None:
        raise RefusedError(
            "the finished report fails its own checks, which is ours to mend",
            hint="Nothing was left as a draft. Please send the programme file to the developers.",
            private=f"Failed: {'; '.join(failed)}",
        )
