"""Geometry of the dossier's trade-off curves; the drawing itself is a template.

A chart shows the smallest confidence of a group, or of the worst group, at every fidelity: one line for exact group
rates, a dashed one for free ones, between what is known before any report and what the true rules give away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from atr.core.arrays import FloatArray
from atr.documents import templates
from atr.documents.charts.scale import Tick, axis
from atr.dossier.tradeoff import TradeOff

WIDTH, HEIGHT = 520.0, 280.0
LEFT, RIGHT, TOP, FOOT = 52.0, 322.0, 36.0, 236.0
LABEL_PITCH = 16.0
_SYMBOLS = {"delta": "δ", "alpha": "α"}
_DASHES = {"exact rates": "", "free rates": "6 4"}


@dataclass(frozen=True, slots=True)
class Limit:
    """A level line across the chart, and its label beside it."""

    y: float
    label_y: float
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of the chart: where it runs, and its label beside it, at the height it has at the marked fidelity."""

    name: str
    dash: str
    points: str
    dot: tuple[float, float] | None
    label_y: float
    text: str


@dataclass(frozen=True, slots=True)
class CurveChart:
    """Trade-off curves, ready to draw, with the words and the table that say the same."""

    id: str
    title: str
    values: str
    """What is drawn, in words."""
    description: str
    """How to read the chart."""
    curves: tuple[Curve, ...]
    limits: tuple[Limit, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    level: Tick | None
    axis_label: str
    y_label: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    foot: float = FOOT
    width: float = WIDTH
    height: float = HEIGHT


def curve_chart(
    trade_off: TradeOff, *, group: int | None, id: str, title: str, level: float | None = None, rows: int = 10
) -> CurveChart:
    """Draw the trade-off of one group, or of the worst group at each fidelity.

    Parameters
    ----------
    trade_off
        The curves of all groups.
    group
        Which group; None: the largest confidence of any.
    id
        Unique in the document.
    title
        What the chart shows; its text alternative begins with it.
    level
        The fidelity that is promised: marked where it is a level of the curves.
    rows
        About so many lines of the table.

    Raises
    ------
    ValueError
        If there are fewer than two levels.
    """
    if len(trade_off.levels) < 2:
        raise ValueError("a curve needs at least two levels")
    overall = group is None
    exact = trade_off.overall_exact if overall else trade_off.exact[group]
    free = trade_off.overall_free if overall else trade_off.free[group]
    limits = trade_off.overall_limits if overall else trade_off.limits[group]
    levels, symbol = trade_off.levels, _SYMBOLS[trade_off.kind]
    y_ticks = axis([*exact, *free, *limits])
    low, high = y_ticks[0], y_ticks[-1]
    first, last = float(levels[0]), float(levels[-1])

    def x(value: float) -> float:
        return round(LEFT + (value - first) / (last - first) * (RIGHT - LEFT), 2)

    def y(value: float) -> float:
        return round(FOOT - (value - low) / (high - low) * (FOOT - TOP), 2)

    marked = None if level is None else int(np.abs(levels - level).argmin())
    if marked is not None and abs(float(levels[marked]) - (level or 0.0)) > 1e-9:
        marked = None
    at = len(levels) - 1 if marked is None else marked
    names = {"exact rates": exact, "free rates": free}
    texts = [f"{name}: {percent(float(beta[at]))}" for name, beta in names.items()]
    before, after = (percent(float(limit)) for limit in limits)
    y_after, y_before = y(float(limits[1])), y(float(limits[0]))
    # Of labels at one height, the first comes on top.
    top, *middle, bottom = apart([y_after, *(y(float(beta[at])) for beta in names.values()), y_before])
    said = f"At {symbol} {levels[at]:g}: {', '.join(texts)}."
    return CurveChart(
        id=id,
        title=title,
        values=f"{said} Before any report {before}, with the true rules {after}.",
        description="A solid line is the smallest confidence with exact group rates, a dashed line with free ones; "
        "thin lines are the confidence before any report and with the true rules. The table has the numbers.",
        curves=tuple(
            Curve(
                name,
                _DASHES[name],
                " ".join(f"{x(float(a)):g},{y(float(b)):g}" for a, b in zip(levels, beta, strict=True)),
                None if marked is None else (x(float(levels[marked])), y(float(beta[marked]))),
                label_y,
                text,
            )
            for (name, beta), label_y, text in zip(names.items(), middle, texts, strict=True)
        ),
        limits=(
            Limit(y_after, top, f"true rules: {after}"),
            Limit(y_before, bottom, f"before any report: {before}"),
        ),
        x_ticks=tuple(Tick(x(v), f"{v:g}") for v in axis([first, last]) if first <= v <= last),
        y_ticks=tuple(Tick(y(v), percent(v)) for v in y_ticks),
        level=None if marked is None else Tick(x(float(levels[marked])), f"{symbol} {levels[marked]:g}"),
        axis_label=f"fidelity {symbol}",
        y_label="smallest confidence",
        columns=(symbol, *names),
        rows=tuple(_table(levels, (exact, free), marked, rows)),
    )


def svg(chart: CurveChart) -> str:
    """The drawing, for both colour schemes."""
    return templates.render("dossier/curves.jinja", chart=chart, part="svg")


def table(chart: CurveChart) -> str:
    """The same numbers as a table."""
    return templates.render("dossier/curves.jinja", chart=chart, part="table")


def apart(ys: Sequence[float], *, pitch: float = LABEL_PITCH) -> tuple[float, ...]:
    """Where labels go so that they do not cover each other, in the order given and as near as may be.

    >>> apart([20.0, 22.0, 90.0])
    (13.0, 29.0, 90.0)
    """
    order = sorted(range(len(ys)), key=lambda i: (ys[i], i))
    placed: list[list[float]] = []
    for i in order:
        placed.append([ys[i]])
        while len(placed) > 1 and _middle(placed[-1], pitch)[0] - _middle(placed[-2], pitch)[1] < pitch:
            placed[-2:] = [placed[-2] + placed[-1]]
    result = [0.0] * len(ys)
    positions = (
        start + k * pitch for block in placed for start in [_middle(block, pitch)[0]] for k in range(len(block))
    )
    for i, position in zip(order, positions, strict=True):
        result[i] = round(position, 2)
    return tuple(result)


def percent(share: float) -> str:
    """A share in percent, to one decimal; only exact certainty is 100 %, and what was divided can be above it.

    >>> percent(0.675), percent(1.0), percent(0.99999), percent(1.083)
    ('67.5\\xa0%', '100\\xa0%', '99.9\\xa0%', '108.3\\xa0%')
    """
    tenths = min(round(share * 1000), 999) if share < 1 else round(share * 1000)
    return f"{tenths / 10:g}\N{NO-BREAK SPACE}%"


def _middle(block: Sequence[float], pitch: float) -> tuple[float, float]:
    half = (len(block) - 1) * pitch / 2
    middle = sum(block) / len(block)
    return middle - half, middle + half


def _table(
    levels: FloatArray, curves: Sequence[FloatArray], marked: int | None, rows: int
) -> Iterable[tuple[str, ...]]:
    step = max(1, (len(levels) - 1) // rows)
    chosen = sorted({*range(len(levels) - 1, -1, -step), *([] if marked is None else [marked])})
    for k in chosen:
        yield (f"{levels[k]:g}", *(percent(float(curve[k])) for curve in curves))
