"""Decision regions of which a group becomes one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from atr.core.display_text import ANY
from atr.core.protected import Protection
from atr.core.regions import Regions


def test_one_region_of_a_group_has_all_its_people() -> None:
    regions = Regions(
        public=("sex",),
        protection=Protection(("health",)),
        outcomes=("yes", "no"),
        group_values=(("women",), ("men",)),
        region_values=(("ill",), ("well",), ("ill",), ("well",)),
        counts=np.array([[1, 2], [3, 4], [5, 6], [7, 8]]),
        offsets=np.array([0, 2, 4]),
        known=np.array([10, 20, 30, 40]),
    )
    found = regions.collapsed(np.array([False, True]))
    assert found.region_values == (("ill",), ("well",), (ANY,))
    assert found.counts.tolist() == [[1, 2], [3, 4], [12, 14]]
    assert found.offsets.tolist() == [0, 2, 3]
    assert found.known is not None
    assert found.known.tolist() == [10, 20, 70]
    assert replace(regions, known=None).collapsed(np.array([True, True])).counts.tolist() == [[4, 6], [12, 14]]
