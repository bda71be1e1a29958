"""The file of a hierarchy: into which coarser values those of a public attribute may be merged, level by level.

A hierarchy is set beforehand: which of its levels a report uses is decided from numbers of people and the policy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from atr.core.display_text import CONTROL, UNKNOWN
from atr.errors import ProgrammeError
from atr.programme.ranges import rows_of

Row = tuple[str, ...]


@dataclass(frozen=True)
class Hierarchy:
    """A tree of values. A name stands for the same values wherever it occurs, so groups cannot be mistaken.

    Parameters
    ----------
    path
        The file it was read from.
    sha256
        The hash of its bytes.
    coarser
        For each display value its coarser ones, from fine to coarse; as many for each.
    """

    path: Path
    sha256: str
    coarser: dict[str, Row]

    @property
    def levels(self) -> int:
        """How many levels there are above the values themselves."""
        return len(next(iter(self.coarser.values()), ()))

    @cached_property
    def coarse(self) -> tuple[str, ...]:
        """The names that are no value of the log: those of lower levels first, then in the order of the file."""
        names = (row[level] for level in range(self.levels) for row in self.coarser.values())
        return tuple(dict.fromkeys(name for name in names if name not in self.coarser))

    def parents(self, level: int) -> dict[str, str]:
        """For each name of the level below, the one of this level that it lies in; levels count from 1."""
        return {(value, *row)[level - 1]: row[level - 1] for value, row in self.coarser.items()}

    def require(self, shown: Iterable[str]) -> None:
        """Check that display values of the log have a row.

        Raises
        ------
        ProgrammeError
            If one has none; the first such value is named in the private part.
        """
        missing = sorted(set(shown) - set(self.coarser))
        if missing:
            what = "a value" if len(missing) == 1 else f"{len(missing):,} values"
            raise ProgrammeError(
                f"has no row for {what} of the log",
                where=str(self.path),
                hint="Every value that a report can show needs a row, “unknown” too where a value can be missing.",
                private=f"The first of them: {missing[0]}",
            )


def read(path: Path) -> Hierarchy:
    """Read the file of a hierarchy.

    Parameters
    ----------
    path
        A CSV in UTF-8 without a header: a row for each value, first as reports show it, then ever coarser names.

    Raises
    ------
    ProgrammeError
        Naming the line of the first fault found.
    """
    content, rows = rows_of(path)
    coarser: dict[str, Row] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        where = f"{path}, line {line}"
        _check_row(row, width=1 + len(next(iter(coarser.values()), row[1:])), where=where)
        if row[0] in lines:
            raise ProgrammeError(f"is about the same value as line {lines[row[0]]}", where=where)
        coarser[row[0]], lines[row[0]] = tuple(row[1:]), line
    if not coarser:
        raise ProgrammeError("the file is empty", where=str(path))
    _check_parents(coarser, lines, path)
    _check_names(coarser, lines, path)
    return Hierarchy(path, hashlib.sha256(content).hexdigest(), coarser)


def _check_row(row: list[str], *, width: int, where: str) -> None:
    if len(row) < 2:
        raise ProgrammeError("has one column: beside each value there must be a coarser one", where=where)
    if len(row) != width:
        raise ProgrammeError(f"has {len(row)} columns, the rows above have {width}", where=where)
    for column, name in enumerate(row, start=1):
        if not name.strip():
            raise ProgrammeError(f"column {column} is empty", where=where)
        if column > 1 and name != name.strip():
            raise ProgrammeError(f"column {column} has spaces before or after the name", where=where)
        if CONTROL.search(name):
            raise ProgrammeError(f"column {column} has characters that cannot be printed", where=where)


def _check_parents(coarser: dict[str, Row], lines: dict[str, int], path: Path) -> None:
    """Every name lies in one name of the next level."""
    known: dict[tuple[int, str], tuple[str, int]] = {}
    for value, row in coarser.items():
        for level, (name, parent) in enumerate(pairwise(row)):
            first, line = known.setdefault((level, name), (parent, lines[value]))
            if first != parent:
                raise ProgrammeError(
                    f"column {level + 3} differs from line {line}, though column {level + 2} is the same",
                    where=f"{path}, line {lines[value]}",
                    hint="Each name lies in one coarser name.",
                )


def _check_names(coarser: dict[str, Row], lines: dict[str, int], path: Path) -> None:
    """A name in two columns stands for the same values in both."""
    known: dict[str, tuple[set[str], int, int]] = {UNKNOWN: ({UNKNOWN}, 1, 0)}
    for column, name, values, line in _names(coarser, lines):
        first, elsewhere, at = known.setdefault(name, (values, column, line))
        if first != values:
            taken = f"line {at} has it in column {elsewhere} for other values" if at else "a missing value has it"
            raise ProgrammeError(f"the name in column {column} is taken: {taken}", where=f"{path}, line {line}")


def _names(coarser: dict[str, Row], lines: dict[str, int]) -> Iterator[tuple[int, str, set[str], int]]:
    """Every name of every column, fine to coarse: the values it stands for, and the line it first stands on."""
    for column in range(1, 2 + len(next(iter(coarser.values())))):
        found: dict[str, tuple[set[str], int]] = {}
        for value, row in coarser.items():
            found.setdefault((value, *row)[column - 1], (set(), lines[value]))[0].add(value)
        for name, (values, line) in found.items():
            yield column, name, values, line
