"""What rounding an announcement has in common for two outcomes and for more."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.errors import RefusedError
from atr.groups import IntArray

BoolArray = NDArray[np.bool_]

# Branch and bound stops after this many nodes, not after some time: the same input gives the same numbers.
NODES = 500


def whole_people(population: ArrayLike, n: int) -> IntArray:
    """Give (n,) populations as integers, or refuse those that are not whole.

    Examples
    --------
    >>> whole_people([3.0, 5.0], 2)
    array([3, 5])
    """
    values = np.asarray(population, dtype=np.float64)
    if values.shape != (n,) or (values != np.rint(values)).any() or (values < 1).any():
        raise ValueError(f"populations must be whole numbers of people, at least 1, one for each of {n} regions")
    return values.astype(np.int64)


def within(largest: NDArray[Any], total: NDArray[Any], ceiling: Fraction | list[Fraction]) -> BoolArray:
    """Tell which groups (g,) keep to a ceiling: largest / total ≤ ceiling for every outcome, in integers.

    Examples
    --------
    >>> within(np.array([[2, 1], [3, 1]]), np.array([[3, 3], [4, 3]]), Fraction(2, 3))
    array([ True, False])
    """
    ceilings = ceiling if isinstance(ceiling, list) else [ceiling] * len(total)
    over = np.array([c.numerator for c in ceilings], dtype=object)[:, None]
    under = np.array([c.denominator for c in ceilings], dtype=object)[:, None]
    if float(total.max()) * max(1.0, float(under.max()), float(over.max())) < 2.0**62:
        over, under = over.astype(np.int64), under.astype(np.int64)
    kept: BoolArray = (largest * under <= total * over).astype(np.bool_).all(axis=1)
    return kept


def refuse(groups: list[int]) -> None:
    """Refuse to go on where groups have no numbers that keep to the ceiling."""
    if groups:
        raise RefusedError(
            "Rounded, some group cannot be kept at or below the ceiling with the published populations.",
            hint="Lower the fidelity, raise max_confidence, or publish populations or chances less rounded.",
            private=f"Groups that bind: {', '.join(map(str, groups))}.",
        )
