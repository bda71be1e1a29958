"""Reference cells of groups with two outcomes, with and without sets and earlier reports."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from atr.mechanisms.calibrated import announce
from tests.helpers.paths import TESTS

VECTORS = json.loads((TESTS / "vectors" / "calibrated.json").read_text())


def ceilings(beta):
    """Give one ceiling, or one a set, as numbers."""
    return [float(Fraction(b)) for b in beta] if isinstance(beta, list) else float(Fraction(beta))


@pytest.mark.parametrize("vector", VECTORS)
def test_reference_cells(vector):
    options = {name: vector[name] for name in ("sets", "steps", "least", "earlier")}
    cell = announce(vector["n"], vector["k"], max_confidence=ceilings(vector["beta"]), **options)
    known = vector["announced"]
    if known is None:
        assert cell is None
        return
    assert cell is not None
    assert (cell.lower.tolist(), cell.upper.tolist()) == (known["a"], known["b"])
    assert cell.expected == pytest.approx(known["expected"], abs=1e-9)
    assert cell.confidence == pytest.approx(known["confidence"], abs=1e-9)
    assert cell.rules == pytest.approx(known["rules"], rel=1e-9)
