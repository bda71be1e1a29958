"""What the influence section prints: bars and a table, influence on groups, partial dependence, the surrogate tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atr.documents.charts import LEFT, RIGHT, TOP, WIDTH, Tick, axis, wrap
from atr.measures.influence import SHAPLEY_UP_TO
from atr.report.model import GroupInfluence, Influence, PublicReport, TreeNode
from atr.report.wording import NBSP, count, listed, number, percent, percent_decimals, points, raised, share_of_all

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
LETTER = 5.6
"""Width of a letter in a question of the drawn tree, on average."""
_LINES = 3


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
    rate: tuple[str, str]
    """Influence on the rate of everybody, and its Shapley value."""
    outcomes: tuple[str, ...]
    """Influence on each outcome, the favourable one first, where there are several."""
    covered: str
    sentence: str


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The people with one value of a protected attribute: for each printed input its influence and Shapley value.

    The last cell is of all inputs together: how far the rate lies from that of everybody.
    """

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
    """A value that everybody is given, the average chance and the share of people it is of, in percent.

    Then how far it lies from that of the value compared with, of the same people, and what share of all they are.
    """

    label: str
    chance: str
    covered: str
    difference: str
    shared: str


@dataclass(frozen=True, slots=True)
class DependenceBlock:
    """The partial dependence on an input, of as many values as are printed."""

    title: str
    against: str
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

    bounds: tuple[str, ...]
    """Of whom, of which outcome and of which chances it tells, where that is not of all."""
    chart: BarChart
    rows: tuple[Row, ...]
    rows_in_all: int
    all_inputs: str
    """What the figure of all inputs together says."""
    questions: str
    """What influence and Shapley value each ask, and whether they put the inputs in one order; empty without values."""
    shapley_left_out: str
    columns: tuple[str, ...]
    columns_in_all: int
    groups: tuple[ByGroup, ...]
    no_groups: str
    """Why groups of an attribute, or of any, are not told of."""
    outcomes: tuple[str, ...]
    """All outcomes, the favourable one first, where there are more than two."""
    dependence: tuple[DependenceBlock, ...]
    inputs: int
    tree: TreeChart | None
    shortened: bool
    """Whether the tree is told with some values left out."""
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
    several = len(report.outcomes) > 2
    return Section(
        bounds=tuple(_bounds(report)),
        chart=_bars(report, shown, titles, decimals),
        rows=tuple(_row(report, e, titles, people, decimals) for e in shown),
        rows_in_all=len(measured),
        all_inputs=_all(report, whole, titles, decimals),
        questions=_questions(single, titles, decimals),
        shapley_left_out=""
        if len(titles) <= SHAPLEY_UP_TO
        else f"Shapley values are left out: they are computed of {SHAPLEY_UP_TO} inputs at most.",
        columns=tuple(raised(titles[e.inputs[0]]) for e in columns),
        columns_in_all=len(single),
        groups=tuple(_by_group(report, columns, whole, titles, decimals)),
        no_groups=" ".join(_no_groups(report, people)),
        outcomes=(report.positive, *(o for o in report.outcomes if o != report.positive)) if several else (),
        dependence=tuple(
            _dependence(report, e, people[e.inputs[0]], titles, decimals) for e in single[:MAX_DEPENDENCES]
        ),
        inputs=len(single),
        tree=_tree(report, titles, decimals) if report.surrogate.tree.attribute is not None else None,
        shortened=_shortened(report.surrogate.tree, people),
        agreement=_agreement(report, decimals),
    )


def _bounds(report: PublicReport) -> Iterator[str]:
    """Of whom, of which outcome and of which chances the section tells, as sentences."""
    if report.coverage.announced_share < 1:
        yield (
            f"“All people” are here those in announced groups, {share_of_all(report)}; nothing is said of the "
            "others, nor of combinations that nobody has."
        )
    if len(report.outcomes) > 2:
        yield (
            f"Of the {len(report.outcomes)} outcomes the favourable one, “{report.positive}”, is meant unless another "
            "is named: an input that only moves people between the others has no influence on it."
        )
    if report.flattened_groups:
        sensitive = listed([a.title for a in report.attributes if a.role == "sensitive"], last="or")
        yield (
            f"The influence of {sensitive} is that on the announced chances. In "
            f"{count(len(report.flattened_groups), 'group')} marked “flattened” these are drawn to the rate of the "
            "group or to each other, so in the true rules it can be larger."
        )
    if report.coarsened_groups:
        yield "Coarser values are values of their own, and are drawn like the others."


def label(inputs: Sequence[str], titles: dict[str, str]) -> str:
    """What an input, or several together, are called at the beginning of a line."""
    return raised(listed([titles[name] for name in inputs]))


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
        description=f"A bar is an influence: the longer, the more the chance changes if the input is drawn.{ring}",
        bars=tuple(bars),
        ticks=tuple(Tick(x(t), number(t)) for t in ticks),
        zero=x(0.0),
        height=y + 30,
    )


def _row(
    report: PublicReport, e: Influence, titles: dict[str, str], people: dict[str, Counter[str]], decimals: int
) -> Row:
    roles = {a.name: a.role for a in report.attributes}
    name, value = label(e.inputs, titles), points(e.value, decimals=decimals)
    one = len(e.inputs) == 1
    alone = _only(people[e.inputs[0]]) if one else None
    drawn = "drawn at random" if one else "drawn at random together"
    among = "" if e.covered == 1 else f", among the combinations that exist ({_share(e.covered)} of draws)"
    if alone is not None:
        sentence = f"{name}: everybody in the announced rules has “{alone}”, so there is nothing else to draw."
    elif not e.value:
        sentence = (
            f"{name}: {drawn}, the chance of “{report.positive}” would change by "
            f"{_nearly_nothing(report.policy.digits)} on average{among}."
        )
    else:
        sentence = (
            f"{name}: {drawn}, the chance of “{report.positive}” would change by {value} {_noun(value)} on "
            f"average{among}."
        )
    others = (e.outcomes.get(o) for o in report.outcomes if o != report.positive) if e.outcomes else ()
    return Row(
        label=name,
        kind=roles[e.inputs[0]] if one else "set",
        influence=value,
        shapley="" if e.shapley is None else points(e.shapley, decimals=decimals),
        rate=(signed(e.rate, decimals), "" if e.rate_shapley is None else signed(e.rate_shapley, decimals)),
        outcomes=(value, *(points(x or 0.0, decimals=decimals) for x in others)) if e.outcomes else (),
        covered=points(e.covered),
        sentence=sentence,
    )


def _only(people: Counter[str]) -> str | None:
    """The only value that anybody has; None where there are several."""
    held = [value for value, amount in people.items() if amount]
    return held[0] if len(held) == 1 else None


def _share(share: float) -> str:
    """A share that was rounded down to a percent, and is more than nothing.

    >>> _share(0.94), _share(0.0)
    ('94\\xa0%', 'less than 1\\xa0%')
    """
    return percent(share) if share else f"less than 1{NBSP}%"


def _nearly_nothing(digits: int) -> str:
    """What is known of a figure that is printed as 0.

    >>> _nearly_nothing(3)
    'at most 0.05 percentage points'
    """
    return f"at most {points(0.5 * 10.0**-digits)} percentage points"


def _all(report: PublicReport, e: Influence, titles: dict[str, str], decimals: int) -> str:
    value = points(e.value, decimals=decimals)
    added = "" if not any(i.shapley is not None for i in report.influence) else (
        " The Shapley values share this distance out among the inputs, and add up to it but for rounding."
    )  # fmt: skip
    return (
        f"With all {len(titles)} inputs drawn at once, a person becomes another one: the chances of two people drawn "
        f"at random lie {value} {_noun(value)} apart on average.{added}"
    )


def _questions(single: list[Influence], titles: dict[str, str], decimals: int) -> str:
    """What the two figures ask; of two inputs that they put in different orders, the two that differ most."""
    if len(single) < 2 or single[0].shapley is None:
        return ""
    asked = (
        "The two figures ask different things. Influence: what if this input alone were drawn, and a person kept all "
        "others? Shapley value: what does drawing this input add when some of the others are drawn already, averaged "
        "over all orders of the inputs?"
    )
    turned = [
        (a, b)
        for place, a in enumerate(single)
        for b in single[place + 1 :]
        if a.value > b.value and (a.shapley or 0.0) < (b.shapley or 0.0)
    ]
    if not turned:
        return f"{asked} Here both put the inputs in the same order."
    a, b = max(turned, key=lambda pair: (pair[1].shapley or 0.0) - (pair[0].shapley or 0.0))
    names = [titles[e.inputs[0]] for e in (a, b)]
    (more, less), (behind, before) = (
        [points(x or 0.0, decimals=decimals) for x in pair] for pair in ((a.value, b.value), (a.shapley, b.shapley))
    )
    return (
        f"{asked} So they can put inputs in different orders, and neither is wrong. Here drawn alone {names[0]} has "
        f"more influence than {names[1]} ({more} and {less}), but the smaller Shapley value ({behind} and {before})."
    )


def _by_group(
    report: PublicReport, columns: list[Influence], whole: Influence, titles: dict[str, str], decimals: int
) -> Iterator[ByGroup]:
    people = _people(report)
    references = {e.attribute: e.reference for e in report.fairness}
    single = [e for e in report.influence if len(e.inputs) == 1]
    for a in report.attributes:
        of = {e.inputs[0]: {g.group: g for g in e.groups if g.attribute == a.name} for e in single}
        apart = {g.group: g for g in whole.groups if g.attribute == a.name}
        if len(apart) < 2:
            continue
        largest = set(sorted(apart, key=lambda v: -people[a.name][v])[:MAX_GROUPS])
        printed = [value for value in apart if value in largest]
        moved = {value: {n: of[n][value] for n in of} for value in printed}
        told = set(sorted(printed, key=lambda v: -max(abs(g.value) for g in moved[v].values()))[:MAX_SENTENCES])
        yield ByGroup(
            a.title,
            tuple(
                GroupRow(
                    v, tuple(_cell(g, decimals) for g in (*(of[e.inputs[0]][v] for e in columns), apart[v]))
                )
                for v in printed
            ),
            len(apart),
            tuple(
                _on_group(report, v, moved[v], apart[v], titles, references.get(a.name), decimals)
                for v in printed
                if v in told
            ),
        )  # fmt: skip


def _no_groups(report: PublicReport, people: dict[str, Counter[str]]) -> Iterator[str]:
    """Why the groups of a protected attribute, or any at all, are not told of."""
    protected = [a for a in report.attributes if a.protected]
    if not protected:
        yield "The publisher has named no attribute to compare people by, so nothing is told of the rates of groups."
    for a in protected:
        alone = _only(people[a.name])
        if alone is not None:
            yield (
                f"Nothing is told of rates by {a.title}: everybody in the announced rules has “{alone}”, and "
                "the rate is that of everybody."
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
    whole: GroupInfluence,
    titles: dict[str, str],
    reference: str | None,
    decimals: int,
) -> str:
    """Which input moves the rate of a group most when drawn alone, and which has the largest Shapley value in it."""
    moves = _largest({name: g.value for name, g in of.items()})
    if not moves:
        return (
            f"{group}: no single input, drawn at random, moves the rate of “{report.positive}” by more than "
            f"{_nearly_nothing(report.policy.digits).removeprefix('at most ')}."
        )
    most = of[moves[0]]
    value = points(abs(most.value), decimals=decimals)
    rate, drawn = f"{group}: the rate of “{report.positive}” moves most", f"{_names(moves, titles)} drawn at random"
    if len(moves) > 1:
        said = f"{rate}, by {value} {_noun(value)}, with {drawn}, each alone"
    else:
        said = f"{rate} with {drawn}; it would be {value} {_noun(value)} {'lower' if most.value > 0 else 'higher'}"
        if most.disparity and reference is not None:
            apart = points(abs(most.disparity), decimals=decimals)
            said += f", and {apart} {'nearer to' if most.disparity > 0 else 'further from'} that of {reference}"
    parts = _largest({name: g.shapley for name, g in of.items() if g.shapley is not None})
    if not parts:
        return f"{said}."
    too = ", too" if parts == moves else ", for which the other inputs are drawn as well"
    return (
        f"{said}. From the rate of everybody it differs by {signed(whole.value, decimals)}; the largest Shapley value "
        f"in that, {' or '.join(dict.fromkeys(signed(of[n].shapley or 0.0, decimals) for n in parts))}, is that of "
        f"{_names(parts, titles)}{too}."
    )


def _largest(figures: dict[str, float]) -> list[str]:
    """The inputs of the largest figure in absolute value, all of them where they are even; none where that is 0."""
    most = max(map(abs, figures.values()), default=0.0)
    return [name for name, figure in figures.items() if most and abs(figure) == most]


def _names(inputs: Sequence[str], titles: dict[str, str]) -> str:
    return listed([titles[name] for name in inputs], last="or")


def _dependence(
    report: PublicReport, e: Influence, people: Counter[str], titles: dict[str, str], decimals: int
) -> DependenceBlock:
    common = sorted((d.value for d in e.dependence), key=lambda v: -people[v])[:MAX_VALUES]
    printed = {*common, e.against}
    return DependenceBlock(
        raised(titles[e.inputs[0]]),
        e.against or "",
        tuple(
            DependenceRow(
                d.value,
                points(d.chance, decimals=decimals),
                points(d.covered),
                "" if d.difference is None else signed(d.difference, decimals),
                "" if d.shared is None else points(d.shared),
            )
            for d in e.dependence
            if d.value in printed
        ),
        len(e.dependence),
        f"{raised(titles[e.inputs[0]])}: {_compared(report, e, decimals)}",
    )


def _compared(report: PublicReport, e: Influence, decimals: int) -> str:
    """Which values have the lowest and the highest average chance beside that compared with, of the same people."""
    if e.against is None:
        return f"everybody in the announced rules has “{e.dependence[0].value}”."
    known = [(d.difference, d) for d in e.dependence if d.difference is not None]
    if not known:
        return f"nobody’s other values were announced both with “{e.against}” and with another value."
    (least, low), (most, high) = (pick(known, key=lambda pair: pair[0]) for pick in (min, max))
    told = [*([(low, least)] if least < 0 else []), *([(high, most)] if most > 0 else [])]
    if not told:
        return (
            f"with no other value is the average chance of “{report.positive}” more than "
            f"{_nearly_nothing(report.policy.digits).removeprefix('at most ')} away from that with “{e.against}”."
        )
    parts = []
    for d, x in told:
        value = points(abs(x), decimals=decimals)
        parts.append(
            f"{value} {_noun(value)} {'lower' if x < 0 else 'higher'} with “{d.value}” ({_share(d.shared or 0.0)} of "
            "people)"
        )
    return (
        f"set against “{e.against}”, and of the same people, the average chance of “{report.positive}” is "
        f"{listed(parts)}."
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
        f"On average over people its figure lies {mean} {_noun(mean)} from the announced chance, and for no rule more "
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
        text, lines = _question(raised(titles[node.attribute]), node.values, width)
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


def _shortened(node: TreeNode, people: dict[str, Counter[str]]) -> bool:
    """Whether a question parts so many values that not all are named."""
    if node.attribute is None or node.yes is None or node.no is None:
        return False
    held = sum(1 for amount in people[node.attribute].values() if amount)
    return held > _NAMED or any(_shortened(below, people) for below in (node.yes, node.no))


def _question(title: str, values: Sequence[str], width: float) -> tuple[str, int]:
    """A question as it is drawn, and its lines, three at most: as many whole values as fit, and how many more."""
    letters = int(width / LETTER)
    for named in range(len(values), 0, -1):
        lines = wrap(f"{title}: {_or(values, quoted=False, named=named)}?", width=letters, lines=_LINES + 1)
        if len(lines) <= _LINES:
            return " ".join(lines), len(lines)
    first = " ".join(wrap(values[0], width=max(8, letters - 2), lines=1))
    more = f" or {len(values) - 1:,} more" if len(values) > 1 else ""
    short = " ".join(wrap(title, width=letters - 2, lines=1))
    return f"{short}: {first}{more}?", _LINES


def _depth(node: TreeNode) -> int:
    return 0 if node.yes is None or node.no is None else 1 + max(_depth(node.yes), _depth(node.no))


def _or(values: Sequence[str], *, quoted: bool = True, named: int = _NAMED) -> str:
    said = [f"“{v}”" if quoted else v for v in values[:named]]
    more = len(values) - len(said)
    return listed([*said, f"{more:,} more"] if more else said, last="or")


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
            conditions.append(f"{titles[a.name]} {which}")
    chance = _percent(node.chance, decimals)
    return f"People with {listed(conditions)}: the announced chance of “{report.positive}” is {chance} on average."
