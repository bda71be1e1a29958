"""People alike in a report, a second way: the ends of every difference as linear programmes over the printed limits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, vstack

from atr.core.announcement import Announcement
from atr.core.arrays import BoolArray, FloatArray, IntArray, Values, segment_of
from atr.core.comparison_rows import joined
from atr.core.display_text import ANY, UNKNOWN
from atr.core.publication import RATE_DIGITS
from atr.core.tolerances import MISSED_STEPS, RECOMPUTED, ZERO_CHANCE
from atr.report import model, reader_view
from atr.verify.finding import Finding, failed


def people_alike(report: model.PublicReport) -> Iterator[Finding]:
    """Find differences among people alike that the printed numbers do not give.

    Parameters
    ----------
    report
        A well-formed report that announces something, whose differences are of groups and attributes that it has.

    Returns
    -------
    A finding for each, to one unit of the last digit.
    """
    regions, unit = _Regions.of(report), 10.0**-report.policy.digits + RECOMPUTED
    for of in report.alike:
        sides = regions.sides(of)
        for name, stated in (("public", of.public), ("situation", of.situation)):
            if stated is None:
                continue
            follows = regions.ends(sides, regions.keys(stated.alike_in))
            printed = stated.difference, *stated.range
            near = all(abs(one - other) <= unit for one, other in zip(printed, follows, strict=True))
            where = f"alike, {of.attribute}: {' against '.join(of.groups)}, {name}"
            ends = ", ".join(f"{x:.{report.policy.digits + 1}f}" for x in follows)
            yield from failed((near, where, f"is stated as {printed}, about {ends} follows"))


_Side = Literal[0, 1] | None
"""Whether a region is of the group (0), the reference (1) or neither."""


@dataclass(frozen=True)
class _Regions:
    """The (n,) announced regions: values, people, and how many of these have the positive outcome, in (g,) groups."""

    columns: dict[str, Values]
    labels: dict[str, Values]
    coarsened: BoolArray
    people: IntArray
    expected: FloatArray
    lowest: FloatArray
    highest: FloatArray
    group: IntArray
    totals: FloatArray | None

    @classmethod
    def of(cls, report: model.PublicReport) -> _Regions:
        """Those of a report."""
        shown = reader_view.announcement(report)
        event, people = reader_view.cells(shown).event(0), shown.published
        expected, lowest, highest = people * event.chance, people * event.lower, people * event.upper
        exact = bool((shown.open_people[0] == shown.open_people[1]).all())
        if exact:
            open_end = (event.upper < 1) & ~shown.flat & (report.fidelity.kind == "limits")
            lowest = np.ceil(lowest - MISSED_STEPS)
            highest = np.floor(highest + np.where(open_end, -MISSED_STEPS, MISSED_STEPS))
        group = segment_of(shown.offsets)
        return cls(
            columns=reader_view.columns(report),
            labels=reader_view.labels(report),
            coarsened=np.array([of.status == "coarsened" for of in report.announced_groups])[group],
            people=people,
            expected=expected,
            lowest=np.minimum(lowest, expected),
            highest=np.maximum(highest, expected),
            group=group,
            totals=None if event.totals is None else _totals(report, shown, event.totals if exact else None),
        )

    def sides(self, of: model.Alike) -> list[_Side]:
        """(n,) 0 for regions of the group, 1 for those of the reference, None for others."""
        columns = [self.columns[name] for name in of.attributes] or [self.labels[of.attribute]]
        told = [None if ANY in values else joined(values) for values in zip(*columns, strict=True)]
        return [0 if who == of.groups[0] else 1 if who == of.groups[1] else None for who in told]

    def keys(self, names: Sequence[str]) -> list[Values | None]:
        """(n,) the values of each region, None where they are not known."""
        told = zip(self.coarsened, zip(*(self.columns[name] for name in names), strict=True), strict=True)
        return [None if coarser or {ANY, UNKNOWN} & {*values} else values for coarser, values in told]

    def ends(self, sides: Sequence[_Side], keys: Sequence[Values | None]) -> tuple[float, float, float]:
        """The difference as expected, at least and at most; not a number where nobody is compared."""
        who = [(i, s, k) for i, (s, k) in enumerate(zip(sides, keys, strict=True)) if s is not None and k is not None]
        people: dict[Values, list[int]] = defaultdict(lambda: [0, 0])
        for i, side, key in who:
            people[key][side] += int(self.people[i])
        everybody = sum(map(min, people.values()))
        if not everybody:
            return math.nan, math.nan, math.nan
        cost = np.zeros(len(self.people))
        for i, side, key in who:
            cost[i] = (1 - 2 * side) * min(people[key]) / max(people[key][side], 1) / everybody
        used = np.isin(self.group, self.group[cost != 0])
        low, high = (sign * self._least(sign * cost, used) for sign in (1, -1))
        return float(cost[used] @ self._adding_up(used)), low, high

    def _least(self, cost: FloatArray, used: BoolArray) -> float:
        """The least cost of the counts of some groups, solved in units of the largest: HiGHS takes tiny ones for 0."""
        bounds: Any = np.column_stack([self.lowest[used], self.highest[used]])
        unit = float(np.abs(cost).max())
        if self.totals is None:
            return unit * float(linprog(cost[used] / unit, bounds=bounds).fun or 0.0)
        of_groups, (least, most) = self._of_groups(used), self._totals(used).T
        limits = vstack([of_groups, -of_groups]), np.append(most, -least)
        return unit * float(linprog(cost[used] / unit, *limits, bounds=bounds).fun or 0.0)

    def _of_groups(self, used: BoolArray) -> Any:
        """(groups, regions) which of the used regions are in each of their groups."""
        groups, number = np.unique(self.group[used], return_inverse=True)
        return csr_matrix((np.ones(len(number)), (number, np.arange(len(number)))), (len(groups), len(number)))

    def _totals(self, used: BoolArray) -> FloatArray:
        """(groups, 2) the people of each used group with the outcome, at least and at most."""
        of_groups, totals = self._of_groups(used), np.asarray(self.totals)[np.unique(self.group[used])]
        ends = of_groups @ np.column_stack([self.lowest[used], self.highest[used]])
        return np.asarray(np.clip(totals, ends[:, :1], ends[:, 1:]))

    def _adding_up(self, used: BoolArray) -> FloatArray:
        """What is expected, or what lies on the way from there to the limits where each group has its total."""
        of_groups, expected = self._of_groups(used), self.expected[used]
        if self.totals is None:
            return expected
        now = of_groups @ expected
        missed, found = np.clip(now, *self._totals(used).T) - now, expected
        for limit in (self.lowest[used], self.highest[used]):
            room = of_groups @ (limit - expected)
            part = np.divide(missed, room, out=np.zeros_like(missed), where=np.abs(room) > ZERO_CHANCE)
            found = found + (of_groups.T @ np.clip(part, 0, 1)) * (limit - expected)
        return found


def _totals(report: model.PublicReport, shown: Announcement, exact: FloatArray | None) -> FloatArray:
    """(g, 2) people with the outcome, at least and at most: by printed rates; of exact people by chances as well.

    ``exact`` are (g, 2) the whole numbers that rates leave of exact people.
    """
    found, half = [], 0.5 * 10.0**-RATE_DIGITS
    for g, group in enumerate(report.announced_groups):
        of, rate = slice(shown.offsets[g], shown.offsets[g + 1]), (group.rate or {})[report.positive]
        people, expected = int(shown.published[of].sum()), float(shown.published[of] @ shown.mapping[of, 0])
        low, high = people * max(rate - half, 0.0), people * min(rate + half, 1.0)
        if exact is not None:
            low, high = exact[g].tolist()
            off = people * 10.0 ** -int(shown.group_digits[g]) / (2 if len(report.outcomes) == 2 else 1)
            ends = math.ceil(expected - off - MISSED_STEPS), math.floor(expected + off + MISSED_STEPS)
            if not shown.limits_only[g] and max(low, ends[0]) <= min(high, ends[1]):
                low, high = max(low, ends[0]), min(high, ends[1])
        found.append((low, high))
    return np.array(found, dtype=np.float64).reshape(-1, 2)
