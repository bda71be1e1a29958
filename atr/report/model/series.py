"""The published releases of a series over time: rates of the positive outcome by group, and which changes are told."""

from __future__ import annotations

from operator import not_
from typing import Annotated, Literal

from pydantic import Field

from atr.report.model.base import Difference, Frozen, People, Share, Sparse
from atr.report.model.figures import NotCompared

SERIES_LENGTH = 12
"""The releases that a report shows at most, itself included."""


class SeriesGroup(Frozen):
    """The rate of the positive outcome among the people of one row of the comparisons, in one release.

    ``people``, those ``left_out`` (:class:`ComparedRow`) and ``rate`` are as printed in that release; ``range`` is that
    of the true rate, left out where groups show it exactly, to the nearest percent. ``counts`` are the people with the
    outcome, at least and at most, of the fewest people that the printed number can stand for. ``interval`` is what
    sampling could make of them; left out where the log is no sample. Numbers of ``different_times`` are of no one
    version of the log: they have neither an interval nor a change.
    """

    group: str
    people: People
    left_out: Annotated[People, Field(exclude_if=not_)] = 0
    rate: Share
    range: Sparse[tuple[Share, Share] | None] = None
    counts: tuple[People, People, Annotated[int, Field(ge=1)]]
    interval: Sparse[tuple[Share, Share] | None] = None
    different_times: Annotated[bool, Field(exclude_if=not_)] = False


class SeriesAttribute(Frozen):
    """The groups by a protected attribute in one release, in the order of its values."""

    attribute: str
    reference: str
    groups: tuple[SeriesGroup, ...]


class RateChange(Frozen):
    """The rate of a group less that in the release before; both are printed to the nearest percent.

    ``told`` only where the two ranges (of an exact rate what it was rounded from) do not overlap, whatever the outcomes
    of the people left out, and, of samples, the test of two independent samples is significant; ``reason`` says
    otherwise why not. The test is of the ends of
    ``counts`` nearest to each other; its p values are rounded up, the adjusted one is for all groups of the release.
    """

    attribute: str
    group: str
    change: Difference
    p_value: Sparse[Share | None] = None
    adjusted_p_value: Sparse[Share | None] = None
    told: bool
    reason: Sparse[
        Literal["different_times", "too_few_people", "ranges_overlap", "left_out", "could_be_chance"] | None
    ] = None


class SeriesRelease(Frozen):
    """One published release: its rates, and what became of them since the one before it in the series.

    ``sha256`` is that of its ``report.json``; the report itself, which comes last, has none. ``skipped`` is what cannot
    be set beside the release before, and why; where the reference of an attribute changed, rates are compared.
    """

    period: str
    version: Annotated[int, Field(ge=1)]
    sha256: Sparse[Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None] = None
    positive: str
    attributes: tuple[SeriesAttribute, ...]
    changes: tuple[RateChange, ...] = ()
    skipped: tuple[NotCompared, ...] = ()
