"""The register: what was published, in the log's own words, held against what is about to be."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr.core.arrays import offsets_of
from atr.core.regions import Regions
from atr.ingest import ingest
from atr.programme import Programme, load
from atr.warehouse.connection import Warehouse
from atr.warehouse.entries import entry_of, log_of
from atr.warehouse.raw_values import RawValues, inside, meet, united
from atr.warehouse.register import Entry, Log, Register, earlier_limits
from tests.helpers import series
from tests.helpers.paths import TESTS


def test_raw_values_are_compared_as_sets_and_bins() -> None:
    low, middle, high = ((None, 1.0),), ((1.0, 4.0),), ((4.0, None),)
    assert united([low, middle]) == ((None, 4.0),)
    assert inside(middle, united([middle, high]))
    assert not inside(united([low, middle]), middle)
    assert meet(middle, ((3.0, 9.0),))
    assert not meet(low, middle)
    assert meet(("3",), middle)
    assert not meet(("4",), middle)
    assert inside(("M", None), ("F", "M", None))
    assert inside(low, "*")
    assert not inside("*", low)
    assert not meet((None,), low)


def _in_memory(folder: Path, content: dict[str, Any] | None = None) -> tuple[Programme, RawValues, Log]:
    programme = load(series.write_series(folder, series.card(2), content=content))
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, programme)
        raw = RawValues.of(warehouse, programme)
        return programme, raw, log_of(warehouse, programme, raw, ["approved", "refused"])


def _report(period: str = "2023", **changes: Any) -> dict[str, Any]:
    def region(secret: str, people: int | dict[str, int], low: float | None, high: float) -> dict[str, Any]:
        limits = None if low is None else {"refused": [1 - high, 1 - low], "approved": [low, high]}
        announced = {"refused": 0.5, "approved": 0.5}
        return {"sensitive": {"secret": secret}, "population": people, "announced": announced, "limits": limits}

    women = [region("below 100k", 25, 0.0, 0.25), region("100k to 200k", 10, None, 1), region("above 200k", 5, 0.5, 1)]
    rate = {"refused": 0.8, "approved": 0.2}
    return {
        "period": {"label": period, "start": f"{period}-01-01", "end": f"{int(period) + 1}-01-01"},
        "version": 1,
        "date": "2024-02-03",
        "policy": {"population_rounding": 5},
        "outcomes": ["refused", "approved"],
        "fidelity": {"kind": "limits", "step": 0.05},
        "groups": [
            {"public": {"public": "women"}, "status": "announced", "population": 40, "rate": rate, "regions": women},
            {"public": {"public": "men"}, "status": "withheld", "regions": []},
        ],
        **changes,
    }  # fmt: skip


def _entry(folder: Path, report: dict[str, Any], content: dict[str, Any] | None = None) -> Entry:
    programme, raw, log = _in_memory(folder, content)
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, programme)
        log = log_of(warehouse, programme, raw, report["outcomes"])
    return entry_of(report, programme, log=log, raw=raw, store="var/x", sha256="0")


def test_limits_are_found_by_raw_values_and_outcomes(tmp_path: Path) -> None:
    renamed = series.programme()
    renamed["attributes"]["public"]["values"] = {"women": "Women of the city", "men": "Men of the city"}
    programme, raw, log = _in_memory(tmp_path, renamed)
    entry = _entry(tmp_path, _report())
    regions = Regions(
        public=("public",),
        protection=programme.protection,
        outcomes=("approved", "refused"),
        group_values=(("Women of the city",), ("Men of the city",)),
        region_values=(("above 200k",), ("100k to 200k",), ("elsewhere",), ("above 200k",)),
        counts=np.ones((4, 2), dtype=np.int64),
        offsets=offsets_of(np.array([3, 1])),
    )
    limits = earlier_limits(regions, [entry], log=log, raw=raw)
    assert limits.shape == (1, 4, 2, 2)
    assert limits[0, 0].tolist() == [[0.5, 1.0], [0.0, 0.5]]
    assert np.isnan(limits[0, 1:]).all()
    assert earlier_limits(regions.take(np.array([1])), [entry], log=log, raw=raw).shape == (0, 1, 2, 2)


def test_what_divides_the_log_otherwise_is_told_apart(tmp_path: Path) -> None:
    same = _entry(tmp_path, _report("2024"))
    before = _entry(tmp_path, _report("2023"))
    assert not same.differs(before)
    assert not same.overlaps(before)
    assert same.overlaps(same.model_copy(update={"programme": "another"}))
    assert not same.overlaps(same.model_copy(update={"version": 2}))
    merged = series.programme()
    merged["attributes"]["secret"]["values"] = {"below 100k": "low", "100k to 200k": "low"}
    other = _report("2023")
    other["groups"][0]["regions"] = [dict(other["groups"][0]["regions"][0], sensitive={"secret": "low"})]
    assert same.differs(_entry(tmp_path, other, merged))
    assert same.differs(same.model_copy(update={"log": same.log.model_copy(update={"public": ("public", "day2")})}))
    elsewhere = same.log.model_copy(update={"source": "other.csv", "files": ()})
    assert not same.differs(same.model_copy(update={"log": elsewhere.model_copy(update={"public": ()})}))


@pytest.mark.parametrize("name", ["card-all", "compas-2014-Q3", "three-2014-Q2"])
def test_a_report_of_the_schema_before_counts_by_its_promise(name: str, tmp_path: Path) -> None:
    report = json.loads((TESTS / "vectors" / "reports" / f"{name}.json").read_text())
    programme, _, _ = _in_memory(tmp_path)
    public = tuple(a["name"] for a in report["attributes"] if a["role"] == "public")
    sensitive = tuple(a["name"] for a in report["attributes"] if a["role"] == "sensitive")
    outcomes = tuple((name,) for name in report["outcomes"])
    log = Log(source="log.csv", files=(), public=public, sensitive=sensitive, outcomes=outcomes)
    raw = RawValues(attributes={name: {} for name in (*public, *sensitive)}, outcomes={})
    entry = entry_of(report, programme, log=log, raw=raw, store="var/x", sha256="0")
    assert entry == Entry.model_validate_json(entry.model_dump_json())
    for group, printed in zip(entry.groups, report["groups"], strict=False):
        for region, told in zip(group.regions, printed["regions"], strict=True):
            assert region.limits is not None
            for (low, high), chance in zip(region.limits, told["announced"].values(), strict=True):
                assert 0 <= low <= chance <= high <= 1
                assert high - low <= 2 * (report["fidelity"]["largest_change"] or 1) + 1e-9


def test_the_register_is_private_and_keeps_the_order(tmp_path: Path) -> None:
    programme, _, _ = _in_memory(tmp_path)
    first, second = _entry(tmp_path, _report("2023")), _entry(tmp_path, _report("2022"))
    with Register.held(programme) as register:
        register.put(first)
        register.put(second)
        register.put(first)
        register.replace([second.id])
    path = programme.register_path
    assert path == programme.store_path.parent / "register.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(f"{path}.lock").stat().st_mode) == 0o600
    assert [entry.period for entry in Register(programme).entries] == ["2023", "2022"]
    assert Register(programme).published(first.log) == [first]
    with Register.held(programme) as register:
        register.drop(first.id)
    assert [entry.state for entry in Register(programme).entries] == ["replaced"]
