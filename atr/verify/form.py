"""What must hold of a report before anything in it can be recomputed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from atr.core.protected import floored
from atr.core.publication import RATE_DIGITS, open_total
from atr.core.tolerances import PROBABILITY_TOLERANCE
from atr.measures import INDIVIDUAL
from atr.measures.group_fairness import GroupingSpec
from atr.measures.sampling import METHODS
from atr.measures.surrogate import DEPTH
from atr.mechanisms import MECHANISMS
from atr.programme import ALPHA, MOST_OUTCOMES, OWN_POPULATION
from atr.report import model
from atr.report.rounding import nearest
from atr.verify import told
from atr.verify.finding import Finding, failed

MOST_PEOPLE = 10**12
INSTEAD = {"withhold": {"withheld"}, "flatten": {"flattened"}, "coarsen": {"coarsened", "withheld"}}
"""What becomes of a group that cannot be announced as it is, by policy."""
MOST_DIGITS = 6
_LARGEST = 1e15
"""Above it a number has no digits left to be checked."""


def form(report: model.PublicReport) -> Iterator[Finding]:
    """Find what is malformed in a report; if anything is, its numbers mean nothing.

    Parameters
    ----------
    report
        A report that fits the schema.

    Returns
    -------
    A finding for each fault.
    """
    yield from _policy(report)
    yield from told.policy(report)
    yield from _distances(report)
    yield from _names(report)
    yield from _groups(report)
    yield from _compared(report)
    for entry in report.fairness:
        yield from _comparison(entry, report)
    yield from _totals(report)
    yield from _influence(report)


def _policy(report: model.PublicReport) -> Iterator[Finding]:
    policy, kind, sampling = report.policy, report.fidelity.kind, report.policy.sampling
    mechanism = MECHANISMS.get(policy.mechanism)
    two = np.array([[[0, 1], [0, 1]]], dtype=np.float64)
    demands = policy.fidelity if policy.fidelity is not None else {kind: None}
    demanded, kept = (
        mechanism is not None and mechanism.promise(kind, level, two if level is None else None) is not None
        for level in (demands.get(kind), report.fidelity.level)
    )
    of_sample = sampling is not None and sampling.coverage == "sample"
    level, methods = (sampling.alpha, sampling.methods) if sampling else (None, {})
    return failed(
        (set(demands) == {kind}, "fidelity.kind", "is not that of the policy"),
        (demanded, "policy.fidelity", "is no promise that can be checked"),
        (kept, "fidelity.level", "is no promise that can be checked"),
        (sampling is not None, "policy.sampling", "is missing"),
        (methods == (METHODS if of_sample else {}), "policy.sampling.methods", "are none that can be checked"),
        (
            level is not None and ALPHA[0] <= level <= ALPHA[1] if of_sample else level is None,
            "policy.sampling.alpha",
            "is none that can be checked",
        ),
        (policy.four_fifths >= 1 / _LARGEST, "policy.four_fifths", "is no line that a ratio can be held to"),
        (mechanism is not None, "policy.mechanism", "is none that can be checked"),
        (policy.unattainable in INSTEAD, "policy.unattainable", "is none that can be checked"),
        (
            {group.status for group in report.groups}
            <= {"announced", "rest", *(["rate_only"] * (kind == "limits"))} | INSTEAD.get(policy.unattainable, set()),
            "groups",
            "a group has a status that the policy does not give",
        ),
    )


def _distances(report: model.PublicReport) -> Iterator[Finding]:
    """Check the declared distance of records: of every attribute, on scales along the order of its values."""
    individual = report.policy.individual
    if individual is None:
        return
    where = "policy.individual"
    yield from failed(
        (_unique(individual.measures, some=True), f"{where}.measures", "are not each named once"),
        (
            set(individual.distances) == {a.name for a in report.attributes},
            f"{where}.distances",
            "are not those of the attributes",
        ),
    )
    for a in report.attributes:
        declared = individual.distances.get(a.name, model.AttributeDistance(kind="nominal", weight=0))
        scale, kind = declared.positions, declared.kind
        along = [scale[value] for value in a.values if value in scale]
        least, most = {"nominal": (0, 0), "ordinal": (2, math.inf), "numeric": (1, math.inf)}[kind]
        rising = along == sorted(set(along)) and len(along) == len(scale)
        ranks = kind != "ordinal" or along == list(range(len(scale)))
        yield from failed(
            (all(math.fabs(x) < _LARGEST for x in along), f"{where}.distances.{a.name}", "has too large positions"),
            (rising, f"{where}.distances.{a.name}", "has no positions that rise along its values"),
            (least <= len(scale) <= most, f"{where}.distances.{a.name}", f"has too few or too many places for {kind}"),
            (ranks, f"{where}.distances.{a.name}", "its positions are not the ranks of its values"),
        )


def _names(report: model.PublicReport) -> Iterator[Finding]:
    outcomes, names = report.outcomes, [a.name for a in report.attributes]
    yield from failed(
        (
            2 <= len(outcomes) <= MOST_OUTCOMES and _unique(outcomes) and report.positive in outcomes,
            "outcomes",
            "are not two or more, the positive one among them",
        ),
        (
            _unique(names) and {a.role for a in report.attributes} == {"public", "sensitive"},
            "attributes",
            "are not each named once, with one at least that is public and one sensitive",
        ),
        (_unique(group.id for group in report.groups), "groups", "two have the same id"),
        (
            _unique(frozenset(group.public.items()) for group in report.groups),
            "groups",
            "two have the same public attributes",
        ),
    )
    digits = report.policy.digits
    highest = floored(report.policy.max_confidence, digits=digits)
    for a in report.attributes:
        announced = {group.public.get(a.name) for group in report.announced_groups}
        coarse = set(a.coarse) <= announced & set(a.values) and (a.role == "public" or not a.coarse)
        where = f"attributes.{a.name}"
        yield from failed(
            (coarse and _unique(a.coarse), f"{where}.coarse", "are not each a value of announced groups, named once")
        )
        for _, of_set, own in a.own_ceilings:
            yield from failed(
                (
                    a.role == "sensitive" and (of_set is None or of_set in a.sets),
                    where,
                    "has a ceiling of its own for what is not protected",
                ),
                (
                    0 < floored(own, digits=digits) < highest,
                    where,
                    f"{own} is no ceiling stricter than that of the policy",
                ),
            )


def _groups(report: model.PublicReport) -> Iterator[Finding]:
    people = sum(group.population or 0 for group in report.groups)
    yield from failed((people <= MOST_PEOPLE, "groups", "there are more people than can be counted"))
    public = {a.name for a in report.attributes if a.role == "public"}
    for group in report.groups:
        named = set(group.public) <= public if group.status == "rest" else set(group.public) == public
        yield from failed((named, group.id, "its attributes are not the public ones"))
        if group.status == "withheld":
            numbers = group.population, group.rate, group.leakage, group.digits, group.joined
            bare = not group.regions and all(x is None for x in numbers)
            yield from failed((bare, group.id, "a withheld group has numbers"))
        elif group.population is None or group.rate is None:
            yield Finding(group.id, "an announced group lacks its numbers")
        else:
            yield from _announced(group, report)
            yield from told.group(group, report)
            yield from _rates(group.rate, report, group.id, [group])
            for region in group.regions:
                yield from _region(region, group, report)


def _announced(group: model.Group, report: model.PublicReport) -> Iterator[Finding]:
    coarse = any(group.public.get(a.name) in a.coarse for a in report.attributes)
    by_limits, chances = report.fidelity.kind == "limits", [region.announced is not None for region in group.regions]
    ruled = {"announced": True, "rate_only": False, "flattened": False}.get(
        group.status, bool(chances) or not by_limits
    )
    return failed(
        (_declared(group.public, report), group.id, "has a value that its attribute does not have"),
        (
            bool(chances) == ruled,
            group.id,
            f"is {group.status}, but {'tells' if chances else 'does not tell'} of regions",
        ),
        (told.adds_up(group, report), f"{group.id}.population", "is not what its regions add up to"),
        (
            _unique(frozenset(region.sensitive.items()) for region in group.regions),
            group.id,
            "two of its rows are of the same people",
        ),
        (
            all(chances) or (by_limits and not any(chances)),
            group.id,
            "has chances in some of its rows and in others none",
        ),
        (
            coarse == (group.status == "coarsened"),
            group.id,
            f"is {group.status}, but has {'a coarser' if coarse else 'no coarser'} value",
        ),
    )


def _region(region: model.Region, group: model.Group, report: model.PublicReport) -> Iterator[Finding]:
    policy, where = report.policy, f"{group.id}, {', '.join(region.sensitive.values())}"
    announced, digits = region.announced, min(max(group.digits or policy.digits, 1), MOST_DIGITS)
    chances, limits = (announced or {}).values(), region.limits or {}
    return failed(
        (
            set(region.sensitive) == {a.name for a in report.attributes if a.role == "sensitive"},
            where,
            "its attributes are not the sensitive ones",
        ),
        (_declared(region.sensitive, report), where, "has a value that its attribute does not have"),
        (
            told.is_rounded(region.population, report),
            where,
            "the population is not rounded as stated",
        ),
        (
            (region.known is None) == (policy.side_information == OWN_POPULATION),
            where,
            "has people known from elsewhere, or none, against the side information of the policy",
        ),
        (
            all(of is None or set(of) == set(report.outcomes) for of in (announced, region.limits)),
            where,
            "the outcomes are not those of the report",
        ),
        (all(_printed(x, digits) for x in chances), where, f"an announced chance has more than {digits} digits"),
        (announced is None or round(sum(chances), digits) == 1, where, "the announced chances do not add up to 1"),
        (all(low <= high for low, high in limits.values()), where, "its limits leave no chance between them"),
        (not limits or report.fidelity.kind in ("ranges", "limits"), where, "has limits that nobody promised"),
    )


def _rates(
    rates: Mapping[str, float], report: model.PublicReport, where: str, groups: Sequence[model.Group]
) -> Iterator[Finding]:
    """Check rates; each of three outcomes and more is rounded to whole people in every group, then to a percentage."""
    people = sum(open_total(group.population or 0, report.policy.population_rounding)[0] for group in groups)
    off = (len(rates) > 2) * len(rates) * 0.5 * (10.0**-RATE_DIGITS + len(groups) / max(people, 1))
    return failed(
        (set(rates) == set(report.outcomes), where, "the rates are not of the outcomes"),
        (all(_printed(rate, RATE_DIGITS) for rate in rates.values()), where, "a rate is not a whole percentage"),
        (abs(sum(rates.values()) - 1) <= off + PROBABILITY_TOLERANCE, where, "the rates do not add up to 1"),
    )


def _compared(report: model.PublicReport) -> Iterator[Finding]:
    """Check that every protected attribute is compared once, then intersections of attributes, as they are called."""
    names = {a.name for a in report.attributes}
    protected = [a.name for a in report.attributes if a.protected]
    for i, by in enumerate(report.compared):
        name = GroupingSpec(by.attributes).name
        yield from failed(
            (_unique(by.attributes, some=True), f"compared.{i}", "is not by attributes, each once"),
            (set(by.attributes) <= names, f"compared.{i}", "is by what are not attributes"),
            (bool(set(by.attributes) & set(protected)), f"compared.{i}", "is by attributes none of which is protected"),
            (by.attribute == name, f"compared.{i}", f"is called {by.attribute}, not {name}"),
        )
    single = [by.attributes[0] for by in report.compared if len(by.attributes) == 1]
    called = (*names, *(by.attribute for by in report.compared if len(by.attributes) > 1))
    yield from failed(
        (single == protected, "compared", "are not the protected attributes"),
        (
            _unique(frozenset(by.attributes) for by in report.compared) and _unique(called),
            "compared",
            "one stands there twice",
        ),
    )


def _comparison(entry: model.Fairness, report: model.PublicReport) -> Iterator[Finding]:
    where = f"fairness, {entry.measure}, {entry.attribute}: {entry.groups[0]} against {entry.groups[1]}"
    digits, (low, high) = report.policy.digits, entry.range
    of = entry.attributes or (() if entry.pair else (entry.attribute,))
    by = {*of, *entry.condition, *entry.worst_condition}
    unbounded = entry.is_ratio or entry.measure == INDIVIDUAL
    return failed(
        (by <= {a.name for a in report.attributes}, where, "is by what are not attributes"),
        (entry.outcome is None or entry.outcome in report.outcomes, where, "is of what is no outcome"),
        (all(_printed(rate, RATE_DIGITS) for rate in entry.rates), where, "a rate is not a whole percentage"),
        (
            (entry.measure == INDIVIDUAL) == (entry.pair is not None),
            where,
            "is no pair of regions, or one of another measure",
        ),
        (low is not None or (high is None and unbounded), where, "the range has no lower end"),
        (
            all(_printed(number, digits) for number in (entry.value, low, high)),
            where,
            f"a number has more than {digits} digits",
        ),
    )


def _totals(report: model.PublicReport) -> Iterator[Finding]:
    counts, quality, rounding = report.coverage.groups, report.data_quality, report.policy.population_rounding
    coarse, dated = max(report.policy.minimum_group_size, rounding), {group.as_of for group in report.announced_groups}
    versions = {*range(1, report.version + 1)} if quality.corrections_wait else {None}
    dropped = quality.duplicates, quality.corrections, quality.quarantined
    if report.coverage.rate is not None:
        yield from _rates(report.coverage.rate, report, "coverage.rate", report.announced_groups)
    listed = len(report.announced_groups), len(report.withheld_groups)
    yield from failed(
        (
            (counts.announced, counts.withheld) == listed,
            "coverage.groups",
            "the numbers of groups are not those listed",
        ),
        (counts.withheld_for_size >= 0, "coverage.groups.withheld_for_size", "is below 0"),
        (counts.coarsened == len(report.coarsened_groups), "coverage.groups.coarsened", "is not as many as listed"),
        (
            counts.merged >= 2 * counts.coarsened and (counts.coarsened > 0 or not counts.merged),
            "coverage.groups.merged",
            "is not two groups or more for every coarsened one",
        ),
        (not any(n % rounding for n in dropped), "data_quality", f"has rows that are not a multiple of {rounding}"),
        (
            quality.decisions >= coarse and quality.decisions % coarse == 0,
            "data_quality.decisions",
            f"is not a multiple of {coarse}",
        ),
        (dated <= versions, "groups", "of which version they are is missing, or cannot be"),
        (not quality.corrections_wait or report.version > 1, "data_quality", "nothing can wait in a first version"),
        (quality.rows_read == quality.decisions + sum(dropped), "data_quality", "the rows do not add up"),
    )
    changes = report.changes or model.Changes(period="", version=1, sha256="0" * 64)
    entries = [(entry.previous, *entry.previous_range) for entry in changes.entries]
    earlier = [*entries, *((margin.previous, *margin.previous_range) for margin in changes.margin)]
    yield from failed(
        (
            all(_printed(x, MOST_DIGITS) for figures in earlier for x in figures),
            "changes",
            "an earlier figure has too many digits",
        )
    )


def _influence(report: model.PublicReport) -> Iterator[Finding]:
    """Check that its sets are of several inputs that there are, and its tree asks questions that part people."""
    names, sets = {a.name for a in report.attributes}, report.policy.influence_sets
    regions = [values for values, _, _ in report.complete.announced_regions]
    return failed(
        (
            all(len(of) >= 2 and _unique(of) and set(of) <= names for of in sets) and _unique(map(frozenset, sets)),
            "policy.influence_sets",
            "are not each of two attributes or more, named once",
        ),
        (
            report.surrogate is None or _parts(report.surrogate.tree, regions, DEPTH),
            "surrogate.tree",
            f"has a question that parts nobody, or more than {DEPTH} in a row",
        ),
    )


def _parts(node: model.TreeNode, regions: Sequence[Mapping[str, str]], depth: int) -> bool:
    """Tell whether the questions of a tree, so many in a row at most, part the people of some regions."""
    if (node.attribute, node.values, node.yes, node.no) == (None, (), None, None):
        return True
    if not depth or node.attribute is None or node.yes is None or node.no is None or not _unique(node.values):
        return False
    inside = [region for region in regions if region.get(node.attribute) in node.values]
    outside = [region for region in regions if region.get(node.attribute) not in node.values]
    return (
        bool(inside and outside)
        and {region.get(node.attribute) for region in inside} == set(node.values)
        and _parts(node.yes, inside, depth - 1)
        and _parts(node.no, outside, depth - 1)
    )


def _declared(values: Mapping[str, str], report: model.PublicReport) -> bool:
    declared = {a.name: a.values for a in report.attributes}
    return all(value in declared.get(name, ()) for name, value in values.items())


def _printed(number: float | None, digits: int) -> bool:
    """Tell whether there is no number, or one of so many digits."""
    return number is None or (math.fabs(number) < _LARGEST and nearest(number, digits) == number)


def _unique(items: Iterable[Hashable], *, some: bool = False) -> bool:
    """Tell whether none of some items stands there twice, and there are some if there must be."""
    listed = list(items)
    return len(set(listed)) == len(listed) and (bool(listed) or not some)
