"""A report is held against all that was published of its log: by this programme, by others, by earlier software."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr.dossier import review
from atr.errors import RefusedError
from atr.pipeline import Draft
from atr.programme import load, periods
from atr.warehouse import register as registers
from atr.warehouse import versions
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate
from atr.warehouse.kept_releases import kept_path
from atr.warehouse.ledger import Ledger
from atr.warehouse.register import Register
from tests.helpers import series

pytestmark = pytest.mark.usefixtures("quick")

PEOPLE = {
    ("women", "low"): (60, 20),
    ("women", "middle"): (40, 20),
    ("women", "high"): (50, 30),
    ("men", "low"): (70, 20),
    ("men", "middle"): (40, 20),
    ("men", "high"): (60, 40),
}


def _log(path: Path) -> None:
    rows = []
    for month in ("02", "05", "08"):
        series.write_log(path, PEOPLE, day=f"2024-{month}-06")
        head, *found = path.read_text().splitlines()
        rows += [f"{month}{row}" for row in found]
    path.write_text("\n".join([head, *rows]) + "\n")


def _series(folder: Path, name: str = "one", **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    _log(folder / "log.csv")
    content = series.programme() | {"programme": name, "period": {"every": "quarter", "timezone": "UTC"}} | changes
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(content))
    return path


def _approve(path: Path, period: str, **how: bool) -> None:
    review.review(load(path), period, approve=True, name="R. Viewer", comment="read it", **how)


def _warnings(draft: Draft) -> str:
    return " ".join(json.loads((draft.dossier / "dossier.json").read_text())["warnings"])


@pytest.fixture(autouse=True, params=["calibrated", pytest.param("optimal", marks=pytest.mark.long)])
def _mechanism(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test with each mechanism."""
    if request.param == "calibrated":
        monkeypatch.setattr(series, "OPTIMAL", {})


def test_quarters_of_one_programme_match(tmp_path: Path) -> None:
    path = _series(tmp_path)
    for label in ("2024-Q1", "2024-Q2"):
        assert series.publish(path, label).overlapping == ()
        _approve(path, label)
    assert [entry.period for entry in Register(load(path)).entries] == ["2024-Q1", "2024-Q2"]
    with Warehouse.open(load(path)) as warehouse:
        regions = aggregate(warehouse, load(path), periods.parse("2024-Q3"))
        kept, _ = versions.about(warehouse, load(path), "2024-Q3", regions.outcomes)
        limits = registers.earlier_limits(regions, Register(load(path)).published(kept.log), log=kept.log, raw=kept.raw)
    assert limits.shape == (2, 6, 2, 2)
    truth = regions.decision[None, :, :]
    assert not np.any((limits[..., 0] > truth + 1e-9) | (truth > limits[..., 1] + 1e-9))


def test_a_year_and_its_quarter_need_consent(tmp_path: Path) -> None:
    path = _series(tmp_path)
    series.publish(path, "2024-Q2")
    _approve(path, "2024-Q2")
    draft = series.publish(path, "2024")
    assert draft.overlapping == ("2024-Q2",)
    told = re.findall(r"without one 2024-Q2 \(public women\): between (\d+) and (\d+) of 300", _warnings(draft))
    assert [int(low) <= 140 <= int(high) for low, high in told] == [True]
    with pytest.raises(RefusedError, match=r"published report \(2024-Q2\)"):
        _approve(path, "2024")
    _approve(path, "2024", despite_overlap=True)


@pytest.mark.parametrize(
    ("values", "outcomes", "overlapping"),
    [
        pytest.param({}, ["yes"], (), marks=pytest.mark.long),
        ({"values": {"low": "poor", "middle": "average", "high": "rich"}}, ["yes"], ()),
        ({"values": {"low": "poor", "middle": "poor"}}, ["yes"], ("one 2024-Q1",)),
    ],
)
def test_another_programme_on_the_log(tmp_path: Path, values: Any, outcomes: Any, overlapping: tuple[str, ...]) -> None:
    path = _series(tmp_path)
    series.publish(path, "2024-Q1")
    _approve(path, "2024-Q1")
    attributes = series.programme()["attributes"]
    attributes["secret"] |= values
    other = _series(tmp_path, "two", attributes=attributes)
    assert series.publish(other, "2024-Q2").overlapping == overlapping
    same_days = series.publish(other, "2024-Q1")
    assert same_days.overlapping == ("one 2024-Q1",)
    assert ("without" in _warnings(same_days)) == bool(overlapping)
    if overlapping:
        with pytest.raises(RefusedError, match="divides them otherwise"):
            _approve(other, "2024-Q2")
    _approve(other, "2024-Q2", despite_overlap=bool(overlapping))


@pytest.mark.long
def test_other_bins_and_other_columns_need_consent(tmp_path: Path) -> None:
    path = _series(tmp_path)
    series.publish(path, "2024-Q1")
    _approve(path, "2024-Q1")
    attributes = series.programme()["attributes"]
    fewer = _series(tmp_path, "two", attributes={"secret": attributes["public"], "public": attributes["secret"]})
    assert series.publish(fewer, "2024-Q2").overlapping == ("one 2024-Q1",)
    elsewhere = _series(tmp_path / "elsewhere", "two", register="../var/register.json")
    rows = (tmp_path / "elsewhere" / "log.csv").read_text().replace("\n02", "\n92")
    (tmp_path / "elsewhere" / "log.csv").write_text(rows)
    assert series.publish(elsewhere, "2024-Q1").overlapping == (), "another log"
    shutil.copy(tmp_path / "log.csv", tmp_path / "elsewhere" / "log.csv")
    copied = _series(tmp_path / "elsewhere", "three", register="../var/register.json")
    assert series.publish(copied, "2024-Q1").overlapping == ("one 2024-Q1",), "a copy of the log"


@pytest.mark.long
def test_a_draft_made_before_another_report_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "remembers", lambda _: True)
    path = _series(tmp_path)
    for label in ("2024-Q1", "2024-Q2"):
        series.publish(path, label)
    _approve(path, "2024-Q1")
    with pytest.raises(RefusedError, match="before another report was published on the same log"):
        _approve(path, "2024-Q2")
    series.publish(path, "2024-Q2")
    _approve(path, "2024-Q2")


@pytest.mark.long
def test_what_was_published_without_a_register_is_entered(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = _series(tmp_path)
    programme = load(path)
    for label in ("2024-Q1", "2024-Q2"):
        series.publish(path, label)
        _approve(path, label)
    entries = Register(programme).entries
    programme.register_path.unlink()
    shutil.rmtree(programme.store_path / "kept")
    shutil.rmtree(programme.site_path / "2024-Q1")  # its draft is still in the store
    series.publish(path, "2024-Q3")
    assert Register(programme).entries == entries
    assert "2 releases published before are entered in the register" in caplog.text
    caplog.clear()
    series.publish(path, "2024-Q3")
    assert caplog.text == ""


def test_a_draft_of_earlier_software_is_made_again(tmp_path: Path) -> None:
    path = _series(tmp_path)
    draft = series.publish(path, "2024-Q1")
    kept_path(load(path), draft.release.id).unlink()
    with pytest.raises(RefusedError, match="earlier version of this software"):
        _approve(path, "2024-Q1")
    assert not series.publish(path, "2024-Q1").new
    _approve(path, "2024-Q1")


def test_an_approval_that_fails_enters_nothing(tmp_path: Path) -> None:
    path = _series(tmp_path)
    draft = series.publish(path, "2024-Q1")
    (draft.documents / "report.html").write_text("changed")
    with pytest.raises(Exception, match="changed"):
        _approve(path, "2024-Q1")
    assert Register(load(path)).entries == []
    with Warehouse.open(load(path), read_only=True) as warehouse:
        assert [release.state for release in Ledger(warehouse).releases()] == ["draft"]
