"""Programmes that differ from a given one in one choice, to see what another choice would bring."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from atr.core.protected import floored
from atr.programme.attributes import Attribute
from atr.programme.series import Programme


def without(programme: Programme, names: Collection[str]) -> Programme:
    """Leave out attributes; what else the programme says of them, such as an intersection, is left as it is."""
    kept = {name: attribute for name, attribute in programme.attributes.items() if name not in names}
    return programme.model_copy(update={"attributes": kept})


def coarser(programme: Programme, name: str, level: int) -> Programme:
    """Take a level of an attribute's hierarchy, from 1, the finest of the coarser ones, for its values."""
    attribute = programme.attributes[name].model_copy()
    if (hierarchy := attribute.coarser) is not None:
        higher = {row[level - 1]: row[level:] for row in hierarchy.coarser.values()}
        attribute._coarser = replace(hierarchy, coarser=higher)
    return programme.model_copy(update={"attributes": programme.attributes | {name: attribute}})


def with_policy(programme: Programme, **keys: Any) -> Programme:
    """Change keys of the policy."""
    return programme.model_copy(update={"policy": programme.policy.model_copy(update=keys)})


def with_ceiling(programme: Programme, ceiling: float) -> Programme:
    """Change the policy's ceiling; own ceilings stay as they are, as far as they are not above it."""
    capped = {name: _capped(attribute, ceiling) for name, attribute in programme.attributes.items()}
    return with_policy(programme, max_confidence=ceiling).model_copy(update={"attributes": capped})


def nearby_ceilings(programme: Programme, distance: float = 0.05) -> list[float]:
    """Give the ceilings a little below and above the policy's, those that protect anybody."""
    now, digits = programme.policy.max_confidence, programme.policy.digits
    near = (round(now + away, 6) for away in (-distance, distance))
    return [ceiling for ceiling in near if 0 < ceiling < 1 and floored(ceiling, digits=digits)]


def _capped(attribute: Attribute, ceiling: float) -> Attribute:
    def lower(own: float | None) -> float | None:
        return None if own is None else min(own, ceiling)

    sets = {
        name: of_set.model_copy(update={"max_confidence": lower(of_set.max_confidence)})
        for name, of_set in attribute.named.items()
    }
    return attribute.model_copy(update={"max_confidence": lower(attribute.max_confidence), "sets": sets or None})
