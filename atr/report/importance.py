"""What the influence section prints: bars and a table, influence on groups, partial dependence, the surrogate tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from atr.influence import SHAPLEY_UP_TO
from atr.report.charts import LEFT, RIGHT, TOP, WIDTH, Tick, axis, wrap
from atr.report.model import GroupInfluence, Influence, PublicReport, TreeNode
from atr.report.wording import inner, listed, number, percent, percent_decimals, points

MAX_BARS = 20
"""Bars of the chart, rows of its table and sentences beside it: more do not fit a page with its heading."""
MAX_COLUMNS = 6
MAX_GROUPS = 12
MAX_SENTENCES = 6
"""On groups of one attribute: those whose rates move most."""
MAX_VALUES = 10
MAX_DEPENDENCES = 12
_NAMED = 6
PITCH = 50.0
LEAF_X, LEAF_GAP, BOX_GAP = 524.0, 14.0, 34.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from 0; the ring is the Shapley value, where there is one."""

    label: tuple[str, ...]
    y: float
    start: float
    end: float
    ring: float | None
    text: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars, ready to draw, in percentage points."""

    id: str
    title: str
    values: str
    description: str
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    zero: float
    height: float
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    width: float = WIDTH


@dataclass(frozen=True, slots=True)
class Row:
    """An input, or several together, with its figures in percentage points and what they say."""

    label: str
    kind: str
    influence: str
    shapley: str
    covered: str
    sentence: str


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The people with one value of a protected attribute: for each printed input its influence and Shapley value."""

    label: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ByGroup:
    """The influence on the rates of groups, by a protected attribute."""

    title: str
    rows: tuple[GroupRow, ...]
    in_all: int
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DependenceRow:
    """A value that everybody is given, the average chance and the share of people it is of, in percent."""

    label: str
    chance: str
    covered: str


@dataclass(frozen=True, slots=True)
class DependenceBlock:
    """The partial dependence on an input, of as many values as are printed."""

    title: str
    rows: tuple[DependenceRow, ...]
    in_all: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Box:
    """A question of the drawn tree: a box and its label."""

    x: float
    y: float
    width: float
    height: float
    label: str


@dataclass(frozen=True, slots=True)
class Edge:
    """The way from a question to what is below it: out, up or down, and along."""

    path: str
    x: float
    y: float
    answer: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of the tree, with what is said of it."""

    letter: str
    y: float
    sentence: str
    people: int
    chance: str


@dataclass(frozen=True, slots=True)
class TreeChart:
    """The surrogate tree, ready to draw."""

    id: str
    title: str
    values: str
    description: str
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    leaves: tuple[Leaf, ...]
    height: float
    leaf_x: float = LEAF_X
    width: float = WIDTH


@dataclass(frozen=True, slots=True)
class Section:
    """The whole section."""

    chart: BarChart
    rows: tuple[Row, ...]
    rows_in_all: int
    all_inputs: str
    """What the figure of all inputs together says."""
    shapley_left_out: str
    columns: tuple[str, ...]
    columns_in_all: int
    groups: tuple[ByGroup, ...]
    dependence: tuple[DependenceBlock, ...]
    inputs: int
    tree: TreeChart | None
    agreement: str


def section(report: PublicReport) -> Section | None:
    """The influence section; None where nothing is announced."""
    if not report.influence or report.surrogate is None:
        return None
    titles = {a.name: a.title for a in report.attributes}
    decimals = percent_decimals(report.policy.digits)
    whole = next(e for e in report.influence if len(e.inputs) == len(titles))
    measured = sorted((e for e in report.influence if e is not whole), key=lambda e: -e.value)
    single = [e for e in measured if len(e.inputs) == 1]
    shown, columns, people = measured[:MAX_BARS], single[:MAX_COLUMNS], _people(report)
    return Section(
        chart=_bars(report, shown, titles, decimals),
        rows=tuple(_row(report, e, titles, decimals) for e in shown),
        rows_in_all=len(measured),
        all_inputs=_all(report, whole, titles, decimals),
        shapley_left_out=""
        if len(titles) <= SHAPLEY_UP_TO
        else f"Shapley values are left out: they are computed of {SHAPLEY_UP_TO} inputs at most.",
        columns=tuple(titles[e.inputs[0]] for e in columns),
        columns_in_all=len(single),
        groups=tuple(_by_group(report, columns, titles, decimals)),
        dependence=tuple(
            _dependence(report, e, people[e.inputs[0]], titles, decimals) for e in single[:MAX_DEPENDENCES]
        ),
        inputs=len(single),
        tree=_tree(report, titles, decimals) if report.surrogate.tree.attribute is not None else None,
        agreement=_agreement(report, decimals),
    )


def label(inputs: Sequence[str], titles: dict[str, str]) -> str:
    """What an input, or several together, are called."""
    first, *others = [titles[name] for name in inputs]
    return listed([first, *map(inner, others)])


def _bars(report: PublicReport, shown: list[Influence], titles: dict[str, str], decimals: int) -> BarChart:
    hundred = [(100 * e.value, None if e.shapley is None else 100 * e.shapley) for e in shown]
    low, high, ticks = axis([0.0, *(x for pair in hundred for x in pair if x is not None)])

    def x(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (RIGHT - LEFT), 2)

    bars, y = [], TOP + 4
    for e, (value, shapley) in zip(shown, hundred, strict=True):
        name = wrap(label(e.inputs, titles))
        pitch = 28.0 if len(name) == 1 else 36.0
        bars.append(
            Bar(
                name, y + pitch / 2, x(0.0), x(value), None if shapley is None else x(shapley),
                points(e.value, decimals=decimals),
            )
        )  # fmt: skip
        y += pitch
    values = "; ".join(
        f"{label(e.inputs, titles)}: {points(e.value, decimals=decimals)}"
        + ("" if e.shapley is None else f" (Shapley value {points(e.shapley, decimals=decimals)})")
        for e in shown
    )
    ring = " A ring is the Shapley value." if any(b.ring is not None for b in bars) else ""
    return BarChart(
        id="chart-influence",
        title=f"Influence of each input on the announced chance of “{report.positive}”, in percentage points",
        values=f"{values}.",
        description=f"A bar is an influence; the longer, the more the input matters.{ring}",
        bars=tuple(bars),
        ticks=tuple(Tick(x(t), number(t)) for t in ticks),
        zero=x(0.0),
        height=y + 30,
    )


def _row(report: PublicReport, e: Influence, titles: dict[str, str], decimals: int) -> Row:
    roles = {a.name: a.role for a in report.attributes}
    name, value = label(e.inputs, titles), points(e.value, decimals=decimals)
    one = len(e.inputs) == 1
    if not e.value:
        sentence = f"{name}: drawn at random, {'it moves' if one else 'they move'} no announced chance."
    else:
        sentence = (
            f"{name}: drawn at random{'' if one else ' together'}, {'it' if one else 'they'} would change the chance "
            f"of “{report.positive}” by {value} {_noun(value)} on average."
        )
    return Row(
        label=name,
        kind=roles[e.inputs[0]] if one else "set",
        influence=value,
        shapley="" if e.shapley is None else points(e.shapley, decimals=decimals),
        covered=points(e.covered),
        sentence=sentence,
    )


def _all(report: PublicReport, e: Influence, titles: dict[str, str], decimals: int) -> str:
    value = points(e.value, decimals=decimals)
    added = "" if not any(i.shapley is not None for i in report.influence) else (
        " The Shapley values share this distance out among the inputs, and add up to it but for rounding."
    )  # fmt: skip
    return (
        f"With all {len(titles)} inputs drawn at once, a person becomes another one: the chances of two people drawn "
        f"at random lie {value} {_noun(value)} apart on average.{added}"
    )


def _by_group(
    report: PublicReport, columns: list[Influence], titles: dict[str, str], decimals: int
) -> Iterator[ByGroup]:
    people = _people(report)
    references = {e.attribute: e.reference for e in report.fairness}
    for a in report.attributes:
        found = [
            {g.group: g for g in e.groups if g.attribute == a.name} for e in report.influence if len(e.inputs) == 1
        ]
        names = [e.inputs[0] for e in report.influence if len(e.inputs) == 1]
        if not found or len(found[0]) < 2:
            continue
        largest = set(sorted(found[0], key=lambda v: -people[a.name][v])[:MAX_GROUPS])
        printed = [value for value in found[0] if value in largest]
        of = dict(zip(names, found, strict=True))
        moved = {value: {n: of[n][value] for n in names} for value in printed}
        told = set(sorted(printed, key=lambda v: -max(abs(g.value) for g in moved[v].values()))[:MAX_SENTENCES])
        yield ByGroup(
            a.title,
            tuple(GroupRow(v, tuple(_cell(of[e.inputs[0]][v], decimals) for e in columns)) for v in printed),
            len(found[0]),
            tuple(
                _on_group(report, v, moved[v], titles, references.get(a.name), decimals) for v in printed if v in told
            ),
        )


def _people(report: PublicReport) -> dict[str, Counter[str]]:
    """For each attribute how many people have each value, values in the order of the attribute."""
    found = {a.name: Counter(dict.fromkeys(a.values, 0)) for a in report.attributes}
    for group in report.announced_groups:
        for region in group.regions:
            for name, value in (group.public | region.sensitive).items():
                found[name][value] += region.population
    return found


def _cell(e: GroupInfluence, decimals: int) -> tuple[str, str]:
    return signed(e.value, decimals), "" if e.shapley is None else signed(e.shapley, decimals)


def signed(share: float, decimals: int) -> str:
    """Percentage points with their sign.

    >>> signed(0.0123, 1), signed(-0.012, 1), signed(0.0, 1)
    ('+1.23', '−1.2', '0.0')
    """
    return f"{'+' if share > 0 else ''}{points(share, decimals=decimals)}"


def _on_group(
    report: PublicReport,
    group: str,
    of: dict[str, GroupInfluence],
    titles: dict[str, str],
    reference: str | None,
    decimals: int,
) -> str:
    name = max(of, key=lambda n: abs(of[n].value))
    most = of[name]
    if not most.value:
        return f"{group}: no single input moves the rate of “{report.positive}”."
    value = points(abs(most.value), decimals=decimals)
    said = (
        f"{group}: {inner(titles[name])} matters most to the rate of “{report.positive}”; with it drawn at random, the "
        f"rate would be {value} {_noun(value)} {'lower' if most.value > 0 else 'higher'}"
    )
    if not most.disparity or reference is None:
        return f"{said}."
    apart = points(abs(most.disparity), decimals=decimals)
    return f"{said}, and {apart} {'nearer to' if most.disparity > 0 else 'further from'} that of {reference}."


def _dependence(
    report: PublicReport, e: Influence, people: Counter[str], titles: dict[str, str], decimals: int
) -> DependenceBlock:
    title = titles[e.inputs[0]]
    least, most = (pick(e.dependence, key=lambda d: d.chance) for pick in (min, max))
    if least.chance == most.chance:
        chance = _percent(most.chance, decimals)
        sentence = (
            f"{title}: whatever value everybody had, the average chance of “{report.positive}” would be {chance}."
        )
    else:
        sentence = (
            f"{title}: the average chance of “{report.positive}” would be {_percent(most.chance, decimals)} if "
            f"everybody had “{most.value}”, and {_percent(least.chance, decimals)} with “{least.value}”."
        )
    printed = sorted((d.value for d in e.dependence), key=lambda v: -people[v])[:MAX_VALUES]
    return DependenceBlock(
        title,
        tuple(
            DependenceRow(d.value, points(d.chance, decimals=decimals), points(d.covered))
            for d in e.dependence
            if d.value in printed
        ),
        len(e.dependence),
        sentence,
    )


def _percent(share: float, decimals: int) -> str:
    return percent(share).replace(points(share), points(share, decimals=decimals))


def _noun(value: str) -> str:
    return "percentage point" if value == "1" else "percentage points"


# --- the tree


def _agreement(report: PublicReport, decimals: int) -> str:
    s = report.surrogate
    if s is None or s.explained is None:
        return "All announced chances are the same, so there is no question to ask."
    mean, largest = (points(x, decimals=decimals) for x in (s.mean_difference, s.largest_difference))
    near = (
        f"On average over people its chance lies {mean} {_noun(mean)} from the announced one, and for no rule more "
        f"than {largest}"
    )
    if s.tree.attribute is None:
        average = _percent(s.tree.chance, decimals)
        return (
            "No question parts the announced rules well enough, so the tree has none: everybody has the average chance "
            f"of {average}. {near}."
        )
    return (
        f"{near}. It explains {_percent(s.explained, decimals)} of the variance of the announced chances (R², weighted "
        "by people)."
    )


def _tree(report: PublicReport, titles: dict[str, str], decimals: int) -> TreeChart:
    tree = report.surrogate.tree  # type: ignore[union-attr]
    values = {name: [v for v, people in of.items() if people] for name, of in _people(report).items()}
    deep = _depth(tree)
    room = (LEAF_X - LEAF_GAP) / deep
    width = room - BOX_GAP
    boxes: list[Box] = []
    edges: list[Edge] = []
    leaves: list[Leaf] = []

    def draw(node: TreeNode, depth: int, allowed: dict[str, list[str]]) -> float:
        if node.attribute is None or node.yes is None or node.no is None:
            y = TOP / 2 + PITCH * (len(leaves) + 0.5)
            said = _leaf(report, node, allowed, values, titles, decimals)
            leaves.append(Leaf(chr(65 + len(leaves)), y, said, node.people, points(node.chance, decimals=decimals)))
            return y
        known = allowed.get(node.attribute, values[node.attribute])
        x, sides = depth * room, []
        for answer, below in (("yes", node.yes), ("no", node.no)):
            kept = [v for v in known if (v in node.values) == (answer == "yes")]
            sides.append((answer, below, draw(below, depth + 1, {**allowed, node.attribute: kept})))
        y = sum(at for _, _, at in sides) / 2
        question = f"{titles[node.attribute]}: {_or(node.values, quoted=False)}?"
        text = " ".join(wrap(question, width=int(width / 4.6), lines=2))
        lines = min(3, ceil(len(text) * 6.2 / width))
        boxes.append(Box(round(x, 2), y, round(width, 2), 11.0 + 15 * lines, text))
        for answer, below, at in sides:
            end = LEAF_X - 6 if below.attribute is None else (depth + 1) * room
            bend = x + width + 6
            path = f"M{x + width:.2f} {y:.2f} H{bend:.2f} V{at:.2f} H{end:.2f}"
            edges.append(Edge(path, round(bend + 4, 2), round(at - 4, 2), answer))
        return y

    draw(tree, 0, {})
    return TreeChart(
        id="chart-tree",
        title=f"A small tree that stands for the announced rules on “{report.positive}”",
        values=" ".join(f"{leaf.letter}: {leaf.sentence}" for leaf in leaves),
        description="Start at the left: a box asks a question, and the answers lead to other questions or to a chance.",
        boxes=tuple(boxes),
        edges=tuple(edges),
        leaves=tuple(leaves),
        height=TOP + PITCH * len(leaves),
    )


def _depth(node: TreeNode) -> int:
    return 0 if node.yes is None or node.no is None else 1 + max(_depth(node.yes), _depth(node.no))


def _or(values: Sequence[str], *, quoted: bool = True) -> str:
    named = [f"“{v}”" if quoted else v for v in values[:_NAMED]]
    more = len(values) - len(named)
    return listed([*named, f"{more:,} more"] if more else named, last="or")


def _leaf(
    report: PublicReport,
    node: TreeNode,
    allowed: dict[str, list[str]],
    values: dict[str, list[str]],
    titles: dict[str, str],
    decimals: int,
) -> str:
    """What a leaf says, as a sentence."""
    conditions = []
    for a in report.attributes:
        kept = allowed.get(a.name)
        if kept is not None:
            others = [v for v in values[a.name] if v not in kept]
            which = f"other than {_or(others)}" if len(others) < len(kept) and len(kept) > 2 else _or(kept)
            conditions.append(f"{inner(titles[a.name])} {which}")
    chance = _percent(node.chance, decimals)
    return f"People with {listed(conditions)}: the chance of “{report.positive}” is {chance} on average."
