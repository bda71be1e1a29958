"""What is public depends on the announced cells alone: rules in one cell give the same bytes, wherever they end up."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr import cli
from atr.core.protected import Protection
from atr.dossier.review import history
from atr.mechanisms.calibrated.policy import CalibratedPolicy
from atr.programme import load
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


def _twins(
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


def _write(folder: Path, quarters: dict[str, Side]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for day, groups in quarters.items() for row in _rows(groups, day)]
    series.write_rows(folder / "log.csv", ["id", "day", "public", "secret", "result"], rows)
    content = series.programme() | {"policy": {"minimum_group_size": 10, "max_confidence": 0.75}}
    content |= {"period": {"every": "quarter", "timezone": "UTC"}}
    path = folder / "programme.yaml"
    path.write_text(json.dumps(content))
    return path


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The command in this process; what it says, without the folder."""

    def run(folder: Path, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["atr", *arguments])
        capfd.readouterr()
        code = cli.run(cli.app)
        said = f"{code} {capfd.readouterr()}".replace(str(folder), "")
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "now", said)

    return run


def _public(folder: Path, sides: dict[str, Side], corrected: Side, command: Callable[..., str]) -> dict[str, Any]:
    """All that comes out of two quarters, and of corrections of the second one."""
    found: dict[str, Any] = {}
    path = _write(folder, sides)
    programme = load(path)

    def publish(label: str, *flags: str) -> None:
        who = ("--approve", "--name", "R. Viewer", "--comment", "read it")
        for arguments in (
            ("publish", str(path), "--period", label, "--json"),
            ("review", str(path), label, *who, *flags),
            ("history", str(path)),
            ("verify", str(programme.site_path)),
        ):
            found[" ".join([str(len(found)), *arguments[:1]])] = command(folder, *arguments)
        found[f"site {len(found)}"] = _tree(programme.site_path)

    for label in ("2024-Q1", "2024-Q2"):
        publish(label)
    days = [*sides]
    _write(folder, {days[0]: sides[days[0]], days[1]: corrected})
    publish("2024-Q2", "--replaces")
    register = json.loads(programme.register_path.read_text())
    for entry in register["releases"]:
        del entry["log"]["files"]  # hashes of the log
    found["register"] = register
    releases = history(programme)
    found["history"] = releases.drop(columns=[name for name in releases if name.endswith("_at")]).to_dict("records")
    return found


@pytest.mark.usefixtures("quick")
def test_rules_in_one_cell_give_the_same_bytes(tmp_path: Path, command: Callable[..., str]) -> None:
    before: dict[str, list[Release]] = {}
    first, second = _twins(GROUPS, before), _twins(LATER, before)
    corrected = [side | more for side, more in zip(second, _twins(CORRECTED, before, second), strict=True)]
    found = []
    for side in (0, 1):
        quarters = {"2024-02-06": first[side], "2024-05-06": second[side]}
        found.append(_public(tmp_path / str(side), quarters, corrected[side], command))
    assert all(first[0][name] != first[1][name] for name in GROUPS if name != "too few")
    assert corrected[0]["told"] != corrected[1]["told"]
    assert found[0].keys() == found[1].keys()
    for name, of in found[0].items():
        assert of == found[1][name], name
    assert [release["state"] for release in found[0]["history"]] == ["published", "replaced", "published"]
