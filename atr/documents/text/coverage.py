"""Whom a report shows less finely than others, and how that was decided, in short sentences."""

from __future__ import annotations

from atr.documents.text.words import Words
from atr.report import rounding


def less_finely(words: Words) -> list[str]:
    """Say who is shown together or by rates alone, where people left out are counted, and how all that was decided."""
    report, say, say_n = words.report, words.say, words.say_n
    counts, said = report.coverage.groups, list[str]()
    if report.rest_groups:
        said.append(
            say_n(
                "{n} group too small to be shown, or too telling, is shown together with others, as {groups}.",
                "{n} groups too small to be shown, or too telling, are shown together, as {groups}.",
                sum(group.joined or 0 for group in report.rest_groups),
                groups=say_n("{n} group", "{n} groups", len(report.rest_groups)),
            )
        )
    if report.coarsened_groups:
        said.append(
            say_n(
                "{n} group is coarsened: merged from {merged} that could not be shown on their own.",
                "{n} groups are coarsened: merged from {merged} that could not be shown on their own.",
                counts.coarsened,
                merged=words.language.number(counts.merged),
            )
        )
    rates = len(report.rate_only_groups)
    if rates:
        said.append(say_n("{n} group shows its rate alone.", "{n} groups show their rates alone.", rates))
    said += _counted_elsewhere(words)
    if not said:
        return [say("Everybody is in a group that is shown on its own.")]
    decided = say(
        "Who is left out or shown together follows from numbers of people and the policy, never from outcomes."
    )
    return [*said, decided]


def _counted_elsewhere(words: Words) -> list[str]:
    """Say where people of groups that are left out are counted; nothing where there are none."""
    report, policy, say = words.report, words.report.policy, words.say
    counts = report.coverage.groups
    if not counts.withheld_for_size + counts.withheld:
        return []
    step = rounding.share_step(decisions=report.coverage.decisions, minimum=policy.minimum_group_size)
    said = [
        say(
            "People left out count in the numbers of decisions and rows, to the nearest {people} so that nobody can be "
            "found by subtraction, and in the share that is counted, to the nearest {share}. If they counted "
            "everywhere, a verdict could change.",
            people=words.language.number(max(policy.minimum_group_size, policy.population_rounding)),
            share=words.language.percent(step),
        )
    ]
    if counts.withheld:
        said.append(say("Groups in which too much could be guessed before any report are named, without numbers."))
    if policy.unattainable == "coarsen":
        said.append(
            say("Merging under coarser values did not help them; groups alike in their coarsest values count as one.")
        )
    return said
