"""Released records: rows through the channel, against DuckDB copying the same columns; channels of many groups."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from atr.ingest import ingest
from atr.programme import Programme, load
from atr.programme.periods import ALL
from atr.records import build, files
from atr.records.channels import channels
from atr.records.drawing import draw
from atr.records.joints import Joints, count
from atr.records.pools import Pools, pooled
from atr.warehouse.connection import Warehouse
from benchmarks.cases import Row
from benchmarks.logs import ROWS, make_log, make_programme
from benchmarks.measure import in_turn

KEY = "5eed" * 8
GROUPS, HIDDEN, VALUES = 1_000, 20, 20


def _released(programme: Programme, **sanitise: Any) -> Programme:
    """The programme with a part ``sanitise``."""
    content = yaml.safe_load(programme.path.read_text(encoding="utf-8")) | {"sanitise": sanitise}
    programme.path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return load(programme.path)


def drawing(rows: int = ROWS, rounds: int = 3) -> Iterator[Row]:
    """Rows through the channel, and all of it from counting to the files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_log(folder / "log.parquet", rows)
        made = _released(make_programme(folder, "log.parquet"), column="outcome", hide=["priors"], alpha=0.4)
        with Warehouse.open(made) as warehouse:
            ingest(warehouse, made)
            joints = count(warehouse, made, ALL)
            pools = pooled(joints, made)
            of = channels(joints, pools, made)

            def released() -> None:
                count(warehouse, made, ALL)
                counts = draw(warehouse, made, ALL, joints, of, key=KEY)
                files.write_records(warehouse, build.public_records(made, ALL, joints, pools, of), counts, folder)

            taken = in_turn(
                {
                    "plain": lambda: warehouse.query(
                        "CREATE OR REPLACE TEMP TABLE plain AS SELECT id, outcome, a0, a1, a2, a3, a4 FROM decisions"
                    ),
                    "drawn": lambda: draw(warehouse, made, ALL, joints, of, key=KEY),
                    "released": released,
                },
                rounds=rounds,
            )
        base = f"CREATE TABLE AS SELECT of the same columns, {taken['plain'].seconds:.1f} s"
        rate = rows / taken["drawn"].seconds / 1e6
        yield Row(
            f"{rows:,} records through the channel",
            f"{taken['drawn'].seconds:.1f} s, {rate:.1f} M rows a second",
            base,
            taken["drawn"].ratio,
            target="≥ 2 M rows a second",
            met=rate >= 2,
        )
        yield Row(
            f"{rows:,} records counted, drawn and written as CSV and Parquet",
            f"{taken['released'].seconds:.1f} s",
            base,
            taken["released"].ratio,
        )


def many_groups(rounds: int = 3) -> Iterator[Row]:
    """The smallest α of every group, its channel, and what it tells before and after."""
    shape = (GROUPS, HIDDEN, VALUES)
    people = np.random.default_rng(3).integers(1, 50, shape)
    group, hidden, value = (of.ravel() for of in np.indices(shape))
    names = tuple((f"g{g}",) for g in range(GROUPS))
    values, hiding = tuple(f"x{x}" for x in range(VALUES)), tuple((f"s{s}",) for s in range(HIDDEN))
    joints = Joints(("sex",), values, names, group, hidden, value, people.ravel(), hiding)
    pools = Pools(names, (False,) * GROUPS, group)
    with tempfile.TemporaryDirectory() as name:
        made = make_programme(Path(name), "log.parquet")
        kinds: dict[Literal["Markov", "best"], dict[str, str]] = {
            "Markov": {},
            "best": {"channel": "best", "reader_knows_x": "never"},
        }
        for kind, more in kinds.items():
            of = _released(made, column="outcome", hide=["priors"], max_log_lift=0.5, alpha_by="group", **more)
            taken = in_turn(
                {"pass": lambda: people.sum(), "channels": lambda of=of: channels(joints, pools, of)},  # type: ignore[misc]
                rounds=rounds,
            )
            seconds = taken["channels"].seconds
            yield Row(
                f"{kind} channels of {GROUPS:,} groups of {HIDDEN} × {VALUES}, each with its smallest α",
                f"{seconds:.2f} s",
                f"one pass over the counts, {taken['pass'].seconds * 1e6:.0f} µs",
                taken["channels"].ratio,
                target="≤ 5 s",
                met=seconds <= 5,
            )


def records() -> Iterator[Row]:
    """All of these."""
    yield from drawing()
    yield from many_groups()
