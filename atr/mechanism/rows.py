"""Many groups at once: one group per row of a matrix, groups of like size in one matrix.

Sums along a row depend on that row alone, so a group's result is the same, to the last bit, whichever groups
are solved with it. Regions are first put in an order of their own values, so it does not depend on the order
they come in either.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from atr.groups import FloatArray, Groups, IntArray


def rows(groups: Groups, lo: FloatArray, hi: FloatArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the groups of each width with the regions of each: (k,) positions and (k, width) positions.

    The width is the next power of two of a group's size. What is over in a row is n, the position
    :func:`take` fills.
    """
    order = np.lexsort((hi, lo, groups.decision[:, 1], groups.population, groups.group_of_region))
    sizes, starts = groups.sizes, groups.offsets[:-1]
    widths = 1 << np.ceil(np.log2(sizes)).astype(np.int64)
    order = np.append(order, len(order))
    for width in np.unique(widths):
        chosen = np.flatnonzero(widths == width)
        step = np.arange(width)
        place = np.where(step < sizes[chosen, None], starts[chosen, None] + step, len(order) - 1)
        yield chosen, order[place]


def take(cells: IntArray, values: FloatArray) -> FloatArray:
    """Lay (n,) values out as rows, with 0 in what is over."""
    return np.append(values, 0.0)[cells]


def put(cells: IntArray, values: FloatArray, out: FloatArray) -> None:
    """Write rows back to their (n,) regions."""
    inside = cells < len(out)
    out[cells[inside]] = values[inside]
