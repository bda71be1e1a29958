"""Blocks of QID groups that fit a processor's cache, shared out among threads.

A group is always computed as a whole, by one thread and by the same loop: neither blocks nor threads can change a
result.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType

import numpy as np

from atr.core.groups import FloatArray, IntArray

# Regions in a block: a few arrays of this size stay in the cache, and the interpreter's share of the time is small.
BLOCK = 1 << 16
# Below this many blocks, starting threads costs more than they save.
_FEW = 4


@cache
def kernels() -> ModuleType:
    """Load the compiled kernels; on first use only, for the compiler takes long to load."""
    from atr.mechanisms.optimal import kernels as module

    return module


@cache
def ranges() -> ModuleType:
    """Load the compiled ranges; on first use only, likewise."""
    from atr.mechanisms.optimal import allowed_ranges as module

    return module


def processors() -> int:
    """Give the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each_block(offsets: IntArray, work: Callable[[slice, slice, FloatArray], None]) -> None:
    """Call ``work(groups, regions, scratch)`` for consecutive blocks of whole groups that cover them all.

    Parameters
    ----------
    offsets
        (g + 1,) positions of the groups.
    work
        Given the positions of a block's groups and of their regions, and four rows of that many numbers to
        work in. Called from several threads at once.
    """
    n = int(offsets[-1])
    if n <= BLOCK:
        work(slice(0, len(offsets) - 1), slice(0, n), np.empty((4, n)))
        return
    ends = np.unique(np.searchsorted(offsets, [*range(BLOCK, n, BLOCK), n])).tolist()
    blocks = [
        (slice(first, last), slice(int(offsets[first]), int(offsets[last])))
        for first, last in zip([0, *ends[:-1]], ends, strict=True)
    ]
    waiting, widest = iter(blocks), max(cells.stop - cells.start for _, cells in blocks)

    def share() -> None:
        scratch = np.empty((4, widest))
        for which, cells in waiting:
            work(which, cells, scratch[:, : cells.stop - cells.start])

    if len(blocks) < _FEW:
        share()
        return
    threads = min(processors(), len(blocks))
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(share) for _ in range(threads)]:
            done.result()
