"""Cores that may be used, and segments."""

from __future__ import annotations

import numpy as np
import pytest

from atr.core.arrays import positions_in, usable_cores
from atr.errors import EnvironmentFault


def test_as_many_cores_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATR_THREADS", "3")
    assert usable_cores() == 3
    monkeypatch.delenv("ATR_THREADS")
    assert usable_cores() >= 1


@pytest.mark.parametrize("asked", ["", "0", "-1", "two", "1.5"])
def test_no_number_of_threads_is_refused(monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    monkeypatch.setenv("ATR_THREADS", asked)
    with pytest.raises(EnvironmentFault, match="ATR_THREADS"):
        usable_cores()


def test_no_segment_has_no_positions() -> None:
    assert positions_in(np.array([0, 2, 5]), np.zeros(0, dtype=np.int64)).tolist() == []
