"""The optimal mechanism's part of the policy: how far announced chances may lie from the true ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import PrivateAttr, model_validator

from atr.core.fidelity import Alpha, Delta, Fidelity, Ranges
from atr.core.fields import Part, PositiveShare, Share, Text
from atr.core.policy import Policy
from atr.core.region_table import RegionTable


class FidelityPolicy(Part):
    """How far an announced chance may lie from the true one: exactly one of its keys."""

    delta: Share | None = None
    alpha: PositiveShare | None = None
    ranges: Text | None = None

    _table: RegionTable[tuple[float, float]] | None = PrivateAttr(default=None)

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
    def table(self) -> RegionTable[tuple[float, float]] | None:
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
        ends = self._table.require(regions, "that the report announces")
        return Ranges([lower for lower, _ in ends], [upper for _, upper in ends])


class OptimalPolicy(Policy):
    """The policy of the optimal mechanism."""

    mechanism: Literal["optimal"] = "optimal"
    group_rates: Literal["exact", "free"] = "exact"
    fidelity: FidelityPolicy = FidelityPolicy(delta=0.9)
    objective: Literal["privacy", "fidelity"] = "privacy"

    @property
    def promise(self) -> dict[str, float | None]:
        """The kind of promise and its level."""
        return {self.fidelity.kind: self.fidelity.level}
