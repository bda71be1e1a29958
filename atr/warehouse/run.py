"""One run of the pipeline, and what its steps leave for each other: files in the run's own folder, private."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from atr.core.announced import OF_GROUPS, Announced
from atr.core.announcement import Announcement
from atr.core.protected import Protection
from atr.core.regions import Regions, ToldBefore
from atr.errors import ProgrammeError, RefusedError
from atr.mechanisms import mechanism_of
from atr.programme import Programme, load, periods
from atr.warehouse.files import read_json, write_json, write_text
from atr.warehouse.store import os_faults

TASKS = 64
"""Up to so many QID groups are solved in a task each; more are solved in so many batches of equal work."""
_ARRAYS = ("counts", "offsets", "earlier", "known", "status")
"""The fields of :class:`Regions` that are arrays, where they are there."""
_TOLD = "told before: "
"""Before the names of the arrays of :class:`ToldBefore`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some QID groups that are solved together."""

    name: str
    number: int


@dataclass(frozen=True)
class Run:
    """One run: of which programme and period, the version and date of the draft it makes, and the day it is run."""

    programme_path: str
    programme_sha256: str
    period_label: str
    version: int
    date: str
    today: str

    @cached_property
    def programme(self) -> Programme:
        """The programme, as it was when the run began.

        Raises
        ------
        ProgrammeError
            If the file, or one that it names, has been changed since: one report must not mix two policies.
        """
        programme = load(self.programme_path)
        if programme.sha256 != self.programme_sha256:
            raise ProgrammeError(
                "the programme, or a file that it names, was changed while the run was under way",
                where=self.programme_path,
                hint="Run it again.",
            )
        return programme

    @property
    def period(self) -> periods.Period:
        """The period of the report."""
        return periods.parse(self.period_label)

    @property
    def id(self) -> str:
        """``2013-Q1-v1``."""
        return f"{self.period_label}-v{self.version}"

    @property
    def folder(self) -> Path:
        """Where the steps leave their files."""
        return self.programme.store_path / "runs" / self.id

    def start(self, regions: Regions, log: dict[str, Any]) -> None:
        """Make the folder anew, with the decision regions of the period and what became of the log."""
        shutil.rmtree(self.folder.parent, ignore_errors=True)
        self.folder.mkdir(parents=True, mode=0o700)
        _save_regions(regions, self.folder / "regions")
        write_json(self.folder / "log.json", log)

    @cached_property
    def regions(self) -> Regions:
        """All decision regions of the period."""
        return _load_regions(self.folder / "regions", self.programme.protection)

    @property
    def log(self) -> dict[str, Any]:
        """What became of the log's rows, and how many decisions of the period lack each attribute."""
        log: dict[str, Any] = read_json(self.folder / "log.json")
        return log

    def share_out(self, announced: Regions) -> list[Batch]:
        """Batches of the groups that are to be announced, each with its own regions in a file.

        Returns
        -------
        One for each group up to :data:`TASKS`; else that many of about equal work.
        """
        ends = np.arange(1, len(announced) + 1)
        if len(announced) > TASKS:
            work = announced.offsets[1:]
            ends = np.unique(np.searchsorted(work, work[-1] * np.arange(1, TASKS + 1) / TASKS) + 1)
        batches = []
        for number, (first, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=False)):
            groups = announced.take(np.arange(first, end))
            _save_regions(groups, self.folder / f"batch-{number:02}")
            name = ", ".join(groups.group_values[0]) if len(announced) <= TASKS else f"groups {first + 1} to {end}"
            batches.append(Batch(name, number))
        return batches

    def regions_of(self, batch: Batch) -> Regions:
        """The decision regions of a batch."""
        return _load_regions(self.folder / f"batch-{batch.number:02}", self.programme.protection)

    def save_solved(self, batch: Batch, solved: pd.DataFrame) -> None:
        """Leave what a mechanism found of every group of a batch."""
        path = self.folder / f"solved-{batch.number:02}.json"
        with os_faults(path):
            write_json(path, solved.to_dict(orient="list"))

    @property
    def solved(self) -> pd.DataFrame:
        """What the mechanism found of every group that is to be announced, in their order."""
        paths = sorted(self.folder.glob("solved-*.json"))
        if not paths:
            policy = self.programme.policy
            return mechanism_of(policy).solve(self.regions.take(np.zeros(0, dtype=np.int64)), policy)
        return pd.concat([pd.DataFrame(read_json(path)) for path in paths], ignore_index=True)

    def save_announced(self, announced: Announced) -> None:
        """Leave what is announced of the groups that are to be announced."""
        promise = announced.promise
        arrays = {name: getattr(announced, name) for name in ("chance", *OF_GROUPS)} | {"limits": promise.limits}
        readers = {name: sure.tolist() for name, sure in announced.readers.items()}
        promised = {"kind": promise.kind, "level": promise.level, "rates_exact": announced.rates_exact}
        _save(self.folder / "announced", promised | {"readers": readers}, arrays)

    @property
    def announced(self) -> Announced:
        """What is announced of the groups that are to be announced.

        Raises
        ------
        ValueError
            If the files do not hold a promise of the mechanism.
        """
        kept, arrays = _load(self.folder / "announced")
        mechanism = mechanism_of(self.programme.policy)
        promise = mechanism.promise(kept["kind"], kept["level"], arrays.pop("limits", None))
        if promise is None:
            raise ValueError("announced.json holds no promise of the mechanism")
        readers = {name: np.array(sure) for name, sure in kept["readers"].items()}
        return Announced(promise=promise, readers=readers, rates_exact=kept["rates_exact"], **arrays)

    @cached_property
    def announcement(self) -> Announcement:
        """What is announced of the period."""
        return Announcement.of(self.regions, self.announced, self.programme.policy)

    @contextmanager
    def keeping_refusals(self) -> Iterator[None]:
        """Leave the private part of a refusal in a file: exceptions end up in Prefect's storage."""
        try:
            yield
        except RefusedError as refusal:
            write_text(self.folder / "refusal.txt", refusal.private)
            raise

    @property
    def refusal(self) -> str:
        """What only the reviewer may know of the refusal of this run."""
        path = self.folder / "refusal.txt"
        return path.read_text(encoding="utf-8") if path.is_file() else ""


def _save(path: Path, content: dict[str, Any], arrays: Mapping[str, NDArray[Any] | None]) -> None:
    """Write arrays, those there are, to a file and all else to another.

    Raises
    ------
    EnvironmentFault
        If the disk or the folder refuses it.
    """
    with os_faults(path):
        write_json(path.with_suffix(".json"), content)
        there = {name: array for name, array in arrays.items() if array is not None}
        np.savez(path.with_suffix(".npz"), allow_pickle=False, **there)


def _load(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what :func:`_save` wrote."""
    with np.load(path.with_suffix(".npz")) as arrays:
        return read_json(path.with_suffix(".json")), dict(arrays)


def _save_regions(regions: Regions, path: Path) -> None:
    texts = {name: getattr(regions, name) for name in ("public", "outcomes", "group_values", "region_values")}
    texts |= {name: [*getattr(regions, name).items()] for name in ("merged", "joined")}
    told = {} if regions.versions is None else {f"{_TOLD}{name}": of for name, of in regions.versions._asdict().items()}
    _save(path, texts, {name: getattr(regions, name) for name in _ARRAYS} | told)


def _load_regions(path: Path, protection: Protection) -> Regions:
    texts, arrays = _load(path)
    told = {name: arrays.pop(f"{_TOLD}{name}") for name in ToldBefore._fields if f"{_TOLD}{name}" in arrays}
    return Regions(
        public=tuple(texts["public"]),
        protection=protection,
        outcomes=tuple(texts["outcomes"]),
        group_values=tuple(map(tuple, texts["group_values"])),
        region_values=tuple(map(tuple, texts["region_values"])),
        merged={tuple(values): groups for values, groups in texts["merged"]},
        joined={tuple(values): tuple(map(tuple, groups)) for values, groups in texts["joined"]},
        versions=ToldBefore(**told) if told else None,
        **arrays,
    )
