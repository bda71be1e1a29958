"""What a report says that tells limits of chances: what they are, who is covered by its guarantee, and who is not."""

from __future__ import annotations

from atr.documents.text import phrases
from atr.documents.text.wording import count, listed, number, percent, points
from atr.report.model import Group, PublicReport, Region

NARROW = 0.1
"""Limits at most so far apart are called narrow."""
_MODELS = {
    "uniform": "every chance is equally likely in every row",
    "extreme": "chances are near 0 or near 100 in 100",
    "alike": "no chance depends on {sensitive}",
}
"""How the readers whom the guarantee covers think of the rules before they see the report."""


def between(limits: tuple[float, float]) -> str:
    """Write the limits of a chance, in 100 people.

    >>> between((0.8, 0.85))
    '80 to 85'
    """
    low, high = limits
    return f"{points(low)} to {points(high)}"


def fidelity(report: PublicReport) -> str:
    """State what limits promise, and for how many of the announced people they are narrow, or told at all."""
    said = ["Every true chance lies between the printed limits."]
    people = {"narrow": 0, "wider": 0, "none": 0}
    for group in report.announced_groups:
        for region, _ in group.told:
            people[_width(region, report.positive)] += region.people
    total = max(1, sum(people.values()))
    in_100 = {width: round(100 * n / total) for width, n in people.items()}
    if in_100["narrow"]:
        said.append(
            f"For about {in_100['narrow']} in 100 of the people shown they are at most {points(NARROW)} in 100 apart."
        )
    if in_100["none"]:
        said.append(f"For about {in_100['none']} in 100 no limits are told, only the rate of their group.")
    return " ".join(said)


def _width(region: Region, positive: str) -> str:
    if region.limits is None:
        return "none"
    low, high = region.limits[positive]
    return "narrow" if round(high - low, 6) <= NARROW else "wider"


def guarantee(report: PublicReport) -> str:
    """State the guarantee in a sentence or two, and what is known without any limit."""
    privacy, sensitive = report.privacy, phrases.sensitive(report)
    if privacy.max_confidence is None:
        return "No limits are told, so there is nothing to infer from them."
    said = (
        "A reader who knows a person’s public attributes and outcome, all numbers of people and rates, and how this "
        f"report is made, can be at most {percent(privacy.max_confidence)} sure of the person’s {sensitive}."
    )
    for attribute in report.attributes:
        for name, of_set, ceiling in attribute.own_ceilings:
            said += f" Of {phrases.under(report, name, of_set)} no such reader is surer than {percent(ceiling)}."
    prior = privacy.prior_confidence
    if prior is None:
        return said
    nothing = "; limits make no reader surer than that" if prior >= privacy.max_confidence else ""
    return f"{said} Numbers of people and rates alone make such a reader up to {percent(prior)} sure{nothing}."


# --- notes


def told(report: PublicReport) -> str:
    """State how limits come about."""
    policy, left = report.policy, report.privacy.rules_left
    counted = (
        f" Wherever limits are told, at least {number(left)} different rules in whole people remain possible."
        if left
        else ""
    )
    return (
        f"{fidelity(report)} Limits are points on a scale that was fixed beforehand, {points(policy.step or 0.0)} in "
        "100 apart; the lower one is included, the upper one is not, unless it is 100. They are narrowed one cut at a "
        "time, and only where both halves keep the ceiling on what readers can conclude, whichever of them holds the "
        "truth. So the decisions say on which side of a cut the truth lies, and nothing else. Where a number stands "
        "beside limits, it is what a reader who knows all this expects; it is no finding. “Not told” means that no "
        f"cut could be made: what is then expected is in report.json.{counted}"
    )


def rates(report: PublicReport) -> str:
    """State what was not altered."""
    return (
        "The rate of each outcome in every group that is shown is the true one, to the nearest percent. So rates of "
        "groups, and comparisons of groups by public attributes, are the true ones up to rounding; only within a "
        f"group, by {phrases.sensitive(report)}, are limits told in place of the chances."
    )


def ranges(_report: PublicReport) -> str:
    """State where the ranges of fairness figures come from."""
    return (
        "Beside a fairness figure stands the range its true value must lie in. It follows from the printed limits and "
        "the rates of groups, which are true. A figure that is called exact is the true one up to rounding."
    )


def covered(report: PublicReport) -> str:
    """State who is covered by the guarantee, and how sure each of these readers can be."""
    privacy, sensitive, readers = report.privacy, phrases.sensitive(report), report.privacy.readers
    beliefs = [
        f"{belief.format(sensitive=sensitive)} ({percent(readers[name])})"
        for name, belief in _MODELS.items()
        if name in readers
    ]
    others = []
    if "face_value" in readers:
        others.append(
            "a reader who takes the printed chances and numbers of people at face value "
            f"({percent(readers['face_value'])})"
        )
    if "earlier" in readers:
        others.append(
            "a reader who remembers earlier reports of this log and takes their limits to hold still "
            f"({percent(readers['earlier'])})"
        )
    also = f" Covered is also {listed(others)}." if others else ""
    return (
        f"A reader who knows a person’s public attributes ({phrases.public(report)}) and outcome, the number of people "
        "in every row, the rates, the method and its code, and who thinks of the rules in one of these ways: "
        f"{listed(beliefs, last='or')}. The percentages say how sure such a reader can be at most of anybody’s "
        f"{sensitive}, in any group.{also} None of them is above the ceiling, {phrases.ceilings(report)}. Who knows "
        "the numbers of people less exactly is no surer. What numbers of people and rates tell, both known to these "
        f"readers, makes the surest of them up to {percent(privacy.prior_confidence or 0.0)} sure without any limits. "
        "All figures are computed exactly and rounded up. They are absolute confidences (β, maximum confidence), not "
        "the relative gain that “β-likeness” and some anonymisation tools call β."
    )


def not_covered(report: PublicReport) -> str:
    """State who is not covered by the guarantee."""
    hidden = [a.title for a in report.attributes if a.role == "sensitive"]
    second = f", one of {listed(hidden)}" if len(hidden) > 1 else ""
    finer = " One who knows the finer group of somebody, where groups are shown together."
    return (
        "A reader who thinks of the rules in another way: that chances rise from value to value, for example. What "
        "some such readers conclude was computed for the person who approves the report. Not covered is also one who "
        f"knows another secret of the person beside that in question{second}, the outcomes of other people, or more of "
        f"a person than {phrases.public(report)} and the outcome.{finer if report.rest_groups else ''} One who takes "
        "rules to stay the same over many periods: the numbers of people and the rates of all these periods alone can "
        "tell such a reader much."
    )


def earlier(report: PublicReport) -> str:
    """State what earlier reports add."""
    remembered = (
        "In this report they were taken into account."
        if "earlier" in report.privacy.readers
        else "There was none to take into account for this report."
    )
    return (
        "A rule that does not change could be narrowed down by setting the limits of several reports side by side. So "
        "limits are chosen with those published before in mind: whoever takes the limits of one earlier report, or of "
        f"all newest ones together, to hold still is not brought above the ceiling by limits. {remembered} What "
        f"numbers of people and rates of many periods tell alone is no part of the promise{_by_rates(report)}."
    )


def _by_rates(report: PublicReport) -> str:
    found = report.privacy.by_rates
    if found is None:
        return ""
    groups = count(found.groups, "group", "groups")
    return (
        f": in {groups} they make such a reader up to {percent(found.max_confidence)} sure, and only the rate is "
        "told there"
    )


def sizes(_report: PublicReport) -> str:
    """State that exact numbers of people are not promised to stay hidden."""
    return (
        "Printed numbers of people are rounded, but the guarantee does not rest on that: its readers know the exact "
        "numbers. That exact numbers stay hidden is not promised."
    )


def rate_only(report: PublicReport) -> str:
    """State why groups show their rates only."""
    groups = count(len(report.rate_only_groups), "group shows its rate", "groups show their rates")
    return (
        f"{groups} only. No limit can be told there: on one side of it or the other a reader would be surer than the "
        "ceiling allows, by this report or together with earlier ones, or too few rules would be left. Nothing within "
        f"such a group is told, and it is in no figure that needs {phrases.sensitive(report)}."
    )


def rest(report: PublicReport) -> str:
    """State which groups are shown together, and for whom the guarantee holds there."""
    groups = report.rest_groups
    joined = sum(group.joined or 0 for group in groups)
    fewest = count(report.policy.minimum_group_size, "person", "people")
    return (
        f"{count(joined, 'group')} of the log could not be shown on their own, since fewer than {fewest} are in them "
        f"or too much of {phrases.sensitive(report)} would be told. They are shown together, as "
        f"{count(len(groups), 'group')}: first those that agree in every protected attribute, then the remainders, "
        "with one protected attribute after the other given up. Such a group is named by the values that all in it "
        "share. Which groups are shown together was decided from numbers of people, never from the decisions. The "
        "guarantee holds there for readers who know only that somebody belongs to the group."
    )


def group_name(group: Group, report: PublicReport) -> str:
    """Name a group by its public values; a rest group by those it shares, those that meet in it, and the other
    attributes."""
    public = [a for a in report.attributes if a.role == "public"]
    mixed = group.mixed
    named = [
        group.public[a.name] if a.name in group.public else listed(mixed[a.name], last="or")
        for a in public
        if a.name in group.public or a.name in mixed
    ]
    other = [a.title for a in public if a.name not in group.public and a.name not in mixed]
    between = "; " if mixed else ", "
    rest = f"of {listed(other)} not shown on their own"
    return between.join([*named, rest] if named and other else named or [f"People {rest}"])
