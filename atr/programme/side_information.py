"""The file of side information: how many people of each region a reader knows of, from a census for example."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from atr.errors import ProgrammeError
from atr.programme.ranges import Values, by_region

PEOPLE = "people"
"""The column beside those of the attributes."""

_MOST = 10**12


@dataclass(frozen=True, slots=True)
class SideInformation:
    """How many people a reader assumes to be in each decision region.

    Parameters
    ----------
    sha256
        The hash of the bytes of the file they were read from.
    people
        For the display values of a region, public ones first, its people.
    """

    sha256: str
    people: dict[Values, int]

    def of(self, regions: Iterable[Values]) -> npt.NDArray[np.int64]:
        """(n,) the people of some decision regions, in their order; 0 where the file has none.

        Parameters
        ----------
        regions
            (n,) display values of every attribute, public ones first.
        """
        return np.array([self.people.get(values, 0) for values in regions], dtype=np.int64)


def read(path: Path, attributes: Sequence[str]) -> SideInformation:
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
    return SideInformation(hashlib.sha256(content).hexdigest(), people)


def _people(text: str, *, where: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _MOST:
        raise ProgrammeError(
            f"{PEOPLE} must be a whole number, at most {_MOST:,}, not '{text}'",
            where=where,
            hint="Give shares as people of 10,000, say: only proportions within a group matter.",
        )
    return int(text)
