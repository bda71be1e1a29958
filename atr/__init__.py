"""Algorithmic Transparency Reports: announced decision rules that bound what a reader can infer.

>>> programme = atr.load("programme.yaml")            # doctest: +SKIP
>>> atr.check(programme).periods                      # doctest: +SKIP
>>> draft = atr.publish(programme, period="2013")     # doctest: +SKIP

The mathematics is in :mod:`atr.core`, :mod:`atr.mechanisms` and :mod:`atr.measures`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from atr.verify import verify
from atr.version import __version__

if TYPE_CHECKING:
    from atr.dossier.review import history, review
    from atr.log_check import check
    from atr.pipeline import publish
    from atr.programme import load
    from atr.records_pipeline import release_records

__all__ = ["__version__", "check", "history", "load", "publish", "release_records", "review", "verify"]

_HOME = {
    "check": "atr.log_check",
    "history": "atr.dossier.review",
    "load": "atr.programme",
    "publish": "atr.pipeline",
    "release_records": "atr.records_pipeline",
    "review": "atr.dossier.review",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for only then: the command line need not wait for all of it."""
    if name not in _HOME:
        raise AttributeError(f"module 'atr' has no attribute '{name}'")
    return globals().setdefault(name, getattr(import_module(_HOME[name]), name))


def __dir__() -> list[str]:
    return __all__
