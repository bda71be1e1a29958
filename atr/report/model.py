"""The public report: the one value that every public document is rendered from.

It has no field for anything that still depends on the true decision mapping. All numbers in it are rounded already;
documents print them as they are.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

SCHEMA: Literal["atr-report/1"] = "atr-report/1"

Measure = Literal["statistical_parity", "conditional_statistical_parity", "p_percent_rule", "individual_fairness"]
Verdict = Literal["met", "not_met", "cannot_tell"]
OutcomeDistance = Literal["total_variation", "relative"]
Status = Literal["announced", "coarsened", "flattened", "withheld"]


People = Annotated[int, Field(ge=0, le=10**12)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)


class _Sparse(_Frozen):
    """Some of whose fields, named in ``SPARSE``, are left out of the JSON where they are as by default."""

    SPARSE: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        for name in self.SPARSE:
            field = type(self).model_fields[name]
            if getattr(self, name) == field.get_default(call_default_factory=True):
                content.pop(name, None)  # a model within itself comes here twice
        return content


class Publisher(_Frozen):
    """Who publishes the report and answers for it."""

    name: str
    contact: str
    website: str = ""


class System(_Frozen):
    """The system whose decisions are described; empty texts were not stated by the publisher."""

    name: str
    version: str = ""
    purpose: str = ""
    human_review: str = ""
    appeal: str = ""


class ProgrammeInfo(_Frozen):
    """The report series."""

    name: str
    title: str
    language: str
    publisher: Publisher
    system: System


class PeriodInfo(_Frozen):
    """Days from ``start`` to before ``end`` (ISO dates), in the named time zone; None where the whole log is meant."""

    label: str
    start: str | None
    end: str | None
    timezone: str | None


class AttributeDistance(_Sparse):
    """How far two values of an attribute are apart, and how much that counts beside the other attributes.

    By their ``positions`` on a scale, in parts of the whole scale, where both have one; else 1, and 0 if they are the
    same.
    """

    SPARSE = ("positions",)

    kind: Literal["nominal", "ordinal", "numeric"]
    weight: Annotated[float, Field(ge=0, le=1000)]
    positions: dict[str, float] = Field(default_factory=dict)


class IndividualPolicy(_Frozen):
    """The declared distance of records: the mean of those of all attributes by weight, 0 where no weight is given.

    ``measures`` are the distances of outcomes that are compared with it, ``tolerance`` is how far they may exceed it.
    """

    distances: dict[str, AttributeDistance]
    measures: tuple[OutcomeDistance, ...]
    tolerance: Share


class SamplingInfo(_Sparse):
    """Whether the log is taken for a sample or for all there is; of a sample the level of intervals and tests, and how
    they are made."""

    SPARSE = ("alpha", "methods")

    coverage: Literal["sample", "whole"]
    alpha: Annotated[float, Field(gt=0, lt=1)] | None = None
    methods: dict[str, str] = Field(default_factory=dict)


class PolicyInfo(_Sparse):
    """The policy as the programme states it, and where the lines of ``four_fifths`` and ``parity_tolerance`` come from.

    ``fidelity`` is {"ranges": None} if each region has limits of its own. ``individual`` is there only where individual
    fairness is measured.
    ``influence_sets`` are the sets of inputs whose joint influence is measured; there only if there are such.
    """

    SPARSE = ("individual", "sampling", "influence_sets")

    mechanism: str
    reader: str = "face_value"
    group_rates: Literal["exact", "free"]
    objective: Literal["privacy", "fidelity"]
    fidelity: dict[str, float | None]
    max_confidence: Share
    minimum_group_size: Annotated[int, Field(ge=1, le=10**9)]
    unattainable: str
    digits: Annotated[int, Field(ge=1, le=6)]
    population_rounding: Annotated[int, Field(ge=1, le=10**9)]
    side_information: str
    four_fifths: Share
    four_fifths_origin: str = ""
    parity_tolerance: Share
    parity_tolerance_origin: str = ""
    individual: IndividualPolicy | None = None
    sampling: SamplingInfo | None = None
    influence_sets: tuple[tuple[str, ...], ...] = ()


class AttributeInfo(_Sparse):
    """An input of the decision, with the display values that are declared or announced, in order.

    ``sets`` are the named sets of its values that are protected beside every single value. ``coarse`` are those of the
    values under which groups were merged that could not be announced on their own; there only if there are such.
    ``max_confidence`` is the ceiling of each value, ``sets_max_confidence`` that of named sets; there only where
    stricter than the policy's.
    """

    SPARSE = ("coarse", "max_confidence", "sets_max_confidence")

    name: str
    title: str
    role: Literal["public", "sensitive"]
    protected: bool
    legitimate: bool
    values: tuple[str, ...]
    sets: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    coarse: tuple[str, ...] = ()
    max_confidence: Share | None = None
    sets_max_confidence: dict[str, Share] = Field(default_factory=dict)

    @property
    def own_ceilings(self) -> tuple[tuple[str, str | None, float], ...]:
        """The attribute, the set (None: each value) and the ceiling, of each that has one of its own."""
        values = () if self.max_confidence is None else ((self.name, None, self.max_confidence),)
        return (*values, *((self.name, of_set, own) for of_set, own in self.sets_max_confidence.items()))


class Leakage(_Frozen):
    """What the printed rules give away in the units of other definitions: the worst group of each, rounded up.

    Computed from the printed chances and the printed numbers of people, of the sensitive attribute in which it is
    worst; None where it is infinite. ``ldp`` and ``log_lift`` are in nats, ``min_entropy_leakage`` is in bits.
    """

    ldp: Annotated[float, Field(ge=0)] | None
    log_lift: Annotated[float, Field(ge=0)] | None
    likeness_gain: Annotated[float, Field(ge=0)] | None
    min_entropy_leakage: Annotated[float, Field(ge=0)] | None


class GroupLeakage(Leakage):
    """As :class:`Leakage`, of one group, with its ``min_uncertainty`` in nats, rounded down."""

    min_uncertainty: Annotated[float, Field(ge=0)]


class OwnCeiling(_Frozen):
    """A ceiling stricter than the policy's, and how sure a reader can be there with and without the report.

    Of each value of ``attribute``, or of its named ``set``. Confidences are rounded up and of the groups that are not
    flattened; 0 where nobody of them is in the set.
    """

    attribute: str
    set: str | None
    ceiling: Share
    max_confidence: Share
    prior_confidence: Share


class Privacy(_Sparse):
    """The guarantee, computed from the printed numbers; all None where no group is announced but flattened ones.

    ``max_confidence`` and ``prior_confidence`` are rounded up, ``min_uncertainty`` (nats) is rounded down.
    ``binding_set`` is what a reader can be surest of in the binding group: a value of an attribute, or a named set.
    All of these are of the groups that prior knowledge leaves below the ceiling. ``flattened_confidence``, rounded up,
    is how sure a reader can be in those that are flattened because it does not, with this report or without it; there
    only where there is such a group. ``own_ceilings`` are there only where some set has a ceiling of its own.
    ``printed_confidence``, rounded up, is how sure a reader can be who takes the printed numbers of people for known
    and not the side information; there only where a file of it is declared.
    """

    SPARSE = ("flattened_confidence", "own_ceilings", "printed_confidence")

    max_confidence: Share | None
    prior_confidence: Share | None
    min_uncertainty: float | None
    binding_group: str | None
    binding_set: dict[str, str] | None
    holds_for: str
    leakage: Leakage | None = None
    flattened_confidence: Share | None = None
    own_ceilings: tuple[OwnCeiling, ...] = ()
    printed_confidence: Share | None = None


class FidelityInfo(_Frozen):
    """The promise on every announced chance outside flattened groups.

    ``largest_change`` is None where it is relative (alpha); both numbers are where each region has limits of its own,
    and where the linear mechanism promises nothing of single chances.
    """

    kind: Literal["delta", "alpha", "ranges"]
    level: Share | None
    largest_change: Share | None


class GroupCounts(_Sparse):
    """How many QID groups are announced, flattened and coarsened ones among them, and how many are not.

    ``coarsened`` are merged from ``merged`` groups that could not be announced on their own; there only if there are
    such. A group that is withheld may have been merged as well.
    """

    SPARSE = ("coarsened", "merged")

    announced: int
    withheld_for_size: int
    withheld: int
    coarsened: int = 0
    merged: int = 0


class Coverage(_Frozen):
    """How much of the period the report covers; ``rate`` is the share of each outcome among announced people."""

    decisions: People
    announced_share: Share
    groups: GroupCounts
    rate: dict[str, Share] | None


class Region(_Sparse):
    """A decision region of an announced group: its sensitive values, people and announced chances.

    ``allowed`` are the declared limits of the chance of the positive outcome, the announced and the true one; there
    only where each region has limits of its own and its group is not flattened. ``known`` are the people in it by the
    side information, of which the proportions within a group matter; there only where a file of it is declared.
    """

    SPARSE = ("allowed", "known")

    sensitive: dict[str, str]
    population: People
    announced: dict[str, Share]
    allowed: tuple[Share, Share] | None = None
    known: Annotated[People, Field(ge=1)] | None = None


class Group(_Frozen):
    """A QID group. One withheld because prior knowledge exceeds the ceiling has its public values and no number.

    One flattened for that reason shows its rates, to the nearest percent, as the chances of every region. One
    coarsened has coarser public values than others, and is of the people with these whose own group could not be
    announced.
    """

    id: str
    public: dict[str, str]
    status: Status
    population: People | None = None
    rate: dict[str, Share] | None = None
    leakage: GroupLeakage | None = None
    regions: tuple[Region, ...] = ()


class Pair(_Sparse):
    """The two decision regions that individual fairness is furthest from, or nearest to the line, on what is announced.

    Of all regions; or of those of ``least_people`` printed people or more, where some have fewer.

    ``regions`` and their chances are in the order of the report. Their outcomes are ``outcomes_apart`` (None where that
    is infinite), by ``distance``, their records ``records_apart``. ``people_involved`` is the share of the printed
    people that are in a region of some pair beyond the tolerance, to the nearest percent, but 0 or 1 only where it is
    that.
    """

    SPARSE = ("least_people",)

    distance: OutcomeDistance
    least_people: Annotated[int, Field(ge=1)] | None = None
    regions: tuple[dict[str, str], dict[str, str]]
    chances: tuple[dict[str, Share], dict[str, Share]]
    outcomes_apart: Annotated[float, Field(ge=0)] | None
    records_apart: Share
    people_involved: Share


class Sampling(_Sparse):
    """What sampling alone could make of a comparison, if decisions are seen as a sample: :mod:`atr.measures.sampling`.

    ``interval`` is of a ratio, or of the higher rate less the lower one (of the positive outcome); its upper end is
    None where nothing bounds it. ``rates`` are the intervals of the two rates. P values are rounded up, the adjusted
    one is for all tests of the report together. ``outcome`` is the one that all of it is of, where the comparison is of
    several at once. Nothing here is about how far announced chances were altered.
    """

    SPARSE = ("outcome",)

    interval: tuple[float, float | None]
    rates: tuple[tuple[Share, Share], tuple[Share, Share]]
    p_value: Share
    adjusted_p_value: Share
    significant: bool
    sentence: str
    outcome: str | None = None


class ComparedBy(_Sparse):
    """What people are compared by: a protected attribute, or an intersection of several attributes.

    ``reference`` is the group that others are compared with, None where there are no two groups; it was ``named`` by
    the publisher, or has the highest rate of the positive outcome, or the largest number of people. ``absent`` are the
    declared values that nobody announced has; of an intersection, the combinations of values that are declared or
    announced ("unknown" and coarser ones left out).
    """

    SPARSE = ("absent",)

    attribute: str
    title: str
    attributes: tuple[str, ...]
    reference: str | None
    chosen: Literal["named", "highest", "largest"] | None
    absent: tuple[str, ...] = ()


class Fairness(_Sparse):
    """One comparison of two groups of people on the announced mapping.

    ``value`` is None where a ratio does not exist, an end of ``range`` is None where nothing bounds it, ``threshold``
    and ``verdict`` are None where no line is drawn. ``people`` and ``rates`` are those of ``groups``, in order; rates
    of ``outcome``, or of the positive one where none is named. ``sampling`` is there only where the log is a sample.

    ``attributes`` are there for intersections only. ``summary`` is there where conditional parity is summed up over
    classes, by the one of the largest distance or by the mean with the printed people as weights; ``classes`` is of how
    many, and how many there are: those with too few people are not counted; ``worst_condition`` is the class of the
    largest announced distance, of several the first. ``reason`` is why a verdict cannot be told.
    ``shortfall`` is there where a line of ratios is not met: about how many more people of the group below it would
    need the outcome to reach it, by the announced value.

    Of individual fairness ``groups`` are two decision regions in words, ``pair`` tells of them, and ``attribute`` and
    ``reference`` are empty; ``value`` is the largest excess, None where it is infinite. Where regions have too few
    people, that over all of them has no verdict, and another entry is of those with people enough, if there are two.
    """

    SPARSE = ("attributes", "summary", "classes", "worst_condition", "reason", "shortfall", "pair", "sampling")

    measure: Measure
    attribute: str
    attributes: tuple[str, ...] = ()
    groups: tuple[str, str]
    reference: str
    condition: dict[str, str] = Field(default_factory=dict)
    summary: Literal["worst_class", "mean_over_classes"] | None = None
    classes: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] | None = None
    worst_condition: dict[str, str] = Field(default_factory=dict)
    outcome: str | None
    value: float | None
    range: tuple[float | None, float | None]
    threshold: Share | None
    verdict: Verdict | None
    reason: Literal["line_in_range", "too_few_people"] | None = None
    shortfall: People | None = None
    sentence: str
    people: tuple[People, People]
    rates: tuple[Share, Share]
    pair: Pair | None = None
    sampling: Sampling | None = None


class Change(_Frozen):
    """One comparison of the favourable outcome beside that of the earlier report, with its range there.

    ``change`` is None where one of the figures does not exist. ``flagged`` only if the two ranges do not overlap:
    otherwise no change can be told.
    """

    attribute: str
    groups: tuple[str, str]
    measure: Measure
    previous: float | None
    previous_range: tuple[float | None, float | None]
    value: float | None
    change: float | None
    flagged: bool
    sentence: str


class Margin(_Frozen):
    """How far the ratio furthest from 1 lies within the line (above 0) or beyond it, now and in the earlier report.

    Of an attribute's groups against the reference that have people enough for a verdict; a ratio above 1 counts as its
    inverse. ``groups`` are those of that ratio. ``threshold`` and ``previous_threshold`` are the lines, from which the
    margins are measured.
    """

    attribute: str
    groups: tuple[str, str]
    previous_groups: tuple[str, str]
    threshold: Share
    previous_threshold: Share
    previous: float
    previous_range: tuple[float, float]
    value: float
    range: tuple[float, float]
    change: float
    flagged: bool
    sentence: str


class Changes(_Frozen):
    """What became of the figures since the last report of a period as long that was published before this one was made.

    ``sha256`` is that of its report.json. ``skipped`` says what cannot be compared, and why.
    """

    period: str
    version: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    margin: tuple[Margin, ...] = ()
    entries: tuple[Change, ...] = ()
    skipped: tuple[str, ...] = ()


Difference = Annotated[float, Field(ge=-1, le=1)]


class GroupInfluence(_Sparse):
    """The influence of an input on the rate of the positive outcome among the people with a value of an attribute.

    ``value`` is the rate less what it would be with the input drawn anew, ``shapley`` the input's part in the distance
    of the rate from that of everybody, ``disparity`` the influence on the distance from the rate of the reference; the
    last two are there only where they are measured.
    """

    SPARSE = ("shapley", "disparity")

    attribute: str
    group: str
    value: Difference
    shapley: Difference | None = None
    disparity: Difference | None = None


class Dependence(_Sparse):
    """The average announced chance of the positive outcome if everybody had a value; ``covered`` is rounded down.

    ``difference`` is how far it lies from that of the value named ``against``, of the same people: the share ``shared``
    of all, rounded down, whose other values were announced with both. Left out of that value, and where nobody is.
    """

    SPARSE = ("difference", "shared")

    value: str
    chance: Share
    covered: Share
    difference: Difference | None = None
    shared: Share | None = None


class Influence(_Sparse):
    """How far the announced chance of the positive outcome moves if some inputs are drawn anew, on average over people.

    Of one input, of a declared set, or of all together. ``covered`` is the share of draws that are combinations with an
    announced rule, rounded down. ``rate`` is the influence on the rate of everybody, with its sign. ``shapley`` and
    ``rate_shapley``, the Shapley values of ``value`` and ``rate``, and ``dependence`` are of single inputs; the first
    two are left out where there are too many. ``outcomes`` is ``value`` for each other outcome of more than two.
    ``against`` is the value that the others of an input are compared with.
    """

    SPARSE = ("shapley", "rate_shapley", "outcomes", "groups", "against", "dependence")

    inputs: tuple[str, ...]
    value: Share
    covered: Share
    rate: Difference
    shapley: Difference | None = None
    rate_shapley: Difference | None = None
    outcomes: dict[str, Share] = Field(default_factory=dict)
    groups: tuple[GroupInfluence, ...] = ()
    against: str | None = None
    dependence: tuple[Dependence, ...] = ()


class TreeNode(_Sparse):
    """People of the surrogate tree and their chance; a question has an attribute and the values that lead to ``yes``.

    ``people`` are the sum of printed numbers, ``chance`` is their average announced chance of the positive outcome.
    """

    SPARSE = ("attribute", "values", "yes", "no")

    people: People
    chance: Share
    attribute: str | None = None
    values: tuple[str, ...] = ()
    yes: TreeNode | None = None
    no: TreeNode | None = None


class Surrogate(_Frozen):
    """A small tree that stands for the announced rules, and how near its chances are to theirs.

    Differences are absolute, ``mean_difference`` is the average over people; ``explained`` is R² weighted by people,
    None where all announced chances are the same.
    """

    tree: TreeNode
    mean_difference: Share
    largest_difference: Share
    explained: Annotated[float, Field(le=1)] | None


class DataQuality(_Frozen):
    """What became of the rows of the whole log so far; ``unknown`` is the share of announced people without a value."""

    rows_read: int
    decisions: People
    duplicates: People
    corrections: People
    quarantined: People
    unknown: dict[str, Share]


class Note(_Frozen):
    """A fidelity note."""

    id: str
    title: str
    text: str


class Provenance(_Frozen):
    """The software, and a checksum over everything else in the file (canonical JSON, SHA-256)."""

    atr: str
    schema_name: Literal["atr-report/1"] = Field(default=SCHEMA, alias="schema")
    checksum: str = ""


class PublicReport(_Sparse):
    """Everything that is published about one period; ``changes`` only where a report was published before it."""

    SPARSE = ("changes",)

    schema_name: Literal["atr-report/1"] = Field(default=SCHEMA, alias="schema")
    programme: ProgrammeInfo
    period: PeriodInfo
    version: int
    date: str
    policy: PolicyInfo
    outcomes: tuple[str, ...]
    positive: str
    attributes: tuple[AttributeInfo, ...]
    privacy: Privacy
    fidelity: FidelityInfo
    coverage: Coverage
    groups: tuple[Group, ...]
    compared: tuple[ComparedBy, ...] = ()
    fairness: tuple[Fairness, ...]
    influence: tuple[Influence, ...] = ()
    surrogate: Surrogate | None = None
    changes: Changes | None = None
    data_quality: DataQuality
    notes: tuple[Note, ...]
    provenance: Provenance

    def to_json(self) -> str:
        """``report.json`` as published, checksum included; the same report gives the same bytes."""
        content = self.model_dump(mode="json", by_alias=True)
        content["provenance"]["checksum"] = checksum(content)
        return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    @property
    def announced_groups(self) -> tuple[Group, ...]:
        """The groups whose rules are printed."""
        return tuple(group for group in self.groups if group.status != "withheld")

    @property
    def flattened_groups(self) -> tuple[Group, ...]:
        """Those of them that show their rates as the chances of every region."""
        return tuple(group for group in self.groups if group.status == "flattened")

    @property
    def coarsened_groups(self) -> tuple[Group, ...]:
        """Those of them that were merged from several: coarsened, or flattened besides because of who may read."""
        coarse = [(a.name, value) for a in self.attributes for value in a.coarse]
        return tuple(
            group for group in self.announced_groups if any(group.public.get(name) == value for name, value in coarse)
        )

    @property
    def withheld_groups(self) -> tuple[Group, ...]:
        """The groups that are named, but whose rules are not printed."""
        return tuple(group for group in self.groups if group.status == "withheld")


def read(path: Path) -> PublicReport:
    """The report in a ``report.json`` of one's own making; what others wrote is for :mod:`atr.verify`."""
    return PublicReport.model_validate_json(path.read_text(encoding="utf-8"))


def checksum(content: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of everything in a report but the checksum itself."""
    provenance = {k: v for k, v in content["provenance"].items() if k != "checksum"}
    canonical = json.dumps(
        {**content, "provenance": provenance}, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of ``report.json``."""
    return PublicReport.model_json_schema(by_alias=True)
