"""The fidelity notes: what was perturbed, what that means for every figure, and for whom the guarantee holds.

Written from the public report alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from atr.programme import OWN_POPULATION
from atr.report import wording
from atr.report.model import Note, PublicReport

_HOW_MOVED = {
    "optimal": "Chances were moved only as far as it takes to keep {sensitive} private, and as few people’s as "
    "possible.",
}
"""By the mechanism. A new mechanism has its sentence here."""


def fidelity_notes(report: PublicReport) -> tuple[Note, ...]:
    """The fidelity notes.

    Parameters
    ----------
    report
        A report whose numbers are complete.

    Returns
    -------
    The notes in order, each with an id, a title and its text.
    """
    return tuple(Note(id=key, title=title, text=text) for key, title, text in _notes(report))


def _notes(report: PublicReport) -> Iterator[tuple[str, str, str]]:
    policy, counts = report.policy, report.coverage.groups
    sensitive = wording.sensitive(report)
    public = wording.listed([a.title for a in report.attributes if a.role == "public"])
    if counts.announced:
        yield from _announced(report, sensitive, public)
    missing = []
    if counts.withheld_for_size:
        them = "it" if counts.withheld_for_size == 1 else "each of them"
        missing.append(
            f"{_groups(counts.withheld_for_size)} left out because fewer than {policy.minimum_group_size} people are "
            f"in {them}."
        )
    if counts.withheld:
        missing.append(
            f"{_groups(counts.withheld)} left out because {sensitive} can be told {wording.too_surely(report)} from "
            "the public attributes alone, before any report: this report must not add to that. "
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
            f"subtraction, and in the share of decisions that are in announced groups, {wording.share_step(report)}. "
            "No other figure of this report contains them."
        )
    else:
        missing.append("Nobody: every group is announced" + (", some of them merged." if counts.coarsened else "."))
    yield "missing", "Who is left out", " ".join(missing)
    yield (
        "notice",
        "What this report is not",
        "It is a general notice about a system. It does not explain the decision about any one person, who may have a "
        "right to that explanation (in the European Union under Article 15 of the General Data Protection Regulation).",
    )


def _announced(report: PublicReport, sensitive: str, public: str) -> Iterator[tuple[str, str, str]]:
    policy, flattened = report.policy, report.flattened_groups
    steps = _steps_of_rate(policy.digits, outcomes=len(report.outcomes))
    if len(flattened) < len(report.announced_groups):
        how = (
            f"{_name_of_promise(report)}{_HOW_MOVED[policy.mechanism].format(sensitive=sensitive)} {_objective(report)}"
        )
        yield "altered", "What was altered, and by how much at most", f"{wording.fidelity(report)} {how}"
    if flattened:
        yield _flattened(report, sensitive, public)
    if report.coarsened_groups:
        yield _coarsened(report, sensitive, public)
    if policy.group_rates == "exact":
        yield (
            "rates",
            "What was not altered",
            "The share of each outcome within every group of people who share all public attributes was kept. So rates "
            "of groups, and comparisons of groups by public attributes, are the true ones up to rounding; only the "
            "rows inside a group, by "
            + sensitive
            + ", are blurred."
            + (
                f" Of a flattened group the rates are told only {steps}, so figures that contain such a group have a "
                "range."
                if flattened
                else ""
            ),
        )
    else:
        yield (
            "rates",
            "Rates of groups",
            "The share of each outcome within a group was free to move with the chances inside it, so rates of groups "
            "and the comparisons between them are altered too, within the promise above."
            + (
                " The rates of a flattened group were only rounded, but the ranges do not count on it."
                if flattened
                else ""
            ),
        )
    yield (
        "ranges",
        "How the ranges follow",
        "Beside a fairness figure stands the range its true value must lie in. It follows from the announced chances "
        "and the promise alone"
        + (
            ", and from the group rates that were kept. A figure that is called exact is the true one up to rounding."
            if policy.group_rates == "exact"
            else ". A verdict is given only where the whole range lies on one side of the line."
        )
        + (" The true chances within a flattened group are taken to be anything from 0 to 1." if flattened else ""),
    )
    if len(flattened) < len(report.announced_groups):
        yield from _guarantee(report, sensitive, public)
    yield from _printed(report, sensitive)


def _flattened(report: PublicReport, sensitive: str, public: str) -> tuple[str, str, str]:
    policy = report.policy
    return (
        "flattened",
        "Groups that are flattened",
        f"{_groups(len(report.flattened_groups))} marked “flattened”. There a reader who knows only {public} and the "
        f"numbers of people, without this report, can be surer of somebody’s {sensitive} than the ceiling, "
        f"{wording.above(report)}. So only the overall rate of each outcome in the group is shown. These groups are "
        "outside "
        "the promise on chances, and outside the ceiling and the confidence stated for other groups. Which "
        "groups are flattened was decided from the numbers of people and from the policy, never from the decisions. A "
        f"group of fewer than {wording.count(policy.minimum_group_size, 'person', 'people')} is left out and not "
        "flattened, because even its overall rates would tell of the decisions about a few people.",
    )


def _coarsened(report: PublicReport, sensitive: str, public: str) -> tuple[str, str, str]:
    policy, counts = report.policy, report.coverage.groups
    by = wording.listed([a.title for a in report.attributes if a.coarse])
    first = next(value for a in report.attributes for value in a.coarse)
    return (
        "coarsened",
        "Groups that are coarsened",
        f"{_groups(counts.coarsened)} marked “coarsened”, merged from {counts.merged:,} that could not be announced on "
        f"their own: fewer than {wording.count(policy.minimum_group_size, 'person', 'people')} are in them, or "
        f"{sensitive} can be told {wording.too_surely(report)} from the public "
        f"attributes alone. They were merged under coarser values of {by}, step by step along a hierarchy set "
        f"beforehand, as far as was needed. The coarser values are {wording.coarse_values(report)}. Each is a category "
        f"of its own, in comparisons too: “{first}” means people whose own group could not be announced, never "
        "everybody that the words could describe, and finer values are without these people. Which groups are merged "
        "was decided from the numbers of people and from the policy, never from the decisions. A group that could be "
        "announced on its own was not touched.",
    )


def _guarantee(report: PublicReport, sensitive: str, public: str) -> Iterator[tuple[str, str, str]]:
    policy, privacy = report.policy, report.privacy
    such = "Outside flattened groups such" if report.flattened_groups else "Such"
    computed = "Each figure was" if privacy.own_ceilings else "The figure was"
    hidden = [a.title for a in report.attributes if a.role == "sensitive"]
    another = "another private fact" if len(hidden) == 1 else f"one of {wording.listed(hidden)}"
    confidence = wording.percent(privacy.max_confidence or 0.0)
    prior = wording.percent(privacy.prior_confidence or 0.0)
    yield (
        "guarantee",
        "For whom the guarantee holds",
        f"{wording.holds_for(sensitive, known_from=policy.side_information)} "
        f"{such} a reader can be at most {confidence} sure of anybody’s {sensitive}; "
        f"knowing only {public} and the numbers of people, without this report, already makes the same reader up to "
        f"{prior} sure. {''.join(f'{said} ' for said in wording.own_confidences(report))}"
        f"{computed} computed from the printed "
        + (
            f"chances and the numbers of people in {policy.side_information}, and rounded up. "
            if privacy.printed_confidence is not None
            else "numbers and rounded up. "
            if policy.population_rounding == 1
            else "chances, once with the printed and once with the exact numbers of people; the larger was rounded up. "
        )
        + "It is an absolute confidence (β, maximum confidence), not the relative gain that “β-likeness” and some "
        "anonymisation tools call β.",
    )
    yield (
        "limits",
        "For whom it does not hold",
        "For a reader who works out how the figures were altered and reverses it: the method is public and "
        "draws nothing at random, so such a reader can be surer. For a reader convinced that each rule is all or "
        "nothing, or otherwise sure of what the true chances can be"
        + (", the limits printed beside each rule for example" if report.fidelity.level is None else "")
        + f". For a reader who knows more of a person than {public} and the outcome, {another} for example. "
        + (
            "For a reader who knows the finer values of somebody in a coarsened group, and how many of the people who "
            f"share them there are by {sensitive}: such a reader starts from another base line and can be surer. "
            if report.coarsened_groups
            else ""
        )
        + "For a reader who compares this report with another one on the same people: an earlier version, or one of a "
        "period that shares days with this one. The report says nothing about them.",
    )
    yield (
        "exact",
        "Groups announced as they are",
        "Where the true chances of a group already kept within the guarantee they are announced as they are, up to "
        "rounding. That a group’s own confidence lies below the guarantee can therefore mean that nothing was altered "
        "in it; that tells a reader nothing above the guarantee.",
    )


def _printed(report: PublicReport, sensitive: str) -> Iterator[tuple[str, str, str]]:
    digits, rounding = report.policy.digits, report.policy.population_rounding
    people = (
        "Numbers of people in announced groups are exact."
        if rounding == 1
        else f"Numbers of people are rounded to the nearest {rounding} for every announced rule, and are at least "
        f"{rounding} there; the numbers of groups are what these add up to."
    )
    yield (
        "rounding",
        "Rounding",
        f"{people} Chances and comparisons have {wording.count(digits, 'decimal')} as fractions, rates of groups are "
        "to the nearest percent. Rates and comparisons were computed from the announced chances and the exact numbers "
        "of people"
        + ("" if rounding == 1 else ", before these were rounded")
        + f". {_from_print(report)} Numbers are rounded to the nearest, halves up; ranges"
        + (" and intervals" if any(e.sampling for e in report.fairness) else "")
        + " outwards. Where a promise would leave no printable value, it means: within one unit of the last digit.",
    )
    yield "side-information", "What a reader is assumed to know", _side_information(report, sensitive)


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


def _side_information(report: PublicReport, sensitive: str) -> str:
    privacy, source = report.privacy, report.policy.side_information
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


def _name_of_promise(report: PublicReport) -> str:
    kind, level = report.fidelity.kind, report.fidelity.level
    if level is None:
        return "The limits were declared for each rule; they stand beside it in announced_rules.csv and report.json. "
    return f"This is {wording.PROMISE_SYMBOLS[kind]}-fidelity {level:g}. "


def _objective(report: PublicReport) -> str:
    (floor,) = (report.policy.fidelity or {"": None}).values()
    if report.policy.objective == "privacy":
        within = "At this fidelity" if floor is not None else "Within the limits"
        measured = ", measured against its ceiling" if wording.has_own_ceilings(report) else ""
        return f"{within} the confidence a reader can reach was made as small as possible{measured}."
    if floor is None:
        return f"They were moved no further than the ceiling on the confidence, {wording.ceilings(report)}, demands."
    return (
        f"The promise is the strictest step of a fixed ladder that the ceiling allows; the policy’s floor is {floor:g}."
    )


def _groups(count: int) -> str:
    return wording.count(count, "group is", "groups are")


def _steps_of_rate(digits: int, *, outcomes: int) -> str:
    """The steps that rates printed as chances are rounded to, in words.

    >>> _steps_of_rate(3, outcomes=2), _steps_of_rate(1, outcomes=3)
    ('to the nearest percent', 'to steps of 10\\xa0% that add up to 100\\xa0%')
    """
    step = "percent" if digits > 1 else f"10{wording.NBSP}%"
    if outcomes == 2:
        return f"to the nearest {step}"
    return f"to {'whole percents' if digits > 1 else f'steps of {step}'} that add up to 100{wording.NBSP}%"
