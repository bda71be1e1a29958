"""What is said of a whole report in more than one place: its extent, its promise, its guarantee, and for whom."""

from __future__ import annotations

from collections.abc import Iterable

from atr.documents.text.wording import count, listed, named, number, percent
from atr.programme import OWN_POPULATION
from atr.report import rounding
from atr.report.model import Group, PublicReport


def decisions(report: PublicReport) -> str:
    """The number of decisions of a report, for use within a sentence."""
    about = "about " if decisions_step(report) > 1 else ""
    return f"{about}{count(report.coverage.decisions, 'decision')}"


def decisions_step(report: PublicReport) -> int:
    """The step to which that number is rounded: coarse where withheld people or rounded numbers are in it."""
    policy, groups = report.policy, report.coverage.groups
    if not groups.withheld_for_size + groups.withheld and policy.population_rounding == 1:
        return 1
    return max(policy.minimum_group_size, policy.population_rounding)


def share_announced(report: PublicReport) -> str:
    """The share of decisions in announced groups, as the beginning of a sentence."""
    share = report.coverage.announced_share
    if share in (0, 1):
        return "All of them" if share else "None of them"
    return f"About {percent(share)} of them ({share_step(report)})"


def share_of_all(report: PublicReport) -> str:
    """The share of decisions in announced groups, for use within a sentence."""
    return f"about {percent(report.coverage.announced_share)} of all"


def share_step(report: PublicReport) -> str:
    """The step to which that share is rounded, coarse enough to hide how many people are withheld."""
    step = rounding.share_step(decisions=report.coverage.decisions, minimum=report.policy.minimum_group_size)
    return f"to the nearest {percent(step)}"


def holds_for(report: PublicReport) -> str:
    """State for which readers the guarantee holds."""
    source = "" if report.policy.side_information == OWN_POPULATION else f" from {report.policy.side_information}"
    return (
        f"A reader who knows a person’s public attributes and the outcome of that person’s decision, knows{source} how "
        f"many people each group has by {sensitive(report)}, and takes the announced chances as the chances."
    )


def by_rates(report: PublicReport) -> str:
    """State what numbers of people and rates alone tell who remembers earlier reports; empty where it is nothing."""
    of = report.privacy.by_rates
    return (
        ""
        if of is None
        else (
            f"In {count(of.groups, 'group')} numbers of people and rates of several reports alone make a reader who "
            f"takes rules for unchanged up to {percent(of.max_confidence)} sure; nothing but the rate is told there."
        )
    )


def share_told(report: PublicReport) -> str:
    """How many people are in groups that tell of rules by every attribute, and of how many shown."""
    told, shown = (
        sum(g.population or 0 for g in groups) for groups in (report.complete.groups, report.announced_groups)
    )
    return f"{number(told)} of {number(shown)} people shown"


def under(report: PublicReport, attribute: str, of_set: str | None) -> str:
    """Name what a ceiling applies to, within a sentence: a sensitive attribute, or a named set of its values."""
    title = next(a.title for a in report.attributes if a.name == attribute)
    return title if of_set is None else f"“{of_set}” in {title}"


def own_ceilings(report: PublicReport) -> list[tuple[str, str | None, float]]:
    """The ceilings stricter than that of the policy: attribute, set (None: each value of it), probability."""
    return [own for a in report.attributes for own in a.own_ceilings]


def ceilings(report: PublicReport) -> str:
    """Write the ceiling of the policy, and then the stricter ones of single attributes and sets."""
    stricter = (f"; for {under(report, name, of)}, {percent(own)}" for name, of, own in own_ceilings(report))
    return "".join((percent(report.policy.max_confidence), *stricter))


def too_surely(report: PublicReport) -> str:
    """Say, within a sentence, that something can be told with more confidence than its ceiling."""
    said = "more surely than a ceiling allows ({})" if own_ceilings(report) else "with more than {} confidence"
    return said.format(ceilings(report))


def sensitive(report: PublicReport) -> str:
    """The sensitive attributes, within a sentence."""
    return listed([a.title for a in report.attributes if a.role == "sensitive"], last="or")


def public(report: PublicReport) -> str:
    """The public attributes, within a sentence."""
    return listed([a.title for a in report.attributes if a.role == "public"])


def titles(report: PublicReport, attributes: Iterable[str]) -> str:
    """Several attributes, or one, within a sentence."""
    known = {a.name: a.title for a in report.attributes}
    return listed([known.get(name, name) for name in attributes])


def coarse_values(report: PublicReport) -> str:
    """The coarser values of coarsened groups in quotation marks, as many as fit a sentence."""
    return named([value for a in report.attributes for value in a.coarse])


def group_name(group: Group, report: PublicReport) -> str:
    """Name a group by its public values; a rest group by those that all share, then those that meet in it, then the
    attributes of which neither is told."""
    public = [a for a in report.attributes if a.role == "public"]
    told = group.public | {name: listed(values, last="or") for name, values in group.mixed.items()}
    named = [told[a.name] for a in public if a.name in told]
    if len(named) < len(public):
        other = f"of {listed([a.title for a in public if a.name not in told])} not shown on their own"
        named.append(other if named else f"People {other}")
    return ("; " if group.mixed else ", ").join(named)
