"""How many digits chances are printed with, so that whoever takes printed numbers at face value is covered too."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from atr.core.arrays import FloatArray, IntArray, PublishedPopulation
from atr.core.publication import CHANCE_DIGITS, RATE_DIGITS, raised_by_rest
from atr.core.tolerances import NOISE_DIGITS
from atr.mechanisms.calibrated.ceilings import Ceilings

FEWEST = 2
"""Digits that printed chances have at least."""


class Printed(NamedTuple):
    """Chances as they are printed.

    Attributes
    ----------
    chance
        (m, outcomes) whole units of 10^-6; those of a region add up to 1.
    digits
        Decimal digits that they are printed with.
    """

    chance: IntArray
    digits: int


def printed_chances(
    expected: FloatArray,
    limits: IntArray,
    steps: int,
    *,
    totals: IntArray,
    published: PublishedPopulation,
    ceilings: Ceilings,
) -> Printed | None:
    """Round expected chances to the fewest digits that keep every ceiling and every rate.

    With printed chances, and with people as counted and as published, a reader's confidence is at most the ceiling of
    every set. With people as counted, the rates of the group are within half a unit of the printed ones; with rounded
    people, no number of digits could make them so.

    Parameters
    ----------
    expected
        (m, outcomes) people that a reader expects.
    limits, steps
        (m, outcomes, 2) of the chances, in steps of the grid, and how many these are from chance 0 to 1.
    totals
        (outcomes,) people of the group with each outcome.
    published
        (m,) people as printed.
    ceilings
        Of the group's protected sets.

    Returns
    -------
    Printed | None
        None where no number of digits will do: limits only.
    """
    population = ceilings.population
    for digits in range(FEWEST, CHANCE_DIGITS + 1):
        units = rounded(expected / population[:, None], limits, steps, digits)
        private = all(_keeps_ceilings(units * people[:, None], ceilings) for people in (population, published))
        if private and _keeps_rates(units, population, totals, digits):
            return Printed(units * 10 ** (CHANCE_DIGITS - digits), digits)
    return None


def rounded(chance: FloatArray, limits: IntArray, steps: int, digits: int) -> IntArray:
    """Round (m, outcomes) chances to units of 10^-digits; those of a region add up to 1.

    Chances are rounded down, then those with the largest rest up, the first of equal ones first. Where that would
    leave its limits, a chance is rounded the other way if the others of its region allow it.
    """
    scale = 10**digits
    exact = np.round(chance * scale, NOISE_DIGITS)
    down = np.floor(exact).astype(np.int64)
    rest = exact - down
    rest[down * steps < limits[..., 0] * scale] = 1.0
    rest[(down + 1) * steps > limits[..., 1] * scale] = -1.0
    return raised_by_rest(down, rest, scale)


def _keeps_ceilings(people: IntArray, ceilings: Ceilings) -> bool:
    """Whether (m, outcomes) people put a reader above no ceiling, in whole numbers."""
    exact = people.astype(object)  # Python's whole numbers have no largest one
    totals = exact.sum(axis=0)
    allowed = [Fraction(str(each)) for each in ceilings.each]
    return not any(
        (exact[list(members)].sum(axis=0) * ceiling.denominator > totals * ceiling.numerator).any()
        for members, ceiling in zip(ceilings.sets, allowed, strict=True)
    )


def _keeps_rates(units: IntArray, people: IntArray, totals: IntArray, digits: int) -> bool:
    """Whether the rates by printed chances are within half a printed unit of the true ones, in whole numbers."""
    everybody, weighed = int(totals.sum()), int(people.sum()) * 10**digits
    return all(
        2 * 10**RATE_DIGITS * abs(printed * everybody - total * weighed) <= weighed * everybody
        for printed, total in zip((people @ units).tolist(), totals.tolist(), strict=True)
    )
