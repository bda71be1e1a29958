"""Values as reports show them."""

from __future__ import annotations

import re

UNKNOWN = "unknown"
"""The category of a missing value."""
ANY = ""
"""In place of a value that the people of a group do not share, or that is not told of them; never printed."""

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")

_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UNSEEN = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
NOT_MEANT = f"^[{_SPACE}{_UNSEEN}]+|[{_SPACE}{_UNSEEN}]+$|[{_UNSEEN}]+"
"""What no value of a log means: space around it, and characters that cannot be seen; the joiners of scripts that need
them stay. A pattern for Python and for DuckDB."""


def cleaned(text: str) -> str:
    """Leave out what no value of a log means.

    >>> cleaned(" Fe\u200bmale\u00a0")
    'Female'
    """
    return re.sub(NOT_MEANT, "", text)


def named(values: tuple[str, ...]) -> tuple[str, ...]:
    """Name a group by the values that its people share, for the reviewer."""
    told = tuple(value for value in values if value != ANY)
    if len(told) == len(values):
        return told
    return (*told, "not shown on their own") if told else ("people not shown on their own",)


def printable(text: str) -> str:
    """Replace control and direction-changing characters by a visible one, so that the text prints as it is read."""
    return CONTROL.sub("\ufffd", text)
