"""Each statement of a report against what its printed numbers allow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from atr.core.arrays import ExactPopulation, segment_of
from atr.core.display_text import UNKNOWN
from atr.core.fidelity import promises
from atr.core.publication import RATE_DIGITS, open_total, rounded_total
from atr.core.tolerances import GRID_TOLERANCE
from atr.mechanisms import MECHANISMS
from atr.report import changes, model, series
from atr.report.derived import DERIVED_FIELDS
from atr.report.rounding import nearest, rounded_share, share_step
from atr.verify.alike import people_alike
from atr.verify.comparisons import comparisons, printed_rate
from atr.verify.finding import Finding, between, differences, failed
from atr.verify.form import form
from atr.verify.guarantee import guarantee
from atr.verify.population_bounds import PopulationBounds


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
        yield from guarantee(printed)
        yield from _rates(printed)
        yield from comparisons(printed)
    else:
        yield from _nothing_announced(report)
        yield from _coverage(report, 0, (0, 0))
    yield from _promise(report)
    for where, problem in changes.problems(report):
        yield Finding(f"changes, {where}", problem)
    contradictions = [Finding(f"series, {where}", problem) for where, problem in series.problems(report)]
    yield from contradictions or differences("series", report.series, series.again(report))
    followed = True
    for name, part in DERIVED_FIELDS.items():
        for found in differences(name, getattr(report, name), part(report)):
            followed = False
            yield found
    if followed and report.alike:
        yield from people_alike(report)


def _nothing_announced(report: model.PublicReport) -> Iterator[Finding]:
    nothing = dict.fromkeys(name for name, of in model.Privacy.model_fields.items() if of.is_required())
    stated = report.fairness or report.privacy != model.Privacy(**nothing) or report.coverage.rate is not None
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
    enough = zip((most >= policy.minimum_group_size).tolist(), printed.report.announced_groups, strict=True)
    problem = f"is below the minimum of {policy.minimum_group_size}"
    yield from failed(*((holds, f"{group.id}.population", problem) for holds, group in enough))
    people = announcement.published
    if printed.exact:
        people = announcement.rounded(announcement.people)
        totals = rounded_total(np.add.reduceat(announcement.people, starts), rounding=policy.population_rounding)
        same = (people == announcement.published).all() and (totals == announcement.group_people).all()
        yield from failed((bool(same), "groups", "a printed population is not the rounded exact one"))
    unknown = {
        name: nearest(int(people[column == UNKNOWN].sum()) / int(people.sum()), RATE_DIGITS)
        for name, column in printed.columns.items()
        if UNKNOWN in column
    }
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
    yield from between("coverage.announced_share", coverage.announced_share, low, high)
    if printed(coverage.announced_share) != coverage.announced_share:
        yield Finding("coverage.announced_share", "is not rounded as the number of decisions demands")


def _largest_too_small(policy: model.PolicyInfo) -> int:
    """Give the most people a group withheld for its size can have: too few by the exact or by the printed number."""
    printed = (policy.minimum_group_size - 1) // policy.population_rounding * policy.population_rounding
    return max(policy.minimum_group_size - 1, open_total(printed, policy.population_rounding)[1])


# --- rates and promise


def _rates(printed: PopulationBounds) -> Iterator[Finding]:
    """Check the rates of everybody and of each group; of two outcomes the second is what the first leaves, by form."""
    report, outcomes, group_of = printed.report, printed.announcement.outcomes, segment_of(printed.announcement.offsets)
    told = [(printed.everyone, report.coverage.rate, "coverage.rate")] + [
        (group_of == i, group.rate, f"{group.id}.rate")
        for i, group in enumerate(report.announced_groups)
        if group.status != "flattened"  # whose rates are its chances, by its form
    ]
    events = list(zip(outcomes, printed.outcome_events, strict=True))
    for members, rates, where in told:
        for outcome, event in events[:1] if len(events) == 2 else events:
            stated = None if rates is None else rates[outcome]
            yield from between(where, stated, *printed_rate(printed.value(members, event)))


def _promise(report: model.PublicReport) -> Iterator[Finding]:
    policy, kind = report.policy, report.fidelity.kind
    promise = MECHANISMS[policy.mechanism].promise
    demanded = policy.fidelity if policy.fidelity is not None else {kind: None}
    made, floor = (promise(kind, level) for level in (report.fidelity.level, demanded[kind]))
    change = None if made is None else made.largest_change(policy.digits)
    yield from differences("fidelity.largest_change", report.fidelity.largest_change, change)
    if kind == "limits":  # whose chances lie within them, by its form
        return
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
