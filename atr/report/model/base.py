"""What the parts of the public report are made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from atr.measures import INDIVIDUAL, MEASURES

OutcomeDistance = Literal["total_variation", "relative"]


def _registered(measure: str) -> str:
    if measure != INDIVIDUAL and measure not in MEASURES:
        raise ValueError(f"is not one of {', '.join((*MEASURES, INDIVIDUAL))}")
    return measure


Measure = Annotated[
    str, AfterValidator(_registered), WithJsonSchema({"type": "string", "enum": [*MEASURES, INDIVIDUAL]})
]
"""The name of a measure."""

People = Annotated[int, Field(ge=0, le=10**12)]
Share = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=-1, le=1)]

_Value = TypeVar("_Value")


def _nothing(value: Any) -> bool:
    return value is None or value == () or value == {} or value == ""


Sparse = Annotated[_Value, Field(exclude_if=_nothing)]
"""A field that is left out of the JSON where there is nothing in it."""


class Frozen(BaseModel):
    """A part of the report."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)

    def __copy__(self) -> Self:
        """Copy the fields alone: what is cached follows from them, and a copy may have others."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


class Below(Frozen):
    """A number of people that is told as under another one alone."""

    below: Annotated[int, Field(ge=2, le=10**9)]


Population = People | Below
"""People of a decision region, as printed."""


def people_of(population: int | Below) -> int:
    """The number of people to calculate with: a printed one, or half of that which it is under."""
    return population if isinstance(population, int) else population.below // 2
