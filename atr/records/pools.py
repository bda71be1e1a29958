"""Which groups of people share a channel: those that are too small join others, by public attributes alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atr.core.arrays import IntArray, Values
from atr.core.regions import DisclosureStatus, Regions
from atr.core.rest_groups import rest_groups
from atr.errors import RefusedError
from atr.programme import Programme
from atr.records.joints import Joints


@dataclass(frozen=True)
class Pools:
    """The groups that channels are of.

    Parameters
    ----------
    values
        (p,) values of the released attributes, :data:`~atr.core.display_text.ANY` where the people do not share one.
    joined
        (p,) whether the pool is made of several groups.
    of_cell
        (n,) the pool of each cell of the joints.
    """

    values: tuple[Values, ...]
    joined: tuple[bool, ...]
    of_cell: IntArray


def pooled(joints: Joints, programme: Programme) -> Pools:
    """Join the groups of fewer people than the policy's ``minimum_group_size``, as rest groups of reports are joined.

    Decided from the sizes of groups alone. Everybody is in a pool: where one is large enough, what is left joins it.

    Raises
    ------
    RefusedError
        If all people together are too few.
    """
    least = programme.policy.minimum_group_size
    if joints.people.sum() < least:
        raise RefusedError(
            f"fewer than {least} people were decided on: no records are released",
            where=f"{programme.path}, sanitise",
            hint="Take a longer period.",
        )
    sizes = np.bincount(joints.group, joints.people, len(joints.groups)).astype(np.int64)
    regions = Regions(
        public=joints.released,
        protection=programme.protection,
        outcomes=("", ""),
        group_values=joints.groups,
        region_values=((),) * len(sizes),
        counts=np.column_stack([sizes, np.zeros_like(sizes)]),
        offsets=np.arange(len(sizes) + 1),
    )

    def status(of: Regions) -> IntArray:
        small = of.group_population < least
        return np.where(small, DisclosureStatus.TOO_SMALL, DisclosureStatus.ANNOUNCED).astype(np.int64)

    protected = [name for name in programme.names(role="public", protected=True) if name in joints.released]
    whole = rest_groups(regions, protected, status)
    names = [whole.get(values, values) for values in joints.groups]
    pools, rest = tuple(dict.fromkeys(names)), {*whole.values()}
    position = {values: i for i, values in enumerate(pools)}
    of_group = np.array([position[values] for values in names], dtype=np.int64)
    return Pools(pools, tuple(values in rest for values in pools), of_group[joints.group])
