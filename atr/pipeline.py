"""From the log to a draft that waits for review, step by step.

:func:`publish` runs the steps; whoever calls it brings the way to run them. Every step reads and writes files of the
run's private folder and may be repeated: load the log → begin → aggregate → solve (each batch) → announce → measure →
render → register; refuse, if a gate says no.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from atr import ingest
from atr.core.arrays import usable_cores
from atr.core.disclosure import Extent
from atr.documents.render import render as render_documents
from atr.dossier import of_run as dossier
from atr.dossier.related import related
from atr.errors import IngestError, PeriodError, ProgrammeError, RefusedError
from atr.mechanisms import mechanism_of
from atr.programme import Programme, load, periods
from atr.report import build, earlier, model
from atr.warehouse import counting, reportable, versions
from atr.warehouse.advice import told_of
from atr.warehouse.connection import Warehouse, warehouse_path
from atr.warehouse.files import put_folder, sha256, write_text
from atr.warehouse.kept_releases import Kept, Wait, kept_path
from atr.warehouse.ledger import Ledger, Release, documents_path, dossier_path, is_whole
from atr.warehouse.register import Register
from atr.warehouse.run import Batch, Run
from atr.warehouse.shares import Shares
from atr.warehouse.store import PATIENCE, hold, missing_folders, remove_made

T = TypeVar("T")
Step = Callable[..., Any]

DOING = {
    "load_log": "Reading the log",
    "begin": "Choosing the period",
    "aggregate": "Counting the decisions of every region",
    "solve": "Solving the QID groups",
    "announce": "Choosing what to announce",
    "measure": "Measuring fairness",
    "render": "Rendering the documents",
    "register": "Leaving the draft",
    "draft_records": "Choosing channels and drawing the released values",
}
"""What each step does, for whoever watches a run."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a run came to.

    Parameters
    ----------
    release, new
        The release that waits for review, or the one before, if there is nothing new to say; and whether there is.
    documents, dossier
        Folders of the public documents, and of the reviewer's dossier.
    overlapping
        The periods that share days with this one and have a report.
    shares, advice
        How many people are told of, and how; where fewer than half are announced, what would bring most, if anything.
    waits, replaces
        The groups that are counted as the version before did, and whether a version of the period is published.
    """

    release: Release
    new: bool
    documents: Path
    dossier: Path
    overlapping: tuple[str, ...]
    shares: Shares
    advice: str
    waits: tuple[Wait, ...] = ()
    replaces: bool = False

    @property
    def report(self) -> model.PublicReport:
        """The public report, the value that every document is rendered from."""
        return model.read(self.documents / "report.json")


def run_step(function: Callable[..., T], *arguments: Any) -> T:
    """Run a step plainly."""
    return function(*arguments)


def run_each(function: Callable[[Run, Batch], None], run: Run, batches: Sequence[Batch]) -> None:
    """Run a step for each batch, on all usable cores."""
    with ThreadPoolExecutor(usable_cores()) as pool:
        list(pool.map(lambda batch: function(run, batch), batches))


def publish(
    programme: Programme | str | Path,
    period: str | int | None = None,
    *,
    ended_by: date | None = None,
    today: date | None = None,
    step: Step = run_step,
    map: Callable[[Callable[[Run, Batch], None], Run, Sequence[Batch]], None] = run_each,
    patience: float = PATIENCE,
) -> Draft:
    """Make the report of a period and leave it as a draft that waits for review.

    Parameters
    ----------
    programme
        From :func:`atr.load`, or the path of its file.
    period
        Such as 2013, 2013-Q1 or 2013-05; by default the last complete one.
    ended_by
        By default the last period that had ended by this day, instead.
    today
        The day it is; by default by the clock, in the programme's time zone.
    step, map
        How to run a step, and one for each batch of QID groups: called with the function and its arguments.
    patience
        Seconds to wait for another run of the series.

    Returns
    -------
    The draft; the release before, if there is nothing new to say.

    Raises
    ------
    RefusedError
        If a gate says no; the reason is in the dossier.
    AtrError
        If the programme, the log or the machine is in the way.
    """
    loaded = load(programme)
    label = None if period is None else periods.parse(period).label
    made = missing_folders(loaded.store_path)
    with hold(loaded.store_path, wait=patience):
        made = [] if warehouse_path(loaded).exists() else made  # by now another run may have come first
        try:
            step(load_log, str(loaded.path))
            run = step(begin, str(loaded.path), label, ended_by, today)
            try:
                return _draft(run, step, map)
            except RefusedError as refusal:
                raise refuse(run, refusal) from None
            except BaseException:
                with suppress(Exception):
                    give_up(run)
                raise
        except (ProgrammeError, IngestError, PeriodError):
            remove_made(made)
            raise


def _draft(run: Run, step: Step, map: Callable[..., None]) -> Draft:
    map(solve, run, step(aggregate, run))
    step(announce, run)
    step(measure, run)
    step(render, run)
    draft: Draft = step(register, run)
    return draft


def past_periods(
    programme: Programme, first: str | None = None, last: str | None = None, *, today: date | None = None
) -> list[str]:
    """Bring the warehouse up to date with the log, and list its periods from one label to another.

    Raises
    ------
    PeriodError
        As :func:`atr.warehouse.reportable.between` does.
    """
    load_log(str(programme.path))
    with Warehouse.open(programme) as warehouse:
        day = today or periods.today(programme.period.timezone)
        return reportable.between(warehouse, programme, first, last, today=day)


# --- the steps


def load_log(programme_path: str) -> ingest.Reading:
    """Bring the warehouse up to date with the log."""
    programme = load(programme_path)
    with Warehouse.open(programme) as warehouse:
        return ingest.ingest(warehouse, programme)


def begin(
    programme_path: str, period: str | None = None, ended_by: date | None = None, today: date | None = None
) -> Run:
    """Decide what the run is about; what runs that were killed had begun is forgotten.

    Raises
    ------
    PeriodError
        If the label is no period, the log covers none to its end, or it has no decisions in it.
    """
    programme = load(programme_path)
    day = today or periods.today(programme.period.timezone)
    with Warehouse.open(programme) as warehouse:
        ledger = Ledger(warehouse)
        chosen = reportable.chosen(warehouse, programme, period, ended_by, today=day)
        counting.require_decisions(warehouse, chosen)
        ledger.forget_begun()
        release = ledger.begin(chosen.label, today=day.isoformat())
    return Run(str(programme.path), programme.sha256, chosen.label, release.version, release.date, day.isoformat())


def aggregate(run: Run) -> list[Batch]:
    """Count people and outcomes per decision region, decide who is announced, and share out the solving.

    Raises
    ------
    ProgrammeError
        If a file that the programme names lacks a region that is to be announced, or a value.
    RefusedError
        If the policy cannot be kept, whatever is announced.
    """
    programme, policy = run.programme, run.programme.policy
    with Warehouse.open(programme) as warehouse:
        counted = counting.aggregate(warehouse, programme, run.period)
        accounting, changes = ingest.accounting(warehouse), ingest.log_changes(warehouse)
        remarks = ingest.remarks(warehouse, programme, date.fromisoformat(run.today))
        kept, remember = versions.about(warehouse, programme, run.period_label, counted.outcomes)
    regions, kept = versions.settled(counted, kept, programme, remember)
    remarks += ingest.not_announced({run.period_label: (counted, regions)}, programme)
    log = {"accounting": asdict(accounting), "unknown": counting.unknown(counted, programme), "remarks": remarks}
    run.start(regions, log)
    kept.model_copy(update={"log_changes": changes}).leave(run)
    announced, mechanism = regions.take(regions.announced), mechanism_of(policy)
    mechanism.check_programme(announced, policy)
    with run.keeping_refusals():
        mechanism.check_decisions(announced, policy)
    return run.share_out(announced)


def solve(run: Run, batch: Batch) -> None:
    """Solve the groups of a batch."""
    policy = run.programme.policy
    run.save_solved(batch, mechanism_of(policy).solve(run.regions_of(batch), policy))


def announce(run: Run) -> None:
    """Choose the announced mapping of all groups together.

    Raises
    ------
    RefusedError
        If the ceiling cannot be met.
    """
    policy, regions, kept = run.programme.policy, run.regions.take(run.regions.announced), Kept.left(run)
    with run.keeping_refusals():
        announced = mechanism_of(policy).announce(regions, run.solved, policy)
    announced = versions.reprinted(announced, regions, kept, run.programme)
    kept.with_announced(announced, regions).leave(run)
    run.save_announced(announced)


def measure(run: Run) -> None:
    """Measure fairness on what is announced and put the public report together."""
    programme, report = run.programme, _report(run)
    with Warehouse.open(programme, read_only=True) as warehouse:
        waiting = Ledger(warehouse).release(run.period_label, run.version)
    if waiting.state == "draft" and waiting.content_sha256 != earlier.content_sha256(report):
        report = report.model_copy(update={"date": run.today})
    write_text(run.folder / "report.json", report.to_json())


def render(run: Run) -> None:
    """Render the public documents, from the public report alone, and the reviewer's dossier."""
    report = model.read(run.folder / "report.json")
    documents = run.folder / "public"
    shutil.rmtree(documents, ignore_errors=True)
    documents.mkdir(parents=True)
    render_documents(report, documents, fonts=run.programme.font_files)
    dossier.write(run, report)


def register(run: Run) -> Draft:
    """Leave the documents as a draft that waits for review; nothing, if they say what the last release said."""
    programme, kept = run.programme, Kept.left(run)
    report = model.read(run.folder / "report.json")
    content = earlier.content_sha256(report)
    with Warehouse.open(programme) as warehouse:
        ledger = Ledger(warehouse)
        release = ledger.release(run.period_label, run.version)
        same = ledger.unchanged(release, content_sha256=content)
        new = same is None or not is_whole(programme, same) or earlier.is_outdated(programme, same, report)
        if new or same is None:
            same = replace(release, state="draft", date=report.date)
            documents = documents_path(programme, same)
            put_folder(run.folder / "public", documents)
            put_folder(run.folder / "dossier", dossier_path(programme, same))
            same = ledger.record(
                same,
                state="draft",
                content_sha256=content,
                report_sha256=sha256(documents / "report.json"),
                manifest_sha256=sha256(documents / "manifest.json"),
                comment=None,
            )
        else:
            ledger.forget_begun()
        if same.state == "draft":
            kept.of_draft(kept_path(programme, same.id), new=new)
        overlapping = related(programme, ledger, run.period_label, report, kept).overlapping
    told = told_of(run.regions, kept.counted, run.period_label, programme)
    shutil.rmtree(run.folder, ignore_errors=True)
    folders = documents_path(programme, same), dossier_path(programme, same)
    return Draft(same, new, *folders, overlapping, *told, kept.waits, bool(kept.before))


def refuse(run: Run, refusal: RefusedError) -> RefusedError:
    """Leave the dossier of a run that a gate ended, and the reason in the ledger; an older draft no longer waits.

    Returns
    -------
    The refusal as the person at the keyboard sees it: where the dossier is, and in the private part what binds.
    """
    programme = run.programme
    refusal.private = run.refusal or refusal.private
    target = programme.store_path / "dossiers" / f"{run.id}-refused"
    dossier.write(run, None, refusal=refusal)
    put_folder(run.folder / "dossier", target)
    with Warehouse.open(programme) as warehouse:
        ledger = Ledger(warehouse)
        ledger.record(ledger.release(run.period_label, run.version), state="refused", comment=refusal.message)
    shutil.rmtree(run.folder, ignore_errors=True)
    hint = f"{refusal.hint}\nThe dossier: {target / 'dossier.html'}"
    return RefusedError(refusal.message, hint=hint, private=refusal.private)


def give_up(run: Run) -> None:
    """Forget a run that came to nothing, so that the next one starts afresh."""
    programme = load(run.programme_path)
    with Warehouse.open(programme) as warehouse:
        Ledger(warehouse).forget_begun()
    shutil.rmtree(programme.store_path / "runs", ignore_errors=True)


def _report(run: Run) -> model.PublicReport:
    kept, last = Kept.left(run), earlier.newest_release(run.programme)
    return build.build(
        run.announcement,
        build.measure(run.announcement, run.programme),
        programme=run.programme,
        period=run.period,
        extent=Extent.of(run.regions),
        quality=ingest.Accounting(**run.log["accounting"]),
        as_of=dict(kept.as_of) if kept.waits else None,
        published=None if last is None else last[1],
        version=run.version,
        date=run.date,
        previous=earlier.last_published(run.programme, run.period),
        earlier=earlier.published_before(run.programme, run.period),
        beside=[
            model.Beside(kind=other.kind, programme=other.programme, period=other.period)
            for other in Register(run.programme).beside(kept.log, run.period, "report")
        ],
    )
