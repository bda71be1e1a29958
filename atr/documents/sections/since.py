"""Figures beside those of the report before, for the annex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr.documents.figures import Figures
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.model import Change, Margin, NotCompared

MOST_CHANGES = 200
_NAMED = 5
_BY = {
    "reference_changed": later(
        "By {attributes}: others were compared with {previous}, and are now compared with {now}; ratios are not set "
        "side by side."
    ),
    "not_compared_then": later("By {attributes}: nothing was compared then."),
    "not_compared_now": later("By {attributes}: nothing is compared now."),
    "no_earlier_figure": later("By {attributes}, no earlier figure: {groups}."),
    "no_figure_now": later("By {attributes}, no figure now: {groups}."),
}


def since(words: Words) -> Mapping[str, Any] | None:
    """The figures of the report before beside those of this one, those that have changed first.

    Returns
    -------
    The period and version of the report before, ``rows`` of cells, ``in_all`` and ``notes``; None for a first report.
    """
    changes, figures = words.report.changes, Figures(words)
    if changes is None:
        return None
    rows = []
    for c in sorted(changes.entries, key=lambda c: not c.flagged):
        label = words.say("{group} against {other}", group=c.groups[0], other=c.groups[1])
        kind = words.say("ratio") if c.is_ratio else words.say("points")
        both = [
            words.say("no ratio") if x is None else figures.amount(x, ratio=c.is_ratio) for x in (c.previous, c.value)
        ]
        rows.append((label, kind, *both, _direction(words, c)))
    return {
        "period": changes.period,
        "version": words.language.number(changes.version),
        "rows": rows[:MOST_CHANGES],
        "in_all": len(rows),
        "notes": [*(_margin(words, m) for m in changes.margin), *(_skipped(words, s) for s in changes.skipped)],
    }


def _direction(words: Words, change: Change) -> str:
    if not change.flagged or change.previous is None or change.value is None:
        return _told(words, change.flagged)
    return words.say("higher") if change.value > change.previous else words.say("lower")


def _told(words: Words, flagged: bool) -> str:
    return words.say("changed") if flagged else words.say("no change can be told")


def _margin(words: Words, found: Margin) -> str:
    """State how far the ratio furthest from 1 lies from its line, now and in the report before."""
    figures = Figures(words)

    def lies(margin: float, threshold: float) -> str:
        far, line = figures.amount(abs(margin), ratio=True), words.language.number(threshold)
        if margin >= 0:
            return words.say("{far} within the line of {line}", far=far, line=line)
        return words.say("{far} beyond the line of {line}", far=far, line=line)

    return words.say(
        "By {attributes}, furthest from 1 is the ratio of {group} against {other}: {now}; in the report before, of "
        "{group_before} against {other_before}: {before}; {told}.",
        attributes=_title(words, found.attribute),
        group=found.groups[0],
        other=found.groups[1],
        now=lies(found.value, found.threshold),
        group_before=found.previous_groups[0],
        other_before=found.previous_groups[1],
        before=lies(found.previous, found.previous_threshold),
        told=_told(words, found.flagged),
    )


def _skipped(words: Words, found: NotCompared) -> str:
    """State what is not set beside earlier figures, and why."""
    if found.reason == "outcome_changed":
        return words.say(
            "The favourable outcome was “{previous}” and is now “{now}”.", previous=found.previous, now=found.now
        )
    return words.say(
        _BY[found.reason],
        attributes=_title(words, found.attribute or ""),
        groups=words.listed(found.groups, most=_NAMED) if found.groups else "",
        previous=found.previous,
        now=found.now,
    )


def _title(words: Words, attribute: str) -> str:
    """What people are compared by, as the report calls it; by its name where only the earlier one compared by it."""
    return next((words.titles(by.attributes) for by in words.report.compared if by.attribute == attribute), attribute)
