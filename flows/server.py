"""The Prefect server of `atr serve`: a process of its own, on 127.0.0.1, that asks for the authentication string of its
folder, and ends when the command does, however that ends.
"""

from __future__ import annotations

import base64
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
def server(home: Path, listening: socket.socket, *, lost: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Start a server in the environment that was prepared, name it there to Prefect, and stop it at the end.

    Parameters
    ----------
    home
        Prefect's own folder.
    listening
        Where it is to listen, from :func:`listen`.
    lost
        What to do if the server ends before the command, which Prefect itself would notice after minutes only. Called
        in another thread.

    Yields
    ------
    A function that returns once the server is ready. Prefect is best imported before that is called: the server takes
    as long to start.
    """
    log, stopping = home / LOG, threading.Event()
    with listening, log.open("wb") as said:
        port = listening.getsockname()[1]
        address = f"http://127.0.0.1:{port}/api"
        os.environ["PREFECT_API_URL"] = address
        process = subprocess.Popen(  # noqa: S603 - a fixed command
            [sys.executable, "-P", __file__, str(listening.fileno()), str(home)],
            env=os.environ | _settings(home, port),
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            pass_fds=[listening.fileno()],
            process_group=0,
        )

    def watch() -> None:
        process.wait()
        if not stopping.is_set():
            lost()

    def ready() -> None:
        _wait_for(f"{address}/health", process, log=log)
        threading.Thread(target=watch, daemon=True).start()

    try:
        yield ready
    finally:
        stopping.set()
        if process.stdin is not None:
            process.stdin.close()
        _stop(process, seconds=2 * GRACE)


def _settings(home: Path, port: int) -> dict[str, str]:
    """What the server alone is told. Its database is named as seen from its folder, whose path may hold a "?"."""
    from atr.flows.environment import DATABASE  # here, as the server's own process runs this file without the package

    return {
        "PREFECT_SERVER_API_AUTH_STRING": os.environ["PREFECT_API_AUTH_STRING"],
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": f"http://127.0.0.1:{port},http://localhost:{port}",
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{DATABASE}",
        "PREFECT_SERVER_UI_ENABLED": "true",
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(home / "pages"),  # Prefect's own may not be writable
    }


def listen(port: int = 0) -> socket.socket:
    """Take a port of 127.0.0.1, or any free one, so that no other process can answer there and be told the secret.

    Raises
    ------
    EnvironmentFault
        If it cannot be used.
    """
    from atr.errors import EnvironmentFault

    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise EnvironmentFault(f"port {port} cannot be used ({error})", hint="Name another with --port.") from None


def _wait_for(url: str, process: subprocess.Popen[bytes], *, log: Path) -> None:
    """Return once a server answers."""
    from atr.errors import EnvironmentFault

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
    raise EnvironmentFault(f"Prefect's server did not start: {why}", hint=f"What it said is in {log}.")


def _stop(process: subprocess.Popen[bytes], *, seconds: float) -> None:
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

    app = _kept_to_itself(create_app(final=True), port=listening.getsockname()[1])
    running.append(Deaf(uvicorn.Config(app, log_level="error", lifespan="on")))
    running[0].run(sockets=[listening])


def _kept_to_itself(app: Any, *, port: int) -> Any:
    """Let no page of the server ask another one, as Prefect's pages do for statistics, or stand in a foreign page.

    Credentials that are no plain text are none: Prefect would fail at them, at length in its log.
    """
    own = " ".join(f"{kind}://{host}:{port}" for kind in ("http", "ws") for host in ("127.0.0.1", "localhost"))
    policy = f"default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: {own}; frame-ancestors 'none'".encode()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        async def send_with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", policy)]
            await send(message)

        if scope["type"] == "http":
            scope["headers"] = [h for h in scope["headers"] if h[0] != b"authorization" or _is_plain(h[1])]
        await app(scope, receive, send_with_policy)

    return guarded


def _is_plain(credentials: bytes) -> bool:
    try:
        return base64.b64decode(credentials.split()[-1]).isascii()
    except (ValueError, IndexError):
        return False


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
