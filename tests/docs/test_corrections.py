"""What the page on the mechanism says of two versions of a period is what was simulated."""

from __future__ import annotations

import json
import re

from benchmarks.corrections import RESULTS
from tests.helpers.paths import ROOT


def test_the_page_has_the_simulated_shares() -> None:
    found = json.loads(RESULTS.read_text())
    (bullet,) = re.findall(
        r"- Who has two versions.*?corrections`\)", (ROOT / "docs" / "mechanism.md").read_text(), re.S
    )
    assert re.findall(r"[\d.]+ %", bullet) == [f"{100 * of['above']:.1f} %" for of in found.values()]
