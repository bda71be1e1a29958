"""Sums over the rules of a box by plain convolution in extended precision: slow, and right to nearly every digit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

from atr.mechanisms.calibrated import box

Extended = np.longdouble
WIDE_ENOUGH = np.finfo(Extended).maxexp > 16000
"""Whether extended precision holds the weights of some 10,000 people; not on every machine."""


def weights(model: str, people: int) -> np.ndarray:
    """(people + 1,) weights of a model, the first being 1."""
    k = np.arange(people, dtype=Extended)
    growth = {
        "uniform": np.ones(people, dtype=Extended),
        "alike": (people - k) / (k + 1),
        "extreme": (2 * k + 1) * (people - k) / ((k + 1) * (2 * (people - k) - 1)),
    }[model]
    return np.concatenate([[Extended(1)], np.cumprod(growth)])


class SlowBox(box.Box):
    """A box whose sums are convolved one after the other."""

    def __init__(self, *given) -> None:
        super().__init__(*given)
        self.direct, self.tilt = True, 0.0
        bounds = zip(self.population.tolist(), self.lowest.tolist(), self.highest.tolist(), strict=True)
        rows = [weights(self.model, n)[low : high + 1] for n, low, high in bounds]
        self._first, self._left, self._log_scale = self.lowest, self.total - int(self.lowest.sum()), 0.0
        self._weights = [row / row.max() for row in rows]

    def weights(self, chance: int) -> tuple[int, np.ndarray]:
        """From the sums with others."""
        return int(self.lowest[chance]), self.sums(chance)[1][:, -1]

    def sums(self, region: int, *, directly: bool = True) -> tuple[int, np.ndarray]:
        """Every column for itself."""
        others = [t for t in range(len(self._weights)) if t != region]
        own = self._weights[region]
        whole = self._rest(region, others)
        columns = [
            (self._rest(region, others, counted=t) if t != region else np.arange(len(own)) * whole)
            + whole * self.lowest[t]
            for t in range(len(self._weights))
        ]
        return int(self.lowest[region]), np.stack([*columns, whole], axis=1) * own[:, None]

    def _rest(self, region: int, others: list[int], counted: int = -1) -> np.ndarray:
        product = np.ones(1, dtype=Extended)
        for t in others:
            row = self._weights[t] * (np.arange(len(self._weights[t])) if t == counted else 1)
            product = np.convolve(product, row)[: self._left + 1]
        at = self._left - np.arange(len(self._weights[region]))
        return np.where((at >= 0) & (at < len(product)), product[np.clip(at, 0, len(product) - 1)], 0)


@contextmanager
def slowly() -> Iterator[None]:
    """Let all cells be computed with slow boxes."""
    with patch("atr.mechanisms.calibrated.partition.Box", SlowBox):
        yield
