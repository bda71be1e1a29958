"""A report's printed numbers as arrays, with the exact populations they leave open and what follows from all of them.

A rate is a quotient of two sums over people, so its ends over all populations between bounds are found by the sign of
"numerator less rate times people", which is largest or smallest region by region.

``least_people`` is shared with :mod:`atr.measures.rates` because it is a theorem with one formulation, about outcomes
alone, which tests compare with linear programmes; what is checked are other numbers, its bounds over all populations
within the rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from atr.core.announcement import Announcement
from atr.core.arrays import AnnouncedMapping, BoolArray, ExactPopulation, FloatArray, IntArray
from atr.core.comparison_rows import joined
from atr.core.display_text import ANY
from atr.core.protected import OwnCeiling, ProtectedSets
from atr.core.publication import open_total, rounded_total
from atr.core.tolerances import ROOT_TOLERANCE
from atr.measures.cells import Cells, EventCells, Outcomes
from atr.measures.feasible_outcomes import least_people
from atr.measures.rates import announced_rate
from atr.report import model, reader_view

Interval = tuple[float, float]
Confidences = tuple[list[Fraction], list[Fraction]]


@dataclass(frozen=True)
class RateBounds:
    """Bounds of a rate, a difference or a ratio, and of both ends of its range, for all populations left open.

    Parameters
    ----------
    value, low, high
        Smallest and largest value, lower end and upper end; an end of a ratio may be infinite.
    """

    value: Interval
    low: Interval
    high: Interval


@dataclass(frozen=True)
class PopulationBounds:
    """The announced groups of a report, and the populations that its rounding leaves open.

    Parameters
    ----------
    report
        The report.
    announcement
        Its announced mapping; ``people`` are the exact ones where they are known, else the published ones.
    cells
        The same as the measures of fairness take it.
    least, most
        (n,) smallest and largest exact populations, in people.
    columns, labels
        For each attribute, (n,) the value of each region, and the row of the comparisons that it is in.
    """

    report: model.PublicReport
    announcement: Announcement
    cells: Cells[AnnouncedMapping]
    least: IntArray
    most: IntArray
    columns: dict[str, npt.NDArray[np.object_]]
    labels: dict[str, npt.NDArray[np.object_]]
    _event_cells: dict[Outcomes, EventCells] = field(default_factory=dict, init=False)
    _values: dict[tuple[bytes, Outcomes], Interval] = field(default_factory=dict, init=False)
    _rates: dict[tuple[bytes, Outcomes], RateBounds] = field(default_factory=dict, init=False)
    _members: dict[tuple[tuple[str, ...], bool], dict[str, BoolArray]] = field(default_factory=dict, init=False)

    @staticmethod
    def of(report: model.PublicReport, population: ExactPopulation | None) -> PopulationBounds:
        """Read the arrays of a well-formed report that announces something.

        Parameters
        ----------
        report
            The report.
        population
            (n,) exact people of its regions, if they are known.

        Returns
        -------
        Its announcement, with least and most people the same where the population is known.
        """
        announcement = reader_view.announcement(report, population)
        least, most = announcement.open_people if population is None else (announcement.people, announcement.people)
        if (least == most).all():
            announcement = replace(announcement, people=ExactPopulation(least))
        return PopulationBounds(
            report=report,
            announcement=announcement,
            cells=reader_view.cells(announcement),
            least=least,
            most=most,
            columns={name: np.array(column, dtype=object) for name, column in reader_view.columns(report).items()},
            labels={name: np.array(column, dtype=object) for name, column in reader_view.labels(report).items()},
        )

    @property
    def exact(self) -> bool:
        """Whether the rounding leaves only one population."""
        return bool((self.least == self.most).all())

    def settles(self, *sets: BoolArray) -> bool:
        """Tell whether, besides, rates leave one number of people with each outcome of every group.

        Of all groups that some sets of people, (n,) each, have a part in.
        """
        if not self.exact or self.cells.totals is None:
            return self.exact
        groups = np.logical_or.reduceat(np.logical_or.reduce(sets), self.announcement.offsets[:-1])
        low, high = np.moveaxis(self.cells.totals[:, groups], 2, 0)
        return bool((low == high).all())

    @property
    def everyone(self) -> BoolArray:
        """(n,) all regions."""
        return np.ones(len(self.least), dtype=bool)

    def whole(self, members: BoolArray) -> bool:
        """Tell whether some regions, (n,), are all regions of their groups."""
        starts = self.announcement.offsets[:-1]
        return bool((np.logical_and.reduceat(members, starts) == np.logical_or.reduceat(members, starts)).all())

    def having(self, values: Mapping[str, str]) -> BoolArray:
        """Select the regions that have some values.

        Parameters
        ----------
        values
            Attributes and their values; a region must have all of them.

        Returns
        -------
        (n,) whether each region has them.
        """
        having = [self.columns[name] == value for name, value in values.items()]
        return np.asarray(np.logical_and.reduce([self.everyone, *having]))

    def people_by(self, attributes: tuple[str, ...], *, alone: bool = False) -> dict[str, BoolArray]:
        """Divide the regions into groups of people by one attribute, or several.

        Parameters
        ----------
        attributes
            Their names.
        alone
            Whether values that meet in a rest group are not taken as one, as within classes.

        Returns
        -------
        For each group, by its joined values, (n,) which regions are its own.
        """
        if (attributes, alone) not in self._members:
            of_rows = len(attributes) == 1 and not alone
            own = [self.labels[attributes[0]]] if of_rows else [self.columns[name] for name in attributes]
            parts = list(zip(*(column.tolist() for column in own), strict=True))
            shown = np.array([joined(values) for values in parts], dtype=object)
            told = dict.fromkeys(who for who, values in zip(shown.tolist(), parts, strict=True) if ANY not in values)
            self._members[attributes, alone] = {who: shown == who for who in told}
        return self._members[attributes, alone]

    def people(self, members: BoolArray) -> tuple[int, int]:
        """Give the smallest and largest number of people in some regions, (n,): whole groups have printed totals."""
        shown = self.announcement
        whole = np.logical_and.reduceat(members, shown.offsets[:-1]) & (not self.exact)
        groups = np.array([open_total(n, shown.rounding) for n in shown.group_people[whole].tolist()]).reshape(-1, 2)
        parts = members & ~np.repeat(whole, np.diff(shown.offsets))
        return int(groups[:, 0].sum() + self.least[parts].sum()), int(groups[:, 1].sum() + self.most[parts].sum())

    def printed_people(self, members: BoolArray) -> tuple[int, int]:
        """Give the smallest and largest number that can be printed for the people in some regions, (n,)."""
        least, most = rounded_total(np.array(self.people(members)), rounding=self.announcement.rounding).tolist()
        return least, most

    def confidences(self, chance: IntArray, own: OwnCeiling | None = None) -> Confidences:
        """Compute the maximum confidence in each group, and the largest that the rounding allows.

        Parameters
        ----------
        chance
            (n, outcomes) announced chances, in units of the last digit.
        own
            Look only at the protected sets under this ceiling of their own; None: at all of them.

        Returns
        -------
        (g,) the confidence with the people that are known or printed, and (g,) the largest over all populations within
        the rounding; the same where readers use side information.

        References
        ----------
        Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, Def. 3 and 4.
        """
        announcement = replace(self.announcement, chance=chance)
        sure = announcement.confidences(own)
        surest = list(sure)
        faced, regions = announcement.at_face_value, announcement.face_regions
        if announcement.known is not None:
            return sure, surest
        values, offsets = announcement.face_values
        sets = announcement.sets or ProtectedSets.regions(np.array(offsets))
        chosen = [True] * len(sets) if own is None else announcement.protection.under(own, values, offsets).tolist()
        for x in chance[regions].T:
            least, most = self.least[regions] * x, self.most[regions] * x
            others = np.add.reduceat(least, offsets[:-1])[sets.group_of_set] - sets.sums(least)
            people = zip(faced[sets.group_of_set], sets.sums(most).tolist(), others.tolist(), chosen, strict=True)
            for group, inside, rest, counts in people:
                if counts and inside:
                    surest[group] = max(surest[group], Fraction(inside, inside + rest))
        return sure, surest

    def event(self, outcomes: Outcomes) -> EventCells:
        """Give the cells for the event that the outcome is one of some."""
        if outcomes not in self._event_cells:
            self._event_cells[outcomes] = self.cells.event(*outcomes)
        return self._event_cells[outcomes]

    @property
    def outcome_events(self) -> list[Outcomes]:
        """The event of each single outcome, the positive one first."""
        return [frozenset({a}) for a in range(self.cells.outcomes)]

    @cached_property
    def events(self) -> list[Outcomes]:
        """The events whose largest difference between two mappings is their total variation distance."""
        return [event.outcomes for event in self.cells.events()]

    def value(self, members: BoolArray, event: Outcomes) -> Interval:
        """Give the smallest and largest announced rate of an event among some regions.

        Parameters
        ----------
        members
            (n,) which regions.
        event
            Positions of the outcomes.

        Returns
        -------
        Rates from 0 to 1; the same twice where the population is exact.
        """
        if self.settles(members):
            rate = announced_rate(self.event(event), members)
            return rate, rate
        return self._value(members, event)

    def rate(self, members: BoolArray, event: Outcomes) -> RateBounds:
        """Bound the announced rate of an event among some regions, and the two ends of its range.

        For populations that are not exact. The ends are those that all outcomes leave together.

        Parameters
        ----------
        members
            (n,) which regions.
        event
            Positions of the outcomes.

        Returns
        -------
        Smallest and largest rate, lower end and upper end; all from 0 to 1.
        """
        key = members.tobytes(), event
        if key not in self._rates:
            people, others = _People.of(self, members), frozenset(range(self.cells.outcomes)) - event
            value, low, against = self._value(members, event), *(self._least(people, of) for of in (event, others))
            self._rates[key] = RateBounds(
                value,
                (min(low[0], value[0]), min(low[1], value[1])),
                (max(1 - against[1], value[0]), max(1 - against[0], value[1])),
            )
        return self._rates[key]

    def _value(self, members: BoolArray, event: Outcomes) -> Interval:
        """Bound the announced rate: a whole group whose rate is exact has that of its total."""
        key = members.tobytes(), event
        if key not in self._values:
            people = _People.of(self, members)
            whole = people.whole & (self.cells.totals is not None)
            by_rate = np.repeat(whole, people.sizes)
            told, off, chance = self._told(event), self._off(event), self.event(event).chance
            told, off, chance = (of[people.cells] for of in (told, off, chance))
            chance = people.inside * np.where(by_rate, told, chance)
            self._values[key] = people.ends(chance[None], (by_rate * off)[None], np.where(whole, 0.5, 0.0)[None])
        return self._values[key]

    def _told(self, event: Outcomes) -> FloatArray:
        """(n,) the printed rate of an event in the group of each region; its chance where chances tell the rate."""
        if self.report.fidelity.kind != "limits":
            return self.event(event).chance
        if 2 * len(event) > self.cells.outcomes:
            return 1 - self._told(frozenset(range(self.cells.outcomes)) - event)
        return np.asarray(self._printed_rates[:, sorted(event)].sum(axis=1))

    @cached_property
    def _printed_rates(self) -> FloatArray:
        """(n, outcomes) the printed rates of the group of each region."""
        printed = [
            [(group.rate or {})[a] for a in self.announcement.outcomes] for group in self.report.announced_groups
        ]
        return np.repeat(np.array(printed), np.diff(self.announcement.offsets), axis=0)

    def _off(self, event: Outcomes) -> FloatArray:
        """(n,) how far that may be from the true rate: as often as there are outcomes in the event, or outside."""
        half = np.repeat(np.asarray(self.cells.half), np.diff(self.announcement.offsets))
        return min(len(event), self.cells.outcomes - len(event)) * half

    def _least(self, people: _People, event: Outcomes) -> Interval:
        """Bound the lower end of the range of a rate: in each group it is the largest of some bounds.

        A bound counts people by the limits of their cells, and by the total of their group, which printed rates tell.
        """
        k = self.cells.outcomes
        bounds = [({event: 1}, {})] if self.cells.totals is None else list(least_people(event, k))
        weights, off, groups = (np.zeros((len(bounds), size)) for size in (len(people.inside),) * 2 + (1,))
        for i, (by_cells, by_total) in enumerate(bounds):
            for of, often in by_cells.items():
                weights[i] += often * people.inside * self.event(of).lower[people.cells]
            for of, often in by_total.items():
                upper = self.event(of).upper[people.cells]
                weights[i] += often * (self._told(of)[people.cells] - upper + people.inside * upper)
                off[i] += often * self._off(of)[people.cells]
                groups[i] += 0.5 * often * min(len(of), k - len(of))
        return people.ends(weights, off, groups)


@dataclass(frozen=True)
class _People:
    """Some regions (``inside``, 0 or 1) among all (k,) of the groups they lie in."""

    cells: BoolArray
    inside: FloatArray
    least: FloatArray
    most: FloatArray
    starts: IntArray
    whole: BoolArray

    @staticmethod
    def of(printed: PopulationBounds, members: BoolArray) -> _People:
        starts, sizes = printed.announcement.offsets[:-1], np.diff(printed.announcement.offsets)
        touched = np.logical_or.reduceat(members, starts)
        cells = np.repeat(touched, sizes)
        return _People(
            cells=cells,
            inside=members[cells].astype(np.float64),
            least=printed.least[cells].astype(np.float64),
            most=printed.most[cells].astype(np.float64),
            starts=np.cumsum([0, *sizes[touched][:-1]], dtype=np.int64),
            whole=np.logical_and.reduceat(members, starts)[touched],
        )

    @property
    def sizes(self) -> IntArray:
        """(groups,) how many regions each group has."""
        return np.diff(np.append(self.starts, len(self.inside)))

    def ends(self, weights: FloatArray, off: FloatArray, groups: FloatArray) -> Interval:
        """Give the smallest and the largest rate over all populations, its numerator a sum over groups.

        That of a group is the largest of some bounds, each a sum over people.

        Parameters
        ----------
        weights
            (bounds, k) what each person of a region adds to a sum.
        off
            (bounds, k) by how much this may be off, for each person,
        groups
            (bounds, groups) or else people by which the sum of a group may be off; of all groups alike where there is
            one column.
        """

        def end(sign: int) -> float:
            furthest = np.maximum if sign > 0 else np.minimum

            def left(rate: float) -> float:
                gain = np.stack([weights + sign * off, weights]) - rate * self.inside
                sums = np.add.reduceat(furthest(self.most * gain, self.least * gain), self.starts, axis=-1)
                return float(furthest(sums[0], sums[1] + sign * groups).max(axis=0).sum())

            if left(0.0) <= 0:
                return 0.0
            return 1.0 if left(1.0) >= 0 else float(brentq(left, 0.0, 1.0, xtol=ROOT_TOLERANCE))

        return end(-1), end(1)
