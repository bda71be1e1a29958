"""Influence of each input: bars and a table, influence on groups, partial dependence, the surrogate tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from atr.documents.charts.rows import Chart, Mark, row_chart
from atr.documents.charts.tree import NAMED, Leaf, TreeChart, tree_chart
from atr.documents.text.wording import NBSP, listed, percent_decimals, percentage_points, points, raised
from atr.measures.influence import SHAPLEY_UP_TO
from atr.report.model import AttributeInfo, Dependence, GroupInfluence, Influence, PublicReport

MAX_BARS = 20
"""Bars of the chart, rows of its table and sentences beside it: more do not fit a page with its heading."""
MAX_COLUMNS = 6
MAX_GROUPS = 12
MAX_SENTENCES = 6
"""On groups of one attribute: those whose rates move most."""
MAX_VALUES = 10
MAX_DEPENDENCES = 12


def context(report: PublicReport) -> dict[str, Any]:
    """The variables of the template; ``influence`` is None where nothing is announced."""
    found = Influences(report) if report.influence and report.surrogate else None
    return {"influence": found, "shapley_up_to": SHAPLEY_UP_TO}


class Influences:
    """The figures and sentences on the influence of inputs; shares are printed in percent."""

    def __init__(self, report: PublicReport) -> None:
        self.report = report
        self.titles = {a.name: a.title for a in report.attributes}
        self.roles = {a.name: a.role for a in report.attributes}
        self.decimals = percent_decimals(report.policy.digits)
        self.whole = next(e for e in report.influence if len(e.inputs) == len(self.titles))
        self.measured = sorted((e for e in report.influence if e is not self.whole), key=lambda e: -e.value)
        self.shown = self.measured[:MAX_BARS]
        self.single = [e for e in self.measured if len(e.inputs) == 1]
        self.columns = self.single[:MAX_COLUMNS]
        self.dependences = self.single[:MAX_DEPENDENCES]
        self.with_shapley = len(self.titles) <= SHAPLEY_UP_TO
        self.people = _people(report)
        self.values = {name: [v for v, people in of.items() if people] for name, of in self.people.items()}
        self.only = {name: values[0] for name, values in self.values.items() if len(values) == 1}
        """The only value that anybody has of an attribute."""
        whole = len(report.complete.groups) == len(report.announced_groups)
        self.everybody = "everybody in the announced rules" if whole else "everybody in these figures"
        self.nothing = f"{points(0.5 * 10.0**-report.policy.digits)} percentage points"
        """The most that a figure can be that is printed as 0."""

    def points(self, share: float) -> str:
        """Write a share in percentage points."""
        return points(share, decimals=self.decimals)

    def signed(self, share: float) -> str:
        """Write a share in percentage points, with its sign."""
        return f"{'+' if share > 0 else ''}{self.points(share)}"

    def amount(self, share: float) -> str:
        """Write a share in percentage points without its sign, with the unit."""
        return percentage_points(abs(share), decimals=self.decimals)

    def percent(self, share: float) -> str:
        """Write a share in percent."""
        return f"{self.points(share)}{NBSP}%"

    def covered(self, share: float) -> str:
        """Write a share above 0 that was rounded down to a percent."""
        return f"{points(share) if share else 'less than 1'}{NBSP}%"

    def label(self, inputs: Iterable[str]) -> str:
        """Name an input, or several together, at the beginning of a line."""
        return raised(listed([self.titles[name] for name in inputs]))

    def names(self, inputs: Iterable[str]) -> str:
        """Name one of several inputs, within a sentence."""
        return listed([self.titles[name] for name in inputs], last="or")

    def chart(self) -> Chart:
        """A bar for each influence and a ring for its Shapley value, in percentage points."""
        marks = [
            Mark(
                self.label(e.inputs),
                self.points(e.value),
                self.points(e.value) + ("" if e.shapley is None else f" (Shapley value {self.points(e.shapley)})"),
                bar=(0.0, 100 * e.value),
                ring=None if e.shapley is None else 100 * e.shapley,
            )
            for e in self.shown
        ]
        ring = " A ring is the Shapley value." if any(m.ring is not None for m in marks) else ""
        return row_chart(
            marks,
            title=f"Influence of each input on the announced chance of “{self.report.positive}”, in percentage points",
            description=f"A bar is an influence: the longer, the more the chance changes if the input is drawn.{ring}",
            base=0.0,
        )

    def sentence(self, e: Influence) -> str:
        """State the influence of an input, or of several together."""
        name, one = self.label(e.inputs), len(e.inputs) == 1
        if one and e.inputs[0] in self.only:
            alone = f"{self.everybody} has “{self.only[e.inputs[0]]}”"
            return f"{name}: {alone}, so there is nothing else to draw."
        drawn = "drawn at random" if one else "drawn at random together"
        among = "" if e.covered == 1 else f", among the combinations that exist ({self.covered(e.covered)} of draws)"
        by = self.amount(e.value) if e.value else f"at most {self.nothing}"
        return f"{name}: {drawn}, the chance of “{self.report.positive}” would change by {by} on average{among}."

    def turned(self) -> tuple[Influence, Influence] | None:
        """The two inputs that influence and Shapley value rank most differently.

        Returns
        -------
        The input of the larger influence, then that of the larger Shapley value; None where both rank all inputs alike.
        """
        pairs = [
            (a, b)
            for a, b in combinations(self.single, 2)
            if a.value > b.value and (a.shapley or 0.0) < (b.shapley or 0.0)
        ]
        return max(pairs, key=lambda pair: (pair[1].shapley or 0.0) - (pair[0].shapley or 0.0), default=None)

    def groups(self) -> list[dict[str, Any]]:
        """The influence on the rates of groups.

        Returns
        -------
        For each attribute that groups are compared by, its title, rows, number of groups and sentences. A row has a
        cell for each printed input, and then one for all inputs together.
        """
        found = ((a, _of_attribute(self.whole, a.name)) for a in self.report.attributes)
        return [self._by_group(a, whole) for a, whole in found if len(whole) > 1]

    def _by_group(self, a: AttributeInfo, whole: Mapping[str, GroupInfluence]) -> dict[str, Any]:
        of = {e.inputs[0]: _of_attribute(e, a.name) for e in self.single}
        largest = sorted(whole, key=lambda v: -self.people[a.name][v])[:MAX_GROUPS]
        moved = {value: {name: of[name][value] for name in of} for value in whole if value in largest}
        told = sorted(moved, key=lambda v: -max(abs(g.value) for g in moved[v].values()))[:MAX_SENTENCES]
        columns = [e.inputs[0] for e in self.columns]
        return {
            "title": a.title,
            "rows": [
                (v, [*(self._cell(by_input[name]) for name in columns), self._cell(whole[v])])
                for v, by_input in moved.items()
            ],
            "in_all": len(whole),
            "sentences": [self._on_group(v, moved[v], whole[v]) for v in moved if v in told],
        }

    def _cell(self, e: GroupInfluence) -> tuple[str, str]:
        return self.signed(e.value), "" if e.shapley is None else self.signed(e.shapley)

    def _on_group(self, group: str, of: Mapping[str, GroupInfluence], whole: GroupInfluence) -> str:
        """Which input moves the rate of a group most when drawn alone, and which has the largest Shapley value."""
        positive = self.report.positive
        moves = _largest({name: g.value for name, g in of.items()})
        if not moves:
            by = f"moves the rate of “{positive}” by more than {self.nothing}"
            return f"{group}: no single input, drawn at random, {by}."
        most, drawn = of[moves[0]], f"{self.names(moves)} drawn at random"
        rate = f"{group}: the rate of “{positive}” moves most"
        if len(moves) > 1:
            said = f"{rate}, by {self.amount(most.value)}, with {drawn}, each alone"
        else:
            said = (
                f"{rate} with {drawn}; it would be {self.amount(most.value)} {'lower' if most.value > 0 else 'higher'}"
            )
            reference = next((e.reference for e in self.report.fairness if e.attribute == whole.attribute), None)
            if most.disparity and reference is not None:
                nearer = "nearer to" if most.disparity > 0 else "further from"
                said += f", and {self.points(abs(most.disparity))} {nearer} that of {reference}"
        parts = _largest({name: g.shapley for name, g in of.items() if g.shapley is not None})
        if not parts:
            return f"{said}."
        too = ", too" if parts == moves else ", for which the other inputs are drawn as well"
        figures = " or ".join(dict.fromkeys(self.signed(of[name].shapley or 0.0) for name in parts))
        return (
            f"{said}. From the rate of everybody it differs by {self.signed(whole.value)}; the largest Shapley value "
            f"in that, {figures}, is that of {self.names(parts)}{too}."
        )

    def dependence(self, e: Influence) -> list[Dependence]:
        """The values of an input that are printed: the commonest ones, and the one compared with."""
        common = sorted((d.value for d in e.dependence), key=lambda v: -self.people[e.inputs[0]][v])[:MAX_VALUES]
        return [d for d in e.dependence if d.value in (*common, e.against)]

    def compared(self, e: Influence) -> str:
        """State which values of an input have the lowest and highest average chance, beside the one compared with."""
        if e.against is None:
            return f"{self.everybody} has “{e.dependence[0].value}”."
        known = {d.value: d.difference for d in e.dependence if d.difference is not None}
        if not known:
            return f"nobody’s other values were announced both with “{e.against}” and with another value."
        low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
        told = [low] * (known[low] < 0) + [high] * (known[high] > 0)
        if not told:
            return (
                f"with no other value is the average chance of “{self.report.positive}” more than {self.nothing} away "
                f"from that with “{e.against}”."
            )
        shared = {d.value: self.covered(d.shared or 0.0) for d in e.dependence}
        parts = [
            f"{self.amount(known[v])} {'lower' if known[v] < 0 else 'higher'} with “{v}” ({shared[v]} of people)"
            for v in told
        ]
        return (
            f"set against “{e.against}”, and of the same people, the average chance of “{self.report.positive}” is "
            f"{listed(parts)}."
        )

    def tree(self) -> TreeChart | None:
        """The surrogate tree, laid out; None where it asks no question."""
        surrogate = self.report.surrogate
        if surrogate is None or surrogate.tree.attribute is None:
            return None
        return tree_chart(
            surrogate.tree, titles={name: raised(t) for name, t in self.titles.items()}, values=self.values
        )

    def told(self, tree: TreeChart) -> list[str]:
        """The sentences of the leaves, from the top."""
        return [self._leaf(leaf) for leaf in tree.leaves]

    def _leaf(self, leaf: Leaf) -> str:
        conditions = []
        for name in (name for name in self.titles if name in leaf.kept):
            kept = [f"“{v}”" for v in leaf.kept[name]]
            others = [f"“{v}”" for v in self.values[name] if v not in leaf.kept[name]]
            if len(others) < len(kept) and len(kept) > 2:
                which = f"other than {listed(others, last='or', most=NAMED)}"
            else:
                which = listed(kept, last="or", most=NAMED)
            conditions.append(f"{self.titles[name]} {which}")
        chance = f"the announced chance of “{self.report.positive}” is {self.percent(leaf.node.chance)} on average"
        return f"People with {listed(conditions)}: {chance}."

    def shortened(self, tree: TreeChart) -> bool:
        """Whether some question has so many values that not all are named."""
        return any(len(self.values[name]) > NAMED for leaf in tree.leaves for name in leaf.kept)


def _people(report: PublicReport) -> dict[str, Counter[str]]:
    """For each attribute how many people have each value, values in the order of the attribute."""
    found = {a.name: Counter(dict.fromkeys(a.values, 0)) for a in report.attributes}
    for values, region, _ in report.complete.announced_regions:
        for name, value in values.items():
            found[name][value] += region.people
    return found


def _of_attribute(e: Influence, attribute: str) -> dict[str, GroupInfluence]:
    return {g.group: g for g in e.groups if g.attribute == attribute}


def _largest(figures: Mapping[str, float]) -> list[str]:
    """The inputs of the largest figure in absolute value, all of them where they are even; none where that is 0."""
    most = max(map(abs, figures.values()), default=0.0)
    return [name for name, figure in figures.items() if most and abs(figure) == most]
