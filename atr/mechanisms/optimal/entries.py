"""Sparse matrices of linear programmes, written down entry by entry.

Putting them together from smaller matrices takes longer than solving a programme of one group.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from atr.core.arrays import FloatArray, IntArray


class Entries(NamedTuple):
    """Part of a matrix.

    Attributes
    ----------
    row, column
        (k,) where each entry stands.
    value
        (k,) what it is.
    """

    row: IntArray
    column: IntArray
    value: FloatArray

    def at(self, row: int = 0, column: int = 0) -> Entries:
        """Move the part down and to the right."""
        return Entries(self.row + row, self.column + column, self.value)

    def times(self, factor: FloatArray | float) -> Entries:
        """Multiply every entry by a factor, one for all or (k,)."""
        return Entries(self.row, self.column, self.value * factor)


def entries(row: IntArray, column: IntArray, value: FloatArray | float = 1.0) -> Entries:
    """Give the entries at the places of arrays that are broadcast against each other."""
    row, column, value = np.broadcast_arrays(row, column, np.asarray(value, dtype=np.float64))
    return Entries(row.ravel(), column.ravel(), value.ravel())


def diagonal(size: int, value: float = 1.0) -> Entries:
    """Give the entries of a square matrix that has a value on its diagonal."""
    return entries(np.arange(size), np.arange(size), value)


def matrix(rows: int, columns: int, *parts: Entries) -> Any:
    """Put a matrix together; entries at the same place are added up."""
    row, column, value = (np.concatenate(of) for of in zip(*parts, strict=True))
    return coo_array((value, (row, column)), shape=(rows, columns))
