"""What the linear mechanism leaves open about the true rules, from what a report prints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from atr.mechanism.linear import Reader, believed_range

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_HALF = 0.5 + 1e-5
"""Half a digit, for two outcomes, and a little more: rules that are announced alike are made equal first."""


@dataclass(frozen=True)
class Pooling:
    """Which groups announce something else than their true rules: told in place of a promise about each chance.

    Parameters
    ----------
    reader
        For whom the announcement was made.
    pooled
        (g,) groups whose chances stand for several rules, or were drawn further to the rate when they were rounded. It
        follows from the announced mapping and the populations, so it tells nothing that the mapping does not; printed
        numbers alone would not tell it, and without it every range would have to be that of a pooled group.
    for_reader
        (g,) groups that are flattened because some rule with their rates could not be announced to this reader,
        although prior knowledge keeps to the ceiling.
    """

    reader: Reader
    pooled: Bools
    for_reader: Bools

    def believed(
        self, chance: Floats, offsets: Ints, people: tuple[Ints, Ints], *, flattened: Bools, digits: int
    ) -> tuple[Floats, Floats]:
        """Between what the true chances lie, (n, outcomes) each.

        Only printed numbers go in, so that whoever has the report finds the same ends.

        Parameters
        ----------
        chance
            (n, outcomes) printed chances.
        offsets
            (g + 1,) where each group starts.
        people
            (n,) the least and the most people that the printed ones may stand for.
        flattened
            (g,) groups that announce their rates only.
        digits
            Decimal digits of the chances of all other groups.
        """
        low, high = rates_between(chance, offsets, people, digits=digits)
        return believed_range(
            people[1],
            chance,
            offsets,
            pooled=self.pooled,
            flattened=flattened,
            reader=self.reader,
            slack=_off(chance) * 10.0**-digits,
            rate=(low + high) / 2,
            rate_slack=(high - low) / 2,
        )


def rates_between(
    chance: Floats, offsets: Ints, people: tuple[Ints, Ints], *, digits: int | Ints
) -> tuple[Floats, Floats]:
    """Between what the true rates of each group lie, (g, outcomes) each, where the announced mapping has them too.

    Parameters
    ----------
    chance
        (n, outcomes) printed chances.
    offsets
        (g + 1,) where each group starts.
    people
        (n,) the least and the most people that the printed ones may stand for.
    digits
        Decimal digits of the chances; (g,) where they differ by group.

    Examples
    --------
    >>> low, high = rates_between(np.array([[0.4, 0.6], [0.5, 0.5]]), np.array([0, 2]),
    ...                           (np.array([8, 8]), np.array([12, 12])), digits=1)
    >>> low.round(2), high.round(2)
    (array([[0.39, 0.49]]), array([[0.51, 0.61]]))
    """
    rounding = _off(chance) * 10.0 ** -np.broadcast_to(digits, len(offsets) - 1)[:, None].astype(np.float64)
    least, most = (
        _furthest_mean(chance, offsets, *(part[:, None].astype(np.float64) for part in pair))
        for pair in ((people[1], people[0]), people)
    )
    return np.maximum(least - rounding, 0.0), np.minimum(most + rounding, 1.0)


def _furthest_mean(chance: Floats, offsets: Ints, below: Floats, above: Floats) -> Floats:
    """(g, outcomes) the mean with ``below`` people where the chance is below it and ``above`` where it is above.

    That is the largest mean where ``above`` is more people, and the smallest where it is fewer. Each step brings it
    closer; it ends where a step changes nothing.
    """
    starts, sizes = offsets[:-1], np.diff(offsets)
    sign = 1.0 if (above >= below).all() else -1.0

    def mean(people: Floats) -> Floats:
        return np.asarray(np.add.reduceat(people * chance, starts) / np.add.reduceat(people, starts))

    found = mean(np.broadcast_to(below, chance.shape))
    while True:
        again = mean(np.where(chance > np.repeat(found, sizes, axis=0), above, below))
        better = sign * again > sign * found
        if not better.any():
            return found
        found = np.where(better, again, found)


def _off(chance: Floats) -> float:
    """By how many digits a printed chance may be off."""
    return _HALF if chance.shape[1] == 2 else 1.0
