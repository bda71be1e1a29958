"""What a report promises, in sentences: how private it is and for whom, and how close its numbers are."""

from __future__ import annotations

from collections import Counter

from atr.documents.text.words import Words

NARROW = 0.1
"""Limits at most so far apart are called narrow."""


def own_ceilings(words: Words) -> list[tuple[str, float]]:
    """The ceilings stricter than the policy's: what they are of (an attribute, or a set of its values), probability."""
    return [(under(words, name, of), own) for a in words.report.attributes for name, of, own in a.own_ceilings]


def under(words: Words, attribute: str, of_set: str | None) -> str:
    """Name what a ceiling applies to, within a sentence."""
    title = words.attributes[attribute].title
    return title if of_set is None else words.say("“{set}” in {attribute}", set=of_set, attribute=title)


def ceilings(words: Words) -> str:
    """The ceiling of the policy, then the stricter ones, within a sentence."""
    percent = words.language.percent
    own = (words.say("for {what} {ceiling}", what=what, ceiling=percent(own)) for what, own in own_ceilings(words))
    return words.listed([percent(words.report.policy.max_confidence), *own])


def privacy(words: Words) -> list[str]:
    """State the guarantee of privacy, which readers it covers, and what is known without the report."""
    if words.report.fidelity.kind == "limits":
        return [*_privacy_of_limits(words), *_by_rates(words)]
    return [*_privacy_at_face_value(words), *_flattened(words)]


def _privacy_of_limits(words: Words) -> list[str]:
    report, say, percent = words.report, words.say, words.language.percent
    sure, prior, readers = report.privacy.max_confidence, report.privacy.prior_confidence, report.privacy.readers
    if sure is None or prior is None:
        return [say("No limits are told, so there is nothing to infer from them.")]
    said = [
        say(
            "A reader who knows somebody’s public attributes ({public}) and outcome, all numbers of people and rates, "
            "the method and its code can be at most {sure} sure of a sensitive attribute ({sensitive}).",
            public=words.public,
            sure=percent(sure),
            sensitive=words.sensitive,
        ),
        say(
            "This covers readers who beforehand think every number equally likely, expect numbers near 0 or near 100 "
            "in 100, or expect sensitive attributes to make no difference."
        ),
    ]
    if "face_value" in readers:
        said.append(say("It covers readers who take the printed numbers at face value."))
    if "earlier" in readers:
        said.append(
            say("It covers readers who remember earlier reports on this log and take their limits to hold still.")
        )
    known = (
        say(
            "Where limits are told, numbers of people and rates alone make the surest of them {prior} sure, so limits "
            "add nothing there.",
            prior=percent(prior),
        )
        if prior >= sure
        else say(
            "Where limits are told, numbers of people and rates alone make the surest of them {prior} sure.",
            prior=percent(prior),
        )
    )
    ceiling = say("No limit and no rate brings such a reader above the ceiling, {ceilings}.", ceilings=ceilings(words))
    if report.privacy.by_rates:
        ceiling = say("No limit brings such a reader above the ceiling, {ceilings}.", ceilings=ceilings(words))
    return [*said, known, ceiling]


def _by_rates(words: Words) -> list[str]:
    of = words.report.privacy.by_rates
    if of is None:
        return []
    return [
        words.say_n(
            "In {n} group the numbers of people and rates of several reports alone make a reader who takes rules for "
            "unchanged up to {sure} sure; nothing but the rate is told there.",
            "In {n} groups the numbers of people and rates of several reports alone make a reader who takes rules for "
            "unchanged up to {sure} sure; nothing but the rate is told there.",
            of.groups,
            sure=words.language.percent(of.max_confidence),
        )
    ]


def _privacy_at_face_value(words: Words) -> list[str]:
    report, say, percent = words.report, words.say, words.language.percent
    known = report.privacy
    if known.max_confidence is None:
        return [] if report.flattened_groups else [say("No rule is told, so there is nothing to infer from.")]
    said = [
        say(
            "A reader who knows somebody’s public attributes ({public}) and outcome and all numbers of people, and "
            "takes the printed rules for the true ones, can be at most {sure} sure of a sensitive attribute "
            "({sensitive}).",
            public=words.public,
            sure=percent(known.max_confidence),
            sensitive=words.sensitive,
        )
    ]
    if known.prior_confidence is not None:
        prior, more = percent(known.prior_confidence), known.max_confidence > known.prior_confidence
        said.append(
            say("Without this report the same reader is up to {prior} sure.", prior=prior)
            if more
            else say(
                "Without this report the same reader is up to {prior} sure, so it adds nothing in the worst group.",
                prior=prior,
            )
        )
    said.append(say("The ceiling is {ceilings}.", ceilings=ceilings(words)))
    said += _own_confidences(words)
    if known.printed_confidence is not None:
        said.append(
            say(
                "That is of a reader who knows the numbers of people from {source}; one who takes the numbers printed "
                "here can be at most {sure} sure.",
                source=report.policy.side_information,
                sure=percent(known.printed_confidence),
            )
        )
    if report.flattened_groups:
        said.append(say("All of this holds outside flattened groups."))
    return said


def _own_confidences(words: Words) -> list[str]:
    """For each ceiling stricter than that of the policy, how sure a reader can be."""
    percent, found = words.language.percent, []
    for own in words.report.privacy.own_ceilings:
        of = {"what": under(words, own.attribute, own.set), "prior": percent(own.prior_confidence)}
        found.append(
            words.say(
                "{what}: at most {sure} sure; without this report, {prior}.", sure=percent(own.max_confidence), **of
            )
            if own.prior_confidence
            else words.say("{what}: nobody in the groups that tell rules.", what=of["what"])
        )
    return found


def _flattened(words: Words) -> list[str]:
    groups = len(words.report.flattened_groups)
    if not groups:
        return []
    return [
        words.say_n(
            "In {n} flattened group a reader can be surer than the ceiling allows ({ceilings}) from numbers of people "
            "alone; only its rate is shown.",
            "In {n} flattened groups a reader can be surer than the ceiling allows ({ceilings}) from numbers of people "
            "alone; only their rates are shown.",
            groups,
            ceilings=ceilings(words),
        )
    ]


def not_covered(words: Words) -> list[str]:
    """For which readers the guarantee does not hold, an item each."""
    report, say = words.report, words.say
    secrets = [a.title for a in report.attributes if a.role == "sensitive"]
    more = say("who know more of a person than public attributes and the outcome")
    if len(secrets) > 1:
        more = say(
            "who know more of a person than public attributes and the outcome, such as another sensitive attribute "
            "({sensitive})",
            sensitive=words.sensitive,
        )
    if report.fidelity.kind == "limits":
        rest = [say("who know somebody’s finer group, where groups are shown together")] if report.rest_groups else []
        return [
            say("who think of the rules in another way: that numbers rise from step to step, for example"),
            more,
            say("who know outcomes of other people"),
            *rest,
            say("who take rules to stay the same over many periods: their numbers of people and rates can tell much"),
            say(
                "who subtract another report on the same people from this one: of a period that shares days with it, "
                "of another programme on the same log, or of other divisions of it"
            ),
        ]
    return [
        say("who work out how numbers were altered and reverse it: the method is public and nothing in it is random"),
        say("who are sure of what the true numbers can be: all or nothing, for example"),
        *([say("who rely on the limits printed beside each rule")] if report.fidelity.kind == "ranges" else []),
        more,
        *_knows_finer_values(words),
        *_counts_in_people(words),
        say("who compare this report with another on the same people: an earlier version, or one that shares days"),
    ]


def _knows_finer_values(words: Words) -> list[str]:
    if not words.report.coarsened_groups:
        return []
    return [words.say("who know somebody’s finer values in a coarsened group, and how many people share them")]


def _counts_in_people(words: Words) -> list[str]:
    report, percent = words.report, words.language.percent
    sure = report.privacy.readers.get("whole_numbers")
    if sure is None:
        return []
    if sure > report.policy.max_confidence:
        return [
            words.say(
                "who count in whole people: up to {sure} sure, above the ceiling, which the publisher chose to state",
                sure=percent(sure),
            )
        ]
    return [words.say("who count in whole people: up to {sure} sure", sure=percent(sure))]


def closeness(words: Words) -> list[str]:
    """State how close the printed numbers within groups are to the true ones, and for how many people."""
    report = words.report
    if report.fidelity.kind == "limits":
        return _closeness_of_limits(words)
    if report.flattened_groups and len(report.flattened_groups) == len(report.announced_groups):
        return [words.say("Every group shows its rate alone; nothing is promised of the numbers within it.")]
    outside = words.say("Flattened groups show their rate alone and are outside this promise.")
    return [_promise(words), *([outside] if report.flattened_groups else [])]


def _promise(words: Words) -> str:
    promised, say, number = words.report.fidelity, words.say, words.language.number
    level, change = promised.level, promised.largest_change
    if change == 0 or (change is None and level == 1):
        return say("Every number is the true one, to its last printed digit.")
    if change is not None:
        by = words.language.points(change)
        return say("No printed number in 100 differs from the true one by more than {points}.", points=by)
    if level is not None:
        high = inverse(words, level)
        return say("Every printed number is {low} to {high} times the true one.", low=number(level), high=high)
    return say("Every number, true and printed, lies within limits that were set beforehand.")


def _closeness_of_limits(words: Words) -> list[str]:
    people = Counter[str]()
    for _, region, _ in words.report.announced_regions:
        low, high = (0.0, 1.0) if region.limits is None else region.limits[words.report.positive]
        people["all"] += region.people
        people["narrow"] += region.people * (round(high - low, 6) <= NARROW)
        people["none"] += region.people * (region.limits is None)
    narrow, none = (round(100 * people[kind] / max(1, people["all"])) for kind in ("narrow", "none"))
    said = [words.say("Every true number in 100 lies between its limits, without exception.")]
    if narrow:
        apart = words.language.points(NARROW)
        share = words.language.number(narrow)
        said.append(
            words.say(
                "For about {share} in 100 of the people shown, limits are at most {points} apart.",
                share=share,
                points=apart,
            )
        )
    if none:
        share = words.language.number(none)
        said.append(words.say("For about {share} in 100 none are told, only the rate of their group.", share=share))
    return [*said, words.say("A number beside limits is what a reader who knows them expects, and no finding.")]


def inverse(words: Words, share: float) -> str:
    """Write one over a number: in decimals where they are few, else as a fraction."""
    value = 1 / share
    number = words.language.number
    return number(value) if len(repr(value)) <= 6 else f"1/{number(share)}"
