"""Two published versions of one period leave whoever has both below the ceiling."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
        (([12, 7, 10], [5, 3, 4]), ([17, 10, 13], [6, 5, 4]), 0.6),
        (([7, 11, 10], [3, 5, 5]), ([11, 15, 13], [5, 5, 6]), 0.6),
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
        assert reader.surest(expected) <= ceiling + EXACTLY
    assert verify(second.documents) == []


def test_a_group_that_others_join_is_known_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a rest group is called by then: it is who is in it."""
    seen = []
    solve = CalibratedMechanism.solve
    monkeypatch.setattr(CalibratedMechanism, "solve", lambda *of: (seen.append(of[1]), solve(*of))[1])
    content = series.programme() | {"policy": {"minimum_group_size": 20}}
    counts = {("a", "low"): (30, 10), ("a", "high"): (30, 20)}
    small = {(name, secret): (6, 3) for name in ("b", "c") for secret in ("low", "high")}
    path = series.write_series(tmp_path, counts | small, content=content)
    series.publish(path)
    review.review(load(path), "2024", approve=True, name="R. Viewer", comment="read it")
    assert all(regions.versions is None for regions in seen)
    seen.clear()
    more = {("d", "low"): (6, 2), ("d", "high"): (7, 2)}
    series.write_log(path.parent / "log.csv", counts | small | more)
    assert series.publish(path).new
    told = {regions.joined.get(regions.group_values[0], ()): regions.versions for regions in seen}
    of_rest = told[("b",), ("c",), ("d",)]
    assert of_rest is not None
    assert of_rest[0, :, 0, 2].tolist() == [12, 12]
    assert of_rest[0, 0, :, 3].tolist() == [12, 12]
    assert np.isnan(told[()]).all(), "the others are as they were"  # type: ignore[arg-type]
