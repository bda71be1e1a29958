"""Who is missing from a report's figures, in short sentences."""

from __future__ import annotations

from atr.documents.text import promise
from atr.documents.text.words import Words


def counted(words: Words) -> str:
    """Say how many of the decisions are counted."""
    coverage, groups = words.report.coverage, words.report.coverage.groups
    if not groups.withheld_for_size + groups.withheld:
        return words.say("Everybody in the log is counted.")
    if not coverage.announced_share:
        return words.say("Nobody in the log is counted.")
    share = words.language.percent(coverage.announced_share)
    return words.say("About {share} of the {decisions} are counted.", share=share, decisions=words.decision_noun)


def left_out(words: Words) -> list[str]:
    """Say which groups are left out as wholes, and why."""
    groups, policy, said = words.report.coverage.groups, words.report.policy, list[str]()
    if groups.withheld_for_size:
        fewest = words.language.number(policy.minimum_group_size)
        said.append(
            words.say_n(
                "{n} group of fewer than {fewest} {people} is left out.",
                "{n} groups of fewer than {fewest} {people} each are left out.",
                groups.withheld_for_size,
                fewest=fewest,
                people=words.people,
            )
        )
    if groups.withheld:
        said.append(
            words.say_n(
                "{n} group is left out: numbers of people alone tell {sensitive} more surely than {ceiling} there.",
                "{n} groups are left out: numbers of people alone tell {sensitive} more surely than {ceiling} there.",
                groups.withheld,
                sensitive=words.sensitive,
                ceiling=promise.ceilings(words),
            )
        )
    return said


def together(words: Words) -> list[str]:
    """Say which values are compared together, and of which attributes some people are in no figure."""
    said = list[str]()
    for by in (by for by in words.report.compared if len(by.attributes) == 1):
        title = words.titles(by.attributes)
        for row in (row for row in by.rows if len(row.values) > 1):
            values = words.language.named(row.values)
            said.append(
                words.say("By {attribute}, {values} are too few to be shown apart.", attribute=title, values=values)
            )
        if by.left_out:
            people = words.persons(by.left_out)
            said.append(words.say("Figures by {attribute} leave out {people}.", attribute=title, people=people))
        if by.absent:
            values = words.language.named(by.absent)
            said.append(words.say("By {attribute}, nobody is counted under {values}.", attribute=title, values=values))
    return said
