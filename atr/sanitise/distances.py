"""How far apart two values of a column are."""

from __future__ import annotations

from typing import Literal

import numpy as np

from atr.core.arrays import FloatArray
from atr.core.tolerances import SAME_VALUE
from atr.sanitise.joints import numbers

Distance = Literal["hamming", "ordinal", "squared"] | FloatArray
"""1 for every change, steps between two values, their square; or (x, x) distances from each value to each."""


def costs(distance: Distance, values: int) -> FloatArray:
    """Give the distance from each of so many values to each, (x, x).

    Raises
    ------
    ValueError
        If the distance is unknown, or its array is not (x, x), finite, from 0 up, and 0 from each value to itself.
    """
    steps = np.abs(np.subtract.outer(np.arange(values), np.arange(values))).astype(np.float64)
    if isinstance(distance, str):
        named = {"hamming": np.minimum(steps, 1), "ordinal": steps, "squared": steps**2}
        if distance not in named:
            raise ValueError(f"distance must be an array or one of {', '.join(named)}, not {distance!r}")
        return named[distance]
    shape = f"distances from each of {values} values to each, ({values}, {values})"
    d = numbers(distance, "distance", shape)
    if d.shape != steps.shape:
        raise ValueError(f"distance must be {shape}")
    if not (d.min() >= 0 and d.max() < np.inf) or d.diagonal().any():
        raise ValueError("distance must be finite, 0 from a value to itself, and nowhere below 0")
    return d


def is_convex(distance: FloatArray) -> bool:
    """Give whether (x, x) distances obey the quadrilateral inequality: the monotone coupling is the cheapest then."""
    crossed = distance[:-1, 1:] + distance[1:, :-1]
    return bool((distance[:-1, :-1] + distance[1:, 1:] <= crossed + SAME_VALUE * distance.max(initial=0)).all())
