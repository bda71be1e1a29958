"""Each statement of a report against what its printed numbers allow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from atr.core.arrays import BoolArray, ExactPopulation, segment_of
from atr.core.confidence import round_up
from atr.core.display_text import UNKNOWN
from atr.core.fidelity import promises
from atr.core.publication import RATE_DIGITS, open_total, published_population, rounded_total
from atr.core.tolerances import GRID_TOLERANCE
from atr.mechanisms import MECHANISMS
from atr.report import changes, model
from atr.report.derived import DERIVED_FIELDS
from atr.report.privacy import binding_set, leakages
from atr.report.rounding import down, nearest, rounded_share, share_step
from atr.verify.comparisons import comparisons, either, printed_rate
from atr.verify.finding import Finding, differences, failed
from atr.verify.form import form
from atr.verify.population_bounds import Confidences, PopulationBounds


def findings(report: model.PublicReport, *, population: ExactPopulation | None = None) -> Iterator[Finding]:
    """Find what is false in a report by its own numbers.

    Parameters
    ----------
    report
        The report, as printed.
    population
        (n,) exact people of its regions, in its order, if they are known.

    Returns
    -------
    Findings, each as soon as it is found; of a malformed report, only how it is malformed.
    """
    malformed = list(form(report))
    if malformed:
        yield from malformed
        return
    if report.announced_groups:
        printed = PopulationBounds.of(report, population)
        yield from _people(printed)
        yield from _coverage(report, int(printed.announcement.group_people.sum()), printed.people(printed.everyone))
        yield from _privacy(printed)
        yield from _rates(printed)
        yield from comparisons(printed)
    else:
        yield from _nothing_announced(report)
        yield from _coverage(report, 0, (0, 0))
    yield from _promise(report)
    for where, problem in changes.problems(report):
        yield Finding(f"changes, {where}", problem)
    for name, part in DERIVED_FIELDS.items():
        yield from differences(name, getattr(report, name), part(report))


def _nothing_announced(report: model.PublicReport) -> Iterator[Finding]:
    privacy = report.privacy
    figures = (*_guarantee(privacy), privacy.leakage, report.coverage.rate)
    stated = report.fairness or privacy.own_ceilings or any(figure is not None for figure in figures)
    compared = [by for by in report.compared if (by.reference, by.chosen) != (None, None)]
    return failed(
        (not stated, "groups", "nothing is announced, but figures are stated"),
        (not compared, "compared", "nothing is announced, but groups are compared"),
        (not report.data_quality.unknown, "data_quality.unknown", "nobody is announced"),
    )


def _people(printed: PopulationBounds) -> Iterator[Finding]:
    policy, announcement = printed.report.policy, printed.announcement
    starts = announcement.offsets[:-1]
    most = np.minimum(np.add.reduceat(printed.most, starts), announcement.group_people)
    for i in np.flatnonzero(most < policy.minimum_group_size):
        yield Finding(
            f"{printed.report.announced_groups[i].id}.population",
            f"is below the minimum of {policy.minimum_group_size}",
        )
    people, totals = announcement.published, announcement.group_people
    if printed.exact:
        exact, rounding = announcement.people, policy.population_rounding
        people = published_population(exact, announcement.offsets, rounding=rounding)
        totals = rounded_total(np.add.reduceat(exact, starts), rounding=rounding)
    rounded = (people == announcement.published).all() and (totals == announcement.group_people).all()
    unknown = {
        name: nearest(int(people[column == UNKNOWN].sum()) / int(people.sum()), RATE_DIGITS)
        for name, column in printed.columns.items()
        if UNKNOWN in column
    }
    yield from failed((bool(rounded), "groups", "a printed population is not the rounded exact one"))
    yield from differences("data_quality.unknown", printed.report.data_quality.unknown, unknown)


def _coverage(report: model.PublicReport, published: int, announced: tuple[int, int]) -> Iterator[Finding]:
    """Check the share of people announced.

    Parameters
    ----------
    published
        The people announced, as printed.
    announced
        Smallest and largest exact number of them.
    """
    policy, coverage, counts = report.policy, report.coverage, report.coverage.groups
    rounding = max(policy.minimum_group_size, policy.population_rounding)
    least, most = open_total(coverage.decisions, rounding)
    fewest = counts.withheld_for_size + counts.withheld * policy.minimum_group_size
    others = math.inf if counts.withheld else counts.withheld_for_size * _largest_too_small(policy)
    fits = coverage.decisions >= rounding and coverage.decisions % rounding == 0
    fits = fits and announced[0] + fewest <= most and announced[1] + others >= least
    if not fewest and policy.population_rounding == 1:
        fits = coverage.decisions == published > 0
    if not fits:
        yield Finding("coverage.decisions", "does not fit the people announced and the groups withheld")
        return
    printed = partial(rounded_share, step=share_step(decisions=coverage.decisions, minimum=policy.minimum_group_size))
    low = printed(announced[0] / min(most, announced[0] + others))
    high = printed(announced[1] / max(least, announced[1] + fewest))
    yield from _between("coverage.announced_share", coverage.announced_share, low, high)
    if printed(coverage.announced_share) != coverage.announced_share:
        yield Finding("coverage.announced_share", "is not rounded as the number of decisions demands")


def _largest_too_small(policy: model.PolicyInfo) -> int:
    """Give the most people a group withheld for its size can have: too few by the exact or by the printed number."""
    printed = (policy.minimum_group_size - 1) // policy.population_rounding * policy.population_rounding
    return max(policy.minimum_group_size - 1, open_total(printed, policy.population_rounding)[1])


def _between(where: str, stated: float | None, low: float, high: float) -> Iterator[Finding]:
    if stated is None or not low <= stated <= high:
        yield Finding(where, f"{stated} is stated, {either(low, high)} follows from the printed numbers")


# --- privacy


def _privacy(printed: PopulationBounds) -> Iterator[Finding]:
    report, announcement = printed.report, printed.announcement
    privacy, policy = report.privacy, report.policy
    kept = announcement.at_face_value.tolist()
    before = announcement.uninformative().chance
    sure, prior = printed.confidences(announcement.chance), printed.confidences(before)
    for name, found, groups, ceiling in (
        ("max_confidence", sure, kept, policy.max_confidence),
        ("prior_confidence", prior, kept, policy.max_confidence),
    ):
        yield from _confidence(report, groups, f"privacy.{name}", getattr(privacy, name), found, ceiling)
    own_ceilings = announcement.protection.own_ceilings if kept else ()
    if [(of.attribute, of.set, of.ceiling) for of in privacy.own_ceilings] == [
        (own.attribute, own.set, own.max_confidence) for own in own_ceilings
    ]:
        for own, of in zip(own_ceilings, privacy.own_ceilings, strict=True):
            where = f"privacy.own_ceilings, {of.attribute}{f', {of.set}' if of.set else ''}"
            for name, chance in (("max_confidence", announcement.chance), ("prior_confidence", before)):
                found = printed.confidences(chance, own)
                yield from _confidence(report, kept, f"{where}.{name}", getattr(of, name), found, of.ceiling)
    else:
        yield Finding("privacy.own_ceilings", "are not those of the attributes")
    yield from _by_printed_people(printed, kept)
    yield from _binding(printed, kept, sure)
    worst, of_groups = leakages(announcement)
    yield from differences("privacy.leakage", privacy.leakage, worst)
    for group, follows in zip(report.announced_groups, of_groups, strict=True):
        yield from differences(f"{group.id}.leakage", group.leakage, follows)


def _confidence(
    report: model.PublicReport,
    groups: list[int],
    where: str,
    stated: float | None,
    found: Confidences,
    ceiling: float,
) -> Iterator[Finding]:
    """Check a stated confidence against those found for some groups, and these against the ceiling."""
    digits = report.policy.digits
    if not groups:
        yield from failed((stated is None, where, "is stated, but there is no group it could be of"))
        return
    low, high = (float(round_up(max(confidences[i] for i in groups), digits=digits)) for confidences in found)
    yield from _between(where, stated, low, high)
    for i in groups:
        if found[0][i] > Fraction(str(ceiling)):
            yield Finding(report.announced_groups[i].id, f"{where} exceeds the ceiling {ceiling}")
    yield from failed(
        (stated is None or stated <= ceiling, where, f"exceeds the ceiling {ceiling}"),
        (stated is None or nearest(stated, digits) == stated, where, "has more digits than are printed"),
    )


def _by_printed_people(printed: PopulationBounds, kept: list[int]) -> Iterator[Finding]:
    """Check how sure a reader can be who uses the printed numbers of people, not the side information."""
    announcement, report = printed.announcement, printed.report
    follows = None
    if announcement.known is not None and kept:
        plain, held = announcement.printed_confidences(), announcement.printed_confidences(held=True)
        follows = float(announcement.stated([plain[i] for i in kept]))
        for i in kept:
            if held[i] > Fraction(str(report.policy.max_confidence)):
                yield Finding(report.announced_groups[i].id, "by the printed numbers of people it exceeds the ceiling")
    yield from differences("privacy.printed_confidence", report.privacy.printed_confidence, follows)


def _guarantee(privacy: model.Privacy) -> tuple[object, ...]:
    return (
        privacy.max_confidence,
        privacy.prior_confidence,
        privacy.min_uncertainty,
        privacy.binding_group,
        privacy.binding_set,
    )


def _binding(printed: PopulationBounds, kept: list[int], found: Confidences) -> Iterator[Finding]:
    """Check which group and which set the guarantee is set by."""
    privacy, digits = printed.report.privacy, printed.report.policy.digits
    stated, places = privacy.max_confidence, {printed.report.announced_groups[i].id: i for i in kept}
    if not kept and any(figure is not None for figure in _guarantee(privacy)):
        yield Finding("privacy", "a guarantee is stated, but every group is flattened")
    if not stated or not kept:
        return
    yield from differences("privacy.min_uncertainty", privacy.min_uncertainty, down(-math.log(stated), digits))
    if privacy.binding_group not in places:
        yield Finding("privacy.binding_group", "is no announced group")
        return
    sure, surest = found
    binding, largest = places[privacy.binding_group], max(sure[i] for i in kept)
    first = next(i for i in kept if sure[i] == largest)
    reaches = surest[binding] >= largest and float(round_up(surest[binding], digits=digits)) >= stated
    if binding != first if printed.exact else not reaches:
        yield Finding("privacy.binding_group", "is not the group with the largest confidence")
    follows = binding_set(printed.announcement, binding)
    yield from differences("privacy.binding_set", privacy.binding_set, follows)


# --- rates and promise


def _rates(printed: PopulationBounds) -> Iterator[Finding]:
    yield from _rate(printed, printed.everyone, printed.report.coverage.rate, "coverage.rate")
    group_of = segment_of(printed.announcement.offsets)
    for i, group in enumerate(printed.report.announced_groups):
        if group.status != "flattened":  # whose rates are its chances, by its form
            yield from _rate(printed, group_of == i, group.rate, f"{group.id}.rate")


def _rate(
    printed: PopulationBounds, members: BoolArray, stated: dict[str, float] | None, where: str
) -> Iterator[Finding]:
    """Check the rates of some regions; of two outcomes the second is what the first leaves, by the report's form."""
    outcomes = printed.announcement.outcomes
    for outcome, event in list(zip(outcomes, printed.outcome_events, strict=True))[: 1 if len(outcomes) == 2 else None]:
        allowed = printed_rate(printed.value(members, event))
        yield from _between(where, None if stated is None else stated[outcome], *allowed)


def _promise(report: model.PublicReport) -> Iterator[Finding]:
    policy, kind = report.policy, report.fidelity.kind
    promise = MECHANISMS[policy.mechanism].promise
    demanded = policy.fidelity if policy.fidelity is not None else {kind: None}
    made, floor = (promise(kind, level) for level in (report.fidelity.level, demanded[kind]))
    change = None if made is None else made.largest_change(policy.digits)
    yield from differences("fidelity.largest_change", report.fidelity.largest_change, change)
    if made is None or floor is None:
        yield from _limits(report)
    elif made not in promises(floor, policy.objective or "privacy"):
        yield Finding("fidelity.level", "is not what the policy demands")


def _limits(report: model.PublicReport) -> Iterator[Finding]:
    """Check that chances lie within declared limits; those with no printable number between them leave the nearest."""
    unit = 10**report.policy.digits
    for group in report.announced_groups:
        for region in group.regions:
            lower, upper = (end * unit for end in (region.limits or {}).get(report.positive, (0, 1)))
            ends = sorted((math.ceil(lower - GRID_TOLERANCE), math.floor(upper + GRID_TOLERANCE)))
            told = region.announced
            if told is not None and not ends[0] <= round(told[report.positive] * unit) <= ends[1]:
                where = f"{group.id}, {', '.join(region.sensitive.values())}"
                yield Finding(where, "the announced chance lies outside its limits")
