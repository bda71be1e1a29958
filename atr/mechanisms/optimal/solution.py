"""What the optimal mechanism gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from atr.core.fidelity import Fidelity
from atr.core.groups import FloatArray, IntArray

GroupRates = Literal["exact", "free"]
Objective = Literal["privacy", "fidelity"]

# Relative: two ways to compute the same confidence differ by less.
CONFIDENCE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False, slots=True)
class OptimalPrivacy:
    """How private each group can be at a given fidelity. Private: it depends on the true decisions.

    Attributes
    ----------
    beta
        (g,) optimal privacy β*: the smallest maximum confidence of any allowed announcement.
    limits
        (g, 2) [β_min, C*]: confidence before any report, and after announcing the true decisions.
    beta_0, beta_1, beta_p
        (g,) the other lower bounds of binary groups with free group rates; None otherwise.
    binds
        Computes :attr:`binding`.
    """

    beta: FloatArray
    limits: FloatArray
    beta_0: FloatArray | None
    beta_1: FloatArray | None
    beta_p: FloatArray | None
    binds: Callable[[], IntArray]

    @property
    def binding(self) -> IntArray:
        """(g, 2) a protected set, by its position in its group, and an outcome with confidence β*."""
        return self.binds()

    @property
    def beta_min(self) -> FloatArray:
        """(g,) confidence before any report."""
        return self.limits[:, 0]

    @property
    def overall(self) -> float:
        """The largest β* of any group: what the whole report can promise."""
        return float(self.beta.max())


@dataclass(frozen=True, eq=False, slots=True)
class Solution(OptimalPrivacy):
    """Optimal privacy and the announcement. Private, but for what is announced.

    Attributes
    ----------
    announced
        (n, outcomes) probability: the announced mapping, before rounding.
    fidelity
        The promise the announcement keeps.
    target
        The confidence it was held to.
    """

    announced: FloatArray
    fidelity: Fidelity
    target: float
