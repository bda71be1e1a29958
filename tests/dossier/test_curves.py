"""Trade-off curves against the paper's Figure 5, and their shape on random groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.groups import Groups
from atr.dossier.curves import grid, trade_off

card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])


@st.composite
def groups(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    p = np.array(draw(st.lists(st.integers(1, 300), min_size=sum(sizes), max_size=sum(sizes))))
    share = st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])
    d = np.array([round(draw(share) * int(people)) / int(people) for people in p])
    return Groups(p, d, np.append(0, np.cumsum(sizes)))


def test_the_papers_limits():
    curve = trade_off(card, levels=grid("delta", steps=50))
    assert curve.limits == pytest.approx(np.array([[0.6, 1], [0.45, 0.72]]))
    for i in range(2):
        assert curve.free[i, [0, -1]] == pytest.approx(curve.limits[i])
        assert curve.exact[i, -1] == pytest.approx(curve.limits[i, 1])
    at = np.searchsorted(curve.levels, 0.9)
    assert curve.free[:, at] == pytest.approx([0.675, 0.2025 / 0.3175])
    assert curve.exact[:, at] == pytest.approx([0.9, 0.648])
    assert curve.free.max(axis=0)[at] == pytest.approx(0.675)


@given(groups(), st.sampled_from(["delta", "alpha"]), st.sampled_from([None, 2]))
def test_more_fidelity_is_less_private_and_exact_rates_cost(drawn, kind, digits):
    curve = trade_off(drawn, kind=kind, levels=grid(kind, steps=12), digits=digits)
    for beta in (curve.exact, curve.free):
        # On a grid of printed numbers the allowed ranges do not shrink evenly; without one they do.
        if digits is None:
            assert (np.diff(beta, axis=1) >= -1e-9).all()
        assert (beta >= curve.limits[:, :1] - 1e-9).all()
        assert (beta <= curve.limits[:, 1:] + 1e-9).all()
    assert (curve.exact >= curve.free - 1e-9).all()
    if digits is None:
        assert curve.free[:, -1] == pytest.approx(curve.limits[:, 1])
        if kind == "delta":
            assert curve.free[:, 0] == pytest.approx(curve.limits[:, 0])
            assert curve.exact[:, 0] == pytest.approx(curve.limits[:, 0])


def test_levels_must_ascend():
    for levels in ([], [0.5, 0.4], [0.5, 0.5], [[0.1]]):
        with pytest.raises(ValueError, match="ascending"):
            trade_off(card, levels=levels)
    with pytest.raises(ValueError, match="alpha"):
        trade_off(card, kind="alpha", levels=[0, 1])
