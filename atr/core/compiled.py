"""Compilation of the loops that NumPy cannot do in one pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Compile on first use; the machine code is kept on disk where there is any place for it."""
    try:
        return cast(_Function, njit(function, nogil=True, error_model="numpy", cache=True))
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        return cast(_Function, njit(function, nogil=True, error_model="numpy"))
