"""What the parts of the public report are made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Measure = Literal["statistical_parity", "conditional_statistical_parity", "p_percent_rule", "individual_fairness"]
OutcomeDistance = Literal["total_variation", "relative"]

People = Annotated[int, Field(ge=0, le=10**12)]
Share = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=-1, le=1)]

_Value = TypeVar("_Value")


def _nothing(value: Any) -> bool:
    return value is None or value == () or value == {}


Sparse = Annotated[_Value, Field(exclude_if=_nothing)]
"""A field that is left out of the JSON where there is nothing in it."""


class Frozen(BaseModel):
    """A part of the report."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)
