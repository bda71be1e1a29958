"""A Prefect server for one command: a process of its own, on a free port of 127.0.0.1, that ends when the command does.

Prefect's own one imports the whole server into the command first, and stays behind where the command is killed.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

SECONDS = 300.0
"""How long a server may take to start: it makes its database first."""
GRACE = 5.0
"""How long it may take to end, so that what it was told last is kept."""
LOG = "server.log"
"""What a server says, in Prefect's own folder."""


@contextmanager
def server(home: Path, *, lost: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Start a server in the environment that was prepared, name it there to Prefect, and stop it at the end.

    Parameters
    ----------
    home
        Prefect's own folder.
    lost
        What to do if the server ends before the command, which Prefect itself would notice after minutes only. Called
        in another thread.

    Yields
    ------
    A function that returns once the server is ready. Prefect is best imported before that is called: the server takes
    as long to start.
    """
    log, stopping = home / LOG, threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening, log.open("wb") as said:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/api"
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            [sys.executable, "-P", __file__, str(listening.fileno()), str(home)],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            pass_fds=[listening.fileno()],
            process_group=0,
        )
    os.environ["PREFECT_API_URL"] = address

    def watch() -> None:
        process.wait()
        if not stopping.is_set():
            lost()

    def ready() -> None:
        wait_for(f"{address}/health", process, log=log)
        threading.Thread(target=watch, daemon=True).start()

    try:
        yield ready
    finally:
        stopping.set()
        if process.stdin is not None:
            process.stdin.close()
        stop(process, seconds=2 * GRACE)


def wait_for(url: str, process: subprocess.Popen[bytes], *, log: Path | None = None) -> None:
    """Return once a server answers.

    Parameters
    ----------
    url
        What to ask it.
    process
        The server.
    log
        Where it says what is wrong.

    Raises
    ------
    EnvironmentFault
        If the process ends first, or takes longer than :data:`SECONDS`.
    """
    from atr.errors import EnvironmentFault  # here, as the server's own process runs this file without the package

    end, why = time.monotonic() + SECONDS, f"it did not answer within {SECONDS:.0f} seconds"
    while time.monotonic() < end:
        if process.poll() is not None:
            why = f"it ended with code {process.returncode}"
            break
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - a loopback address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    hint = f"What it said is in {log}." if log else "What it said stands above."
    raise EnvironmentFault(f"Prefect's server did not start: {why}", hint=hint)


def stop(process: subprocess.Popen[bytes], *, seconds: float) -> None:
    """Ask a process to end, and kill it if it has not ended in time."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _serve(listening: socket.socket, home: str) -> None:
    """Serve until the command ends, however that happens: then its end of the pipe is closed."""
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sent, signal.SIG_IGN)  # they are for the command, also where all processes get them
    running: list[uvicorn.Server] = []

    def end_with_the_command() -> None:
        os.read(0, 1)
        for of in running:
            of.should_exit = True
            time.sleep(GRACE)
        os._exit(0)

    threading.Thread(target=end_with_the_command, daemon=True).start()
    os.chdir(home)  # where no settings lie about that are meant for something else
    import uvicorn
    from prefect.server.api.server import create_app

    class Deaf(uvicorn.Server):
        def capture_signals(self) -> Any:
            return nullcontext()

    running.append(Deaf(uvicorn.Config(create_app(ephemeral=True, final=True), log_level="error", lifespan="on")))
    running[0].run(sockets=[listening])


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
