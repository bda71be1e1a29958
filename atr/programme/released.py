"""What records are released of a log, and what they must not tell: the part ``sanitise`` of the programme file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StrictBool, field_validator, model_validator

from atr.core.fields import Part, Text, refuse
from atr.programme.attributes import Attribute
from atr.programme.measures import distinct

Bound = Literal["max_ldp", "max_log_lift"]
LARGEST_ALPHA = 0.999
"""Of an alpha that the programme gives; alpha has three digits."""
Nats = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]


class ReleasedRecords(Part):
    """A file of records: the public attributes that are not hidden, and the sanitised column."""

    column: Text
    numeric: StrictBool | None = None
    hide: Annotated[tuple[Text, ...], Field(min_length=1)]
    within: Literal["public", "none"] = "public"
    max_log_lift: Nats | None = None
    max_ldp: Nats | None = None
    alpha: Annotated[float, Field(gt=0, le=1, strict=True)] | None = None
    alpha_by: Literal["release", "group"] = "release"
    channel: Literal["markov", "best"] = "markov"
    reader_knows_x: Literal["never"] | None = None
    distance: Literal["hamming", "ordinal", "squared"] = "hamming"
    seed: Text | None = None

    @field_validator("hide")
    @classmethod
    def _once(cls, hide: tuple[str, ...]) -> tuple[str, ...]:
        distinct(hide)
        return hide

    @model_validator(mode="after")
    def _consistent(self) -> ReleasedRecords:
        bounds = {"max_log_lift": self.max_log_lift, "max_ldp": self.max_ldp}
        refuse(
            *(
                (bound == 0, "no alpha below 1 meets 0: the column would tell nothing", key)
                for key, bound in bounds.items()
            ),
            (
                self.alpha is None and not self.bounds,
                "says neither a bound (max_log_lift, max_ldp, in nats) nor alpha",
                "max_log_lift",
            ),
            (
                self.alpha is not None and self.bounds,
                "is chosen by the bounds where there are some: leave out one or the other",
                "alpha",
            ),
            (
                self.alpha is not None and self.alpha > LARGEST_ALPHA,
                f"is at most {LARGEST_ALPHA}: at 1 the column would tell nothing",
                "alpha",
            ),
            (
                self.alpha is not None and "alpha_by" in self.model_fields_set,
                "is for bounds: alpha is the same for all groups. Leave out one or the other",
                "alpha_by",
            ),
            (
                self.channel == "best" and self.reader_knows_x is None,
                "looks at what is hidden: whoever knows a person's own value learns of it from a change. If no reader "
                "can know the column or what determines it, add reader_knows_x: never; otherwise take markov",
                "channel",
            ),
            (
                self.channel == "markov" and self.reader_knows_x is not None,
                "is for channel: best. The Markov channel also holds for readers who know a person's own value",
                "reader_knows_x",
            ),
            (
                self.channel == "best" and self.distance == "squared" and not self.numeric,
                "is for numbers: add numeric: true to release numbers, or take ordinal or hamming",
                "distance",
            ),
            (
                self.channel == "markov" and self.distance != "hamming",
                "is for channel: best. The Markov channel draws anew from all values",
                "distance",
            ),
        )  # fmt: skip
        return self

    @property
    def bounds(self) -> dict[Bound, float]:
        """The bounds on what is told, in nats, by their names in :func:`atr.sanitise.choose_alpha`."""
        given: dict[Bound, float | None] = {"max_log_lift": self.max_log_lift, "max_ldp": self.max_ldp}
        return {name: bound for name, bound in given.items() if bound is not None}

    @property
    def terms(self) -> str:
        """What is released, and what is promised of it: all that is said here but where the seed is."""
        return repr(self.model_copy(update={"seed": None}))


def check_released(released: ReleasedRecords, attributes: Mapping[str, Attribute], outcome: str) -> None:
    """Check that the rest of a programme fits its released records.

    Parameters
    ----------
    released
        The part ``sanitise``.
    attributes
        Of the programme.
    outcome
        The column of the log's outcome.

    Raises
    ------
    FaultAtError
        If a column is unknown, released and hidden, or a number and it is not said how it is released.
    """
    known, column = ", ".join(attributes), released.column
    of = attributes.get(column)
    binned = of is not None and of.bins is not None
    refuse(
        *(
            (
                name == column,
                f"'{name}' is the column that is released: it cannot be hidden too",
                ("sanitise", "hide"),
            )
            for name in released.hide
        ),
        *(
            (name not in attributes, f"'{name}' is not one of the attributes ({known})", ("sanitise", "hide"))
            for name in released.hide
        ),
        (
            of is None and column != outcome,
            f"'{column}' is neither the log's outcome, '{outcome}', nor one of the attributes ({known})",
            ("sanitise", "column"),
        ),
        (
            binned and released.numeric is None,
            f"'{column}' is a number: add numeric: true to release numbers, or numeric: false to release its bins",
            ("sanitise", "column"),
        ),
        (
            released.numeric is True and not binned,
            f"'{column}' is read as texts: numbers are attributes with bins. Add bins to it, or leave this out",
            ("sanitise", "numeric"),
        ),
    )
