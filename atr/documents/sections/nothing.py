"""Why nothing is shown: of a report in which no group is announced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr.documents.sections.settings import FILES
from atr.documents.sections.trust import notice
from atr.documents.text import missing
from atr.documents.text.language import later
from atr.documents.text.words import Words

TITLE = later("Why nothing is shown")
_NAMED = 20


def context(words: Words) -> Mapping[str, Any] | None:
    """The variables of the template; None where a group is announced."""
    report, quality, number = words.report, words.report.data_quality, words.language.number
    if report.announced_groups:
        return None
    groups = [words.group(group) for group in report.withheld_groups]
    return {
        "why": missing.left_out(words) or [words.say("There is no group of people to announce.")],
        "groups": groups[:_NAMED],
        "more": len(groups[_NAMED:]),
        "log": words.say(
            "In the whole log, all periods together, {read} rows were read: {used} were used, one for each decision, "
            "and {aside} set aside because they could not be read.",
            read=number(quality.rows_read),
            used=number(quality.decisions),
            aside=number(quality.quarantined),
        ),
        "notice": notice(words),
        "files": FILES,
    }
