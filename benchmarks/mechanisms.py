"""The tables of docs/choosing-a-mechanism.md, computed on the bundled programmes and written into the page.

python benchmarks/mechanisms.py            writes the page
python benchmarks/mechanisms.py --check    fails if the page is not what the programmes give
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from atr import ingest
from atr.core.confidence import maximum_confidence
from atr.core.disclosure import decided
from atr.core.fidelity import Delta
from atr.core.groups import Groups
from atr.dossier.curves import trade_off
from atr.mechanisms import mechanism_of
from atr.mechanisms.optimal import solve
from atr.programme import load, periods
from atr.warehouse import counting as regions
from atr.warehouse.connection import Warehouse

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "choosing-a-mechanism.md"
BEGIN, END = "<!-- computed: {} -->\n", "<!-- end -->"
PROGRAMMES = (("card", None), ("compas", "2013"))
LEVELS = (0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class Example:
    """The groups a bundled programme announces in a period, and its policy."""

    name: str
    title: str
    groups: Groups
    ceiling: float
    delta: float


def example(name: str, label: str | None) -> Example:
    """Count the regions of a bundled programme; the groups its policy withholds are left out."""
    programme = load(str(ROOT / "examples" / name / "programme.yaml"))
    with Warehouse.in_memory() as warehouse:
        ingest.ingest(warehouse, programme)
        every = regions.periods(warehouse, programme.period.every)
        period = periods.parse(label) if label else every[-1][0]
        found = regions.aggregate(warehouse, programme, period)
    found = decided(found, programme.policy)
    groups = found.take(found.announced).groups
    title = f"{programme.title}, {period.label}: {len(groups)} groups, {int(groups.population.sum()):,} people"
    return Example(
        name,
        title,
        groups,
        programme.policy.ceiling,
        mechanism_of(programme.policy).terms(programme.policy).fidelity["delta"],
    )


def mechanisms(of: Example) -> Iterator[list[str]]:
    """One line for each way to announce the same groups."""
    yield ["", "stated confidence", "average move", "largest move", "rates moved by up to", "groups changed"]
    yield _line("true rules, no mechanism", of, of.groups.decision)
    for rates in ("exact", "free"):
        solution = solve(of.groups, fidelity=Delta(of.delta), group_rates=rates)
        yield _line(f"{rates} rates, δ = {of.delta:g}", of, solution.announced)
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
    for name, label in PROGRAMMES:
        of = example(name, label)
        for kind, rows in (("mechanisms", mechanisms(of)), ("trade-off", trade(of))):
            mark = BEGIN.format(f"{name}, {kind}")
            start = text.index(mark) + len(mark)
            table = f"\n**{of.title}**\n\n{markdown(list(rows))}\n"
            text = text[:start] + table + text[text.index(END, start) :]
    return text


def main() -> None:
    """Write or check the page."""
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if "--check" in sys.argv[1:]:
        sys.exit(0 if new == old else "docs/choosing-a-mechanism.md: run python benchmarks/mechanisms.py")
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
