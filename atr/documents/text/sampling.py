"""What sampling could make of a comparison, in words."""

from __future__ import annotations

from atr.documents.text.wording import between, number, percent, percent_decimals, points
from atr.report.model import Fairness, PublicReport
from atr.report.sampling import alpha_of

_LEAST_P = 0.001


def level(report: PublicReport) -> str:
    """The level of the intervals in words, such as 95 % where alpha is 0.05; empty where there are none."""
    alpha = alpha_of(report)
    return "" if alpha is None else percent(round(1 - alpha, 9))


def p_words(value: float, *, sign: str = "= ") -> str:
    """A p value in print, after ``sign``; a very small one as below 0.001.

    >>> p_words(0.0002), p_words(0.0421), p_words(0.4, sign="")
    ('< 0.001', '= 0.0421', '0.4')
    """
    return f"< {number(_LEAST_P)}" if value < _LEAST_P else f"{sign}{number(value)}"


def sentence(entry: Fairness, report: PublicReport) -> str:
    """State the interval of a comparison and its test; empty where there are none."""
    made, digits = entry.sampling, report.policy.digits
    if made is None:
        return ""
    if made.groups is None:
        of, ends = "this ratio", between(made.interval, decimals=digits)
    else:
        outcome = made.outcome or entry.outcome or report.positive
        of = f"how far the share of “{outcome}” for {made.groups[0]} lies above that for {made.groups[1]}"
        low, high = (points(x or 0.0, decimals=percent_decimals(digits)) for x in made.interval)
        ends = f"{low} to {high} percentage points"
    could = "could hardly make a difference this large" if made.significant else "cannot be ruled out as its cause"
    alone = f"Of “{made.outcome}” alone: if" if made.outcome else "If"
    return (
        f"{alone} these decisions are seen as a sample, the {level(report)} interval of {of} is {ends}; with all tests "
        f"of this report taken together, sampling alone {could} (adjusted p {p_words(made.adjusted_p_value)})."
    )
