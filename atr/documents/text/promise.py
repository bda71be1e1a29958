"""The promise of fidelity and the guarantee of privacy, described for every place that tells of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from atr.documents.text import phrases
from atr.documents.text.wording import (
    PROMISE_SYMBOLS,
    count,
    inverse,
    number,
    percent,
    percentage_points,
    plural,
    points,
)
from atr.report.model import FidelityInfo, PublicReport

NARROW = 0.1
"""Limits at most so far apart are called narrow."""
_DEFINITIONS = {
    "delta": "The promise is called δ-fidelity, with δ = {}: the announced and the true chance differ by at most "
    "1 − δ.",
    "alpha": "The promise is called α-fidelity, with α = {}: the ratio of the announced and the true chance lies "
    "between α and 1/α.",
    "ranges": "The publisher declared these limits for every decision region; the true and the announced chance both "
    "lie within them, up to rounding. They are in announced_rules.csv.",
    "limits": "",
}


def described(report: PublicReport) -> dict[str, Any]:
    """Describe the promise of fidelity.

    Returns
    -------
    ``figure``: the promise, such as "± 5 points"; ``demanded``: the fidelity that the policy demands; ``definition``:
    its name and meaning, empty where nothing is promised; ``fidelity``, ``guarantee``: sentences on both;
    ``own_confidences``: sentences on ceilings of single attributes and sets.
    """
    promised, nothing = report.fidelity, not any(group.regions for group in report.announced_groups)
    level = 0.0 if promised.level is None else promised.level
    if nothing:
        figure = "none"
    elif promised.level == 1 or promised.largest_change == 0:
        figure = "exact"
    elif promised.kind == "alpha":
        figure = f"× {number(level)} to {inverse(level)}"
    elif promised.largest_change is None:
        figure = "within limits"
    else:
        figure = f"± {plural(points(promised.largest_change), 'point')}"
    demanded = [
        "limits declared for each rule" if least is None else f"{PROMISE_SYMBOLS.get(kind, kind)} = {number(least)}"
        for kind, least in (report.policy.fidelity or {}).items()
    ]
    if report.policy.step is not None:
        demanded.append(f"limits {points(report.policy.step)} in 100 apart")
    definition = "" if nothing else _DEFINITIONS[promised.kind].format(number(level))
    return {
        "figure": figure,
        "demanded": ", ".join(demanded),
        "definition": definition,
        "fidelity": fidelity(report),
        "guarantee": guarantee(report),
        "own_confidences": own_confidences(report),
    }


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
    if report.fidelity.kind == "limits":
        return _of_limits(report)
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


def _of_limits(report: PublicReport) -> str:
    """State what limits promise, and for how many of the announced people they are narrow, or told at all."""
    people = Counter[str]()
    for _, region, _ in report.announced_regions:
        low, high = (0.0, 1.0) if region.limits is None else region.limits[report.positive]
        people["all"] += region.people
        people["narrow"] += region.people * (round(high - low, 6) <= NARROW)
        people["none"] += region.people * (region.limits is None)
    narrow, none = (round(100 * people[kind] / max(1, people["all"])) for kind in ("narrow", "none"))
    said = "Every true chance lies between the printed limits."
    if narrow:
        said += f" For about {narrow} in 100 of the people shown they are at most {points(NARROW)} in 100 apart."
    if none:
        said += f" For about {none} in 100 no limits are told, only the rate of their group."
    return said


def guarantee(report: PublicReport) -> str:
    """State the guarantee of privacy, and what is known without the report."""
    if report.fidelity.kind == "limits":
        return _guarantee_of_limits(report)
    privacy, flattened = report.privacy, report.flattened_groups
    if not flattened:
        return _guarantee(report)
    where = count(len(flattened), "group that is", "groups that are")
    said = (
        f"In the {where} marked “flattened” a reader can be surer than the ceiling allows ({phrases.ceilings(report)}) "
        "from prior knowledge alone; only their rates are shown."
    )
    return said if privacy.max_confidence is None else f"{_guarantee(report)} That is outside flattened groups. {said}"


def _guarantee_of_limits(report: PublicReport) -> str:
    sure, prior = report.privacy.max_confidence, report.privacy.prior_confidence
    if sure is None:
        return f"No limits are told, so there is nothing to infer from them. {phrases.by_rates(report)}".strip()
    said = (
        "A reader who knows a person’s public attributes and outcome, all numbers of people and rates, and how this "
        "report is made, and who thinks of the rules in one of three ways (they are named under “For whom the "
        f"guarantee holds”), can be at most {percent(sure)} sure of the person’s {phrases.sensitive(report)}"
    )
    if report.rate_only_groups:
        ceiling = percent(report.policy.max_confidence)
        said += (
            f" where limits are told; where a rate alone is told, such a reader is not above the ceiling of {ceiling}"
        )
    said += "."
    for name, of_set, own in phrases.own_ceilings(report):
        said += f" Of {phrases.under(report, name, of_set)} no such reader is surer than {percent(own)}."
    if prior is not None:
        nothing = "; limits make no such reader surer" if prior >= sure else ""
        where = "Where limits are told, numbers" if report.rate_only_groups else "Numbers"
        said += f" {where} of people and rates alone make such a reader up to {percent(prior)} sure{nothing}."
    return f"{said} Who thinks of the rules in another way can be surer. {phrases.by_rates(report)}".strip()


def _guarantee(report: PublicReport) -> str:
    privacy = report.privacy
    if privacy.max_confidence is None:
        return "No rule is announced, so there is nothing to infer from."
    base = "" if privacy.prior_confidence is None else f"; without this report, {percent(privacy.prior_confidence)}"
    said = [
        "A reader who takes these rules at face value, and knows a person’s public attributes and outcome, can be "
        f"at most {percent(privacy.max_confidence)} sure of a person’s {phrases.sensitive(report)}{base}.",
        *own_confidences(report),
    ]
    if privacy.printed_confidence is not None:
        said.append(
            f"That is for a reader who knows the numbers of people from {report.policy.side_information}; one who "
            f"takes the numbers printed here can be at most {percent(privacy.printed_confidence)} sure."
        )
    whole = privacy.readers.get("whole_numbers")
    if whole is not None:
        said.append(f"One who counts in whole people can be up to {percent(whole)} sure.")
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
        ceiling = f"The ceiling for {phrases.under(report, own.attribute, own.set)} is {percent(own.ceiling)}, and"
        found.append(
            f"{ceiling} such a reader can be at most {percent(own.max_confidence)} sure of it; without this report, "
            f"{percent(own.prior_confidence)}."
            if own.prior_confidence
            else f"{ceiling} nobody {where} is in it."
        )
    return tuple(found)
