"""What the parts of the programme file are made of."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from atr.core.display_text import cleaned, printable


def not_yet(what: str, instead: str) -> ValueError:
    """Make the error for a key that is known but not supported in this version."""
    return ValueError(f"{what} is not supported yet; {instead}")


Text = Annotated[str, Field(min_length=1), AfterValidator(printable)]
OptionalText = Annotated[str, AfterValidator(printable)]
RawText = Annotated[str, AfterValidator(cleaned)]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
PositiveShare = Annotated[float, Field(gt=0, le=1, strict=True)]
Count = Annotated[int, Field(ge=1, strict=True)]


class Part(BaseModel):
    """Keys that belong together; an unknown one is a fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def how_written(value: Any) -> str:
    """Tell how a setting is given: ``[keys]``, with values, or as a ``[plain]`` value."""
    return "[keys]" if isinstance(value, dict | BaseModel) else "[plain]"


class FaultAtError(ValueError):
    """A fault of one key among those that are validated together; ``more`` leads to one that lies further in."""

    def __init__(self, key: str, message: str, *more: str) -> None:
        super().__init__(message)
        self.keys = (key, *more)


def refuse(*faults: tuple[object, str, str | tuple[str, ...]]) -> None:
    """Raise the first fault that applies.

    Parameters
    ----------
    faults
        For each whether it applies, what is wrong, and the key, or the keys that lead to it.

    Raises
    ------
    FaultAtError
        If one applies.
    """
    for applies, message, keys in faults:
        if applies:
            first, *more = (keys,) if isinstance(keys, str) else keys
            raise FaultAtError(first, message, *more)
