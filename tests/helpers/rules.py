"""Rules of drawn people and chances, as influence is measured of them."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from atr.measures.influence import Rules


def table(rows: dict[tuple[int, ...], tuple[int, int]]) -> Rules:
    """Rules of people and thousandths for each combination of values."""
    people, chance = (np.array(column, dtype=np.float64) for column in zip(*rows.values(), strict=True))
    return Rules(np.array(list(rows), dtype=np.int64), people, chance)


@st.composite
def tables(draw: st.DrawFn, *, whole: bool = False) -> Rules:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    known = list(product(*map(range, sizes)))
    if not whole:
        known = draw(st.lists(st.sampled_from(known), min_size=1, unique=True))
    figures = st.tuples(st.integers(1, 50), st.integers(0, 1000) | st.sampled_from([0, 1000]))
    return table({key: draw(figures) for key in known})
