"""Influence and the surrogate tree of a report, from its printed chances and its printed numbers of people alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from atr.core.arrays import BoolArray, FloatArray
from atr.core.publication import RATE_DIGITS, rounded_total
from atr.measures import influence as measures
from atr.measures import surrogate as trees
from atr.measures.influence import Rules
from atr.measures.surrogate import Tree
from atr.report.model import Dependence, GroupInfluence, Influence, PublicReport, Surrogate, TreeNode
from atr.report.rounding import down, nearest


@dataclass(frozen=True)
class _Printed:
    """The announced rules of a report that has some; ``rules`` are in units of the last printed digit."""

    report: PublicReport
    rules: Rules

    @staticmethod
    def of(report: PublicReport) -> _Printed:
        places, regions = _places(report), report.announced_regions
        values = [[place[values[name]] for name, (_, place) in places.items()] for values, _, _ in regions]
        people = np.array([region.people for _, region, _ in regions], dtype=np.float64)
        return _Printed(report, Rules(np.array(values, dtype=np.int64), people, _in_units(report, report.positive)))

    @cached_property
    def others(self) -> dict[str, Rules]:
        """The same rules on each other outcome, where there are several; of two, what moves one moves the other."""
        names = [name for name in self.report.outcomes if name != self.report.positive]
        return {name: replace(self.rules, chance=_in_units(self.report, name)) for name in names if len(names) > 1}

    @property
    def protected(self) -> list[int]:
        """The columns of protected attributes."""
        return [i for i, a in enumerate(self.report.attributes) if a.protected]

    def total(self, people: FloatArray) -> int:
        """A total of (k,) people, as it is printed."""
        return int(rounded_total(np.array(int(people.sum())), rounding=self.report.policy.population_rounding))

    def rounded(self, amount: float) -> float:
        """An amount of chance, in units, as it is printed."""
        return nearest(amount / 10**self.report.policy.digits, self.report.policy.digits)

    @cached_property
    def references(self) -> dict[int, int | None]:
        """For each protected column the place of the value that groups are compared with, where there is one."""
        named = {e.attribute: e.reference for e in self.report.fairness}
        attributes = [(i, self.report.attributes[i]) for i in self.protected]
        return {i: a.values.index(named[a.name]) if named.get(a.name) in a.values else None for i, a in attributes}

    def base(self, column: int) -> int:
        """The place of the value that others of an input are compared with: the reference, or else the commonest."""
        people = np.bincount(self.rules.values[:, column], self.rules.people)
        reference = self.references.get(column)
        if reference is not None and reference < len(people) and people[reference]:
            return reference
        return int(people.argmax())


def _places(report: PublicReport) -> dict[str, tuple[int, dict[str, int]]]:
    """The column of each input, and the places of its values."""
    return {a.name: (i, {value: k for k, value in enumerate(a.values)}) for i, a in enumerate(report.attributes)}


def _in_units(report: PublicReport, outcome: str) -> FloatArray:
    """(n,) the announced chances of an outcome, in units of the last printed digit."""
    unit = 10**report.policy.digits
    return np.array([round(chances[outcome] * unit) for _, _, chances in report.announced_regions], dtype=np.float64)


def influence(report: PublicReport) -> tuple[Influence, ...]:
    """The influence of each input, of the declared sets, and of all inputs together, as printed.

    Parameters
    ----------
    report
        A report whose groups and fairness are complete.

    Returns
    -------
    One entry for each, as shares rounded to the policy's digits; none where nothing is announced.

    References
    ----------
    :mod:`atr.measures.influence` has the definitions and their sources.
    """
    report = report.complete
    if not report.groups:
        return ()
    printed = _Printed.of(report)
    names = [a.name for a in report.attributes]
    few = len(names) <= measures.SHAPLEY_UP_TO
    shapley = measures.shapley(measures.of_subsets(printed.rules, by=printed.protected)) if few else None
    sets = dict.fromkeys([*((name,) for name in names), *report.policy.influence_sets])
    if not any(set(of) == set(names) for of in sets):
        sets[tuple(names)] = None
    return tuple(_entry(printed, [names.index(name) for name in of], shapley) for of in sets)


def _entry(printed: _Printed, inputs: list[int], shapley: FloatArray | None) -> Influence:
    found = measures.influence(printed.rules, inputs, by=printed.protected)
    one = inputs[0] if len(inputs) == 1 else None
    own = None if shapley is None or one is None else shapley[one]
    several = one is not None and len(np.unique(printed.rules.values[:, one])) > 1
    base = printed.base(one) if one is not None and several else None
    return Influence(
        inputs=tuple(printed.report.attributes[i].name for i in inputs),
        value=printed.rounded(found.change),
        covered=down(found.covered, RATE_DIGITS),
        rate=printed.rounded(found.rate),
        shapley=None if own is None else printed.rounded(own[0]),
        rate_shapley=None if own is None else printed.rounded(own[1]),
        outcomes={
            name: printed.rounded(measures.influence(rules, inputs).change) for name, rules in printed.others.items()
        },
        groups=tuple(_groups(printed, found.rates, None if own is None else own[2:])),
        against=None if one is None or base is None else printed.report.attributes[one].values[base],
        dependence=() if one is None else tuple(_dependence(printed, one, base)),
    )


def _groups(printed: _Printed, changes: tuple[FloatArray, ...], shapley: FloatArray | None) -> Iterator[GroupInfluence]:
    start = 0
    for column, change in zip(printed.protected, changes, strict=True):
        attribute, rate = printed.report.attributes[column], measures.rates(printed.rules, column)
        reference = printed.references[column]
        for place in np.unique(printed.rules.values[:, column]).tolist():
            disparity = None
            if reference is not None and place != reference and reference < len(rate):
                apart, drawn = rate - rate[reference], (rate - change) - (rate - change)[reference]
                disparity = printed.rounded(abs(apart[place]) - abs(drawn[place]))
            yield GroupInfluence(
                attribute=attribute.name,
                group=attribute.values[place],
                value=printed.rounded(change[place]),
                shapley=None if shapley is None else printed.rounded(shapley[start + place]),
                disparity=disparity,
            )
        start += len(change)


def _dependence(printed: _Printed, column: int, base: int | None) -> Iterator[Dependence]:
    chance, covered = measures.partial_dependence(printed.rules, column)
    apart, shared = (chance, 0 * chance) if base is None else measures.against(printed.rules, column, base)
    for place in np.unique(printed.rules.values[:, column]).tolist():
        compared = base not in (None, place)
        yield Dependence(
            value=printed.report.attributes[column].values[place],
            chance=printed.rounded(chance[place]),
            covered=down(covered[place], RATE_DIGITS),
            difference=printed.rounded(apart[place]) if compared and shared[place] > 0 else None,
            shared=down(shared[place], RATE_DIGITS) if compared else None,
        )


def surrogate(report: PublicReport) -> Surrogate | None:
    """A small decision tree that approximates the announced rules; see :mod:`atr.measures.surrogate`.

    A report that has a tree keeps its questions, and only their numbers are computed: another version of the library
    that fits trees may ask other ones.

    Parameters
    ----------
    report
        A report whose groups are complete, and whose tree, if it has one, splits people at each question.

    Returns
    -------
    The tree, with chances and differences as shares rounded to the policy's digits; None where nothing is announced.
    """
    report = report.complete
    if not report.groups:
        return None
    printed = _Printed.of(report)
    rules = printed.rules
    tree = trees.fit(rules) if report.surrogate is None else _questions(report.surrogate.tree, _places(report))
    chance = np.zeros(len(rules.people))

    def node(of: Tree, inside: BoolArray) -> TreeNode:
        people = rules.people[inside]
        average = printed.rounded(float((people * rules.chance[inside]).sum() / people.sum()))
        known = TreeNode(people=printed.total(people), chance=average)
        if of.of is None or of.yes is None or of.no is None:
            chance[inside] = round(average * 10**report.policy.digits)
            return known
        attribute, asked = report.attributes[of.of], np.isin(rules.values[:, of.of], of.values)
        return known.model_copy(
            update={
                "attribute": attribute.name,
                "values": tuple(attribute.values[place] for place in of.values),
                "yes": node(of.yes, inside & asked),
                "no": node(of.no, inside & ~asked),
            }
        )

    root = node(tree, np.ones(len(rules.people), dtype=bool))
    near = trees.agreement(rules, chance)
    return Surrogate(
        tree=root,
        mean_difference=printed.rounded(near.mean),
        largest_difference=printed.rounded(near.largest),
        explained=None if near.explained is None else nearest(near.explained, report.policy.digits),
    )


def _questions(node: TreeNode, places: Mapping[str, tuple[int, Mapping[str, int]]]) -> Tree:
    if node.attribute is None or node.yes is None or node.no is None:
        return Tree()
    column, known = places[node.attribute]
    return Tree(
        column,
        tuple(known[value] for value in node.values),
        _questions(node.yes, places),
        _questions(node.no, places),
    )
