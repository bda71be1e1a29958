"""What is kept of each release, for its approval and for later versions of the period. Private."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from atr.core.announced import Announced
from atr.core.arrays import Values
from atr.core.display_text import named
from atr.core.fidelity import Fidelity
from atr.core.regions import Regions
from atr.programme import Programme
from atr.warehouse.files import write_text
from atr.warehouse.raw_values import RawValues
from atr.warehouse.register import Id, Log
from atr.warehouse.run import Run

LogChanges = tuple[int, int, int, int]
"""How often the log was read anew, and how many decisions were new, changed and gone since."""
UNCOUNTED: LogChanges = (-1, 0, 0, 0)
Reason = Literal["few", "telling"]
"""Why a group waits: too few people changed, or what changed would tell too much."""
WHY: dict[Reason, str] = {
    "few": "too few people came, went or were corrected for a version that tells of them",
    "telling": "who came, went or was corrected could be told too much of by whoever has both versions",
}
"""The same in words."""


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


class Wait(BaseModel):
    """A group that is counted as the version before did: its people there and now, and why. Private."""

    model_config = ConfigDict(frozen=True)

    values: Values
    before: int
    now: int
    why: Reason

    def said(self) -> str:
        """The group, its people then and now, and why it waits, as one sentence without a full stop."""
        people, reason = f"{self.before:,} people in the version before, {self.now:,} now", WHY[self.why]
        return f"{', '.join(named(self.values))} ({people}): {reason}"


class Kept(BaseModel):
    """What is kept of a release for its approval and for later versions of the period. Private.

    ``terms`` are the policy and the protected sets, of records the part ``sanitise``, ``seen`` the releases published
    before that it was made with, replaced ones included; None where its mechanism does not look at them. ``counted``
    has the outcomes of every region of the log, ``joined`` the group that others were made part of. ``before`` is the
    version that it follows, ``waits`` the groups that have changed since and are counted as they were there, ``as_of``
    the version that counted the people of a group first, where that is an earlier one, ``log_changes`` what
    :func:`atr.ingest.log_changes` counted when it was drafted, ``log_read`` when it was last held against the log,
    ``seed`` the fingerprint of the draws of released records.
    """

    model_config = ConfigDict(frozen=True)

    raw: RawValues
    log: Log
    terms: str
    seen: tuple[Id, ...] | None = None
    before: str = ""
    waits: tuple[Wait, ...] = ()
    as_of: tuple[tuple[Values, int], ...] = ()
    log_changes: LogChanges = UNCOUNTED
    log_read: LogChanges = UNCOUNTED
    counted: tuple[tuple[Values, tuple[int, ...]], ...] = ()
    joined: tuple[tuple[Values, Values], ...] = ()
    promise: str = ""
    groups: tuple[KeptGroup, ...] = ()
    seed: str = ""

    @classmethod
    def read(cls, path: Path) -> Kept | None:
        """Read what is kept of a release; None where nothing is, as of one made by earlier software."""
        return cls.model_validate_json(path.read_text(encoding="utf-8")) if path.is_file() else None

    @classmethod
    def left(cls, run: Run) -> Kept:
        """Read what the step before left."""
        kept = cls.read(run.folder / "kept.json")
        if kept is None:
            raise ValueError("no step of the run has left what is kept of its release")
        return kept

    def leave(self, run: Run) -> None:
        """Leave it for the next step of the run."""
        self.write(run.folder / "kept.json")

    def write(self, path: Path) -> None:
        """Write it, readable by its owner only."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(path, self.model_dump_json())

    def of_draft(self, path: Path, *, new: bool) -> None:
        """Write it for a draft; one that says nothing new counts changes of the log from when it was made."""
        before = None if new else Kept.read(path)
        changes = self.log_changes if before is None else before.log_changes
        self.model_copy(update={"log_changes": changes, "log_read": self.log_changes}).write(path)

    def with_joined(self, regions: Regions) -> Kept:
        """The same, with the groups that were made part of others."""
        joined = tuple((part, whole) for whole, parts in regions.joined.items() for part in parts)
        return self.model_copy(update={"joined": joined})

    def with_announced(self, announced: Announced, regions: Regions) -> Kept:
        """The same, with what is announced of every group that a mechanism chose for."""
        groups = tuple(kept_groups(announced, regions))
        return self.model_copy(update={"groups": groups, "promise": named_promise(announced.promise)})


def kept_path(programme: Programme, release: str) -> Path:
    """Where what is kept of a release is, by its id."""
    return programme.store_path / "kept" / f"{release}.json"


def kept_groups(announced: Announced, regions: Regions) -> list[KeptGroup]:
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


def named_promise(promise: Fidelity) -> str:
    return promise.kind if promise.level is None else f"{promise.kind} {promise.level!r}"


def _table(values: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, values.tolist()))
