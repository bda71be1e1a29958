"""A server as `make serve` starts it, and calls to its API."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from atr.flows.environment import authentication
from atr.flows.server import GRACE

QUICK = {
    "PREFECT_WORKER_QUERY_SECONDS": "1",
    "PREFECT_WORKER_PREFETCH_SECONDS": "1",
    "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "1",
}
"""An operator's settings, which are kept: nobody waits ten seconds for a run to be seen."""


def environment(**more: str) -> dict[str, str]:
    """The surroundings of a command, without the settings of the Prefect that these tests run under."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")} | more


def processes(*named: str) -> list[int]:
    """The processes whose command line has all of these texts."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if all(name in line for name in named):
            found.append(int(entry.name))
    return found


def processes_at_home(home: Path) -> list[int]:
    """The processes that have this Prefect folder in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"PREFECT_HOME={home}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


@dataclass
class Served:
    """A server and its worker, with a Prefect folder of its own."""

    home: Path
    folder: Path
    programme: Path
    """What is served besides the programmes of the folder's prefect.yaml."""
    command: Sequence[str] = (sys.executable, "-m", "atr.cli")
    more: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    address: str = ""

    @property
    def said(self) -> str:
        """What it said on the terminal since it was started last."""
        return self.home.with_suffix(".log").read_text()

    def start(self) -> None:
        """Start it on a free port, and wait until it works."""
        with self.home.with_suffix(".log").open("wb") as log:
            self.process = subprocess.Popen(
                [*self.command, "serve", "--port", "0", "--home", str(self.home), "--programme", str(self.programme)],
                cwd=self.folder, env=environment(**QUICK, **self.more), stdout=log, stderr=log,
            )  # fmt: skip
        while "started!" not in self.said:
            assert self.process.poll() is None, self.said
            time.sleep(0.1)
        (self.address,) = re.findall(r"Prefect is at (\S+) ", self.said)

    def stop(self, *, sent: signal.Signals = signal.SIGINT, to: Sequence[int] = ()) -> None:
        """End it, by a signal to it or to some of its processes, and wait until nothing of it is left."""
        assert self.process is not None
        for each in to or [self.process.pid]:
            os.kill(each, sent)
        self.process.wait(timeout=60)
        end = time.monotonic() + 3 * GRACE
        while left := processes(str(self.home)):
            assert time.monotonic() < end, f"left: {left}"
            time.sleep(0.1)

    def ask(self, path: str, content: Any = None, *, known: bool = True, method: str | None = None) -> Any:
        """What the API answers, with or without credentials; an error it answers is raised."""
        request = urllib.request.Request(
            f"{self.address}/api{path}", data=None if content is None else json.dumps(content).encode(), method=method,
            headers={"Content-Type": "application/json"},
        )  # fmt: skip
        if known:
            encoded = base64.b64encode(authentication(self.home).encode()).decode()
            request.add_header("Authorization", f"Basic {encoded}")
        for _ in range(10):
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.loads(answer.read() or "null")
            except urllib.error.HTTPError as error:
                if error.code != HTTPStatus.SERVICE_UNAVAILABLE:  # which the server says while its database is busy
                    raise
                time.sleep(1)
        raise AssertionError(f"{path}: the server is busy")

    def run(self, deployment: str, **parameters: str | bool) -> str:
        """Start a deployment; returns the run."""
        found = self.ask(f"/deployments/name/{deployment}")["id"]
        run: str = self.ask(f"/deployments/{found}/create_flow_run", {"parameters": parameters})["id"]
        return run

    def until(self, run: str, *states: str, seconds: float = 120) -> Any:
        """The run, once it is in one of these states."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.ask(f"/flow_runs/{run}")
            if found["state"]["name"] in states:
                return found
            assert found["state"]["type"] not in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED"), found["state"]
            time.sleep(0.2)
        raise AssertionError(f"the run never was {states}")
