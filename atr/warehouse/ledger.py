"""The ledger: every release of a series, its state, its hashes, and who decided what about it, when and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from atr.programme import Programme
from atr.programme.periods import now, parse
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.files import sha256

Kind = Literal["report", "records"]
State = Literal["started", "draft", "refused", "published", "replaced", "rejected"]
COMMANDS: dict[Kind, str] = {"report": "atr publish", "records": "atr sanitise"}
"""What makes a draft, by its kind."""


@dataclass(frozen=True, slots=True)
class Release:
    """One version of the report, or of the released records, of one period.

    The version rises when one before it was published or rejected.

    ``content_sha256`` is the hash of what the report says, whatever its version and date; ``changed_at`` is when it
    came into its state, by whom (``reviewer``) and why (``comment``). ``report_sha256`` is that of ``report.json``, of
    records that of ``channel.json``. ``confirmed`` are the points that the reviewer confirmed by approving, with commas
    between; None where nobody did, or an earlier version of this software asked nothing.
    """

    period: str
    version: int
    state: State
    date: str
    content_sha256: str | None = None
    report_sha256: str | None = None
    manifest_sha256: str | None = None
    reviewer: str | None = None
    comment: str | None = None
    changed_at: str = ""
    confirmed: str | None = None
    kind: Kind = "report"

    @property
    def id(self) -> str:
        """``2013-Q1-v1``, of records ``2013-Q1-records-v1``."""
        return f"{self.period}-{self.folder}"

    @property
    def folder(self) -> str:
        """The folder of its documents within that of its period on the site."""
        return folder_of(self.kind, self.version)

    @property
    def content_file(self) -> str:
        """The file that its hash is of."""
        return "report.json" if self.kind == "report" else "channel.json"


_COLUMNS = ", ".join(field.name for field in fields(Release))
_READ = _COLUMNS.replace("kind", "coalesce(kind, 'report')")
_RELEASES = "(FROM releases UNION ALL BY NAME SELECT NULL::VARCHAR AS kind, NULL::VARCHAR AS confirmed WHERE false)"
"""Also of a warehouse of before there were kinds, which is open for reading only."""


def of_every_kind(warehouse: Warehouse) -> list[Release]:
    """All reports and released records, by period, kind and version."""
    rows = warehouse.query(f"SELECT {_READ} FROM {_RELEASES} ORDER BY period, kind DESC, version")  # noqa: S608
    return [Release(*row) for row in rows]


class Ledger:
    """The releases of one kind of one programme, kept in its warehouse."""

    def __init__(self, warehouse: Warehouse, clock: Callable[[], datetime] = now, *, kind: Kind = "report") -> None:
        self._warehouse, self._clock, self.kind = warehouse, clock, kind

    def releases(self, period: str | None = None) -> list[Release]:
        """All releases, or those of a period, by period and version."""
        return [
            release for release in self.every_kind() if release.kind == self.kind and period in (None, release.period)
        ]

    def every_kind(self) -> list[Release]:
        """All releases of the programme, of the other kinds too."""
        return of_every_kind(self._warehouse)

    def release(self, period: str, version: int) -> Release:
        """One version of the report of a period."""
        return next(release for release in self.releases(period) if release.version == version)

    def begin(self, period: str, *, today: str) -> Release:
        """The release a run works on.

        A draft that waits keeps its version, and its date as long as it says the same; after a decision a new
        version begins.
        """
        last = next(reversed(self.releases(period)), None)
        if last is not None and last.state == "draft":
            return last
        decided = last is not None and last.state in ("published", "replaced", "rejected")
        version = 1 if last is None else last.version + decided
        return self.record(Release(period, version, "started", today, kind=self.kind), state="started")

    def unchanged(self, release: Release, *, content_sha256: str) -> Release | None:
        """The draft or the last published version, if it says the same already."""
        told = [other for other in self.releases(release.period) if other.state in ("draft", "published")]
        return told[-1] if told and told[-1].content_sha256 == content_sha256 else None

    def overlapping(self, period: str, state: State) -> tuple[str, ...]:
        """Labels of the other periods that share days with this one and have a release in a state.

        The reports of two such periods tell of the same people: subtracted, one can show what the other withholds.
        """
        here = parse(period)
        others = (r.period for r in self.releases() if r.period != period and r.state == state)
        return tuple(label for label in dict.fromkeys(others) if parse(label).overlaps(here))

    def forget_begun(self) -> None:
        """Forget the release that a run began and came to nothing with: only one run works on a series at a time."""
        with self._warehouse.transaction() as connection:
            connection.execute("DELETE FROM releases WHERE state = 'started'")

    def record(self, release: Release, *, state: State, **changes: Any) -> Release:
        """The release has reached a state: a draft, refused at a gate, published, rejected or replaced by a person.

        Its row is set, and it is added to the events, which keep all it ever was.
        """
        release = replace(release, state=state, changed_at=self._clock().isoformat(timespec="seconds"), **changes)
        values = Parameters()
        marks = values.marks(astuple(release))
        with self._warehouse.transaction() as connection:
            connection.execute(
                "DELETE FROM releases WHERE period = $1 AND version = $2 AND coalesce(kind, 'report') = $3",
                [release.period, release.version, release.kind],
            )
            for table in ("releases", "release_events"):
                connection.execute(f"INSERT INTO {table} ({_COLUMNS}) VALUES ({marks})", values)  # noqa: S608
        return release


def folder_of(kind: Kind, version: int) -> str:
    """Name the folder of the documents of a release within that of its period on the site."""
    return f"v{version}" if kind == "report" else f"{kind}-v{version}"


def documents_path(programme: Programme, release: Release) -> Path:
    """Where the public documents of a release are: on the site once published, until then in the store."""
    if release.state in ("published", "replaced"):
        return programme.site_path / release.period / release.folder
    return programme.store_path / "drafts" / release.id


def dossier_path(programme: Programme, release: Release) -> Path:
    """Where the reviewer's dossier of a release is."""
    return programme.store_path / "dossiers" / release.id


def is_whole(programme: Programme, release: Release) -> bool:
    """Tell whether the documents of a release are where they belong, as they were recorded."""
    manifest = documents_path(programme, release) / "manifest.json"
    return manifest.is_file() and sha256(manifest) == release.manifest_sha256
