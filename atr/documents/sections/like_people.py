"""Annex C, like people: individual fairness, what goes with the outcome, and the rules in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atr.documents.figures import Figures
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.measures.influence import SHAPLEY_UP_TO
from atr.report.individual import records
from atr.report.model import Fairness, IndividualPolicy, Influence, OutcomeDistance, PublicReport, Surrogate, TreeNode
from atr.report.rounding import nearest

TITLE = later("Like people, and what goes with the outcome")
MOST_ATTRIBUTES = 40
MOST_COLUMNS = 6
MOST_GROUPS = 40
MOST_VALUES = 12
FEW_RULES = 16
"""As many rules are not told in short as well."""
NAMED = 6
"""Values that a row of the rules in short names."""

DISTANCES: dict[OutcomeDistance, str] = {
    "total_variation": later("distance in points"),
    "relative": later("ratio, as a logarithm"),
}
_KINDS = {"nominal": later("same or not"), "ordinal": later("steps"), "numeric": later("middles of bins")}
_USED = {"yes": later("yes"), "no": later("no"), "unknown": later("not stated")}


@dataclass(frozen=True, slots=True)
class Leaf:
    """People of the surrogate tree: what they have in common, how many they are, and their chance."""

    people_with: str
    people: str
    chance: float
    points: str


def context(words: Words) -> Mapping[str, Any] | None:
    """The variables of the template."""
    report = words.report
    pairs = _pairs(words)
    influence = _influence(words) if report.influence else None
    if not pairs and influence is None:
        return None
    tree = in_short(report)
    distances = report.policy.individual and report.policy.individual.distances
    return {
        "pairs": pairs,
        "no_weight": words.titles(a.name for a in report.attributes if distances and not distances[a.name].weight),
        "too_few": any(e.reason == "too_few_people" for e in report.fairness if e.pair),
        "influence": influence,
        "surrogate": _surrogate(words, tree) if tree else None,
    }


# --- individual fairness


def _pairs(words: Words) -> list[Mapping[str, Any]]:
    """Every measure; ``first``: whether no measure before has the same pair by the same distance."""
    found: list[Mapping[str, Any]] = []
    met: set[tuple[OutcomeDistance, tuple[str, str]]] = set()
    for e in words.report.fairness:
        if e.pair is not None:
            key = e.pair.distance, e.groups
            found.append({**_pair(words, e), "first": key not in met})
            met.add(key)
    return found


def _pair(words: Words, e: Fairness) -> Mapping[str, Any]:
    """The two regions that are furthest beyond their declared distance, by one measure of outcomes."""
    figures, report, pair = Figures(words), words.report, e.pair
    policy = report.policy.individual
    assert pair is not None
    assert policy is not None
    points = pair.distance == "total_variation"

    def amount(x: float | None) -> str:
        return words.say("infinite") if x is None else figures.amount(x, ratio=not points)

    decimals = max(0, report.policy.digits - 2)
    return {
        "distance": words.say(DISTANCES[pair.distance]),
        "least": "" if pair.least_people is None else words.persons(report.policy.minimum_group_size),
        "apart": amount(pair.outcomes_apart),
        "declared": amount(pair.records_apart),
        "excess": amount(e.value),
        "range": _range(words, e, ratio=not points),
        "tolerance": (words.language.points if points else words.language.number)(e.threshold or 0.0),
        "verdict": _kept(words, e),
        "bad": e.verdict == "not_met",
        "involved": words.language.percent(pair.people_involved),
        "people": [words.language.people(n) for n in pair.people],
        "lines": [_line(words, policy, a.name, (pair.regions[0][a.name], pair.regions[1][a.name]))
                  for a in report.attributes],
        "chances": [(outcome, [words.language.points(chances[outcome], decimals=decimals) for chances in pair.chances])
                    for outcome in report.outcomes],
    }  # fmt: skip


def _range(words: Words, e: Fairness, *, ratio: bool) -> str:
    if e.range == (e.value, e.value):
        return "" if e.value is None else words.say("exact")
    return Figures(words).between(e.range, ratio=ratio)


def _kept(words: Words, e: Fairness) -> str:
    said = Figures(words).verdict(e) if e.reason in ("too_few_people", "different_times") else ""
    kept = {"met": words.say("kept"), "not_met": words.say("not kept"), "cannot_tell": words.say("cannot be told")}
    return said or kept[e.verdict or "cannot_tell"]


def _line(words: Words, policy: IndividualPolicy, attribute: str, values: tuple[str, str]) -> Sequence[str]:
    """An attribute, how its values are compared, its weight, two values, and how far they are apart, 0 to 1."""
    of, number = policy.distances[attribute], words.language.number
    alone = policy.model_copy(update={"distances": {attribute: of.model_copy(update={"weight": 1.0})}})
    apart = nearest(float(records({attribute: values}, alone).distances(0)[1]), 2)
    return words.attributes[attribute].title, words.say(_KINDS[of.kind]), number(of.weight), *values, number(apart)


# --- what goes with the outcome


def _influence(words: Words) -> Mapping[str, Any]:
    report = words.report
    whole = next(e for e in report.influence if len(e.inputs) == len(report.attributes))
    found = sorted((e for e in report.influence if e is not whole), key=lambda e: -e.value)
    single, people = [e for e in found if len(e.inputs) == 1], _people(report)
    columns = single[:MOST_COLUMNS]
    told, shown = (sum(g.population or 0 for g in gs) for gs in (report.complete.groups, report.announced_groups))
    return {
        "whole": _points(words, whole.value),
        "rows": [_attribute(words, e) for e in found[:MOST_ATTRIBUTES]],
        "shapley": len(report.attributes) <= SHAPLEY_UP_TO,
        "shapley_up_to": words.language.number(SHAPLEY_UP_TO),
        "sets": any(len(e.inputs) > 1 for e in found),
        "outcomes": [report.positive, *(o for o in report.outcomes if o != report.positive)],
        "people": "" if told == shown else words.language.number(told),
        "columns": [words.attributes[e.inputs[0]].title for e in columns],
        "groups": [
            (a.title, rows, len(rows) < in_all)
            for a in report.attributes
            for rows, in_all in [_groups(words, a.name, [*columns, whole], people[a.name])]
            if in_all > 1
        ],
        "dependence": [_dependence(words, e, people[e.inputs[0]]) for e in single[:MOST_ATTRIBUTES]],
    }


def _points(words: Words, share: float | None, *, signed: bool = False) -> str:
    """Write a share in points, or its absence as nothing."""
    if share is None:
        return ""
    text = words.language.points(share, decimals=max(0, words.report.policy.digits - 2))
    return f"+{text}" if signed and share > 0 else text


def _attribute(words: Words, e: Influence) -> Mapping[str, Any]:
    used = {words.attributes[a].used_by_system for a in e.inputs}
    return {
        "title": words.titles(e.inputs),
        "used": words.say(_USED[used.pop()] if len(used) == 1 else later("some of them")),
        "value": _points(words, e.value),
        "shapley": _points(words, e.shapley),
        "rate": _points(words, e.rate, signed=True),
        "covered": words.language.points(e.covered),
        "outcomes": [_points(words, x) for x in (e.value, *e.outcomes.values())],
    }


def _groups(
    words: Words, attribute: str, columns: Sequence[Influence], people: Counter[str]
) -> tuple[list[tuple[str, list[tuple[str, str]]]], int]:
    """The rows of the groups with most people: for each column the influence and the Shapley value; and how many."""
    of = [{g.group: g for g in e.groups if g.attribute == attribute} for e in columns]
    largest = sorted(of[-1], key=lambda value: -people[value])[:MOST_GROUPS]
    rows = [
        (v, [(_points(words, by[v].value, signed=True), _points(words, by[v].shapley, signed=True)) for by in of])
        for v in of[-1]
        if v in largest
    ]
    return rows, len(of[-1])


def _dependence(words: Words, e: Influence, people: Counter[str]) -> Mapping[str, Any]:
    """The commonest values of an attribute and the one compared with."""
    common = sorted((d.value for d in e.dependence), key=lambda v: -people[v])[:MOST_VALUES]
    points = words.language.points
    return {
        "title": words.attributes[e.inputs[0]].title,
        "against": e.against,
        "more": len(e.dependence) > MOST_VALUES,
        "rows": [
            (d.value, _points(words, d.chance), points(d.covered), _points(words, d.difference, signed=True),
             "" if d.shared is None else points(d.shared))
            for d in e.dependence
            if d.value in (*common, e.against)
        ],
    }  # fmt: skip


def _people(report: PublicReport) -> dict[str, Counter[str]]:
    """For each attribute how many people have each value, values in the order of the attribute."""
    found = {a.name: Counter(dict.fromkeys(a.values, 0)) for a in report.attributes}
    for values, region, _ in report.complete.announced_regions:
        for name, value in values.items():
            found[name][value] += region.people
    return found


# --- the rules in short


def in_short(report: PublicReport) -> Surrogate | None:
    """The tree that tells the rules in short; None where they are few or there is none."""
    return report.surrogate if len(list(report.complete.announced_regions)) > FEW_RULES else None


def _surrogate(words: Words, surrogate: Surrogate) -> Mapping[str, Any]:
    report = words.report
    values = {name: [v for v, n in of.items() if n] for name, of in _people(report).items()}
    leaves = [_leaf(words, node, kept, values) for node, kept in _leaves(surrogate.tree, {}, values)]
    explained = surrogate.explained
    return {
        "leaves": sorted(leaves, key=lambda leaf: -leaf.chance),
        "mean": _points(words, surrogate.mean_difference),
        "largest": _points(words, surrogate.largest_difference),
        "explained": None if explained is None else words.language.percent(explained),
    }


def _leaves(
    node: TreeNode, kept: Mapping[str, Sequence[str]], values: Mapping[str, Sequence[str]]
) -> list[tuple[TreeNode, Mapping[str, Sequence[str]]]]:
    """The leaves below a node, each with the values that lead to it, of every attribute that is asked about."""
    if node.attribute is None or node.yes is None or node.no is None:
        return [(node, kept)]
    known = kept.get(node.attribute, values[node.attribute])
    yes = {**kept, node.attribute: [v for v in known if v in node.values]}
    no = {**kept, node.attribute: [v for v in known if v not in node.values]}
    return [*_leaves(node.yes, yes, values), *_leaves(node.no, no, values)]


def _leaf(words: Words, node: TreeNode, kept: Mapping[str, Sequence[str]], values: Mapping[str, Sequence[str]]) -> Leaf:
    parts = []
    for name, title in ((a.name, a.title) for a in words.report.attributes if a.name in kept):
        others = [v for v in values[name] if v not in kept[name]]
        if len(others) < len(kept[name]) and len(kept[name]) > 2:
            which = words.listed(others, last="or", most=NAMED)
            parts.append(words.say("{attribute}: not {values}", attribute=title, values=which))
        else:
            which = words.listed(kept[name], last="or", most=NAMED)
            parts.append(words.say("{attribute}: {values}", attribute=title, values=which))
    return Leaf(
        "; ".join(parts) or words.say("everybody"),
        words.language.number(node.people),
        node.chance,
        _points(words, node.chance),
    )
