"""Entries of the register, made from what is published."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from atr.programme import Programme
from atr.warehouse.connection import Warehouse
from atr.warehouse.files import read_json, sha256
from atr.warehouse.kept_releases import Kept, kept_path
from atr.warehouse.ledger import Release, State, documents_path, of_every_kind
from atr.warehouse.raw_values import RawValues
from atr.warehouse.register import Entry, Id, Limits, Log, PublishedGroup, PublishedRegion, Register, release_name

_PLACES: tuple[State, ...] = ("published", "draft")
_log = logging.getLogger("atr.register")


def complete(register: Register, warehouse: Warehouse, programme: Programme) -> None:
    """Enter what a programme published before it kept a register, from the site or the store."""
    ids, raw = {entry.id for entry in register.entries}, RawValues.of(warehouse, programme)
    entered = 0
    for release in sorted(of_every_kind(warehouse), key=lambda release: release.changed_at):
        if release.state not in ("published", "replaced") or id_of(release, programme, register.store) in ids:
            continue
        folders = (documents_path(programme, replace(release, state=state)) for state in _PLACES)
        paths = [folder / release.content_file for folder in folders]
        path = next((path for path in paths if path.is_file() and sha256(path) == release.report_sha256), None)
        if path is None:
            _log.warning("%s is published, but not as it was: the register cannot say what it tells", release.id)
            continue
        content = read_json(path)
        log = log_of(warehouse, programme, raw, content.get("outcomes", raw.outcomes))
        make = entry_of if release.kind == "report" else entry_of_records
        entry = make(content, programme, log=log, raw=raw, store=register.store, sha256=sha256(path))
        kept = Kept.read(kept_path(programme, release.id))
        register.put(entry.model_copy(update={"state": release.state, "seed": "" if kept is None else kept.seed}))
        entered += 1
    if entered:
        _log.warning("%d releases published before are entered in the register, %s", entered, register.path)


def id_of(release: Release, programme: Programme, store: str) -> Id:
    """What tells the entry of a release apart, in the register that sees its store so."""
    return (store, programme.programme, release_name(release.kind, release.period), release.version)


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


def entry_of_records(
    channel: Mapping[str, Any], programme: Programme, *, log: Log, raw: RawValues, store: str, sha256: str
) -> Entry:
    """Make the entry of released records from their ``channel.json`` as plain JSON."""
    return Entry(
        kind="records",
        programme=programme.programme,
        store=store,
        period=channel["period"]["label"],
        version=channel["version"],
        start=channel["period"]["start"],
        end=channel["period"]["end"],
        date=channel["date"],
        sha256=sha256,
        rounding=1,
        log=log,
        column=channel["column"],
        hidden=tuple(channel["hidden"]),
    )


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
