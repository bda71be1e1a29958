"""Compile all kernels ahead of the first report: ``python -m atr.mechanism.compile``.

Set-up does this once. Without it, or after an upgrade, the first report waits for the compiler instead.
"""

from __future__ import annotations

from atr.fidelity import Delta
from atr.groups import Groups
from atr.mechanism.rounding import round_announcement
from atr.mechanism.solve import solve


def main() -> None:
    """Solve the smallest case that calls every kernel."""
    groups = Groups([12, 5, 3], [0, 0, 1], [0, 3])
    people = groups.population
    x = solve(groups, fidelity=Delta(0.9), group_rates="free", digits=3).announced[:, 1]
    solve(groups, fidelity=Delta(0.5), objective="fidelity", max_confidence=0.9, digits=3)
    round_announcement(
        groups, x, fidelity=Delta(0.5), digits=3, beta=1, ceiling=1, published_population=people, group_rates="free"
    )


if __name__ == "__main__":
    main()
