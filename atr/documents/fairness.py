"""What the fairness section prints: one block per protected attribute, always in the order of its values."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from atr.documents.charts import Chart, Mark, dot_chart
from atr.documents.rules import MAX_GROUPS
from atr.measures.group_fairness import joined
from atr.programme import FOUR_FIFTHS
from atr.report import empty_categories as absent
from atr.report.model import ComparedBy, Fairness, PublicReport
from atr.report.sampling import level, said
from atr.report.wording import (
    VERDICTS,
    between,
    class_name,
    common_decimals,
    count,
    cut,
    inverse,
    listed,
    named,
    number,
    points,
    raised,
    rule_name,
)

MAX_PAIRS = 15
MAX_CONDITIONAL = 40
MAX_MARKS = 20
"""Lines of a chart: more do not fit a page with its heading."""
MAX_SENTENCES = 20
MAX_SAME = 5
"""Groups of people met before that a sentence names."""
MAX_SENTENCES_OF_INTERSECTION = 3
_CHOSEN = {"named": "", "highest": ": highest rate", "largest": ": largest group"}
_SUMMARIES = {"worst_class": "worst class", "mean_over_classes": "mean"}

_Place = Callable[[str], tuple[tuple[int, ...], str]]
"""Where a value stands among the others: as its attributes are ordered, then by name."""
_Who = tuple[str, str]
"""An attribute or intersection, and one of its groups."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure as printed; empty where it was not measured."""

    value: str = ""
    range: str = ""
    symbol: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """A group, or a pair, with its measures."""

    label: str
    people: int
    rate: str
    ratio: Measured
    difference: Measured
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Class:
    """The comparisons within one class of the legitimate attributes."""

    heading: str
    rows: tuple[Compared, ...]


@dataclass(frozen=True, slots=True)
class Protected:
    """A protected attribute, or an intersection of attributes: chart, tables and sentences."""

    name: str
    title: str
    reference: str
    chosen: str
    """By which rule the reference was chosen, to stand behind the word."""
    met_before: str
    """Which groups are the people of an earlier group, as a sentence."""
    nobody: str
    """Of which values, or combinations of values, nobody is announced, as a sentence."""
    rule: str
    threshold: float | None
    tolerance: float | None
    chart: Chart | None
    rows: tuple[Compared, ...]
    others: tuple[Class, ...]
    """The ratios of each other outcome, where there are several."""
    groups_in_all: int
    """Groups that were compared, printed or not."""
    sentences: tuple[str, ...]
    sentences_in_all: int
    classes: tuple[Class, ...]
    overall: tuple[Compared, ...]
    """The comparisons over all classes."""
    classes_in_all: int
    classes_told: str
    """What the classes are, and the rows over all of them, as sentences."""
    conditional: int
    """Comparisons within classes, printed or not."""
    pairs: tuple[Compared, ...]
    pairs_in_all: int
    exact: bool
    """Whether no figure of the tables of ratios has a range."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How many comparisons meet a line, do not, cannot be told for privacy, and have too few people for a verdict."""

    met: int
    not_met: int
    cannot_tell: int
    too_few: int = 0

    @property
    def total(self) -> int:
        return self.met + self.not_met + self.cannot_tell + self.too_few


def verdicts(report: PublicReport) -> Verdicts:
    """The verdicts of the p%-rule on the favourable outcome, group against reference; the same people once."""
    return _counted(counted_once(report)[0])


def counted_once(report: PublicReport) -> tuple[list[Fairness], list[str]]:
    """The comparisons with a reference by the p%-rule, and which groups are left out as counted already.

    Left out is a group of the very people of an earlier one, by another attribute or intersection, with the same
    verdict. With another verdict, for its reference can be another, it is counted.
    """
    people, kept, same = same_people(report), list[Fairness](), list[str]()
    seen: set[tuple[object, str]] = set()
    for e in (e for e in _ratios(report) if e.reference in e.groups and e.verdict):
        who = e.attribute, _other(e)
        key = people.get(who, who), e.reason or e.verdict or ""
        if key in seen:
            same.append(_other(e))
        else:
            seen.add(key)
            kept.append(e)
    return kept, same


def met_before(report: PublicReport, by: ComparedBy, people: Mapping[_Who, frozenset[int]]) -> str:
    """Which groups are the very people of a group of another comparison, as a sentence; empty where there are none."""
    place = [b.attribute for b in report.compared].index(by.attribute)
    earlier = {b.attribute for b in report.compared[:place]}
    first: dict[frozenset[int], str] = {}
    for (attribute, who), regions in people.items():
        if attribute in earlier:
            first.setdefault(regions, who)
    same = [(who, first[of]) for (a, who), of in people.items() if a == by.attribute and of in first]
    if not same:
        return ""
    more = [f"{len(same) - MAX_SAME:,} more"] if len(same) > MAX_SAME else []
    pairs = listed([*(f"“{a}” (as “{b}”)" for a, b in same[:MAX_SAME]), *more])
    return (
        f"The same announced people as before: {pairs}. Only the group that they are compared with may be another. “At "
        "a glance” counts such a group once, unless its verdicts differ."
    )


def same_people(report: PublicReport) -> dict[_Who, frozenset[int]]:
    """For each attribute or intersection and each of its groups, by their positions, the announced regions in it."""
    found: dict[tuple[str, str], set[int]] = {}
    regions = [group.public | region.sensitive for group in report.announced_groups for region in group.regions]
    for by in report.compared:
        for i, values in enumerate(regions):
            found.setdefault((by.attribute, joined([values[name] for name in by.attributes])), set()).add(i)
    return {key: frozenset(members) for key, members in found.items()}


def all_verdicts(report: PublicReport) -> Verdicts:
    """The verdicts of every measure: every pair, and people alike in what may count, included."""
    return _counted(report.fairness)


def _counted(entries: Iterable[Fairness]) -> Verdicts:
    found = Counter("too_few" if e.reason == "too_few_people" else e.verdict for e in entries)
    return Verdicts(found["met"], found["not_met"], found["cannot_tell"], found["too_few"])


def lines(report: PublicReport) -> str:
    """The lines that verdicts are drawn at and where they come from, as a sentence; empty where there are none."""
    policy, found = report.policy, []
    of_ratios = rule(report)
    if of_ratios is not None and of_ratios.threshold is not None:
        line, name = number(of_ratios.threshold), rule_name(of_ratios)
        ends = f"{line}{_from(policy.four_fifths_origin)} to its inverse, {inverse(of_ratios.threshold)}"
        found.append(f"the {name} allows ratios from {ends}")
    parities = ("statistical_parity", "conditional_statistical_parity")
    if any(e.threshold is not None and e.measure in parities for e in report.fairness):
        limit = number(policy.parity_tolerance)
        found.append(f"parity allows a difference of {limit}{_from(policy.parity_tolerance_origin)}")
    if not found:
        return ""
    by_law = of_ratios is not None and policy.four_fifths_origin == FOUR_FIFTHS
    other = by_law and any(by.reference is not None and by.chosen != "highest" for by in report.compared)
    law = " 29 CFR 1607.4(D) itself compares with the group of the highest rate; not every reference here is that one."
    return f"Lines: {'; '.join(found)}.{law if other else ''}"


def _from(origin: str) -> str:
    return f" ({origin})" if origin else ""


def too_few(report: PublicReport) -> str:
    """That groups have no verdict for their size, as a sentence; empty where there are none."""
    if not any(e.reason == "too_few_people" and e.pair is None for e in report.fairness):
        return ""
    people = count(report.policy.minimum_group_size, "person", "people")
    return f"Groups of fewer than {people} are listed, but no verdict is given for them: too few people."


def rule(report: PublicReport) -> Fairness | None:
    """A comparison that a line is drawn for, which gives the rule its name."""
    return next((e for e in _ratios(report) if e.threshold is not None), None)


def protected(report: PublicReport) -> tuple[Protected, ...]:
    """The protected attributes that groups were compared by."""
    found = []
    regions_of = same_people(report)
    for i, by in enumerate(report.compared, start=1):
        entries = [e for e in report.fairness if e.attribute == by.attribute]
        if entries:
            found.append(_protected(report, by, entries, regions_of, id=f"chart-{i}"))
    return tuple(found)


def not_compared(report: PublicReport) -> tuple[str, ...]:
    """For each protected attribute and intersection without a comparison, that and why."""
    found = []
    for by in report.compared:
        if not any(e.attribute == by.attribute for e in report.fairness):
            values = {
                ", ".join((group.public | region.sensitive)[name] for name in by.attributes)
                for group in report.announced_groups
                for region in group.regions
            }
            why = f": only “{next(iter(values))}” is announced" if len(values) == 1 else ""
            found.append(f"Nobody is compared by {by.title}{why}.")
            found += [text for text in (nobody(report, by),) if text]
    return tuple(found)


def nobody(report: PublicReport, by: ComparedBy) -> str:
    """Of which values, or combinations of values, nobody is announced, as a sentence; empty where there are none."""
    if absent.too_many(report, by):
        return f"Which combinations of values nobody has is not listed: there are more than {number(absent.LISTED)}."
    if not by.absent:
        return ""
    one, together = len(by.absent) == 1, len(by.attributes) > 1
    has = "these values together" if together else "this value" if one else "these values"
    rest = " report.json names all of them." if cut(by.absent) else ""
    return f"No figure can be given for {named(by.absent)}: nobody is announced under {has}.{rest}"


def _ratios(report: PublicReport) -> list[Fairness]:
    return [
        e for e in report.fairness if e.measure == "p_percent_rule" and e.outcome == report.positive and not e.condition
    ]


def _in_order(report: PublicReport, by: ComparedBy) -> _Place:
    ranks = [
        {v: i for i, v in enumerate(a.values)} for name in by.attributes for a in report.attributes if a.name == name
    ]

    def place(label: str) -> tuple[tuple[int, ...], str]:
        parts = [label] if len(ranks) == 1 else next(csv.reader([label], skipinitialspace=True))
        return tuple(rank.get(part, len(rank)) for rank, part in zip(ranks, parts, strict=False)), label

    return place


def _protected(
    report: PublicReport,
    by: ComparedBy,
    entries: list[Fairness],
    regions_of: Mapping[_Who, frozenset[int]],
    *,
    id: str,
) -> Protected:
    place, several = _in_order(report, by), len(by.attributes) > 1
    ratios = [e for e in _ratios(report) if e.attribute == by.attribute]
    parities = [e for e in entries if e.measure == "statistical_parity" and not e.condition]
    reference = next((e.reference for e in entries), "")
    digits = report.policy.digits
    decimals = common_decimals([x for e in (*ratios, *parities) for x in (e.value, *e.range)], least=min(digits, 3))
    direct = {_other(e): e for e in ratios if e.reference in e.groups}
    parity = {_other(e): e for e in parities if e.reference in e.groups}
    compared = {*direct, *parity}
    order = sorted({*compared, reference} if compared else (), key=place)
    people = {value: size for e in (*ratios, *parities) for value, size in zip(e.groups, e.people, strict=True)}
    by_people = sorted(order, key=lambda v: (v != reference, -people[v]))
    drawn = set(by_people[:MAX_MARKS])
    printed = set(by_people[:MAX_GROUPS])
    told = _furthest(direct, most=MAX_SENTENCES_OF_INTERSECTION if several else MAX_SENTENCES)
    rows: list[Compared] = []
    marks: list[Mark] = []
    for value in (v for v in order if v in printed):
        e = direct.get(value) or parity.get(value)
        if value == reference:
            rows.append(_reference_row(value, [*direct.values(), *parity.values()]))
            marks.append(Mark(value, None, (None, None), reference=True))
        elif e is not None:
            ratio, difference = (measured(of.get(value), decimals) for of in (direct, parity))
            rows.append(_row(e, ratio=ratio, difference=difference))
            if value in direct and value in drawn:
                interval = e.sampling.interval if e.sampling else None
                marks.append(
                    Mark(value, e.value, e.range, VERDICTS[e.verdict][0] if e.verdict else "", interval=interval)
                )
    first = next(iter(direct.values()), None)
    threshold = first.threshold if first else None
    pairs = _pairs(ratios, parities, place, decimals)
    classes, conditional = _classes(report, entries, place)
    overall = _overall(report, entries, place) if len(classes) > 1 and len(order) <= MAX_MARKS else ()
    return Protected(
        name=by.attribute,
        title=by.title,
        reference=reference,
        chosen=_CHOSEN[by.chosen or "named"],
        met_before=met_before(report, by, regions_of),
        nobody=nobody(report, by),
        rule=raised(rule_name(first)),
        threshold=threshold,
        tolerance=next((e.threshold for e in parity.values()), None),
        chart=dot_chart(
            marks,
            id=id,
            title=f"Ratio of rates of “{report.positive}” by {by.title}, against {reference}"
            + (f": the {MAX_MARKS} groups with most people" if len(order) > MAX_MARKS else ""),
            threshold=threshold,
            decimals=decimals,
            level=level(report),
        )
        if direct
        else None,
        rows=tuple(rows),
        others=() if several else _others(report, entries, place, decimals),
        groups_in_all=len(order),
        sentences=tuple(_told(report, direct[v], parity.get(v)) for v in order if v in told),
        sentences_in_all=len(direct),
        classes=classes if conditional <= MAX_CONDITIONAL and not several else (),
        overall=overall,
        classes_in_all=len(classes),
        classes_told=_classes_told(report, by, entries, over_all=bool(overall)) if classes else "",
        conditional=conditional,
        pairs=pairs if len(pairs) <= MAX_PAIRS and not several else (),
        pairs_in_all=len(pairs),
        exact=all(e.range == (e.value, e.value) for e in (*ratios, *parities)),
    )


def _told(report: PublicReport, ratio: Fairness, parity: Fairness | None) -> str:
    """The sentences on a ratio; on parity too, where that is of several outcomes and not of the same two rates."""
    if len(report.outcomes) == 2 or parity is None or parity.reason == "too_few_people":
        return said(ratio)
    return f"{said(ratio)} {parity.sentence}"


def _others(report: PublicReport, entries: Sequence[Fairness], place: _Place, decimals: int) -> tuple[Class, ...]:
    """The ratios of other outcomes than the favourable one, if there are several and not too many."""
    found = []
    for outcome in (o for o in report.outcomes if o != report.positive and len(report.outcomes) > 2):
        of = [e for e in entries if (e.measure, e.outcome) == ("p_percent_rule", outcome) and e.reference in e.groups]
        if of:
            rows = _with_reference([_row(e, ratio=measured(e, decimals)) for e in of], of, place)
            found.append(Class(f"“{outcome}”", rows))
    return tuple(found) if sum(len(of.rows) for of in found) <= MAX_CONDITIONAL else ()


def _furthest(direct: Mapping[str, Fairness], *, most: int) -> set[str]:
    """The groups whose ratios are furthest from 1; those without a ratio come first."""
    distance = {v: math.inf if not e.value else abs(math.log(e.value)) for v, e in direct.items()}
    return set(sorted(direct, key=lambda v: -distance[v])[:most])


def measured(entry: Fairness | None, decimals: int) -> Measured:
    """A measure as it is printed."""
    if entry is None:
        return Measured()
    symbol, verdict = VERDICTS[entry.verdict] if entry.verdict else ("", "")
    if entry.reason == "too_few_people":
        verdict = "too few people"
    value = "no ratio" if entry.value is None else number(entry.value, decimals=decimals)
    if entry.value is None and entry.range == (None, None):
        return Measured(value, "", symbol, verdict)
    inside = "exact" if entry.range == (entry.value, entry.value) else between(entry.range, decimals=decimals)
    return Measured(value, inside, symbol, verdict)


def _other(entry: Fairness) -> str:
    return entry.groups[0] if entry.groups[1] == entry.reference else entry.groups[1]


def _reference_row(reference: str, entries: Sequence[Fairness]) -> Compared:
    e = next(e for e in entries if reference in e.groups)
    side = e.groups.index(reference)
    return Compared(reference, e.people[side], points(e.rates[side]), Measured(), Measured(), reference=True)


def _pairs(ratios: list[Fairness], parities: list[Fairness], place: _Place, decimals: int) -> tuple[Compared, ...]:
    ratio = {e.groups: e for e in ratios if e.reference not in e.groups}
    parity = {e.groups: e for e in parities if e.reference not in e.groups}
    order = sorted({*ratio, *parity}, key=lambda g: (place(g[1]), place(g[0])))
    return tuple(
        Compared(
            f"{a} against {b}",
            0,
            "",
            measured(ratio.get((a, b)), decimals),
            measured(parity.get((a, b)) or parity.get((b, a)), decimals),
        )
        for a, b in order
    )


def _classes(report: PublicReport, entries: list[Fairness], place: _Place) -> tuple[tuple[Class, ...], int]:
    inside = [e for e in _conditional(entries) if e.summary is None]
    if not inside:
        return (), 0
    decimals = _decimals(report, inside)
    titles = {a.name: a.title for a in report.attributes}
    places = {a.name: {v: i for i, v in enumerate(a.values)} for a in report.attributes}
    by_class: dict[tuple[tuple[str, str], ...], list[Fairness]] = {}
    for e in inside:
        by_class.setdefault(tuple(e.condition.items()), []).append(e)
    classes = []
    for condition in sorted(by_class, key=lambda c: [(places.get(k, {}).get(v, 10**6), v) for k, v in c]):
        members = by_class[condition]
        rows = _with_reference([_row(e, difference=measured(e, decimals)) for e in members], members, place)
        classes.append(Class(class_name(dict(condition), titles), rows))
    return tuple(classes), len(inside)


def _overall(report: PublicReport, entries: list[Fairness], place: _Place) -> tuple[Compared, ...]:
    over = [e for e in _conditional(entries) if e.summary is not None]
    if not over:
        return ()
    decimals, titles = _decimals(report, _conditional(entries)), {a.name: a.title for a in report.attributes}
    base = max(over, key=lambda e: e.people[e.groups.index(e.reference)])  # the one with most classes counted
    reference = replace(_reference_row(base.reference, [base]), rate="")
    rows = [(place(base.reference), 0, reference)] + [
        (
            place(_other(e)),
            int(e.summary != "worst_class"),
            Compared(
                f"{_other(e)}: {_SUMMARIES[e.summary or '']}"
                + (f" ({class_name(e.worst_condition, titles)})" if e.worst_condition else "")
                + (
                    f", {e.classes[0]:,} of {e.classes[1]:,} classes"
                    if e.classes and e.classes[0] < e.classes[1]
                    else ""
                ),
                e.people[e.groups.index(_other(e))],
                "",  # that of all classes together is in the table of rates, and is not what is compared here
                Measured(),
                measured(e, decimals),
            ),
        )
        for e in over
    ]
    return tuple(row for *_, row in sorted(rows, key=lambda row: row[:2]))


def _classes_told(report: PublicReport, by: ComparedBy, entries: list[Fairness], *, over_all: bool) -> str:
    """What the classes of people alike in what may count are, and how rows over all of them are made, as sentences."""
    names = [a.title for a in report.attributes if a.legitimate and a.name not in by.attributes]
    said = [
        f"A class is everybody alike in {listed(names)}, which may count by the publisher’s statement. In each class "
        f"every group is compared with {entries[0].reference}."
    ]
    if over_all:
        said.append(
            "“Worst class” is the largest distance of any class, with that class in brackets; “mean” is the average "
            "over the classes, by their people. The people are those of the classes that are counted."
        )
        if any(kept < of_all for kept, of_all in (e.classes or (1, 1) for e in _conditional(entries))):
            minimum = count(report.policy.minimum_group_size, "person", "people")
            said.append(f"A class with fewer than {minimum} of one of the two groups is not counted.")
    return " ".join(said)


def _conditional(entries: list[Fairness]) -> list[Fairness]:
    return [e for e in entries if e.measure == "conditional_statistical_parity" and e.reference in e.groups]


def _decimals(report: PublicReport, entries: list[Fairness]) -> int:
    return common_decimals([x for e in entries for x in (e.value, *e.range)], least=min(report.policy.digits, 3))


def _row(e: Fairness, *, ratio: Measured = Measured(), difference: Measured = Measured()) -> Compared:
    value = _other(e)
    side = e.groups.index(value)
    return Compared(value, e.people[side], points(e.rates[side]), ratio, difference)


def _with_reference(rows: Sequence[Compared], entries: Sequence[Fairness], place: _Place) -> tuple[Compared, ...]:
    """The rows of groups, and that of the reference of their comparisons, in order."""
    return tuple(sorted((*rows, _reference_row(entries[0].reference, entries)), key=lambda row: place(row.label)))
