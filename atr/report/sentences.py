"""One plain sentence for every fairness figure, from its printed numbers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atr import fairness
from atr.report import wording
from atr.report.model import Fairness
from atr.report.rounding import bounds

_VERDICTS = {"met": "it is met", "not_met": "it is not met"}


def sentence(entry: Fairness, *, outcomes: Sequence[str], titles: Mapping[str, str], digits: int) -> str:
    """What a comparison says.

    Parameters
    ----------
    entry
        The comparison, rounded; its own sentence is not looked at.
    outcomes
        The favourable outcome, then the others.
    titles
        The attributes' names as readers see them.
    digits
        Decimal digits of its value and range.
    """
    if entry.measure == "p_percent_rule":
        said = _ratio(entry, digits)
    else:
        said = _difference(entry, outcomes, max(digits - 2, 0))
    where = ", ".join(f"{titles[name]}: {value}" for name, value in entry.condition.items())
    return " ".join([*([f"{where}."] if where else []), *said])


def _ratio(entry: Fairness, digits: int) -> list[str]:
    a, b = entry.groups
    shares = [wording.percent(rate) for rate in entry.rates]
    if entry.value is None:
        first = (
            f"As announced, “{entry.outcome}” was never the outcome for {b}, so the two cannot be put in proportion "
            f"({shares[0]} of people for {a}, {shares[1]} for {b})."
        )
    else:
        value = wording.number(entry.value, decimals=digits)
        first = (
            f"“{entry.outcome}” was the outcome {value} times as often for {a} as for {b} ({shares[0]} of people "
            f"against {shares[1]})."
        )
    low, high = entry.range
    said = [first]
    if low is not None and high is None:
        least = wording.number(low, decimals=digits)
        said.append(f"The true figure is {least} or more; nothing limits it from above.")
    elif low != high:
        said.append(f"The true figure lies between {wording.between(entry.range, decimals=digits, word='and')}.")
    if entry.threshold is not None:
        allowed = f"allows anything from {wording.number(entry.threshold)} to {wording.inverse(entry.threshold)}"
        said.append(_judged(entry, f"The {wording.inner(wording.rule_name(entry))} {allowed}"))
    return said


def _difference(entry: Fairness, outcomes: Sequence[str], decimals: int) -> list[str]:
    a, b = entry.groups
    shares = [wording.percent(rate) for rate in entry.rates]
    value = wording.points(entry.value or 0.0, decimals=decimals)
    noun = "percentage point" if value == "1" else "percentage points"
    outcome = entry.outcome or outcomes[0]
    if len(outcomes) == 2 or entry.outcome is not None:
        what = f"The shares of “{outcome}” for {a} and {b} are {value} {noun} apart ({shares[0]} and {shares[1]})."
    else:
        what = (
            f"The outcomes of {a} and {b} are {value} {noun} apart: so many of 100 would need another outcome for the "
            f"two to be alike (“{outcome}”: {shares[0]} and {shares[1]})."
        )
    said = [what]
    low, high = entry.range
    if low is not None and high is not None and low != high:
        ends = [wording.points(x, decimals=decimals) for x in (low, high)]
        said.append(f"The true distance lies between {ends[0]} and {ends[1]}.")
    if entry.threshold is not None:
        limit = wording.points(entry.threshold)
        said.append(_judged(entry, f"The limit is {limit} {'point' if limit == '1' else 'points'}"))
    return said


def _judged(entry: Fairness, line: str) -> str:
    """The verdict; where the printed numbers alone would give another one, it says why."""
    if entry.verdict is None:
        return f"{line}."
    as_printed = fairness.verdict(entry.measure, bounds(entry.range), entry.threshold) == entry.verdict  # type: ignore[arg-type]
    if entry.verdict == "cannot_tell":
        close = "" if as_printed else "the figure lies so close that "
        return f"{line}; {close}whether it is met cannot be told from a report this private."
    if as_printed:
        return f"{line}, so {_VERDICTS[entry.verdict]}."
    return f"{line}; judged on the figure before it was rounded for print, {_VERDICTS[entry.verdict]}."
