"""What all tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flows.environment import SETTINGS

EXAMPLES = Path(__file__).parent.parent / "examples"


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
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No PDF is laid out: for tests of what the numbers are, not of how they look."""
    monkeypatch.setattr("atr.report.documents.pdf", lambda html, **_: b"%PDF of " + str(len(html)).encode())


@pytest.fixture(scope="session")
def _migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Prefect home whose database is made: making it takes longer than everything else about a run."""
    home = tmp_path_factory.mktemp("prefect")
    subprocess.run(
        [sys.executable, "-m", "prefect", "server", "database", "upgrade", "-y"],
        env={**os.environ, **SETTINGS, "PREFECT_HOME": str(home)},
        check=True,
        capture_output=True,
    )
    return home


@pytest.fixture
def prefect_home(tmp_path: Path, _migrated: Path) -> Path:
    """Prefect's home of a series in ``tmp_path``."""
    home = tmp_path / "var" / "test-series" / "prefect"
    shutil.copytree(_migrated, home)
    return home
