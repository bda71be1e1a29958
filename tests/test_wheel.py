"""The installed package: it claims the one name `atr`, and nobody else's `flows` matters to it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.helpers import series
from tests.helpers.paths import ROOT
from tests.helpers.served import Served, environment

pytestmark = pytest.mark.xdist_group("prefect")

FOREIGN = "raise ImportError('this is somebody else\\'s')\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The command in a new environment with the wheel, a foreign package `flows` and what the wheel depends on."""
    home = wheel.parent / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    (here,) = {Path(path) for path in sys.path if path.endswith("site-packages")}
    (packages / "dependencies.pth").write_text(f"{here}\n")
    install = ["-m", "pip", "--python", str(home), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, *install], check=True)
    (packages / "flows").mkdir()
    (packages / "flows" / "__init__.py").write_text(FOREIGN)
    return home / "bin" / "atr"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working folder with foreign packages."""
    for name in ("flows", "templates"):
        (tmp_path / "work" / name).mkdir(parents=True)
        (tmp_path / "work" / name / "__init__.py").write_text(FOREIGN)
    return tmp_path / "work"


def _run(work: Path, *command: str | Path) -> str:
    done = subprocess.run(
        [*map(str, command)], cwd=work, env=environment(PYTHONPATH="."),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_claims_one_name_and_has_all_templates(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"atr"}
    templates = {f"atr/_templates/{p.relative_to(ROOT / 'templates')}" for p in (ROOT / "templates").rglob("*.*")}
    assert {name for name in templates if "__pycache__" not in name} <= set(names)


def test_the_wheel_works_beside_foreign_packages(installed: Path, work: Path) -> None:
    """What needs no compiled loop, which every new installation compiles for itself."""
    _run(work, installed, "init", "mine")
    assert "2025" in _run(work, installed, "check", "mine")
    helped = _run(work, installed.with_name("python"), "-c", "import atr.flows.publish; print(atr.flows.__file__)")
    assert "site-packages" in helped


@pytest.mark.long
def test_the_wheel_publishes_and_serves(installed: Path, work: Path, tmp_path: Path) -> None:
    path = series.write_series(tmp_path / "mine", series.card(10))
    _run(work, installed, "publish", path)
    before = series.files(path.parent / "var" / "test-series" / "drafts" / "2024-v1")
    assert "report.pdf" in before
    served = Served(tmp_path / "home", work, path, command=[str(installed)], more={"PYTHONPATH": "."})
    served.start()
    try:
        served.until(served.run("publish/manual", period="2024"), "Completed")
        served.until(served.run("backfill/backfill", first="2024", last="2024"), "Completed")
        served.until(served.run("review/review", period="2024"), "Suspended")
    finally:
        served.stop()
    assert series.files(path.parent / "var" / "test-series" / "drafts" / "2024-v1") == before
