"""What an outsider can check of released records: the file, against the channel that is stated."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from pydantic import ValidationError
from scipy import stats

from atr.core.arrays import FloatArray, IntArray
from atr.errors import VerifyError
from atr.records.model import CHANNEL, FILES, NOTE, NOTE_PDF, SCHEMA, GroupChannel, PublicRecords
from atr.verify.files import once
from atr.verify.finding import Finding, between, failed
from atr.verify.hidden_people import bounds_kept, people_of

FALSE_ALARM = 1e-9
"""The chance that a file as stated is found false, at most."""
_MANIFEST = "manifest.json"
_CLOSE = 1e-9


def has_records(path: str | Path) -> bool:
    """Tell whether a path is a folder of released records, or its ``channel.json``."""
    path = Path(path)
    return path.name == CHANNEL or (path / CHANNEL).is_file()


def verify_records(path: str | Path, *, population: str | Path | None = None) -> tuple[PublicRecords, list[Finding]]:
    """Check released records: hashes, the stated channel, and whether the file can have come of it.

    What a channel tells of what is hidden depends on the hidden values, which are not public: what is stated is held
    against the bounds, and against the most that such a channel can tell. Exact numbers of people give it anew.

    Parameters
    ----------
    path
        The folder, or its ``channel.json``.
    population
        A CSV of exact numbers of people before: columns of the released and the hidden attributes, the column, and
        ``population``.

    Returns
    -------
    What is stated, and what is false.

    Raises
    ------
    VerifyError
        If a file is missing or cannot be read, or the numbers of people do not fit the channel.
    """
    folder = Path(path).parent if Path(path).name == CHANNEL else Path(path)
    records = _read(folder / CHANNEL)
    found = [*_hashes(folder), *_stated(records)]
    if any(not _is_whole(group, records) for group in records.groups):
        return records, found
    csv, parquet = (_counted(folder / name, records) for name in FILES)
    found += failed((csv == parquet, FILES[1], f"has other rows than {FILES[0]}"))
    found += _frequencies(csv, records)
    if population is not None:
        found += bounds_kept(records, people_of(records, Path(population)))
    return records, found


def _read(path: Path) -> PublicRecords:
    try:
        written = path.read_bytes()
        json.loads(written.decode(), object_pairs_hook=once)
        return PublicRecords.model_validate_json(written, strict=True)
    except FileNotFoundError:
        raise VerifyError("there is no such file", where=str(path)) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise VerifyError(
            f"this is no {SCHEMA}: {'.'.join(map(str, first['loc']))}: {first['msg']}", where=str(path)
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise VerifyError(f"cannot be read as JSON ({error})", where=str(path)) from None


def _hashes(folder: Path) -> Iterator[Finding]:
    manifest = folder / _MANIFEST
    try:
        files = {name: of["sha256"] for name, of in json.loads(manifest.read_bytes())["files"].items()}
    except FileNotFoundError:
        raise VerifyError("there is no such file", where=str(manifest)) from None
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise VerifyError("is no manifest of records", where=str(manifest)) from None
    for name in (CHANNEL, *FILES, NOTE, NOTE_PDF):
        try:
            sha256 = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError:
            raise VerifyError("there is no such file", where=str(folder / name)) from None
        yield from failed((files.get(name) == sha256, name, f"was changed since its {_MANIFEST} was written"))


def _is_whole(group: GroupChannel, records: PublicRecords) -> bool:
    return len(group.totals) == len(records.values) and sum(group.totals) == group.people


def _stated(records: PublicRecords) -> Iterator[Finding]:
    """What is false in what is stated, whatever is in the file."""
    people = sum(group.people for group in records.groups)
    keys = [tuple(sorted(group.values.items())) for group in records.groups]
    yield from failed(
        (bool(records.groups), "groups", "there are none"),
        (records.people == people, "people", f"{records.people} are stated, the groups have {people}"),
        (len({*keys}) == len(keys), "groups", "two have the same values"),
        (len({*records.values}) == len(records.values), "values", "a value is named twice"),
        (not {*records.hidden} & {*records.columns}, "hidden", "an attribute is hidden and released"),
    )
    loss = 0.0
    for i, group in enumerate(records.groups):
        where = f"groups[{i}]"
        if not _is_whole(group, records):
            yield Finding(f"{where}.totals", "do not add up to the people of the group, one for each value")
            return
        shares = np.array(group.totals) / group.people
        loss += group.people / people * group.alpha * (1 - float(shares @ shares))
        if group.transition:
            follows = np.eye(len(shares)) * (1 - group.alpha) + group.alpha * shares
            same = np.shape(group.transition) == follows.shape and np.allclose(group.transition, follows, 0, _CLOSE)
            yield from failed((bool(same), f"{where}.transition", "does not follow from alpha and the totals"))
    if records.groups and records.channel == "markov":
        yield from between("loss", records.loss, loss - 1e-6, loss + 1e-6)
    elif records.loss > loss + 1e-6:
        yield Finding("loss", f"{records.loss} is stated, no best channel changes more than {loss}")
    yield from _told(records)


def _told(records: PublicRecords) -> Iterator[Finding]:
    """Whether what is told keeps the bounds, and what such a channel can tell at most."""
    after = {"max_ldp": records.after.ldp, "max_log_lift": records.after.log_lift}
    for bounded, bound in records.bounds.items():
        told = after[bounded]
        yield from failed((told is not None and told <= bound, "after", f"{told} is above {bounded}, {bound}"))
    for name in ("ldp", "log_lift", "mutual_information"):
        before, told = getattr(records.before, name), getattr(records.after, name)
        less = before is None or (told is not None and told <= before)
        yield from failed((less, f"after.{name}", f"is {told}, more than before, {before}"))
    if not all(_is_whole(group, records) for group in records.groups):
        return
    most = [_most(group) for group in records.groups]
    for name, told, reachable in (
        ("ldp", records.after.ldp, max((ldp for ldp, _ in most), default=0.0)),
        ("log_lift", records.after.log_lift, max((lift for _, lift in most), default=0.0)),
    ):
        within = reachable == math.inf or (told is not None and told <= reachable + 10**-3)
        yield from failed((within, f"after.{name}", f"is {told}, such a channel tells at most {reachable:.3f}"))


def _most(group: GroupChannel) -> tuple[float, float]:
    """The most LDP and log-lift that a channel with this α can have, whatever was hidden: where x determines it."""
    if group.alpha == 0:
        return math.inf, math.inf
    shares = np.array([total for total in group.totals if total]) / group.people
    above = np.log((1 - group.alpha) / shares + group.alpha)
    return float((above - math.log(group.alpha)).max()), float(max(above.max(), -math.log(group.alpha)))


_READERS = {
    ".csv": "read_csv($1, all_varchar = true, header = true, delim = ',', quote = '\"', nullstr = '')",
    ".parquet": "read_parquet($1)",
}


def _counted(path: Path, records: PublicRecords) -> dict[tuple[Any, ...], int]:
    """How often each row is in a file."""
    reader, columns = _READERS[path.suffix], records.columns
    types = ["VARCHAR"] * len(records.attributes) + ["DOUBLE" if records.numeric else "VARCHAR"]
    names = ", ".join(f"c{i}" for i in range(len(columns)))
    cells = ", ".join(f"c{i}::{kind}" for i, kind in enumerate(types))
    try:
        with duckdb.connect() as connection:
            there = connection.execute(f"DESCRIBE FROM {reader}", [str(path)]).fetchall()
            if tuple(name for name, *_ in there) != columns:
                raise VerifyError(f"has other columns than {', '.join(columns)}", where=str(path))
            counting = f"SELECT {cells}, count(*) FROM (FROM {reader}) rows({names}) GROUP BY ALL"  # noqa: S608
            return {tuple(row): n for *row, n in connection.execute(counting, [str(path)]).fetchall()}
    except duckdb.Error as error:
        raise VerifyError(f"cannot be read ({str(error).splitlines()[0]})", where=str(path)) from None


def _frequencies(rows: dict[tuple[Any, ...], int], records: PublicRecords) -> Iterator[Finding]:
    """Whether the rows of every group are as many as stated, and their values as the channel makes them."""
    group_of = {tuple(g.values.get(name) for name in records.attributes): i for i, g in enumerate(records.groups)}
    value_of = {value: i for i, value in enumerate(records.values)}
    counts = np.zeros((len(records.groups), len(records.values)), dtype=np.int64)
    for (*values, y), n in rows.items():
        if tuple(values) not in group_of or y not in value_of:
            yield Finding(FILES[0], f"has {n:,} rows of a group or with a value that is not stated")
        else:
            counts[group_of[tuple(values)], value_of[y]] += n
    cells = sum(total > 0 for group in records.groups for total in group.totals)
    for i, (group, found) in enumerate(zip(records.groups, counts, strict=True)):
        yield from failed(
            (int(found.sum()) == group.people, f"groups[{i}].people", f"{found.sum()} rows, {group.people} stated")
        )
        off = np.abs(found - np.array(group.totals)) > _allowed(_variance(group, records), cells)
        for y in np.flatnonzero(off).tolist():
            yield Finding(
                f"groups[{i}].totals",
                f"{found[y]} rows have “{records.values[y]}”, {group.totals[y]} are expected: more apart than chance",
            )
    if records.channel == "markov" and _too_close(counts, records):
        yield Finding(FILES[0], "has the totals of before more exactly than chance would: was anything altered?")


def _variance(group: GroupChannel, records: PublicRecords) -> FloatArray:
    """(y,) the variance of the rows with each released value: each row is drawn on its own.

    Of the best channel, which is not told, the most: as many are expected to leave a value as come to it.
    """
    totals, alpha = np.array(group.totals), group.alpha
    if records.channel == "best":
        return np.asarray(2 * alpha * totals * (1 - totals / group.people))
    drawn = alpha * totals / group.people
    stays = 1 - alpha + drawn
    return np.asarray(totals * stays * (1 - stays) + (group.people - totals) * drawn * (1 - drawn))


def _allowed(variance: FloatArray, cells: int) -> FloatArray:
    """How far sums of independent draws get from what is expected, by Bernstein's inequality, but for a false alarm."""
    logs = math.log(2 * cells / FALSE_ALARM)
    away = logs / 3 + np.sqrt(logs**2 / 9 + 2 * logs * variance)
    return np.where(variance > 0, away, 0.0)


def _too_close(counts: IntArray, records: PublicRecords) -> bool:
    """Whether one value of every group is closer to its total than chance brings it."""
    closeness = []
    for found, group in zip(counts, records.groups, strict=True):
        variance = _variance(group, records)
        y = int(variance.argmax())
        if variance[y] >= 4:
            closeness.append(((found[y] - group.totals[y]) ** 2 + 1 / 12) / variance[y])
    return bool(closeness) and float(stats.chi2.cdf(sum(closeness), len(closeness))) < FALSE_ALARM
