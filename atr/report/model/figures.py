"""What is measured on the announced mapping: fairness, changes, influence and the surrogate tree."""

from __future__ import annotations

from operator import not_
from typing import Annotated, Literal

from pydantic import Field

from atr.measures import MEASURES
from atr.measures.base import Verdict
from atr.report.model.base import Difference, Frozen, Measure, OutcomeDistance, People, Population, Share, Sparse


class Pair(Frozen):
    """The two decision regions that individual fairness is furthest from, or nearest to the line, on what is announced.

    Of all regions; or of those of ``least_people`` printed people or more, where some have fewer.

    ``regions``, their people and their chances are in the order of the report. Their outcomes are ``outcomes_apart``
    (None where that is infinite), by ``distance``, their records ``records_apart``. ``people_involved`` is the share of
    the printed people that are in a region of some pair beyond the tolerance, to the nearest percent, but 0 or 1 only
    where it is that.
    """

    distance: OutcomeDistance
    least_people: Sparse[Annotated[int, Field(ge=1)] | None] = None
    regions: tuple[dict[str, str], dict[str, str]]
    people: tuple[Population, Population]
    chances: tuple[dict[str, Share], dict[str, Share]]
    outcomes_apart: Annotated[float, Field(ge=0)] | None
    records_apart: Share
    people_involved: Share


class Sampling(Frozen):
    """What sampling alone could make of a comparison, if decisions are seen as a sample: :mod:`atr.measures.sampling`.

    ``interval`` is of a ratio, or of the higher rate less the lower one (of the positive outcome); its upper end is
    None where nothing bounds it. ``rates`` are the intervals of the two rates. P values are rounded up, the adjusted
    one is for all tests of the report together. ``groups`` are that of the higher rate and the other, of a difference
    alone. ``outcome`` is the one that all of it is of, where the comparison is of
    several at once. Nothing here is about how far announced chances were altered.
    """

    interval: tuple[float, float | None]
    rates: tuple[tuple[Share, Share], tuple[Share, Share]]
    p_value: Share
    adjusted_p_value: Share
    significant: bool
    groups: Sparse[tuple[str, str] | None] = None
    outcome: Sparse[str | None] = None


class ComparedRow(Frozen):
    """A row of comparisons that is not simply the people with one value of an attribute.

    ``values`` are the values whose people are in it, ``some`` those of which it has some people: they meet the others
    in a rest group, and have a row of their own beside it. ``left_out`` people of rest groups, some of them with a
    value of this row, are not in it.
    """

    label: str
    values: tuple[str, ...]
    some: Sparse[tuple[str, ...]] = ()
    left_out: Annotated[People, Field(exclude_if=not_)] = 0


class ComparedBy(Frozen):
    """What people are compared by: a protected attribute, or an intersection of several attributes.

    ``reference`` is the group that others are compared with, None where there are no two groups; it was ``named`` by
    the publisher, or has the highest rate of the positive outcome, or the largest number of people. ``absent`` are the
    declared values that nobody announced has; of an intersection, the combinations of values that are declared or
    announced ("unknown" and coarser ones left out). ``rows`` are those of more than one value, or without some people
    of theirs; ``left_out`` people, as printed, are in no row, since a value of theirs is not told.
    """

    attribute: str
    attributes: tuple[str, ...]
    reference: str | None
    chosen: Literal["named", "highest", "largest"] | None
    absent: Sparse[tuple[str, ...]] = ()
    rows: Sparse[tuple[ComparedRow, ...]] = ()
    left_out: Annotated[People, Field(exclude_if=not_)] = 0


class Fairness(Frozen):
    """One comparison of two groups of people on the announced mapping.

    ``value`` is None where a ratio does not exist, an end of ``range`` is None where nothing bounds it, ``threshold``
    and ``verdict`` are None where no line is drawn. ``people`` and ``rates`` are those of ``groups``, in order; rates
    of ``outcome``, or of the positive one where none is named. ``sampling`` is there only where the log is a sample.

    ``attributes`` are there for intersections only. ``summary`` is there where conditional parity is summed up over
    classes, by the one of the largest distance or by the mean with the printed people as weights; ``classes`` is of how
    many, and how many there are: those with too few people are not counted; ``worst_condition`` is the class of the
    largest announced distance, of several the first. ``reason`` is why a verdict cannot be told;
    figures of ``different_times`` are none of any one time, exact or not.
    ``shortfall`` is there where a line of ratios is not met: about how many more people of the group below it would
    need the outcome to reach it, by the announced value.

    Of individual fairness ``groups`` are two decision regions by their values, ``pair`` tells of them, and
    ``attribute`` and ``reference`` are empty; ``value`` is the largest excess, None where it is infinite. Where regions
    have too few people, that over all of them has no verdict, and another entry is of those with people enough, if
    there are two.
    """

    measure: Measure
    attribute: str
    attributes: Sparse[tuple[str, ...]] = ()
    groups: tuple[str, str]
    reference: str
    condition: dict[str, str] = Field(default_factory=dict)
    summary: Sparse[Literal["worst_class", "mean_over_classes"] | None] = None
    classes: Sparse[tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] | None] = None
    worst_condition: Sparse[dict[str, str]] = Field(default_factory=dict)
    outcome: str | None
    value: float | None
    range: tuple[float | None, float | None]
    threshold: Share | None
    verdict: Verdict | None
    reason: Sparse[Literal["line_in_range", "too_few_people", "different_times"] | None] = None
    shortfall: Sparse[People | None] = None
    people: tuple[People, People]
    rates: tuple[Share, Share]
    pair: Sparse[Pair | None] = None
    sampling: Sparse[Sampling | None] = None

    @property
    def is_ratio(self) -> bool:
        """Whether its figures are ratios of rates; otherwise they are differences, as shares."""
        return self.measure in MEASURES and MEASURES[self.measure].scale == "ratio"


class Change(Frozen):
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

    @property
    def is_ratio(self) -> bool:
        """Whether its figures are ratios of rates; otherwise they are differences, as shares."""
        return MEASURES[self.measure].scale == "ratio"


class Margin(Frozen):
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


class NotCompared(Frozen):
    """Figures that are not set beside earlier ones, and why.

    ``reason``: the favourable outcome is another (``previous`` and ``now`` name it), or the reference of an attribute
    is (likewise); nothing was compared by the attribute then, or is now; some of its ``groups`` have no earlier figure,
    or none now.
    """

    reason: Literal[
        "outcome_changed",
        "reference_changed",
        "not_compared_then",
        "not_compared_now",
        "no_earlier_figure",
        "no_figure_now",
    ]
    attribute: Sparse[str | None] = None
    groups: Sparse[tuple[str, ...]] = ()
    previous: Sparse[str | None] = None
    now: Sparse[str | None] = None


class Changes(Frozen):
    """What became of the figures since the last report of a period as long that was published before this one was made.

    ``sha256`` is that of its report.json. ``skipped`` is what cannot be compared, and why.
    """

    period: str
    version: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    margin: tuple[Margin, ...] = ()
    entries: tuple[Change, ...] = ()
    skipped: tuple[NotCompared, ...] = ()


class GroupInfluence(Frozen):
    """The influence of an input on the rate of the positive outcome among the people with a value of an attribute.

    ``value`` is the rate less what it would be with the input drawn anew, ``shapley`` the input's part in the distance
    of the rate from that of everybody, ``disparity`` the influence on the distance from the rate of the reference; the
    last two are there only where they are measured.
    """

    attribute: str
    group: str
    value: Difference
    shapley: Sparse[Difference | None] = None
    disparity: Sparse[Difference | None] = None


class Dependence(Frozen):
    """The average announced chance of the positive outcome if everybody had a value; ``covered`` is rounded down.

    ``difference`` is how far it lies from that of the value named ``against``, of the same people: the share ``shared``
    of all, rounded down, whose other values were announced with both. Left out of that value, and where nobody is.
    """

    value: str
    chance: Share
    covered: Share
    difference: Sparse[Difference | None] = None
    shared: Sparse[Share | None] = None


class Influence(Frozen):
    """How far the announced chance of the positive outcome moves if some inputs are drawn anew, on average over people.

    Of one input, of a declared set, or of all together. ``covered`` is the share of draws that are combinations with an
    announced rule, rounded down. ``rate`` is the influence on the rate of everybody, with its sign. ``shapley`` and
    ``rate_shapley``, the Shapley values of ``value`` and ``rate``, and ``dependence`` are of single inputs; the first
    two are left out where there are too many. ``outcomes`` is ``value`` for each other outcome of more than two.
    ``against`` is the value that the others of an input are compared with.
    """

    inputs: tuple[str, ...]
    value: Share
    covered: Share
    rate: Difference
    shapley: Sparse[Difference | None] = None
    rate_shapley: Sparse[Difference | None] = None
    outcomes: Sparse[dict[str, Share]] = Field(default_factory=dict)
    groups: Sparse[tuple[GroupInfluence, ...]] = ()
    against: Sparse[str | None] = None
    dependence: Sparse[tuple[Dependence, ...]] = ()


class TreeNode(Frozen):
    """People of the surrogate tree and their chance; a question has an attribute and the values that lead to ``yes``.

    ``people`` are the sum of printed numbers, rounded as these, ``chance`` is their average announced chance of the
    positive outcome.
    """

    people: People
    chance: Share
    attribute: Sparse[str | None] = None
    values: Sparse[tuple[str, ...]] = ()
    yes: Sparse[TreeNode | None] = None
    no: Sparse[TreeNode | None] = None


class Surrogate(Frozen):
    """A small tree that stands for the announced rules, and how near its chances are to theirs.

    Differences are absolute, ``mean_difference`` is the average over people; ``explained`` is R² weighted by people,
    None where all announced chances are the same.
    """

    tree: TreeNode
    mean_difference: Share
    largest_difference: Share
    explained: Annotated[float, Field(le=1)] | None
