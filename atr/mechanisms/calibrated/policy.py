"""The part of the policy that only the calibrated mechanism has."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from atr.core.policy import Policy
from atr.core.tolerances import GRID_TOLERANCE


def _whole_number_of_steps(step: float) -> float:
    if abs(1 / step - round(1 / step)) > GRID_TOLERANCE:
        raise ValueError(f"must fit into 1 a whole number of times, as 0.05 does, not {step}")
    return step


class CalibratedPolicy(Policy):
    """The policy of the calibrated mechanism: the grid of its limits, and how many rules must be left."""

    mechanism: Literal["calibrated"] = "calibrated"
    step: Annotated[float, Field(ge=0.01, le=0.5), AfterValidator(_whole_number_of_steps)] = 0.05
    least: Annotated[int, Field(ge=1, le=1000, strict=True)] = 3

    @property
    def steps(self) -> int:
        """Of the grid, from a chance of 0 to 1."""
        return round(1 / self.step)
