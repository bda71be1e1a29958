"""Axes and labels, which all charts share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from atr.core.tolerances import SAME_PLACE

_STEPS = (1, 2, 2.5, 5)


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from values (``low`` to ``high``) to positions in a drawing (``start`` to ``end``)."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The position of a value."""
        return round(self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start), 2)


def axis(values: Iterable[float]) -> tuple[float, ...]:
    """The ticks of an axis that holds all values; the first and last tick are its ends.

    >>> axis([0.52, 1.0, 1.35])
    (0.4, 0.6, 0.8, 1.0, 1.2, 1.4)
    """
    known = list(values)
    low, high = min(known), max(known)
    raw = max(high - low, SAME_PLACE) / 5
    scale = 10.0 ** math.floor(math.log10(raw))
    step = next((s * scale for s in _STEPS if s * scale >= raw * 0.999), 10 * scale)
    first, last = math.floor(low / step + SAME_PLACE), math.ceil(high / step - SAME_PLACE)
    return tuple(round(i * step, 10) for i in range(first, max(last, first + 1) + 1))
