"""What changed since an earlier report, in words."""

from __future__ import annotations

from atr.documents.text import phrases, wording
from atr.documents.text.wording import listed, number, percent_decimals, points
from atr.report.model import Change, Margin, NotCompared, PublicReport

_NAMED = 5
_GROUPS = {"no_earlier_figure": "have no earlier figure", "no_figure_now": "have no figure now"}


def change(report: PublicReport, found: Change) -> str:
    """State a figure beside the earlier one, and whether it has changed."""
    digits, (group, base), both = min(report.policy.digits, 3), found.groups, (found.value, found.previous)
    if found.is_ratio:
        values = ["no ratio" if x is None else number(x, decimals=digits) for x in both]
        return f"{group}: the ratio to {base} is {values[0]}, and was {values[1]}. {_told(found.flagged)}"
    values = ["none" if x is None else points(x, decimals=percent_decimals(digits)) for x in both]
    what = "distance of outcomes" if len(report.outcomes) > 2 else "distance of rates"
    return f"{group}: the {what} from {base} is {values[0]} points, and was {values[1]}. {_told(found.flagged)}"


def margin(report: PublicReport, found: Margin) -> str:
    """State how far the ratio furthest from 1 lies from its line, now and in the earlier report."""

    def lies(margin: float, threshold: float) -> str:
        far = number(abs(margin), decimals=min(report.policy.digits, 3))
        return f"{far} {'within' if margin >= 0 else 'beyond'} the line of {number(threshold)}"

    was = found.previous_groups
    other = "" if {*was} == {*found.groups} else f" that of {was[0]} against {was[1]} was,"
    return (
        f"Of the ratios by {_title(report, found.attribute)}, that of {found.groups[0]} against {found.groups[1]} is "
        f"furthest from 1: {lies(found.value, found.threshold)} ({wording.rule_at(found.threshold)}); in the earlier "
        f"report{other} {lies(found.previous, found.previous_threshold)}. {_told(found.flagged)}"
    )


def not_compared(report: PublicReport, found: NotCompared) -> str:
    """State what is not set beside earlier figures, and why."""
    if found.reason == "outcome_changed":
        return f"The favourable outcome was “{found.previous}” and is now “{found.now}”."
    by = f"By {_title(report, found.attribute or '')}"
    if found.reason == "reference_changed":
        return f"{by} the reference was {found.previous} and is now {found.now}: ratios are not compared."
    if found.reason in _GROUPS:
        said = _GROUPS[found.reason]
        said = said.replace("have", "has", 1) if len(found.groups) == 1 else said
        return f"{by}, {listed(found.groups, most=_NAMED)} {said}."
    return f"{by} nothing {'was compared then' if found.reason == 'not_compared_then' else 'is compared now'}."


def _title(report: PublicReport, attribute: str) -> str:
    """What people are compared by, as the report calls it; by its name where only the earlier one compared by it."""
    return next(
        (phrases.titles(report, by.attributes) for by in report.compared if by.attribute == attribute), attribute
    )


def _told(flagged: bool) -> str:
    return "The figure has changed: its two ranges do not overlap." if flagged else "No change can be told."
