"""Released values vary as their channel says, over many groups: neither less than it nor more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import atr
import atr.sanitise
from tests.helpers import records as helper
from tests.helpers import series

GROUPS = 250


def _counts() -> dict[tuple[str, str], tuple[int, int]]:
    """Groups of 60 people with two secrets, whose chances differ."""
    return {
        (f"g{g:03}", secret): (30, (5 + g % 11) if secret == "s" else (12 + g % 7))
        for g in range(GROUPS)
        for secret in ("s", "t")
    }


@pytest.mark.parametrize("channel", [{}, {"channel": "best", "reader_knows_x": "never"}])
def test_values_vary_as_the_channel_says(channel: dict[str, Any], tmp_path: Path) -> None:
    counts, alpha = _counts(), 0.4
    sanitise = {"column": "result", "hide": ["secret"], "alpha": alpha, "seed": "seed"} | channel
    content = series.programme(minimum_group_size=50) | {"sanitise": sanitise}
    path = series.write_series(tmp_path, counts, content=content)
    (tmp_path / "seed").write_text(helper.SEED)
    draft = atr.release_records(path, "2024")
    rows = helper.rows(draft.documents)
    approved = (rows["result"] == "approved").groupby(rows["public"]).sum()
    squares = []
    for g in range(GROUPS):
        of = np.array([[yes, people - yes] for people, yes in (counts[f"g{g:03}", secret] for secret in "st")])
        joint = of / of.sum()
        table = atr.sanitise.best(joint, alpha) if channel else np.array([atr.sanitise.markov(joint, alpha)] * 2)
        chance = table[:, :, 0]
        variance = (of * chance * (1 - chance)).sum()
        if variance > 0:
            squares.append((approved[f"g{g:03}"] - of[:, 0].sum()) ** 2 / variance)
    assert len(squares) > GROUPS / 2
    assert 1e-6 < stats.chi2.cdf(sum(squares), len(squares)) < 1 - 1e-6
