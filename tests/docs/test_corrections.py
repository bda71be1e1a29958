"""What the page on the mechanism says of two versions of a period is what was simulated."""

from __future__ import annotations

import json
import re

from atr.mechanisms.calibrated.two_versions import MOST_SUMS
from benchmarks.corrections import RESULTS
from tests.helpers.paths import ROOT


def test_the_page_has_the_simulated_shares() -> None:
    found = json.loads(RESULTS.read_text())
    (part,) = re.findall(r"Without that he would.*?\n\n", (ROOT / "docs" / "mechanism.md").read_text(), re.S)
    shares = [of["above"] for of in found.values()]
    shares += [of[name] for of in found.values() for name in ("told", "told_without")]
    assert re.findall(r"[\d.]+ %", part) == [f"{100 * share:.1f} %" for share in shares]
    assert f"{MOST_SUMS:,}" in part
