"""What is stated beforehand: who publishes, about what, by which policy and by which inputs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from atr.report.model.base import Frozen, OutcomeDistance, Share, Sparse


class Publisher(Frozen):
    """Who publishes the report and answers for it."""

    name: str
    contact: str
    website: str = ""


class System(Frozen):
    """The system whose decisions are described, as a register of algorithms asks; empty texts were not stated.

    ``human_review`` is its oversight; ``inputs``, ``accuracy`` and ``complaints`` are what the publisher says of them.
    """

    name: str
    version: str = ""
    purpose: str = ""
    human_review: str = ""
    appeal: str = ""
    owner: Sparse[str] = ""
    supplier: Sparse[str] = ""
    legal_basis: Sparse[str] = ""
    inputs: Sparse[str] = ""
    accuracy: Sparse[str] = ""
    complaints: Sparse[str] = ""
    alternatives: Sparse[str] = ""
    risks: Sparse[str] = ""


class Forms(Frozen):
    """A word or phrase beside one, and beside any other number, in the nominative."""

    one: str
    other: str


class ProgrammeInfo(Frozen):
    """The report series, and what its sentences call things.

    ``decision_noun`` and ``person_noun`` are by language, ``outcome_phrases`` by language and outcome: verb phrases, as
    in "was scored low" and "were scored low". What is not there was not stated.
    """

    name: str
    title: str
    language: str
    publisher: Publisher
    system: System
    place: Sparse[str] = ""
    decision_noun: Sparse[dict[str, Forms]] = Field(default_factory=dict)
    person_noun: Sparse[dict[str, Forms]] = Field(default_factory=dict)
    outcome_phrases: Sparse[dict[str, dict[str, Forms]]] = Field(default_factory=dict)


class PeriodInfo(Frozen):
    """Days from ``start`` to before ``end`` (ISO dates), in the named time zone; None where the whole log is meant."""

    label: str
    start: str | None
    end: str | None
    timezone: str | None


class Beside(Frozen):
    """A published report, or records, of the same people as these: what both tell adds up."""

    kind: Literal["report", "records"]
    programme: str
    period: str


class AttributeDistance(Frozen):
    """How far two values of an attribute are apart, and how much that counts beside the other attributes.

    By their ``positions`` on a scale, in parts of the whole scale, where both have one; else 1, and 0 if they are the
    same.
    """

    kind: Literal["nominal", "ordinal", "numeric"]
    weight: Annotated[float, Field(ge=0, le=1000)]
    positions: Sparse[dict[str, float]] = Field(default_factory=dict)


class IndividualPolicy(Frozen):
    """The declared distance of records: the mean of those of all attributes by weight, 0 where no weight is given.

    ``measures`` are the distances of outcomes that are compared with it, ``tolerance`` is how far they may exceed it.
    """

    distances: dict[str, AttributeDistance]
    measures: tuple[OutcomeDistance, ...]
    tolerance: Share


class SamplingInfo(Frozen):
    """Whether the log is taken for a sample or for all there is; of a sample the level of intervals and tests, and how
    they are made."""

    coverage: Literal["sample", "whole"]
    alpha: Sparse[Annotated[float, Field(gt=0, lt=1)] | None] = None
    methods: Sparse[dict[str, str]] = Field(default_factory=dict)


class PolicyInfo(Frozen):
    """The policy as the programme states it, and where the lines of ``four_fifths`` and ``parity_tolerance`` come from
    by its own words.

    ``fidelity`` is {"ranges": None} if each region has limits of its own. ``individual`` is there only where individual
    fairness is measured.
    ``influence_sets`` are the sets of inputs whose joint influence is measured; there only if there are such.
    """

    mechanism: str
    group_rates: Literal["exact", "free"]
    objective: Sparse[Literal["privacy", "fidelity"] | None] = None
    fidelity: Sparse[dict[str, float | None] | None] = None
    whole_numbers: Sparse[Literal["refuse", "state"] | None] = None
    step: Sparse[Share | None] = None
    least: Sparse[int | None] = None
    max_confidence: Share
    minimum_group_size: Annotated[int, Field(ge=1, le=10**9)]
    unattainable: str
    digits: Annotated[int, Field(ge=1, le=6)]
    population_rounding: Annotated[int, Field(ge=1, le=10**9)]
    side_information: str
    four_fifths: Share
    four_fifths_origin: Sparse[str | None] = None
    parity_tolerance: Share
    parity_tolerance_origin: Sparse[str | None] = None
    individual: Sparse[IndividualPolicy | None] = None
    sampling: Sparse[SamplingInfo | None] = None
    influence_sets: Sparse[tuple[tuple[str, ...], ...]] = ()


class AttributeInfo(Frozen):
    """An attribute of people, with the display values that are declared or announced, in order.

    ``used_by_system`` is what the publisher says of it: whether the system reads it, which makes it an input. ``unit``
    is that of its bins. ``group_phrases`` are what people of a value are called, by language and value; ``{people}`` in
    one stands for the noun or for another such phrase, as in "African-American {people}".
    ``sets`` are the named sets of its values that are protected beside every single value. ``coarse`` are those of the
    values under which groups were merged that could not be announced on their own; there only if there are such.
    ``max_confidence`` is the ceiling of each value, ``sets_max_confidence`` that of named sets; there only where
    stricter than the policy's.
    """

    name: str
    title: str
    role: Literal["public", "sensitive"]
    protected: bool
    legitimate: bool
    values: tuple[str, ...]
    sets: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    coarse: Sparse[tuple[str, ...]] = ()
    max_confidence: Sparse[Share | None] = None
    sets_max_confidence: Sparse[dict[str, Share]] = Field(default_factory=dict)
    used_by_system: Literal["yes", "no", "unknown"] = "unknown"
    unit: Sparse[str] = ""
    group_phrases: Sparse[dict[str, dict[str, str]]] = Field(default_factory=dict)

    @property
    def own_ceilings(self) -> tuple[tuple[str, str | None, float], ...]:
        """The ceilings stricter than the policy's: the attribute, the set (None: each value), and the probability."""
        values = () if self.max_confidence is None else ((self.name, None, self.max_confidence),)
        return (*values, *((self.name, of_set, own) for of_set, own in self.sets_max_confidence.items()))
