"""What readers believe about a rule before they see limits: three models of the weight of k of n people.

============  =============================  ===========================================================
name          weight of k of n               who that is
============  =============================  ===========================================================
uniform       1                              thinks every chance equally likely in every region
extreme       C(2k, k) · C(2(n - k), n - k)  expects chances near 0 or 1
alike         C(n, k)                        expects the secret to play no part
============  =============================  ===========================================================

The weight of a rule is the product over its regions, and only ratios of weights count. Every weight is f(k) · f(n - k)
with one f a model; of several outcomes the weight is the product of the f of their counts.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from atr.core.arrays import FloatArray

Model = Literal["uniform", "extreme", "alike"]
MODELS: tuple[Model, ...] = ("uniform", "extreme", "alike")


def log_growth(model: Model, first: int, end: int) -> FloatArray:
    """Give log f(k + 1) - log f(k) of a model for k from ``first`` to ``end`` - 1: 1, C(2k, k) / 4^k or 1 / k!.

    >>> np.exp(log_growth("extreme", 0, 3))
    array([0.5       , 0.75      , 0.83333333])
    """
    k = np.arange(first, end, dtype=np.float64)
    if model == "uniform":
        return np.zeros(len(k))
    return np.log1p(-0.5 / (k + 1)) if model == "extreme" else -np.log(k + 1)


def log_ratios(model: Model, people: int, lowest: int, highest: int) -> FloatArray:
    """Give (highest - lowest,) logarithms of the weight of k + 1 of n over that of k, for k from ``lowest`` on.

    >>> np.exp(log_ratios("alike", 4, 0, 4))
    array([4.        , 1.5       , 0.66666667, 0.25      ])
    """
    rise = log_growth(model, lowest, highest)
    fall: FloatArray = log_growth(model, people - highest, people - lowest)[::-1]
    return rise - fall
