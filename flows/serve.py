"""A local Prefect server on 127.0.0.1, the deployments of prefect.yaml and a worker, until interrupted."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from flows import environment

POOL = "atr"


def main() -> int:
    """Start the server, deploy, and run a worker in the foreground."""
    parser = argparse.ArgumentParser(prog="python -m flows.serve", description=__doc__)
    parser.add_argument("--port", type=int, default=4200)
    parser.add_argument("--home", type=Path, default=Path("var/prefect"), help="Prefect's own folder (private)")
    given = parser.parse_args()
    os.umask(0o077)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    api = f"http://127.0.0.1:{given.port}/api"
    environment.prepare(given.home.resolve(), api_url=api)
    server = _prefect("server", "start", "--host", "127.0.0.1", "--port", str(given.port))
    worker = None
    try:
        _wait_for(f"{api}/health", server)
        _run("work-pool", "create", POOL, "--type", "process", "--overwrite")
        _run("--no-prompt", "deploy", "--all")
        sys.stderr.write(f"Prefect is at http://127.0.0.1:{given.port} (Ctrl-C stops it).\n")
        worker = _prefect("worker", "start", "--pool", POOL, "--name", "local")
        return worker.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        for process in (worker, server):
            if process is not None and process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=30)
                except subprocess.TimeoutExpired:
                    process.kill()


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *arguments]


def _prefect(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(_command(*arguments))  # noqa: S603 - a fixed command


def _run(*arguments: str) -> None:
    subprocess.run(_command(*arguments), check=True, stdin=subprocess.DEVNULL)  # noqa: S603 - a fixed command


def _wait_for(url: str, server: subprocess.Popen[bytes], *, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.poll() is not None:
            raise SystemExit("the Prefect server stopped; is the port in use?")
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - a loopback address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit("the Prefect server did not start")


if __name__ == "__main__":
    raise SystemExit(main())
