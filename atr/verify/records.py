"""What an outsider can check of released records: the file, against the channel that is stated."""

from __future__ import annotations

import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from atr.errors import VerifyError
from atr.records.channels import DIGITS
from atr.records.model import CHANNEL, FILES, NOTE, NOTE_PDF, SCHEMA, GroupChannel, PublicRecords
from atr.verify import randomness
from atr.verify.files import once
from atr.verify.finding import Finding, between, failed, reading
from atr.verify.hidden_people import bounds_kept, people_of

_MANIFEST = "manifest.json"
_CLOSE = 1e-9
_LONGEST = 2**30
"""Bytes of an attached file, at most."""


def has_records(path: str | Path) -> bool:
    """Tell whether a path is a folder of released records, or its ``channel.json``."""
    path = Path(path)
    return path.name == CHANNEL or (path / CHANNEL).is_file()


def verify_records(path: str | Path, *, population: str | Path | None = None) -> tuple[PublicRecords, list[Finding]]:
    """Check released records: hashes, the stated channel, and whether the file can have come of it.

    What a channel tells of what is hidden depends on the hidden values, which are not public: what is stated is held
    against the bounds, and against the least and the most that such a channel can tell. Exact numbers of people give it
    anew. Of the notes only which channel they are on is checked, not their words.

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
    found = [*_hashes(folder, records), *_notes(folder), *_stated(records)]
    if any(not _is_whole(group, records) for group in records.groups):
        return records, found
    csv, parquet = (_counted(folder / name, records) for name in FILES)
    found += failed((csv == parquet, FILES[1], f"has other rows than {FILES[0]}"))
    found += _frequencies(csv, records)
    if population is not None:
        found += bounds_kept(records, people_of(records, Path(population)))
    return records, found


def _read(path: Path) -> PublicRecords:
    with reading(path, SCHEMA):
        written = path.read_bytes()
        json.loads(written.decode(), object_pairs_hook=once)
        return PublicRecords.model_validate_json(written, strict=True)


def _hashes(folder: Path, records: PublicRecords) -> Iterator[Finding]:
    """What of the folder is not as ``channel.json``, and the manifest if there is one, say."""
    of_release, listed = {CHANNEL, *FILES, NOTE, NOTE_PDF}, _listed(folder)
    there = {path.name for path in folder.iterdir()} - {_MANIFEST}
    for name in sorted(there - of_release):
        yield Finding(name, "is no file of released records")
    for name in sorted(of_release if listed else of_release & there | {*FILES}):
        sha256 = _sha256(folder / name)
        if name in FILES and records.sha256.get(name) != sha256:
            yield Finding(name, f"is not the file that {CHANNEL} is of, by its SHA-256")
        elif listed and listed.get(name) != sha256:
            yield Finding(name, f"was changed since its {_MANIFEST} was written")
    for name in sorted(listed.keys() - of_release - there):
        yield Finding(_MANIFEST, f"lists {name}, which is no file of released records")


def _listed(folder: Path) -> dict[str, str]:
    """The hashes of the manifest, by file; empty where there is none."""
    path = folder / _MANIFEST
    try:
        return {str(name): of["sha256"] for name, of in json.loads(path.read_bytes())["files"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise VerifyError("is no manifest of records", where=str(path)) from None


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        raise VerifyError("there is no such file", where=str(path)) from None


def _notes(folder: Path) -> Iterator[Finding]:
    """Whether the notes that are there are on this channel, by the hash in one and the file attached to the other."""
    channel = (folder / CHANNEL).read_bytes()
    html, paper = folder / NOTE, folder / NOTE_PDF
    if html.is_file() and hashlib.sha256(channel).hexdigest().encode() not in html.read_bytes():
        yield Finding(NOTE, f"is not on this {CHANNEL}: it has another SHA-256")
    if paper.is_file() and _attached(paper.read_bytes()) != channel:
        yield Finding(NOTE_PDF, f"is not on this {CHANNEL}: another is attached, or none")


def _attached(paper: bytes) -> bytes | None:
    """The one file that is attached to a PDF of WeasyPrint; None where it is not there, or there are several."""
    starts = [found.end() for found in re.finditer(rb"/Type\s*/EmbeddedFile\b[^\r\n]*\s+stream\r?\n", paper)]
    try:
        return zlib.decompressobj().decompress(paper[starts[0] :], _LONGEST) if len(starts) == 1 else None
    except zlib.error:
        return None


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
    elif any(group.transition for group in records.groups):
        yield Finding("channel", "is the best, whose transitions are not told, but has some")
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
    yield from failed((not _too_little(records), "after", "is less than alpha leaves, the smallest for the bounds"))
    if not all(_is_whole(group, records) for group in records.groups):
        return
    most = [_most(group) for group in records.groups]
    for name, told, reachable in (
        ("ldp", records.after.ldp, max((ldp for ldp, _ in most), default=0.0)),
        ("log_lift", records.after.log_lift, max((lift for _, lift in most), default=0.0)),
    ):
        within = reachable == math.inf or (told is not None and told <= reachable + 10**-3)
        yield from failed((within, f"after.{name}", f"is {told}, such a channel tells at most {reachable:.3f}"))


def _too_little(records: PublicRecords) -> bool:
    """Whether a smaller α would have kept the bounds: it is the smallest that does, rounded up by less than a step.

    So one measure is at its bound, but for that step. By it a log-lift falls by the step divided by α or by 1 - α at
    most, an LDP by both.
    """
    step = 10.0**-DIGITS
    falls = [step / (of.alpha - step) + step / (1 - of.alpha) for of in records.groups if step < of.alpha < 1]
    if not (records.bounds and falls):
        return False
    told = {"max_ldp": records.after.ldp, "max_log_lift": records.after.log_lift}
    least = {name: bound - min(falls) - _CLOSE for name, bound in records.bounds.items()}
    return all((of := told[name]) is not None and of < bound for name, bound in least.items())


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
    for i, (group, found) in enumerate(zip(records.groups, counts, strict=True)):
        yield from failed(
            (int(found.sum()) == group.people, f"groups[{i}].people", f"{found.sum()} rows, {group.people} stated")
        )
    yield from randomness.findings(counts, records)
