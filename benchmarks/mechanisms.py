"""The tables of docs/choosing-a-mechanism.md, computed on the bundled programmes and written into the page.

python -m benchmarks.mechanisms            writes the page
python -m benchmarks.mechanisms --check    fails if the page is not what the programmes give

What comes of many releases is not simulated anew: it is taken from benchmarks/releases.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atr import ingest
from atr.core.arrays import FloatArray, IntArray
from atr.core.confidence import maximum_confidence, privacy_limit
from atr.core.fidelity import Delta
from atr.core.groups import Groups
from atr.dossier.curves import trade_off
from atr.mechanisms.calibrated import announce
from atr.mechanisms.calibrated.box import Box
from atr.mechanisms.calibrated.readers import MODELS
from atr.mechanisms.optimal import solve
from atr.programme import load, periods
from atr.report.rounding import up
from atr.warehouse import counting as regions
from atr.warehouse.connection import Warehouse

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "choosing-a-mechanism.md"
RELEASES = ROOT / "benchmarks" / "releases.json"
BEGIN, END = "<!-- computed: {} -->\n", "<!-- end -->"
PROGRAMMES = (("card", None), ("compas", "2013"), ("mortgage", None))
LEVELS = (0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0)
DELTA, STEPS, FEW = 0.9, 20, 10
"""The fidelity of the optimal mechanism, the grid of the calibrated one, and what rounding leaves out."""


@dataclass(frozen=True)
class Example:
    """The groups of a bundled programme that are large enough and not known too well before any report."""

    name: str
    title: str
    groups: Groups
    ceiling: float


class Told(NamedTuple):
    """What is published of one group: between which counts its rules lie, and the numbers that are printed.

    Attributes
    ----------
    lowest, highest
        (m,) people with the positive outcome, as a reader of whole numbers has them.
    announced
        (m,) people that the printed chances make.
    width
        (m,) of the range in which the chance is said to lie; 1: nothing is said of it.
    """

    lowest: IntArray
    highest: IntArray
    announced: FloatArray
    width: FloatArray


def example(name: str, label: str | None) -> Example:
    """Count the regions of a bundled programme."""
    programme = load(str(ROOT / "examples" / name / "programme.yaml"))
    policy = programme.policy
    with Warehouse.in_memory() as warehouse:
        ingest.ingest(warehouse, programme)
        every = regions.periods(warehouse, programme.period.every)
        period = periods.parse(label) if label else every[-1][0]
        found = regions.aggregate(warehouse, programme, period)
    large = found.take(np.flatnonzero(found.group_population >= policy.minimum_group_size))
    groups = large.take(np.flatnonzero(privacy_limit(large.groups) <= policy.ceiling)).groups
    title = f"{programme.title}, {period.label}: {len(groups)} groups, {int(groups.population.sum()):,} people"
    return Example(name, title, groups, policy.ceiling)


# --- both mechanisms, and rounding


def compared(of: Example) -> Iterator[list[str]]:
    """One line for each way to publish the same groups, for readers of every kind."""
    yield [
        "",
        "face value",
        *MODELS,
        "mean error",
        "mean width",
        "people without a figure of their own",
        "groups with their rate only",
        "groups left out",
    ]
    chances = solve(of.groups, fidelity=Delta(DELTA)).announced[:, 0]
    ways = {
        "true chances": lambda n, k, x: Told(k, k, k * 1.0, np.zeros(len(n))),
        f"optimal, δ = {DELTA:g}": _moved,
        f"calibrated, step {1 / STEPS:g}": lambda n, k, x: _calibrated(n, k, of.ceiling),
        f"rounded to {1 / STEPS:.0%}, none under {FEW}": lambda n, k, x: _rounded(n, k),
    }
    for name, way in ways.items():
        yield [name, *_figures(of.groups, chances, way)]


def _figures(
    groups: Groups, chances: FloatArray, way: Callable[[IntArray, IntArray, FloatArray], Told | None]
) -> Iterator[str]:
    """Give what readers make of all groups, and how far it is from the truth."""
    sure: dict[str, list[float]] = {reader: [] for reader in ("face value", *MODELS)}
    error = width = people = untold = rate_only = left_out = 0.0
    for cells in (slice(*ends) for ends in pairwise(groups.offsets.tolist())):
        n = groups.population[cells].astype(np.int64)
        k = np.rint(n * groups.decision[cells, 0]).astype(np.int64)
        told = way(n, k, chances[cells])
        if told is None:
            left_out += 1
            continue
        sure["face value"].append(_confidence(n, told.announced))
        for model in MODELS:
            box = Box(model, n, told.lowest, told.highest, int(k.sum()))
            sure[model].append(_confidence(n, box.expected))
        people += n.sum()
        error += float(np.abs(told.announced - k).sum())
        width += float(n @ told.width)
        untold += n[told.width == 1].sum()
        rate_only += bool((told.width == 1).all())
    yield from (f"{up(max(of), 3):.3f}" for of in sure.values())
    yield from (f"{error / people:.3f}", f"{width / people:.3f}")
    yield from (f"{int(number):,}" for number in (untold, rate_only, left_out))


def _confidence(n: IntArray, k: FloatArray) -> float:
    """Give how sure a reader is of a region who expects so many people with the positive outcome in each."""
    return max(float(of.max() / of.sum()) if of.sum() > 0 else 0.0 for of in (k, n - k))


def _moved(n: IntArray, k: IntArray, x: FloatArray) -> Told:
    """Announce chances that keep a promise of fidelity."""
    low, high = np.maximum(x - (1 - DELTA), 0), np.minimum(x + (1 - DELTA), 1)
    slack = 1e-9 * n
    return Told(
        np.ceil(low * n - slack).astype(np.int64), np.floor(high * n + slack).astype(np.int64), x * n, high - low
    )


def _calibrated(n: IntArray, k: IntArray, ceiling: float) -> Told | None:
    """Announce the cell of the public partition."""
    cell = announce(n, k, max_confidence=ceiling, steps=STEPS)
    if cell is None:
        return None
    highest = np.where(cell.upper == STEPS, n, -(-cell.upper * n // STEPS) - 1)
    return Told(-(-cell.lower * n // STEPS), highest, cell.expected, (cell.upper - cell.lower) / STEPS)


def _rounded(n: IntArray, k: IntArray) -> Told:
    """Round every chance to the step, halves up, and leave small regions out; of these a reader has to guess."""
    few, step = n < FEW, np.floor(k / n * STEPS + 0.5)
    lowest = np.ceil((step - 0.5) / STEPS * n - 1e-9).clip(0)
    highest = np.minimum(np.ceil((step + 0.5) / STEPS * n - 1e-9) - 1, n)
    lowest, highest = (np.where(few, of, ends).astype(np.int64) for of, ends in ((0, lowest), (n, highest)))
    expected = Box("uniform", n, lowest, highest, int(k.sum())).expected
    return Told(lowest, highest, np.where(few, expected, step / STEPS * n), np.where(few, 1.0, 1 / STEPS))


# --- many releases of a rule that does not change


def releases() -> Iterator[list[str]]:
    """One line for each of some releases, from what was simulated."""
    yield ["release", "groups with their rate only", "groups over the ceiling by people and rates alone",
           "readers of earlier reports with no rule left", "mean error", "surest reader"]  # fmt: skip
    for of in json.loads(RELEASES.read_text(encoding="utf-8")):
        if of["release"] in (1, 2, 4, 8, 12):
            shares = (f"{of[name]:.0%}" for name in ("rate_only", "stopped", "at_an_end"))
            yield [str(of["release"]), *shares, f"{of['error']:.3f}", f"{up(of['confidence'], 3):.3f}"]


# --- the optimal mechanism


def mechanisms(of: Example) -> Iterator[list[str]]:
    """One line for each way to announce the same groups."""
    yield ["", "stated confidence", "average move", "largest move", "rates moved by up to", "groups changed"]
    yield _line("true rules, no mechanism", of, of.groups.decision)
    for rates in ("exact", "free"):
        solution = solve(of.groups, fidelity=Delta(DELTA), group_rates=rates)
        yield _line(f"{rates} rates, δ = {DELTA:g}", of, solution.announced)
        solution = solve(
            of.groups, fidelity=Delta(0), objective="fidelity", max_confidence=of.ceiling, group_rates=rates
        )
        name = f"{rates} rates, ceiling {of.ceiling:g}: δ = {solution.fidelity.level:g}"
        yield _line(name, of, solution.announced)


def trade(of: Example) -> Iterator[list[str]]:
    """The smallest confidence a report can state at each fidelity."""
    curve = trade_off(of.groups, levels=LEVELS)
    yield ["δ", "exact rates", "free rates"]
    for level, exact, free in zip(LEVELS, curve.exact.max(axis=0), curve.free.max(axis=0), strict=True):
        yield [f"{level:g}", f"{exact:.3f}", f"{free:.3f}"]


def _line(name: str, of: Example, x: np.ndarray) -> list[str]:
    groups, change = of.groups, x[:, 1] - of.groups.decision[:, 1]
    people = groups.sums(groups.population)
    rates = np.abs(groups.sums(groups.population * change)) / people
    return [
        name, f"{maximum_confidence(groups, x).max():.3f}",
        f"{groups.population @ np.abs(change) / people.sum():.3f}", f"{np.abs(change).max():.3f}",
        f"{rates.max():.3f}", f"{int((groups.maxima(np.abs(change)) > 1e-9).sum())} of {len(groups)}",
    ]  # fmt: skip


def markdown(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is the head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]) + "\n"


def page(text: str) -> str:
    """Put freshly computed tables between the page's marks."""
    text = _placed(text, "releases", markdown(list(releases())))
    for name, label in PROGRAMMES:
        of = example(name, label)
        for kind, rows in (("readers", compared), ("mechanisms", mechanisms), ("trade-off", trade)):
            if kind == "readers" or name != "mortgage":
                text = _placed(text, f"{name}, {kind}", f"**{of.title}**\n\n{markdown(list(rows(of)))}")
    return text


def _placed(text: str, kind: str, table: str) -> str:
    mark = BEGIN.format(kind)
    start = text.index(mark) + len(mark)
    return text[:start] + f"\n{table}\n" + text[text.index(END, start) :]


def main() -> None:
    """Write or check the page."""
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if "--check" in sys.argv[1:]:
        sys.exit(0 if new == old else "docs/choosing-a-mechanism.md: run python -m benchmarks.mechanisms")
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
