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
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel, a foreign package `flows` and, read from here, what the wheel depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True,
        capture_output=True,
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        tops = {name.split("/")[0] for name in content.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"atr"}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    (packages,) = (folder / "env").glob("lib/python*/site-packages")
    (here,) = {Path(path) for path in sys.path if path.endswith("site-packages")}
    (packages / "dependencies.pth").write_text(f"{here}\n")
    install = [
        "-m",
        "pip",
        "--python",
        str(folder / "env"),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run([sys.executable, *install], check=True)
    (packages / "flows").mkdir()
    (packages / "flows" / "__init__.py").write_text(FOREIGN)
    return folder / "env" / "bin" / "atr"


def test_the_wheel_publishes_and_serves_beside_a_foreign_flows(installed: Path, tmp_path: Path) -> None:
    path = series.write_series(tmp_path / "mine", series.card(10))
    work = tmp_path / "work"
    for name in ("flows", "templates"):
        (work / name).mkdir(parents=True)
        (work / name / "__init__.py").write_text(FOREIGN)
    done = subprocess.run(
        [str(installed), "publish", str(path)], cwd=work, env=environment(PYTHONPATH="."),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
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
