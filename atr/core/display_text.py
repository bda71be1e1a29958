"""Values as reports show them."""

from __future__ import annotations

import re

UNKNOWN = "unknown"
"""The category of a missing value."""
ANY = ""
"""In place of a value that the people of a group do not share, or that is not told of them; never printed."""

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def named(values: tuple[str, ...]) -> tuple[str, ...]:
    """Name what the people of a group do not share, for the reviewer."""
    return tuple("any" if value == ANY else value for value in values)


def printable(text: str) -> str:
    """Replace control and direction-changing characters by a visible one, so that the text prints as it is read."""
    return CONTROL.sub("\ufffd", text)
