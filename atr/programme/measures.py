"""What the programme file says of fairness and influence: what is compared, and where verdicts are drawn."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field

from atr.core.fields import Part, PositiveShare, Share, Text

ALPHA = (0.001, 0.5)
"""Smallest and largest level of tests and intervals."""

T = TypeVar("T", bound="str | tuple[str, ...]")


def distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    """Check that no text, or set of texts in whatever order, occurs twice.

    Parameters
    ----------
    values
        Texts, or tuples of texts.

    Returns
    -------
    The values as they are.

    Raises
    ------
    ValueError
        Naming the first that occurs again.
    """
    seen: set[str | frozenset[str]] = set()
    for value in values:
        key = value if isinstance(value, str) else frozenset(value)
        if key in seen:
            raise ValueError(f"'{value if isinstance(value, str) else ', '.join(value)}' stands there twice")
        seen.add(key)
    return values


AttributeSets = Annotated[
    tuple[Annotated[tuple[Text, ...], Field(min_length=2), AfterValidator(distinct)], ...], AfterValidator(distinct)
]
"""Sets of two or more attributes, each once."""


class AttributeDistance(Part):
    """How far two values of an attribute are apart, for individual fairness; its weight is 0 where it is protected."""

    kind: Literal["nominal", "ordinal", "numeric"] = "nominal"
    weight: Annotated[float, Field(ge=0, le=1000, strict=True)] | None = None


def _some(measures: tuple[str, ...]) -> tuple[str, ...]:
    if not measures:
        raise ValueError("name at least one measure: total_variation, relative, or both")
    return distinct(measures)


class IndividualPolicy(Part):
    """When people count as alike, and how alike their outcomes must then be."""

    distances: dict[Text, AttributeDistance] = Field(default_factory=dict)
    measures: Annotated[tuple[Literal["total_variation", "relative"], ...], AfterValidator(_some)] = (
        "total_variation",
    )
    tolerance: Share = 0.0


class FairnessPolicy(Part):
    """The lines that verdicts are drawn at, with where they come from, and what is compared beside attributes."""

    four_fifths: PositiveShare = 0.8
    four_fifths_origin: Text | None = None
    parity_tolerance: Share = 0.05
    parity_tolerance_origin: Text | None = None
    intersections: AttributeSets = ()
    individual: IndividualPolicy | None = None
    alpha: Annotated[float, Field(ge=ALPHA[0], le=ALPHA[1], strict=True)] = 0.05


class InfluencePolicy(Part):
    """Sets of inputs whose joint influence is measured, beside that of each input."""

    sets: AttributeSets = ()
