"""Each statement of a well-formed report against what its printed numbers allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from pydantic import BaseModel

import atr
from atr.core.confidence import round_up
from atr.core.display_text import UNKNOWN
from atr.core.fidelity import ladder
from atr.core.fidelity_bounds import GRID_TOLERANCE
from atr.core.protected import OwnCeiling, ProtectedSets, floored
from atr.core.publication import RATE_DIGITS, open_people, published_population
from atr.measures import group_fairness as fairness
from atr.report import build, changes, derived, model, wording, yardsticks
from atr.report.comparisons import ComparisonFormatter, in_classes
from atr.report.reader_view import promise
from atr.report.rounding import bounds as between
from atr.report.rounding import down, nearest, up
from atr.verify import consistency as figures
from atr.verify.finding import Finding
from atr.verify.population_bounds import Bools, Interval, Ints, PopulationBounds, RateBounds

_NOISE = 1e-9
_Confidences = tuple[list[Fraction], list[Fraction]]


def of(printed: PopulationBounds) -> Iterator[Finding]:
    """What is false in a report that announces something."""
    yield from _people(printed)
    yield from _coverage(printed.report, int(printed.announcement.published.sum()), printed.people(printed.everyone))
    yield from _privacy(printed)
    yield from _leakage(printed)
    yield from _rates(printed)
    yield from _promise(printed.report)
    expected = _expected(printed)
    yield from _compared(printed, expected)
    yield from _fairness(printed, expected)
    yield from _changes(printed.report)
    yield from _derived(printed.report)


def of_nothing(report: model.PublicReport) -> Iterator[Finding]:
    """What is false in a report that announces no group."""
    privacy = report.privacy
    figures = (*_guarantee(privacy), privacy.flattened_confidence, privacy.leakage)
    stated = report.fairness or report.coverage.rate is not None or privacy.own_ceilings
    if stated or any(figure is not None for figure in figures):
        yield Finding("groups", "nothing is announced, but figures are stated")
    for by in report.compared:
        if (by.reference, by.chosen) != (None, None):
            yield Finding(f"compared, {by.attribute}", "nothing is announced, but groups are compared")
    yield from _coverage(report, 0, (0, 0))
    if report.data_quality.unknown:
        yield Finding("data_quality.unknown", "nobody is announced")
    yield from _promise(report)
    yield from _changes(report)
    yield from _derived(report)


# --- people


def _people(printed: PopulationBounds) -> Iterator[Finding]:
    policy, published = printed.report.policy, printed.announcement.published
    for i, group in enumerate(printed.report.announced_groups):
        inside = printed.group(i)
        if min(printed.people(inside)[1], int(published[inside].sum())) < policy.minimum_group_size:
            yield Finding(f"{group.id}.population", f"is below the minimum of {policy.minimum_group_size}")
    rounded = published_population(printed.announcement.population, rounding=policy.population_rounding)
    if (published != rounded).any():
        yield Finding("groups", "a printed population is not the rounded exact one")
    shares = {
        name: int(published[column == UNKNOWN].sum()) / int(published.sum())
        for name, column in printed.columns.items()
        if UNKNOWN in column
    }
    if printed.report.data_quality.unknown != {n: nearest(s, RATE_DIGITS) for n, s in shares.items()}:
        yield Finding("data_quality.unknown", "is not the share of announced people whose value is unknown")


def _coverage(report: model.PublicReport, published: int, announced: tuple[int, int]) -> Iterator[Finding]:
    """Against the people announced, as printed and between what the exact number lies."""
    policy, coverage, counts = report.policy, report.coverage, report.coverage.groups
    rounding = max(policy.minimum_group_size, policy.population_rounding)
    least, most = open_people(coverage.decisions, rounding)
    if not counts.withheld_for_size + counts.withheld:
        if policy.population_rounding == 1:
            fits = coverage.decisions == published
        else:
            fits = coverage.decisions % rounding == 0 and announced[0] <= most and announced[1] >= least
        if not fits or not published:
            yield Finding("coverage.decisions", "nobody is withheld, but it is not the number of people announced")
        if coverage.announced_share != 1:
            yield Finding("coverage.announced_share", "is not 1, but nobody is withheld")
        return
    fewest = counts.withheld_for_size + counts.withheld * policy.minimum_group_size
    others = math.inf if counts.withheld else counts.withheld_for_size * _largest_too_small(policy)
    multiple = coverage.decisions >= rounding and coverage.decisions % rounding == 0
    if not multiple or announced[0] + fewest > most or announced[1] + others < least:
        yield Finding("coverage.decisions", "does not fit the people announced and the groups withheld")
        return
    printed = partial(build.announced_share, decisions=coverage.decisions, minimum=policy.minimum_group_size)
    low = printed(announced[0] / min(most, announced[0] + others))
    high = printed(announced[1] / max(least, announced[1] + fewest))
    share = coverage.announced_share
    if not low <= share <= high or printed(share) != share:
        yield Finding("coverage.announced_share", f"{share} is stated, {_either(low, high)} follows")


def _largest_too_small(policy: model.PolicyInfo) -> int:
    """The most people a group withheld for its size can have: too few by the exact or by the printed number."""
    rows = (policy.minimum_group_size - 1) // policy.population_rounding
    _, most = open_people(policy.population_rounding, policy.population_rounding)
    return max(policy.minimum_group_size - 1, rows * most)


# --- privacy


def _privacy(printed: PopulationBounds) -> Iterator[Finding]:
    report, digits, privacy = printed.report, printed.report.policy.digits, printed.report.privacy
    above, before = printed.announcement.flattened, printed.announcement.uninformative().chance
    kept, flattened = np.flatnonzero(~above).tolist(), np.flatnonzero(above).tolist()
    holds_for = wording.holds_for(wording.sensitive(report), known_from=report.policy.side_information)
    if privacy.holds_for != holds_for:
        yield Finding("privacy.holds_for", "is not for whom the guarantee holds")
    sure = _confidences(printed, printed.announcement.chance)
    prior = _confidences(printed, before)
    yield from _confidence("max_confidence", sure, kept, report)
    yield from _confidence("prior_confidence", prior, kept, report)
    yield from _confidence("flattened_confidence", prior, flattened, report)
    yield from _own_ceilings(printed, kept)
    yield from _by_printed_people(printed, kept)
    ceiling = Fraction(floored(report.policy.max_confidence, digits=digits))
    held = [(ceiling, prior)] + [
        (ceiling * Fraction(str(own.factor)), _confidences(printed, before, own))
        for own in (printed.announcement.protection.own_ceilings if flattened else ())
    ]
    if flattened and printed.announcement.known is not None:
        by_printed = printed.announcement.uninformative().printed_confidences(held=True)
        held.append((ceiling, (by_printed, by_printed)))
    for group in flattened:
        if all(surest[group] <= highest for highest, (_, surest) in held):
            yield Finding(report.announced_groups[group].id, "is flattened, though the ceiling of the policy is kept")
    if not kept and any(figure is not None for figure in _guarantee(privacy)):
        yield Finding("privacy", "a guarantee is stated, but every group is flattened")
    if privacy.max_confidence is None:
        return
    if privacy.max_confidence > report.policy.max_confidence:
        yield Finding("privacy.max_confidence", "exceeds the ceiling of the policy")
    if privacy.max_confidence and privacy.min_uncertainty != down(-math.log(privacy.max_confidence), digits):
        yield Finding("privacy.min_uncertainty", "is not minus the logarithm of max_confidence, rounded down")
    yield from _binding(printed, privacy.max_confidence)
    yield from _binding_set(printed)


def _by_printed_people(printed: PopulationBounds, kept: list[int]) -> Iterator[Finding]:
    """How sure a reader can be who does not use the side information: by the printed numbers, so to the last digit."""
    announcement, report = printed.announcement, printed.report
    if announcement.known is None or not kept:
        if report.privacy.printed_confidence is not None:
            yield Finding("privacy.printed_confidence", "is stated, but there is no side information, or no group")
        return
    plain = announcement.printed_confidences()
    follows = float(announcement.stated([plain[i] for i in kept]))
    if report.privacy.printed_confidence != follows:
        stated = report.privacy.printed_confidence
        yield Finding("privacy.printed_confidence", f"{stated} is stated, {follows} follows from the printed numbers")
    ceiling, confidences = Fraction(str(report.policy.max_confidence)), announcement.printed_confidences(held=True)
    for i in kept:
        if confidences[i] > ceiling:
            yield Finding(report.announced_groups[i].id, "by the printed numbers of people it exceeds the ceiling")


def _own_ceilings(printed: PopulationBounds, kept: list[int]) -> Iterator[Finding]:
    """What is stated of ceilings of their own: of those that sensitive attributes have, in their order."""
    announcement, report = printed.announcement, printed.report
    stated = [(of.attribute, of.set, of.ceiling) for of in report.privacy.own_ceilings]
    expected = announcement.protection.own_ceilings if kept else ()
    if stated != [(own.attribute, own.set, own.max_confidence) for own in expected]:
        yield Finding("privacy.own_ceilings", "are not those of the attributes")
        return
    before = announcement.uninformative().chance
    for own, of in zip(expected, report.privacy.own_ceilings, strict=True):
        for name, chance in (("max_confidence", announcement.chance), ("prior_confidence", before)):
            yield from _confidence(name, _confidences(printed, chance, own), kept, report, of=of)


def _confidence(
    name: str,
    found: _Confidences,
    groups: list[int],
    report: model.PublicReport,
    *,
    of: model.OwnCeiling | None = None,
) -> Iterator[Finding]:
    """A stated confidence, against that of the groups it is of; of the sets under a ceiling of their own, if given."""
    stated, digits = getattr(of or report.privacy, name), report.policy.digits
    where = "privacy" if of is None else f"privacy.own_ceilings, {of.attribute}{f', {of.set}' if of.set else ''}"
    if not groups:
        if stated is not None:
            yield Finding(f"{where}.{name}", "is stated, but there is no group it could be of")
        return
    low, high = (float(round_up(max(confidences[i] for i in groups), digits=digits)) for confidences in found)
    if stated is None or not low <= stated <= high or nearest(stated, digits) != stated:
        yield Finding(f"{where}.{name}", f"{stated} is stated, {_either(low, high)} follows from the printed numbers")
    ceiling = report.policy.max_confidence if of is None else of.ceiling
    whose = "the ceiling of the policy" if of is None else f"the ceiling {of.ceiling} of {of.set or of.attribute}"
    for i in groups:
        group = report.announced_groups[i]
        if found[0][i] > Fraction(str(ceiling)) and group.status != "flattened":
            yield Finding(group.id, f"its {name} exceeds {whose}")
    if of is not None and stated > ceiling:
        yield Finding(f"{where}.{name}", "exceeds its ceiling")


def _guarantee(privacy: model.Privacy) -> tuple[object, ...]:
    return (
        privacy.max_confidence,
        privacy.prior_confidence,
        privacy.min_uncertainty,
        privacy.binding_group,
        privacy.binding_set,
    )


def _binding(printed: PopulationBounds, stated: float) -> Iterator[Finding]:
    kept = np.flatnonzero(~printed.announcement.flattened).tolist()
    ids = [printed.report.announced_groups[i].id for i in kept]
    binding = printed.report.privacy.binding_group
    sure, surest = (
        [confidences[i] for i in kept] for confidences in _confidences(printed, printed.announcement.chance)
    )
    if binding not in ids:
        yield Finding("privacy.binding_group", "is no announced group")
    elif printed.exact and binding != ids[sure.index(max(sure))]:
        yield Finding("privacy.binding_group", "is not the group with the largest confidence")
    else:
        reached = surest[ids.index(binding)]
        if reached < max(sure) or float(round_up(reached, digits=printed.report.policy.digits)) < stated:
            yield Finding("privacy.binding_group", "does not reach the stated confidence")


def _binding_set(printed: PopulationBounds) -> Iterator[Finding]:
    report = printed.report
    ids = [group.id for group in report.announced_groups]
    if report.privacy.binding_group in ids:
        group = ids.index(report.privacy.binding_group)
        if report.privacy.binding_set != build.binding_set(printed.announcement, group):
            yield Finding("privacy.binding_set", "is not what a reader can be surest of in the binding group")


def _leakage(printed: PopulationBounds) -> Iterator[Finding]:
    """Against the printed chances and numbers of people alone, so to the last digit, also where others are known."""
    report, announcement = printed.report, printed.announcement
    worst, of_groups = yardsticks.stated(announcement)
    yield from _yardsticks("privacy", report.privacy.leakage, worst)
    for group, follows in zip(report.announced_groups, of_groups, strict=True):
        yield from _yardsticks(group.id, group.leakage, follows)


def _yardsticks(where: str, stated: model.Leakage | None, follows: model.Leakage | None) -> Iterator[Finding]:
    if stated is None or follows is None:
        yield Finding(f"{where}.leakage", "is missing")
        return
    for name in type(follows).model_fields:
        said, computed = getattr(stated, name), getattr(follows, name)
        if said != computed:
            yield Finding(
                f"{where}.leakage.{name}",
                f"{_bounded(said)} is stated, {_bounded(computed)} follows from the printed numbers",
            )


def _bounded(figure: float | None) -> str:
    return "no bound" if figure is None else str(figure)


def _confidences(printed: PopulationBounds, chance: Ints, own: OwnCeiling | None = None) -> _Confidences:
    """(g,) the confidence in each group with the known populations, and the largest any within the rounding allow.

    In any protected set, or only in those under a ceiling of their own.
    """
    announcement = replace(printed.announcement, chance=chance)
    sure = announcement.confidences() if own is None else announcement.confidences_under(own)
    surest = list(sure)
    if announcement.known is not None:
        return sure, surest
    offsets = announcement.offsets
    sets = announcement.sets or ProtectedSets.regions(offsets)
    chosen = [True] * len(sets) if own is None else announcement.under(own).tolist()
    for x in chance.T:
        least, most = printed.least * x, printed.most * x
        others = np.add.reduceat(least, offsets[:-1])[sets.group_of_set] - sets.sums(least)
        people = zip(sets.group_of_set, sets.sums(most).tolist(), others.tolist(), chosen, strict=True)
        for group, inside, rest, counts in people:
            if counts and inside:
                surest[group] = max(surest[group], Fraction(inside, inside + rest))
    return sure, surest


# --- rates and promise


def _rates(printed: PopulationBounds) -> Iterator[Finding]:
    for i, group in enumerate(printed.report.announced_groups):
        if group.status != "flattened":  # whose rates are its chances, by its form
            yield from _rate(printed, printed.group(i), group.rate, f"{group.id}.rate")
    yield from _rate(printed, printed.everyone, printed.report.coverage.rate, "coverage.rate")


def _rate(printed: PopulationBounds, members: Bools, stated: dict[str, float] | None, where: str) -> Iterator[Finding]:
    for outcome, event in zip(printed.announcement.outcomes, printed.outcome_events, strict=True):
        allowed = _printed_rate(printed.value(members, event))
        rate = None if stated is None else stated[outcome]
        if rate is None or not allowed[0] <= rate <= allowed[1]:
            yield Finding(where, f"{rate} is stated, {_either(*allowed)} follows from the printed numbers")
        if len(printed.announcement.outcomes) == 2:
            return


def _printed_rate(value: Interval) -> Interval:
    """Between what a rate can be printed."""
    if value[0] == value[1]:
        return nearest(value[0], RATE_DIGITS), nearest(value[1], RATE_DIGITS)
    return nearest(value[0] - _NOISE, RATE_DIGITS), nearest(value[1] + _NOISE, RATE_DIGITS)


def _promise(report: model.PublicReport) -> Iterator[Finding]:
    policy, kind = report.policy, report.fidelity.kind
    if kind == "ranges":
        yield from _limits(report)
        return
    made, floor = promise(kind, report.fidelity.level), promise(kind, policy.fidelity[kind])
    if made is None or floor is None:
        return
    if made not in (ladder(floor) if policy.objective == "fidelity" else (floor,)):
        yield Finding("fidelity.level", "is not what the policy demands")
    if report.fidelity.largest_change != build.largest_change(made, digits=policy.digits):
        yield Finding("fidelity.largest_change", "does not follow from the level")


def _limits(report: model.PublicReport) -> Iterator[Finding]:
    """Limits with no printable number between them leave the nearest ones."""
    if report.fidelity.largest_change is not None:
        yield Finding("fidelity.largest_change", "does not follow from the limits")
    unit = 10**report.policy.digits
    for group in report.announced_groups:
        for region in group.regions:
            lower, upper = (end * unit for end in region.allowed or (0, 1))
            ends = sorted((math.ceil(lower - GRID_TOLERANCE), math.floor(upper + GRID_TOLERANCE)))
            if not ends[0] <= round(region.announced[report.positive] * unit) <= ends[1]:
                where = f"{group.id}, {', '.join(region.sensitive.values())}"
                yield Finding(where, "the announced chance lies outside its limits")


# --- fairness


def _fairness(printed: PopulationBounds, comparisons: Sequence[fairness.Comparison]) -> Iterator[Finding]:
    how = _printing(printed)
    compared = [entry for entry in printed.report.fairness if entry.measure != "individual_fairness"]
    stated = {_key(entry): entry for entry in compared}
    expected = {_key(entry): entry for entry in how.entries(comparisons)}
    if len(stated) < len(compared):
        yield Finding("fairness", "a comparison stands there twice")
    for key, entry in stated.items():
        if key not in expected:
            yield Finding(_name(entry), "is a comparison that the groups do not give")
    classes = in_classes(printed.report.fairness)
    for key, computed in expected.items():
        if key not in stated:
            yield Finding(_name(computed), "is missing")
            continue
        entry = stated[key].model_copy(update={"condition": computed.condition})
        if entry.summary is not None:  # follows from the printed figures of the classes, whatever the exact people are
            follows = how.overall(entry.summary, classes.get((entry.attribute, entry.groups), [computed]))
            problems = list(_differences(entry, follows, *_MEASURED))
        elif printed.exact:
            problems = list(_differences(entry, computed, *_MEASURED))
        else:
            problems = list(_outside(printed, entry, computed))
            problems = problems or list(_differences(entry, how.judged(entry), *_JUDGED))
        yield from (Finding(_name(entry), problem) for problem in problems)
    if not printed.exact:
        yield from figures.contradictions(printed.report)


def _changes(report: model.PublicReport) -> Iterator[Finding]:
    for where, problem in changes.problems(report, sentences=report.provenance.atr == atr.__version__):
        yield Finding(f"changes, {where}", problem)


_MEASURED = tuple(name for name in model.Fairness.model_fields if name != "sampling")
_JUDGED = ("verdict", "reason", "shortfall", "sentence")


def _printing(printed: PopulationBounds) -> ComparisonFormatter:
    report = printed.report
    return ComparisonFormatter(
        printed.announcement.outcomes, {a.name: a.title for a in report.attributes}, report.policy
    )


def _expected(printed: PopulationBounds) -> list[fairness.Comparison]:
    """The comparisons that the report must have; their figures count where the populations are exact only."""
    report, policy = printed.report, printed.report.policy
    return fairness.compare(
        printed.cells if printed.exact else replace(printed.cells, exact=False),
        {name: tuple(column) for name, column in printed.columns.items()},
        compared=[fairness.GroupingSpec(by.attributes, by.reference) for by in report.compared],
        legitimate=tuple(a.name for a in report.attributes if a.legitimate),
        outcomes=printed.announcement.outcomes,
        lines=policy,
        minimum=policy.minimum_group_size,
    )


def _compared(printed: PopulationBounds, comparisons: Sequence[fairness.Comparison]) -> Iterator[Finding]:
    """What people are compared by: that its reference is the one it is said to be."""
    report = printed.report
    found = {comparison.by.attributes for comparison in comparisons}
    for by in report.compared:
        where = f"compared, {by.attribute}"
        announced = printed.people_by(by.attributes)
        if (by.reference is None) != (by.attributes not in found) or (by.reference is None) != (by.chosen is None):
            yield Finding(f"{where}.reference", "is missing, or is of groups that are not compared")
        elif by.reference is not None and by.reference not in announced:
            yield Finding(f"{where}.reference", "is no group that is announced")
        elif by.reference is not None:
            yield from _chosen(printed, by, announced)


def _chosen(printed: PopulationBounds, by: model.ComparedBy, announced: Mapping[str, Bools]) -> Iterator[Finding]:
    """Whether a reference is the group that the rule which is stated for it chooses."""
    where = f"compared, {by.attribute}.reference"
    minimum = printed.report.policy.minimum_group_size
    people = {who: int(printed.announcement.published[members].sum()) for who, members in announced.items()}
    known = {who for who in announced if not printed.unknown(by.attributes, who)}
    candidates = {who for who in known if people[who] >= minimum} or known
    if by.reference not in known:
        yield Finding(where, "is unknown, which no group can be compared with")
    elif by.chosen == "named" or by.reference is None:
        return
    elif by.reference not in candidates:
        yield Finding(where, "has too few people")
    elif by.chosen == "largest" and people[by.reference] < max(people[who] for who in candidates):
        yield Finding(where, "is not the largest group")
    elif by.chosen == "highest":
        rates = {who: printed.value(announced[who], printed.events[0]) for who in candidates}
        if rates[by.reference][1] < max(low for low, _ in rates.values()) - _NOISE:
            yield Finding(where, "is not the group with the highest rate")


def _differences(stated: model.Fairness, computed: model.Fairness, *fields: str) -> Iterator[str]:
    for field in fields:
        if field == "sentence" and stated.sentence != computed.sentence:
            yield "the sentence does not say what the numbers say"
        elif getattr(stated, field) != getattr(computed, field):
            yield f"{field} is stated as {getattr(stated, field)}, {getattr(computed, field)} follows"


def _outside(printed: PopulationBounds, entry: model.Fairness, computed: model.Fairness) -> Iterator[str]:
    """What no populations within the rounding give."""
    yield from _differences(entry, computed, "reference", "people", "threshold", "attributes", "classes")
    digits, outcomes = printed.report.policy.digits, printed.announcement.outcomes
    event = printed.outcome_events[outcomes.index(entry.outcome) if entry.outcome in outcomes else 0]
    of_attribute = printed.people_by(entry.attributes or (entry.attribute,))
    given = printed.having(entry.condition)
    one, other = (given & of_attribute[who] for who in entry.groups)
    for who, members, rate in zip(entry.groups, (one, other), entry.rates, strict=True):
        allowed = _printed_rate(printed.value(members, event))
        if not allowed[0] <= rate <= allowed[1]:
            yield f"the rate of {who} is stated as {rate}, {_either(*allowed)} follows"
    a, b = (printed.rate(members, event) for members in (one, other))
    value, low, high = _ratio(a, b) if entry.measure == "p_percent_rule" else _parity(printed, one, other)
    yield from _value(entry, value, a, b, digits=digits)
    yield from _range(entry, low, high, digits=digits)


def _parity(printed: PopulationBounds, one: Bools, other: Bools) -> tuple[Interval, Interval, Interval]:
    """Between what the total variation distance of two sets of people lies, and the two ends of its range.

    The ends of outcomes that bound each other may be found by programmes: the lower one then lies between what each
    event leaves and what is announced.
    """
    apart = [_difference(*(printed.rate(of, event) for of in (one, other))) for event in printed.events]
    value, low, high = (_largest(part) for part in zip(*apart, strict=True))
    outcomes = printed.cells.outcomes
    if printed.cells.exact and (outcomes > 3 or (outcomes == 3 and printed.share_a_group(one, other))):
        low = low[0], value[1]
        high = printed.furthest(one, other), high[1]
    return value, low, high


def _largest(intervals: Iterable[Interval]) -> Interval:
    """Between what the largest of some numbers lies, from between what each lies."""
    lows, highs = zip(*intervals, strict=True)
    return max(lows), max(highs)


def _value(entry: model.Fairness, follows: Interval, a: RateBounds, b: RateBounds, *, digits: int) -> Iterator[str]:
    half = 0.5 * 10.0**-digits
    ratio = entry.measure == "p_percent_rule"
    if entry.value is None:
        if not ratio or b.value[0] > _NOISE:
            yield "a value follows, but none is stated"
    elif ratio and b.value[1] <= _NOISE < a.value[0]:
        yield "no value follows, but one is stated"
    elif not _within(entry.value, (follows[0] - half, follows[1] + half)):
        yield f"the value is stated as {entry.value}, {follows[0]:.{digits}f} to {follows[1]:.{digits}f} follows"


def _range(entry: model.Fairness, low: Interval, high: Interval, *, digits: int) -> Iterator[str]:
    bottom, top = between(entry.range)
    if bottom == top and math.isfinite(top):
        if entry.value != bottom or high[0] - low[1] >= 10.0**-digits:
            yield "the range is narrower than what the promise leaves open"
        return
    if not _within(bottom, (_rounded(down, low[0] - _slack(low[0]), digits), low[1])):
        yield f"the range starts at {bottom}, {low[0]:.{digits}f} to {low[1]:.{digits}f} follows"
    if not _within(top, (high[0], _rounded(up, high[1] + _slack(high[1]), digits))):
        yield f"the range ends at {top}, {high[0]:.{digits}f} to {high[1]:.{digits}f} follows"
    if entry.value is not None and not bottom <= entry.value <= top:
        yield "the value lies outside its own range"


def _difference(a: RateBounds, b: RateBounds) -> tuple[Interval, Interval, Interval]:
    """Between what the difference of two rates lies, and the two ends of its range."""

    def apart(x: Interval, y: Interval) -> Interval:
        return max(0.0, x[0] - y[1], y[0] - x[1]), max(x[1] - y[0], y[1] - x[0])

    widest = apart((a.low[0], a.high[1]), (b.low[0], b.high[1]))
    narrowest = apart((a.low[1], a.high[0]), (b.low[1], b.high[0]))
    return apart(a.value, b.value), (widest[0], narrowest[0]), (narrowest[1], widest[1])


def _ratio(a: RateBounds, b: RateBounds) -> tuple[Interval, Interval, Interval]:
    """The same of the ratio of two rates; where both can be 0, so that it is 1, that as well."""

    def over(x: Interval, y: Interval) -> Interval:
        smallest, largest = ((0.0 if p <= _NOISE else p / q if q > _NOISE else math.inf) for p, q in (x, y))
        return smallest, largest

    value = over((a.value[0], b.value[1]), (a.value[1], b.value[0]))
    low = over((a.low[0], b.high[1]), (a.low[1], b.high[0]))
    high = over((a.high[0], b.low[1]), (a.high[1], b.low[0]))
    if b.low[0] <= _NOISE:
        high = high[0], math.inf
    if max(a.value[0], b.value[0]) <= _NOISE:
        value = min(value[0], 1.0), max(value[1], 1.0)
    if max(a.high[0], b.high[0]) <= _NOISE:
        low, high = (low[0], max(low[1], 1.0)), (min(high[0], 1.0), high[1])
    return value, low, high


def _within(number: float, interval: Interval) -> bool:
    low, high = interval
    return low - _slack(low) <= number <= high + _slack(high)


def _rounded(how: Callable[[float, int], float], number: float, digits: int) -> float:
    return how(number, digits) if math.isfinite(number) else number


def _slack(number: float) -> float:
    return _NOISE * max(1.0, abs(number)) if math.isfinite(number) else 0.0


# --- texts


def _derived(report: model.PublicReport) -> Iterator[Finding]:
    """Parts that follow from the rest: their figures, and their words if they are of this version of the software."""
    this_version = report.provenance.atr == atr.__version__
    for name, part in derived.DERIVED_FIELDS.items():
        follows, stated = part(report), getattr(report, name)
        if follows != stated and (this_version or _figures_of(follows) != _figures_of(stated)):
            where, difference = _first_difference(name, _plain(stated), _plain(follows))
            yield Finding(where, difference)


def _plain(part: Any) -> Any:
    return [_plain(each) for each in part] if isinstance(part, tuple) else getattr(part, "model_dump", lambda: part)()


def _first_difference(where: str, stated: Any, follows: Any) -> tuple[str, str]:
    """The first place at which a part is not what follows, and how."""
    if isinstance(stated, dict) and isinstance(follows, dict):
        key = next(key for key in follows | stated if stated.get(key, ...) != follows.get(key, ...))
        return _first_difference(f"{where}.{key}", stated.get(key), follows.get(key))
    lists = isinstance(stated, list | tuple) and isinstance(follows, list | tuple)
    if lists and len(stated) == len(follows) and any(isinstance(each, dict | list) for each in stated):
        at = next(i for i, (a, b) in enumerate(zip(stated, follows, strict=True)) if a != b)
        return _first_difference(f"{where}[{at}]", stated[at], follows[at])
    if lists and len(stated) != len(follows):
        return where, f"has {len(stated):,} entries, {len(follows):,} follow"
    if isinstance(stated, str) and isinstance(follows, str) and len(stated + follows) > 80:
        return where, "does not say what the numbers say"
    return where, f"is stated as {stated}, {follows} follows"


def _figures_of(part: Any) -> Any:
    """A part without its words: sentences, and what notes consist of."""
    if isinstance(part, model.Note):
        return None
    if isinstance(part, BaseModel):
        return {name: _figures_of(getattr(part, name)) for name in type(part).model_fields if name != "sentence"}
    if isinstance(part, tuple):
        figures = [_figures_of(each) for each in part]
        return [of for of in figures if of is not None]
    return part


# --- names


def _key(entry: model.Fairness) -> tuple[object, ...]:
    given = frozenset(entry.condition.items())
    return entry.measure, entry.attribute, entry.groups, given, entry.summary, entry.outcome


def _name(entry: model.Fairness) -> str:
    given = "".join(f", {name} {value}" for name, value in entry.condition.items())
    outcome = f", {entry.outcome}" if entry.outcome else ""
    over = f", {entry.summary}" if entry.summary else ""
    groups = f"{entry.groups[0]} against {entry.groups[1]}"
    return f"fairness, {entry.measure}, {entry.attribute}: {groups}{given}{over}{outcome}"


def _either(low: float, high: float) -> str:
    return f"{low}" if low >= high else f"{low} to {high}"
