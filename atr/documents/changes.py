"""What the section on the last published report prints."""

from __future__ import annotations

from collections.abc import Sequence
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


def printed(report: PublicReport) -> tuple[Since, ...]:
    """The attributes of a report that are set beside an earlier one."""
    if report.changes is None:
        return ()
    found = []
    for by in report.compared:
        entries = [c for c in report.changes.entries if c.attribute == by.attribute]
        margin = next((m.sentence for m in report.changes.margin if m.attribute == by.attribute), "")
        if entries or margin:
            told = sorted(entries, key=lambda c: not c.flagged)
            found.append(Since(by.title, margin, tuple(c.sentence for c in told[:MAX_SENTENCES]), len(entries)))
    return tuple(found)


def introduction(report: PublicReport) -> Sequence[str]:
    """What the figures are set beside, and how to read that, as sentences; empty where there is no earlier report."""
    found = report.changes
    if found is None:
        return ()
    flagged = sum(c.flagged for c in found.entries)
    sample = report.policy.sampling is not None and report.policy.sampling.coverage == "sample"
    return (
        f"The figures of this report are set beside those of {found.period}, version {found.version}, the last report "
        "of a period as long that was published before.",
        "A change is told only where the ranges of the two figures do not overlap, so that altered chances cannot be "
        "why they differ.",
        *(["Whether sampling alone could have made it is not tested."] if sample else []),
        "Each report is of the people in its own announced groups.",
        *(
            [f"Of {count(len(found.entries), 'figure')} {flagged:,} {'has' if flagged == 1 else 'have'} changed."]
            if found.entries
            else []
        ),
        *found.skipped,
    )
