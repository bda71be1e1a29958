"""What must hold before anybody reviews a report, and its measures beside the true ones. Private."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import PublishedPopulation, TrueMapping, segment_of
from atr.core.display_text import ANY
from atr.core.policy import Policy
from atr.core.publication import CHANCE_DIGITS, RATE_DIGITS
from atr.core.regions import Regions
from atr.core.tolerances import SAME_PEOPLE, SAME_VALUE
from atr.documents.text.language import Language
from atr.measures import group_fairness as fairness
from atr.measures.cells import Cells
from atr.programme import Programme
from atr.report import individual, model
from atr.report.build import columns
from atr.report.compared import rows_of
from atr.report.times import DIFFERENT_TIMES
from atr.verify.statements import findings

ENGLISH = Language.of("en")
_NAMED = 5
"""Measures or statements that a failed check names."""


@dataclass(frozen=True, slots=True)
class TrueMeasure:
    """A fairness measure: as announced, its printed range, and the true value; also across versions of the period."""

    name: str
    true: float | None
    announced: float | None
    range: tuple[float | None, float | None]
    verdict: str | None
    different_times: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """Something that must hold before anybody reviews."""

    name: str
    passed: bool
    detail: str


def true_measures(
    programme: Programme, regions: Regions, announcement: Announcement, report: model.PublicReport
) -> list[TrueMeasure]:
    """Compute the true value of every measure of a report.

    Parameters
    ----------
    programme
        It says what is compared.
    regions
        The decision regions of the groups whose numbers are printed.
    announcement, report
        What is announced, and the report of it.

    Returns
    -------
    One entry for each of the report's, in its order.
    """
    cells = _true_cells(regions, announcement.published, announcement.rounding)
    whole = [ANY not in values for values in announcement.group_values]
    complete = np.flatnonzero(np.array(whole, dtype=np.bool_) & announcement.ruled)
    found = fairness.compare(
        cells,
        columns(announcement, programme),
        compared=[fairness.GroupingSpec(by.attributes, by.reference) for by in report.compared if by.reference],
        legitimate=programme.names(legitimate=True),
        outcomes=announcement.outcomes,
        lines=programme.fairness,
        rows=rows_of(announcement, programme),
    )
    by_entry = {(c.measure, c.by.name, c.groups, frozenset(c.condition), c.outcome): c for c in found}
    measures = []
    for entry in report.fairness:
        if entry.pair is not None:
            published = PublishedPopulation(announcement.published[regions.members(complete)])
            of_complete = _true_cells(regions.take(complete), published, announcement.rounding)
            value = individual.excess(report.complete, of_complete, entry.pair.distance, entry.pair.least_people).value
        elif entry.summary is not None:
            classes = [c for c in found if (c.measure, c.by.name, c.groups) == _comparison_of(entry)]
            kept = fairness.counted(classes, minimum=programme.policy.minimum_group_size)
            values, ranges, people = zip(*((c.value, c.range, sum(c.people)) for c in kept), strict=True)
            value, _ = fairness.overall(entry.summary, values, ranges, people)
        else:
            value = by_entry[*_comparison_of(entry), frozenset(entry.condition.items()), entry.outcome].value
        true = value if math.isfinite(value) else None
        across = entry.reason == DIFFERENT_TIMES
        measures.append(TrueMeasure(_name(entry), true, entry.value, entry.range, entry.verdict, across))
    return measures


def _true_cells(regions: Regions, published: PublishedPopulation, rounding: int) -> Cells[TrueMapping]:
    return Cells(
        people=regions.population,
        chance=regions.decision,
        lower=regions.decision,
        upper=regions.decision,
        offsets=regions.offsets,
        published=published,
        rounding=rounding,
    )


def _comparison_of(entry: model.Fairness) -> tuple[str, str, tuple[str, str]]:
    return entry.measure, entry.attribute, entry.groups


def _name(entry: model.Fairness) -> str:
    name = entry.measure.replace("_", " ")
    if entry.pair is not None:
        least = entry.pair.least_people
        among = "" if least is None else f" of regions of {ENGLISH.say_n('{n} person', '{n} people', least)} or more"
        return f"{name}, {entry.pair.distance.replace('_', ' ')}: largest excess{among}"
    outcome = f", “{entry.outcome}”" if entry.outcome else ""
    over = f", {entry.summary.replace('_', ' ')}" if entry.summary else ""
    given = "".join(f", {attribute}: {value}" for attribute, value in entry.condition.items())
    return f"{name}{outcome}{over}: {' against '.join(entry.groups)}{given}"


def checks(
    programme: Programme,
    regions: Regions,
    announcement: Announcement,
    report: model.PublicReport,
    measures: Sequence[TrueMeasure],
    rows: Mapping[str, int],
) -> Iterator[Check]:
    """Check a report that is to be reviewed, with the true decisions at hand.

    Parameters
    ----------
    programme, announcement, report
        What is announced, by which policy, and the report of it.
    regions
        The decision regions of the groups whose numbers are printed.
    measures
        The measures of the report beside the true ones.
    rows
        What became of the log's rows.

    Returns
    -------
    Each check with its outcome, as it is made.
    """
    adds_up = rows["rows_read"] == sum(rows[k] for k in ("decisions", "duplicates", "corrections", "quarantined"))
    yield Check("every row read is accounted for", adds_up, ENGLISH.say_n("{n} row", "{n} rows", rows["rows_read"]))
    if len(regions):
        yield _promise_kept(regions, announcement)
        yield from _ceiling_kept(announcement, programme.policy)
        if report.policy.group_rates == "exact":
            yield _rates_kept(regions, announcement)
    outside = [
        measure.name
        for entry, measure in zip(report.fairness, measures, strict=True)
        if not _in_range(measure, 10.0**-announcement.digits * (1.5 if entry.summary == "mean_over_classes" else 1))
    ]
    detail = "; ".join(outside[:_NAMED]) or ENGLISH.say_n("{n} measure", "{n} measures", len(measures))
    yield Check("every true measure lies in its printed range", not outside, detail)
    found = list(findings(report))
    detail = "; ".join(str(finding) for finding in found[:_NAMED]) or "verified"
    yield Check("the report bears out its own statements", not found, detail)


def _promise_kept(regions: Regions, announcement: Announcement) -> Check:
    """Check that every chance outside flattened groups is as promised."""
    promised = ~announcement.flat
    chance, true = announcement.chance[promised], regions.decision[promised]
    digits = CHANCE_DIGITS if announcement.fidelity.kind == "limits" else announcement.digits
    low, high = announcement.fidelity.allowed_on_grid(true, digits=digits)
    unit = 10 ** (CHANCE_DIGITS - digits)
    kept = bool(((low * unit <= chance) & (chance <= high * unit)).all())
    moved = float(np.abs(announcement.mapping[promised] - true).max(initial=0.0))
    return Check("every announced chance keeps the promise", kept, f"the largest change is {moved:.4f}")


def _ceiling_kept(announcement: Announcement, policy: Policy) -> Iterator[Check]:
    known = announcement.known
    held = {"for exact and for published populations": announcement.confidences(held=True)}
    if known is not None:
        held = {
            "by the side information": announcement.confidences(held=True),
            "for published populations": announcement.confidences(held=True, printed=True),
        }
    for whose, confidences in held.items():
        surest = max(confidences, default=Fraction(0))
        yield Check(
            f"no group is above the ceiling, {whose}",
            surest <= Fraction(str(policy.max_confidence)),
            f"the surest is {float(surest):.4f}, the ceiling {policy.max_confidence:g}",
        )
    if announcement.fidelity.kind == "limits" and announcement.readers:
        surest_reader = float(announcement.held.max(initial=0))
        kept = surest_reader <= policy.max_confidence + SAME_VALUE
        yield Check("no reader of limits is above the ceiling", kept, f"the surest is {surest_reader:.4f}")
    if known is not None:
        group_of, starts = segment_of(announcement.offsets), announcement.offsets[:-1]
        assumed, own = (people / np.add.reduceat(people, starts)[group_of] for people in (known, announcement.people))
        far = f"{100 * np.abs(assumed - own).max():.1f} points"
        detail = f"shares within a group differ from those of the log by up to {far}"
        yield Check("the side information covers every announced region", bool((known > 0).all()), detail)


def _rates_kept(regions: Regions, announcement: Announcement) -> Check:
    """Check that the chances of every group give its rate, to half a unit of what these are printed with."""
    moved = np.add.reduceat(
        regions.population[:, None] * (announcement.mapping - regions.decision), regions.offsets[:-1]
    )
    told_apart = announcement.fidelity.kind == "limits"
    digits = np.where(told_apart, RATE_DIGITS, announcement.group_digits)
    half = 10.0**-digits / (2 if announcement.chance.shape[1] == 2 or told_apart else 1)
    off = np.abs(moved) - (regions.group_population * half)[:, None] - SAME_PEOPLE
    kept = bool((off[~announcement.limits_only & announcement.ruled] <= 0).all())
    detail = f"the largest difference is {float(np.abs(moved[announcement.ruled]).max(initial=0)):.2f} people"
    return Check("every group keeps its number of people with each outcome, up to rounding", kept, detail)


def _in_range(measure: TrueMeasure, rounded: float) -> bool:
    """Tell whether a true value lies in its range; one of no width was rounded by so much at most.

    A mean of printed figures may be off by half a digit more than these. Without a true ratio nothing can be said.
    """
    low, high = measure.range
    slack = rounded if low == high else SAME_VALUE
    return measure.true is None or (low or 0.0) - slack <= measure.true <= (math.inf if high is None else high) + slack
