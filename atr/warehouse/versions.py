"""Versions of one period: what is kept of each release, and which corrections are too few to be told.

Whoever has two versions sees what changed. So a later one takes up the changes of a group only where they are of so
many people, and so mixed, that they could be a group of their own; until then it counts the group as it was announced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from atr.core.announced import OF_GROUPS, Announced
from atr.core.arrays import FloatArray, IntArray, Values
from atr.core.display_text import ANY
from atr.core.fidelity import Fidelity
from atr.core.regions import Regions
from atr.mechanisms import mechanism_of
from atr.programme import Programme
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import regions_of_rows
from atr.warehouse.files import write_text
from atr.warehouse.ledger import Ledger
from atr.warehouse.raw_values import RawValues
from atr.warehouse.register import Id, Log, Register, complete, earlier_limits, log_of
from atr.warehouse.run import Run

FEWEST_CHANGED = 10
"""Changes of fewer people in a group wait for others; of more where groups are large."""
OF_MINIMUM = 5
"""The least changed people are this part of the smallest group that is announced."""

FindLimits = Callable[[Regions], FloatArray | None]
"""Gives what earlier reports told of decision regions, as :attr:`Regions.earlier` has it."""


class KeptGroup(BaseModel):
    """What was announced of a group, and of which people: as :class:`~atr.core.announcement.Announced` has it."""

    model_config = ConfigDict(frozen=True)

    values: Values
    regions: tuple[Values, ...]
    counts: tuple[tuple[int, ...], ...]
    chance: tuple[tuple[int, ...], ...]
    limits: tuple[tuple[tuple[float, float], ...], ...] | None
    group_digits: int
    rate_only: bool
    limits_only: bool
    held: float
    prior: float
    rules: float | None
    readers: dict[str, float]

    @property
    def people(self) -> dict[Values, tuple[int, ...]]:
        """People with each outcome, by the sensitive values of their region."""
        return dict(zip(self.regions, self.counts, strict=True))


class Kept(BaseModel):
    """What is kept of a release for its approval and for later versions of the period. Private.

    ``terms`` are the policy and the protected sets, ``seen`` the releases published before that it was made with,
    replaced ones included; None where its mechanism does not look at them. ``counted`` has the outcomes of every region
    of the log, ``joined`` the group that others were made part of. ``before`` is the version that it follows.
    """

    model_config = ConfigDict(frozen=True)

    raw: RawValues
    log: Log
    terms: str
    seen: tuple[Id, ...] | None = None
    before: str = ""
    waiting: bool = False
    counted: tuple[tuple[Values, tuple[int, ...]], ...] = ()
    joined: tuple[tuple[Values, Values], ...] = ()
    promise: str = ""
    groups: tuple[KeptGroup, ...] = ()

    def with_joined(self, regions: Regions) -> Kept:
        """The same, with the groups that were made part of others."""
        joined = tuple((part, whole) for whole, parts in regions.joined.items() for part in parts)
        return self.model_copy(update={"joined": joined})

    def with_announced(self, announced: Announced, regions: Regions) -> Kept:
        """The same, with what is announced of every group that a mechanism chose for."""
        groups = tuple(_kept_groups(announced, regions))
        return self.model_copy(update={"groups": groups, "promise": _named(announced.promise)})


def kept_path(programme: Programme, release: str) -> Path:
    """Where what is kept of a release is, by its id."""
    return programme.store_path / "kept" / f"{release}.json"


def keep(kept: Kept, path: Path) -> None:
    """Write what is kept of a release, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_text(path, kept.model_dump_json())


def read_kept(path: Path) -> Kept | None:
    """Read what is kept of a release; None where nothing is, as of one made by an earlier version of this software."""
    return Kept.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else None


def leave(run: Run, kept: Kept) -> None:
    """Leave what is kept of a release for the next step of its run."""
    keep(kept, run.folder / "kept.json")


def of_run(run: Run) -> Kept:
    """What the step before left."""
    kept = read_kept(run.folder / "kept.json")
    if kept is None:
        raise ValueError("no step of the run has left what is kept of its release")
    return kept


def about(
    warehouse: Warehouse, programme: Programme, period: str, outcomes: tuple[str, ...]
) -> tuple[Kept, FindLimits]:
    """Say what a new version of the report of a period is made of, and against what.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme, period
        What the report is about.
    outcomes
        As they are counted.

    Returns
    -------
    What is known beforehand, and how to find what earlier reports told of decision regions.
    """
    raw = RawValues.of(warehouse, programme)
    log = log_of(warehouse, programme, raw, outcomes)
    with Register.held(programme) as register:
        complete(register, warehouse, programme)
    before = [release.id for release in Ledger(warehouse).releases(period) if release.state == "published"]
    seen = register.told(log) if remembers(programme) else None
    kept = Kept(
        raw=raw,
        log=log,
        terms=f"{programme.policy!r} {programme.protection!r}",
        seen=None if seen is None else tuple(entry.id for entry in seen),
        before=before[-1] if before else "",
    )

    def find_limits(regions: Regions) -> FloatArray | None:
        limits = earlier_limits(regions, seen or (), log=log, raw=raw)
        return limits if len(limits) else None

    return kept, find_limits


def remembers(programme: Programme) -> bool:
    """Tell whether what is announced depends on limits that earlier reports told."""
    return mechanism_of(programme.policy).terms(programme.policy).step is not None


def settled(counted: Regions, kept: Kept, programme: Programme) -> tuple[Regions, Kept]:
    """Count groups as they were announced where too few people changed.

    Parameters
    ----------
    counted
        The regions of the period, as the log has them now.
    kept
        What is known of the new version.
    programme
        Its policy, and the order of values.

    Returns
    -------
    The regions of which the new version speaks, and what is kept of it, with them and the groups that stay joined.
    """
    versions = [*_versions_before(kept, programme)]
    if not versions:
        return counted, kept.model_copy(update={"counted": _rows(counted)})
    k, none, before = len(counted.public), np.zeros(len(counted.outcomes), dtype=np.int64), versions[0]
    now = dict(zip(counted.values, counted.counts, strict=True))
    told = [{values: np.array(counts, dtype=np.int64) for values, counts in of.counted} for of in versions]
    unit_of, units = dict(before.joined), defaultdict(list)
    for values in dict.fromkeys(chain(now, *told)):
        units[unit_of.get(values[:k], values[:k])].append(values)
    rows: dict[Values, IntArray] = {}
    waiting = False
    for members in units.values():
        differences = []
        for then in told:
            changed: dict[Values, IntArray] = defaultdict(none.copy)
            for values in members:
                changed[values[k:]] = changed[values[k:]] + now.get(values, none) - then.get(values, none)
            differences.append(changed)
        wait = any(_waits(changed, programme) for changed in differences)
        waiting |= wait and any(difference.any() for difference in differences[0].values())
        rows |= {values: (told[0] if wait else now).get(values, none) for values in members}
    rows = {values: counts for values, counts in rows.items() if counts.any()}
    counts = np.array([*rows.values()], dtype=np.int64)
    regions = regions_of_rows([*rows], counts, programme=programme, outcomes=counted.outcomes)
    return regions, kept.model_copy(update={"counted": _rows(regions), "joined": before.joined, "waiting": waiting})


def _rows(regions: Regions) -> tuple[tuple[Values, tuple[int, ...]], ...]:
    return tuple(zip(regions.values, map(tuple, regions.counts.tolist()), strict=True))


def _versions_before(kept: Kept, programme: Programme) -> Iterator[Kept]:
    """The versions that a release follows, the newest first, up to one that divides people otherwise."""
    while (before := _before(kept, programme)) is not None:
        yield before
        kept = kept.model_copy(update={"before": before.before})


def _before(kept: Kept, programme: Programme) -> Kept | None:
    """What is kept of the version before, in the names and the order of now; None where it divides people otherwise."""
    before, log = read_kept(kept_path(programme, kept.before)), kept.log
    if before is None or not before.log.agrees_with(log):
        return None
    old, names = before.log, {}
    for attribute, values in before.raw.attributes.items():
        now = {raws: value for value, raws in kept.raw.attributes.get(attribute, {}).items()}
        names[attribute] = {ANY: ANY} | {value: now[raws] for value, raws in values.items() if raws in now}

    def renamed(values: Values, before: tuple[str, ...], after: tuple[str, ...]) -> Values:
        return tuple(names[name][values[before.index(name)]] for name in after)

    order = [old.outcomes.index(raws) for raws in log.outcomes]
    public, every = (old.public, log.public), ((*old.public, *old.sensitive), (*log.public, *log.sensitive))
    try:
        return before.model_copy(
            update={
                "counted": tuple(
                    (renamed(values, *every), tuple(counts[i] for i in order)) for values, counts in before.counted
                ),
                "joined": tuple((renamed(part, *public), renamed(whole, *public)) for part, whole in before.joined),
                "groups": tuple(
                    group.model_copy(
                        update={
                            "values": renamed(group.values, *public),
                            "regions": tuple(renamed(of, old.sensitive, log.sensitive) for of in group.regions),
                        }
                    )
                    for group in (before.groups if old.outcomes == log.outcomes else ())
                ),
            }
        )
    except KeyError:  # a value that is none of now's
        return None


def _waits(changed: dict[Values, IntArray], programme: Programme) -> bool:
    """Whether the changes of a group's regions, (outcomes,) people each, are too few or too much alike to be told."""
    regions, difference, policy = [*changed], np.array([*changed.values()]), programme.policy
    if not difference.any():
        return False
    more, fewer = int(difference.clip(min=0).sum()), int((-difference).clip(min=0).sum())
    if OF_MINIMUM * max(more, fewer) < max(OF_MINIMUM * FEWEST_CHANGED, policy.minimum_group_size):
        return True
    came = difference.sum(axis=1)
    return not all(
        mechanism_of(policy).announceable(
            people[people > 0],
            [values for values, n in zip(regions, people, strict=True) if n],
            programme.protection,
            difference.shape[1],
            policy,
        )
        for people in (came.clip(min=0), (-came).clip(min=0))
        if people.any()
    )


def reprinted(announced: Announced, regions: Regions, kept: Kept, programme: Programme) -> Announced:
    """Announce groups of unchanged people as the version before did.

    Parameters
    ----------
    announced
        What the mechanism chose anew.
    regions
        All groups that are to be announced.
    kept
        What is known of the new version.
    programme
        The series.
    """
    before, promise = _before(kept, programme), announced.promise
    if before is None or (before.terms, before.promise) != (kept.terms, _named(promise)):
        return announced
    old = {group.values: group for group in before.groups}
    chance, limits = announced.chance.copy(), None if promise.limits is None else promise.limits.copy()
    of_groups = {name: getattr(announced, name).copy() for name in OF_GROUPS}
    readers: dict[str, FloatArray] = {}
    for g, now in enumerate(_kept_groups(announced, regions)):
        group = old.get(now.values, now)
        if group.people != now.people:
            group = now
        members = regions.offsets[g] + np.array([now.regions.index(values) for values in group.regions])
        chance[members] = group.chance
        if limits is not None:
            limits[members] = group.limits
        for name, values in of_groups.items():
            values[g] = getattr(group, name)
        for name, sure in group.readers.items():
            readers.setdefault(name, np.zeros(len(regions)))[g] = sure
    again = mechanism_of(programme.policy).promise(promise.kind, promise.level, limits) or promise
    return replace(announced, chance=chance, promise=again, readers=readers, **of_groups)


def _kept_groups(announced: Announced, regions: Regions) -> list[KeptGroup]:
    limits, found = announced.promise.limits, []
    for g, values in enumerate(regions.group_values):
        members = slice(regions.offsets[g], regions.offsets[g + 1])
        group = KeptGroup(
            values=values,
            regions=regions.region_values[members],
            counts=_table(regions.counts[members]),
            chance=_table(announced.chance[members]),
            limits=None if limits is None else tuple(map(_table, limits[members])),
            group_digits=int(announced.group_digits[g]),
            rate_only=bool(announced.rate_only[g]),
            limits_only=bool(announced.limits_only[g]),
            rules=None if np.isnan(announced.rules[g]) else float(announced.rules[g]),
            held=float(announced.held[g]),
            prior=float(announced.prior[g]),
            readers={name: float(sure[g]) for name, sure in announced.readers.items()},
        )
        found.append(group)
    return found


def _named(promise: Fidelity) -> str:
    return promise.kind if promise.level is None else f"{promise.kind} {promise.level!r}"


def _table(values: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, values.tolist()))
