"""What a file says of decision regions, row by row."""

from __future__ import annotations

from collections.abc import Iterable
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
        """What the file says of (n,) decision regions, in their order.

        Parameters
        ----------
        regions
            (n,) display values of every attribute, public ones first.
        which
            What regions these are, within a sentence.

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
