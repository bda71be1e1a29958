"""What a mechanism hands over: the chances or limits it chose, and what readers conclude from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from atr.core.arrays import BoolArray, FloatArray, IntArray
from atr.core.fidelity import Fidelity
from atr.core.publication import CHANCE_DIGITS

WHOLE_NUMBERS = "whole_numbers"
"""The reader who remembers that people are whole numbers, where no guarantee covers him: his average over the rules
that are left. With ``_at_most`` added, the most that any of these rules tells."""

OF_GROUPS = ("group_digits", "held", "prior", "rate_only", "limits_only", "rules")
"""The fields of :class:`Announced` with a value for each group, beside its readers."""


@dataclass(frozen=True, eq=False)
class Announced:
    """What a mechanism chose for the groups that are to be announced.

    Parameters
    ----------
    chance
        (n, outcomes) chances in units of 10^-6, the positive outcome first.
    group_digits
        (g,) decimal digits that the chances of each group are printed with.
    promise
        What is promised of the chances of every region.
    readers
        For every reader that was tested (g,) how sure of somebody's secret, with the report; largest over its sets.
        Those who take the chances at face value are not among them: the announcement computes theirs.
    held
        (g,) the largest of these, each set's divided by the factor of its ceiling.
    prior
        (g,) how sure the surest of them is by the numbers of people and the rates of groups alone.
    rate_only
        (g,) which groups show their rates only.
    limits_only
        (g,) which groups show limits and no chances.
    rules
        (g,) how many rules are left to a reader; NaN where nobody counted them.
    rates_exact
        Whether the rates of the groups are told as they are.
    """

    chance: IntArray
    group_digits: IntArray
    promise: Fidelity
    readers: Mapping[str, FloatArray]
    held: FloatArray
    prior: FloatArray
    rate_only: BoolArray
    limits_only: BoolArray
    rules: FloatArray
    rates_exact: bool

    @classmethod
    def plain(
        cls, chance: IntArray, promise: Fidelity, *, digits: int, groups: int, rates_exact: bool = True
    ) -> Announced:
        """Announce chances, in units of 10^-digits, that readers take at face value."""
        none, zero = np.zeros(groups, dtype=np.bool_), np.zeros(groups)
        return cls(
            chance=chance * 10 ** (CHANCE_DIGITS - digits),
            group_digits=np.full(groups, digits),
            promise=promise,
            readers={},
            held=zero,
            prior=zero,
            rate_only=none,
            limits_only=none,
            rules=np.full(groups, np.nan),
            rates_exact=rates_exact,
        )
