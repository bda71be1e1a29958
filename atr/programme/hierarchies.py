"""The file of a hierarchy: into which coarser values those of a public attribute may be merged, level by level.

A hierarchy is set beforehand: which of its levels a report uses is decided from numbers of people and the policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from atr.core.arrays import Values
from atr.core.display_text import CONTROL, UNKNOWN
from atr.errors import ProgrammeError
from atr.programme.region_files import read_rows


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
    coarser: dict[str, Values]

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
        """Give the coarser name that each name of the level below lies in.

        Parameters
        ----------
        level
            From 1, the finest of the coarser levels; level 0 are the values themselves.

        Returns
        -------
        Name of the level below to name of this level.
        """
        return {(value, *row)[level - 1]: row[level - 1] for value, row in self.coarser.items()}

    def require(self, shown: Iterable[str]) -> None:
        """Check that display values of the log have a row.

        Parameters
        ----------
        shown
            Display values that occur in the log.

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


def read_hierarchy(path: Path, values: Iterable[str] = ()) -> Hierarchy:
    """Read the file of a hierarchy.

    Parameters
    ----------
    path
        A CSV in UTF-8 without a header: a row for each value, first as reports show it, then ever coarser names.
    values
        Display values that need a row.

    Returns
    -------
    The hierarchy, its values in the order of the file.

    Raises
    ------
    ProgrammeError
        Naming the line of the first fault found, or a value without a row.
    """
    sha256, numbered = read_rows(path)
    rows: dict[str, Values] = {}
    lines: dict[str, int] = {}
    for line, row in numbered:
        where = f"{path}, line {line}"
        _check_row(row, width=len(numbered[0][1]), where=where)
        if row[0] in lines:
            raise ProgrammeError(f"is about the same value as line {lines[row[0]]}", where=where)
        rows[row[0]], lines[row[0]] = tuple(row), line
    _check_names(rows, lines, path)
    missing = [value for value in values if value not in rows]
    if missing:
        raise ProgrammeError(f"has no row for the declared value '{missing[0]}'", where=str(path))
    return Hierarchy(path, sha256, {value: row[1:] for value, row in rows.items()})


def _check_row(row: list[str], *, width: int, where: str) -> None:
    columns = list(enumerate(row, start=1))
    faults = [
        *(["has one column: beside each value there must be a coarser one"] if len(row) < 2 else []),
        *([f"has {len(row)} columns, the rows above have {width}"] if len(row) != width else []),
        *(f"column {column} is empty" for column, name in columns if not name.strip()),
        *(
            f"column {column} has spaces before or after the name"
            for column, name in columns[1:]
            if name != name.strip()
        ),
        *(f"column {column} has characters that cannot be printed" for column, name in columns if CONTROL.search(name)),
    ]
    if faults:
        raise ProgrammeError(faults[0], where=where)


def _check_names(rows: dict[str, Values], lines: dict[str, int], path: Path) -> None:
    """A name stands for the same values in every column, and lies in one name of the next."""
    members: dict[tuple[int, str], list[str]] = {}
    for value, row in rows.items():
        for column, name in enumerate(row, start=1):
            members.setdefault((column, name), []).append(value)
    known = {UNKNOWN: ([UNKNOWN], "a missing value has it")}
    for (column, name), values in members.items():
        line = lines[values[0]]
        first, taken = known.setdefault(name, (values, f"line {line} has it in column {column} for other values"))
        if first != values:
            raise ProgrammeError(f"the name in column {column} is taken: {taken}", where=f"{path}, line {line}")
        for value in values:
            if rows[value][column : column + 1] != rows[values[0]][column : column + 1]:
                raise ProgrammeError(
                    f"column {column + 1} differs from line {line}, though column {column} is the same",
                    where=f"{path}, line {lines[value]}",
                    hint="Each name lies in one coarser name.",
                )
