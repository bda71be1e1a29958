"""A report's printed numbers as arrays, with the exact populations they leave open and what follows from all of them.

A rate is a quotient of two sums over people, so its ends over all populations between bounds are found by the sign of
"numerator less rate times people", which is largest or smallest region by region.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from atr import fairness
from atr.announcement import Announcement, open_people
from atr.report import held, model
from atr.shown import UNKNOWN

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Printed:
    """The announced groups of a report.

    Parameters
    ----------
    report
        The report.
    announcement
        Its announced mapping; ``population`` is the exact one where it is known, else the published one.
    cells
        The same as fairness takes it.
    least, most
        (n,) between what the exact populations lie.
    columns
        For each attribute, (n,) the value of each region.
    """

    report: model.PublicReport
    announcement: Announcement
    cells: fairness.AnnouncedCells
    least: Ints
    most: Ints
    columns: dict[str, npt.NDArray[np.object_]]

    @staticmethod
    def of(report: model.PublicReport, population: Ints | None) -> Printed:
        """The numbers of a well-formed report that announces something.

        Parameters
        ----------
        report
            The report.
        population
            (n,) exact people of its regions, if they are known.
        """
        announcement = held.announcement(report, population)
        rounding = report.policy.population_rounding
        between = [open_people(int(n), rounding) if population is None else (n, n) for n in announcement.population]
        least, most = np.array(between, dtype=np.int64).T
        return Printed(
            report=report,
            announcement=announcement,
            cells=held.cells(announcement, policy=report.policy),
            least=least,
            most=most,
            columns={name: np.array(column, dtype=object) for name, column in held.columns(report).items()},
        )

    @property
    def exact(self) -> bool:
        """Whether one population only is left."""
        return bool((self.least == self.most).all())

    @property
    def everyone(self) -> Bools:
        """(n,) all regions."""
        return np.ones(len(self.least), dtype=bool)

    def group(self, position: int) -> Bools:
        """(n,) which regions are those of an announced group."""
        members = np.zeros(len(self.least), dtype=bool)
        members[self.announcement.offsets[position] : self.announcement.offsets[position + 1]] = True
        return members

    def having(self, values: Mapping[str, str]) -> Bools:
        """(n,) which regions have these values."""
        members = self.everyone
        for name, value in values.items():
            members &= self.columns[name] == value
        return members

    def people_by(self, attributes: tuple[str, ...]) -> dict[str, Bools]:
        """(n,) for each group of people by one attribute, or several: which regions are theirs."""
        if attributes not in self._people_by:
            columns = [self.columns[name].tolist() for name in attributes]
            shown = np.array([fairness.joined(parts) for parts in zip(*columns, strict=True)], dtype=object)
            self._people_by[attributes] = {who: shown == who for who in dict.fromkeys(shown.tolist())}
        return self._people_by[attributes]

    def unknown(self, attributes: tuple[str, ...], who: str) -> bool:
        """Whether some value of a group of people is not known."""
        members = self.people_by(attributes)[who]
        return any(self.columns[name][members][0] == UNKNOWN for name in attributes)

    def people(self, members: Bools) -> tuple[int, int]:
        """Between what the number of people of some regions lies."""
        return int(self.least[members].sum()), int(self.most[members].sum())

    def rate(self, members: Bools, event: fairness.EventCells) -> RateBounds:
        """Between what the announced rate of an event among some regions lies, and the two ends of its range."""
        key = members.tobytes(), event.inside.tobytes()
        if key not in self._rates:
            self._rates[key] = self._rate(members, event)
        return self._rates[key]

    def _rate(self, members: Bools, event: fairness.EventCells) -> RateBounds:
        if self.exact:
            found = fairness.rate(event, members)
            low, high = found.range
            return RateBounds(value=(found.value, found.value), low=(low, low), high=(high, high))
        people = _People.of(self, members)
        half = None
        if event.totals is not None:
            digits = np.repeat(self.announcement.group_digits, np.diff(event.offsets))[people.cells]
            half = 0.5 * event.halves * 10.0 ** -digits.astype(np.float64)
        one, other = (
            _Sums(chance[people.cells], lower[people.cells], upper[people.cells], half)
            for chance, lower, upper in (
                (event.chance, event.lower, event.upper),
                (1 - event.chance, 1 - event.upper, 1 - event.lower),
            )
        )
        return RateBounds(value=people.value(one), low=people.low(one), high=_flipped(people.low(other)))

    @cached_property
    def _rates(self) -> dict[tuple[bytes, bytes], RateBounds]:
        return {}

    @cached_property
    def _people_by(self) -> dict[tuple[str, ...], dict[str, Bools]]:
        return {}

    @cached_property
    def outcome_events(self) -> tuple[fairness.EventCells, ...]:
        """For each outcome, that it is the one; the positive one first."""
        return tuple(self.cells.event(a) for a in range(self.cells.outcomes))

    @cached_property
    def events(self) -> tuple[fairness.EventCells, ...]:
        """The events that decide how far two mappings are apart."""
        return self.cells.events()


@dataclass(frozen=True)
class RateBounds:
    """Of a rate and of both ends of its range: between what each lies, for all populations within the rounding."""

    value: Interval
    low: Interval
    high: Interval


def _flipped(interval: Interval) -> Interval:
    return 1 - interval[1], 1 - interval[0]


# --- the ends of a rate


@dataclass(frozen=True)
class _Sums:
    """(k,) chances of an outcome and between what the true ones lie.

    ``half`` is by how much the rate of a region's group was rounded at most, if group rates are exact.
    """

    chance: Floats
    lower: Floats
    upper: Floats
    half: Floats | None


_Reach = Callable[..., Floats]


@dataclass(frozen=True)
class _People:
    """Some regions (``inside``, 0 or 1) among all (k,) of the groups they lie in."""

    cells: Bools
    inside: Floats
    least: Floats
    most: Floats
    starts: Ints
    whole: Bools

    @staticmethod
    def of(printed: Printed, members: Bools) -> _People:
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

    def value(self, sums: _Sums) -> Interval:
        """The announced rate: of a whole group with an exact rate, that of the nearest whole number of people."""

        weights, rounded = self.inside * sums.chance, self.whole & (sums.half is not None)

        def numerator(reach: _Reach, shift: Floats) -> Floats:
            return reach(weights, shift)

        return self._between(*(partial(numerator, shift=np.where(rounded, shift, 0.0)) for shift in (-0.5, 0.5)))

    def low(self, sums: _Sums) -> Interval:
        """The lower end of its range: region by region, and where rates are exact what the group's total leaves."""
        alone, left = self.inside * sums.lower, sums.chance - (1 - self.inside) * sums.upper
        below = None if sums.half is None else left - sums.half

        def numerator(reach: _Reach, more: float, shift: float) -> Floats:
            if below is None:
                return reach(alone)
            return np.maximum(reach(alone), np.minimum(reach(below, more), reach(left, shift)))

        low, high = self._between(partial(numerator, more=0.0, shift=-0.5), partial(numerator, more=1.0, shift=0.5))
        value = self.value(sums)
        return min(low, value[0]), min(high, value[1])

    def _between(self, smallest: Callable[[_Reach], Floats], largest: Callable[[_Reach], Floats]) -> Interval:
        return self._end(smallest, largest=False), self._end(largest, largest=True)

    def _end(self, numerator: Callable[[_Reach], Floats], *, largest: bool) -> float:
        def left(rate: float) -> float:
            return float(np.add.reduce(numerator(partial(self._reach, rate=rate, largest=largest))))

        if left(0.0) <= 0:
            return 0.0
        if left(1.0) >= 0:
            return 1.0
        return float(brentq(left, 0.0, 1.0, xtol=1e-13))

    def _reach(self, weights: Floats, constant: float | Floats = 0.0, *, rate: float, largest: bool) -> Floats:
        """(groups,) the largest or smallest weighted sum of people, less ``rate`` times those inside."""
        gain = weights - rate * self.inside
        furthest = (np.maximum if largest else np.minimum)(self.most * gain, self.least * gain)
        return np.asarray(np.add.reduceat(furthest, self.starts) + constant)
