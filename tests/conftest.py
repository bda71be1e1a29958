"""What all tests share."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from hypothesis import HealthCheck, settings

from atr.report.model import PublicReport
from tests.helpers import reports as made_reports
from tests.helpers import series
from tests.helpers.paths import EXAMPLES, ROOT

settings.register_profile(
    "quick", max_examples=20, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile("long", settings.get_profile("quick"), max_examples=150)
settings.load_profile("quick")


def pytest_collection_finish() -> None:
    """What is imported by now stays: no search for garbage need look at it again."""
    gc.freeze()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """No test is named by a file or a long text: one that holds the time, as gzip's do, differs between workers."""
    return argname if isinstance(val, bytes) or (isinstance(val, str) and len(val) > 80) else None


@pytest.fixture(autouse=True)
def _private_files() -> None:
    os.umask(0o077)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the bundled programmes, so that no store of the checkout is touched."""
    target = tmp_path / "examples"
    shutil.copytree(EXAMPLES, target, ignore=shutil.ignore_patterns("var", "site"))
    return target


@pytest.fixture
def quick() -> Iterator[None]:
    with series.quick():
        yield


@pytest.fixture(scope="session")
def reports() -> dict[str, PublicReport]:
    """Reports of several shapes by name."""
    return made_reports.shapes()


@pytest.fixture(scope="session")
def documents(reports: dict[str, PublicReport]) -> made_reports.Documents:
    """The files of a report, laid out when first asked for."""
    return made_reports.maker(reports)


@pytest.fixture
def prefect_home(tmp_path: Path, published: Published) -> Path:
    """Prefect's home of a series in ``tmp_path``, whose database is made: making it takes long."""
    home = tmp_path / "var" / "test-series" / "prefect"
    shutil.copytree(published.store / "prefect", home)
    return home


WATCH = """
import os, sys

def _watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
        with open(os.environ["ATR_TEST_WATCH"], "a") as file:
            file.write(f"{event} {address!r}\\n")

sys.addaudithook(_watch)
"""
"""Loaded into every Python process of a run: what it connects to."""


@dataclass(frozen=True)
class Published:
    """A programme whose first run was killed while it rendered, and the second one left to end."""

    programme: Path
    store: Path
    process: subprocess.CompletedProcess[str]
    drafted: dict[str, bytes]
    watched: Path
    stranger: int
    """What the server of the first run answered to somebody without credentials."""


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Two runs with Prefect that several tests look at, as each takes long; all of them in the group ``prefect``."""
    os.umask(0o077)
    folder = tmp_path_factory.mktemp("published")
    path = series.write_series(folder, series.card(10), population_rounding=1)
    store, site, watched = folder / "var" / "test-series", folder / "watch", folder / "connections"
    site.mkdir()
    (site / "sitecustomize.py").write_text(WATCH)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment = kept | {"PYTHONPATH": f"{site}:{ROOT}", "ATR_TEST_WATCH": str(watched)}
    command = [sys.executable, "-m", "atr.cli", "publish", str(path), "--json"]
    killed = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert killed.stderr is not None
    for line in killed.stderr:
        if "Rendering" in line:
            break
    (port,) = set(re.findall(r"socket.connect \('127.0.0.1', (\d+)\)", watched.read_text()))
    with pytest.raises(HTTPError) as refusal:
        urlopen(f"http://127.0.0.1:{port}/api/admin/version", timeout=30)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    killed.stderr.close()
    assert not (store / "drafts").exists()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return Published(path, store, done, series.files(store / "drafts" / "2024-v1"), watched, refusal.value.code)
