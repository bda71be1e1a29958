"""The ledger: every release of a series, its state, its hashes, and who decided what about it, when and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import duckdb

from atr.programme import Programme

State = Literal["started", "draft", "refused", "published", "rejected"]

_TABLES = """
CREATE TABLE IF NOT EXISTS releases (
    period VARCHAR NOT NULL, version INTEGER NOT NULL, state VARCHAR NOT NULL, date VARCHAR NOT NULL,
    content_sha256 VARCHAR, report_sha256 VARCHAR, manifest_sha256 VARCHAR, reviewer VARCHAR, comment VARCHAR);
CREATE TABLE IF NOT EXISTS release_events AS SELECT '' AS happened_at, * FROM releases LIMIT 0;
"""


@dataclass(frozen=True, slots=True)
class Release:
    """One version of the report of one period. The version rises when one before it was published or rejected.

    ``content_sha256`` is the hash of what the report says, whatever its version and date.
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

    @property
    def id(self) -> str:
        """``2013-Q1-v1``."""
        return f"{self.period}-v{self.version}"


@dataclass(frozen=True, slots=True)
class Event:
    """A change of a release's state."""

    at: str
    release: Release


_COLUMNS = ", ".join(field.name for field in fields(Release))


class Ledger:
    """The releases of one programme, kept in its warehouse."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        connection.execute(_TABLES)

    def releases(self, period: str | None = None) -> list[Release]:
        """All releases, or those of a period, by period and version."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM releases WHERE $1 IS NULL OR period = $1 ORDER BY period, version",  # noqa: S608
            [period],
        ).fetchall()
        return [Release(*row) for row in rows]

    def events(self, period: str | None = None) -> list[Event]:
        """What happened, oldest first."""
        rows = self._connection.execute(
            f"SELECT happened_at, {_COLUMNS} FROM release_events WHERE $1 IS NULL OR period = $1 ORDER BY rowid",  # noqa: S608
            [period],
        ).fetchall()
        return [Event(at, Release(*row)) for at, *row in rows]

    def begin(self, period: str, *, today: str) -> Release:
        """The release a run works on.

        A version that is not decided yet is taken up again, with its date, so that a run that was killed and started
        anew ends with the same bytes; after a decision a new version begins.
        """
        last = next(reversed(self.releases(period)), None)
        if last is not None and last.state in ("started", "draft"):
            return last
        if last is None or last.state in ("published", "rejected"):
            version = last.version + 1 if last else 1
            return self._record(Release(period, version, "started", today))
        return self._record(Release(period, last.version, "started", today))

    def unchanged(self, release: Release, *, content_sha256: str) -> Release | None:
        """The draft or the last published version, if it says the same already."""
        for other in reversed(self.releases(release.period)):
            if other.state in ("draft", "published"):
                return other if other.content_sha256 == content_sha256 else None
        return None

    def withdraw(self, release: Release) -> None:
        """Forget a release that was begun and came to nothing."""
        self._connection.execute(
            "DELETE FROM releases WHERE period = $1 AND version = $2 AND state = 'started'",
            [release.period, release.version],
        )

    def record(self, release: Release, *, state: State, **changes: Any) -> Release:
        """The release has reached a state: a draft, refused at a gate, published or rejected by a person."""
        return self._record(replace(release, state=state, **changes))

    def _record(self, release: Release) -> Release:
        values = [getattr(release, field.name) for field in fields(Release)]
        marks = ", ".join(f"${i + 1}" for i in range(len(values)))
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM releases WHERE period = $1 AND version = $2", [release.period, release.version]
            )
            connection.execute(f"INSERT INTO releases ({_COLUMNS}) VALUES ({marks})", values)  # noqa: S608
            connection.execute(
                f"INSERT INTO release_events (happened_at, {_COLUMNS}) VALUES (${len(values) + 1}, {marks})",  # noqa: S608
                [*values, now],
            )
        return release

    @contextmanager
    def _transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        self._connection.execute("BEGIN")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def documents_path(programme: Programme, release: Release) -> Path:
    """Where the public documents of a release are: on the site once published, until then in the store."""
    if release.state == "published":
        return programme.site_path / release.period / f"v{release.version}"
    return programme.store_path / "drafts" / release.id


def dossier_path(programme: Programme, release: Release) -> Path:
    """Where the reviewer's dossier of a release is."""
    return programme.store_path / "dossiers" / release.id
