"""What must hold of a report before anything in it can be recomputed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from atr.core.protected import floored
from atr.core.publication import RATE_DIGITS, open_people
from atr.measures.group_fairness import GroupingSpec
from atr.measures.sampling import METHODS
from atr.measures.surrogate import DEPTH
from atr.programme import ALPHA, MOST_OUTCOMES, OWN_POPULATION
from atr.report import model, wording
from atr.report.reader_view import promise
from atr.report.rounding import nearest
from atr.verify.finding import Finding

MOST_PEOPLE = 10**12
INSTEAD = {"withhold": ("withheld",), "flatten": ("flattened",), "coarsen": ("coarsened", "withheld")}
"""What becomes of a group that cannot be announced as it is, by policy."""
MOST_DIGITS = 6
_LARGEST = 1e15
"""Above it a number has no digits left to be checked."""


def form(report: model.PublicReport) -> Iterator[Finding]:
    """What is not as every report is made, so that its numbers mean nothing."""
    yield from _policy(report)
    yield from _names(report)
    for group in report.groups:
        yield from _group(group, report)
    if sum(region.population for group in report.groups for region in group.regions) > MOST_PEOPLE:
        yield Finding("groups", "there are more people than can be counted")
    yield from _compared(report)
    for entry in report.fairness:
        yield from _comparison(entry, report)
    if report.changes is not None:
        yield from _changes(report.changes)
    yield from _totals(report)
    yield from _influence(report)


def _policy(report: model.PublicReport) -> Iterator[Finding]:
    policy, kind = report.policy, report.fidelity.kind
    if set(policy.fidelity) != {kind}:
        yield Finding("fidelity.kind", "is not that of the policy")
    for where, level in (("policy.fidelity", policy.fidelity.get(kind)), ("fidelity.level", report.fidelity.level)):
        if (level is not None) if kind == "ranges" else promise(kind, level) is None:
            yield Finding(where, "is no promise that can be checked")
    yield from _distances(report)
    if not _sampling(policy.sampling):
        yield Finding("policy.sampling", "is none that can be checked")
    if policy.four_fifths < 1 / _LARGEST:
        yield Finding("policy.four_fifths", "is no line that a ratio can be held to")
    for name, known in (("mechanism", "optimal"), ("reader", "face_value")):
        if getattr(policy, name) != known:
            yield Finding(f"policy.{name}", "is none that can be checked")
    instead = INSTEAD.get(policy.unattainable)
    if instead is None:
        yield Finding("policy.unattainable", "is none that can be checked")
    if {group.status for group in report.groups} - {"announced", *(instead or ())}:
        yield Finding("groups", f"a group is neither announced nor {' nor '.join(instead or ('withheld',))}")


def _distances(report: model.PublicReport) -> Iterator[Finding]:
    """The declared distance of records: of every attribute, on scales along the order of its values."""
    individual = report.policy.individual
    if individual is None:
        return
    if not individual.measures or not _unique(individual.measures):
        yield Finding("policy.individual.measures", "are not each named once")
    if set(individual.distances) != {a.name for a in report.attributes}:
        yield Finding("policy.individual.distances", "are not those of the attributes")
    for a in report.attributes:
        declared = individual.distances.get(a.name)
        if declared is None:
            continue
        scale = declared.positions
        along = [scale[value] for value in a.values if value in scale]
        ranks = [float(rank) for rank in range(len(scale))]
        least = 0 if declared.kind == "nominal" else 2 if declared.kind == "ordinal" else 1
        if len(along) < len(scale) or any(math.fabs(x) >= _LARGEST for x in along):
            yield Finding(f"policy.individual.distances.{a.name}", "has positions of other values, or too large ones")
        elif len(scale) < least or (scale and not least) or along != sorted(set(along)):
            yield Finding(f"policy.individual.distances.{a.name}", "has no positions that rise along its values")
        elif declared.kind == "ordinal" and along != ranks:
            yield Finding(f"policy.individual.distances.{a.name}", "its positions are not the ranks of its values")


def _names(report: model.PublicReport) -> Iterator[Finding]:
    outcomes = report.outcomes
    if not 2 <= len(outcomes) <= MOST_OUTCOMES or not _unique(outcomes) or report.positive not in outcomes:
        yield Finding("outcomes", "are not two or more, the positive one among them")
    names = [a.name for a in report.attributes]
    if not _unique(names) or {a.role for a in report.attributes} != {"public", "sensitive"}:
        yield Finding("attributes", "are not each named once, with one at least that is public and one sensitive")
    for a in report.attributes:
        announced = {group.public.get(a.name) for group in report.announced_groups}
        if not _unique(a.coarse) or set(a.coarse) - (announced & set(a.values)) or (a.coarse and a.role != "public"):
            yield Finding(f"attributes.{a.name}.coarse", "are not each a value of announced groups, named once")
        yield from _ceilings(a, report.policy)
    if not _unique(group.id for group in report.groups):
        yield Finding("groups", "two have the same id")
    if not _unique(_values(group.public) for group in report.groups):
        yield Finding("groups", "two have the same public attributes")


def _ceilings(attribute: model.AttributeInfo, policy: model.PolicyInfo) -> Iterator[Finding]:
    """The ceilings of an attribute's own: of sensitive values and sets that exist, and stricter than the policy's."""
    highest = floored(policy.max_confidence, digits=policy.digits)
    for name, of_set, own in attribute.own_ceilings:
        if attribute.role != "sensitive" or (of_set is not None and of_set not in attribute.sets):
            yield Finding(name, "has a ceiling of its own for what is not protected")
        if not 0 < floored(own, digits=policy.digits) < highest:
            yield Finding(name, f"{own} is no ceiling stricter than that of the policy")


def _group(group: model.Group, report: model.PublicReport) -> Iterator[Finding]:
    if set(group.public) != {a.name for a in report.attributes if a.role == "public"}:
        yield Finding(group.id, "its attributes are not the public ones")
    if group.status == "withheld":
        if group.regions or any(x is not None for x in (group.population, group.rate, group.leakage)):
            yield Finding(group.id, "a withheld group has numbers")
        return
    yield from _declared(group.public, report, group.id)
    if group.population is None or group.rate is None or not group.regions:
        yield Finding(group.id, "an announced group lacks its numbers")
        return
    if group.population != sum(region.population for region in group.regions):
        yield Finding(f"{group.id}.population", "is not what its regions add up to")
    yield from _rates(group.rate, report, group.id, [group])
    if not _unique(_values(region.sensitive) for region in group.regions):
        yield Finding(group.id, "two of its rows are of the same people")
    for region in group.regions:
        yield from _region(region, group, report)
    if group.status == "flattened":
        yield from _flattened(group)
    coarse = any(group.public.get(a.name) in a.coarse for a in report.attributes)
    if coarse != (group.status == "coarsened"):
        yield Finding(group.id, f"is {group.status}, but has {'a coarser' if coarse else 'no coarser'} value")


def _flattened(group: model.Group) -> Iterator[Finding]:
    """The rates of a flattened group are its chances in every row."""
    if any(region.announced != group.rate for region in group.regions):
        yield Finding(group.id, "is flattened, but its chances are not its rates")


def _region(region: model.Region, group: model.Group, report: model.PublicReport) -> Iterator[Finding]:
    where, digits = f"{group.id}, {', '.join(region.sensitive.values())}", report.policy.digits
    limited = report.fidelity.kind == "ranges" and group.status != "flattened"
    if set(region.sensitive) != {a.name for a in report.attributes if a.role == "sensitive"}:
        yield Finding(where, "its attributes are not the sensitive ones")
    yield from _declared(region.sensitive, report, where)
    yield from _people(region.population, report, where)
    if (region.known is None) != (report.policy.side_information == OWN_POPULATION):
        yield Finding(where, "has people known from elsewhere, or none, against the side information of the policy")
    if set(region.announced) != set(report.outcomes):
        yield Finding(where, "the outcomes are not those of the report")
    elif not all(_printed(x, digits) for x in region.announced.values()):
        yield Finding(where, f"an announced chance is not a fraction of {wording.count(digits, 'digit')}")
    elif round(sum(region.announced.values()), digits) != 1:
        yield Finding(where, "the announced chances do not add up to 1")
    if (region.allowed is None) == limited:
        yield Finding(where, "has no limits" if region.allowed is None else "has limits, though the promise needs none")
    elif region.allowed is not None and region.allowed[0] > region.allowed[1]:
        yield Finding(where, "its limits leave no chance between them")


def _declared(values: Mapping[str, str], report: model.PublicReport, where: str) -> Iterator[Finding]:
    declared = {a.name: a.values for a in report.attributes}
    for name, value in values.items():
        if value not in declared.get(name, ()):
            yield Finding(where, f"{value} is no value of {name}")


def _people(people: int, report: model.PublicReport, where: str) -> Iterator[Finding]:
    rounding = report.policy.population_rounding
    if people < rounding or people % rounding:
        yield Finding(where, f"the population is not a multiple of {rounding}")


def _rates(
    rates: Mapping[str, float], report: model.PublicReport, where: str, groups: Sequence[model.Group]
) -> Iterator[Finding]:
    """Each of three outcomes and more is rounded: to a whole number of people in every group, then to a percentage."""
    rounding = report.policy.population_rounding
    people = sum(open_people(region.population, rounding)[0] for group in groups for region in group.regions)
    off = (len(rates) > 2) * len(rates) * 0.5 * (10.0**-RATE_DIGITS + len(groups) / max(people, 1))
    if set(rates) != set(report.outcomes):
        yield Finding(where, "the rates are not of the outcomes")
    elif not all(_printed(rate, RATE_DIGITS) for rate in rates.values()):
        yield Finding(where, "a rate is not a whole percentage")
    elif abs(sum(rates.values()) - 1) > off + 1e-9:
        yield Finding(where, "the rates do not add up to 1")


def _compared(report: model.PublicReport) -> Iterator[Finding]:
    """Every protected attribute once, then intersections of attributes that there are, as they are called."""
    titles = {a.name: a.title for a in report.attributes}
    for i, by in enumerate(report.compared):
        where = f"compared.{i}"
        if not by.attributes or not _unique(by.attributes) or set(by.attributes) - titles.keys():
            yield Finding(where, "is by what are not attributes")
            continue
        if not any(a.protected for a in report.attributes if a.name in by.attributes):
            yield Finding(where, "is by attributes none of which is protected")
        name, title = GroupingSpec(by.attributes).name, wording.listed([titles[name] for name in by.attributes])
        if (by.attribute, by.title) != (name, title):
            yield Finding(where, f"is called {by.attribute}, not {name}")
    single = [by.attributes[0] for by in report.compared if len(by.attributes) == 1]
    if single != [a.name for a in report.attributes if a.protected]:
        yield Finding("compared", "are not the protected attributes")
    if not _unique(frozenset(by.attributes) for by in report.compared) or not _unique(
        (*titles, *(by.attribute for by in report.compared if len(by.attributes) > 1))
    ):
        yield Finding("compared", "one stands there twice")


def _comparison(entry: model.Fairness, report: model.PublicReport) -> Iterator[Finding]:
    where = f"fairness, {entry.measure}, {entry.attribute}: {entry.groups[0]} against {entry.groups[1]}"
    if not all(_printed(rate, RATE_DIGITS) for rate in entry.rates):
        yield Finding(where, "a rate is not a whole percentage")
    unbounded = entry.measure in ("p_percent_rule", "individual_fairness")
    if (entry.measure == "individual_fairness") != (entry.pair is not None):
        yield Finding(where, "is no pair of regions, or one of another measure")
    if entry.range[0] is None and (entry.range[1] is not None or not unbounded):
        yield Finding(where, "the range has no lower end")
    for number in (entry.value, *entry.range):
        if number is not None and not _printed(number, report.policy.digits):
            yield Finding(where, f"{number} is not a number of {wording.count(report.policy.digits, 'digit')}")


def _changes(changes: model.Changes) -> Iterator[Finding]:
    for entry in changes.entries:
        if not all(x is None or _printed(x, MOST_DIGITS) for x in (entry.previous, *entry.previous_range)):
            yield Finding(f"changes, {entry.measure}, {entry.attribute}", "an earlier figure has too many digits")
    for margin in changes.margin:
        if not all(_printed(x, MOST_DIGITS) for x in (margin.previous, *margin.previous_range)):
            yield Finding(f"changes, margin, {margin.attribute}", "an earlier figure has too many digits")


def _influence(report: model.PublicReport) -> Iterator[Finding]:
    """Its sets are of several inputs that there are, and its tree asks questions that part people."""
    names = {a.name for a in report.attributes}
    sets = report.policy.influence_sets
    if any(len(of) < 2 or not _unique(of) or set(of) - names for of in sets) or not _unique(map(frozenset, sets)):
        yield Finding("policy.influence_sets", "are not each of two attributes or more, named once")
    if report.surrogate is not None:
        regions = [group.public | region.sensitive for group in report.announced_groups for region in group.regions]
        if not _parts(report.surrogate.tree, regions, DEPTH):
            yield Finding("surrogate.tree", f"has a question that parts nobody, or more than {DEPTH} in a row")


def _parts(node: model.TreeNode, regions: Sequence[Mapping[str, str]], depth: int) -> bool:
    """Whether the questions of a tree, so many in a row at most, part the people of some regions."""
    if (node.attribute, node.values, node.yes, node.no) == (None, (), None, None):
        return True
    if not depth or node.attribute is None or node.yes is None or node.no is None or not _unique(node.values):
        return False
    sides: dict[bool, list[Mapping[str, str]]] = {True: [], False: []}
    for region in regions:
        sides[region.get(node.attribute) in node.values].append(region)
    asked = {region.get(node.attribute) for region in sides[True]}
    return (
        bool(sides[True] and sides[False])
        and asked == set(node.values)
        and _parts(node.yes, sides[True], depth - 1)
        and _parts(node.no, sides[False], depth - 1)
    )


def _totals(report: model.PublicReport) -> Iterator[Finding]:
    policy, counts, quality = report.policy, report.coverage.groups, report.data_quality
    if (counts.announced, counts.withheld) != (len(report.announced_groups), len(report.withheld_groups)):
        yield Finding("coverage.groups", "the numbers of groups are not those listed")
    if counts.withheld_for_size < 0:
        yield Finding("coverage.groups.withheld_for_size", "is below 0")
    if counts.coarsened != len(report.coarsened_groups):
        yield Finding("coverage.groups.coarsened", "is not the number of groups listed")
    if counts.merged < 2 * counts.coarsened or (counts.merged and not counts.coarsened):
        yield Finding("coverage.groups.merged", "is not two groups or more for every coarsened one")
    if report.coverage.rate is not None:
        yield from _rates(report.coverage.rate, report, "coverage.rate", report.announced_groups)
    if any(n % policy.population_rounding for n in (quality.duplicates, quality.corrections, quality.quarantined)):
        yield Finding("data_quality", f"a number of rows is not a multiple of {policy.population_rounding}")
    coarse = max(policy.minimum_group_size, policy.population_rounding)
    if quality.decisions < coarse or quality.decisions % coarse:
        yield Finding("data_quality.decisions", f"is not a multiple of {coarse}")
    if quality.rows_read != quality.decisions + quality.duplicates + quality.corrections + quality.quarantined:
        yield Finding("data_quality", "the rows do not add up")


def _sampling(info: model.SamplingInfo | None) -> bool:
    """Whether it says what the log is, and how intervals and tests are made if it is a sample, as here."""
    if info is None:
        return False
    if info.coverage == "whole":
        return info.alpha is None and not info.methods
    return info.alpha is not None and ALPHA[0] <= info.alpha <= ALPHA[1] and info.methods == METHODS


def _printed(number: float, digits: int) -> bool:
    return math.fabs(number) < _LARGEST and nearest(number, digits) == number


def _unique(items: Iterable[Hashable]) -> bool:
    listed = list(items)
    return len(set(listed)) == len(listed)


def _values(named: Mapping[str, str]) -> Hashable:
    return frozenset(named.items())
