"""The page on choosing a mechanism has the numbers that the bundled programmes give."""

from __future__ import annotations

from benchmarks import mechanisms


def test_the_page_is_current():
    text = mechanisms.PAGE.read_text(encoding="utf-8")
    assert mechanisms.page(text) == text, "run `python -m benchmarks.mechanisms`"
