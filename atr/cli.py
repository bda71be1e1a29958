"""The atr command: init, check, publish, review, verify, history, forget, backfill, serve.

Exit codes: 0 done, 1 input error, 2 usage, 3 a gate refused or a statement is false, 4 environment, 70 internal error,
130 interrupted. Progress goes to stderr, the paths of documents to stdout; with --json, an error is JSON there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from atr.errors import ProgrammeError, RefusedError, ReviewError
from atr.show import show_beside, show_draft, show_records, show_waits
from atr.terminal import application, result, run, say
from atr.version import __version__

if TYPE_CHECKING:
    from atr.warehouse.ledger import Kind

ProgrammeArgument = Annotated[Path, typer.Argument(metavar="PROGRAMME", help="The programme file, or its folder.")]
PeriodOption = Annotated[
    str | None,
    typer.Option(metavar="PERIOD", help="Such as 2013, 2013-Q1 or 2013-05; by default the last complete one."),
]
FirstOption = Annotated[str | None, typer.Option(metavar="PERIOD", help="The first period; by default the log's.")]
LastOption = Annotated[
    str | None, typer.Option(metavar="PERIOD", help="The last period; by default the last complete one.")
]
ServedOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="PROGRAMME", help="A programme to serve besides those of prefect.yaml; may be repeated."),
]
PortOption = Annotated[int, typer.Option(help="Where Prefect's pages are, on 127.0.0.1.")]
HomeOption = Annotated[Path, typer.Option(help="Prefect's own folder; private.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]


app = application("Publish Algorithmic Transparency Reports that bound what a reader can infer about anyone.")


def main() -> NoReturn:
    """Run the command and exit with its code."""
    sys.exit(run(app))


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Where to write the example.")] = Path(),
    as_json: Json = False,
) -> None:
    """Write a commented example programme and a small invented log to start from."""
    from atr.documents.templates import folder as templates

    target = folder / "programme.yaml"
    sources = sorted((templates() / "init").iterdir())
    taken = [source.name for source in sources if os.path.lexists(folder / source.name)]
    if taken:
        raise ProgrammeError("is already there and is not overwritten", where=str(folder / taken[0]))
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        with (folder / source.name).open("xb") as file:
            file.write(source.read_bytes())
    say(f"An example is in {target}. Next: atr check {target}")
    result({"programme": str(target)}, [str(target)], as_json=as_json)


@app.command()
def check(programme: ProgrammeArgument, as_json: Json = False) -> None:
    """Validate a programme, and the log against it, without writing anything."""
    from dataclasses import asdict

    from atr.documents.text.language import Language
    from atr.log_check import check as check_log
    from atr.programme import load

    loaded = load(programme)
    say("Reading the log …")
    found = check_log(loaded)
    accounting = found.accounting
    say(f"{loaded.path}: fits its log.")
    count = Language.of("en").say_n
    rows = count("{n} row", "{n} rows", accounting.rows_read)
    decisions = count("{n} decision", "{n} decisions", accounting.decisions)
    duplicates = count("{n} duplicate", "{n} duplicates", accounting.duplicates)
    corrections = count("{n} correction", "{n} corrections", accounting.corrections)
    say(f"{rows} read: {decisions}, {duplicates}, {corrections}, {accounting.quarantined:,} quarantined.")
    for reason, n in accounting.reasons.items():
        say(f"  quarantined, {reason}: {n:,}")
    for remark in found.remarks:
        say(f"  {remark if remark.endswith('?') else remark + '.'}")
    for advice in found.advice:
        say(f"  {advice}.")
    for line in found.records_table():
        say(line)
    say(found.next)
    if found.records:
        say(f"Records are released by: atr sanitise {programme} --period {found.records[-1].period}")
    periods = found.periods.to_dict("records")
    content = {"rows": accounting.rows_read, "decisions": accounting.decisions, "periods": periods,
               "next": found.next, "remarks": list(found.remarks), "advice": list(found.advice),
               "records": [asdict(of) for of in found.records]}  # fmt: skip
    result(content, found.table(), as_json=as_json)


@app.command()
def publish(programme: ProgrammeArgument, period: PeriodOption = None, as_json: Json = False) -> None:
    """Make the report of a period and leave it as a draft that waits for review."""
    from atr.pipeline import publish as make
    from atr.progress import Progress

    with Progress(sys.stderr) as progress:
        draft = make(programme, period, step=progress.step, map=progress.map)
    show_draft(draft, programme, as_json=as_json)


@app.command()
def sanitise(programme: ProgrammeArgument, period: PeriodOption = None, as_json: Json = False) -> None:
    """Make the released records of a period, one column altered at random, and leave them as a draft."""
    from atr.progress import Progress
    from atr.records_pipeline import release_records

    with Progress(sys.stderr) as progress:
        draft = release_records(programme, period, step=progress.step)
    show_records(draft, programme, as_json=as_json)


@app.command()
def review(
    programme: ProgrammeArgument,
    period: Annotated[str, typer.Argument(metavar="PERIOD", help="Such as 2013, 2013-Q1 or 2013-05.")],
    approve: Annotated[bool, typer.Option("--approve", help="Publish the draft.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Keep the draft unpublished.")] = False,
    name: Annotated[str, typer.Option(help="Who decides; goes into the ledger.")] = "",
    comment: Annotated[str, typer.Option(help="Why; goes into the ledger.")] = "",
    sha256: Annotated[
        str | None,
        typer.Option(help="The SHA-256 the report you read prints, or its beginning: no other is decided on."),
    ] = None,
    despite_overlap: Annotated[
        bool,
        typer.Option(
            "--despite-overlap", help="Publish although a published report tells of the same people in another way."
        ),
    ] = False,
    replaces: Annotated[
        bool,
        typer.Option("--replaces", help="Publish although a published version has other numbers: it is withdrawn."),
    ] = False,
    records: Annotated[bool, typer.Option("--records", help="Decide on released records, not on a report.")] = False,
    as_json: Json = False,
) -> None:
    """Publish or reject the draft of a period; without a decision, say where to read it."""
    from atr.dossier import review as reviewing
    from atr.programme import load
    from atr.warehouse.ledger import COMMANDS

    loaded, kind = load(programme), kind_of(records=records)
    if approve and reject:
        raise typer.BadParameter("give one of --approve and --reject")
    if not approve and not reject:
        waits_for = reviewing.waiting(loaded, period, kind=kind)
        draft, documents, dossier, overlapping, replaced, waits, changed, beside = waits_for
        say(
            f"Version {draft.version} of {period}, drafted {draft.date}, waits. Read these, then --approve or --reject."
        )
        if overlapping:
            say(f"It tells of the same people as what is published: {', '.join(overlapping)}. See --despite-overlap.")
        if replaced:
            say(f"It has other numbers than version {replaced}, which is published. See --replaces.")
        if changed:
            say(f"It cannot be published: since it was made {changed}. Run `{COMMANDS[kind]}` for {period} again.")
        show_waits(waits)
        show_beside(beside)
        _show_points("Whoever approves it confirms, and the ledger keeps:", kind)
        read = ("note.html", "note.pdf", "records.csv") if records else ("report.html", "report.pdf")
        lines = [str(dossier / "dossier.html"), *(str(documents / name) for name in read)]
        result({"state": draft.state, "overlapping": list(overlapping), "beside": list(beside), "replaces": replaced,
                "documents": str(documents), "dossier": str(dossier)}, lines, as_json=as_json)  # fmt: skip
        return
    if not name.strip() or not comment.strip():
        raise typer.BadParameter("a decision needs --name and --comment: they go into the ledger")
    if approve:
        _show_points(f"By approving, {name} confirms, and the ledger keeps:", kind)
        if sys.stdin.isatty() and not typer.confirm("Do you confirm all of it?", err=True):
            raise ReviewError("nothing was decided: the points were not confirmed")
    release, folder = reviewing.review(
        loaded, period, approve=approve, name=name, comment=comment, report_sha256=sha256,
        despite_overlap=despite_overlap, replaces=replaces, kind=kind,
    )  # fmt: skip
    say(f"{period}, version {release.version}: {release.state} by {name}.")
    result({"period": period, "version": release.version, "state": release.state, "folder": str(folder)},
            [str(folder)], as_json=as_json)  # fmt: skip


def _show_points(heading: str, kind: Kind) -> None:
    from atr.dossier.sign_off import POINTS

    say(heading)
    for point in POINTS[kind].values():
        say(f"  - {point}")


def kind_of(*, records: bool) -> Kind:
    """What a command is about."""
    return "records" if records else "report"


@app.command()
def verify(
    report: Annotated[
        Path, typer.Argument(metavar="REPORT.JSON", help="A published report.json; or a folder of released records.")
    ],
    population: Annotated[
        Path | None, typer.Option(help="CSV of exact populations: the attributes' columns and `population`.")
    ] = None,
    previous: Annotated[
        list[Path] | None, typer.Option(help="The report.json of an earlier report that it names; once for each.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Recompute a published report from its own numbers, or check released records against their channel."""
    from atr.documents.text.language import Language
    from atr.verify.files import verify_files
    from atr.verify.records import has_records, verify_records

    if has_records(report):
        records, findings = verify_records(report, population=population)
        for finding in findings:
            say(f"false: {finding}")
        said = "verified: the rows are as their channel makes them, within its randomness"
        if population is None:
            said += "; whether the bounds hold for hidden values was not checked (--population does)"
        said = (
            Language.of("en").say_n("{n} false statement", "{n} false statements", len(findings)) if findings else said
        )
        result({"verified": not findings, "findings": [str(f) for f in findings], "rows": records.people},
               [f"{report}: {said}"], as_json=as_json)  # fmt: skip
        if findings:
            raise typer.Exit(RefusedError.exit_code)
        return
    checked, findings = verify_files(report, population=population, previous=previous or ())
    for finding in findings:
        say(f"false: {finding}")
    false = Language.of("en").say_n("{n} false statement", "{n} false statements", len(findings))
    said = false if findings else "verified: every statement agrees with the printed numbers, within their rounding"
    named = max(len(checked.series) - 1, checked.changes is not None)
    if not findings and len(previous or ()) < named:
        said += "; what it says of earlier reports that were not given is taken as it stands (--previous checks it)"
    result({"verified": not findings, "findings": [str(f) for f in findings]}, [f"{report}: {said}"], as_json=as_json)
    if findings:
        raise typer.Exit(RefusedError.exit_code)


@app.command()
def history(programme: ProgrammeArgument, as_json: Json = False) -> None:
    """List the releases of a series: period, version, state and since when, who decided and why."""
    from dataclasses import asdict

    from atr.core.display_text import printable
    from atr.dossier import review as reviewing
    from atr.programme import load

    releases = reviewing.releases(load(programme))
    lines = (
        [f"{'period':<10}{'kind':<9}{'version':>7}  {'state':<11}{'since':<18}{'SHA-256':<14}by, why"]
        if releases
        else []
    )
    for r in releases:
        why = printable(": ".join(part for part in (r.reviewer, r.comment) if part))
        since = r.changed_at[:16].replace("T", " ")
        lines.append(
            f"{r.period:<10}{r.kind:<9}{r.version:>7}  {r.state:<11}{since:<18}{(r.report_sha256 or '')[:12]:<14}{why}"
        )
    if not releases:
        say("No release yet: `atr publish` makes the first draft.")
    result({"releases": [asdict(r) for r in releases]}, lines, as_json=as_json)


@app.command()
def forget(
    programme: ProgrammeArgument,
    ids: Annotated[
        Path, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="A text file with an id on every line.")
    ],
    as_json: Json = False,
) -> None:
    """Forget decisions of a log whose files are kept (log.keep), and write the store anew without a trace of them."""
    from dataclasses import asdict

    from atr.ingest.forgetting import forget as forget_ids
    from atr.ingest.forgetting import read_ids
    from atr.programme import load

    found = forget_ids(load(programme), read_ids(ids))
    say("\n".join(found.told))
    result(asdict(found), [], as_json=as_json)


@app.command()
def backfill(
    programme: ProgrammeArgument, first: FirstOption = None, last: LastOption = None, as_json: Json = False
) -> None:
    """Leave a draft for every period of the log, one after the other, as a Prefect flow."""
    given = [f"{name}={value}" for name, value in (("--first", first), ("--last", last)) if value is not None]
    _flows("backfill", str(programme), *given, *(["--json"] if as_json else []))


@app.command()
def serve(programme: ServedOption = None, port: PortOption = 4200, home: HomeOption = Path("var/prefect")) -> None:
    """Run a local Prefect server with the deployments of prefect.yaml, and a worker, until interrupted."""
    _flows("serve", *(f"--programme={path}" for path in programme or []), f"--port={port}", f"--home={home}")


def _flows(*arguments: str) -> NoReturn:
    """Let a flow's own command take the place of this process."""
    os.execv(sys.executable, [sys.executable, "-P", "-m", "atr.flows", *arguments])  # noqa: S606 - a fixed command


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"atr {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


if __name__ == "__main__":
    main()
