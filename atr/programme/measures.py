"""What the programme file says of fairness and influence: what is compared, and where verdicts are drawn."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, field_validator

from atr.core.fields import Part, PositiveShare, Share, Text

ALPHA = (0.001, 0.5)
"""Between what the level of tests and intervals may lie."""


class AttributeDistance(Part):
    """How far two values of an attribute are apart, for individual fairness; its weight is 0 where it is protected."""

    kind: Literal["nominal", "ordinal", "numeric"] = "nominal"
    weight: Annotated[float, Field(ge=0, le=1000, strict=True)] | None = None


class IndividualPolicy(Part):
    """When people count as alike, and how alike their outcomes must then be."""

    distances: dict[Text, AttributeDistance] = Field(default_factory=dict)
    measures: tuple[Literal["total_variation", "relative"], ...] = ("total_variation",)
    tolerance: Share = 0.0

    @field_validator("measures")
    @classmethod
    def _each_once(cls, measures: tuple[str, ...]) -> tuple[str, ...]:
        if not measures:
            raise ValueError("name at least one measure: total_variation, relative, or both")
        if len(set(measures)) < len(measures):
            raise ValueError("a measure stands twice")
        return measures


BY_PUBLISHER = "chosen by the publisher"
DEFAULT_KEPT = "the software’s default, which the publisher kept"
FOUR_FIFTHS = "29 CFR 1607.4(D), the four-fifths rule of the US Uniform Guidelines on Employee Selection Procedures"


class FairnessPolicy(Part):
    """The lines that verdicts are drawn at, with where they come from, and what is compared beside attributes."""

    four_fifths: PositiveShare = 0.8
    four_fifths_origin: Text | None = None
    parity_tolerance: Share = 0.05
    parity_tolerance_origin: Text | None = None
    intersections: tuple[Annotated[tuple[Text, ...], Field(min_length=2)], ...] = ()
    individual: IndividualPolicy | None = None
    alpha: Annotated[float, Field(ge=ALPHA[0], le=ALPHA[1], strict=True)] = 0.05

    @property
    def origin_of_four_fifths(self) -> str:
        """Where the line of the p%-rule comes from."""
        return self.four_fifths_origin or (FOUR_FIFTHS if self.four_fifths == 0.8 else BY_PUBLISHER)

    @property
    def origin_of_parity_tolerance(self) -> str:
        """Where the line of parity comes from."""
        return self.parity_tolerance_origin or chosen_by(FairnessPolicy, "parity_tolerance", self.parity_tolerance)

    @field_validator("intersections")
    @classmethod
    def _each_once(cls, intersections: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        seen: set[frozenset[str]] = set()
        for names in intersections:
            if len(set(names)) < len(names):
                raise ValueError(f"an attribute stands twice in {', '.join(names)}")
            if frozenset(names) in seen:
                raise ValueError(f"{', '.join(names)} stands there twice")
            seen.add(frozenset(names))
        return intersections


def chosen_by(part: type[BaseModel], key: str, value: object) -> str:
    """Who chose a setting: the publisher, or the software whose default it is."""
    return DEFAULT_KEPT if value == part.model_fields[key].default else BY_PUBLISHER


class InfluencePolicy(Part):
    """Sets of inputs whose joint influence is measured, beside that of each input."""

    sets: tuple[tuple[Text, ...], ...] = ()

    @field_validator("sets")
    @classmethod
    def _of_several(cls, sets: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        for names in sets:
            if len(names) < 2:
                raise ValueError("a set is of two attributes at least: the influence of each one is measured anyway")
            if len(set(names)) < len(names):
                raise ValueError(f"an attribute stands twice in the set {', '.join(names)}")
        if len({frozenset(names) for names in sets}) < len(sets):
            raise ValueError("a set stands twice")
        return sets
