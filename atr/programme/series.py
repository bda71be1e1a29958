"""The programme file as a whole: one report series and everything that changes a number."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, PrivateAttr, field_validator, model_validator

from atr.core.display_text import printable
from atr.core.fields import OptionalText, Part, RawText, Share, Text, at, not_yet
from atr.core.protected import Protection, floored
from atr.mechanisms.optimal.policy import OptimalPolicy as Policy
from atr.programme.attributes import Attribute
from atr.programme.hierarchies import Hierarchy
from atr.programme.measures import FairnessPolicy, InfluencePolicy, distinct
from atr.programme.region_files import ENDS, PEOPLE

MOST_OUTCOMES = 8
"""More make no readable report, and fairness looks at every set of outcomes."""


class Publisher(Part):
    """Who publishes the report and answers for it."""

    name: Text
    contact: Text
    website: OptionalText = ""


class System(Part):
    """The system whose decisions the report describes."""

    name: Text
    version: OptionalText = ""
    purpose: OptionalText = ""
    human_review: OptionalText = ""
    appeal: OptionalText = ""


class Log(Part):
    """Where the decisions are and what their columns mean."""

    source: Text
    missing: tuple[RawText, ...] = ("",)
    id: Text | None = None
    decided_at: Text | None = None
    outcome: Text
    outcomes: (
        Annotated[
            dict[Text, Annotated[tuple[RawText, ...], Field(min_length=1)]],
            Field(min_length=2, max_length=MOST_OUTCOMES),
        ]
        | None
    ) = None
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
    def _disjoint(cls, outcomes: dict[str, tuple[str, ...]] | None) -> dict[str, tuple[str, ...]] | None:
        distinct(tuple(chain.from_iterable((outcomes or {}).values())))
        return outcomes

    @model_validator(mode="after")
    def _positive_is_an_outcome(self) -> Log:
        if self.outcomes is not None and self.positive not in self.outcomes:
            raise at("positive", f"'{self.positive}' is not one of the outcomes ({', '.join(self.outcomes)})")
        return self


class PeriodPolicy(Part):
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


class Programme(Part):
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

    @model_validator(mode="after")
    def _consistent(self) -> Programme:
        for role in ("public", "sensitive"):
            if not self.names(role=role):
                raise at("attributes", f"no attribute has the role {role}: a report needs at least one of each")
        if self.policy.unattainable == "coarsen" and not any(a.hierarchy for a in self.attributes.values()):
            message = "'coarsen' needs a public attribute with a hierarchy, the file of its coarser values"
            raise at("policy", message, "unattainable")
        if self.log.decided_at is None and self.period.every != "all":
            raise at("log", f"period.every is {self.period.every}, so the log needs decided_at (or say every: all)")
        self._other_names_than_the_columns_of_files()
        self._stricter_than_the_policy()
        self._measurable_distances()
        self._compared_by_what_there_is()
        store, site = self.store_path, self.site_path.resolve()
        if store == site or store in site.parents:
            raise at("site", "the site is public and cannot lie in the store, which is private")
        if site in store.parents:
            raise at("store", "the store is private and cannot lie in the site, which is public")
        return self

    def _other_names_than_the_columns_of_files(self) -> None:
        log, policy = self.log, self.policy
        taken: dict[str | None, str] = {log.id: "the log's id", log.decided_at: "the log's decided_at"}
        taken[log.outcome] = "the log's outcome"
        if policy.fidelity.kind == "ranges":
            taken |= dict.fromkeys(ENDS, "a column of the file of ranges")
            if len(log.outcomes or ()) > 2:
                raise at("policy", "a file of ranges is for two outcomes: use delta or alpha", "fidelity")
        if policy.known_from is not None:
            taken[PEOPLE] = "a column of the file of side information"
        for name in self.attributes:
            if name in taken:
                raise at("attributes", f"'{name}' is {taken[name]} and cannot be an attribute", name)

    def _stricter_than_the_policy(self) -> None:
        policy = self.policy
        for name, attribute in self.attributes.items():
            for of_set, own in attribute.ceilings.items():
                keys = (name, "max_confidence") if of_set is None else (name, "sets", of_set, "max_confidence")
                if own > policy.max_confidence:
                    message = f"{own:g} is above policy.max_confidence, {policy.max_confidence:g}: it can be lower only"
                    raise at("attributes", message, *keys)
                if not floored(own, digits=policy.digits):
                    raise at("attributes", f"{own:g} is 0 in the {policy.digits} printed digits", *keys)

    def _measurable_distances(self) -> None:
        individual = self.fairness.individual
        for name, distance in (individual.distances if individual else {}).items():
            keys = "individual", "distances", name
            if name not in self.attributes:
                known = ", ".join(self.attributes)
                raise at("fairness", f"'{name}' is not one of the attributes ({known})", *keys)
            scale = self.attributes[name].positions(distance.kind)
            if distance.kind == "numeric" and not scale:
                message = "numeric compares the middles of bins, and the attribute has none: use nominal or ordinal"
                raise at("fairness", message, *keys, "kind")
            if distance.kind == "ordinal" and len(scale) < 2:
                message = "ordinal needs an order: declare two values or more of the attribute, or bins, in order"
                raise at("fairness", message, *keys, "kind")

    def _compared_by_what_there_is(self) -> None:
        compared = self.fairness.intersections
        for part, key, sets in (("influence", "sets", self.influence.sets), ("fairness", "intersections", compared)):
            strangers = [name for names in sets for name in names if name not in self.attributes]
            if strangers:
                known = ", ".join(self.attributes)
                raise at(part, f"'{strangers[0]}' is not one of the attributes ({known})", key)
        for names in compared:
            if not any(self.attributes[name].protected for name in names):
                message = f"none of {', '.join(names)} is protected: add protected: true to one"
                raise at("fairness", message, "intersections")
        titles = [" and ".join(names) for names in compared]
        for title in titles:
            if title in self.attributes:
                raise at("attributes", "is what an intersection is called: rename it", title)
            if titles.count(title) > 1:
                message = "two have the same name, their attributes joined by “and”: rename an attribute"
                raise at("fairness", message, "intersections")

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
        """The public folder. Whether it is itself a link is still to be seen."""
        given = self._path.parent / Path(self.site or f"site/{self.programme}").expanduser()
        return given.resolve() if given.name == ".." else given.parent.resolve() / given.name

    def _resolve(self, path: str) -> Path:
        return (self._path.parent / Path(path).expanduser()).resolve()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the programme file, for editors."""
    return Programme.model_json_schema()
