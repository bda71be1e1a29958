"""What every mechanism is bound by: the ceiling, who may be announced at all, and how numbers are printed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Discriminator, Field, PrivateAttr, Tag, model_validator

from atr.core.arrays import IntArray
from atr.core.fields import Count, Part, PositiveShare, Text, at, how_written, not_yet
from atr.core.protected import floored
from atr.core.region_table import RegionTable


class SideInformationPolicy(Part):
    """Where a reader knows the numbers of people from: a file, and what readers of the report know it as."""

    file: Text
    title: Text | None = None

    _table: RegionTable[int] | None = PrivateAttr(default=None)


_SideInformation = Annotated[
    Annotated[Text, Tag("[plain]")] | Annotated[SideInformationPolicy, Tag("[keys]")], Discriminator(how_written)
]
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
    def assumed(self) -> str:
        """What side information is assumed, as readers see it."""
        source = self._known_from
        return OWN_POPULATION if source is None else source.title or Path(source.file).name

    def known(self, regions: Iterable[tuple[str, ...]]) -> IntArray | None:
        """How many people a reader knows of in (n,) decision regions from a file; None where no file is named.

        Parameters
        ----------
        regions
            (n,) display values of every attribute, public ones first.
        """
        if self._known_from is None:
            return None
        if self._known_from._table is None:
            raise ValueError("the file was not read: programmes with side information are made by atr.programme.load")
        rows = self._known_from._table.rows
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
