"""What the files that a policy names say of decision regions, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from atr.errors import ProgrammeError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RegionTable(Generic[T]):
    """One value for each decision region of a file.

    Parameters
    ----------
    path
        The file it was read from.
    sha256
        The hash of its bytes.
    attributes
        Names of the attributes, public ones first, in the programme's order.
    rows
        For the display values of a region, in that order, what the file says.
    """

    path: Path
    sha256: str
    attributes: tuple[str, ...]
    rows: dict[tuple[str, ...], T]

    def require(self, regions: Iterable[tuple[str, ...]], which: str) -> list[T]:
        """Give the value of each of some decision regions.

        Parameters
        ----------
        regions
            (n,) display values of every attribute, public ones first.
        which
            What regions these are, within a sentence.

        Returns
        -------
        (n,) values, in the order of the regions.

        Raises
        ------
        ProgrammeError
            If a region has no row; the first such region is named in the private part.
        """
        wanted = list(regions)
        missing = [values for values in wanted if values not in self.rows]
        if missing:
            what = "a decision region" if len(missing) == 1 else f"{len(missing):,} decision regions"
            first = ", ".join(f"{name} {value}" for name, value in zip(self.attributes, missing[0], strict=True))
            raise ProgrammeError(
                f"has no row for {what} {which}",
                where=str(self.path),
                hint="Every region of a group that is announced needs one.",
                private=f"The first of them: {first}",
            )
        return [self.rows[values] for values in wanted]


@dataclass(slots=True)
class RegionFile(Generic[T]):
    """A file that a policy names, with one value for each decision region.

    Parameters
    ----------
    path
        As the programme names it.
    keys
        Where in the policy it is named.
    kind
        What it is, within a sentence.
    columns
        Its columns beside those of the attributes.
    value
        The value of a row, from its fields and, for messages, where it is; raises ProgrammeError.
    beyond_two
        What to use instead where there are more than two outcomes; empty: the file is for any number.
    fits_log
        Whether a row of values that no report shows is likely a mistake.
    table
        What was read; None until then.
    """

    path: str
    keys: tuple[str, ...]
    kind: str
    columns: tuple[str, ...]
    value: Callable[[dict[str, str], str], T]
    beyond_two: str = ""
    fits_log: bool = False
    table: RegionTable[T] | None = None

    def read(self) -> RegionTable[T]:
        """Give the table that was read.

        Raises
        ------
        ValueError
            If nothing was.
        """
        if self.table is None:
            raise ValueError(f"the {self.kind} was not read: programmes that name one are made by atr.programme.load")
        return self.table
