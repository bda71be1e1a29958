"""What Prefect keeps of a run depends on the announced cells alone, as its documents do."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from atr.flows.environment import DATABASE
from tests.helpers import records, series
from tests.helpers.paths import ROOT
from tests.helpers.served import environment
from tests.helpers.twins import GROUPS, twins, write

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("prefect")]

OF_THE_RUN = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?"
    r"|\b[a-z]+(-[a-z]+)?-[0-9a-f]{3}\b"
    r'|(?<=resource.name": ")[a-z]+-[a-z]+(?=")'
    r'|(?<="total_run_time": )[0-9.e-]+'
)
"""Identifiers, times, and names that Prefect draws."""
OF_PREFECT = "block_schema"
"""The kinds of its own blocks, each in an order that it draws."""


def _kept(home: Path, folder: Path) -> Counter[tuple[str, ...]]:
    """All rows of all tables."""
    with sqlite3.connect(home / DATABASE) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        return Counter(
            (table, *(OF_THE_RUN.sub("…", str(value).replace(str(folder), "")) for value in row))
            for table in tables
            if table != OF_PREFECT
            for row in database.execute(f'select * from "{table}"')
        )


def _run(flow: str, path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "atr.flows", flow, str(path), *more, "--json"], check=False,
        env=environment(PYTHONPATH=str(ROOT)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize("sanitise", [{"alpha": 0.3}, {"max_log_lift": 0.1}])
def test_prefect_keeps_of_records_what_is_public(sanitise: dict[str, float], tmp_path: Path) -> None:
    """Where the programme says alpha, and where the column tells what is hidden and no records are made."""
    counts = [
        {("men", "s"): (100, m), ("men", "t"): (100, 100 - m), ("women", "s"): (80, w), ("women", "t"): (80, 80 - w)}
        for m, w in (((30, 70), (65, 15)) if "alpha" in sanitise else ((0, 0), (100, 40)))
    ]  # fmt: skip
    kept = []
    for side, of in enumerate(counts):
        content = series.programme(minimum_group_size=10)
        content["sanitise"] = {"column": "result", "hide": ["secret"], "seed": "seed"} | sanitise
        path = series.write_series(tmp_path / str(side), of, content=content)
        (path.parent / "seed").write_text(records.SEED)
        done = _run("sanitise", path)
        assert done.returncode == (0 if "alpha" in sanitise else 1), done.stderr
        kept.append(_kept(path.parent / "var" / "test-series" / "prefect", path.parent))
    assert not kept[0] - kept[1]
    assert not kept[1] - kept[0]
    told = "values expected to be altered" if "alpha" in sanitise else "belongs to one value of secret"
    assert any(told in str(row) for row in kept[0])


def test_prefect_keeps_the_same_of_rules_in_one_cell(tmp_path: Path) -> None:
    said, documents, kept = [], [], []
    for side, groups in enumerate(twins(GROUPS, {})):
        folder = tmp_path / str(side)
        path = write(folder, {"2024-02-06": groups})
        run = _run("publish", path, "--period", "2024-Q1")
        assert run.returncode == 0, run.stderr
        said.append((run.stdout + run.stderr).replace(str(folder), ""))
        store = folder / "var" / "test-series"
        documents.append(series.files(store / "drafts" / "2024-Q1-v1"))
        kept.append(_kept(store / "prefect", folder))
    assert said[0] == said[1]
    assert documents[0] == documents[1]
    assert not kept[0] - kept[1]
    assert not kept[1] - kept[0]
    assert any("solve told" in row for row in kept[0])
