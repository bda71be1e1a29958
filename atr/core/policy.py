"""What every mechanism is bound by: the ceiling, who may be announced at all, and how numbers are printed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, PrivateAttr, Tag, model_validator

from atr.core.arrays import IntArray
from atr.core.fields import Count, Part, PositiveShare, Text, at, how_written, not_yet
from atr.core.protected import floored
from atr.core.region_table import RegionFile
from atr.errors import ProgrammeError


class SideInformationPolicy(Part):
    """Where a reader knows the numbers of people from: a file, and what readers of the report know it as."""

    file: Text
    title: Text | None = None

    _region_file: RegionFile[int] = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Make what the file is read with."""
        self._region_file = RegionFile(self.file, ("side_information",), "file of side information", (PEOPLE,), people)


_SideInformation = Annotated[
    Annotated[Text, Tag("[plain]")] | Annotated[SideInformationPolicy, Tag("[keys]")], Discriminator(how_written)
]
PEOPLE = "people"
"""The column of a file of side information beside those of the attributes."""
_MOST_PEOPLE = 10**12
OWN_POPULATION = "population"
"""The side information that is assumed unless a file is named: the numbers of people in the log."""


class Policy(Part):
    """What is promised: to the people in the log (privacy) and to the reader (fidelity)."""

    max_confidence: PositiveShare = 0.75
    minimum_group_size: Count = 50
    unattainable: Literal["withhold", "coarsen", "flatten"] = "withhold"
    digits: Annotated[int, Field(ge=1, le=6, strict=True)] = 3
    population_rounding: Count = 5
    side_information: _SideInformation = OWN_POPULATION
    mechanism: str

    _known_from: SideInformationPolicy | None = PrivateAttr(default=None)

    @property
    def known_from(self) -> SideInformationPolicy | None:
        """Where a reader knows the numbers of people from; None where it is from the report."""
        return self._known_from

    @property
    def files(self) -> tuple[RegionFile[Any], ...]:
        """The files of decision regions that the policy names."""
        return () if self._known_from is None else (self._known_from._region_file,)

    @property
    def assumed(self) -> str:
        """What side information is assumed, as readers see it."""
        source = self._known_from
        return OWN_POPULATION if source is None else source.title or Path(source.file).name

    def known(self, regions: Iterable[tuple[str, ...]]) -> IntArray | None:
        """Give the people of each decision region as a reader knows them from a file; None where no file is named.

        Parameters
        ----------
        regions
            (n,) display values of every attribute, public ones first.

        Returns
        -------
        (n,) people; 0 where the file has no row.
        """
        if self._known_from is None:
            return None
        rows = self._known_from._region_file.read().rows
        return np.array([rows.get(values, 0) for values in regions], dtype=np.int64)

    @property
    def ceiling(self) -> float:
        """``max_confidence`` down to the printed digits: what is stated is rounded up and must not exceed it."""
        return float(floored(self.max_confidence, digits=self.digits))

    @model_validator(mode="after")
    def _with_side_information(self) -> Policy:
        if self.side_information == OWN_POPULATION:
            return self
        source = self.side_information
        self._known_from = SideInformationPolicy(file=source) if isinstance(source, str) else source
        if self.assumed == OWN_POPULATION:
            raise at("side_information", f"'{OWN_POPULATION}' means the log's own: give the file another title")
        if self.unattainable == "coarsen":
            what = "unattainable: coarsen with a file of side information"
            raise at("side_information", str(not_yet(what, f"use {OWN_POPULATION}")))
        return self


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
