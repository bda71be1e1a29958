"""Two published versions of one period leave whoever has both below the ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from atr.core.regions import Regions
from atr.dossier import review
from atr.mechanisms.calibrated.mechanism import CalibratedMechanism
from atr.pipeline import Draft
from atr.programme import load
from atr.verify import verify
from tests.helpers import series
from tests.helpers.calibrated_oracle import READERS
from tests.helpers.two_versions import EXACTLY, STEPS, Reader

pytestmark = pytest.mark.usefixtures("quick")


def _draft(folder: Path, people: list[int], positive: list[int], ceiling: float, **programme: object) -> Draft:
    policy = {"minimum_group_size": 10, "max_confidence": ceiling}
    content = series.programme() | {"policy": policy} | programme
    return series.publish(series.write_series(folder, series.one_group(people, positive), content=content))


def _limits(draft: Draft) -> np.ndarray:
    """(m, 2) of the outcome "yes" in the log, in steps."""
    (group,), name = draft.report.groups, draft.report.positive
    told = [(0.0, 1.0) if region.limits is None else region.limits[name] for region in group.regions]
    return np.rint(np.array(told or [(0.0, 1.0)] * 3) * STEPS).astype(np.int64)


@pytest.mark.parametrize("renamed", [False, True])
@pytest.mark.parametrize(
    ("before", "after", "ceiling"),
    [  # by limits that heed each version alone, above the ceiling by 0.33, 0.29 and 0.18
        pytest.param(([12, 7, 10], [5, 3, 4]), ([17, 10, 13], [6, 5, 4]), 0.6, marks=pytest.mark.long),
        pytest.param(([7, 11, 10], [3, 5, 5]), ([11, 15, 13], [5, 5, 6]), 0.6, marks=pytest.mark.long),
        (([11, 11, 9], [10, 0, 2]), ([14, 14, 14], [13, 3, 4]), 0.6),
    ],
)
def test_who_has_both_stays_below_the_ceiling(
    tmp_path: Path,
    before: tuple[list[int], list[int]],
    after: tuple[list[int], list[int]],
    ceiling: float,
    renamed: bool,
) -> None:
    first = _draft(tmp_path, *before, ceiling)
    review.review(load(tmp_path / "programme.yaml"), "2024", approve=True, name="R. Viewer", comment="read it")
    log = series.programme()["log"]
    if renamed:  # another outcome is called positive
        log = log | {"outcomes": {"refused": ["yes"], "approved": ["no"]}, "positive": "refused"}
    second = _draft(tmp_path, *after, ceiling, log=log)
    assert second.new
    limits = _limits(first), _limits(second)
    assert (limits[0] != [0, STEPS]).any()
    (then, positive), (now, positive_now) = before, after
    for name in READERS:
        reader = Reader(name, np.array(then), np.array(now), (sum(positive), sum(positive_now)))
        expected = reader.expected(limits)
        assert expected is not None
        assert reader.surest(expected).max() <= ceiling + EXACTLY
    assert verify(second.documents) == []


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Regions]:
    """The groups that a mechanism was given."""
    found: list[Regions] = []
    solve = CalibratedMechanism.solve
    monkeypatch.setattr(CalibratedMechanism, "solve", lambda *of: (found.append(of[1]), solve(*of))[1])
    return found


COUNTS = {("a", "low"): (30, 10), ("a", "high"): (30, 20)}
SMALL = {(name, secret): (6, 3) for name in ("b", "c") for secret in ("low", "high")}


def _published(folder: Path, counts: Mapping[tuple[str, str], tuple[int, int]], *, replaces: bool = False) -> Draft:
    path = series.write_series(folder, counts, content=series.programme() | {"policy": {"minimum_group_size": 20}})
    draft = series.publish(path)
    if draft.new:
        how = {"replaces": True} if replaces else {}
        review.review(load(path), "2024", approve=True, name="R. Viewer", comment="read it", **how)
    return draft


def test_a_group_that_others_join_is_known_again(tmp_path: Path, seen: list[Regions]) -> None:
    """Whatever a rest group is called by then: it is who is in it."""
    _published(tmp_path, COUNTS | SMALL)
    assert all(regions.versions is None for regions in seen)
    seen.clear()
    assert _published(tmp_path, COUNTS | SMALL | {("d", "low"): (6, 2), ("d", "high"): (7, 2)}, replaces=True).new
    told = {regions.joined.get(regions.group_values[0], ()): regions.versions for regions in seen}
    (rest,) = told[("b",), ("c",), ("d",)].of_versions()  # type: ignore[union-attr]
    assert rest.people.tolist() == [12, 12]
    assert rest.totals.tolist() == [[12, 12], [12, 12]]
    assert not rest.lost.any()
    assert told[()].of_versions() == [], "the others are as they were"  # type: ignore[union-attr]


def test_every_version_before_is_remembered(tmp_path: Path, seen: list[Regions]) -> None:
    for times in (1, 2, 3):
        seen.clear()
        _published(tmp_path, {key: (n * times, k * times) for key, (n, k) in COUNTS.items()}, replaces=times > 1)
    assert len(seen) > 1, "the dossier tries other choices"
    for regions in seen:
        assert [of.people.tolist() for of in regions.versions.of_versions()] == [[60, 60], [30, 30]]  # type: ignore[union-attr]


def test_people_and_rates_of_another_mechanism_are_remembered(tmp_path: Path, seen: list[Regions]) -> None:
    path = series.write_series(tmp_path, COUNTS)  # optimal
    series.publish(path)
    review.review(load(path), "2024", approve=True, name="R. Viewer", comment="read it")
    _published(tmp_path, {key: (n * 2, k * 2) for key, (n, k) in COUNTS.items()}, replaces=True)
    (told,) = seen[-1].versions.of_versions()  # type: ignore[union-attr]
    assert told.people.tolist() == [30, 30]
    assert told.limits.min() == 0
    assert told.limits.max() == 1


def test_what_came_between_counts_for_a_group_as_it_once_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _published(tmp_path, COUNTS)
    _published(tmp_path, {key: (n + 12, k + 6) for key, (n, k) in COUNTS.items()}, replaces=True)
    monkeypatch.setattr(CalibratedMechanism, "may_be_told_anew", lambda *_: False)
    draft = _published(tmp_path, COUNTS | {("z", "low"): (12, 6), ("z", "high"): (12, 6)}, replaces=True)
    people = {group.public["public"]: group.population for group in draft.report.groups}
    assert people == {"a": 85, "z": 25}, "84 and 24, not 60"


def test_groups_that_would_become_one_stay_as_they_were(tmp_path: Path) -> None:
    """Whoever was in which of them could not be told any more."""
    first = _published(tmp_path, COUNTS | {("b", "low"): (12, 4), ("b", "high"): (12, 6)})
    moved = {("a", "low"): (36, 12), ("a", "high"): (36, 24), ("b", "low"): (6, 2), ("b", "high"): (6, 2)}
    draft = _published(tmp_path, moved)
    assert not draft.new
    assert draft.waits
    assert draft.report.groups == first.report.groups


@pytest.mark.parametrize("rare", [{}, {("men", "rare"): (1, 1)}], ids=["as before", "a value that nobody has any more"])
def test_a_value_that_goes_lets_no_change_through(tmp_path: Path, rare: dict[tuple[str, str], tuple[int, int]]) -> None:
    people = {(group, secret): (60, 20) for group in ("women", "men") for secret in ("low", "high")}
    _published(tmp_path, people | rare)
    assert not _published(tmp_path, people | {("women", "low"): (60, 21)}).new


def test_another_spelling_lets_nothing_be_forgotten(tmp_path: Path, seen: list[Regions]) -> None:
    content = series.programme() | {
        "policy": {"minimum_group_size": 20},
        "period": {"every": "quarter", "timezone": "UTC"},
    }
    content["attributes"]["public"]["values"] = {"f": "women"}
    counts = {("f", "r0"): (12, 5), ("f", "r1"): (7, 3), ("f", "r2"): (10, 4)}
    path = series.write_series(tmp_path, counts, content=content)
    log, rows = path.parent / "log.csv", {}
    for day, approvals in (("2024-02-06", 5), ("2024-05-06", 6)):
        series.write_log(log, counts | {("f", "r0"): (12, approvals)}, day=day)
        rows[day] = log.read_text().splitlines()[1:]
    head, other = log.read_text().splitlines()[0], "x,2024-11-06,women,r0,yes"
    first, second = (rows[day] for day in rows)
    second = [row.replace("0", "1", 1) for row in second]

    def published(period: str, *lines: str) -> Draft:
        log.write_text("\n".join([head, *lines]) + "\n")
        draft = series.publish(path, period=period)
        if draft.new:
            review.review(load(path), period, approve=True, name="R. Viewer", comment="read it")
        return draft

    published("2024-Q1", *first)
    assert published("2024-Q2", *first, *second, other).new
    assert seen[-1].earlier is not None
    corrected = [row.replace(",no", ",yes") if row == first[11] else row for row in first]
    assert corrected != first
    assert not published("2024-Q1", *corrected, *second, other).new
