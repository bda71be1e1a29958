"""The headline of a report: which gap is told first, and how much of it remains among people alike; no English."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atr.core.display_text import UNKNOWN
from atr.report.model import Alike, AlikeFinding, PublicReport
from atr.report.rounding import down, nearest, up

HeadlineId = Literal[
    "gap",
    "about_equal",
    "none",
    "could_be_chance",
    "cannot_be_told",
    "different_times",
    "too_few",
    "one_group",
    "no_groups",
]
RemainsId = Literal[
    "larger",
    "nearly_all",
    "three_quarters",
    "half",
    "quarter",
    "little",
    "none_told",
    "reversed",
    "not_told",
]
FEW_PEOPLE = 30
"""What remains among fewer people of either group is said to be of few."""
PARTS: dict[RemainsId, float] = {"little": 0.0, "quarter": 0.25, "half": 0.5, "three_quarters": 0.75, "nearly_all": 1.0}
"""The parts of a gap that have a name."""
SPREAD = 0.25
"""The part that remains may lie so far from the one it is called by; where its range goes beyond, it is not named."""
SHARE_DIGITS = 2


@dataclass(frozen=True)
class Remains:
    """How much of a gap remains among people alike.

    Parameters
    ----------
    id
        Which part of it.
    alike_in
        The attributes in which these people are alike, by name.
    bounds
        The smallest and largest part that limits allow, as fractions of the gap; below 0 where it is reversed.
    people
        How many of the group and of the reference are compared, as printed.
    few_people
        Whether these are fewer than :data:`FEW_PEOPLE` of either.
    """

    id: RemainsId
    alike_in: tuple[str, ...]
    bounds: tuple[float, float]
    people: tuple[int, int]
    few_people: bool


@dataclass(frozen=True)
class Headline:
    """What a report says first.

    Parameters
    ----------
    id
        ``gap``, or ``about_equal`` where its rates are one as printed; else why no gap is told.
    compared
        The attributes by which people are compared, by name.
    attribute
        That of the gap: a name, or those of an intersection joined; None without a gap, as all below.
    groups
        The group and its reference.
    in_hundred
        How many in 100 of each had the positive outcome.
    people
        How many people each has, as printed.
    remains
        How much of the gap remains among people alike; None where nobody is, and of ``about_equal``.
    """

    id: HeadlineId
    compared: tuple[str, ...]
    attribute: str | None = None
    groups: tuple[str, str] | None = None
    in_hundred: tuple[int, int] | None = None
    people: tuple[int, int] | None = None
    remains: Remains | None = None


def headline(report: PublicReport) -> Headline:
    """Choose the headline of a report, by the rule of docs/headline.md.

    Parameters
    ----------
    report
        The report, complete.

    Returns
    -------
    Ids and numbers; nothing in it is told that a range or chance leaves open.
    """
    compared = tuple(by.attribute for by in report.compared)
    if not report.announced_groups:
        return Headline("no_groups", compared)
    alone, crossed = ([of for of in report.alike if bool(of.attributes) is several] for several in (False, True))
    why: set[str] = set()
    for found in (alone, crossed):
        enough = [of for of in found if _is_known(of) and _has_enough(of, report)]
        told = [of for of in enough if of.everybody.finding in ("higher", "lower")]
        if told:
            return _gap(max(told, key=_size), report, compared)
        why |= {of.everybody.finding for of in enough}
    if not why:
        return Headline("too_few" if any(map(_is_known, report.alike)) else "one_group", compared)
    return Headline(next(of for of in NOTHING_TOLD if of in why), compared)


NOTHING_TOLD: tuple[HeadlineId, ...] = ("could_be_chance", "cannot_be_told", "none", "different_times")
"""Why no gap is told: the first that is true of a comparison."""


def _is_known(of: Alike) -> bool:
    return not any(UNKNOWN in who.split(", ") for who in of.groups)


def _has_enough(of: Alike, report: PublicReport) -> bool:
    return min(of.everybody.people) >= report.policy.minimum_group_size


def _size(of: Alike) -> tuple[float, int]:
    return abs(of.everybody.difference), min(of.everybody.people)


def _gap(of: Alike, report: PublicReport, compared: tuple[str, ...]) -> Headline:
    rates = next(
        entry.rates
        for entry in report.fairness
        if (entry.measure, entry.attribute, entry.groups) == ("statistical_parity", of.attribute, of.groups)
    )
    group, reference = (int(nearest(100 * rate, 0)) for rate in rates)
    equal = group == reference
    return Headline(
        id="about_equal" if equal else "gap",
        compared=compared,
        attribute=of.attribute,
        groups=of.groups,
        in_hundred=(group, reference),
        people=of.everybody.people,
        remains=None if equal else remains(of),
    )


def remains(of: Alike) -> Remains | None:
    """How much of a gap that is told remains among people alike: in the same situation, else in public attributes.

    Returns
    -------
    None where nobody of the group is known to be alike to somebody of the reference.
    """
    left = of.situation or of.public
    if left is None:
        return None
    gap, sign = of.everybody, 1 if of.everybody.finding == "higher" else -1
    low, high = sorted(sign * end for end in left.range)
    least, most = sorted(abs(end) for end in gap.range)
    bounds = min(low / least, low / most), max(high / least, high / most)
    rounded = down(bounds[0], SHARE_DIGITS), up(bounds[1], SHARE_DIGITS)
    part = left.difference / gap.difference
    return Remains(
        id=_part(left.finding, part, rounded, by_half=compares_half(of)),
        alike_in=left.alike_in,
        bounds=rounded,
        people=left.people,
        few_people=min(left.people) < FEW_PEOPLE,
    )


def compares_half(of: Alike) -> bool:
    """Whether at least half of either group are compared, in the same situation, or else in public attributes."""
    left = of.situation or of.public
    return left is not None and all(
        2 * some >= every for some, every in zip(left.people, of.everybody.people, strict=True)
    )


def _part(finding: AlikeFinding, part: float, bounds: tuple[float, float], *, by_half: bool) -> RemainsId:
    if finding == "different_times" or not by_half:
        return "not_told"
    if finding not in ("higher", "lower"):
        return "none_told"
    if bounds[1] < 0:
        return "reversed"
    if part > 1 + SPREAD / 2:
        return "larger" if bounds[0] > 1 else "not_told"
    name, middle = min(PARTS.items(), key=lambda of: (abs(part - of[1]), of[1]))
    return name if middle - SPREAD <= bounds[0] and bounds[1] <= middle + SPREAD else "not_told"
