"""What is public depends on the announced cells alone: rules in one cell give the same bytes, wherever they end up."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr import cli, terminal
from atr.dossier.review import history
from atr.programme import load
from tests.helpers.attacker import Release
from tests.helpers.twins import CORRECTED, GROUPS, LATER, Side, tree, twins, write

OPEN = {"approved": (0, 1), "refused": (0, 1)}


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The command in this process; what it says, without the folder."""

    def run(folder: Path, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["atr", *arguments])
        capfd.readouterr()
        code = terminal.run(cli.app)
        said = f"{code} {capfd.readouterr()}".replace(str(folder), "")
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "now", said)

    return run


def _public(folder: Path, sides: dict[str, Side], corrected: Side, command: Callable[..., str]) -> dict[str, Any]:
    """All that comes out of two quarters, and of corrections of the second one."""
    found: dict[str, Any] = {}
    path = write(folder, sides)
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
        found[f"site {len(found)}"] = tree(programme.site_path)

    for label in ("2024-Q1", "2024-Q2"):
        publish(label)
    days = [*sides]
    write(folder, {days[0]: sides[days[0]], days[1]: corrected})
    publish("2024-Q2", "--replaces")
    register = json.loads(programme.register_path.read_text())
    for entry in register["releases"]:
        del entry["log"]["files"]  # hashes of the log
    found["register"] = register
    releases = history(programme)
    found["history"] = releases.drop(columns=[name for name in releases if name.endswith("_at")]).to_dict("records")
    return found


@pytest.mark.long
@pytest.mark.usefixtures("quick")
def test_rules_in_one_cell_give_the_same_bytes(tmp_path: Path, command: Callable[..., str]) -> None:
    before: dict[str, list[Release]] = {}
    first, second = twins(GROUPS, before), twins(LATER, before)
    corrected = [side | more for side, more in zip(second, twins(CORRECTED, before, second), strict=True)]
    found = []
    for side in (0, 1):
        quarters = {"2024-02-06": first[side], "2024-05-06": second[side]}
        found.append(_public(tmp_path / str(side), quarters, corrected[side], command))
    assert all(first[0][name] != first[1][name] for name in GROUPS if name != "too few")
    assert corrected[0]["told"] != corrected[1]["told"]
    assert found[0].keys() == found[1].keys()
    for name, of in found[0].items():
        assert of == found[1][name], name
    drafts = tmp_path / "0" / "var" / "test-series" / "drafts"
    for release, predicted in zip(("2024-Q1-v1", "2024-Q2-v1", "2024-Q2-v2"), before["told"], strict=True):
        report = json.loads((drafts / release / "report.json").read_text())
        (group,) = (group for group in report["groups"] if group["public"].get("public") == "told")
        limits = [[(region["limits"] or OPEN)[o] for o in report["outcomes"]] for region in group["regions"]]
        assert np.array(limits) == pytest.approx(predicted.limits), "the register has what the attacker has"
        assert predicted.stated <= report["privacy"]["max_confidence"] <= report["policy"]["max_confidence"]
    assert [release["state"] for release in found[0]["history"]] == ["published", "replaced", "published"]
