"""How numbers, dates and lists are written in documents. Nothing here rounds: numbers are rounded already."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

from atr.report.model import Fairness, Population

NBSP = "\N{NO-BREAK SPACE}"


def number(value: float, *, decimals: int = 0) -> str:
    """Write a number with at least this many decimals, and more only where it has more.

    >>> number(0.9, decimals=2), number(1234567), number(0.8765, decimals=2)
    ('0.90', '1,234,567', '0.8765')
    """
    return _written(Decimal(repr(value)), decimals)


def people(population: Population) -> str:
    """Write a number of people as printed.

    >>> people(1205)
    '1,205'
    """
    return number(population) if isinstance(population, int) else f"under {number(population.below)}"


def points(share: float, *, decimals: int = 0) -> str:
    """Write a share times a hundred, exactly.

    >>> points(0.675), points(0.6), points(0.07, decimals=1)
    ('67.5', '60', '7.0')
    """
    return _written(Decimal(repr(share)).scaleb(2), decimals)


def _written(exact: Decimal, decimals: int) -> str:
    return f"{exact:,.{max(decimals, _decimals(exact))}f}".replace("-", "−")


def decimals_of(value: float) -> int:
    """The number of decimals that a number has.

    >>> decimals_of(0.25), decimals_of(3.0)
    (2, 0)
    """
    return _decimals(Decimal(repr(value)))


def _decimals(exact: Decimal) -> int:
    return max(0, -int(exact.normalize().as_tuple().exponent))


def percent(share: float) -> str:
    """Write a share in percent, exactly.

    >>> percent(0.675)
    '67.5\\xa0%'
    """
    return f"{points(share)}{NBSP}%"


def percent_decimals(digits: int) -> int:
    """Decimals of a percentage whose share has this many digits."""
    return max(0, digits - 2)


def between(ends: tuple[float | None, float | None], *, decimals: int, word: str = "to") -> str:
    """Write a range in words; an end that is None is not bounded.

    >>> between((0.5, None), decimals=2), between((0.5, 0.5), decimals=2)
    ('0.50 or more', 'exactly 0.50')
    """
    low, high = (None if end is None else number(end, decimals=decimals) for end in ends)
    if low is None or high is None:
        return f"{low or high} or {'more' if high is None else 'less'}" if low or high else "not bounded"
    return f"exactly {low}" if ends[0] == ends[1] else f"{low} {word} {high}"


def inverse(share: float) -> str:
    """Write one over a number: in decimals where they are few, else as a fraction.

    >>> inverse(0.8), inverse(0.85)
    ('1.25', '1/0.85')
    """
    value = 1 / share if share else math.inf
    return number(value) if len(repr(value)) <= 6 else f"1/{number(share)}"


def count(amount: int, one: str, many: str = "") -> str:
    """Write a number of things, with the noun in singular or plural.

    >>> count(1, "group"), count(2000, "group")
    ('1 group', '2,000 groups')
    """
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"


def percentage_points(share: float, *, decimals: int = 0) -> str:
    """Write a difference of shares in percentage points, with the unit.

    >>> percentage_points(0.01), percentage_points(0.675)
    ('1 percentage point', '67.5 percentage points')
    """
    return plural(points(share, decimals=decimals), "percentage point")


def plural(amount: str, unit: str) -> str:
    """Add a unit, in singular or plural, to an amount that is already written.

    >>> plural("1", "point"), plural("1.5", "point")
    ('1 point', '1.5 points')
    """
    return f"{amount} {unit}" if amount == "1" else f"{amount} {unit}s"


def sentence(text: str) -> str:
    """End a text with a full stop, unless it ends as a sentence already.

    >>> sentence("It scores"), sentence("It scores.")
    ('It scores.', 'It scores.')
    """
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…", "。")) else f"{text}."


def raised(text: str) -> str:
    """Capitalise a text for a heading or the start of a sentence; p% and names such as iPhone stay as they are.

    >>> raised("prior offences"), raised("éducation"), raised("eGFR at admission"), raised("p%-rule")
    ('Prior offences', 'Éducation', 'eGFR at admission', 'p%-rule')
    """
    first, *_ = text.split(maxsplit=1) or [""]
    return text if first[1:] != first[1:].lower() or first[1:2] == "%" else text[:1].title() + text[1:]


def class_name(condition: Mapping[str, str], titles: Mapping[str, str]) -> str:
    """Name a class of people alike in legitimate attributes: the attributes and their values."""
    return ", ".join(f"{raised(titles.get(name, name))}: {value}" for name, value in condition.items())


def rule_name(entry: Fairness | None) -> str:
    """The name of the p%-rule, which depends on its line: at 0.8 it is the four-fifths rule."""
    return rule_at(None if entry is None else entry.threshold)


def rule_at(line: float | None) -> str:
    """The name of the p%-rule with a line, or without one."""
    if line is None:
        return "p%-rule"
    return "four-fifths rule" if line == 0.8 else f"p%-rule at {number(line)}"
