"""One plain sentence for every fairness figure, from its printed numbers alone."""

from __future__ import annotations

from collections.abc import Mapping

from atr.report.model import Fairness

_VERDICTS = {"met": "met", "not_met": "not met", "cannot_tell": "cannot be told from a report this private"}


def sentence(entry: Fairness, *, positive: str, titles: Mapping[str, str], digits: int) -> str:
    """What a comparison says.

    Parameters
    ----------
    entry
        The comparison, rounded; its own sentence is not looked at.
    positive
        The favourable outcome.
    titles
        The attributes' names as readers see them.
    digits
        Decimal digits of its value and range.
    """
    a, b = entry.groups
    rates = f"{_percent(entry.rates[0])} against {_percent(entry.rates[1])}"
    where = "".join(f"{titles[name]}, {value}: " for name, value in entry.condition.items())
    if entry.measure == "p_percent_rule":
        return _ratio(entry, a, b, rates, digits)
    points = max(digits - 2, 0)
    value = 100 * (entry.value or 0.0)
    apart = f"{value:.{points}f} percentage points"
    text = f"{where}{a} and {b} differ by {apart} in how often “{positive}” is decided ({rates})."
    low, high = entry.range
    if low is not None and high is not None and low != high:
        text += f" The true difference lies between {100 * low:.{points}f} and {100 * high:.{points}f}."
    return text + _verdict(entry, f"the tolerance of {100 * (entry.threshold or 0):g} points")


def _ratio(entry: Fairness, a: str, b: str, rates: str, digits: int) -> str:
    if entry.value is None:
        text = f"“{entry.outcome}” is never decided for {b}, so there is no ratio to {a} ({rates})."
    else:
        often = f"{entry.value:.{digits}f} times as often for {a} as for {b}"
        text = f"“{entry.outcome}” is decided {often} ({rates})."
    low, high = entry.range
    if high is None:
        text += f" The true ratio is at least {low or 0.0:.{digits}f}; nothing bounds it from above."
    elif low is not None and low != high:
        text += f" The true ratio lies between {low:.{digits}f} and {high:.{digits}f}."
    line = entry.threshold or 1.0
    above = entry.value is not None and entry.value > 1
    return text + _verdict(entry, f"the line of {1 / line:.4g} (1 / {line:g})" if above else f"the line of {line:g}")


def _verdict(entry: Fairness, line: str) -> str:
    if entry.verdict is None:
        return ""
    if entry.verdict == "cannot_tell":
        return f" Whether {line} is met cannot be told from a report this private."
    return f" That is {'within' if entry.verdict == 'met' else 'beyond'} {line}: {_VERDICTS[entry.verdict]}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
