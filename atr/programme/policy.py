"""The policy of the programme file: what is promised, and to whom."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Discriminator, Field, PrivateAttr, Tag, model_validator

from atr.core.fidelity import Alpha, Delta, Fidelity
from atr.core.protected import floored
from atr.programme.fields import Count, Part, PositiveShare, Share, Text, at, how_written, not_yet
from atr.programme.ranges import RangeTable
from atr.programme.side_information import SideInformation


class FidelityPolicy(Part):
    """How far an announced chance may lie from the true one: exactly one of its keys."""

    delta: Share | None = None
    alpha: PositiveShare | None = None
    ranges: Text | None = None

    _table: RangeTable | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _one(self) -> FidelityPolicy:
        if [self.delta, self.alpha, self.ranges].count(None) != 2:
            raise ValueError("give exactly one of delta, alpha and ranges")
        return self

    @property
    def kind(self) -> Literal["delta", "alpha", "ranges"]:
        """Which of the keys is given."""
        return "delta" if self.delta is not None else "alpha" if self.alpha is not None else "ranges"

    @property
    def level(self) -> float | None:
        """δ or α; None where every region has a range of its own."""
        return self.alpha if self.delta is None else self.delta

    @property
    def table(self) -> RangeTable | None:
        """The declared ranges, where there are such."""
        return self._table

    def model(self, regions: Iterable[tuple[str, ...]]) -> Fidelity:
        """The fidelity of some decision regions, as the mechanism takes it.

        Parameters
        ----------
        regions
            (n,) display values of every attribute, public ones first; looked at only where ranges are declared.

        Raises
        ------
        ProgrammeError
            If a region has no range.
        """
        if self.delta is not None:
            return Delta(self.delta)
        if self.alpha is not None:
            return Alpha(self.alpha)
        if self._table is None:
            raise ValueError("the file of ranges was not read: programmes with ranges are made by atr.programme.load")
        return self._table.of(regions)


class SideInformationPolicy(Part):
    """Where a reader knows the numbers of people from: a file, and what readers of the report know it as."""

    file: Text
    title: Text | None = None

    _table: SideInformation | None = PrivateAttr(default=None)


_SideInformation = Annotated[
    Annotated[Text, Tag("[plain]")] | Annotated[SideInformationPolicy, Tag("[keys]")], Discriminator(how_written)
]
OWN_POPULATION = "population"
"""The side information that is assumed unless a file is named: the numbers of people in the log."""


class Policy(Part):
    """What is promised: to the people in the log (privacy) and to the reader (fidelity)."""

    mechanism: Literal["optimal"] = "optimal"
    group_rates: Literal["exact", "free"] = "exact"
    fidelity: FidelityPolicy = FidelityPolicy(delta=0.9)
    objective: Literal["privacy", "fidelity"] = "privacy"
    max_confidence: PositiveShare = 0.75
    minimum_group_size: Count = 50
    unattainable: Literal["withhold", "coarsen", "flatten"] = "withhold"
    digits: Annotated[int, Field(ge=1, le=6, strict=True)] = 3
    population_rounding: Count = 5
    side_information: _SideInformation = OWN_POPULATION

    _known_from: SideInformationPolicy | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _withdrawn(cls, content: Any) -> Any:
        if isinstance(content, dict):
            for key, value in (("mechanism", "linear"), ("reader", None)):
                if key in content and value in (None, content[key]):
                    raise at(
                        key,
                        "the linear mechanism and its informed reader were withdrawn: who knows that counts are whole "
                        "numbers could be surer than they promised. Leave this line out",
                    )
        return content

    @property
    def known_from(self) -> SideInformationPolicy | None:
        """Where a reader knows the numbers of people from; None where it is from the report."""
        return self._known_from

    @property
    def assumed(self) -> str:
        """What side information is assumed, as readers see it."""
        source = self._known_from
        return OWN_POPULATION if source is None else source.title or Path(source.file).name

    def known(self, regions: Iterable[tuple[str, ...]]) -> npt.NDArray[np.int64] | None:
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
        return self._known_from._table.of(regions)

    @property
    def ceiling(self) -> float:
        """``max_confidence`` down to the printed digits: what is stated is rounded up and must not exceed it."""
        return float(floored(self.max_confidence, digits=self.digits))

    @property
    def promise(self) -> dict[str, float | None]:
        """The kind of promise and its level."""
        return {self.fidelity.kind: self.fidelity.level}

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
