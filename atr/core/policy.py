"""What every mechanism is bound by: the ceiling, who may be announced at all, and how numbers are printed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from atr.core.arrays import IntArray
from atr.core.fields import Count, Part, PositiveShare
from atr.core.protected import floored
from atr.core.region_table import RegionFile

OWN_POPULATION = "population"
"""The side information that is assumed unless a file is named: the numbers of people in the log."""


class Policy(Part):
    """What is promised: to the people in the log (privacy) and to the reader (fidelity)."""

    max_confidence: PositiveShare = 0.75
    minimum_group_size: Count = 50
    unattainable: Literal["withhold", "coarsen", "flatten"] = "withhold"
    digits: Annotated[int, Field(ge=1, le=6, strict=True)] = 3
    population_rounding: Count = 5
    mechanism: str

    @classmethod
    def own_keys(cls) -> list[str]:
        """The keys that no policy has but that of this mechanism, in their order."""
        return [key for key in cls.model_fields if key not in Policy.model_fields]

    @property
    def census(self) -> RegionFile[int] | None:
        """The file that a reader knows the numbers of people from; None where it is the report."""
        return None

    @property
    def files(self) -> tuple[RegionFile[Any], ...]:
        """The files of decision regions that the policy names."""
        return () if self.census is None else (self.census,)

    @property
    def assumed(self) -> str:
        """What side information is assumed, as readers see it."""
        return OWN_POPULATION

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
        if self.census is None:
            return None
        rows = self.census.read().rows
        return np.array([rows.get(values, 0) for values in regions], dtype=np.int64)

    @property
    def ceiling(self) -> float:
        """``max_confidence`` down to the printed digits: what is stated is rounded up and must not exceed it."""
        return float(floored(self.max_confidence, digits=self.digits))
