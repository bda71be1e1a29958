"""The files that are verified: a report, exact populations, an earlier report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from atr.core.arrays import ExactPopulation
from atr.core.display_text import ANY
from atr.errors import FormatError, VerifyError
from atr.report import changes, model, series
from atr.report.reader_view import columns
from atr.report.sampling import alpha_of
from atr.verify.finding import Finding, differences, failed, reading
from atr.verify.form import MOST_PEOPLE, form
from atr.verify.statements import findings

_FIRST = "atr-report/1"
"""The format before limits and rest groups."""


def verify_files(
    path: str | Path, *, population: str | Path | None = None, previous: Sequence[str | Path] = ()
) -> tuple[model.PublicReport, list[Finding]]:
    """Verify a published report from its files.

    Parameters
    ----------
    path, population, previous
        As :func:`atr.verify.verify` takes them.

    Returns
    -------
    The report that was read, and what is false in it.

    Raises
    ------
    VerifyError
        If a file cannot be read, or does not fit the report.
    """
    report, _, found = _read(Path(path))
    if malformed := list(form(report)):  # its numbers mean nothing
        return report, [*found, *malformed]
    people = None if population is None else _read_population(report, Path(population))
    found += findings(report, population=people)
    for earlier in previous:
        found += _compare_with_earlier(report, Path(earlier))
    return report, found


def _compare_with_earlier(report: model.PublicReport, path: Path) -> list[Finding]:
    if report.changes is None and not report.series:
        raise VerifyError("the report to verify sets its figures beside no earlier one", where=str(path))
    earlier, sha256, found = _read(path)
    if found or list(form(earlier)):
        raise VerifyError("is itself not as it was made", where=str(path))
    shown = {of.sha256: of for of in report.series[:-1]}.get(sha256)
    if shown is None and report.changes is None:
        raise VerifyError("is not among the earlier reports that the report to verify names", where=str(path))
    wrong: list[Finding] = []
    if shown is not None:
        stated = shown.model_copy(update={"changes": (), "skipped": ()})  # follow from the figures
        follows = series.release(earlier, sha256=sha256, alpha=alpha_of(report))
        wrong += differences(f"series, {shown.period}", stated, follows)
    if report.changes is not None and (shown is None or sha256 == report.changes.sha256):
        wrong += differences("changes", report.changes, changes.since(report, earlier, sha256=sha256))
    return wrong


def _read(path: Path) -> tuple[model.PublicReport, str, list[Finding]]:
    """Read a report or that of a folder; give its hash, and what its manifest, if there is one, says against it."""
    path = path / "report.json" if path.is_dir() else path
    with reading(path, f"{model.SCHEMA} report"):
        written = path.read_bytes()
        content = json.loads(written.decode(), object_pairs_hook=once)
        schema = content.get("schema") if isinstance(content, dict) else None
        if isinstance(schema, str) and schema != model.SCHEMA:
            release = "Release 0.2.0 of atr" if schema == _FIRST else "Another release of atr"
            raise FormatError(
                f"this is a report of the format {schema}", where=str(path), hint=f"{release} verifies it."
            )
        report = model.PublicReport.model_validate_json(written, strict=True)
    sha256 = hashlib.sha256(written).hexdigest()
    unchanged = _recorded(path) in (None, sha256)
    return report, sha256, [*failed((unchanged, path.name, "was changed since its manifest.json was written"))]


def _recorded(path: Path) -> Any:
    """The hash of a file by the manifest in its folder; None where there is none, or it does not name the file."""
    manifest = path.with_name("manifest.json")
    try:
        files = json.loads(manifest.read_bytes())["files"]
        return files[path.name]["sha256"] if path.name in files else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        raise VerifyError("is no manifest of a report", where=str(manifest)) from None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object none of whose keys stands there twice: two readers might see two reports."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return content


def _read_population(report: model.PublicReport, path: Path) -> ExactPopulation:
    """Read the exact people of each announced region, in the report's order."""
    names = [a.name for a in report.attributes]
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise VerifyError(f"cannot be read as CSV ({error})", where=str(path)) from None
    missing = [name for name in [*names, "population"] if name not in frame]
    if missing:
        raise VerifyError(f"has no column {', '.join(missing)}", where=str(path))
    known = frame[[*names, "population"]].drop_duplicates()
    twice = known[known.duplicated(names)][names].to_numpy().tolist()
    if twice:
        raise VerifyError(f"has two populations for the region {', '.join(twice[0])}", where=str(path))
    if not known["population"].str.fullmatch("[0-9]{1,40}").all():
        raise VerifyError("a population is no whole number of people", where=str(path))
    rows = {tuple(values): int(people) for *values, people in known.itertuples(index=False)}
    people = _people_of(report, rows)
    if 0 in people:
        values = [of[people.index(0)] for of in columns(report).values()]
        raise VerifyError(f"has nobody in, or no row for the region {', '.join(filter(None, values))}", where=str(path))
    if sum(people) > MOST_PEOPLE:
        raise VerifyError("has more people than a report can have", where=str(path))
    return ExactPopulation(np.array(people, dtype=np.int64))


def _people_of(report: model.PublicReport, rows: Mapping[tuple[str, ...], int]) -> list[int]:
    """Add up people by all attributes to those of announced regions; where a row is of a region itself, it counts."""
    names, told = [a.name for a in report.attributes], list(zip(*columns(report).values(), strict=True))
    of_region = [group.id for group in report.announced_groups for _ in group.told]
    people = [rows.get(values, 0) for values in told]
    open_regions = [i for i, found in enumerate(people) if not found]
    groups = sorted(report.groups, key=lambda of: len(of.public), reverse=True)
    for values, n in rows.items() if open_regions else ():
        row = dict(zip(names, values, strict=True))
        its_group = next((group.id for group in groups if _is_in(row, group)), None)
        for i in open_regions:
            shown = zip(told[i], values, strict=True)
            if of_region[i] == its_group and all(value in (ANY, own) for value, own in shown):
                people[i] += n
    return people


def _is_in(row: Mapping[str, str], group: model.Group) -> bool:
    """Tell whether people can be in a group, by the values that it tells; the one that tells most is theirs."""
    return all(row[name] == value for name, value in group.public.items()) and all(
        row[name] in values for name, values in group.mixed.items()
    )
