"""A local Prefect server on 127.0.0.1, the deployments of prefect.yaml and a worker, until interrupted."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from atr.errors import EnvironmentFault
from flows import embedded, environment

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
        embedded.wait_for(f"{api}/health", server)
        _run("work-pool", "create", POOL, "--type", "process", "--overwrite")
        _run("--no-prompt", "deploy", "--all")
        sys.stderr.write(f"Prefect is at http://127.0.0.1:{given.port} (Ctrl-C stops it).\n")
        worker = _prefect("worker", "start", "--pool", POOL, "--name", "local")
        return worker.wait()
    except KeyboardInterrupt:
        return 0
    except EnvironmentFault as error:
        raise SystemExit(str(error)) from None
    finally:
        for process in (worker, server):
            if process is not None:
                embedded.stop(process, seconds=30)


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *arguments]


def _prefect(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(_command(*arguments))  # noqa: S603 - a fixed command


def _run(*arguments: str) -> None:
    subprocess.run(_command(*arguments), check=True, stdin=subprocess.DEVNULL)  # noqa: S603 - a fixed command


if __name__ == "__main__":
    raise SystemExit(main())
