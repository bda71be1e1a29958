"""Earlier reports of the same series."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import ValidationError

from atr.programme import Programme, periods
from atr.report import model
from atr.report.derived import DERIVED_FIELDS
from atr.report.notes import CORRECTIONS_WAIT
from atr.report.times import at_one_time
from atr.warehouse.connection import Warehouse
from atr.warehouse.files import sha256
from atr.warehouse.kept_releases import Kept, kept_path
from atr.warehouse.ledger import Ledger, Release, documents_path


def of_period_before(programme: Programme, period: periods.Period) -> model.PublicReport | None:
    """The last draft or published report of the period before, for the reviewer.

    Returns
    -------
    The report; None where there is no such period, release or file.
    """
    if period.start is None:
        return None
    with Warehouse.open(programme, read_only=True) as warehouse:
        before = Ledger(warehouse).releases(periods.previous(period).label)
    told = (release for release in reversed(before) if release.state in ("draft", "published"))
    paths = (documents_path(programme, release) / "report.json" for release in told)
    path = next((path for path in paths if path.is_file()), None)
    return None if path is None else read(path)


def last_published(programme: Programme, period: periods.Period) -> tuple[model.PublicReport, str] | None:
    """The last published report of an earlier period of the same length.

    Drafts never count, nor does a file that was changed since it was published: the result is told of in public.

    Returns
    -------
    The report and the hash of its ``report.json``; None where there is none.
    """
    return next(iter(_read(programme, _before(programme, period)[-1:])), None)


def published_before(programme: Programme, period: periods.Period) -> list[tuple[model.PublicReport, str]]:
    """The published reports of the earlier periods of the same length that a series shows, as :func:`last_published`.

    Returns
    -------
    The last version of each period, in order; those whose file is gone or was changed are left out.
    """
    return _read(programme, _before(programme, period)[1 - model.SERIES_LENGTH :])


def version_before(programme: Programme, period: periods.Period) -> model.PublicReport | None:
    """The published version of a period, for the reviewer of the next; None where there is none, or it was changed."""
    versions = [release for release in _published(programme) if release.period == period.label]
    return _as_published(programme, versions[-1]) if versions else None


def _before(programme: Programme, period: periods.Period) -> list[Release]:
    """The last published version of each earlier period of the same length, in order."""
    last = {periods.parse(release.period): release for release in _published(programme)}
    earlier = [
        (other.end, release)
        for other, release in last.items()
        if period.start and other.end and other.end <= period.start and other.months == period.months
    ]
    return [release for _, release in sorted(earlier, key=lambda found: found[0])]


def _read(programme: Programme, releases: list[Release]) -> list[tuple[model.PublicReport, str]]:
    found = [(_as_published(programme, release), release.report_sha256) for release in releases]
    return [(report, sha256) for report, sha256 in found if report is not None and sha256 is not None]


def newest_release(programme: Programme) -> tuple[Release, model.PublicReport] | None:
    """The release published last, of whatever period, and its report; None where there is none, or it was changed."""
    later_first = reversed(_published(programme))  # of two of one second, the later period is the newer
    release = max(later_first, key=lambda release: release.changed_at, default=None)
    report = None if release is None else _as_published(programme, release)
    return None if release is None or report is None else (release, report)


def _published(programme: Programme) -> list[Release]:
    """The releases that are published, by period and version."""
    with Warehouse.open(programme, read_only=True) as warehouse:
        return [release for release in Ledger(warehouse).releases() if release.state == "published"]


def _as_published(programme: Programme, release: Release) -> model.PublicReport | None:
    """The report of a release; None where its file is gone, was changed since, or is of another schema."""
    path = documents_path(programme, release) / "report.json"
    return read(path) if path.is_file() and sha256(path) == release.report_sha256 else None


def log_changes(programme: Programme, now: tuple[int, int, int, int]) -> tuple[Release, tuple[int, int, int]] | None:
    """The release published last, and how many decisions of the log were new, changed and gone since its draft.

    Parameters
    ----------
    programme
        The series.
    now
        What :func:`atr.ingest.log_changes` counts.

    Returns
    -------
    For the reviewer; None where nothing is published, or the log was read anew since.
    """
    last = newest_release(programme)
    kept = None if last is None else Kept.read(kept_path(programme, last[0].id))
    if last is None or kept is None or kept.log_changes[0] != now[0]:
        return None
    new, changed, gone = (later - then for later, then in zip(now[1:], kept.log_changes[1:], strict=True))
    return last[0], (new, changed, gone)


def read(path: Path) -> model.PublicReport | None:
    """Read a report of this schema; None where it is of another, as earlier versions of this software wrote them."""
    try:
        return model.read(path)
    except ValidationError:
        return None


_OF_OTHERS = {"version", "date", "data_quality", "changes", "series", "beside"}


def content_sha256(report: model.PublicReport) -> str:
    """Hash what a report says of its period: not its version and date, how the log has changed since, or what other
    reports have been published."""
    report = report.model_copy(update={"notes": tuple(n for n in report.notes if n.id != CORRECTIONS_WAIT)})
    if report.data_quality.corrections_wait:  # of which version groups are says nothing new of the period
        report = at_one_time(report)
        for name in ("fairness", "alike"):
            report = report.model_copy(update={name: DERIVED_FIELDS[name](report)})
    content = report.model_dump(mode="json", by_alias=True, exclude=_OF_OTHERS)
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def is_outdated(programme: Programme, release: Release, report: model.PublicReport) -> bool:
    """Tell whether a draft was made of a log with other rows, or before the report beside which it is set."""
    if release.state != "draft":
        return False
    waiting = read(documents_path(programme, release) / "report.json")
    if waiting is None:
        return True
    return any(
        getattr(waiting, name) != getattr(report, name) for name in ("changes", "series", "beside", "data_quality")
    )
