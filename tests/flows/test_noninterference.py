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
from tests.helpers import series
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


def test_prefect_keeps_the_same_of_rules_in_one_cell(tmp_path: Path) -> None:
    said, documents, kept = [], [], []
    for side, groups in enumerate(twins(GROUPS, {})):
        folder = tmp_path / str(side)
        path = write(folder, {"2024-02-06": groups})
        run = subprocess.run(
            [sys.executable, "-m", "atr.flows", "publish", str(path), "--period", "2024-Q1", "--json"],
            env=environment(PYTHONPATH=str(ROOT)), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=600, check=True,
        )  # fmt: skip
        said.append((run.stdout + run.stderr).replace(str(folder), ""))
        store = folder / "var" / "test-series"
        documents.append(series.files(store / "drafts" / "2024-Q1-v1"))
        kept.append(_kept(store / "prefect", folder))
    assert said[0] == said[1]
    assert documents[0] == documents[1]
    assert not kept[0] - kept[1]
    assert not kept[1] - kept[0]
    assert any("solve told" in row for row in kept[0])
