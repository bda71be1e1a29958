"""What all tests share."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from atr.report.model import PublicReport
from tests.helpers import reports as made_reports
from tests.helpers import series
from tests.helpers.paths import EXAMPLES

settings.register_profile(
    "quick", max_examples=6, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile("long", settings.get_profile("quick"), max_examples=100)
settings.load_profile("quick")


def pytest_configure() -> None:
    """Commands that tests start obey signals, also where these tests run in the background and ignore them."""
    for sent in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(sent) == signal.SIG_IGN:
            signal.signal(sent, signal.default_int_handler)


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
