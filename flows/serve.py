"""A local Prefect server on 127.0.0.1, the deployments of prefect.yaml and a worker, until interrupted."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import filelock

from atr.errors import EnvironmentFault, ProgrammeError
from atr.flows import environment, programmes
from atr.flows.server import server
from atr.programme import load
from atr.store import private_folder

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
        If there is no programme to serve, or one that is named cannot be loaded.
    EnvironmentFault
        If another server uses the folder, or this one cannot start.
    """
    for path in named:
        load(path)
    served = [*map(str, named), *(programmes.declared(DEPLOYMENTS) if DEPLOYMENTS.exists() else ())]
    if not served:
        raise ProgrammeError(
            "nothing to serve: there is no prefect.yaml here", hint="Name a programme: --programme PATH."
        )
    home = home.resolve()
    private_folder(home)
    try:
        lock = filelock.FileLock(home / "serve.lock", timeout=0, mode=0o600).acquire()
    except filelock.Timeout:
        raise EnvironmentFault(
            "is used by another server", where=str(home), hint="Stop that one, or name another folder with --home."
        ) from None
    with lock:
        trusted = (home / environment.AUTH).exists()
        environment.prepare(home)
        programmes.serve_only(served, home / programmes.SERVED)
        try:
            for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(sent) != signal.SIG_IGN:  # as nohup has it
                    signal.signal(sent, signal.default_int_handler)
            with server(home, lost=_server_lost, port=port, services=True) as ready:
                from atr.flows import worker

                ready()
                asyncio.run(worker.make_pool())
                asyncio.run(worker.end_lost_runs(also_waiting=not trusted))
                _deploy(default=str(Path(served[0]).resolve()))
                sys.stderr.write(
                    f"Prefect is at {os.environ['PREFECT_API_URL'].removesuffix('/api')} (Ctrl-C stops it). "
                    f"Its pages ask for what is in {home / environment.AUTH}.\n"
                )
                asyncio.run(worker.work())
        except KeyboardInterrupt:
            pass


def _deploy(*, default: str) -> None:
    """Make the deployments of the working folder's file, or else those that a person starts."""
    if DEPLOYMENTS.exists():
        command = [sys.executable, "-P", "-m", "prefect", "--no-prompt", "deploy", "--all"]
        if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:  # noqa: S603 - a fixed command
            raise EnvironmentFault("Prefect did not take the deployments: see above", where=str(DEPLOYMENTS))
        return
    asyncio.run(_deploy_flows(default))


async def _deploy_flows(default: str) -> None:
    from prefect.types.entrypoint import EntrypointType

    from atr.flows.backfill import backfill
    from atr.flows.publish import publish
    from atr.flows.review import review
    from atr.flows.worker import POOL

    for flow, name in ((publish, "manual"), (backfill, "backfill"), (review, "review")):
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
