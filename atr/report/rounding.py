"""How numbers are rounded before they are printed; the one place for it, used to build and to verify."""

from __future__ import annotations

import math

from atr.core.tolerances import ROUNDING_NOISE


def nearest(value: float, digits: int) -> float:
    """Round to the nearest last digit, halves up.

    >>> nearest(0.0625, 3), nearest(2 / 3, 2)
    (0.063, 0.67)
    """
    return round(float(math.floor(value * 10.0**digits + 0.5 + ROUNDING_NOISE) / 10.0**digits), digits)


def down(value: float, digits: int) -> float:
    """Round down to the last digit."""
    return round(float(math.floor(value * 10.0**digits + ROUNDING_NOISE) / 10.0**digits), digits)


def share_step(*, decisions: int, minimum: int) -> float:
    """The step to which a share of all decisions is rounded: at least as many people as the smallest group has.

    Parameters
    ----------
    decisions
        All decisions.
    minimum
        People of the smallest group that is announced.

    Returns
    -------
    A share: the smallest of 0.01, 0.02, 0.05, 0.1 and 0.2 that is enough, else 0.5.

    Examples
    --------
    >>> share_step(decisions=5100, minimum=50), share_step(decisions=300, minimum=50)
    (0.01, 0.2)
    """
    return next((step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if step * decisions >= minimum), 0.5)


def rounded_share(share: float, *, step: float = 0.01) -> float:
    """Round a share of people to a step; the result is 0 or 1 only where the share is exactly that.

    >>> rounded_share(0.908), rounded_share(60 / 61, step=0.2), rounded_share(0.001)
    (0.91, 0.99, 0.01)
    """
    return share if share in (0, 1) else min(max(nearest(step * nearest(share / step, 0), 2), 0.01), 0.99)


def up(value: float, digits: int) -> float:
    """Round up to the last digit.

    >>> up(0.675, 3), up(0.6751, 3)
    (0.675, 0.676)
    """
    return round(float(math.ceil(value * 10.0**digits - ROUNDING_NOISE) / 10.0**digits), digits)


def printed_range(value: float, inside: tuple[float, float], digits: int) -> tuple[float | None, float | None]:
    """Round a range outwards, or print the value alone where the range is narrower than the last digit around it.

    Parameters
    ----------
    value
        The figure; not finite where a ratio does not exist.
    inside
        Smallest and largest true figure; infinite where nothing bounds it.
    digits
        Decimal digits.

    Returns
    -------
    The two ends. The upper one is None where nothing bounds it, both are where the ratio does not exist.
    """
    low, high = inside
    if math.isinf(low):
        return None, None
    printed = nearest(value, digits) if math.isfinite(value) else None
    if printed is not None and max(high - low, high - printed, printed - low) < 10.0**-digits * (1 - ROUNDING_NOISE):
        return printed, printed
    below, above = down(low, digits), None if math.isinf(high) else up(high, digits)
    if printed is None:
        return below, above
    return min(below, printed), None if above is None else max(above, printed)


def bounds(printed: tuple[float | None, float | None]) -> tuple[float, float]:
    """Read a printed range as numbers.

    Returns
    -------
    The two ends: an upper end that is None becomes infinity, and both do where the ratio does not exist.
    """
    low, high = printed
    if low is None:
        return math.inf, math.inf
    return low, math.inf if high is None else high
