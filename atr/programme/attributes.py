"""The attributes of the programme file: what is known of people, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from math import isfinite
from typing import Annotated, Any, Literal

from babel.numbers import format_decimal
from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PrivateAttr,
    StrictBool,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from atr.core.display_text import ANY, UNKNOWN, printable
from atr.core.fields import Part, PositiveShare, RawText, Text, how_written, refuse
from atr.programme.hierarchies import Hierarchy
from atr.programme.words import GroupPhrases, PerLanguage, in_languages

_BINS = {
    "en": ("below {}", "{} to below {}", "{} and more"),
    "de": ("unter {}", "{} bis unter {}", "{} und mehr"),
}
"""The lowest bin, those between, and the highest, by the programme's language."""


class NamedSet(Part):
    """Values of a sensitive attribute that are protected together, if need be under a ceiling of their own."""

    values: Annotated[tuple[Text, ...], Field(min_length=1)]
    max_confidence: PositiveShare | None = None


_Set = Annotated[
    Annotated[Annotated[tuple[Text, ...], Field(min_length=1)], Tag("[plain]")] | Annotated[NamedSet, Tag("[keys]")],
    Discriminator(how_written),
]


def _without_boolean(value: Any) -> Any:
    """What YAML makes of an unquoted yes or no, as it was written."""
    return ("yes" if value else "no") if isinstance(value, bool) else value


_UsedBySystem = Annotated[
    Literal["yes", "no", "unknown"],
    BeforeValidator(_without_boolean),
    WithJsonSchema({"enum": ["yes", "no", "unknown", True, False]}),
]


def _any_of(schema: dict[str, Any]) -> None:
    """Let phrases by language fit the schema of phrases by value too, which has no way to exclude languages."""
    schema["anyOf"][0]["anyOf"] = schema["anyOf"][0].pop("oneOf")


class Reference(Part):
    """By which rule the group is chosen that others are compared with."""

    by: Literal["highest", "largest"]


class Attribute(Part):
    """One attribute of people: what a stranger may know of it, whether the system reads it, and how it is shown."""

    role: Literal["public", "sensitive"]
    title: Text | None = None
    protected: StrictBool = False
    legitimate: StrictBool = False
    reference: (
        Annotated[Annotated[Text, Tag("[plain]")] | Annotated[Reference, Tag("[keys]")], Discriminator(how_written)]
        | None
    ) = None
    values: dict[RawText, Text] | None = None
    bins: tuple[Annotated[float, Field(strict=True)], ...] | None = None
    labels: tuple[Text, ...] | None = None
    unit: Text | None = None
    hierarchy: Text | None = None
    max_confidence: PositiveShare | None = None
    sets: dict[Text, _Set] | None = None
    used_by_system: _UsedBySystem = "unknown"
    group_phrase: Annotated[PerLanguage[GroupPhrases] | None, Field(json_schema_extra=_any_of)] = None

    _coarser: Hierarchy | None = PrivateAttr(default=None)
    _language: str = PrivateAttr(default="en")

    @field_validator("bins")
    @classmethod
    def _rising(cls, bins: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if bins is not None and (not bins or not all(map(isfinite, bins)) or any(b <= a for a, b in pairwise(bins))):
            raise ValueError("the edges must rise from one to the next, as in bins: [1, 4, 11]")
        return bins

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> Attribute:
        self._language = (info.context or {}).get("language", "en")
        bins, labels, known, named = self.bins, self.labels or (), self.categories, self.named_reference
        sensitive = self.role == "sensitive"
        refuse(
            (labels and bins is None, "labels name bins, and there are none", "labels"),
            (
                bins is not None and self.values is not None,
                "an attribute has either bins or values, not both",
                "values",
            ),
            (
                labels and len(labels) != len(bins or ()) + 1,
                f"{len(bins or ()) + 1} bins need as many labels, not {len(labels)}",
                "labels",
            ),
            (self.unit is not None and bins is None, "a unit is of bins, and there are none", "unit"),
            (len(set(labels)) < len(labels), "two bins have the same label", "labels"),
            (
                self.reference is not None and not self.protected,
                "a reference is for a protected attribute: add protected: true",
                "reference",
            ),
            (
                named is not None and known and named not in known,
                f"'{self.reference}' is not one of its values ({', '.join(known)})",
                "reference",
            ),
            (
                self.hierarchy is not None and sensitive,
                "a hierarchy is of a public attribute: sensitive values are never merged",
                "hierarchy",
            ),
            (
                self.sets is not None and not sensitive,
                "protected sets are of a sensitive attribute",
                "sets",
            ),
            (
                self.max_confidence is not None and not sensitive,
                "a ceiling is of what may be inferred of a sensitive attribute",
                "max_confidence",
            ),
        )
        strange = sorted(self.in_phrases - {*known, UNKNOWN}) if known and not self.hierarchy else []
        refuse((strange, f"'{(*strange, '')[0]}' is not one of its values ({', '.join(known)})", "group_phrase"))
        for name, of_set in self.named.items():
            strangers = [value for value in of_set.values if known and value not in known]
            refuse(
                (strangers, f"'{(*strangers, '')[0]}' is not one of its values ({', '.join(known)})", ("sets", name)),
                (name in known, "is the name of a value too: give the set another name", ("sets", name)),
            )
        return self

    @property
    def named_reference(self) -> str | None:
        """The display value that others are compared with, where one is named."""
        return self.shown(self.reference) if isinstance(self.reference, str) else None

    @property
    def reference_rule(self) -> Literal["highest", "largest"]:
        """How the reference is chosen where none is named, or nobody announced has its value."""
        return self.reference.by if isinstance(self.reference, Reference) else "highest"

    @property
    def named(self) -> dict[str, NamedSet]:
        """The named protected sets, however they are written."""
        return {
            name: of_set if isinstance(of_set, NamedSet) else NamedSet(values=of_set)
            for name, of_set in (self.sets or {}).items()
        }

    @property
    def ceilings(self) -> dict[str | None, float]:
        """Its own ceilings on confidence: of each single value under None, and of each named set under its name.

        A named set that has no ceiling is under that of the single values; what has none at all is left out.
        """
        found: dict[str | None, float | None] = {None: self.max_confidence}
        found |= {name: of_set.max_confidence or self.max_confidence for name, of_set in self.named.items()}
        return {name: own for name, own in found.items() if own is not None}

    @property
    def categories(self) -> tuple[str, ...]:
        """The declared display names, in order; empty where the log's own values are shown."""
        if self.bins is not None:
            return self.labels or _bin_names(self.bins, self.unit or "", self._language)
        return tuple(dict.fromkeys((self.values or {}).values()))

    def positions(self, kind: Literal["nominal", "ordinal", "numeric"]) -> dict[str, float]:
        """Give the places of its declared values on a scale: their ranks, or the middles of their bins.

        An open bin is taken to be as wide as the one beside it; of two open bins each is 1 wide.

        Parameters
        ----------
        kind
            ``ordinal`` gives ranks from 0, ``numeric`` middles of bins in their unit, ``nominal`` nothing.

        Returns
        -------
        Display value to place, in order, without "unknown"; empty where there is no scale.
        """
        known = [value for value in self.categories if value != UNKNOWN] if kind != "nominal" else []
        if kind == "ordinal":
            return {value: float(rank) for rank, value in enumerate(known)}
        if self.bins is None:
            return {}
        widths = [b - a for a, b in pairwise(self.bins)] or [1.0]
        edges = [self.bins[0] - widths[0], *self.bins, self.bins[-1] + widths[-1]]
        middles = dict(zip(self.categories, ((a + b) / 2 for a, b in pairwise(edges)), strict=True))
        return {value: middles[value] for value in known}

    @property
    def coarser(self) -> Hierarchy | None:
        """The hierarchy of its values, where one is declared."""
        return self._coarser

    def shown(self, raw: str) -> str:
        """The display name of a raw value."""
        return (self.values or {}).get(raw, printable(raw))

    @property
    def in_phrases(self) -> set[str]:
        """The display values that have a group phrase of their own, in some language."""
        given: dict[str, str | dict[str, str]] = in_languages(self.group_phrase, self._language)
        return {self.shown(value) for phrases in given.values() if isinstance(phrases, dict) for value in phrases}

    def group_phrases(self, values: Iterable[str]) -> dict[str, dict[str, str]]:
        """Give what people who have a value are called.

        Parameters
        ----------
        values
            Display values.

        Returns
        -------
        By language and value, with ``{people}`` where the noun, or what else is said of the people, goes. A phrase for
        every value is not for "unknown".
        """
        values = [*values]
        found: dict[str, dict[str, str]] = {}
        given: dict[str, str | dict[str, str]] = in_languages(self.group_phrase, self._language)
        for language, phrases in given.items():
            if isinstance(phrases, str):
                own = dict.fromkeys((value for value in values if value != UNKNOWN), phrases)
            else:
                own = {self.shown(value): phrase for value, phrase in phrases.items()}
            found[language] = {value: own[value].replace("{value}", value) for value in values if value in own}
        return {language: phrases for language, phrases in found.items() if phrases}

    def in_order(self, shown: Iterable[str]) -> list[str]:
        """Put display values in the order of reports.

        Parameters
        ----------
        shown
            Display values, in any order; some may occur again.

        Returns
        -------
        Each once: declared values as declared, others by code point, coarser ones of the hierarchy, "unknown", and last
        what stands for none of them.
        """
        declared = {value: i for i, value in enumerate(self.categories)}
        coarse = {value: i for i, value in enumerate(self._coarser.coarse)} if self._coarser else {}

        def place(value: str) -> tuple[bool, bool, int, int, str]:
            return value == ANY, value == UNKNOWN, declared.get(value, len(declared)), coarse.get(value, -1), value

        return sorted(set(shown), key=place)


@lru_cache
def _bin_names(edges: tuple[float, ...], unit: str, language: str) -> tuple[str, ...]:
    lowest, between, highest = _BINS[language]
    e = [format_decimal(Decimal(repr(x)), locale=language, decimal_quantization=False) for x in edges]
    with_unit = [f"{x} {unit}".rstrip() for x in e]
    middle = [between.format(a, b) for a, b in zip(e, with_unit[1:], strict=False)]
    return (lowest.format(with_unit[0]), *middle, highest.format(with_unit[-1]))
