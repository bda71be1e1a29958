"""How numbers of people and rates are printed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

RATE_DIGITS = 2
"""Rates are printed to the nearest percent: to more digits, that of a small group would give its exact size away."""


def published_population(people: Ints, *, rounding: int) -> Ints:
    """People to the nearest multiple of ``rounding``, halves up, and never 0 where there is somebody.

    >>> published_population(np.array([0, 1, 7, 8, 12]), rounding=5)
    array([ 0,  5,  5, 10, 10])
    """
    nearest = (2 * people + rounding) // (2 * rounding) * rounding
    return np.where(people > 0, np.maximum(nearest, rounding), 0)


def open_people(published: int, rounding: int) -> tuple[int, int]:
    """Between what the whole numbers of people lie that are printed as this one.

    >>> open_people(10, 5), open_people(5, 5), open_people(20, 10), open_people(7, 1)
    ((8, 12), (1, 7), (15, 24), (7, 7))
    """
    return 1 if published == rounding else published - rounding // 2, published + (rounding - 1) // 2


def flat_digits(digits: int) -> int:
    """Decimals of the chances of a flattened group: those of a printed rate, so that nothing more is told."""
    return min(digits, RATE_DIGITS)
