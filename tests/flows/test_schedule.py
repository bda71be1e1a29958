"""Which period a scheduled run publishes."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from atr.flows import publish
from atr.programme import load
from atr.programme.periods import containing, previous
from tests.helpers import series


@pytest.mark.parametrize(
    ("zone", "when", "day"),
    [
        ("Asia/Tokyo", datetime(2024, 12, 31, 21, tzinfo=UTC), date(2025, 1, 1)),
        ("America/New_York", datetime(2025, 1, 1, 3, tzinfo=UTC), date(2024, 12, 31)),
        (None, datetime(2025, 1, 1, 3, tzinfo=UTC), date(2025, 1, 1)),
    ],
)
def test_the_day_is_that_of_the_programme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str | None, when: datetime, day: date
) -> None:
    content = series.programme() | {"period": {"every": "month"} | ({"timezone": zone} if zone else {})}
    programme = load(series.write_series(tmp_path, series.card(2), content=content))
    run = SimpleNamespace(tags=["auto-scheduled"], scheduled_start_time=when)
    monkeypatch.setattr(publish, "runtime", SimpleNamespace(deployment=SimpleNamespace(id="x"), flow_run=run))
    assert publish.scheduled_day(programme) == day
    assert previous(containing(day, "month")).label == {1: "2024-12", 12: "2024-11"}[day.month]


def test_a_run_that_a_person_started_goes_by_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programme = load(series.write_series(tmp_path, series.card(2)))
    for deployment, tags in ((None, ["auto-scheduled"]), ("x", [])):
        run = SimpleNamespace(tags=tags, scheduled_start_time=datetime(2025, 1, 1, tzinfo=UTC))
        monkeypatch.setattr(
            publish, "runtime", SimpleNamespace(deployment=SimpleNamespace(id=deployment), flow_run=run)
        )
        assert publish.scheduled_day(programme) is None
