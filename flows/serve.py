"""A local Prefect server on 127.0.0.1, the deployments of prefect.yaml and a worker, until interrupted."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from atr.errors import AtrError
from flows import embedded, environment

POOL = "atr"


def main() -> int:
    """Start the server, deploy, and run a worker in the foreground."""
    parser = argparse.ArgumentParser(prog="python -m flows.serve", description=__doc__)
    parser.add_argument("--port", type=int, default=4200)
    parser.add_argument("--home", type=Path, default=Path("var/prefect"), help="Prefect's own folder (private)")
    given = parser.parse_args()
    os.umask(0o077)
    for sent in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(sent) != signal.SIG_IGN:  # as nohup has it
            signal.signal(sent, lambda *_: sys.exit(0))
    try:
        with socket.create_server(("127.0.0.1", given.port)):
            pass
    except (OSError, OverflowError) as error:
        raise SystemExit(f"port {given.port} cannot be used ({error}): name another with --port") from None
    api = f"http://127.0.0.1:{given.port}/api"
    environment.prepare(given.home.resolve(), api_url=api)
    running = [_prefect("server", "start", "--host", "127.0.0.1", "--port", str(given.port))]
    try:
        embedded.wait_for(f"{api}/health", running[0])
        _run("work-pool", "create", POOL, "--type", "process", "--overwrite")
        _run("--no-prompt", "deploy", "--all")
        sys.stderr.write(f"Prefect is at http://127.0.0.1:{given.port} (Ctrl-C stops it).\n")
        running.append(_prefect("worker", "start", "--pool", POOL, "--name", "local"))
        while all(process.poll() is None for process in running):
            time.sleep(1)
        raise SystemExit("the server or the worker ended by itself")
    except KeyboardInterrupt:
        return 0
    except (AtrError, subprocess.CalledProcessError) as error:
        raise SystemExit(str(error)) from None
    finally:
        for process in reversed(running):
            embedded.stop(process, seconds=30)


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *arguments]


def _prefect(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(_command(*arguments))  # noqa: S603 - a fixed command


def _run(*arguments: str) -> None:
    subprocess.run(_command(*arguments), check=True, stdin=subprocess.DEVNULL)  # noqa: S603 - a fixed command


if __name__ == "__main__":
    raise SystemExit(main())
