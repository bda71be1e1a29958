"""What all tests share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

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
