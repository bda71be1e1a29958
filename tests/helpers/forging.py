"""Reports whose numbers are changed after they were made, for whoever must find that out."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from atr.errors import VerifyError
from atr.report import model
from atr.verify import verify
from atr.verify.statements import findings

Place = tuple[Any, ...]
RECOMPUTED = ("privacy", "fidelity", "coverage", "groups", "fairness", "alike", "influence", "surrogate")
"""The parts whose numbers follow from others."""


def leaves(value: Any, path: Place = ()) -> Iterator[Place]:
    for inner in nodes(value, path):
        if isinstance(value_at(value, inner[len(path) :]), int | float):
            yield inner


def nodes(value: Any, path: Place = ()) -> Iterator[Place]:
    """Every place in a JSON value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from nodes(inner, (*path, key))


def value_at(content: Any, path: Place) -> Any:
    for key in path:
        content = content[key]
    return content


def _copied(content: dict[str, Any], path: Place) -> tuple[dict[str, Any], Any]:
    """The content anew, and in it what holds the place; all that is beside the path is shared."""
    changed = holder = copy.copy(content)
    for key in path[:-1]:
        holder[key] = copy.copy(holder[key])
        holder = holder[key]
    return changed, holder


def with_value(content: dict[str, Any], path: Place, value: Any) -> dict[str, Any]:
    changed, holder = _copied(content, path)
    holder[path[-1]] = value
    return changed


def without(content: dict[str, Any], path: Place) -> dict[str, Any]:
    changed, holder = _copied(content, path)
    del holder[path[-1]]
    return changed


def changed(content: dict[str, Any], path: Place, step: float) -> dict[str, Any]:
    value = value_at(content, path)
    return with_value(content, path, not value if isinstance(value, bool) else round(value + step, 9))


def is_found(path: Path) -> bool:
    """Whether a changed report is refused: by a finding, or because it is no report any more."""
    try:
        return bool(verify(path))
    except VerifyError:
        return True


def is_false(content: dict[str, Any]) -> bool:
    """Whether a report is refused for its own numbers."""
    try:
        report = model.PublicReport.model_validate_json(json.dumps(content), strict=True)
    except ValueError:
        return True
    return next(findings(report), None) is not None


def write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def step_of(path: Place, value: float) -> float:
    """One in the last digit of a number."""
    if isinstance(value, int):
        return 1
    return 0.01 if "rate" in path or "rates" in path or "announced_share" in path else 0.001
