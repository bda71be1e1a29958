"""The programme file as a whole: one report series and everything that changes a number."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import Field, PrivateAttr, StrictBool, field_validator, model_validator

from atr.core.display_text import UNDRAWN, printable
from atr.core.fields import OptionalText, Part, Text, refuse
from atr.core.policy import Policy
from atr.core.protected import Protection, floored
from atr.mechanisms import MECHANISMS
from atr.programme.attributes import Attribute
from atr.programme.font_files import FontFile
from atr.programme.hierarchies import Hierarchy
from atr.programme.log import Log
from atr.programme.measures import FairnessPolicy, InfluencePolicy
from atr.programme.periods import zone
from atr.programme.released import ReleasedRecords, check_released
from atr.programme.words import Forms, Language, PerLanguage, in_languages

_WITHDRAWN = (
    "the linear mechanism and its informed reader were withdrawn: who knows that counts are whole numbers could be "
    "surer than they promised. Leave this line out"
)


def policy_of(mechanisms: Iterable[type[Policy]]) -> Any:
    """Make the type of a policy of one of several mechanisms, told apart by ``mechanism``.

    Parameters
    ----------
    mechanisms
        The type of policy of each.
    """
    policies = tuple(mechanisms)
    return Annotated[Union[policies], Field(discriminator="mechanism")] if len(policies) > 1 else policies[0]  # noqa: UP007


_POLICIES = {name: mechanism.policy for name, mechanism in MECHANISMS.items()}
_DEFAULT, *_ = _POLICIES
if TYPE_CHECKING:
    OfAMechanism = Policy
else:
    OfAMechanism = policy_of(_POLICIES.values())


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
    owner: OptionalText = ""
    supplier: OptionalText = ""
    legal_basis: OptionalText = ""
    inputs: OptionalText = ""
    accuracy: OptionalText = ""
    complaints: OptionalText = ""
    alternatives: OptionalText = ""
    risks: OptionalText = ""


class PeriodPolicy(Part):
    """How often a report is published, and in whose days."""

    every: Literal["month", "quarter", "year", "all"] = "quarter"
    timezone: Text | None = None

    @field_validator("timezone")
    @classmethod
    def _exists(cls, name: str | None) -> str | None:
        try:
            zone(name or "UTC")
        except KeyError:
            raise ValueError(f"'{name}' is no time zone; write it as in Europe/Berlin") from None
        return name


class Programme(Part):
    """One report series. Made by :func:`load`, which knows the folder that paths are relative to."""

    programme: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    title: Text
    language: Language = "en"
    publisher: Publisher
    system: System
    place: OptionalText = ""
    decision_noun: PerLanguage[Forms] | None = None
    person_noun: PerLanguage[Forms] | None = None
    log: Log
    attributes: dict[Text, Attribute]
    policy: OfAMechanism = _POLICIES[_DEFAULT]()  # type: ignore[call-arg]
    fairness: FairnessPolicy = FairnessPolicy()
    influence: InfluencePolicy = InfluencePolicy()
    sanitise: ReleasedRecords | None = None
    period: PeriodPolicy = PeriodPolicy()
    store: Text | None = None
    site: Text | None = None
    register_file: Text | None = Field(default=None, alias="register")
    keep_replaced: StrictBool = False
    fonts: Text | None = None

    _path: Path = PrivateAttr(default=Path("programme.yaml"))
    _sha256: str = PrivateAttr(default="")
    _font_files: tuple[FontFile, ...] = PrivateAttr(default=())

    @field_validator("policy", mode="before")
    @classmethod
    def _of_a_known_mechanism(cls, policy: Any) -> Any:
        if not isinstance(policy, dict):
            return policy
        mechanism = policy.get("mechanism", _DEFAULT)
        shown = repr(mechanism) if isinstance(mechanism, str) else "this"
        refuse(
            (mechanism == "linear", _WITHDRAWN, "mechanism"),
            ("reader" in policy, _WITHDRAWN, "reader"),
            (
                mechanism not in [*_POLICIES],
                f"{shown} is not one of the mechanisms ({', '.join(_POLICIES)})",
                "mechanism",
            ),
        )
        for other, of_other in _POLICIES.items():
            own = [key for key in policy if key in of_other.own_keys() and other != mechanism]
            advice = f"needs mechanism: {other}. Name it under policy, or remove {', '.join(own)}"
            refuse((own, advice, (own or ["mechanism"])[0]))
        return {"mechanism": mechanism, **policy}

    @model_validator(mode="after")
    def _consistent(self) -> Programme:
        log, policy, every = self.log, self.policy, self.period.every
        store, site = self.store_path, self.site_path.resolve()
        no_attribute = "no attribute has the role {}: a report needs at least one of each".format
        refuse(
            (not self.names(role="public"), no_attribute("public"), "attributes"),
            (not self.names(role="sensitive"), no_attribute("sensitive"), "attributes"),
            (
                policy.unattainable == "coarsen" and not any(a.hierarchy for a in self.attributes.values()),
                "'coarsen' needs a public attribute with a hierarchy, the file of its coarser values",
                ("policy", "unattainable"),
            ),
            *(
                (
                    bool(file.beyond_two) and len(log.outcomes or ()) > 2,
                    f"a {file.kind} is for two outcomes: {file.beyond_two}",
                    ("policy", *file.keys[:-1]),
                )
                for file in policy.files
            ),
            (
                log.decided_at is None and every != "all",
                f"period.every is {every}, so the log needs decided_at (or say every: all)",
                "log",
            ),
            (
                store == site or store in site.parents,
                "the site is public and cannot lie in the store, which is private",
                "site",
            ),
            (site in store.parents, "the store is private and cannot lie in the site, which is public", "store"),
            (
                site in self.register_path.parents,
                "the register is private and cannot lie in the site, which is public",
                "register",
            ),
            (
                self.sanitise is not None and site in self.seed_path.parents,
                "the seed is secret and cannot lie in the site, which is public",
                ("sanitise", "seed"),
            ),
        )
        self._check_ceilings()
        self._check_distances()
        self._check_names()
        self._check_words()
        if self.sanitise is not None:
            check_released(self.sanitise, self.attributes, log.outcome)
        return self

    def _check_ceilings(self) -> None:
        most, digits = self.policy.max_confidence, self.policy.digits
        for name, attribute in self.attributes.items():
            for of_set, own in attribute.ceilings.items():
                inner = ("max_confidence",) if of_set is None else ("sets", of_set, "max_confidence")
                keys = ("attributes", name, *inner)
                refuse(
                    (own > most, f"{own:g} is above policy.max_confidence, {most:g}: it can be lower only", keys),
                    (not floored(own, digits=digits), f"{own:g} is 0 in the {digits} printed digits", keys),
                )

    def _check_distances(self) -> None:
        individual = self.fairness.individual
        for name, distance in (individual.distances if individual else {}).items():
            keys = ("fairness", "individual", "distances", name)
            self._require_attributes([name], keys)
            scale = self.attributes[name].positions(distance.kind)
            refuse(
                (
                    distance.kind == "numeric" and not scale,
                    "numeric compares the middles of bins, and the attribute has none: use nominal or ordinal",
                    (*keys, "kind"),
                ),
                (
                    distance.kind == "ordinal" and len(scale) < 2,
                    "ordinal needs an order: declare two values or more of the attribute, or bins, in order",
                    (*keys, "kind"),
                ),
            )

    def _check_names(self) -> None:
        log, policy, compared = self.log, self.policy, self.fairness.intersections
        taken: dict[str | None, str] = {log.id: "the log's id", log.decided_at: "the log's decided_at"}
        taken |= {log.revision: "the log's revision", log.counts: "the log's counts", log.outcome: "the log's outcome"}
        for file in policy.files:
            taken |= dict.fromkeys(file.columns, f"a column of the {file.kind}")
        for name in self.attributes:
            where = ("attributes", name)
            refuse((name in taken, f"'{name}' is {taken.get(name)} and cannot be an attribute", where))
        self._require_attributes(chain.from_iterable(self.influence.sets), ("influence", "sets"))
        self._require_attributes(chain.from_iterable(compared), ("fairness", "intersections"))
        titles = [" and ".join(names) for names in compared]
        for names, title in zip(compared, titles, strict=True):
            refuse(
                (
                    not any(self.attributes[name].protected for name in names),
                    f"none of {', '.join(names)} is protected: add protected: true to one",
                    ("fairness", "intersections"),
                ),
                (
                    title in self.attributes,
                    "is what an intersection is called: rename it",
                    ("attributes", title),
                ),
                (
                    titles.count(title) > 1,
                    "two have the same name, their attributes joined by “and”: rename an attribute",
                    ("fairness", "intersections"),
                ),
            )

    def _check_words(self) -> None:
        given: dict[tuple[str, ...], Any] = {(key,): getattr(self, key) for key in ("decision_noun", "person_noun")}
        given["log", "outcome_phrases"] = self.log.outcome_phrases
        given |= {("attributes", name, "group_phrase"): a.group_phrase for name, a in self.attributes.items()}
        for keys, words in given.items():
            by_language = in_languages(words, self.language)
            silent = by_language and self.language not in by_language
            refuse((silent, f"says nothing in {self.language}, the programme's language", keys))

    def _require_attributes(self, names: Iterable[str], keys: tuple[str, ...]) -> None:
        for name in names:
            known = ", ".join(self.attributes)
            refuse((name not in self.attributes, f"'{name}' is not one of the attributes ({known})", keys))

    def names(self, *, role: str | None = None, protected: bool = False, legitimate: bool = False) -> tuple[str, ...]:
        """Give the names of the attributes that have a role and some flags.

        Parameters
        ----------
        role
            ``public`` or ``sensitive``; None: either.
        protected, legitimate
            Whether only attributes with this flag are named.

        Returns
        -------
        Names in the file's order.
        """
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
    def font_files(self) -> tuple[FontFile, ...]:
        """The fonts of the folder ``fonts``, for characters that no bundled font has."""
        return self._font_files

    def undrawn(self, text: str) -> list[str]:
        """The characters of a text that no font of the reports has, in its order."""
        own = self._font_files
        return [c for c in UNDRAWN.findall(text) if not any(ord(c) in font.characters for font in own)]

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
    def register_path(self) -> Path:
        """The private file of what was published of the log; programmes that share it know of each other's reports."""
        return self._resolve(self.register_file) if self.register_file else self.store_path.parent / "register.json"

    @property
    def seed_path(self) -> Path:
        """The private file of the seed by which released values are drawn; programmes that share it share the draws."""
        given = self.sanitise.seed if self.sanitise is not None else None
        return self._resolve(given) if given else self.register_path.parent / "records.seed"

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
