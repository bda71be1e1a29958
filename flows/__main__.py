"""Run a flow from the command line: ``python -m atr.flows publish | sanitise | backfill | serve``.

Where no Prefect server is configured, a run has Prefect's own temporary one: on 127.0.0.1, in the programme's private
folder, behind an authentication string. It ends with the command.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer

from atr.cli import (
    FirstOption,
    HomeOption,
    Json,
    LastOption,
    PeriodOption,
    PortOption,
    ProgrammeArgument,
    ServedOption,
)
from atr.errors import EnvironmentFault, RefusedError
from atr.flows import environment
from atr.programme import load, periods
from atr.show import show_draft, show_records
from atr.terminal import AGAIN, INTERRUPTED, application, failed, on_interrupt, result, run, say

app = application("Run the flows of atr on Prefect.")


@app.command()
def publish(programme: ProgrammeArgument, period: PeriodOption = None, as_json: Json = False) -> None:
    """Make the report of a period as a flow, and leave it as a draft that waits for review."""
    if period is not None:
        periods.parse(period)  # before anything is started
    with _prefect(programme):
        from atr.flows.publish import publish as flow

        draft = flow(str(programme), period)
    show_draft(draft, programme, as_json=as_json)


@app.command()
def sanitise(programme: ProgrammeArgument, period: PeriodOption = None, as_json: Json = False) -> None:
    """Make the released records of a period as a flow, and leave them as a draft that waits for review."""
    if period is not None:
        periods.parse(period)
    with _prefect(programme):
        from atr.flows.sanitise import sanitise as flow

        draft = flow(str(programme), period)
    show_records(draft, programme, as_json=as_json)


@app.command()
def backfill(
    programme: ProgrammeArgument, first: FirstOption = None, last: LastOption = None, as_json: Json = False
) -> None:
    """Leave a draft for every period of the log, one after the other."""
    with _prefect(programme):
        from atr.flows.backfill import backfill as flow

        state: Any = flow(str(programme), first, last, return_state=True)
        done = state.result()
    if done["refused"]:
        say(f"Refused, see their dossiers: {', '.join(done['refused'])}.")
    lines = [f"Drafts wait for review: {', '.join(done['drafts'])}."] if done["drafts"] else []
    lines += [f"As published: {', '.join(done['unchanged'])}."] if done["unchanged"] else []
    result(done, lines, as_json=as_json)
    if done["refused"]:
        raise typer.Exit(RefusedError.exit_code)


@app.command()
def serve(programme: ServedOption = None, port: PortOption = 4200, home: HomeOption = Path("var/prefect")) -> None:
    """Run a local Prefect server with the deployments of prefect.yaml, and a worker, until interrupted."""
    from atr.flows.serve import serve as start

    start(programme or [], port=port, home=home)


@contextmanager
def _prefect(programme: Path) -> Iterator[None]:
    """Let flows run on the server that is configured, or else on a temporary one of this command."""
    home = load(programme).store_path / "prefect"  # before anything is started
    if environment.configured():
        from prefect.client.orchestration import get_client

        with environment.server_faults():
            with get_client(sync_client=True) as client:
                client.api_version()  # before a flow is begun, which would end in words that say less
            yield
        return
    environment.prepare(home, own=True)
    on_interrupt(_end_at_once)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("atr")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    logger.propagate = False
    say("Starting Prefect …")
    with chdir(home):  # where Prefect and its server find no settings and no modules that are meant for something else
        from prefect.server.api.server import SubprocessASGIServer

        server = SubprocessASGIServer()
        try:
            server.start()
        except RuntimeError as error:
            raise EnvironmentFault(f"Prefect's server did not start ({error})", hint="Try again.") from None
    threading.Thread(target=_end_with_the_server, args=[server.server_process], daemon=True).start()
    try:
        yield
    finally:
        _ending.set()


_ending = threading.Event()
"""Set once the temporary server may end."""


def _end_with_the_server(process: subprocess.Popen[bytes]) -> None:
    """End a command whose server ended by itself: Prefect would go on to ask it for minutes."""
    process.wait()
    if not _ending.is_set():
        message = "Prefect's server ended during the run"
        os.write(2, f"atr: {message}. {AGAIN}\n".encode())
        os._exit(failed("EnvironmentFault", message, EnvironmentFault.exit_code, hint=AGAIN))


def _end_at_once(sent: int, _frame: object) -> NoReturn:
    """End a command whose server is gone, or will be: Prefect would go on to ask it for minutes.

    What a killed command leaves is sound: the next one starts afresh.
    """
    from prefect.server.api.server import SubprocessASGIServer

    signal.signal(sent, signal.SIG_IGN)
    _ending.set()
    try:
        os.write(2, f"atr: interrupted. {AGAIN}\n".encode())
        failed("Interrupted", "interrupted", INTERRUPTED, hint=AGAIN)
        SubprocessASGIServer().stop()
    finally:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(run(app))
