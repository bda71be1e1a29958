"""The guarantee of a report: how sure each reader can be, by its printed numbers and by what they leave open."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from atr.core.announced import WHOLE_NUMBERS
from atr.core.arrays import FloatArray
from atr.core.confidence import round_up
from atr.core.tolerances import RECOMPUTED
from atr.mechanisms.calibrated.group import EXACT_PEOPLE
from atr.report import model
from atr.report.privacy import binding_set, leakages
from atr.report.rounding import down, nearest, up
from atr.verify import reader_tables
from atr.verify.finding import Finding, between, differences, failed
from atr.verify.limits import PrintedGroup, Reading, of_limits, of_promise, printed_group
from atr.verify.population_bounds import Confidences, PopulationBounds
from atr.verify.reader_confidence import MODELS

MOST_PEOPLE = 20_000
"""Most people of a group whose rules are counted anew; of larger ones it is checked that no ceiling is exceeded."""
_ANYTHING = np.array([0.0, 1.0])
"""Smallest and largest confidence of a reader who is not followed."""
EARLIER = "earlier"
"""The reader who remembers earlier reports: this one alone does not tell what they say."""


@dataclass(frozen=True)
class Surest:
    """How sure a reader can be in the groups that count, (k,) at least and at most; 0 and 1 where it is not followed.

    Parameters
    ----------
    groups
        Positions of these groups.
    least, most
        Exact, or as near as the tolerance ``noise``.
    noise
        How far they may be off.
    """

    groups: Sequence[int]
    least: Sequence[Fraction]
    most: Sequence[Fraction]
    noise: float = 0.0

    @classmethod
    def of(cls, groups: Sequence[int], found: Confidences) -> Surest:
        """Take some groups of the confidences of all."""
        least, most = found
        return cls(groups, [least[i] for i in groups], [most[i] for i in groups])

    def stated(self, digits: int) -> tuple[float, float]:
        """Give the smallest and the largest number that can be stated, rounded up."""
        if not self.noise:
            return float(round_up(max(self.least), digits=digits)), float(round_up(max(self.most), digits=digits))
        low, high = float(max(self.least)) - self.noise, float(max(self.most)) + self.noise
        return up(max(low, 0.0), digits), up(min(high, 1.0), digits)


@dataclass
class _Readers:
    """What is found of all readers, and the groups that cannot be as they are printed."""

    surest: dict[str, Surest] = field(default_factory=dict)
    prior: Surest | None = None
    rules: list[FloatArray] = field(default_factory=list)
    problems: list[Finding] = field(default_factory=list)


def guarantee(printed: PopulationBounds) -> Iterator[Finding]:
    """Find what is false in what a report says of privacy.

    Parameters
    ----------
    printed
        The numbers of the report, with the populations they leave open.

    Returns
    -------
    A finding for each false or missing statement.
    """
    report, shown = printed.report, printed.announcement
    privacy, ceiling = report.privacy, report.policy.max_confidence
    faced, ruled = shown.at_face_value.tolist(), np.flatnonzero(shown.ruled).tolist()
    found = (_of_limits if report.fidelity.kind == "limits" else _of_whole_numbers)(printed, ruled)
    yield from found.problems
    if faced:
        found.surest["face_value"] = Surest.of(faced, printed.confidences(shown.chance))
        found.prior = found.prior or Surest.of(faced, printed.confidences(shown.uninformative().chance))
    missing, unknown = set(found.surest) - set(privacy.readers), set(privacy.readers) - set(found.surest) - {EARLIER}
    yield from failed(
        (not missing, "privacy.readers", f"{', '.join(sorted(missing))} is missing"),
        (not unknown, "privacy.readers", f"{', '.join(sorted(unknown))} is nobody who was looked at"),
        (EARLIER not in unknown | set(privacy.readers) or report.fidelity.kind == "limits", "privacy", "is no reader"),
    )
    for name, stated in privacy.readers.items():
        refused = name == WHOLE_NUMBERS and report.policy.whole_numbers == "refuse"
        held = ceiling if refused or not name.startswith(WHOLE_NUMBERS) else 1.0
        yield from _confidence(printed, f"privacy.readers.{name}", stated, found.surest.get(name), held)
    covered = [stated for name, stated in privacy.readers.items() if not name.startswith(WHOLE_NUMBERS)]
    yield from differences("privacy.max_confidence", privacy.max_confidence, max(covered, default=None))
    yield from _confidence(printed, "privacy.prior_confidence", privacy.prior_confidence, found.prior, ceiling)
    yield from _by_rates(report)
    yield from _rules_left(printed, privacy.rules_left, found.rules)
    yield from _own_ceilings(printed, faced)
    yield from _by_printed_people(printed, faced)
    yield from _binding(printed, found)
    worst, of_groups = leakages(shown)
    yield from differences("privacy.leakage", privacy.leakage, worst)
    for group, follows in zip(report.announced_groups, of_groups, strict=True):
        yield from differences(f"{group.id}.leakage", group.leakage, follows)


def _of_limits(printed: PopulationBounds, ruled: list[int]) -> _Readers:
    """Follow the readers of limits."""
    report, shown, found = printed.report, printed.announcement, _Readers()
    places, limits = np.repeat(shown.ruled, np.diff(shown.offsets)).cumsum(), shown.fidelity.limits
    assert limits is not None
    assert report.policy.step is not None
    steps = round(1 / report.policy.step)
    least = None if EARLIER in report.privacy.readers else report.policy.least
    readings: list[Reading | None] = []
    for i in ruled:
        first, end = places[shown.offsets[i]] - 1, places[shown.offsets[i + 1] - 1]
        group = printed_group(printed, i, limits[first:end])
        reading, problems = _reading(group, steps, least)
        readings.append(reading)
        problems += [
            f"a reader of the model {name} exceeds a ceiling"
            for name, sure in (reading.sure if reading else {}).items()
            if (sure[:, 0] > group.ceilings + RECOMPUTED).any()
        ]
        found.problems += [Finding(report.announced_groups[i].id, problem) for problem in problems]
    if ruled:
        found.surest = {
            name: _surest(ruled, [_ANYTHING if of is None else of.sure[name].max(axis=0) for of in readings])
            for name in MODELS
        }
        found.prior = _surest(ruled, [_ANYTHING if of is None else of.prior.max(axis=0) for of in readings])
        found.rules = [np.array([0.0, math.inf]) if of is None else of.rules for of in readings]
    return found


def _reading(group: PrintedGroup, steps: int, least: int | None) -> tuple[Reading | None, list[str]]:
    """Follow a group's readers, if it is not too large; of three outcomes where its people are exact."""
    if len(group.rate) != 3 or group.people[0] > EXACT_PEOPLE:
        return of_limits(group, steps, least) if group.people[1] <= MOST_PEOPLE else (None, [])
    if not group.exact or group.people[1] > reader_tables.MOST_PEOPLE:
        return None, []
    found = reader_tables.of_tables(group, steps)
    return found, [] if found else ["no numbers of people within its limits give the printed rates and chances"]


def _surest(groups: list[int], ends: Sequence[FloatArray]) -> Surest:
    """Gather (2,) smallest and largest confidences of groups, which were computed with floating-point numbers."""
    least, most = (list(map(Fraction, of)) for of in np.transpose(ends).tolist())
    return Surest(groups, least, most, RECOMPUTED)


def _of_whole_numbers(printed: PopulationBounds, ruled: list[int]) -> _Readers:
    """Follow the reader who counts the rules within the promise in whole numbers."""
    shown, found = printed.announcement, []
    for i in ruled:
        cells = slice(int(shown.offsets[i]), int(shown.offsets[i + 1]))
        group = printed_group(printed, i, np.stack([printed.cells.lower[cells], printed.cells.upper[cells]], axis=2))
        found.append(of_promise(printed, group, i) if group.people[1] <= MOST_PEOPLE else (_ANYTHING, _ANYTHING))
    if not ruled:
        return _Readers()
    average, largest = (_surest(ruled, of) for of in zip(*found, strict=True))
    return _Readers({WHOLE_NUMBERS: average, f"{WHOLE_NUMBERS}_at_most": largest})


def _confidence(
    printed: PopulationBounds, where: str, stated: float | None, found: Surest | None, ceiling: float
) -> Iterator[Finding]:
    """Check a stated confidence against those found for some groups, and these against the ceiling."""
    digits = printed.report.policy.digits
    if found is not None:
        yield from between(where, stated, *found.stated(digits))
        for i, least in zip(found.groups, found.least, strict=True):
            if least > Fraction(str(ceiling)) + Fraction(found.noise):
                yield Finding(printed.report.announced_groups[i].id, f"{where} exceeds the ceiling {ceiling}")
    elif not where.endswith(EARLIER):
        yield from failed((stated is None, where, "is stated, but there is no group it could be of"))
    yield from failed(
        (stated is None or stated <= ceiling, where, f"exceeds the ceiling {ceiling}"),
        (stated is None or nearest(stated, digits) == stated, where, "has more digits than are printed"),
    )


def _by_rates(report: model.PublicReport) -> Iterator[Finding]:
    """Check what numbers of people and rates of several reports alone are said to tell; not how much: that they say."""
    where, told, digits = "privacy.by_rates", report.privacy.by_rates, report.policy.digits
    possible = len(report.rate_only_groups)
    if told is not None:
        yield from failed(
            (1 <= told.groups <= possible, where, f"is of {told.groups} groups; {possible} show their rates only"),
            (nearest(told.max_confidence, digits) == told.max_confidence, where, "has more digits than are printed"),
        )


def _rules_left(printed: PopulationBounds, stated: int | None, found: list[FloatArray]) -> Iterator[Finding]:
    """Check the smallest number of rules against what each group can have."""
    where, least = "privacy.rules_left", printed.report.policy.least
    if not found or least is None:
        yield from differences(where, stated, None)
        return
    low, high = (min(float(end(of)) for of in found) for end in (np.min, np.max))
    low, high = math.ceil(low * (1 - RECOMPUTED)), high * (1 + RECOMPUTED)
    yield from between(where, stated, low, math.floor(high) if math.isfinite(high) else high)
    counted = np.concatenate(found)
    possible = (
        not (printed.exact and np.isfinite(counted).all())
        or np.isclose(counted, float(min(stated or 0, 10**300)), RECOMPUTED, 0).any()
    )
    yield from failed(
        (bool(possible), where, "is not the number of rules of any group"),
        (stated is None or stated > least, where, f"is not more than the {least} that the policy leaves"),
    )


def _own_ceilings(printed: PopulationBounds, faced: list[int]) -> Iterator[Finding]:
    privacy, shown = printed.report.privacy, printed.announcement
    own_ceilings = shown.protection.own_ceilings if faced and shown.fidelity.kind != "limits" else ()
    stated = [(of.attribute, of.set, of.ceiling) for of in privacy.own_ceilings]
    if stated != [(own.attribute, own.set, own.max_confidence) for own in own_ceilings]:
        yield Finding("privacy.own_ceilings", "are not those of the attributes")
        return
    for own, of in zip(own_ceilings, privacy.own_ceilings, strict=True):
        where = f"privacy.own_ceilings, {of.attribute}{f', {of.set}' if of.set else ''}"
        for name, chance in (("max_confidence", shown.chance), ("prior_confidence", shown.uninformative().chance)):
            found = Surest.of(faced, printed.confidences(chance, own))
            yield from _confidence(printed, f"{where}.{name}", getattr(of, name), found, of.ceiling)


def _by_printed_people(printed: PopulationBounds, faced: list[int]) -> Iterator[Finding]:
    """Check how sure a reader can be who uses the printed numbers of people, not the side information."""
    shown, report, follows = printed.announcement, printed.report, None
    if shown.known is not None:
        follows, held = shown.stated(shown.confidences(printed=True)), shown.confidences(held=True, printed=True)
        for i in faced:
            if held[i] > Fraction(str(report.policy.max_confidence)):
                yield Finding(report.announced_groups[i].id, "by the printed numbers of people it exceeds the ceiling")
    yield from differences("privacy.printed_confidence", report.privacy.printed_confidence, follows)


def _binding(printed: PopulationBounds, found: _Readers) -> Iterator[Finding]:
    """Check which group and which set the guarantee is set by: the first of those in which a reader is surest."""
    privacy, digits = printed.report.privacy, printed.report.policy.digits
    covered = [of for name, of in found.surest.items() if not name.startswith(WHOLE_NUMBERS)]
    if not covered:
        if (privacy.binding_group, privacy.binding_set) != (None, None):
            yield Finding("privacy", "a guarantee is stated, but no group tells of its regions")
        return
    if privacy.max_confidence:
        follows = down(-math.log(privacy.max_confidence), digits)
        yield from differences("privacy.min_uncertainty", privacy.min_uncertainty, follows)
    least: dict[int, float] = defaultdict(float)
    most: dict[int, float] = defaultdict(float)
    for of in covered:
        for i, low, high in zip(of.groups, of.least, of.most, strict=True):
            least[i], most[i] = max(least[i], float(low) - of.noise), max(most[i], float(high) + of.noise)
    places = {printed.report.announced_groups[i].id: i for i in least}
    if privacy.binding_group not in places:
        yield Finding("privacy.binding_group", "is no group that tells of its regions")
        return
    binding = places[privacy.binding_group]
    surer = any(of > most[binding] or (of == most[binding] and i < binding) for i, of in least.items())
    if EARLIER not in privacy.readers and surer:
        yield Finding("privacy.binding_group", "is not the group with the largest confidence")
    yield from differences("privacy.binding_set", privacy.binding_set, binding_set(printed.announcement, binding))
