"""Two logs of other rules in the same cells of the calibrated mechanism, as programmes of quarters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from atr.core.protected import Protection
from atr.mechanisms.calibrated.policy import CalibratedPolicy
from tests.helpers import series
from tests.helpers.attacker import Attacker, Release

PROTECTION = Protection.of(["secret"], [], [], max_confidence=0.75, digits=3)
POLICY = CalibratedPolicy(minimum_group_size=10, max_confidence=0.75)
GROUPS = {
    "told": ([20, 20, 20], [16, 9, 3]),
    "of many": ([31, 12, 9, 24], [25, 6, 2, 12]),
    "a few": ([6, 5, 6], [3, 1, 1]),
    "too few": ([3, 2, 2], [2, 1, 1]),
}
"""People of every region, and how many have the positive outcome; the last group joins the one before."""
LATER = {
    "told": ([21, 19, 20], [17, 8, 4]),
    "of many": ([30, 12, 10, 22], [24, 7, 2, 10]),
    "a few": ([6, 5, 7], [4, 1, 1]),
    "too few": ([3, 2, 2], [2, 1, 1]),
}
JOINED = ("a few", "too few")
CORRECTED = {"told": ([21, 19, 20], [19, 12, 12])}
"""Corrections of more than ten people, as many in both logs: their number is told, and fewer would wait."""
Group = tuple[Sequence[int], Sequence[int]]
Side = dict[str, Group]


def twins(
    groups: Side, before: dict[str, list[Release]], corrected: tuple[Side, Side] | None = None
) -> tuple[Side, Side]:
    """The same log twice, but for other rules in the same cells; ``before`` grows."""
    twin = dict(groups)
    for name in groups.keys() - JOINED[1:]:
        own, told = np.array(groups[name]), before.setdefault(name, [])
        joined = sum(np.array(groups[other]) for other in JOINED[1:]) if name == JOINED[0] else np.zeros_like(own)
        people, favourable = own + joined
        attacker, counts = Attacker(POLICY, PROTECTION, [*told]), np.column_stack([favourable, people - favourable])
        told.append(attacker.release(counts))
        others = attacker.rules_left(counts, told[-1])[:, :, 0] - joined[1]
        others = others[((others >= 0) & (others <= own[0])).all(axis=1)]
        if corrected is not None:
            one, other = (side[name][1] for side in corrected)
            others = others[np.abs(others - other).sum(axis=1) == np.abs(own[1] - one).sum()]
        twin[name] = own[0].tolist(), others[np.abs(others - own[1]).sum(axis=1).argmax()].tolist()
    return groups, twin


def _rows(groups: Side, day: str) -> list[tuple[str, ...]]:
    return [
        (f"{day}-{name}-r{s}-{i}", day, name, f"r{s}", "yes" if i < favourable[s] else "no")
        for name, (people, favourable) in groups.items()
        for s, n in enumerate(people)
        for i in range(n)
    ]


def write(folder: Path, quarters: dict[str, Side]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for day, groups in quarters.items() for row in _rows(groups, day)]
    series.write_rows(folder / "log.csv", ["id", "day", "public", "secret", "result"], rows)
    content = series.programme() | {"policy": {"minimum_group_size": 10, "max_confidence": 0.75}}
    content |= {"period": {"every": "quarter", "timezone": "UTC"}}
    path = folder / "programme.yaml"
    path.write_text(json.dumps(content))
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
