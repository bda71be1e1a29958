"""What is said of a whole report in more than one place: its extent, its promise, its guarantee, and for whom."""

from __future__ import annotations

from collections.abc import Iterable

from atr.documents.text.wording import count, inverse, listed, named, number, percent, percentage_points
from atr.programme import OWN_POPULATION
from atr.report import rounding
from atr.report.model import FidelityInfo, PublicReport


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


def promise(fidelity: FidelityInfo) -> str:
    """State the promise of fidelity."""
    level, change = fidelity.level, fidelity.largest_change
    if change == 0 or (change is None and level == 1):
        return "Every announced chance is the true one, to its last printed digit."
    if change is not None:
        return f"No announced chance differs from the true one by more than {percentage_points(change)}."
    if level is not None:
        return (
            f"No announced chance is less than {number(level)} times, or more than {inverse(level)} times, the true "
            "one."
        )
    return "Every announced chance lies within the printed limits set beforehand, and so does the true one."


def fidelity(report: PublicReport) -> str:
    """State the promise of fidelity, and the groups outside it."""
    flattened = report.flattened_groups
    if flattened and len(flattened) == len(report.announced_groups):
        return (
            "Every announced group is flattened: it shows its overall rate throughout, and nothing is promised of the "
            "true chances within it."
        )
    if not flattened:
        return promise(report.fidelity)
    rest = "Groups marked “flattened” show their overall rate throughout and are outside this promise."
    return f"{promise(report.fidelity)} {rest}"


def guarantee(report: PublicReport) -> str:
    """State the guarantee of privacy, and what is known without the report."""
    privacy, flattened = report.privacy, report.flattened_groups
    if not flattened:
        return _guarantee(report)
    where = count(len(flattened), "group that is", "groups that are")
    said = (
        f"In the {where} marked “flattened” a reader can be surer than the ceiling allows ({ceilings(report)}) from "
        "prior knowledge alone; only their rates are shown."
    )
    return said if privacy.max_confidence is None else f"{_guarantee(report)} That is outside flattened groups. {said}"


def _guarantee(report: PublicReport) -> str:
    privacy = report.privacy
    if privacy.max_confidence is None:
        return "No rule is announced, so there is nothing to infer from."
    base = "" if privacy.prior_confidence is None else f"; without this report, {percent(privacy.prior_confidence)}"
    said = [
        "A reader who takes these rules at face value, and knows a person’s public attributes and outcome, can be "
        f"at most {percent(privacy.max_confidence)} sure of a person’s {sensitive(report)}{base}.",
        *own_confidences(report),
    ]
    if privacy.printed_confidence is not None:
        said.append(
            f"That is for a reader who knows the numbers of people from {report.policy.side_information}; one who "
            f"takes the numbers printed here can be at most {percent(privacy.printed_confidence)} sure."
        )
    return " ".join(said)


def own_confidences(report: PublicReport) -> tuple[str, ...]:
    """State, for each ceiling stricter than that of the policy, how sure a reader can be."""
    found = []
    where = (
        "outside the groups flattened for what is known beforehand"
        if report.flattened_groups
        else "in the announced groups"
    )
    for own in report.privacy.own_ceilings:
        ceiling = f"The ceiling for {under(report, own.attribute, own.set)} is {percent(own.ceiling)}, and"
        found.append(
            f"{ceiling} such a reader can be at most {percent(own.max_confidence)} sure of it; without this report, "
            f"{percent(own.prior_confidence)}."
            if own.prior_confidence
            else f"{ceiling} nobody {where} is in it."
        )
    return tuple(found)


def under(report: PublicReport, attribute: str, of_set: str | None) -> str:
    """Name what a ceiling applies to, within a sentence: a sensitive attribute, or a named set of its values."""
    title = next(a.title for a in report.attributes if a.name == attribute)
    return title if of_set is None else f"“{of_set}” in {title}"


def ceilings(report: PublicReport) -> str:
    """Write the ceiling of the policy, and then the stricter ones of single attributes and sets."""
    own = (ceiling for a in report.attributes for ceiling in a.own_ceilings)
    stricter = (f"; for {under(report, name, of_set)}, {percent(ceiling)}" for name, of_set, ceiling in own)
    return "".join((percent(report.policy.max_confidence), *stricter))


def has_own_ceilings(report: PublicReport) -> bool:
    """Whether some attribute or set has a ceiling of its own."""
    return any(a.own_ceilings for a in report.attributes)


def too_surely(report: PublicReport) -> str:
    """Say, within a sentence, that something can be told with more confidence than its ceiling."""
    said = "more surely than a ceiling allows ({})" if has_own_ceilings(report) else "with more than {} confidence"
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
