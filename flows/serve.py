"""A local Prefect server on 127.0.0.1, the deployments of prefect.yaml and a worker, until interrupted."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import filelock

from atr.errors import EnvironmentFault, ProgrammeError
from atr.flows import environment, programmes
from atr.flows.server import listen, server
from atr.programme import load, located
from atr.terminal import on_interrupt, say

DEPLOYMENTS = Path("prefect.yaml")


def serve(named: Sequence[Path], *, port: int, home: Path) -> None:
    """Start the server, deploy, and work until interrupted.

    Parameters
    ----------
    named
        Programmes to serve besides those of the ``prefect.yaml`` in the working folder. Without that file the flows
        are deployed under the names they have there.
    port
        Where Prefect's pages are.
    home
        Prefect's own folder; private.

    Raises
    ------
    ProgrammeError
        If there is no programme to serve, one that is named cannot be loaded, or the deployments are not to be made.
    EnvironmentFault
        If another server uses the folder, or this one cannot start.
    """
    for path in named:
        load(path)
    declared = programmes.declared(DEPLOYMENTS) if DEPLOYMENTS.exists() else []
    served = [*map(str, named), *declared]
    if not served:
        lacking = "names no programme" if DEPLOYMENTS.exists() else "is not here"
        raise ProgrammeError(f"nothing to serve: {DEPLOYMENTS} {lacking}", hint="Name one with --programme PATH.")
    for path in (located(each) for each in declared):
        if not path.exists():
            say(f"{DEPLOYMENTS} names {path}, and there is no such file; its runs will fail.")
    listening = listen(port)
    home = home.resolve()
    environment.own_folder(home)
    try:
        lock = filelock.FileLock(home / "serve.lock", timeout=0, mode=0o600).acquire()
    except filelock.Timeout:
        raise EnvironmentFault(
            "is used by another server", where=str(home), hint="Stop that one, or name another folder with --home."
        ) from None
    on_interrupt(signal.default_int_handler)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # a log file has Prefect's lines as they come
    with listening, lock, suppress(KeyboardInterrupt):
        environment.prepare(home)
        programmes.serve_only(served, home / programmes.SERVED)
        with server(home, listening, lost=_server_lost) as ready:
            from atr.flows import guard, worker

            ready()
            guard.keep_to_own_code()
            with environment.server_faults():
                asyncio.run(worker.make_pool())
                asyncio.run(worker.end_lost_runs())
                _deploy(default=str(Path(served[0]).resolve()))
                say(f"Prefect is at {os.environ['PREFECT_API_URL'].removesuffix('/api')} (Ctrl-C stops it).")
                say(f"Its pages ask for what is in {home / environment.AUTH}.")
                asyncio.run(worker.work())


def _deploy(*, default: str) -> None:
    """Make the deployments of the working folder's file, or else those that a person starts."""
    if not DEPLOYMENTS.exists():
        asyncio.run(_deploy_flows(default))
        return
    command = [sys.executable, "-P", "-m", "prefect", "--no-prompt", "deploy", "--all"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    if done.returncode:
        lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip(" │╭╮╰╯─")]
        raise ProgrammeError(f"Prefect does not take the deployments ({lines[-1]})", where=str(DEPLOYMENTS))


async def _deploy_flows(default: str) -> None:
    from prefect.types.entrypoint import EntrypointType

    from atr.flows.backfill import backfill
    from atr.flows.publish import publish
    from atr.flows.review import review
    from atr.flows.sanitise import sanitise
    from atr.flows.worker import POOL

    for flow, name in ((publish, "manual"), (sanitise, "sanitise"), (backfill, "backfill"), (review, "review")):
        deployment = await flow.ato_deployment(
            name,
            parameters={"programme": default},
            concurrency_limit=1,
            work_pool_name=POOL,
            entrypoint_type=EntrypointType.MODULE_PATH,
        )
        await deployment.aapply()


def _server_lost() -> None:
    os.write(2, b"atr: Prefect's server ended by itself. Start this command again.\n")
    os._exit(EnvironmentFault.exit_code)
