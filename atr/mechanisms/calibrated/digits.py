"""How many digits chances are printed with, so that whoever takes printed numbers at face value is covered too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from atr.core.arrays import IntArray, PublishedPopulation
from atr.core.publication import CHANCE_DIGITS, RATE_DIGITS
from atr.core.tolerances import NOISE_DIGITS
from atr.mechanisms.calibrated.group import Announced
from atr.mechanisms.calibrated.promise import Promise, Sets

FEWEST = 2
"""Digits that printed chances have at least."""


@dataclass(frozen=True, eq=False, slots=True)
class Printed:
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
    found: Announced,
    counts: IntArray,
    published: PublishedPopulation,
    *,
    ceilings: float | Sequence[float],
    sets: Sets | None = None,
) -> Printed | None:
    """Round expected chances to the fewest digits that keep every ceiling and every rate.

    With printed chances, and with people as counted and as published, a reader's confidence is at most the ceiling of
    every set. With people as counted, the rates of the group are within half a unit of the printed ones; with rounded
    people, no number of digits could make them so.

    Parameters
    ----------
    found
        What is announced of the group.
    counts
        (m, outcomes) people of each region with each outcome; only sums of rows and of columns are used.
    published
        (m,) people as printed.
    ceilings
        Of every protected set, or one for each.
    sets
        Protected sets, each a list of positions of regions; None: every region on its own.

    Returns
    -------
    Printed | None
        None where no number of digits will do: limits only.
    """
    population, totals = counts.sum(axis=1), counts.sum(axis=0)
    promise = Promise.of(population, ceilings, sets)
    for digits in range(FEWEST, CHANCE_DIGITS + 1):
        units = rounded(found, population, digits)
        private = all(_keeps_ceilings(units * people[:, None], promise) for people in (population, published))
        if private and _keeps_rates(units, population, totals, digits):
            return Printed(units * 10 ** (CHANCE_DIGITS - digits), digits)
    return None


def rounded(found: Announced, population: IntArray, digits: int) -> IntArray:
    """Round expected chances, (m, outcomes) in units of 10^-digits; those of a region add up to 1.

    Chances are rounded down, then those with the largest rest up, the first of equal ones first. Where that would
    leave its limits, a chance is rounded the other way if the others of its region allow it.
    """
    scale = 10**digits
    exact = np.round(found.expected / population[:, None] * scale, NOISE_DIGITS)
    down = np.floor(exact).astype(np.int64)
    lowest, highest = (found.limits[..., end] * scale for end in (0, 1))
    rest = exact - down
    rest[down * found.steps < lowest] = 1.0
    rest[(down + 1) * found.steps > highest] = -1.0
    rank = np.argsort(np.argsort(-rest, axis=1, kind="stable"), axis=1, kind="stable")
    units: IntArray = down + (rank < scale - down.sum(axis=1, keepdims=True))
    return units


def _keeps_ceilings(people: IntArray, promise: Promise) -> bool:
    """Whether (m, outcomes) people put a reader above no ceiling, in whole numbers."""
    of_sets = promise.members.T.astype(np.int64) @ people
    allowed = [Fraction(str(ceiling)) for ceiling in promise.ceilings.tolist()]
    return all(
        share * ceiling.denominator <= whole * ceiling.numerator
        for shares, ceiling in zip(of_sets.tolist(), allowed, strict=True)
        for share, whole in zip(shares, people.sum(axis=0).tolist(), strict=True)
    )


def _keeps_rates(units: IntArray, people: IntArray, totals: IntArray, digits: int) -> bool:
    """Whether the rates by printed chances are within half a printed unit of the true ones, in whole numbers."""
    everybody, weighed = int(totals.sum()), int(people.sum()) * 10**digits
    return all(
        2 * 10**RATE_DIGITS * abs(printed * everybody - total * weighed) <= weighed * everybody
        for printed, total in zip((people @ units).tolist(), totals.tolist(), strict=True)
    )
