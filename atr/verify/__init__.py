"""What an outsider can check: every statement of a report recomputed from its own printed numbers.

Printed populations are rounded, so a statement is accepted if some exact populations within the rounding make it true,
and refused otherwise. With exact populations (printed, or supplied) it must be reproduced to its last digit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

import atr
from atr.errors import VerifyError
from atr.report import changes, model
from atr.verify import statements
from atr.verify.finding import Finding
from atr.verify.form import MOST_PEOPLE, form
from atr.verify.population_bounds import Ints, PopulationBounds

__all__ = ["Finding", "check", "findings", "loosely_bounded", "read_and_verify", "verify"]


def verify(
    path: str | Path, *, population: str | Path | None = None, previous: str | Path | None = None
) -> list[Finding]:
    """Recompute a published report from its own numbers.

    Parameters
    ----------
    path
        A ``report.json``, or its folder.
    population
        A CSV of exact populations: a column for each attribute and a column ``population``, one row per region.
    previous
        The ``report.json`` that the report sets its figures beside, or its folder; without it what the report says of
        it is taken as it stands.

    Returns
    -------
    What was found false; empty if every statement holds.

    Raises
    ------
    VerifyError
        If the file cannot be read as a report, or the populations or the earlier report do not fit it.
    """
    _, found = read_and_verify(path, population=population, previous=previous)
    return found


def read_and_verify(
    path: str | Path, *, population: str | Path | None = None, previous: str | Path | None = None
) -> tuple[model.PublicReport, list[Finding]]:
    """The report as well, and what :func:`verify` finds."""
    path = _file(Path(path))
    report, found = _read(path)
    malformed = list(form(report))
    if malformed:
        return report, found + malformed
    found += _recompute(report, _supplied(report, Path(population)) if population else None)
    if previous is not None:
        found += _since(report, _file(Path(previous)))
    return report, found


def _file(path: Path) -> Path:
    return path / "report.json" if path.is_dir() else path


def _since(report: model.PublicReport, path: Path) -> list[Finding]:
    """What is said of an earlier report against that report."""
    if report.changes is None:
        raise VerifyError("the report to verify sets its figures beside no earlier one", where=str(path))
    earlier, found = _read(path)
    if found or list(form(earlier)):
        raise VerifyError("is itself not as it was made", where=str(path))
    follows = changes.since(report, earlier, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    other_words: Any = {"skipped": True, "entries": {"__all__": {"sentence"}}, "margin": {"__all__": {"sentence"}}}
    left_out = None if report.provenance.atr == atr.__version__ else other_words
    stated, computed = (found.model_dump(exclude=left_out) for found in (report.changes, follows))
    return [
        Finding(f"changes.{name}", "does not follow from the earlier report")
        for name in computed
        if stated[name] != computed[name]
    ]


def findings(report: model.PublicReport, *, population: Ints | None = None) -> Iterator[Finding]:
    """What is false in a report by its own numbers, as it is found: whoever asks only whether it is true need not wait.

    Parameters
    ----------
    report
        The report, as printed.
    population
        (n,) exact people of its regions, in its order, if they are known.
    """
    yield from list(form(report)) or _recompute(report, population)


def check(report: model.PublicReport, *, population: Ints | None = None) -> list[Finding]:
    """All of :func:`findings`."""
    return list(findings(report, population=population))


def loosely_bounded(report: model.PublicReport) -> bool:
    """Whether ends of parity are of programmes over exact people, and those printed leave more than their rounding."""
    parities = any(entry.measure.endswith("statistical_parity") for entry in report.fairness)
    exact = report.policy.population_rounding == 1 or report.policy.group_rates != "exact"
    return parities and len(report.outcomes) > 2 and not exact


def _recompute(report: model.PublicReport, population: Ints | None) -> Iterator[Finding]:
    if not report.announced_groups:
        return statements.of_nothing(report)
    return statements.of(PopulationBounds.of(report, population))


def _read(path: Path) -> tuple[model.PublicReport, list[Finding]]:
    """The report, and whether it was changed since it was made."""
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text, object_pairs_hook=_once)
    except FileNotFoundError:
        raise VerifyError("there is no such file", where=str(path)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise VerifyError(f"cannot be read as JSON ({error})", where=str(path)) from None
    try:
        report = model.PublicReport.model_validate_json(text, strict=True)
        checksum = model.checksum(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise VerifyError(
            f"this is no {model.SCHEMA} report: {'.'.join(map(str, first['loc']))}: {first['msg']}", where=str(path)
        ) from None
    except UnicodeEncodeError:
        raise VerifyError("holds half a character", where=str(path)) from None
    if report.provenance.checksum != checksum:
        return report, [Finding("provenance.checksum", "the file was changed after it was made")]
    return report, []


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object none of whose keys stands there twice: two readers might see two reports."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return content


def _supplied(report: model.PublicReport, path: Path) -> Ints:
    import pandas as pd

    names = [a.name for a in report.attributes]
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise VerifyError(f"cannot be read as CSV ({error})", where=str(path)) from None
    missing = [name for name in [*names, "population"] if name not in frame]
    if missing:
        raise VerifyError(f"has no column {', '.join(missing)}", where=str(path))
    known: dict[tuple[str, ...], str] = {}
    for *values, people in frame[[*names, "population"]].itertuples(index=False, name=None):
        if known.setdefault(tuple(values), people) != people:
            raise VerifyError(f"has two populations for the region {', '.join(values)}", where=str(path))
    found = []
    for group in report.announced_groups:
        for region in group.regions:
            values = [(group.public | region.sensitive)[name] for name in names]
            if tuple(values) not in known:
                raise VerifyError(f"has no row for the region {', '.join(values)}", where=str(path))
            found.append(_people(known[tuple(values)], path))
    if sum(found) > MOST_PEOPLE:
        raise VerifyError("has more people than a report can have", where=str(path))
    return np.array(found, dtype=np.int64)


def _people(text: str, path: Path) -> int:
    try:
        people = int(text)
    except ValueError:
        people = 0
    if people < 1:
        raise VerifyError("a population is no whole number of people", where=str(path))
    return people
