"""The fidelity notes in words: what was altered, what that means for every figure, for whom the guarantee holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atr.documents.text import limits, phrases, promise, wording
from atr.programme import OWN_POPULATION
from atr.report.model import PublicReport

_Text = Callable[[PublicReport], str]


@dataclass(frozen=True, slots=True)
class NoteText:
    """A fidelity note in words."""

    title: str
    text: str


def texts(report: PublicReport) -> list[NoteText]:
    """The fidelity notes of a report in words, in its order."""
    return [NoteText(title, text(report)) for title, text in (NOTES[note.id] for note in report.notes)]


def _altered(report: PublicReport) -> str:
    """What was moved within the promise, and to what end."""
    return (
        f"{promise.fidelity(report)} {_name_of_promise(report)}Chances were moved only as far as it takes to keep "
        f"{phrases.sensitive(report)} private, and as few people’s as possible. {_objective(report)}"
    )


def _flattened(report: PublicReport) -> str:
    policy = report.policy
    return (
        f"{_groups(len(report.flattened_groups))} marked “flattened”. There a reader who knows only "
        f"{phrases.public(report)} and the numbers of people, without this report, can be surer of somebody’s "
        f"{phrases.sensitive(report)} than the ceiling allows ({phrases.ceilings(report)}). No alteration can change "
        "that, so these groups show the overall rate of each outcome, to the nearest percent, and nothing else. A "
        "reader who takes that for everybody’s chance is as sure after reading as before. Another reader may conclude "
        "more from the rates, one convinced that each rule is all or nothing for example. These groups are outside the "
        "promise on chances, and outside the ceiling and the confidence stated for other groups. Which groups are "
        "flattened was decided from the numbers of people and from the policy, never from the decisions. A group of "
        f"fewer than {wording.count(policy.minimum_group_size, 'person', 'people')} is left out and not flattened, "
        "because even its overall rates would tell of the decisions about a few people."
    )


def _coarsened(report: PublicReport) -> str:
    policy, counts = report.policy, report.coverage.groups
    by = wording.listed([a.title for a in report.attributes if a.coarse])
    first = next(value for a in report.attributes for value in a.coarse)
    return (
        f"{_groups(counts.coarsened)} marked “coarsened”, merged from {counts.merged:,} that could not be announced on "
        f"their own: fewer than {wording.count(policy.minimum_group_size, 'person', 'people')} are in them, or "
        f"{phrases.sensitive(report)} can be told {phrases.too_surely(report)} from the public "
        f"attributes alone. They were merged under coarser values of {by}, step by step along a hierarchy set "
        f"beforehand, as far as was needed. The coarser values are {phrases.coarse_values(report)}. Each is a category "
        f"of its own, in comparisons too: “{first}” means people whose own group could not be announced, never "
        "everybody that the words could describe, and finer values are without these people. Which groups are merged "
        "was decided from the numbers of people and from the policy, never from the decisions. A group that could be "
        "announced on its own was not touched."
    )


def _rates(report: PublicReport) -> str:
    flattened = report.flattened_groups
    if report.policy.group_rates != "exact":
        rounded = " The rates of a flattened group were only rounded, but the ranges do not count on it."
        return (
            "The share of each outcome within a group was free to move with the chances inside it, so rates of groups "
            "and the comparisons between them are altered too, within the promise above."
            f"{rounded if flattened else ''}"
        )
    return (
        "The share of each outcome within every group of people who share all public attributes was kept. So rates of "
        "groups, and comparisons of groups by public attributes, are the true ones up to rounding; only the rows "
        f"inside a group, by {phrases.sensitive(report)}, are blurred."
    )


def _ranges(report: PublicReport) -> str:
    kept = report.policy.group_rates == "exact"
    counted = (
        ", and from the group rates that were kept. A figure that is called exact is the true one up to rounding."
        if kept
        else ". A verdict is given only where the whole range lies on one side of the line."
    )
    anything = " The true chances within a flattened group are taken to be anything from 0 to 1."
    return (
        "Beside a fairness figure stands the range its true value must lie in. It follows from the announced chances "
        f"and the promise alone{counted}{anything if report.flattened_groups else ''}"
    )


def _guarantee(report: PublicReport) -> str:
    policy, privacy, sensitive = report.policy, report.privacy, phrases.sensitive(report)
    such = "Outside flattened groups such" if report.flattened_groups else "Such"
    computed = "Each figure was" if privacy.own_ceilings else "The figure was"
    confidence, prior = (wording.percent(x or 0.0) for x in (privacy.max_confidence, privacy.prior_confidence))
    if privacy.printed_confidence is not None:
        numbers = f"chances and the numbers of people in {policy.side_information}, and rounded up."
    elif policy.population_rounding == 1:
        numbers = "numbers and rounded up."
    else:
        numbers = "chances, once with the printed and once with the exact numbers of people; the larger was rounded up."
    return (
        f"{phrases.holds_for(report)} {such} a reader can be at most {confidence} sure of anybody’s {sensitive}; "
        f"knowing only {phrases.public(report)} and the numbers of people, without this report, already makes the same "
        f"reader up to {prior} sure. {''.join(f'{said} ' for said in promise.own_confidences(report))}"
        f"{computed} computed from the printed {numbers} It is an absolute confidence (β, maximum confidence), not the "
        "relative gain that “β-likeness” and some anonymisation tools call β."
    )


def _not_covered(report: PublicReport) -> str:
    hidden = [a.title for a in report.attributes if a.role == "sensitive"]
    another = "another private fact" if len(hidden) == 1 else f"one of {wording.listed(hidden)}"
    limits = ", the limits printed beside each rule for example" if report.fidelity.level is None else ""
    finer = (
        "For a reader who knows the finer values of somebody in a coarsened group, and how many of the people who "
        f"share them there are by {phrases.sensitive(report)}: such a reader starts from another base line and can be "
        "surer. "
    )
    return (
        "For a reader who works out how the figures were altered and reverses it: the method is public and draws "
        "nothing at random, so such a reader can be surer. For a reader convinced that each rule is all or nothing, or "
        f"otherwise sure of what the true chances can be{limits}. For a reader who knows more of a person than "
        f"{phrases.public(report)} and the outcome, {another} for example. {finer if report.coarsened_groups else ''}"
        "For a reader who compares this report with another one on the same people: an earlier version, or one of a "
        "period that shares days with this one. The report says nothing about them."
    )


def _whole_numbers(report: PublicReport) -> str:
    """State what a reader learns who also counts in whole people, whom the guarantee of chances does not cover."""
    readers = report.privacy.readers
    average, most = readers["whole_numbers"], readers.get("whole_numbers_at_most")
    told = "" if most in (None, average) else f"; the one rule that tells most would make it {wording.percent(most)}"
    above = (
        " That is above the ceiling: the publisher chose to state it." if average > report.policy.max_confidence else ""
    )
    return (
        "The chances are shares of whole people. A reader who remembers that, knows the exact numbers of people, what "
        "is promised of the chances and the rates, and thinks every rule in whole people that fits to be equally "
        f"likely, can be up to {wording.percent(average)} sure of somebody’s {phrases.sensitive(report)}{told}.{above} "
        "The guarantee does not cover this reader."
    )


def _exact(_report: PublicReport) -> str:
    return (
        "Where the true chances of a group already kept within the guarantee they are announced as they are, up to "
        "rounding. That a group’s own confidence lies below the guarantee can therefore mean that nothing was altered "
        "in it; that tells a reader nothing above the guarantee."
    )


def _rounding(report: PublicReport) -> str:
    digits, rounding = report.policy.digits, report.policy.population_rounding
    people = (
        "Numbers of people in announced groups are exact."
        if rounding == 1
        else f"Numbers of people of groups are rounded to the nearest {rounding}, those of a group’s rules down or up, "
        f"so that they add up to it; fewer than {rounding} are printed as “under {rounding}”, and other figures count "
        f"them as {rounding // 2}. Other totals are each rounded for themselves, and can differ from what they are "
        "made of."
    )
    decimals, of_limits = wording.count(digits, "decimal"), report.fidelity.kind == "limits"
    fractions = f"Chances and comparisons have {decimals} as fractions, rates"
    unprintable = " Where a promise would leave no printable value, it means: within one unit of the last digit."
    if of_limits:
        fractions = (
            f"Comparisons have {decimals} as fractions, expected chances as many as the numbers of people in their "
            "group and its limits allow; rates"
        )
    taken = "the announced chances"
    if of_limits:
        taken = "the true rates of groups, from expected chances within them"
    return (
        f"{people} {fractions} of groups are to the nearest percent. Rates and comparisons were computed from {taken} "
        f"and the exact numbers of people{'' if rounding == 1 else ', before these were rounded'}. "
        f"{_from_print(report)} Numbers are rounded to the nearest, halves up; "
        f"ranges{' and intervals' if any(e.sampling for e in report.fairness) else ''} outwards."
        f"{'' if of_limits else unprintable}"
    )


def _from_print(report: PublicReport) -> str:
    """Which figures were computed from other figures as these are printed, as a sentence."""
    of = report.fairness
    found = (
        ("figures over all classes", any(e.summary for e in of)),
        ("yardsticks of leakage", True),
        ("influence", True),
        ("shortfalls", any(e.shortfall for e in of)),
        ("sampling intervals and p values", any(e.sampling for e in of)),
        ("individual fairness", any(e.pair for e in of)),
    )
    said = wording.raised(wording.listed([what for what, there in found if there]))
    return f"{said} were computed from chances, figures and numbers of people as printed."


def _side_information(report: PublicReport) -> str:
    privacy, source, sensitive = report.privacy, report.policy.side_information, phrases.sensitive(report)
    if source == OWN_POPULATION:
        return (
            f"The shares of people by {sensitive} within each group are those of the people in this report. A reader "
            "with other figures, a census for example, may start from another base line."
        )
    by_printed = (
        ""
        if privacy.printed_confidence is None
        else f" One who takes the numbers of people printed in this report instead can be at most "
        f"{wording.percent(privacy.printed_confidence)} sure; the ceiling holds for that reader too."
    )
    return (
        f"The shares of people by {sensitive} within each group are those of {source}. They stand beside each rule in "
        "announced_rules.csv and report.json (“known”), and cover every group that is announced. Rates and comparisons "
        f"are of the people who were decided about, not of {source}.{by_printed} A reader with other figures may start "
        "from another base line."
    )


def _missing(report: PublicReport) -> str:
    policy, counts, sensitive = report.policy, report.coverage.groups, phrases.sensitive(report)
    missing = []
    if counts.withheld_for_size:
        them = "it" if counts.withheld_for_size == 1 else "each of them"
        missing.append(
            f"{_groups(counts.withheld_for_size)} left out because fewer than {policy.minimum_group_size} people are "
            f"in {them}."
        )
    if counts.withheld:
        alone = "numbers of people and rates" if report.fidelity.kind == "limits" else "the public attributes"
        missing.append(
            f"{_groups(counts.withheld)} left out because {sensitive} can be told {phrases.too_surely(report)} from "
            f"{alone} alone, before any report: this report must not add to that. "
            f"{'It is' if counts.withheld == 1 else 'They are'} named, without numbers."
        )
    if missing and policy.unattainable == "coarsen":
        missing.append(
            "Merging under coarser values did not help there; groups alike in their coarsest values are counted as one."
        )
    if missing:
        missing.append(
            "Who is left out was decided from the numbers of people and from the policy, never from the decisions. "
            "People who are left out count only in the number of decisions and of rows, rounded to the nearest "
            f"{max(policy.minimum_group_size, policy.population_rounding)} so that nobody can be found by "
            f"subtraction, and in the share of decisions that are in announced groups, {phrases.share_step(report)}. "
            "No other figure of this report contains them."
        )
    else:
        together = ", some of them together with others" if report.rest_groups else ""
        merged = ", some of them merged" if counts.coarsened else together
        missing.append(f"Nobody: every group is announced{merged}.")
    return " ".join(missing)


def _notice(_report: PublicReport) -> str:
    return (
        "It is a general notice about a system. It does not explain the decision about any one person, who may have a "
        "right to that explanation (in the European Union under Article 15 of the General Data Protection Regulation)."
    )


def _name_of_promise(report: PublicReport) -> str:
    kind, level = report.fidelity.kind, report.fidelity.level
    if level is None:
        return "The limits were declared for each rule; they stand beside it in announced_rules.csv and report.json. "
    return f"This is {wording.PROMISE_SYMBOLS[kind]}-fidelity {level:g}. "


def _objective(report: PublicReport) -> str:
    (floor,) = (report.policy.fidelity or {"": None}).values()
    if report.policy.objective == "privacy":
        within = "At this fidelity" if floor is not None else "Within the limits"
        measured = ", measured against its ceiling" if phrases.has_own_ceilings(report) else ""
        return f"{within} the confidence a reader can reach was made as small as possible{measured}."
    if floor is None:
        return f"They were moved no further than the ceiling on the confidence, {phrases.ceilings(report)}, demands."
    return (
        f"The promise is the strictest step of a fixed ladder that the ceiling allows; the policy’s floor is {floor:g}."
    )


def _groups(count: int) -> str:
    return wording.count(count, "group is", "groups are")


def _corrections_wait(report: PublicReport) -> str:
    return (
        "Rows of the log were corrected, added or removed since the version before. Groups in which too few people "
        "changed are printed as they were: whoever has both versions could tell whose decision it was. They "
        "are brought up to date once enough people have changed."
    )


def _or_of_limits(plain: _Text, of_limits: _Text) -> _Text:
    """Take the second text for a report that tells limits, else the first."""
    return lambda report: (of_limits if report.fidelity.kind == "limits" else plain)(report)


NOTES: dict[str, tuple[str, _Text]] = {
    "altered": ("What was altered, and by how much at most", _altered),
    "limits": ("What is told", limits.told),
    "rate_only": ("Groups that show their rates only", limits.rate_only),
    "rest": ("Groups of people who are shown together", limits.rest),
    "flattened": ("Groups that are flattened", _flattened),
    "coarsened": ("Groups that are coarsened", _coarsened),
    "rates": ("What was not altered", _or_of_limits(_rates, limits.rates)),
    "ranges": ("How the ranges follow", _or_of_limits(_ranges, limits.ranges)),
    "guarantee": ("For whom the guarantee holds", _or_of_limits(_guarantee, limits.covered)),
    "not_covered": ("For whom it does not hold", _or_of_limits(_not_covered, limits.not_covered)),
    "whole_numbers": ("A reader who counts in whole people", _whole_numbers),
    "earlier": ("What earlier reports add", limits.earlier),
    "sizes": ("Exact numbers of people", limits.sizes),
    "exact": ("Groups announced as they are", _exact),
    "rounding": ("Rounding", _rounding),
    "side_information": ("What a reader is assumed to know", _side_information),
    "corrections_wait": ("Small corrections wait", _corrections_wait),
    "missing": ("Who is left out", _missing),
    "notice": ("What this report is not", _notice),
}
"""By the id of a note its title and its text."""
