"""Charts hold what they draw."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from atr.documents.charts.scale import axis


@pytest.mark.parametrize("module", ["charts.scale", "csv", "html"])
def test_examples_in_docstrings(module: str) -> None:
    found = doctest.testmod(import_module(f"atr.documents.{module}"))
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("values", [[0.52, 1, 1.35], [0, 12], [1, 1], [0.999, 1.001], [0, 1e-6], [3, 41.7]])
def test_axis_holds_all_values(values: list[float]) -> None:
    ticks = axis(values)
    assert ticks[0] <= min(values) + 1e-9
    assert ticks[-1] >= max(values) - 1e-9
    assert 2 <= len(ticks) <= 8
    assert list(ticks) == sorted(set(ticks))
