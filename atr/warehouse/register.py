"""The register: what was published of a log, by every programme that shares the file, so that a report can be held
against all before it. Private, beside the stores; it holds published numbers only.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from atr.core.arrays import FloatArray
from atr.core.regions import Regions
from atr.programme import Programme
from atr.programme.periods import Period
from atr.warehouse.connection import Warehouse
from atr.warehouse.files import read_json, sha256, write_text
from atr.warehouse.ledger import Ledger, State, documents_path
from atr.warehouse.raw_values import RawSet, RawValues, counterparts, meet
from atr.warehouse.store import PATIENCE, locked, os_faults

Key = tuple[RawSet, ...]
Limits = tuple[float, float]
Id = tuple[str, str, str, int]
"""Store as seen from the register, programme, period and version of a release."""
_PLACES: tuple[State, ...] = ("published", "draft")
_log = logging.getLogger("atr.register")


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
    """One published release. ``store``, as seen from the register, tells programmes of one name apart."""

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
    groups: tuple[PublishedGroup, ...]

    @property
    def days(self) -> Period:
        """The period with its days."""
        return Period(self.period, self.start, self.end)

    @property
    def id(self) -> Id:
        """What tells it apart from every other entry."""
        return (self.store, self.programme, self.period, self.version)

    def named(self, store: str) -> str:
        """Name it for the owner of a store: by its period, and by its programme where that is another."""
        return self.period if store == self.store else f"{self.programme} {self.period}"

    def same_period(self, other: Entry) -> bool:
        """Tell whether both are versions of one report."""
        return self.id[:3] == other.id[:3]

    def overlaps(self, other: Entry) -> bool:
        """Tell whether both speak of the same people, but are not versions of one report."""
        return self.log.shares(other.log) and not self.same_period(other) and self.days.overlaps(other.days)

    def differs(self, other: Entry) -> bool:
        """Tell whether both divide the same log otherwise, so that neither can be held against the other."""
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
        """What was ever published of a log, the oldest first: whoever kept a report that was replaced has it still."""
        return [entry for entry in self.entries if entry.log.shares(log)]

    def published(self, log: Log) -> list[Entry]:
        """What is published of a log and was not replaced, the oldest first."""
        return [entry for entry in self.told(log) if entry.state == "published"]

    def against(self, entry: Entry) -> list[Entry]:
        """What is published of the same people as a report, in other periods or divisions."""
        others = (other for other in self.published(entry.log) if other.id != entry.id)
        return [other for other in others if entry.overlaps(other) or entry.differs(other)]

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


def complete(register: Register, warehouse: Warehouse, programme: Programme) -> None:
    """Enter what a programme published before it kept a register, from the site or the store."""
    ids, raw = {entry.id for entry in register.entries}, RawValues.of(warehouse, programme)
    entered = 0
    for release in sorted(Ledger(warehouse).releases(), key=lambda release: release.changed_at):
        id = (register.store, programme.programme, release.period, release.version)
        if release.state not in ("published", "replaced") or id in ids:
            continue
        paths = [documents_path(programme, replace(release, state=state)) / "report.json" for state in _PLACES]
        path = next((path for path in paths if path.is_file() and sha256(path) == release.report_sha256), None)
        if path is None:
            _log.warning("%s is published, but not as it was: the register cannot say what it tells", release.id)
            continue
        report = read_json(path)
        log = log_of(warehouse, programme, raw, report["outcomes"])
        entry = entry_of(report, programme, log=log, raw=raw, store=register.store, sha256=sha256(path))
        register.put(entry.model_copy(update={"state": release.state}))
        entered += 1
    if entered:
        _log.warning("%d releases published before are entered in the register, %s", entered, register.path)


def log_of(warehouse: Warehouse, programme: Programme, raw: RawValues, outcomes: Iterable[str]) -> Log:
    """Describe the log of a programme as its register knows it; ``outcomes`` are named in the order of a report."""
    here = os.path.realpath(programme.register_path.parent)
    files = warehouse.query("SELECT DISTINCT key FROM files WHERE key IS NOT NULL ORDER BY 1")
    return Log(
        source=", ".join(
            os.path.relpath(os.path.realpath(programme.path.parent / Path(source).expanduser()), here)
            if programme.log.in_files and "://" not in source
            else source
            for source in programme.log.sources
        ),
        files=tuple(key[:16] for (key,) in files),
        public=programme.names(role="public"),
        sensitive=programme.names(role="sensitive"),
        outcomes=tuple(raw.outcomes.get(name, (name,)) for name in outcomes),
    )


def entry_of(
    report: Mapping[str, Any], programme: Programme, *, log: Log, raw: RawValues, store: str, sha256: str
) -> Entry:
    """Make the entry of a release from its ``report.json`` as plain JSON, of this schema or the one before."""
    outcomes: list[str] = report["outcomes"]
    start, end = (report["period"][name] for name in ("start", "end"))
    return Entry(
        programme=programme.programme,
        store=store,
        period=report["period"]["label"],
        version=report["version"],
        start=start,
        end=end,
        date=report["date"],
        sha256=sha256,
        rounding=report["policy"]["population_rounding"],
        log=log,
        groups=tuple(
            PublishedGroup(
                public=tuple(raw.behind(name, group["public"].get(name)) for name in log.public),
                people=group["population"],
                rate=tuple(group["rate"][name] for name in outcomes),
                regions=tuple(
                    PublishedRegion(
                        sensitive=tuple(raw.behind(name, region["sensitive"].get(name)) for name in log.sensitive),
                        people=_people(region["population"]),
                        limits=_limits(region, report["fidelity"], outcomes),
                    )
                    for region in (() if group["status"] == "flattened" else group["regions"])
                ),
            )
            for group in report["groups"]
            if group.get("rate")  # else it is withheld
        ),
    )


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


def _cross(one: Key, other: Key) -> bool:
    """Tell whether two regions share some values, but are not the same; where one tells no values, they do not."""
    return one != other and "*" not in (*one, *other) and all(map(meet, one, other))


def _people(printed: int | dict[str, int]) -> int:
    return printed["below"] // 2 if isinstance(printed, dict) else printed


def _limits(region: dict[str, Any], promise: dict[str, Any], outcomes: list[str]) -> tuple[Limits, ...] | None:
    """Closed limits of each outcome's chance: as printed, or as the promise leaves them."""
    chances, told = region["announced"], region.get("limits")
    if told is not None:
        return tuple((low, high) for low, high in (told[name] for name in outcomes))
    kind, level = promise["kind"], promise.get("level") or 0.0
    if kind == "delta":
        return tuple((max(0.0, chances[o] - (1 - level)), min(1.0, chances[o] + (1 - level))) for o in outcomes)
    if kind == "alpha" and level:
        return tuple((level * chances[o], min(1.0, chances[o] / level)) for o in outcomes)
    if region.get("allowed") is None:
        return None
    low, high = region["allowed"]
    return ((low, high), (1 - high, 1 - low))
