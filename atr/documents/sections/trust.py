"""How far to trust it: how private a report is and for whom, how close it is to the truth, and whom it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr.documents.text import promise
from atr.documents.text.beside import also_published
from atr.documents.text.coverage import less_finely
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.notes import CORRECTIONS_WAIT

TITLE = later("How far to trust it")

NOTES = frozenset({"limits", "altered", "rates", "guarantee", "not_covered", "missing", "notice", CORRECTIONS_WAIT})
"""The fidelity notes that are said here; the method says the others."""


def context(words: Words) -> Mapping[str, Any] | None:
    """The variables of the template: a sentence each in ``paragraphs``; None where nothing is announced."""
    report = words.report
    if not report.announced_groups:
        return None
    ruled = any(group.regions for group in report.announced_groups)
    return {
        "finding": _finding(words, ruled=ruled),
        "closeness": promise.closeness(words) if ruled else [],
        "closeness_note": "limits" if report.fidelity.kind == "limits" else "altered",
        "rates": _rates(words),
        "chance": _chance(words),
        "privacy": promise.privacy(words),
        "not_covered": promise.not_covered(words) if ruled else [],
        "ruled": ruled,
        "less_finely": less_finely(words),
        "beside": _beside(words),
        "corrections": _corrections(words),
        "notice": notice(words),
    }


def _finding(words: Words, *, ruled: bool) -> str:
    report, say = words.report, words.say
    promised = report.fidelity
    if not ruled:
        return say("Rates of groups are true to the nearest percent. Nothing is told within a group.")
    if promised.kind == "limits":
        return say("Rates of groups are true to the nearest percent. Numbers within a group are told as limits.")
    if promised.level == 1 or promised.largest_change == 0:
        return say("Every number here is the true one, but for rounding.")
    if report.policy.group_rates == "free":
        return say("Rates of groups and the numbers within them were altered, to protect people.")
    return say("Rates of groups are true to the nearest percent. Numbers within a group were altered.")


def _rates(words: Words) -> list[str]:
    report, say = words.report, words.say
    if report.policy.group_rates == "free":
        free = say("Rates of groups could move with them, and so could comparisons.")
        flat = say("Rates of flattened groups were only rounded.")
        return [free, *([flat] if report.flattened_groups else [])]
    if report.data_quality.corrections_wait:
        return [
            say("The rate of a group is the true one of the version that is named beside it, up to rounding."),
            say(
                "Comparisons by public attributes ({public}) are true up to rounding where both groups are of one "
                "version.",
                public=words.public,
            ),
        ]
    return [
        say(
            "Rates of groups, and comparisons by public attributes ({public}), are true up to rounding.",
            public=words.public,
        )
    ]


def _chance(words: Words) -> list[str]:
    info, say = words.report.policy.sampling, words.say
    if info is None:
        return []
    if info.alpha is None:
        return [
            say("The publisher states that the log holds everything there is to tell of, and is no sample."),
            say("So nothing is said of chance."),
        ]
    level = words.language.percent(round(1 - info.alpha, 9))
    return [
        say("The log is taken for a sample of more such cases: other people could have given other figures."),
        say(
            "Intervals are made so that in {level} of such samples they hold the figure of all cases; “could be "
            "chance” means luck in this sense and nothing else.",
            level=level,
        ),
    ]


def _beside(words: Words) -> list[str]:
    return [also_published(words, words.report.beside)] if words.report.beside else []


def _corrections(words: Words) -> list[str]:
    if not words.report.data_quality.corrections_wait:
        return []
    say = words.say
    return [
        say("The log was corrected since the version before."),
        say(
            "Groups in which too few people changed, or whose new numbers would tell too much beside the old ones, are "
            "printed as they were until enough changed: whoever has both versions could tell whose outcome it was."
        ),
        say(
            "Each group says as in which version it is; one that has not changed since looks like one that waits. "
            "Comparisons of groups as in different versions are true of no one time, and have no verdict."
        ),
    ]


def notice(words: Words) -> list[str]:
    """Say what a report is not, a sentence each."""
    say = words.say
    return [
        say(
            "It is a general notice about a system. It does not explain what happened to one person, who may have a "
            "right to that (in the European Union, Article 15 of the General Data Protection Regulation)."
        ),
        say("A measure says how outcomes differ, not why, and not whether they were right."),
    ]
