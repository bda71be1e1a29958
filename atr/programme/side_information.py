"""The file of side information: how many people of each region a reader knows of, from a census for example."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from atr.core.region_table import RegionTable
from atr.errors import ProgrammeError
from atr.programme.ranges import by_region

PEOPLE = "people"
"""The column beside those of the attributes."""

_MOST = 10**12


def read(path: Path, attributes: Sequence[str]) -> RegionTable[int]:
    """Read a file of side information.

    Parameters
    ----------
    path
        A CSV in UTF-8: a column for each attribute, with the values that reports show, and the column ``people``, whole
        numbers. Only their proportions within a QID group matter, so shares are given as numbers of people of 10,000,
        say.
    attributes
        Names of the attributes, public ones first.

    Raises
    ------
    ProgrammeError
        Naming the line of the first fault found.
    """
    content, rows = by_region(path, attributes, (PEOPLE,))
    people = {values: _people(fields[PEOPLE], where=where) for where, values, fields in rows}
    return RegionTable(path, hashlib.sha256(content).hexdigest(), tuple(attributes), people)


def _people(text: str, *, where: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _MOST:
        raise ProgrammeError(
            f"{PEOPLE} must be a whole number, at most {_MOST:,}, not '{text}'",
            where=where,
            hint="Give shares as people of 10,000, say: only proportions within a group matter.",
        )
    return int(text)
