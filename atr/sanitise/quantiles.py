"""The map of numbers to the quantiles of others."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from atr.core.arrays import FloatArray
from atr.sanitise.joints import numbers

Numbers = TypeVar("Numbers", FloatArray, "pd.Series[float]")
"""An array, or a series, whose index is kept."""


def quantile_map(source: Numbers, target: ArrayLike, *, seed: int = 0) -> Numbers:
    """Map numbers to the quantiles of a target, y = F2⁻¹(F1(x)): the least E h(x - y) for every h that is convex.

    With |x - y| itself it is one of several that cost the least. Equal numbers of the source may get different ones,
    in random order, so that what is mapped has the target's counts: all of them where both are as many, or the source
    a multiple; else each within one of its share.

    Parameters
    ----------
    source
        (n,) numbers.
    target
        (m,) numbers: a sample of the target. That of all people together, for the people of each hidden value in turn,
        makes what is released independent of it.
    seed
        Of the order among equal numbers.

    Returns
    -------
    (n,) numbers of the target.

    Raises
    ------
    ValueError
        If one of them is empty or holds what is no finite number.

    References
    ----------
    [DM], continuous to continuous. It needs h(x - y) to be symmetric, increasing and of the quadrilateral inequality.

    Examples
    --------
    >>> quantile_map(np.array([30.0, 10.0, 20.0]), [1, 2, 3])
    array([3., 1., 2.])
    """
    x, y = _finite(source, "source"), np.sort(_finite(target, "target"))
    order = np.lexsort((np.random.default_rng(seed).random(len(x)), x))
    mapped = np.empty_like(x)
    mapped[order] = y[(2 * np.arange(len(x)) + 1) * len(y) // (2 * len(x))]
    return pd.Series(mapped, index=source.index, name=source.name) if isinstance(source, pd.Series) else mapped


def _finite(values: ArrayLike, name: str) -> FloatArray:
    shape = "one row of finite numbers, and not empty"
    found = numbers(values, name, shape)
    if found.ndim != 1 or len(found) == 0 or not np.isfinite(found).all():
        raise ValueError(f"{name} must be {shape}")
    return found
