"""Streams of one of two known classes, where it is not known which."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from atr.core.arrays import FloatArray, IntArray
from atr.sanitise.couplings import transport
from atr.sanitise.draws import draw
from atr.sanitise.joints import numbers, positions, probabilities


class MappedStream(NamedTuple):
    """A stream that was mapped to a target."""

    released: IntArray
    """(n,) positions of values."""
    decided: int
    """The class the test decided for, 0 or 1."""
    tested: int
    """How many values it decided from."""
    wrong_at_most: float
    """An upper bound of the chance that the test decides wrongly."""


def map_stream(stream: ArrayLike, classes: ArrayLike, target: ArrayLike, cost: ArrayLike, *, seed: int) -> MappedStream:
    """Map a stream of independent values, of one of two known classes, to a target.

    The first ⌈ln n⌉ values are only tested: what is released in their place is drawn from the target. A
    likelihood-ratio test decides for a class, and the rest is mapped by the coupling of that class with the target.
    **It is not perfect**: where the test decides wrongly, the rest has another distribution than the target, and tells
    of the class. State :attr:`MappedStream.wrong_at_most`.

    Parameters
    ----------
    stream
        (n,) positions of values, from 0 to x - 1.
    classes
        (2, x) probabilities of the values in both classes.
    target
        (y,) probabilities of what is released.
    cost
        (x, y) cost of releasing y in place of x.
    seed
        Of the generator of random numbers.

    Returns
    -------
    What is released, and the decision. At a tie it is for class 0.

    Raises
    ------
    ValueError
        If the arrays do not fit each other, are no probabilities, or hold a value that neither class can have.

    References
    ----------
    [DM], streams of unknown class.
    """
    P = _two_classes(classes)
    x = positions(stream, "stream", P.shape[1])
    if len(x) == 0:
        raise ValueError("stream must not be empty")
    if not P[:, x].max(axis=0).all():
        raise ValueError("stream must hold values that one of the classes has")
    to = probabilities(target, "target", 1)
    tested = math.ceil(math.log(len(x)))
    with np.errstate(divide="ignore"):
        likelihood = np.log(P)[:, x[:tested]].sum(axis=1)
    decided = int(likelihood[1] > likelihood[0])
    plan = transport(P[decided], to, cost).plan
    mass = plan.sum(axis=1, keepdims=True)
    # A value that the class decided for cannot have is drawn from the target.
    channel = np.divide(plan, mass, out=np.tile(to, (len(plan), 1)), where=mass > 0)
    rows = np.append(np.full(tested, len(channel)), x[tested:])
    released = draw(np.vstack([channel, to]), rows, seed=seed)
    wrong = math.exp(-tested * chernoff_information(*P)) if tested else 1.0
    return MappedStream(released, decided, tested, wrong)


def chernoff_information(p: ArrayLike, q: ArrayLike) -> float:
    """Give max over t of -ln Σ p^(1 - t) q^t: how fast the chance to take one for the other falls with the values seen.

    After n of them a likelihood-ratio test is wrong with a chance of at most exp(-n times it), in either class.

    Parameters
    ----------
    p, q
        (x,) probabilities of the values in both classes.

    Returns
    -------
    Nats for each value; infinite where no value is in both classes.

    Raises
    ------
    ValueError
        If they are no probabilities that add up to 1, of the same values.

    References
    ----------
    Chernoff, *A Measure of Asymptotic Efficiency for Tests of a Hypothesis Based on the Sum of Observations*, Ann.
    Math. Stat. 23 (1952).

    Examples
    --------
    >>> round(chernoff_information([0.9, 0.1], [0.1, 0.9]), 4)
    0.5108
    """
    P = _two_classes((p, q))
    both = P.all(axis=0)
    if not both.any():
        return math.inf
    logarithms = np.log(P[:, both])

    def affinity(t: float) -> float:
        return float(np.exp((1 - t) * logarithms[0] + t * logarithms[1]).sum())

    found = minimize_scalar(affinity, bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
    return max(-math.log(min(affinity(float(found.x)), affinity(0), affinity(1))), 0.0)


def _two_classes(classes: Any) -> FloatArray:
    """Give (2, x) probabilities."""
    shape = "(2, x) probabilities, a row for each class"
    P = numbers(classes, "classes", shape)
    if P.ndim != 2 or len(P) != 2:
        raise ValueError(f"classes must be {shape}")
    return np.stack([probabilities(P[0], "class 0", 1), probabilities(P[1], "class 1", 1)])
