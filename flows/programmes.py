"""Which programmes a served run may be about: those that the person who started `atr serve` named, by real path."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from atr.errors import ProgrammeError, RefusedError
from atr.programme import load, located
from atr.warehouse.files import read_json, write_json

SERVED = "programmes.json"
"""The file in Prefect's own folder that lists them."""

_allowed: frozenset[str] | None = None


def declared(deployments: Path) -> list[str]:
    """The programmes that the deployments of a ``prefect.yaml`` and their schedules name.

    Raises
    ------
    ProgrammeError
        If the file is no YAML.
    """
    try:
        content: Any = yaml.safe_load(deployments.read_bytes()) or {}
        parts = [part for one in content.get("deployments") or [] for part in (one, *(one.get("schedules") or []))]
        named = [(part.get("parameters") or {}).get("programme") for part in parts]
    except (yaml.YAMLError, OSError, AttributeError, TypeError, ValueError) as error:
        raise ProgrammeError(
            f"cannot be read as deployments ({' '.join(str(error).split())})", where=str(deployments)
        ) from None
    return list(dict.fromkeys(path for path in named if isinstance(path, str)))


def serve_only(programmes: Iterable[str | Path], file: Path) -> None:
    """List the programmes for the runs of a worker.

    Parameters
    ----------
    programmes
        Their files or folders; relative ones as seen from the working folder.
    file
        Where to; it is its owner's alone.
    """
    write_json(file, sorted({str(located(path).resolve()) for path in programmes}))


def restrict(file: Path) -> None:
    """Let this process run no other programmes than those listed."""
    global _allowed
    _allowed = frozenset(read_json(file))


def permitted(programme: str) -> str:
    """The real path of a programme, if this process may run it: no link to it is followed again.

    Raises
    ------
    ProgrammeError
        If there is no such file.
    RefusedError
        If the worker was not told of it.
    """
    path = located(programme).resolve()
    if _allowed is not None and str(path) not in _allowed:
        if not os.path.lexists(path):
            load(path)  # says so
        raise RefusedError(
            "is none of the programmes that are served here",
            where=str(path),
            hint="Whoever starts the server names them: atr serve --programme PATH, or in prefect.yaml.",
        )
    return str(path)
