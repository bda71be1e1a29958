"""Where a reader is assumed to know the numbers of people from: a file such as a census, in place of the report."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, PrivateAttr, Tag

from atr.core.fields import Part, Text, how_written
from atr.core.region_table import RegionFile
from atr.errors import ProgrammeError

PEOPLE = "people"
"""The column of a file of side information beside those of the attributes."""
_MOST_PEOPLE = 10**12


def people(fields: dict[str, str], where: str) -> int:
    """Read the number of people from a row of a file of side information.

    Only proportions within a QID group matter, so shares are given as numbers of people of 10,000, say.

    Parameters
    ----------
    fields
        The row's text by column.
    where
        Where the row is, for messages.

    Raises
    ------
    ProgrammeError
        If it is no whole number, or too large.
    """
    text = fields[PEOPLE]
    if not text.isascii() or not text.isdigit() or int(text) > _MOST_PEOPLE:
        raise ProgrammeError(
            f"{PEOPLE} must be a whole number, at most {_MOST_PEOPLE:,}, not '{text}'",
            where=where,
            hint="Give shares as people of 10,000, say: only proportions within a group matter.",
        )
    return int(text)


class SideInformationPolicy(Part):
    """Where a reader knows the numbers of people from: a file, and what readers of the report know it as."""

    file: Text
    title: Text | None = None

    _region_file: RegionFile[int] = PrivateAttr()

    @property
    def region_file(self) -> RegionFile[int]:
        """What the file is read with."""
        return self._region_file

    def model_post_init(self, context: Any, /) -> None:
        """Make what the file is read with."""
        self._region_file = RegionFile(self.file, ("side_information",), "file of side information", (PEOPLE,), people)


SideInformation = Annotated[
    Annotated[Text, Tag("[plain]")] | Annotated[SideInformationPolicy, Tag("[keys]")], Discriminator(how_written)
]
"""Written as the path of a file, or as its keys."""
