"""Charts of curves over one axis, each with its label beside it, between level lines that are labelled likewise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from atr.documents.charts.scale import Scale, Tick, axis

WIDTH, HEIGHT = 520.0, 280.0
LEFT, RIGHT, TOP, FOOT = 52.0, 322.0, 36.0, 236.0
LABEL_PITCH = 16.0
ROWS = 10
"""Rows of the table, about."""


@dataclass(frozen=True, slots=True)
class Line:
    """A curve, its dot at the marked place, or a level line (no points); its value at the mark is its label."""

    name: str
    value: str
    y: float
    label_y: float
    points: str = ""


@dataclass(frozen=True, slots=True)
class CurveChart:
    """Curves, ready to draw, with the table that says the same."""

    title: str
    curves: tuple[Line, ...]
    limits: tuple[Line, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    mark: Tick
    rows: tuple[tuple[str, ...], ...]
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    foot: float = FOOT
    width: float = WIDTH
    height: float = HEIGHT


def curve_chart(
    xs: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    limits: Mapping[str, float],
    *,
    mark: float,
    text: Callable[[float], str],
    title: str,
) -> CurveChart:
    """Lay out a chart of curves.

    Parameters
    ----------
    xs
        (k,) positions on the axis, ascending, two or more.
    curves
        (k,) heights of each curve, by its name.
    limits
        Heights of the level lines by name, from the top; the label of the first stands above those of the curves, the
        others below.
    mark
        The position, one of ``xs``, at which curves have their dots and their labels state the height.
    text
        Formats a height.
    title
        What the chart shows.

    Returns
    -------
    Positions in units of the drawing, and a table of about :data:`ROWS` rows.
    """
    at, ticks = list(xs).index(mark), axis([*limits.values(), *(y for heights in curves.values() for y in heights)])
    x, y = Scale(xs[0], xs[-1], LEFT, RIGHT), Scale(ticks[0], ticks[-1], FOOT, TOP)
    first, *rest = limits
    heights = {first: limits[first], **{name: ys[at] for name, ys in curves.items()}, **{n: limits[n] for n in rest}}
    labels = dict(zip(heights, apart([y(height) for height in heights.values()]), strict=True))
    lines = {
        name: Line(
            name,
            text(height),
            y(height),
            labels[name],
            " ".join(f"{x(a):g},{y(b):g}" for a, b in zip(xs, curves.get(name, ()), strict=False)),
        )
        for name, height in heights.items()
    }
    chosen = sorted({*range(len(xs) - 1, -1, -max(1, (len(xs) - 1) // ROWS)), at})
    return CurveChart(
        title=title,
        curves=tuple(lines[name] for name in curves),
        limits=tuple(lines[name] for name in limits),
        x_ticks=tuple(Tick(x(v), f"{v:g}") for v in axis([xs[0], xs[-1]]) if xs[0] <= v <= xs[-1]),
        y_ticks=tuple(Tick(y(v), text(v)) for v in ticks),
        mark=Tick(x(mark), f"{mark:g}"),
        rows=tuple((f"{xs[k]:g}", *(text(ys[k]) for ys in curves.values())) for k in chosen),
    )


def apart(ys: Sequence[float], *, pitch: float = LABEL_PITCH) -> tuple[float, ...]:
    """Move labels apart so that they do not overlap, each as near to its height as possible.

    Parameters
    ----------
    ys
        Wanted heights, in units of the drawing; of equal ones the first is placed on top.
    pitch
        Smallest distance of two labels.

    Returns
    -------
    The heights, in the order of ``ys``.

    Examples
    --------
    >>> apart([20.0, 22.0, 90.0])
    (13.0, 29.0, 90.0)
    """
    order = sorted(range(len(ys)), key=lambda i: (ys[i], i))
    blocks: list[list[float]] = []
    for i in order:
        blocks.append([ys[i]])
        while len(blocks) > 1 and _top(blocks[-1], pitch) < _top(blocks[-2], pitch) + len(blocks[-2]) * pitch:
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    placed = [round(_top(block, pitch) + k * pitch, 2) for block in blocks for k in range(len(block))]
    return tuple(height for _, height in sorted(zip(order, placed, strict=True)))


def _top(block: Sequence[float], pitch: float) -> float:
    """Where the first of some labels stands that are spread around the middle of their heights."""
    return sum(block) / len(block) - (len(block) - 1) * pitch / 2
