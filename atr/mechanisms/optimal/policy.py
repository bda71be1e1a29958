"""The optimal mechanism's part of the policy: how far announced chances may lie from the true ones.

Limits declared for single regions are a second thing that a report tells, beside the announced chances, and must not be
fitted to the decisions: they are to be set beforehand, and are coarse.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import PrivateAttr, model_validator

from atr.core.fidelity import Alpha, Delta, Fidelity, Objective, Ranges
from atr.core.fields import FaultAtError, Part, PositiveShare, Share, Text, not_yet
from atr.core.policy import OWN_POPULATION, Policy
from atr.core.region_table import RegionFile
from atr.core.tolerances import PROBABILITY_TOLERANCE
from atr.errors import ProgrammeError
from atr.mechanisms.optimal.side_information import SideInformation, SideInformationPolicy

ENDS = ("lower", "upper")
"""The columns of a file of ranges beside those of the attributes."""

STEP = 0.05
"""Limits are multiples of it. They are printed and hold the true chances: fine ones would give these away."""


def limits(fields: dict[str, str], where: str) -> tuple[float, float]:
    """Read the smallest and largest chance of the positive outcome from a row of a file of ranges.

    Parameters
    ----------
    fields
        The row's text by column.
    where
        Where the row is, for messages.

    Returns
    -------
    Two probabilities, multiples of ``STEP``.

    Raises
    ------
    ProgrammeError
        If either is no such number, or the smallest is above the largest.
    """
    lower, upper = (_chance(fields[name], name, where=where) for name in ENDS)
    if lower > upper:
        raise ProgrammeError(f"lower, {lower}, is above upper, {upper}", where=where)
    return lower, upper


def _chance(text: str, name: str, *, where: str) -> float:
    try:
        chance = float(text)
    except ValueError:
        chance = -1.0
    if not 0 <= chance <= 1 or "_" in text:
        raise ProgrammeError(f"{name} must be a number from 0 to 1, not '{text}'", where=where)
    step = round(chance / STEP)
    if abs(chance - step * STEP) > PROBABILITY_TOLERANCE:
        raise ProgrammeError(
            f"{name} must be a multiple of {STEP}, not '{text}'",
            where=where,
            hint="Limits are printed. Finer ones, fitted to the true chances, would tell them.",
        )
    return round(step * STEP, 2)


class FidelityPolicy(Part):
    """How far an announced chance may lie from the true one: exactly one of its keys."""

    delta: Share | None = None
    alpha: PositiveShare | None = None
    ranges: Text | None = None

    _file: RegionFile[tuple[float, float]] = PrivateAttr()

    @model_validator(mode="after")
    def _one(self) -> FidelityPolicy:
        if [self.delta, self.alpha, self.ranges].count(None) != 2:
            raise ValueError("give exactly one of delta, alpha and ranges")
        keys, instead = ("fidelity", "ranges"), "use delta or alpha"
        self._file = RegionFile(self.ranges or "", keys, "file of ranges", ENDS, limits, instead, fits_log=True)
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
    def file(self) -> RegionFile[tuple[float, float]] | None:
        """The file of the declared ranges, where there are such."""
        return None if self.ranges is None else self._file

    def model(self, regions: Iterable[tuple[str, ...]]) -> Fidelity:
        """Make the promise about some decision regions, as the mechanism takes it.

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
        ends = self._file.read().require(regions, "that the report announces")
        return Ranges([lower for lower, _ in ends], [upper for _, upper in ends])


class OptimalPolicy(Policy):
    """The policy of the optimal mechanism."""

    mechanism: Literal["optimal"] = "optimal"
    group_rates: Literal["exact", "free"] = "exact"
    fidelity: FidelityPolicy = FidelityPolicy(delta=0.9)
    objective: Objective = "privacy"
    whole_numbers: Literal["refuse", "state"] = "refuse"
    side_information: SideInformation = OWN_POPULATION

    _known_from: SideInformationPolicy | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _with_side_information(self) -> OptimalPolicy:
        if self.side_information == OWN_POPULATION:
            return self
        source = self.side_information
        self._known_from = SideInformationPolicy(file=source) if isinstance(source, str) else source
        if self.assumed == OWN_POPULATION:
            raise FaultAtError(
                "side_information", f"'{OWN_POPULATION}' means the log's own: give the file another title"
            )
        if self.unattainable == "coarsen":
            what = "unattainable: coarsen with a file of side information"
            raise FaultAtError("side_information", str(not_yet(what, f"use {OWN_POPULATION}")))
        return self

    @property
    def census(self) -> RegionFile[int] | None:
        """The file that a reader knows the numbers of people from; None where it is the report."""
        return None if self._known_from is None else self._known_from.region_file

    @property
    def assumed(self) -> str:
        """What side information is assumed, as readers see it."""
        source = self._known_from
        return super().assumed if source is None else source.title or Path(source.file).name

    @property
    def files(self) -> tuple[RegionFile[Any], ...]:
        """The files of decision regions that the policy names."""
        return super().files if self.fidelity.file is None else (self.fidelity.file, *super().files)
