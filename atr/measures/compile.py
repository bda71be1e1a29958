"""Compile the kernels of mechanisms and measures ahead of the first report: ``python -m atr.measures.compile``.

Set-up does this once. Without it, or after an upgrade, the first report waits for the compiler instead, as it does some
two seconds for the kernels of verify and of the dossier.
"""

from __future__ import annotations

import numpy as np

from atr.core.arrays import AnnouncedMapping, PublishedPopulation
from atr.core.fidelity import Delta
from atr.core.groups import Groups
from atr.measures.cells import Cells
from atr.measures.individual import Records, largest_excess
from atr.mechanisms.calibrated import announce
from atr.mechanisms.optimal.rounding import round_announcement
from atr.mechanisms.optimal.solve import solve


def main() -> None:
    """Solve the smallest cases that call every one of these kernels."""
    announce([20, 20, 20], [16, 9, 3], max_confidence=0.8)
    groups = Groups([12, 5, 3], [0, 0, 1], [0, 3])
    x = solve(groups, fidelity=Delta(0.9), group_rates="free", digits=3).announced
    solve(groups, fidelity=Delta(0.5), objective="fidelity", max_confidence=0.9, digits=3)
    round_announcement(
        groups,
        x,
        fidelity=Delta(0.5),
        digits=3,
        beta=1,
        ceiling=1,
        published_population=groups.population,
        group_rates="free",
    )
    chance = AnnouncedMapping(np.array([[0.0, 1.0], [1.0, 0.0]]))
    two = PublishedPopulation(np.array([5, 3]))
    cells = Cells(two, chance, chance, chance, np.array([0, 2]), published=two, totals=np.ones((2, 1, 2)))
    largest_excess(cells, Records(np.eye(2), np.ones(2) / 2), distance="total_variation", tolerance=-1.0)


if __name__ == "__main__":
    main()
