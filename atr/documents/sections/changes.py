"""What became of the figures since the last report: the introduction, then sentences on each attribute."""

from __future__ import annotations

from dataclasses import dataclass

from atr.report.model import PublicReport
from atr.report.wording import count

MAX_SENTENCES = 20
"""Sentences on an attribute that are printed."""


@dataclass(frozen=True, slots=True)
class Since:
    """What is printed on one attribute: its margin, then sentences, those on a change first."""

    title: str
    margin: str
    sentences: tuple[str, ...]
    in_all: int


def by_attribute(report: PublicReport) -> list[Since]:
    """The attributes of a report that are set beside an earlier one."""
    found: list[Since] = []
    since = report.changes
    if since is None:
        return found
    for by in report.compared:
        entries = [c for c in since.entries if c.attribute == by.attribute]
        margin = next((m.sentence for m in since.margin if m.attribute == by.attribute), "")
        told = sorted(entries, key=lambda c: not c.flagged)[:MAX_SENTENCES]
        if entries or margin:
            found.append(Since(by.title, margin, tuple(c.sentence for c in told), len(entries)))
    return found


def introduction(report: PublicReport) -> list[str]:
    """What the figures are set beside, and how to read that, as sentences; empty where there is no earlier report."""
    found = report.changes
    if found is None:
        return []
    flagged = sum(c.flagged for c in found.entries)
    changed = f"{flagged:,} {'has' if flagged == 1 else 'have'} changed"
    told = [
        f"The figures of this report are set beside those of {found.period}, version {found.version}, the last report "
        "of a period as long that was published before.",
        "A change is told only where the ranges of the two figures do not overlap, so that altered chances cannot be "
        "why they differ.",
    ]
    if report.policy.sampling is not None and report.policy.sampling.coverage == "sample":
        told.append("Whether sampling alone could have made it is not tested.")
    told.append("Each report is of the people in its own announced groups.")
    if found.entries:
        told.append(f"Of {count(len(found.entries), 'figure')} {changed}.")
    return [*told, *found.skipped]
