"""The exact enumeration that the mechanism is tested against, against known answers and itself."""

from __future__ import annotations

import json
from fractions import Fraction
from math import prod

import numpy as np
import pytest

from tests.helpers.calibrated_oracle import READERS, Oracle
from tests.helpers.paths import TESTS

VECTORS = json.loads((TESTS / "vectors" / "calibrated.json").read_text())


def _small(vector):
    return prod(n + 1 for n in vector["n"]) < 60 * sum(vector["n"])


def test_known_answers_by_enumeration():
    chosen = [v for v in VECTORS if _small(v)]
    assert len(chosen) > 30
    for v in chosen:
        beta = [Fraction(b) for b in v["beta"]] if isinstance(v["beta"], list) else Fraction(v["beta"])
        group = Oracle(
            v["n"],
            (sum(v["k"]), sum(v["n"]) - sum(v["k"])),
            ceilings=beta,
            **{name: v[name] for name in ("sets", "steps", "least", "earlier")},
        )
        cell, known = group.announced(v["k"]), v["announced"]
        if known is None:
            assert cell is None
            continue
        assert cell is not None
        assert (cell.lower, cell.upper, len(cell.rules)) == (known["a"], known["b"], known["rules"])
        assert float(cell.confidence) == pytest.approx(known["confidence"], abs=1e-9)
        assert [float(row[0]) for row in cell.expected] == pytest.approx(known["expected"], abs=1e-9)


@pytest.mark.parametrize(("people", "totals"), [((9, 7, 6), (8, 14)), ((8, 7, 6), (9, 7, 5))])
def test_cells_are_a_partition_and_safe(people, totals):
    group = Oracle(people, totals, ceilings=Fraction(3, 4), steps=10, least=2)
    cells = group.cells()
    assert len(cells) > 1
    covered = np.stack([group.inside(limits) for limits in cells])
    assert (covered.sum(axis=0) == 1).all()
    for chosen in covered:
        assert chosen.sum() > 2
        for reader in READERS:
            assert max(group.confidences(chosen, reader)) <= Fraction(3, 4)
