"""Joints of what is hidden and a column: the paper's example, and drawn ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

EXAMPLE = np.array([[0.3], [0.7]]) * np.array([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]])
"""Example 1 of Ding, Liu, Farokhi."""


def drawn(number: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Joints of 2 to 6 hidden values and 2 to 9 others: even, sparse, nearly empty and counted ones."""
    rng = np.random.default_rng(seed)
    for i in range(number):
        shape = rng.integers(2, 7), rng.integers(2, 10)
        joint = rng.dirichlet(np.full(shape[0] * shape[1], (3.0, 0.3, 0.03)[i % 3])).reshape(shape)
        if i % 4 == 0:
            joint = rng.multinomial(60, joint.ravel()).reshape(shape)
        yield joint / joint.sum()


def conditional(joint: np.ndarray) -> np.ndarray:
    """P(x|s) of the hidden values that anybody has."""
    some = joint[joint.sum(axis=1) > 0]
    return some / some.sum(axis=1, keepdims=True)


def released(joint: np.ndarray, channel: np.ndarray) -> np.ndarray:
    """The joint of what is hidden and released, of a channel (x, y) or (s, x, y)."""
    return np.einsum("sx,sxy->sy", joint, np.broadcast_to(channel, (len(joint), *channel.shape[-2:])))
