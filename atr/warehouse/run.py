"""One run of the pipeline, and what its steps leave for each other: files in the run's own folder, private."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from atr.core.announced import OF_GROUPS, Announced
from atr.core.announcement import Announcement
from atr.core.protected import Protection
from atr.core.regions import Regions
from atr.errors import ProgrammeError, RefusedError
from atr.mechanisms import mechanism_of
from atr.programme import Programme, load, periods
from atr.warehouse.files import read_json, write_json, write_text
from atr.warehouse.parquet import read_parquet, write_parquet

TASKS = 64
"""Up to so many QID groups are solved in a task each; more are solved in so many batches of equal work."""


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
        _save_regions(regions, self.folder / "regions.parquet")
        write_json(self.folder / "log.json", log)

    @cached_property
    def regions(self) -> Regions:
        """All decision regions of the period."""
        return _load_regions(self.folder / "regions.parquet", self.programme.protection)

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
            _save_regions(groups, self.folder / f"batch-{number}.parquet")
            name = ", ".join(groups.group_values[0]) if len(announced) <= TASKS else f"groups {first + 1} to {end}"
            batches.append(Batch(name, number))
        return batches

    def regions_of(self, batch: Batch) -> Regions:
        """The decision regions of a batch."""
        return _load_regions(self.folder / f"batch-{batch.number}.parquet", self.programme.protection)

    def save_solved(self, batch: Batch, solved: pd.DataFrame) -> None:
        """Leave what a mechanism found of every group of a batch."""
        write_parquet(solved, self.folder / f"solved-{batch.number}.parquet")

    @property
    def solved(self) -> pd.DataFrame:
        """What the mechanism found of every group that is to be announced, in their order."""
        paths = sorted(self.folder.glob("solved-*.parquet"), key=lambda path: int(path.stem.removeprefix("solved-")))
        if not paths:
            policy = self.programme.policy
            return mechanism_of(policy).solve(self.regions.take(np.zeros(0, dtype=np.int64)), policy)
        return pd.concat([read_parquet(path) for path in paths], ignore_index=True)

    def save_announced(self, announced: Announced) -> None:
        """Leave what is announced of the groups that are to be announced."""
        promise, regions = announced.promise, pd.DataFrame(announced.chance).add_prefix("x")
        if promise.limits is not None:
            for end, of in zip(("low", "high"), np.moveaxis(promise.limits, 2, 0), strict=True):
                regions = regions.join(pd.DataFrame(of).add_prefix(end))
        groups = {name: getattr(announced, name) for name in OF_GROUPS} | dict(announced.readers)
        write_parquet(regions, self.folder / "announced.parquet")
        write_parquet(pd.DataFrame(groups), self.folder / "announced-groups.parquet")
        promised = {"kind": promise.kind, "level": promise.level, "ranges": promise.limits is not None}
        write_json(self.folder / "promise.json", {**promised, "rates_exact": announced.rates_exact})

    @property
    def announced(self) -> Announced:
        """What is announced of the groups that are to be announced.

        Raises
        ------
        ValueError
            If the files do not hold a promise of the mechanism.
        """
        kept = read_json(self.folder / "promise.json")
        regions, groups = (read_parquet(self.folder / f"announced{of}.parquet") for of in ("", "-groups"))
        limits = None
        if kept["ranges"]:
            ends = [regions.filter(regex=rf"^{end}\d").to_numpy(dtype=np.float64) for end in ("low", "high")]
            limits = np.stack(ends, axis=2)
        mechanism = mechanism_of(self.programme.policy)
        promise = mechanism.promise(kept["kind"], kept["level"], limits)
        if promise is None:
            raise ValueError("promise.json holds no promise of the mechanism")
        of_groups: dict[str, Any] = {name: groups.pop(name).to_numpy() for name in OF_GROUPS}
        return Announced(
            chance=regions.filter(regex=r"^x\d").to_numpy(dtype=np.int64),
            promise=promise,
            readers={str(name): sure.to_numpy() for name, sure in groups.items()},
            **of_groups,
            rates_exact=kept["rates_exact"],
        )

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


def _save_regions(regions: Regions, path: Path) -> None:
    """Write decision regions, a row each; what all share stands beside them."""
    group = np.repeat(np.arange(len(regions.group_values)), np.diff(regions.offsets))
    public = pd.DataFrame(regions.group_values, columns=[f"u{i}" for i in range(len(regions.public))], dtype=str)
    sensitive = [f"s{i}" for i in range(len(regions.sensitive))]
    public = public.assign(status=regions.status, merged=[regions.merged.get(v, 0) for v in regions.group_values])
    frame = public.loc[group]
    frame = frame.reset_index(names="group").join(pd.DataFrame(regions.region_values, columns=sensitive, dtype=str))
    frame[[f"n{i}" for i in range(len(regions.outcomes))]] = regions.counts
    if regions.known is not None:
        frame["known"] = regions.known
    write_parquet(frame, path)
    for name, told in (("earlier", regions.earlier), ("versions", regions.versions)):
        if told is not None:
            np.save(path.with_suffix(f".{name}.npy"), told)
    joined = [[values, groups] for values, groups in regions.joined.items()]
    names = {"public": regions.public, "outcomes": regions.outcomes, "joined": joined}
    write_json(path.with_suffix(".json"), names)


def _load_regions(path: Path, protection: Protection) -> Regions:
    """Read decision regions that :func:`_save_regions` wrote."""
    frame, names = read_parquet(path), read_json(path.with_suffix(".json"))
    told = {name: path.with_suffix(f".{name}.npy") for name in ("earlier", "versions")}
    group = frame["group"].to_numpy(dtype=np.int64)
    offsets = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [len(group)]]).astype(np.int64)
    public = frame[[f"u{i}" for i in range(len(names["public"]))]].iloc[offsets[:-1]]
    sensitive = frame[[f"s{i}" for i in range(len(protection.sensitive))]]
    group_values = tuple(public.itertuples(index=False, name=None))
    merged, status = (frame[name].to_numpy(dtype=np.int64)[offsets[:-1]] for name in ("merged", "status"))
    return Regions(
        public=tuple(names["public"]),
        protection=protection,
        outcomes=tuple(names["outcomes"]),
        group_values=group_values,
        region_values=tuple(sensitive.itertuples(index=False, name=None)),
        counts=frame[[f"n{i}" for i in range(len(names["outcomes"]))]].to_numpy(dtype=np.int64),
        offsets=offsets,
        merged={values: groups for values, groups in zip(group_values, merged.tolist(), strict=True) if groups},
        joined={tuple(values): tuple(map(tuple, groups)) for values, groups in names["joined"]},
        **{name: np.load(of) for name, of in told.items() if of.is_file()},
        known=frame["known"].to_numpy(dtype=np.int64) if "known" in frame else None,
        status=status,
    )
