"""The register: what was published of a log, by every programme that shares the file, so that a report can be held
against all before it. Private, beside the stores; it holds published numbers only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from atr.core.arrays import FloatArray
from atr.core.regions import Regions
from atr.programme import Programme
from atr.programme.periods import Period
from atr.warehouse.files import read_json, write_text
from atr.warehouse.ledger import Kind
from atr.warehouse.raw_values import RawSet, RawValues, counterparts, meet
from atr.warehouse.store import PATIENCE, locked, os_faults

Key = tuple[RawSet, ...]
Limits = tuple[float, float]
Id = tuple[str, str, str, int]
"""Store as seen from the register, programme, period and version of a release."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class PublishedRegion(_Part):
    """A region as printed: raw sensitive values, people, and closed limits of the chance of each outcome, if told."""

    sensitive: Key
    people: int
    limits: tuple[Limits, ...] | None


class PublishedGroup(_Part):
    """A group as printed: raw public values, people, the rate of each outcome, and regions where they are shown."""

    public: Key
    people: int
    rate: tuple[float, ...]
    regions: tuple[PublishedRegion, ...]


class Log(_Part):
    """Which decisions a report is of: the source as seen from the register, the files read, and the columns."""

    source: str
    files: tuple[str, ...]
    public: tuple[str, ...]
    sensitive: tuple[str, ...]
    outcomes: tuple[RawSet, ...]

    def shares(self, other: Log) -> bool:
        """Tell whether some decisions are of both, whatever is shown of them."""
        return self.source == other.source or bool({*self.files} & {*other.files})

    def agrees_with(self, other: Log) -> bool:
        """Tell whether the same columns and outcomes are shown."""
        return (
            {*self.public} == {*other.public}
            and {*self.sensitive} == {*other.sensitive}
            and {*self.outcomes} == {*other.outcomes}
        )


class Entry(_Part):
    """One published release. ``store``, as seen from the register, tells programmes of one name apart.

    Of released records ``column`` is what is released, ``hidden`` what it must not tell, and ``seed`` the fingerprint
    of their draws; they have no groups.
    """

    programme: str
    store: str
    period: str
    version: int
    start: date | None
    end: date | None
    date: str
    sha256: str
    state: Literal["published", "replaced"] = "published"
    rounding: int
    log: Log
    groups: tuple[PublishedGroup, ...] = ()
    kind: Kind = "report"
    column: str = ""
    hidden: tuple[str, ...] = ()
    seed: str = ""

    @property
    def days(self) -> Period:
        """The period with its days."""
        return Period(self.period, self.start, self.end)

    @property
    def id(self) -> Id:
        """What tells it apart from every other entry."""
        return (self.store, self.programme, self.release, self.version)

    @property
    def release(self) -> str:
        """The period, and that it is of records."""
        return release_name(self.kind, self.period)

    def named(self, store: str) -> str:
        """Name it for the owner of a store: by its period, and by its programme where that is another."""
        return self.release if store == self.store else f"{self.programme} {self.release}"

    def same_period(self, other: Entry) -> bool:
        """Tell whether both are versions of one report."""
        return self.id[:3] == other.id[:3]

    def overlaps(self, other: Entry) -> bool:
        """Tell whether both speak of the same people, but are not versions of one report."""
        return self.log.shares(other.log) and not self.same_period(other) and self.days.overlaps(other.days)

    def differs(self, other: Entry) -> bool:
        """Tell whether both are reports that divide the same log otherwise: neither can be held against the other."""
        if self.kind == "records":
            return False
        both = self.regions.keys() & other.regions.keys()
        pairs = (keys for group in both for keys in product(self.regions[group], other.regions[group]))
        return self.log.shares(other.log) and (not self.log.agrees_with(other.log) or any(_cross(*of) for of in pairs))

    @cached_property
    def regions(self) -> dict[Key, dict[Key, PublishedRegion]]:
        """The regions of every group by raw values, public and sensitive ones each in the order of their names."""
        public, sensitive = (_by_name(names) for names in (self.log.public, self.log.sensitive))
        return {
            public(group.public): {sensitive(region.sensitive): region for region in group.regions}
            for group in self.groups
        }

    @cached_property
    def raw_sets(self) -> dict[str, set[RawSet]]:
        """The sets of raw values that it shows as one, of each attribute."""
        found: dict[str, set[RawSet]] = {name: set() for name in (*self.log.public, *self.log.sensitive)}
        for group in self.groups:
            for region in group.regions or (PublishedRegion(sensitive=(), people=0, limits=None),):
                for name, raws in zip(found, group.public + region.sensitive, strict=False):
                    found[name].add(raws)
        return found


class Register:
    """The entries of a register, in the order of publication.

    Parameters
    ----------
    programme
        It names the file, and whose releases are its own.
    """

    def __init__(self, programme: Programme) -> None:
        self.path = programme.register_path
        self.store = os.path.relpath(programme.store_path, self.path.parent)
        with os_faults(self.path):
            content = read_json(self.path) if self.path.exists() else {"releases": []}
        self.entries = [Entry.model_validate(entry) for entry in content["releases"]]

    @classmethod
    @contextmanager
    def held(cls, programme: Programme, *, wait: float = PATIENCE) -> Iterator[Register]:
        """Open the register of a programme and be the only one who writes in it.

        Raises
        ------
        EnvironmentFault
            If another process holds it for longer, or the file cannot be used.
        """
        path = programme.register_path
        with os_faults(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(Path(f"{path}.lock"), wait, path, lambda: "writing the register"):
            yield cls(programme)

    def told(self, log: Log) -> list[Entry]:
        """The reports ever published of a log, the oldest first: whoever kept one that was replaced has it still."""
        return [entry for entry in self.entries if entry.kind == "report" and entry.log.shares(log)]

    def published(self, log: Log) -> list[Entry]:
        """The reports that are published of a log and were not replaced, the oldest first."""
        return [entry for entry in self.told(log) if entry.state == "published"]

    def against(self, entry: Entry) -> list[Entry]:
        """What is published of the same kind and people, in other periods or divisions."""
        others = [other for other in self.entries if other.state == "published" and other.kind == entry.kind]
        return [other for other in others if other.id != entry.id and (entry.overlaps(other) or entry.differs(other))]

    def beside(self, log: Log, days: Period, kind: Kind) -> list[Entry]:
        """The records that are published of the same people as a report, or the reports: what both tell adds up.

        Parameters
        ----------
        log, days, kind
            Of the report, or of the records.
        """
        others = (other for other in self.entries if other.state == "published" and other.kind != kind)
        return [other for other in others if other.log.shares(log) and other.days.overlaps(days)]

    def of_the_same(self, entry: Entry) -> list[Entry]:
        """What is published of the same people, as the documents of a release name it (``beside`` in its JSON)."""
        against = self.against(entry) if entry.kind == "records" else []
        return [*against, *self.beside(entry.log, entry.days, entry.kind)]

    def put(self, entry: Entry) -> None:
        """Enter a release, in place of what is entered of it already."""
        self.entries = [*{known.id: known for known in (*self.entries, entry)}.values()]
        self._write()

    def drop(self, id: Id) -> None:
        """Forget a release that was not published after all."""
        self.entries = [entry for entry in self.entries if entry.id != id]
        self._write()

    def replace(self, replaced: Iterable[Id]) -> None:
        """Note that releases were replaced by later versions."""
        old = {*replaced}
        self.entries = [e.model_copy(update={"state": "replaced"}) if e.id in old else e for e in self.entries]
        self._write()

    def _write(self) -> None:
        lines = ",\n".join(entry.model_dump_json() for entry in self.entries)
        with os_faults(self.path):
            write_text(self.path, f'{{"releases": [\n{lines}\n]}}\n')


def earlier_limits(regions: Regions, entries: Iterable[Entry], *, log: Log, raw: RawValues) -> FloatArray:
    """Give what earlier reports say of decision regions.

    Parameters
    ----------
    regions
        Those of the present report.
    entries
        The earlier reports, the oldest first.
    log, raw
        Of the present report.

    Returns
    -------
    (reports, n, outcomes, 2) closed limits of the chance of each outcome, nan where a report says nothing of a region;
    without the reports that say nothing of any.
    """
    names = (*regions.public, *regions.sensitive)
    behind = [tuple(map(raw.behind, names, values)) for values in regions.values]
    silent = tuple((float("nan"), float("nan")) for _ in regions.outcomes)
    public, sensitive = _by_name(log.public), _by_name(log.sensitive)
    k = len(log.public)
    found = []
    for entry in entries:
        if entry.log.agrees_with(log):
            then = [counterparts([of[i] for of in behind], entry.raw_sets[name]) for i, name in enumerate(names)]
            keys = [tuple(of.get(raws, raws) for of, raws in zip(then, values, strict=True)) for values in behind]
            told = [entry.regions.get(public(key[:k]), {}).get(sensitive(key[k:])) for key in keys]
            of = np.array([silent if region is None or region.limits is None else region.limits for region in told])
            found.append(of[:, [entry.log.outcomes.index(raws) for raws in log.outcomes]])
    limits = np.array(found, dtype=np.float64).reshape(len(found), len(behind), len(regions.outcomes), 2)
    return limits[~np.isnan(limits).all(axis=(1, 2, 3))]


def _by_name(names: tuple[str, ...]) -> Callable[[Key], Key]:
    """Put values in the order of their columns' names, whatever the order in a programme."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return lambda values: tuple(values[i] for i in order)


def release_name(kind: Kind, period: str) -> str:
    """Name a release in the register: by its period, and that it is of records."""
    return period if kind == "report" else f"{period} ({kind})"


def _cross(one: Key, other: Key) -> bool:
    """Tell whether two regions share some values, but are not the same; where one tells no values, they do not."""
    return one != other and "*" not in (*one, *other) and all(map(meet, one, other))
