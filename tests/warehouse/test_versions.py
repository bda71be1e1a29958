"""Versions of one period: corrections of a few people wait, and what was announced of a group stays as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atr.dossier import review
from atr.pipeline import Draft
from atr.programme import load
from atr.report import model
from atr.warehouse.kept_releases import Kept, kept_path
from atr.warehouse.register import Register
from tests.helpers import series

pytestmark = pytest.mark.usefixtures("quick")

Counts = dict[tuple[str, str], tuple[int, int]]
PEOPLE: Counts = {
    ("women", "low"): (60, 20),
    ("women", "high"): (50, 30),
    ("men", "low"): (70, 20),
    ("men", "high"): (60, 40),
}


@pytest.fixture(autouse=True, params=["calibrated", pytest.param("optimal", marks=pytest.mark.long)])
def _mechanism(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test with each mechanism."""
    if request.param == "calibrated":
        monkeypatch.setattr(series, "OPTIMAL", {})


def _published(folder: Path, counts: Counts = PEOPLE, **policy: Any) -> Path:
    path = series.write_series(folder, counts, **policy)
    series.publish(path)
    _approve(path)
    return path


def _approve(path: Path, period: str = "2024", **how: bool) -> None:
    review.review(load(path), period, approve=True, name="R. Viewer", comment="read it", **how)


def _again(path: Path, **changes: tuple[int, int]) -> Draft:
    """The draft after changes of the counts of regions, such as ``women_low=(people, approvals)``."""
    changed = {(public, secret): changes.get(f"{public}_{secret}", n) for (public, secret), n in PEOPLE.items()}
    series.write_log(path.parent / "log.csv", changed)
    return series.publish(path)


def _groups(draft: Draft) -> dict[str, model.Group]:
    return {group.public["public"]: group for group in draft.report.groups}


@pytest.mark.parametrize(
    "changes",
    [
        {"women_low": (60, 21)},
        pytest.param({"women_low": (60, 29)}, marks=pytest.mark.long),
        {"women_low": (69, 20)},
        pytest.param({"women_low": (55, 16), "women_high": (46, 30)}, marks=pytest.mark.long),
        {"women_low": (72, 22)},  # too many of one kind
        {"women_low": (61, 30)},  # ten changed, but one came: its secret is plain
        {"women_low": (58, 18), "women_high": (55, 34), "men_low": (65, 18), "men_high": (61, 41)},
    ],
)
def test_changes_of_few_people_wait(tmp_path: Path, changes: dict[str, tuple[int, int]]) -> None:
    draft = _again(_published(tmp_path), **changes)
    assert (draft.release.version, draft.new) == (1, False)


@pytest.mark.parametrize(
    "changes",
    [
        {"women_low": (60, 30)},
        pytest.param({"women_low": (65, 23), "women_high": (55, 32)}, marks=pytest.mark.long),
        {"women_low": (55, 18), "women_high": (45, 27)},
    ],
)
def test_changes_of_ten_people_are_told(tmp_path: Path, changes: dict[str, tuple[int, int]]) -> None:
    path = _published(tmp_path)
    before = json.loads((load(path).site_path / "2024" / "v1" / "report.json").read_text())["groups"]
    draft = _again(path, **changes, men_low=(70, 21))
    assert (draft.release.version, draft.new) == (2, True)
    after = json.loads((draft.documents / "report.json").read_text())["groups"]
    places = {group["public"]["public"]: place for place, group in enumerate(before)}
    assert after[places["men"]] == before[places["men"]] | {"as_of": 1}
    assert after[places["women"]] != before[places["women"]]
    assert draft.report.data_quality.corrections_wait
    assert "corrections_wait" in {note.id for note in draft.report.notes}


def test_large_groups_need_more_changes(tmp_path: Path) -> None:
    path = _published(tmp_path, minimum_group_size=60)
    assert not _again(path, women_low=(60, 31)).new
    assert _again(path, women_low=(60, 32)).new


@pytest.mark.long
def test_changes_that_waited_are_told_with_others(tmp_path: Path) -> None:
    path = _published(tmp_path)
    assert not _again(path, women_low=(60, 26)).new
    draft = _again(path, women_low=(60, 26), women_high=(50, 34))
    assert draft.new
    assert _groups(draft)["women"].rate["approved"] == 0.55  # type: ignore[index]
    assert not draft.report.data_quality.corrections_wait
    _approve(path, replaces=True)
    assert not _again(path, women_low=(60, 22), women_high=(50, 34)).new, "counted from the version that stands"


@pytest.mark.long
def test_changes_are_many_since_every_version(tmp_path: Path) -> None:
    path = _published(tmp_path)
    assert _again(path, women_low=(60, 30)).new
    _approve(path, replaces=True)
    assert not _again(path, women_low=(60, 21), women_high=(50, 31)).new, "two since the first version"
    draft = _again(path, men_low=(70, 21))
    assert draft.new, "no woman since the first version"


@pytest.mark.long
def test_a_group_that_comes_or_goes_is_told_once_it_is_large(tmp_path: Path) -> None:
    path = _published(tmp_path)
    for people, new in (((3, 3), False), ((9, 9), True)):
        series.write_log(path.parent / "log.csv", {**PEOPLE, ("other", "low"): people, ("other", "high"): people})
        assert series.publish(path).new == new, people
    assert {"men", "women", "other"} == {*_groups(series.publish(path))}


def test_another_policy_announces_anew_what_did_not_change(tmp_path: Path) -> None:
    path = _published(tmp_path)
    series.write_series(tmp_path, {**PEOPLE, ("women", "low"): (60, 22)}, max_confidence=0.7)
    draft = series.publish(path)
    kept = Kept.read(kept_path(load(path), draft.release.id))
    assert kept is not None
    assert dict(kept.counted)["women", "low"] == (20, 40)


def test_limits_of_replaced_versions_are_remembered(tmp_path: Path) -> None:
    for version, step in enumerate((0.05, 0.04, 0.1), start=1):
        policy = {"minimum_group_size": 10, "max_confidence": 0.75, "step": step}
        path = series.write_series(tmp_path, PEOPLE, content=series.programme() | {"policy": policy})
        draft = series.publish(path)
        kept = Kept.read(kept_path(load(path), draft.release.id))
        assert kept is not None
        assert kept.seen is not None
        assert [id[-1] for id in kept.seen] == [*range(1, version)]
        _approve(path, replaces=version > 1)
    assert [entry.state for entry in Register(load(path)).entries] == ["replaced", "replaced", "published"]


@pytest.mark.parametrize("positive", ["approved", "refused"])
def test_other_names_and_orders_change_no_number(tmp_path: Path, positive: str) -> None:
    path = _published(tmp_path)
    before = json.loads((load(path).site_path / "2024" / "v1" / "report.json").read_text())["groups"]
    content = series.programme()
    content["log"]["positive"] = positive
    content["attributes"] = {
        "secret": {"role": "sensitive", "title": "secret", "values": {"low": "zero", "high": "two"}},
        "public": {"role": "public", "protected": True, "values": {"women": "W", "men": "M"}},
    }
    series.write_series(tmp_path, {**PEOPLE, ("women", "low"): (60, 29)}, content=content)
    draft = series.publish(path)
    after = {group.public["public"]: group for group in draft.report.groups}
    for group in before:
        now = after[{"women": "W", "men": "M"}[group["public"]["public"]]]
        assert now.rate == group["rate"]
        names = {"low": "zero", "high": "two"}
        told = {names[region["sensitive"]["secret"]]: region["announced"] for region in group["regions"]}
        if positive == "approved":  # else limits count from the other end
            assert {region.sensitive["secret"]: region.announced for region in now.regions} == told


SMALL: Counts = {("other", "low"): (4, 2), ("other", "high"): (4, 2), ("none", "low"): (3, 1), ("none", "high"): (4, 1)}


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({("other", "low"): (7, 3), ("none", "low"): (6, 4)}, False),
        ({("other", "low"): (0, 0), ("none", "low"): (7, 3)}, False),
        ({("other", "low"): (7, 4), ("none", "low"): (5, 2), ("none", "high"): (9, 3)}, True),
        ({("other", "low"): (10, 5), ("other", "high"): (10, 5)}, True),
        ({("more", "low"): (3, 2), ("more", "high"): (3, 1)}, False),
        ({("more", "low"): (4, 2), ("more", "high"): (4, 2), ("none", "low"): (5, 1)}, False),
    ],
)
def test_groups_that_joined_change_together(tmp_path: Path, changes: Counts, new: bool) -> None:
    path = _published(tmp_path, PEOPLE | SMALL)
    series.write_log(path.parent / "log.csv", PEOPLE | SMALL | changes)
    draft = series.publish(path)
    assert draft.new == new
    (rest,) = [group for group in draft.report.groups if group.status == "rest"]
    assert rest.joined == 2


def test_what_is_kept_is_private_and_goes_with_a_rejected_draft(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, PEOPLE)
    draft = series.publish(path)
    kept = kept_path(load(path), draft.release.id)
    assert kept.stat().st_mode & 0o077 == 0
    review.review(load(path), "2024", approve=False, name="R. Viewer", comment="no")
    assert not kept.exists()


def test_versions_of_the_whole_log_follow_the_same_rule(tmp_path: Path) -> None:
    content = series.programme() | {"period": {"every": "all", "timezone": "UTC"}}
    path = series.write_series(tmp_path, PEOPLE, content=content)
    series.publish(path)
    _approve(path, "all")
    assert not _again(path, women_low=(60, 21)).new
    assert _again(path, women_low=(60, 31)).new
