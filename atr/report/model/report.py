"""What is announced, how private and how faithful it is, and the whole report."""

from __future__ import annotations

import json
from functools import cached_property
from operator import not_
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from atr.core.display_text import ANY
from atr.core.publication import CHANCE_DIGITS, stand_in
from atr.report.model.alike import Alike
from atr.report.model.base import Frozen, People, Population, Share, Sparse, people_of
from atr.report.model.figures import Changes, ComparedBy, Fairness, Influence, Surrogate
from atr.report.model.policy import AttributeInfo, Beside, PeriodInfo, PolicyInfo, ProgrammeInfo
from atr.report.model.series import SeriesRelease

SCHEMA: Literal["atr-report/2"] = "atr-report/2"


class Leakage(Frozen):
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


class OwnCeiling(Frozen):
    """A ceiling stricter than the policy's, and how sure a reader can be there with and without the report.

    Of each value of ``attribute``, or of its named ``set``. Confidences are rounded up and of the groups that are not
    flattened; 0 where nobody of them is in the set.
    """

    attribute: str
    set: str | None
    ceiling: Share
    max_confidence: Share
    prior_confidence: Share


class ByRates(Frozen):
    """Groups that show their rates only since numbers of people and rates of several reports alone tell too much.

    ``max_confidence``, rounded up, is how sure of somebody's secret they make a reader who takes rules for unchanged.
    """

    groups: int
    max_confidence: Share


class Privacy(Frozen):
    """The guarantee, computed from the printed numbers; all None where no group is announced but flattened ones.

    ``max_confidence`` and ``prior_confidence`` are rounded up, ``min_uncertainty`` (nats) is rounded down.
    ``binding_set`` is what a reader can be surest of in the binding group: a value of an attribute, or a named set.
    All of these are of the groups that tell of their regions. ``readers`` are the confidences of all readers that were
    tested, ``max_confidence`` is the largest, that of whole numbers aside. At least ``rules_left`` rules in whole
    people are left. ``own_ceilings`` are there only where some set has a ceiling of its own and chances are promised;
    where limits are told, no reader exceeds any ceiling.
    ``printed_confidence``, rounded up, is how sure a reader can be who takes the printed numbers of people for known
    and not the side information; there only where a file of it is declared.
    """

    max_confidence: Share | None
    prior_confidence: Share | None
    min_uncertainty: float | None
    binding_group: str | None
    binding_set: dict[str, str] | None
    readers: dict[str, Share] = Field(default_factory=dict)
    rules_left: Sparse[int | None] = None
    by_rates: Sparse[ByRates | None] = None
    leakage: Leakage | None = None
    own_ceilings: Sparse[tuple[OwnCeiling, ...]] = ()
    printed_confidence: Sparse[Share | None] = None


class FidelityInfo(Frozen):
    """The promise on every announced chance; groups that show their rates only have none.

    ``largest_change`` is None where it is relative (alpha); both numbers are where each region has limits of its own.
    """

    kind: Literal["delta", "alpha", "ranges", "limits"]
    level: Sparse[Share | None] = None
    largest_change: Sparse[Share | None] = None
    step: Sparse[Share | None] = None


class GroupCounts(Frozen):
    """How many QID groups are announced, flattened and coarsened ones among them, and how many are not.

    ``coarsened`` are merged from ``merged`` groups that could not be announced on their own; there only if there are
    such. A group that is withheld may have been merged as well.
    """

    announced: int
    withheld_for_size: int
    withheld: int
    coarsened: Annotated[int, Field(exclude_if=not_)] = 0
    merged: Annotated[int, Field(exclude_if=not_)] = 0


class Coverage(Frozen):
    """How much of the period the report covers; ``rate`` is the share of each outcome among announced people."""

    decisions: People
    announced_share: Share
    groups: GroupCounts
    rate: dict[str, Share] | None


class Region(Frozen):
    """A decision region of an announced group: its sensitive values, people and announced chances.

    ``announced`` is None where limits are told and no chances. ``limits`` are those of the true chance of each outcome;
    None where nothing narrower than 0 to 1 is told, or one promise is made of all regions. ``known`` are the people in
    it by the side information, of which the proportions within a group matter; there only where a file is declared.
    """

    sensitive: dict[str, str]
    population: Population
    announced: dict[str, Share] | None
    limits: dict[str, tuple[Share, Share]] | None = None
    known: Sparse[Annotated[People, Field(ge=1)] | None] = None

    @property
    def people(self) -> int:
        """The number of people to calculate with."""
        return people_of(self.population)


class Group(Frozen):
    """A QID group. One withheld because prior knowledge exceeds the ceiling has its public values and no number.

    One flattened for that reason, and one of which no more can be told (``rate_only``), show their rates, to the
    nearest percent, and no region. One coarsened has coarser public values than others, and is of the people with these
    whose own group could not be announced. A rest group has the public values that all in it share, and is of people
    whose own groups could not be announced either; it may show its rates only. ``joined`` is the number of groups of
    the log in a coarsened or rest group, ``mixed`` the values of protected attributes that meet in a rest group. Its
    chances are printed with so many ``digits``. ``as_of`` is there where corrections wait: the version of the period
    that counted the people whose numbers these are.
    """

    id: str
    public: dict[str, str]
    status: Literal["announced", "rate_only", "rest", "coarsened", "flattened", "withheld"]
    joined: Sparse[int | None] = None
    mixed: Sparse[dict[str, tuple[str, ...]]] = Field(default_factory=dict)
    digits: Sparse[int | None] = None
    as_of: Sparse[Annotated[int, Field(ge=1)] | None] = None
    population: People | None = None
    rate: dict[str, Share] | None = None
    leakage: GroupLeakage | None = None
    regions: tuple[Region, ...] = ()

    @cached_property
    def told(self) -> tuple[tuple[Region, dict[str, float]], ...]:
        """Its regions with their chances, as of :attr:`PublicReport.announced_regions`."""
        rate = self.rate or {}
        if not self.regions:
            return ((Region(sensitive={}, population=self.population or 0, announced=rate), rate),)
        return tuple((region, region.announced or _middle(region, rate)) for region in self.regions)


def _middle(region: Region, rate: dict[str, float]) -> dict[str, float]:
    limits = np.array([(region.limits or {}).get(outcome, (0, 1)) for outcome in rate])
    chances = stand_in(limits, np.array(list(rate.values()))) / 10**CHANCE_DIGITS
    return dict(zip(rate, chances.tolist(), strict=True))


class Told(NamedTuple):
    """A region with its value of every attribute and its chances, for figures that are computed from a report."""

    values: dict[str, str]
    region: Region
    chances: dict[str, float]


class RowsBefore(Frozen):
    """What the release published last says of the rows of the log."""

    period: str
    version: int
    rows_read: int
    decisions: People
    duplicates: People
    corrections: People
    quarantined: People


class DataQuality(Frozen):
    """What became of the rows of the whole log so far; ``unknown`` is the share of announced people without a value.

    ``corrections_wait`` where the log has changed in some groups, in too few people for this version to tell;
    ``before`` where a release was published before.
    """

    rows_read: int
    decisions: People
    duplicates: People
    corrections: People
    quarantined: People
    unknown: dict[str, Share]
    corrections_wait: Annotated[bool, Field(exclude_if=not_)] = False
    before: Annotated[RowsBefore | None, Field(exclude_if=not_)] = None


class Note(Frozen):
    """Something to say of the report as a whole: which note it is, and the numbers in it that stand nowhere else."""

    id: str
    values: dict[str, int | float | str | tuple[str, ...]] = Field(default_factory=dict)


class Provenance(Frozen):
    """The software and the format."""

    atr: str
    schema_name: Literal["atr-report/2"] = Field(default=SCHEMA, alias="schema")


class PublicReport(Frozen):
    """Everything that is published about one period; ``changes`` and ``series`` only where a report was published
    before it, ``beside`` only where records of the same people are published."""

    schema_name: Literal["atr-report/2"] = Field(default=SCHEMA, alias="schema")
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
    alike: Sparse[tuple[Alike, ...]] = ()
    influence: tuple[Influence, ...] = ()
    surrogate: Surrogate | None = None
    changes: Sparse[Changes | None] = None
    series: Sparse[tuple[SeriesRelease, ...]] = ()
    beside: Sparse[tuple[Beside, ...]] = ()
    data_quality: DataQuality
    notes: tuple[Note, ...]
    provenance: Provenance

    def to_json(self) -> str:
        """``report.json`` as published; the same report gives the same bytes."""
        content = self.model_dump(mode="json", by_alias=True)
        return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    @cached_property
    def announced_regions(self) -> tuple[Told, ...]:
        """The regions of all groups whose numbers are printed.

        A group without regions is one, with nothing told of its sensitive attributes, whose chances are the group's
        rates. Where limits are told and no chances, these are :func:`~atr.core.publication.stand_in`.
        """
        nothing = {a.name: ANY for a in self.attributes}
        return tuple(
            Told(nothing | group.public | region.sensitive, region, chances)
            for group in self.announced_groups
            for region, chances in group.told
        )

    @property
    def complete(self) -> PublicReport:
        """The same report of the groups whose regions have a value of every attribute."""
        public = [a.name for a in self.attributes if a.role == "public"]
        return self.model_copy(
            update={"groups": tuple(g for g in self.groups if g.regions and list(g.public) == public)}
        )

    @cached_property
    def announced_groups(self) -> tuple[Group, ...]:
        """The groups whose rules are printed."""
        return tuple(group for group in self.groups if group.status != "withheld")

    @property
    def flattened_groups(self) -> tuple[Group, ...]:
        """The announced groups that show their rates only, because prior knowledge exceeds the ceiling."""
        return tuple(group for group in self.groups if group.status == "flattened")

    @property
    def coarsened_groups(self) -> tuple[Group, ...]:
        """The announced groups that were merged from several."""
        return tuple(group for group in self.groups if group.status == "coarsened")

    @property
    def rest_groups(self) -> tuple[Group, ...]:
        """The announced groups of people who share some public values, and whose own groups could not be announced."""
        return tuple(group for group in self.groups if group.status == "rest")

    @property
    def rate_only_groups(self) -> tuple[Group, ...]:
        """The announced groups of which no more than the rates can be told; flattened ones aside."""
        return tuple(g for g in self.announced_groups if not g.regions and g.status != "flattened")

    @property
    def withheld_groups(self) -> tuple[Group, ...]:
        """The groups that are named, but whose rules are not printed."""
        return tuple(group for group in self.groups if group.status == "withheld")


def read(path: Path) -> PublicReport:
    """Read a ``report.json`` that this software wrote; :mod:`atr.verify` reads those of others.

    Raises
    ------
    pydantic.ValidationError
        If it is no well-formed report.
    """
    return PublicReport.model_validate_json(path.read_text(encoding="utf-8"))
