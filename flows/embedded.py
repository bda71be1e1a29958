"""A Prefect server for one command: a process of its own, on a free port of 127.0.0.1, that ends when the command does.

Prefect's own one imports the whole server into the command first, and stays behind where the command is killed.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from atr.errors import EnvironmentFault

SECONDS = 300.0
"""How long a server may take to start: it makes its database first."""


@contextmanager
def server() -> Iterator[Callable[[], None]]:
    """Start a server in the environment that was prepared, name it there to Prefect, and stop it at the end.

    Yields
    ------
    A function that returns once the server is ready. Prefect is best imported before that is called: the server takes
    as long to start.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/api"
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            [sys.executable, "-P", "-m", "flows.embedded", str(listening.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listening.fileno()],
            process_group=0,  # Ctrl-C ends the command, and that the server
        )
    os.environ["PREFECT_API_URL"] = address
    try:
        yield lambda: wait_for(f"{address}/health", process)
    finally:
        stop(process, seconds=5)


def wait_for(url: str, process: subprocess.Popen[bytes], *, seconds: float = SECONDS) -> None:
    """Return once the server answers; a proxy that the environment names is not asked for it.

    Raises
    ------
    EnvironmentFault
        If the process ends first, or the time is over.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise _did_not_start(f"It ended with code {process.returncode}")
        try:
            with opener.open(url, timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise _did_not_start(f"It did not answer within {seconds:.0f} seconds")


def _did_not_start(why: str) -> EnvironmentFault:
    hint = "Is the machine very busy, or out of memory or disk, or the port in use? Run the command again."
    return EnvironmentFault("Prefect's server did not start", hint=f"{why}. {hint}")


def stop(process: subprocess.Popen[bytes], *, seconds: float) -> None:
    """End a process, and kill it if it has not ended in time."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_with_the_command() -> None:
    sys.stdin.buffer.read()  # which ends when the command does, however that happens
    os._exit(1)


def _serve(listening: socket.socket) -> None:
    threading.Thread(target=_end_with_the_command, daemon=True).start()
    import uvicorn
    from prefect.server.api.server import create_app

    app = create_app(ephemeral=True, final=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on")).run(sockets=[listening])


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
