"""One run of the pipeline, step by step. Every step reads and writes files of the run's folder and may be repeated.

ingest → begin → aggregate → solve (each batch) → announce → measure → render → register; refuse, if a gate says no.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from atr import ingest
from atr.core.announcement import Announcement
from atr.core.arrays import IntArray
from atr.core.disclosure import Extent, decided
from atr.core.regions import Regions
from atr.documents.render import render as render_documents
from atr.dossier import build as dossiers
from atr.errors import PeriodError, ProgrammeError, RefusedError
from atr.measures import group_fairness as fairness
from atr.mechanisms import mechanism_of
from atr.programme import Programme, load, periods
from atr.report import build, model
from atr.warehouse import coarsening, ledger
from atr.warehouse import counting as regions
from atr.warehouse.connection import Warehouse, warehouse_path
from atr.warehouse.files import put_folder, read_json, sha256, write_json, write_text
from atr.warehouse.parquet import read_parquet, write_parquet
from atr.warehouse.store import hold

TASKS = 64
"""Up to so many QID groups are solved in a task each; more are solved in so many batches of equal work."""


REFUSAL = "refusal.txt"
"""What only the reviewer may know of a refusal; a file, since exceptions end up in Prefect's storage."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some QID groups that are solved together: those to be announced among ``first`` to before ``end``."""

    name: str
    first: int
    end: int


@dataclass(frozen=True)
class Run:
    """One run: of which programme and period, and the version and date of the draft it makes."""

    programme_path: str
    programme_sha256: str
    period_label: str
    version: int
    date: str

    @cached_property
    def programme(self) -> Programme:
        """The programme, as it was when the run began.

        Raises
        ------
        ProgrammeError
            If the file, or one that it names, has been changed since: one report must not mix two policies.
        """
        programme = load(self.programme_path)
        if programme.sha256 != self.programme_sha256:
            named = ["its file of ranges"] if programme.policy.fidelity.kind == "ranges" else []
            named += ["the file of a hierarchy"] if programme.hierarchies else []
            named += ["its file of side information"] if programme.policy.known_from else []
            raise ProgrammeError(
                f"the programme{''.join(f', or {file},' for file in named)} was changed while the run was under way",
                where=self.programme_path,
                hint="Run it again.",
            )
        return programme

    @property
    def period(self) -> periods.Period:
        """The period of the report."""
        return periods.parse(self.period_label)

    @property
    def id(self) -> str:
        """``2013-Q1-v1``."""
        return f"{self.period_label}-v{self.version}"

    @property
    def folder(self) -> Path:
        """Where the steps leave their files; private."""
        return self.programme.store_path / "runs" / self.id

    @property
    def documents(self) -> Path:
        """Where the public documents are rendered."""
        return self.folder / "public"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to: the release, whether there was anything new to say, where the files are, and ``overlapping``:
    the periods that share days with this one and have a report."""

    release: ledger.Release
    new: bool
    documents: Path
    dossier: Path
    overlapping: tuple[str, ...]


def load_log(programme_path: str) -> ingest.Accounting:
    """Bring the warehouse up to date with the log."""
    programme = load(programme_path)
    with Warehouse.open(programme) as warehouse:
        return ingest.ingest(warehouse, programme)


def begin(programme_path: str, period: str | None = None, *, ended_by: date | None = None) -> Run:
    """Decide what the run is about.

    Parameters
    ----------
    period
        A label. By default the last period that had ended by the day ``ended_by``, or else the last one that the log
        covers to its end; of a log that covers none to its end, the one it ends in, once that is over.

    Raises
    ------
    PeriodError
        If the label is no period, or the log covers none to its end.
    """
    programme = load(programme_path)
    with Warehouse.open(programme) as warehouse:
        chosen = _choose(warehouse, programme, period, ended_by=ended_by)
        release = ledger.Ledger(warehouse).begin(
            chosen.label, today=periods.today(programme.period.timezone).isoformat()
        )
    return Run(str(programme.path), programme.sha256, chosen.label, release.version, release.date)


def foresee(programme_path: str, period: str | None = None) -> str:
    """Find out what would end a run early: another run, a log that does not fit, a period without decisions.

    The log is ingested for it, so that the run has only to look whether a file is new.

    Returns
    -------
    The label of the period the run will be about.

    Raises
    ------
    AtrError
        As :func:`load_log` and :func:`begin` do, and if there are no decisions, another run holds the store, or the
        file of ranges or of side information lacks a region or that of a hierarchy a value.
    """
    programme = load(programme_path)
    new = not programme.store_path.exists()
    with hold(programme.store_path):
        # By now another run may have come first.
        new = new and not warehouse_path(programme).exists()
        try:
            return _foreseen(programme, programme_path, period)
        except ProgrammeError:
            if new:
                shutil.rmtree(programme.store_path, ignore_errors=True)
            raise


def _foreseen(programme: Programme, programme_path: str, period: str | None) -> str:
    load_log(programme_path)
    policy = programme.policy
    with Warehouse.open(programme) as warehouse:
        chosen = _choose(warehouse, programme, period)
        regions.require_decisions(warehouse, chosen)
        if policy.fidelity.kind == "ranges" or policy.unattainable == "coarsen" or policy.known_from:
            found = coarsening.aggregate(warehouse, programme, chosen)
            mechanism_of(policy).check_programme(found.take(found.announced), policy)
    return chosen.label


def _choose(
    warehouse: Warehouse, programme: Programme, period: str | None, *, ended_by: date | None = None
) -> periods.Period:
    every = programme.period.every
    if period is not None:
        return periods.parse(period)
    if every == "all":
        return periods.ALL
    if ended_by is not None:
        return periods.previous(periods.containing(ended_by, every))
    first, last = regions.decided_span(warehouse)
    complete = periods.complete_periods(first, last, every, today=periods.today(programme.period.timezone))
    if not complete:
        raise PeriodError(
            f"the log ({first} to {last}) covers no {every} to its end",
            hint=f"Name the period to publish, as in --period {periods.containing(last, every).label}.",
        )
    return complete[-1]


def aggregate(run: Run) -> list[Batch]:
    """Count people and outcomes per decision region, decide who is announced, and share out the solving.

    Raises
    ------
    ProgrammeError, RefusedError
        If ranges are declared, and a region that is to be announced has none or lies outside its own; if side
        information is, and a group that is large enough has a region without it; if groups are to be merged, and a
        value is in no hierarchy.
    """
    programme = run.programme
    shutil.rmtree(run.folder.parent, ignore_errors=True)
    run.folder.mkdir(parents=True, mode=0o700)
    with Warehouse.open(programme) as warehouse:
        found = coarsening.aggregate(warehouse, programme, run.period)
        unknown = regions.unknown(warehouse, programme, run.period)
        accounting = ingest.accounting(warehouse)
    _save_regions(run, found)
    write_json(run.folder / "log.json", {"accounting": asdict(accounting), "unknown": unknown})
    with _refusal_kept(run):
        mechanism_of(programme.policy).check_decisions(found.take(found.announced), programme.policy)
    return batches(found, found.announced)


def batches(found: Regions, announced: IntArray) -> list[Batch]:
    """One batch for each announced group up to :data:`TASKS`, else that many of about equal work."""
    if len(announced) <= TASKS:
        return [Batch(", ".join(found.group_values[g]), int(g), int(g) + 1) for g in announced]
    work = np.cumsum(np.diff(found.offsets)[announced])
    ends = np.unique(np.searchsorted(work, work[-1] * np.arange(1, TASKS + 1) / TASKS) + 1)
    starts = np.concatenate([[0], ends[:-1]])
    return [
        Batch(f"groups {a + 1} to {b}", int(announced[a]), int(announced[b - 1]) + 1)
        for a, b in zip(starts, ends, strict=True)
    ]


def solve(run: Run, batch: Batch) -> None:
    """Solve the groups of a batch."""
    found = load_regions(run)
    which = found.announced
    own = found.take(which[(batch.first <= which) & (which < batch.end)])
    solved = mechanism_of(run.programme.policy).solve(own, run.programme.policy)
    write_parquet(solved, run.folder / f"solved-{batch.first:09d}.parquet")


def announce(run: Run) -> None:
    """Choose the announced mapping of all groups together.

    Raises
    ------
    RefusedError
        If the ceiling cannot be met.
    """
    found = load_regions(run)
    policy = run.programme.policy
    with _refusal_kept(run):
        chance, promise = mechanism_of(policy).announce(found.take(found.announced), load_solved(run), policy)
    write_parquet(pd.DataFrame(chance).rename(columns="x{}".format), run.folder / "announced.parquet")
    promised = {"kind": promise.kind, "level": promise.level, "limits": promise.limits}
    write_json(run.folder / "promise.json", promised)


def measure(run: Run) -> None:
    """Measure fairness on what is announced and put the public report together."""
    programme = run.programme
    made = load_announcement(run)
    comparisons = build.measure(made, programme)
    report = _report(run, made, comparisons)
    with Warehouse.open(programme) as warehouse:
        waiting = _release(ledger.Ledger(warehouse), run)
        if waiting.state == "draft" and waiting.content_sha256 != _content_sha256(report):
            report = report.model_copy(update={"date": periods.today(programme.period.timezone).isoformat()})
    write_text(run.folder / "report.json", report.to_json())


def render(run: Run) -> None:
    """Render the public documents, from the public report alone, and the reviewer's dossier."""
    report = model.read(run.folder / "report.json")
    shutil.rmtree(run.documents, ignore_errors=True)
    run.documents.mkdir(parents=True)
    render_documents(report, run.documents)
    _write_dossier(run, report, refusal=None)


def register(run: Run) -> Outcome:
    """Leave the documents as a draft that waits for review; nothing, if they say what the last release said."""
    programme = run.programme
    report = model.read(run.folder / "report.json")
    content = _content_sha256(report)
    with Warehouse.open(programme) as warehouse:
        book = ledger.Ledger(warehouse)
        release = _release(book, run)
        same = book.unchanged(release, content_sha256=content)
        if same is not None and _is_whole(programme, same) and not _sets_beside_another(programme, same, report):
            if same.version != release.version:
                book.withdraw(release)
            new = False
        else:
            same = replace(release, state="draft", date=report.date)
            documents = ledger.documents_path(programme, same)
            put_folder(run.documents, documents)
            put_folder(run.folder / "dossier", ledger.dossier_path(programme, same))
            same = book.record(
                same,
                state="draft",
                content_sha256=content,
                report_sha256=sha256(documents / "report.json"),
                manifest_sha256=sha256(documents / "manifest.json"),
                comment=None,
            )
            new = True
        overlapping = _related(book, run).overlapping
    shutil.rmtree(run.folder, ignore_errors=True)
    return Outcome(same, new, ledger.documents_path(programme, same), ledger.dossier_path(programme, same), overlapping)


def refuse(run: Run, refusal: RefusedError) -> RefusedError:
    """Leave the dossier of a run that a gate ended, and the reason in the ledger; an older draft no longer waits.

    Returns
    -------
    The refusal as the person at the keyboard sees it: where the dossier is, and in the private part what binds.
    """
    programme = run.programme
    detail = run.folder / REFUSAL
    refusal.private = detail.read_text(encoding="utf-8") if detail.is_file() else ""
    target = programme.store_path / "dossiers" / f"{run.id}-refused"
    _write_dossier(run, None, refusal=refusal)
    put_folder(run.folder / "dossier", target)
    with Warehouse.open(programme) as warehouse:
        book = ledger.Ledger(warehouse)
        book.record(_release(book, run), state="refused", comment=refusal.message)
    shutil.rmtree(run.folder, ignore_errors=True)
    hint = f"{refusal.hint}\nThe dossier: {target / 'dossier.html'}"
    return RefusedError(refusal.message, hint=hint, private=refusal.private)


def give_up(run: Run) -> None:
    """Forget a run that came to nothing, so that the next one starts afresh."""
    programme = load(run.programme_path)
    with Warehouse.open(programme) as warehouse:
        book = ledger.Ledger(warehouse)
        book.withdraw(_release(book, run))
    shutil.rmtree(programme.store_path / "runs", ignore_errors=True)


def _release(book: ledger.Ledger, run: Run) -> ledger.Release:
    return next(release for release in book.releases(run.period_label) if release.version == run.version)


def _is_whole(programme: Programme, release: ledger.Release) -> bool:
    """Whether the documents of a release are where they belong, as they were recorded."""
    manifest = ledger.documents_path(programme, release) / "manifest.json"
    return manifest.is_file() and sha256(manifest) == release.manifest_sha256


def _sets_beside_another(programme: Programme, release: ledger.Release, report: model.PublicReport) -> bool:
    """Whether a draft was made before the report that its figures are now set beside was published."""
    if release.state != "draft":
        return False
    return model.read(ledger.documents_path(programme, release) / "report.json").changes != report.changes


# --- what the steps leave for each other


@contextmanager
def _refusal_kept(run: Run) -> Iterator[None]:
    """Leave the private part of a refusal in a file of the run."""
    try:
        yield
    except RefusedError as refusal:
        write_text(run.folder / REFUSAL, refusal.private)
        raise


def load_regions(run: Run) -> Regions:
    """The decision regions of the run."""
    frame = read_parquet(run.folder / "regions.parquet")
    names = read_json(run.folder / "names.json")
    group = frame["group"].to_numpy(dtype=np.int64)
    offsets = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [len(group)]]).astype(np.int64)
    public = frame[[f"u{i}" for i in range(len(names["public"]))]]
    sensitive = frame[[f"s{i}" for i in range(len(names["sensitive"]))]]
    group_values = tuple(public.iloc[offsets[:-1]].itertuples(index=False, name=None))
    merged = frame["merged"].to_numpy()[offsets[:-1]].tolist()
    found = Regions(
        public=tuple(names["public"]),
        protection=run.programme.protection,
        outcomes=tuple(names["outcomes"]),
        group_values=group_values,
        region_values=tuple(sensitive.itertuples(index=False, name=None)),
        counts=frame[[f"n{i}" for i in range(len(names["outcomes"]))]].to_numpy(dtype=np.int64),
        offsets=offsets,
        merged={values: groups for values, groups in zip(group_values, merged, strict=True) if groups},
        known=frame["known"].to_numpy(dtype=np.int64) if "known" in frame else None,
    )
    return decided(found, run.programme.policy)


def _save_regions(run: Run, found: Regions) -> None:
    group = np.repeat(np.arange(len(found.group_values)), np.diff(found.offsets))
    frame = pd.DataFrame({"group": group})
    frame["merged"] = [found.merged.get(found.group_values[g], 0) for g in group]
    for i in range(len(found.public)):
        frame[f"u{i}"] = [found.group_values[g][i] for g in group]
    for i in range(len(found.sensitive)):
        frame[f"s{i}"] = [values[i] for values in found.region_values]
    for i in range(len(found.outcomes)):
        frame[f"n{i}"] = found.counts[:, i]
    if found.known is not None:
        frame["known"] = found.known
    write_parquet(frame, run.folder / "regions.parquet")
    names = {"public": found.public, "sensitive": found.sensitive, "outcomes": found.outcomes}
    write_json(run.folder / "names.json", names)


def load_solved(run: Run) -> pd.DataFrame:
    """What all solve steps found."""
    parts = [read_parquet(path) for path in sorted(run.folder.glob("solved-*.parquet"))]
    policy = run.programme.policy
    nobody = np.zeros(0, dtype=np.int64)
    return pd.concat(parts or [mechanism_of(policy).solve(load_regions(run).take(nobody), policy)], ignore_index=True)


def load_announcement(run: Run) -> Announcement:
    """The announced mapping."""
    found = load_regions(run)
    policy = run.programme.policy
    frame = read_parquet(run.folder / "announced.parquet")
    promise = mechanism_of(policy).promise(**read_json(run.folder / "promise.json"))
    if promise is None:
        raise ValueError("promise.json holds no promise of the mechanism")
    return Announcement.of(found, frame.to_numpy(dtype=np.int64), promise, policy)


def _report(run: Run, made: Announcement, comparisons: Sequence[fairness.Comparison]) -> model.PublicReport:
    log = read_json(run.folder / "log.json")
    found = load_regions(run)
    counted = ("rows_read", "decisions", "duplicates", "corrections", "quarantined")
    return build.build(
        made,
        list(comparisons),
        programme=run.programme,
        period=run.period,
        extent=Extent.of(found),
        quality=build.LogQuality(**{k: log["accounting"][k] for k in counted}),
        version=run.version,
        date=run.date,
        previous=_last_published(run),
    )


def _write_dossier(run: Run, report: model.PublicReport | None, *, refusal: RefusedError | None) -> None:
    log = read_json(run.folder / "log.json")
    folder = run.folder / "dossier"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    with Warehouse.open(run.programme) as warehouse:
        related = _related(ledger.Ledger(warehouse), run)
    dossier = dossiers.build(
        programme=run.programme,
        release_id=run.id,
        regions=load_regions(run),
        solved=load_solved(run),
        announcement=None if report is None else load_announcement(run),
        report=report,
        previous=_previous_report(run),
        accounting=log["accounting"],
        unknown=log["unknown"],
        related=related,
        refusal=refusal,
    )
    dossiers.render(dossier, folder)
    failed = [check.name for check in dossier.checks if not check.passed]
    if failed and refusal is None:
        raise RefusedError(
            "the finished report fails its own checks, which is ours to mend",
            hint="Nothing was left as a draft. Please send the programme file to the developers.",
            private=f"Failed: {'; '.join(failed)}",
        )


def _related(book: ledger.Ledger, run: Run) -> dossiers.Related:
    return dossiers.Related(
        overlapping=book.overlapping(run.period_label, lambda release: release.state in ("draft", "published")),
        published=tuple(r.version for r in book.releases(run.period_label) if r.state == "published"),
    )


def _previous_report(run: Run) -> model.PublicReport | None:
    """The last draft or published report of the period before."""
    if run.period.start is None:
        return None
    programme = run.programme
    with Warehouse.open(programme) as warehouse:
        before = ledger.Ledger(warehouse).releases(periods.previous(run.period).label)
    for release in reversed(before):
        path = ledger.documents_path(programme, release) / "report.json"
        if release.state in ("draft", "published") and path.is_file():
            return model.read(path)
    return None


def _last_published(run: Run) -> tuple[model.PublicReport, str] | None:
    """The last published report of a period of the same length before this one, and the hash of its report.json.

    Never a draft, and only a file that is as it was published: it is told of in public.
    """
    start = run.period.start
    if start is None:
        return None
    programme = run.programme
    with Warehouse.open(programme) as warehouse:
        releases = ledger.Ledger(warehouse).releases()
    before: list[tuple[date, int, ledger.Release]] = []
    for release in releases:
        period = periods.parse(release.period)
        same_length = period.months == run.period.months
        if release.state == "published" and same_length and period.end is not None and period.end <= start:
            before.append((period.end, release.version, release))
    if not before:
        return None
    release = max(before, key=lambda found: found[:2])[2]
    path = ledger.documents_path(programme, release) / "report.json"
    if not path.is_file() or sha256(path) != release.report_sha256:
        return None
    return model.read(path), sha256(path)


def _content_sha256(report: model.PublicReport) -> str:
    """The hash of what a report says of its period: not its version and date, how the log has grown since, or what
    other reports have been published."""
    content = report.model_dump(mode="json", by_alias=True, exclude={"version", "date", "data_quality", "changes"})
    return model.checksum(content)
