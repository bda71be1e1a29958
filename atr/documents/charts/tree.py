"""The drawn surrogate tree: questions as boxes from the left, the way to each answer, leaves at the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atr.documents.charts.rows import TOP, WIDTH
from atr.documents.charts.scale import wrap
from atr.documents.text.wording import listed
from atr.report.model import TreeNode

PITCH = 50.0
LEAF_X, LEAF_GAP, BOX_GAP = 524.0, 14.0, 34.0
LETTER = 5.6
"""Width of a letter in a question of the drawn tree, on average."""
NAMED = 6
"""Values that a question or a sentence names."""
_LINES = 3


@dataclass(frozen=True, slots=True)
class Box:
    """A question: a box and its label."""

    x: float
    y: float
    width: float
    height: float
    label: str


Edge = tuple[str, float, float, str]
"""The way from a question to what is below it: out, up or down, and along; then where the answer stands, and it."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf, and for every attribute asked about the values that lead to it."""

    letter: str
    y: float
    node: TreeNode
    kept: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class TreeChart:
    """The tree, ready to draw."""

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    leaves: tuple[Leaf, ...]
    height: float
    leaf_x: float = LEAF_X
    width: float = WIDTH


def tree_chart(tree: TreeNode, *, titles: Mapping[str, str], values: Mapping[str, Sequence[str]]) -> TreeChart:
    """Lay out a tree.

    Parameters
    ----------
    tree
        Its root asks a question.
    titles
        Name of each attribute as readers see it.
    values
        The values that people have of each attribute, in order.

    Returns
    -------
    Positions in units of the drawing; leaves are lettered from the top.
    """
    room = (LEAF_X - LEAF_GAP) / _depth(tree)
    width = room - BOX_GAP
    boxes: list[Box] = []
    edges: list[Edge] = []
    leaves: list[Leaf] = []

    def draw(node: TreeNode, depth: int, kept: Mapping[str, Sequence[str]]) -> float:
        """Draw what is below a node; returns the height it stands at."""
        if node.attribute is None or node.yes is None or node.no is None:
            y = TOP / 2 + PITCH * (len(leaves) + 0.5)
            leaves.append(Leaf(chr(ord("A") + len(leaves)), y, node, kept))
            return y
        known = kept.get(node.attribute, values[node.attribute])
        yes = [v for v in known if v in node.values]
        no = [v for v in known if v not in node.values]
        heights = [
            draw(below, depth + 1, {**kept, node.attribute: left}) for below, left in ((node.yes, yes), (node.no, no))
        ]
        x, y = depth * room, sum(heights) / 2
        text, lines = _question(titles[node.attribute], node.values, width)
        boxes.append(Box(round(x, 2), y, round(width, 2), 11.0 + 15 * lines, text))
        bend = x + width + 6
        for answer, below, height in zip(("yes", "no"), (node.yes, node.no), heights, strict=True):
            end = LEAF_X - 6 if below.attribute is None else (depth + 1) * room
            path = f"M{x + width:.2f} {y:.2f} H{bend:.2f} V{height:.2f} H{end:.2f}"
            edges.append((path, round(bend + 4, 2), round(height - 4, 2), answer))
        return y

    draw(tree, 0, {})
    return TreeChart(tuple(boxes), tuple(edges), tuple(leaves), TOP + PITCH * len(leaves))


def _question(title: str, values: Sequence[str], width: float) -> tuple[str, int]:
    """A question as it is drawn, and its lines, three at most: as many whole values as fit, and how many more."""
    letters = int(width / LETTER)
    for named in range(len(values), 0, -1):
        lines = wrap(f"{title}: {listed(values, last='or', most=named)}?", width=letters, lines=_LINES + 1)
        if len(lines) <= _LINES:
            return " ".join(lines), len(lines)
    first = " ".join(wrap(values[0], width=max(8, letters - 2), lines=1))
    more = f" or {len(values) - 1:,} more" if len(values) > 1 else ""
    short = " ".join(wrap(title, width=letters - 2, lines=1))
    return f"{short}: {first}{more}?", _LINES


def _depth(node: TreeNode) -> int:
    return 0 if node.yes is None or node.no is None else 1 + max(_depth(node.yes), _depth(node.no))
