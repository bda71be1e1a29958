"""Everybody is in a pool that is large enough, however small and few the groups are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import atr
from atr.core.arrays import Values
from atr.errors import RefusedError
from atr.programme import load
from atr.records.joints import Joints
from atr.records.pools import pooled
from tests.helpers import records as helper
from tests.helpers import series
from tests.helpers.paths import EXAMPLES

COMPAS = load(EXAMPLES / "compas")
LEAST = COMPAS.policy.minimum_group_size
SIZES = st.integers(1, LEAST // 8) | st.integers(1, 2 * LEAST)


def _joints(groups: dict[Values, int], released: tuple[str, ...]) -> Joints:
    n, people = len(groups), np.array([*groups.values()], dtype=np.int64)
    nothing = np.zeros(n, dtype=np.int64)
    return Joints(released, ("low",), tuple(groups), np.arange(n), nothing, nothing, people, ())


@given(
    groups=st.dictionaries(
        st.tuples(st.sampled_from(["men", "women"]), st.sampled_from("abcd"), st.sampled_from(["x", "y", "unknown"])),
        SIZES,
        min_size=1,
        max_size=14,
    ),
    of=st.integers(0, 3),
)
def test_nobody_is_left_out_unless_all_are_too_few(groups: dict[Values, int], of: int) -> None:
    fewer: dict[Values, int] = {}
    for values, people in groups.items():
        fewer[values[:of]] = fewer.get(values[:of], 0) + people
    joints = _joints(fewer, COMPAS.names(role="public")[:of])
    if sum(fewer.values()) < LEAST:
        with pytest.raises(RefusedError, match="people were decided on"):
            pooled(joints, COMPAS)
        return
    pools = pooled(joints, COMPAS)
    assert len(pools.of_cell) == len(fewer)
    sizes = np.bincount(pools.of_cell, joints.people, len(pools.values))
    assert sizes.min() >= LEAST
    for values, pool in zip(fewer, pools.of_cell.tolist(), strict=True):
        assert all(said in ("", own) for said, own in zip(pools.values[pool], values, strict=True))


@pytest.mark.parametrize("within", ["public", "none"])
def test_everybody_has_a_row(within: str, tmp_path: Path) -> None:
    counts = {("men", "s"): (40, 20), ("men", "t"): (40, 9), ("few", "s"): (4, 2), ("fewer", "t"): (2, 1)}
    content = series.programme(minimum_group_size=10)
    content["sanitise"] = {"column": "result", "hide": ["secret"], "within": within, "max_log_lift": 1.0}
    with series.quick():
        draft = atr.release_records(series.write_series(tmp_path, counts, content=content), "2024")
    assert len(helper.rows(draft.documents)) == draft.records.people == 86
    assert len(pd.read_parquet(draft.documents / "records.parquet")) == 86
