"""The programme file: one YAML file that describes one report series and everything that changes a number."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    StrictBool,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from atr.errors import ProgrammeError
from atr.fidelity import Alpha, Delta, Fidelity
from atr.hierarchies import Hierarchy
from atr.hierarchies import read as read_hierarchy
from atr.protected import Protection, floored
from atr.ranges import ENDS, RangeTable
from atr.ranges import read as read_ranges
from atr.shown import CONTROL as CONTROL
from atr.shown import UNKNOWN as UNKNOWN
from atr.shown import printable as printable
from atr.side_information import PEOPLE, SideInformation
from atr.side_information import read as read_side_information

MOST_OUTCOMES = 8
"""More make no readable report, and fairness looks at every set of outcomes."""

ALPHA = (0.001, 0.5)
"""Between what the level of tests and intervals may lie."""


def not_yet(what: str, instead: str) -> ValueError:
    """The answer to a key that is known but not supported in this version."""
    return ValueError(f"{what} is not supported yet; {instead}")


Text = Annotated[str, Field(min_length=1), AfterValidator(printable)]
OptionalText = Annotated[str, AfterValidator(printable)]
RawText = Annotated[str, Field()]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
PositiveShare = Annotated[float, Field(gt=0, le=1, strict=True)]
Count = Annotated[int, Field(ge=1, strict=True)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Publisher(_Part):
    """Who publishes the report and answers for it."""

    name: Text
    contact: Text
    website: OptionalText = ""


class System(_Part):
    """The system whose decisions the report describes."""

    name: Text
    version: OptionalText = ""
    purpose: OptionalText = ""
    human_review: OptionalText = ""
    appeal: OptionalText = ""


class Log(_Part):
    """Where the decisions are and what their columns mean."""

    source: Text
    missing: tuple[RawText, ...] = ("",)
    id: Text | None = None
    decided_at: Text | None = None
    outcome: Text
    outcomes: dict[Text, tuple[RawText, ...]] | None = None
    positive: Text
    max_quarantined: Share = 0.01
    coverage: Literal["sample", "whole"] = "sample"

    @field_validator("source")
    @classmethod
    def _supported(cls, source: str) -> str:
        if "://" in source or source.lower().endswith((".jsonl", ".jsonl.gz", ".ndjson", ".db", ".duckdb", ".sqlite")):
            raise not_yet("this kind of source", "use csv, csv.gz or parquet files")
        return source

    @field_validator("outcomes")
    @classmethod
    def _some_disjoint(cls, outcomes: dict[str, tuple[str, ...]] | None) -> dict[str, tuple[str, ...]] | None:
        if outcomes is None:
            return None
        if len(outcomes) < 2:
            raise ValueError("an outcome with one value decides nothing: name at least two outcomes")
        if len(outcomes) > MOST_OUTCOMES:
            raise ValueError(f"a report tells of {MOST_OUTCOMES} outcomes at most: group the values")
        seen: set[str] = set()
        for name, raw in outcomes.items():
            if not raw:
                raise ValueError(f"outcome '{name}' has no values")
            for value in raw:
                if value in seen:
                    raise ValueError(f"the value '{value}' stands in two outcomes")
                seen.add(value)
        return outcomes

    @model_validator(mode="after")
    def _positive_is_an_outcome(self) -> Log:
        if self.outcomes is not None and self.positive not in self.outcomes:
            raise _at("positive", f"'{self.positive}' is not one of the outcomes ({', '.join(self.outcomes)})")
        return self


class NamedSet(_Part):
    """Values of a sensitive attribute that are protected together, if need be under a ceiling of their own."""

    values: Annotated[tuple[Text, ...], Field(min_length=1)]
    max_confidence: PositiveShare | None = None


def _how_written(value: Any) -> str:
    return "[keys]" if isinstance(value, dict | BaseModel) else "[plain]"


_Set = Annotated[
    Annotated[Annotated[tuple[Text, ...], Field(min_length=1)], Tag("[plain]")] | Annotated[NamedSet, Tag("[keys]")],
    Discriminator(_how_written),
]


class Reference(_Part):
    """By which rule the group is chosen that others are compared with."""

    by: Literal["highest", "largest"]


class Attribute(_Part):
    """One input of the decision: what a stranger may know of it, and how it is shown."""

    role: Literal["public", "sensitive"]
    title: Text | None = None
    protected: StrictBool = False
    legitimate: StrictBool = False
    reference: (
        Annotated[Annotated[Text, Tag("[plain]")] | Annotated[Reference, Tag("[keys]")], Discriminator(_how_written)]
        | None
    ) = None
    values: dict[RawText, Text] | None = None
    bins: tuple[Annotated[float, Field(strict=True)], ...] | None = None
    labels: tuple[Text, ...] | None = None
    hierarchy: Text | None = None
    max_confidence: PositiveShare | None = None
    sets: dict[Text, _Set] | None = None

    _coarser: Hierarchy | None = PrivateAttr(default=None)

    @field_validator("bins", mode="before")
    @classmethod
    def _edges(cls, bins: Any) -> Any:
        if isinstance(bins, int) and not isinstance(bins, bool):
            raise not_yet("a number of quantile bins", "give the edges, as in bins: [1, 4, 11]")
        return bins

    @field_validator("bins")
    @classmethod
    def _sorted(cls, bins: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if bins is not None and (not bins or not all(map(isfinite, bins)) or any(b <= a for a, b in pairwise(bins))):
            raise ValueError("the edges must rise from one to the next, as in bins: [1, 4, 11]")
        return bins

    @model_validator(mode="after")
    def _consistent(self) -> Attribute:
        if self.labels is not None and self.bins is None:
            raise _at("labels", "labels name bins, and there are none")
        if self.bins is not None:
            if self.values is not None:
                raise _at("values", "an attribute has either bins or values, not both")
            if self.labels is not None and len(self.labels) != len(self.bins) + 1:
                raise _at("labels", f"{len(self.bins) + 1} bins need as many labels, not {len(self.labels)}")
            if self.labels is not None and len(set(self.labels)) != len(self.labels):
                raise _at("labels", "two bins have the same label")
        if self.reference is not None and not self.protected:
            raise _at("reference", "a reference is for a protected attribute: add protected: true")
        if self.hierarchy is not None and self.role != "public":
            raise _at("hierarchy", "a hierarchy is of a public attribute: sensitive values are never merged")
        known = self.categories
        if self.sets is not None and self.role != "sensitive":
            raise _at("sets", "protected sets are of a sensitive attribute")
        if self.max_confidence is not None and self.role != "sensitive":
            raise _at("max_confidence", "a ceiling is of what may be inferred of a sensitive attribute")
        for name, of_set in self.named.items():
            strangers = [value for value in of_set.values if known and value not in known]
            if strangers:
                raise _at("sets", f"'{strangers[0]}' is not one of its values ({', '.join(known)})", name)
            if name in known:
                raise _at("sets", "is the name of a value too: give the set another name", name)
        named = self.named_reference
        if named is not None and (self.bins or self.values) and named not in known:
            raise _at("reference", f"'{self.reference}' is not one of its values ({', '.join(known)})")
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
        """The ceilings of its own: of each value (None), and of each named set, which has that of the values or its."""
        found: dict[str | None, float | None] = {None: self.max_confidence}
        found |= {name: of_set.max_confidence or self.max_confidence for name, of_set in self.named.items()}
        return {name: own for name, own in found.items() if own is not None}

    @property
    def categories(self) -> tuple[str, ...]:
        """The declared display names, in order; empty where the log's own values are shown."""
        if self.bins is not None:
            return self.labels or _bin_names(self.bins)
        return tuple(dict.fromkeys((self.values or {}).values()))

    def positions(self, kind: Literal["nominal", "ordinal", "numeric"]) -> dict[str, float]:
        """Where its declared values lie on a scale, in order: at their ranks, or at the middles of their bins.

        An open bin is taken to be as wide as the one beside it; of two open bins each is 1 wide. Nominal values, and
        "unknown", are on no scale.
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

    def in_order(self, shown: Iterable[str]) -> list[str]:
        """Display values, each once: as declared, others by code point, coarser ones of the hierarchy, "unknown"."""
        declared = {value: i for i, value in enumerate(self.categories)}
        coarse = {value: i for i, value in enumerate(self._coarser.coarse)} if self._coarser else {}

        def place(value: str) -> tuple[bool, int, int, str]:
            return value == UNKNOWN, declared.get(value, len(declared)), coarse.get(value, -1), value

        return sorted(set(shown), key=place)


class FidelityPolicy(_Part):
    """How far an announced chance may lie from the true one: exactly one of its keys."""

    delta: Share | None = None
    alpha: PositiveShare | None = None
    ranges: Text | None = None

    _table: RangeTable | None = PrivateAttr(default=None)

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
    def table(self) -> RangeTable | None:
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
        return self._table.of(regions)


class SideInformationPolicy(_Part):
    """Where a reader knows the numbers of people from: a file, and what readers of the report know it as."""

    file: Text
    title: Text | None = None

    _table: SideInformation | None = PrivateAttr(default=None)


_SideInformation = Annotated[
    Annotated[Text, Tag("[plain]")] | Annotated[SideInformationPolicy, Tag("[keys]")], Discriminator(_how_written)
]
OWN_POPULATION = "population"
"""The side information that is assumed unless a file is named: the numbers of people in the log."""


class Policy(_Part):
    """What is promised: to the people in the log (privacy) and to the reader (fidelity)."""

    mechanism: Literal["optimal", "linear"] = "optimal"
    reader: Literal["face_value", "informed"] = "face_value"
    group_rates: Literal["exact", "free"] = "exact"
    fidelity: FidelityPolicy = FidelityPolicy(delta=0.9)
    objective: Literal["privacy", "fidelity"] = "privacy"
    max_confidence: PositiveShare = 0.75
    minimum_group_size: Count = 50
    unattainable: Literal["withhold", "coarsen", "flatten"] = "withhold"
    digits: Annotated[int, Field(ge=1, le=6, strict=True)] = 3
    population_rounding: Count = 5
    side_information: _SideInformation = OWN_POPULATION

    _known_from: SideInformationPolicy | None = PrivateAttr(default=None)

    @property
    def known_from(self) -> SideInformationPolicy | None:
        """Where a reader knows the numbers of people from; None where it is from the report."""
        return self._known_from

    @property
    def assumed(self) -> str:
        """What side information is assumed, as readers see it."""
        source = self._known_from
        return OWN_POPULATION if source is None else source.title or Path(source.file).name

    def known(self, regions: Iterable[tuple[str, ...]]) -> npt.NDArray[np.int64] | None:
        """How many people a reader knows of in (n,) decision regions from a file; None where no file is named.

        Parameters
        ----------
        regions
            (n,) display values of every attribute, public ones first.
        """
        if self._known_from is None:
            return None
        if self._known_from._table is None:
            raise ValueError("the file was not read: programmes with side information are made by atr.programme.load")
        return self._known_from._table.of(regions)

    @property
    def ceiling(self) -> float:
        """``max_confidence`` down to the printed digits: what is stated is rounded up and must not exceed it."""
        return float(floored(self.max_confidence, digits=self.digits))

    @property
    def promise(self) -> dict[str, float | None]:
        """The kind of promise and its level; the linear mechanism makes none, and gives its name only."""
        return {"linear": None} if self.mechanism == "linear" else {self.fidelity.kind: self.fidelity.level}

    @model_validator(mode="after")
    def _with_side_information(self) -> Policy:
        if self.side_information == OWN_POPULATION:
            return self
        source = self.side_information
        self._known_from = SideInformationPolicy(file=source) if isinstance(source, str) else source
        if self.assumed == OWN_POPULATION:
            raise _at("side_information", f"'{OWN_POPULATION}' means the log's own: give the file another title")
        for key, value in (("mechanism", "linear"), ("unattainable", "coarsen")):
            if getattr(self, key) == value:
                what = f"{key}: {value} with a file of side information"
                raise _at("side_information", str(not_yet(what, f"use {OWN_POPULATION}")))
        return self

    @model_validator(mode="after")
    def _of_one_mechanism(self) -> Policy:
        if self.mechanism == "optimal":
            if self.reader == "informed":
                raise _at("reader", "only mechanism: linear can hold an informed reader below the ceiling")
            return self
        if self.group_rates == "free":
            raise _at("group_rates", "mechanism: linear keeps the rates of groups: use exact, or mechanism: optimal")
        no_promise = "mechanism: linear promises nothing of single chances"
        if "fidelity" in self.model_fields_set:
            raise _at("fidelity", f"{no_promise}: leave fidelity out, or use mechanism: optimal")
        if self.objective == "fidelity":
            raise _at("objective", f"{no_promise}, so there is no fidelity to aim for: leave it out")
        return self


class AttributeDistance(_Part):
    """How far two values of an attribute are apart, for individual fairness; its weight is 0 where it is protected."""

    kind: Literal["nominal", "ordinal", "numeric"] = "nominal"
    weight: Annotated[float, Field(ge=0, le=1000, strict=True)] | None = None


class IndividualPolicy(_Part):
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


class FairnessPolicy(_Part):
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


class InfluencePolicy(_Part):
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


class PeriodPolicy(_Part):
    """How often a report is published, and in whose days."""

    every: Literal["month", "quarter", "year", "all"] = "quarter"
    timezone: Text | None = None

    @field_validator("timezone")
    @classmethod
    def _exists(cls, name: str | None) -> str | None:
        if name is not None:
            try:
                ZoneInfo(name)
            except (KeyError, ValueError, OSError):
                raise ValueError(f"'{name}' is no time zone; write it as in Europe/Berlin") from None
        return name


class Programme(_Part):
    """One report series. Made by :func:`load`, which knows the folder that paths are relative to."""

    programme: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    title: Text
    language: Literal["en"] = "en"
    publisher: Publisher
    system: System
    log: Log
    attributes: dict[Text, Attribute]
    policy: Policy = Policy()
    fairness: FairnessPolicy = FairnessPolicy()
    influence: InfluencePolicy = InfluencePolicy()
    period: PeriodPolicy = PeriodPolicy()
    store: Text | None = None
    site: Text | None = None

    _path: Path = PrivateAttr(default=Path("programme.yaml"))
    _sha256: str = PrivateAttr(default="")

    @field_validator("language", mode="before")
    @classmethod
    def _english(cls, language: Any) -> Any:
        if isinstance(language, str) and language != "en":
            raise not_yet(f"the language '{language}'", "use en")
        return language

    @model_validator(mode="after")
    def _consistent(self) -> Programme:
        for role in ("public", "sensitive"):
            if not self.names(role=role):
                raise _at("attributes", f"no attribute has the role {role}: a report needs at least one of each")
        if self.policy.fidelity.kind == "ranges" and len(self.log.outcomes or ()) > 2:
            raise _at(
                "policy", str(not_yet("a file of ranges for more than two outcomes", "use delta or alpha")), "fidelity"
            )
        if self.policy.unattainable == "coarsen" and not any(a.hierarchy for a in self.attributes.values()):
            message = "'coarsen' needs a public attribute with a hierarchy, the file of its coarser values"
            raise _at("policy", message, "unattainable")
        taken = {self.log.outcome: "outcome", self.log.id: "id", self.log.decided_at: "decided_at"}
        for name in self.attributes:
            if name in taken:
                raise _at(
                    "attributes", f"the column '{name}' is the log's {taken[name]} and cannot be an attribute", name
                )
            if name in ENDS and self.policy.fidelity.kind == "ranges":
                raise _at("attributes", f"'{name}' is a column of the file of ranges and cannot be an attribute", name)
            if name == PEOPLE and self.policy.known_from is not None:
                message = f"'{name}' is a column of the file of side information and cannot be an attribute"
                raise _at("attributes", message, name)
        self._stricter_than_the_policy()
        self._measurable_distances()
        strangers = [name for names in self.influence.sets for name in names if name not in self.attributes]
        if strangers:
            raise _at("influence", f"'{strangers[0]}' is not an attribute ({', '.join(self.attributes)})", "sets")
        self._compared_by_what_there_is()
        if self.log.decided_at is None and self.period.every != "all":
            raise _at("log", f"period.every is {self.period.every}, so the log needs decided_at (or say every: all)")
        if self.store_path == self.site_path or self.store_path in self.site_path.parents:
            raise _at("site", "the site is public and cannot lie in the store, which is private")
        if self.site_path in self.store_path.parents:
            raise _at("store", "the store is private and cannot lie in the site, which is public")
        return self

    def _stricter_than_the_policy(self) -> None:
        policy = self.policy
        for name, attribute in self.attributes.items():
            for of_set, own in attribute.ceilings.items():
                keys = (name, "max_confidence") if of_set is None else (name, "sets", of_set, "max_confidence")
                if own > policy.max_confidence:
                    message = f"{own:g} is above policy.max_confidence, {policy.max_confidence:g}: it can be lower only"
                    raise _at("attributes", message, *keys)
                if not floored(own, digits=policy.digits):
                    raise _at("attributes", f"{own:g} is 0 in the {policy.digits} printed digits", *keys)

    def _measurable_distances(self) -> None:
        individual = self.fairness.individual
        for name, distance in (individual.distances if individual else {}).items():
            keys = "individual", "distances", name
            if name not in self.attributes:
                known = ", ".join(self.attributes)
                raise _at("fairness", f"'{name}' is not one of the attributes ({known})", *keys)
            scale = self.attributes[name].positions(distance.kind)
            if distance.kind == "numeric" and not scale:
                message = "numeric compares the middles of bins, and the attribute has none: use nominal or ordinal"
                raise _at("fairness", message, *keys, "kind")
            if distance.kind == "ordinal" and len(scale) < 2:
                message = "ordinal needs an order: declare two values or more of the attribute, or bins, in order"
                raise _at("fairness", message, *keys, "kind")

    def _compared_by_what_there_is(self) -> None:
        for names in self.fairness.intersections:
            strangers = [name for name in names if name not in self.attributes]
            if strangers:
                raise _at("fairness", f"'{strangers[0]}' is not one of the attributes", "intersections")
            if not any(self.attributes[name].protected for name in names):
                message = f"none of {', '.join(names)} is protected: add protected: true to one"
                raise _at("fairness", message, "intersections")
            if " and ".join(names) in self.attributes:
                raise _at("attributes", "is what an intersection is called: rename it", " and ".join(names))
        called = [" and ".join(names) for names in self.fairness.intersections]
        if len(set(called)) < len(called):
            message = "two have the same name, their attributes joined by “and”: rename an attribute"
            raise _at("fairness", message, "intersections")

    def names(self, *, role: str | None = None, protected: bool = False, legitimate: bool = False) -> tuple[str, ...]:
        """The attributes, in the file's order, that have this role and these flags."""
        return tuple(
            name
            for name, a in self.attributes.items()
            if (role is None or a.role == role) and (a.protected or not protected) and (a.legitimate or not legitimate)
        )

    def title_of(self, attribute: str) -> str:
        """The name of an attribute as readers see it."""
        return self.attributes[attribute].title or printable(attribute)

    @property
    def protection(self) -> Protection:
        """Which sets of people are protected, and under which ceilings."""
        attributes = self.attributes.items()
        return Protection.of(
            self.names(role="sensitive"),
            ((name, title, of_set.values) for name, a in attributes for title, of_set in a.named.items()),
            ((name, of_set, own) for name, a in attributes for of_set, own in a.ceilings.items()),
            max_confidence=self.policy.max_confidence,
            digits=self.policy.digits,
        )

    @property
    def hierarchies(self) -> dict[str, Hierarchy]:
        """The hierarchies of the public attributes, in the file's order."""
        return {name: a.coarser for name, a in self.attributes.items() if a.coarser is not None}

    @property
    def path(self) -> Path:
        """The programme file."""
        return self._path

    @property
    def sha256(self) -> str:
        """The hash of the programme file, and of all further files it names but the log, as they were read."""
        return self._sha256

    @property
    def store_path(self) -> Path:
        """The private folder: warehouse, drafts, dossiers, Prefect's home."""
        return self._resolve(self.store or f"var/{self.programme}")

    @property
    def site_path(self) -> Path:
        """The public folder."""
        return self._resolve(self.site or f"site/{self.programme}")

    def _resolve(self, path: str) -> Path:
        return (self._path.parent / Path(path).expanduser()).resolve()


def load(path: str | Path) -> Programme:
    """Read and validate a programme file, and the files of ranges, hierarchies and side information it names.

    Parameters
    ----------
    path
        The YAML file.

    Raises
    ------
    ProgrammeError
        Naming the line and the key of every fault found.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "programme.yaml"
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise ProgrammeError("there is no such file", where=str(path), hint="`atr init` writes an example.") from None
    except UnicodeDecodeError:
        raise ProgrammeError("is not UTF-8 text: save it as UTF-8", where=str(path)) from None
    except OSError as error:
        raise ProgrammeError(f"cannot be read ({error})", where=str(path)) from None
    data, places = _parse(text, path)
    try:
        programme = Programme.model_validate(data)
        programme._path = path.resolve()
    except ValidationError as error:
        raise _in_words(error, places, path) from None
    programme._sha256 = hashlib.sha256(content).hexdigest()
    for name, attribute in programme.attributes.items():
        if attribute.hierarchy is not None:
            _load_hierarchy(programme, name, where=_where(path, places, "attributes", name, "hierarchy"))
    if programme.policy.fidelity.ranges is not None:
        _load_ranges(programme, where=_where(path, places, "policy", "fidelity", "ranges"))
    if programme.policy.known_from is not None:
        _load_side_information(programme, where=_where(path, places, "policy", "side_information"))
    return programme


def _where(path: Path, places: Mapping[_Loc, _Place], *loc: str) -> str:
    return f"{path}, line {places[loc][0]}, {'.'.join(loc)}"


def _load_hierarchy(programme: Programme, name: str, *, where: str) -> None:
    attribute = programme.attributes[name]
    found = read_hierarchy(_existing(programme, attribute.hierarchy or "", where=where))
    missing = [value for value in attribute.categories if value not in found.coarser]
    if missing:
        raise ProgrammeError(f"has no row for '{missing[0]}', a value of {name}", where=str(found.path))
    attribute._coarser = found
    _sign(programme, found.sha256)


def _load_ranges(programme: Programme, *, where: str) -> None:
    fidelity = programme.policy.fidelity
    path = _existing(programme, fidelity.ranges or "", where=where)
    fidelity._table = read_ranges(path, (*programme.names(role="public"), *programme.names(role="sensitive")))
    _sign(programme, fidelity._table.sha256)


def _load_side_information(programme: Programme, *, where: str) -> None:
    source = programme.policy.known_from
    if source is not None:
        path = _existing(programme, source.file, where=where)
        source._table = read_side_information(
            path, (*programme.names(role="public"), *programme.names(role="sensitive"))
        )
        _sign(programme, source._table.sha256)


def _existing(programme: Programme, name: str, *, where: str) -> Path:
    path = programme._resolve(name)
    if not path.is_file():
        raise ProgrammeError(f"there is no such file: {path}", where=where)
    return path


def _sign(programme: Programme, sha256: str) -> None:
    """Let the hash of the programme cover a file it names."""
    programme._sha256 = hashlib.sha256(f"{programme._sha256} {sha256}".encode()).hexdigest()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the programme file, for editors."""
    return Programme.model_json_schema()


def _bin_names(edges: tuple[float, ...]) -> tuple[str, ...]:
    e = [f"{x:g}" for x in edges]
    middle = [f"{a} to below {b}" for a, b in pairwise(e)]
    return (f"below {e[0]}", *middle, f"{e[-1]} and more")


# --- faults, with the line they are on -------------------------------------------------------------------------

_MOST_KEYS = 100_000
_YAML = {
    "\\t": "Indent with spaces, not with tabs.",
    "mapping values are not allowed": 'A text with a colon must be in quotes, as in title: "Loans: 2025".',
    "could not find expected ':'": "Every key is followed by a colon and a space. Look above that line too.",
    "expected ',' or": "Is a bracket or brace above it not closed, or a comma missing?",
    "special characters": "The file holds a character that is not text.",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "above"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "below"),
}
_KINDS = {
    "string_type": "a text",
    "bool_type": "true or false, without quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "tuple_type": "a list, as in [a, b]",
    "dict_type": "keys with values",
    "model_type": "keys with values",
}
_Place = tuple[int, str]
_Loc = tuple[str | int, ...]


class _FaultAtError(ValueError):
    def __init__(self, key: str, message: str, *more: str) -> None:
        super().__init__(message)
        self.keys = (key, *more)


def _at(key: str, message: str, *more: str) -> _FaultAtError:
    return _FaultAtError(key, message, *more)


def _parse(text: str, path: Path) -> tuple[dict[str, Any], dict[_Loc, _Place]]:
    places: dict[_Loc, _Place] = {}
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            raise ProgrammeError("the file is empty", where=str(path), hint="`atr init` writes an example.")
        data = _construct(loader, root, (), places, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        hint = next((advice for words, advice in _YAML.items() if words in problem), "Look above that line too.")
        raise ProgrammeError(f"not valid YAML: {problem}", where=f"{path}{line}", hint=hint) from None
    except RecursionError:
        raise ProgrammeError("an alias refers to itself, or keys are nested too deeply", where=str(path)) from None
    if not isinstance(data, dict):
        found = "a list" if isinstance(data, list) else "a single value"
        message = f"must be keys with values, such as `programme: name`, not {found}"
        raise ProgrammeError(message, where=f"{path}, line {root.start_mark.line + 1}")
    return data, places


def _construct(loader: yaml.SafeLoader, node: yaml.Node, loc: _Loc, places: dict[_Loc, _Place], path: Path) -> Any:
    places[loc] = (node.start_mark.line + 1, node.value if isinstance(node, yaml.ScalarNode) else "")
    if len(places) > _MOST_KEYS:
        raise ProgrammeError(f"holds more than {_MOST_KEYS:,} keys and values, aliases expanded", where=str(path))
    if isinstance(node, yaml.SequenceNode):
        return [_construct(loader, child, (*loc, i), places, path) for i, child in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node, deep=True)
    loader.flatten_mapping(node)
    result: dict[str, Any] = {}
    for key_node, child in node.value:
        key = loader.construct_object(key_node, deep=True)
        where = f"{path}, line {key_node.start_mark.line + 1}"
        dotted = ".".join(str(part) for part in loc)
        if not isinstance(key, str):
            comma = isinstance(key, int) and node.flow_style and isinstance(child, yaml.ScalarNode) and not child.value
            raise ProgrammeError(
                f"{key} is taken for a key: write decimals with a point, as in 0.9"
                if comma
                else _unquoted(key_node.value, key),
                where=f"{where}, {dotted}" if dotted else where,
            )
        if key in result:
            raise ProgrammeError(f"the key '{key}' stands twice", where=f"{where}, {dotted}" if dotted else where)
        result[key] = _construct(loader, child, (*loc, key), places, path)
        places[*loc, key] = (key_node.start_mark.line + 1, places[*loc, key][1])
    return result


def _unquoted(raw: Any, value: Any) -> str:
    kind = {bool: "true or false", type(None): "nothing"}.get(type(value), "a number or a date")
    return f'{raw} must be in quotes, as in "{raw}": without them YAML reads it as {kind}'


def _in_words(error: ValidationError, places: dict[_Loc, _Place], path: Path) -> ProgrammeError:
    """One error that names the line and the key of every fault."""
    faults = error.errors()
    misspelt = {(*f["loc"][:-1], _near(f["loc"])) for f in faults if f["type"] == "extra_forbidden"}
    told = dict.fromkeys(_explain(f, places) for f in faults if f["type"] != "missing" or f["loc"] not in misspelt)
    if len(told) == 1:
        ((where, message),) = told
        return ProgrammeError(message, where=f"{path}, {where}")
    lines = "".join(f"\n  {where}: {message}" for where, message in told)
    return ProgrammeError(f"{len(told)} mistakes{lines}", where=str(path))


def _explain(fault: Mapping[str, Any], places: dict[_Loc, _Place]) -> tuple[str, str]:
    """Where a fault is, and what it is."""
    loc = tuple(part for part in fault["loc"] if part not in ("[key]", "[plain]", "[keys]"))
    cause = fault.get("ctx", {}).get("error")
    if isinstance(cause, _FaultAtError):
        loc = (*loc, *cause.keys)
    known = loc
    while known and known not in places:
        known = known[:-1]
    key = ".".join(str(part) for part in loc)
    return f"line {places[known][0]}, {key}" if known in places else key, _what(fault, loc, cause, places)


def _what(fault: Mapping[str, Any], loc: _Loc, cause: Any, places: dict[_Loc, _Place]) -> str:
    kind, value = fault["type"], fault["input"]
    if kind == "extra_forbidden":
        near = _near(loc)
        return "unknown key; " + (f"did you mean '{near}'?" if near else f"the keys here are {', '.join(_keys(loc))}")
    if kind == "missing":
        return "this key is missing"
    if (kind == "string_type" and isinstance(value, bool | int | float)) or "date" in type(value).__name__:
        return _unquoted(places.get(loc, (0, value))[1], value)
    if kind == "literal_error":
        return f"{_shown(value)} is not one of {fault['ctx']['expected']}"
    if kind == "string_pattern_mismatch":
        return "may have lower-case letters, digits and dashes only (it names a folder)"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"must be {words} {fault['ctx'][name]:g}, not {value}"
    if kind == "value_error":
        return str(cause)
    if value is None or kind in ("string_too_short", "too_short"):
        return "has no value"
    return f"must be {_KINDS[kind]}, not {_shown(value)}"


def _shown(value: Any) -> str:
    """A value of the programme file in a message."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "keys with values"
    return f"'{printable(value)}'" if isinstance(value, str) else str(value).lower()


def _keys(loc: _Loc) -> list[str]:
    """The keys there can be where this one is."""
    models: dict[str, type[BaseModel]] = {
        "publisher": Publisher, "system": System, "log": Log, "attributes": Attribute, "policy": Policy,
        "fidelity": FidelityPolicy, "side_information": SideInformationPolicy, "fairness": FairnessPolicy,
        "influence": InfluencePolicy, "period": PeriodPolicy, "sets": NamedSet, "individual": IndividualPolicy,
        "distances": AttributeDistance, "reference": Reference,
    }  # fmt: skip
    return list(next((models[str(p)] for p in reversed(loc[:-1]) if p in models), Programme).model_fields)


def _near(loc: _Loc) -> str:
    """The key that a misspelt one is likely meant to be; empty if there is none."""
    return next(iter(difflib.get_close_matches(str(loc[-1]), _keys(loc), n=1)), "")
